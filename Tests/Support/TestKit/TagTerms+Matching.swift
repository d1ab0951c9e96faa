package import Model

extension TagTerms {
    /// Whether a target with exactly these tags matches: the meaning of the terms, which the product leaves to the database.
    package func matches(_ own: Set<Tag>) -> Bool {
        let bits = tags.enumerated().reduce(UInt64(0)) { $0 | (own.contains($1.element) ? 1 << UInt64($1.offset) : 0) }
        return terms.contains { bits & $0.cares == $0.wants }
    }
}
