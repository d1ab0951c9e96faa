/// One SQL statement with its parameters.
///
/// `sql` is the key of the prepared-statement cache: keep it constant and put what varies into parameters.
package struct Statement: Sendable {
    /// One statement, with `$1`, `$2` … for the parameters.
    package var sql: String

    /// At most 65535, PostgreSQL's own limit.
    package var parameters: [PostgresValue]

    /// Over whose rows it goes, where that is known: tests hold it to that.
    package var reach: Reach?

    package enum Reach: Sendable {
        /// One tenant's rows: it names `tenant_id` for each tenant table in it.
        case tenant
        /// Reference tables, bookkeeping, or a look over all tenants by the engine's role.
        case global
    }

    package init(_ sql: String, _ parameters: [PostgresValue] = [], reach: Reach? = nil) {
        self.sql = sql
        self.parameters = parameters
        self.reach = reach
    }
}

/// What to do inside an open transaction once the results of the last step are known.
///
/// Pure, synchronous and repeatable: it runs on the connection's thread, and again if the transaction is run again.
/// Throwing rolls back, and the error reaches the caller.
package typealias NextStep = @Sendable ([ResultSet]) throws(PostgresError) -> Step

/// The next statements of an open transaction.
package struct Step: Sendable {
    package var statements: [Statement]
    package var then: NextStep?

    package init(_ statements: [Statement], then: NextStep? = nil) {
        self.statements = statements
        self.then = then
    }

    /// Nothing more to do: commit.
    package static let commit = Step([])
}

/// Statements that happen together or not at all, for one tenant or for none.
///
/// With a tenant: `BEGIN; SET LOCAL gateway.tenant = …; statements; COMMIT` in one round trip. Row-level security reads
/// that setting, and it dies with the transaction. Without a tenant, a single statement commits by itself.
package struct Transaction: Sendable {
    package var tenant: String?
    package var statements: [Statement]
    package var then: NextStep?

    /// Whether the answer waits until what the statements read is on disk too, although its writer may not have waited
    /// yet (`PostgresPool.run(gathered:)`). For answers that the reader builds on. Without `then`.
    package var flushes: Bool

    /// How its statements join others of their kind (`PostgresPool.run(gathered:)`): one for each, or they do not.
    package var batches: [StatementBatch] = []

    /// Each step of `then` costs one more round trip, with the transaction open.
    package init(tenant: String?, _ statements: [Statement], flushes: Bool = false, then: NextStep? = nil) {
        self.tenant = tenant
        self.statements = statements
        self.flushes = flushes
        self.then = then
    }

    /// Whether BEGIN and COMMIT are needed at all.
    var isExplicit: Bool { tenant != nil || statements.count != 1 || flushes || then != nil }
}

/// `COPY … FROM STDIN` in the binary format. Only for roles that bypass row-level security.
package struct Copy: Sendable {
    /// The table's name as SQL, schema included; ours, never a caller's text.
    package var table: String
    package var columns: [String]

    /// Each value must have exactly its column's type: COPY does not convert.
    package var rows: [[PostgresValue]]

    package init(into table: String, columns: [String], rows: [[PostgresValue]]) {
        self.table = table
        self.columns = columns
        self.rows = rows
    }
}

/// Literals and names in SQL that cannot take parameters.
package enum SQLText {
    /// A string literal; with `standard_conforming_strings` (forced at connect) only the quote needs doubling.
    ///
    /// - Throws: `invalidParameter` for a NUL.
    package static func literal(_ text: String) throws(PostgresError) -> String { "'" + (try doubled(text, "'")) + "'" }

    /// A quoted identifier.
    ///
    /// - Throws: `invalidParameter` for a NUL.
    package static func identifier(_ text: String) throws(PostgresError) -> String {
        "\"" + (try doubled(text, "\"")) + "\""
    }

    private static func doubled(_ text: String, _ quote: Character) throws(PostgresError) -> String {
        var out = ""
        for character in text.unicodeScalars {
            guard character.value != 0 else { throw PostgresError(.invalidParameter, reason: "NUL in text") }
            out.unicodeScalars.append(character)
            if quote.unicodeScalars.first == character { out.append(quote) }
        }
        return out
    }
}
