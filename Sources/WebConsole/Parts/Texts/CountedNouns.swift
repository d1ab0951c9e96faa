extension DefaultStringInterpolation {
    /// A number with its noun in an English text: `1 target`, `1,204 targets`. Korean nouns have one form.
    ///
    /// - Parameters:
    ///   - number: as it is shown: `1`, `1,204`, `≈ 1,204`.
    ///   - one: the words after exactly one: `target`, `node is`.
    ///   - many: the words after any other number; nil: `one` with an s.
    package mutating func appendInterpolation(_ number: some CustomStringConvertible, one: String, many: String? = nil)
    {
        let number = number.description
        appendLiteral("\(number) \(number == "1" ? one : many ?? one + "s")")
    }
}
