/// Two turns of a comparison, whose order alternates: the machine may become slower, and the tables grow.
enum AlternatingPair {
    /// Runs `turn` with and without what is compared, first with it in each even pair.
    ///
    /// - Throws: what `turn` throws.
    static func measure<Value>(
        _ pair: Int,
        _ turn: (_ isWith: Bool) async throws -> Value
    ) async throws -> (with: Value, without: Value) {
        let begins = pair.isMultiple(of: 2)
        let first = try await turn(begins)
        let second = try await turn(!begins)
        return begins ? (first, second) : (second, first)
    }
}
