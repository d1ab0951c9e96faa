import Commands

/// One of `Commands`' statements as SQL, and how its result reads.
struct StoreQuestion: Sendable {
    var statement: Statement
    /// How it joins others of its kind; nil: it does not.
    var fold: Fold?
    var read: @Sendable (ResultSet) throws(PostgresError) -> StoreAnswer

    init(
        _ statement: Statement,
        fold: Fold? = nil,
        _ read: @escaping @Sendable (ResultSet) throws(PostgresError) -> StoreAnswer
    ) {
        self.statement = statement
        self.fold = fold
        self.read = read
    }

    /// A statement that answers with the number in its column `count`.
    static func counting(_ statement: Statement) -> StoreQuestion {
        StoreQuestion(statement) { (result) throws(PostgresError) in .count(try result.only().int("count")) }
    }

    /// A statement that answers with how many rows it changed.
    static func changing(_ statement: Statement) -> StoreQuestion {
        StoreQuestion(statement) { .count($0.affectedRows) }
    }
}
