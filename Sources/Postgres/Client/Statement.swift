/// One SQL statement with its parameters.
///
/// `sql` is the key of the prepared-statement cache: keep it constant and pass everything that varies as parameters.
package struct Statement: Sendable {
    /// One statement, with `$1`, `$2` … as placeholders of the parameters.
    package var sql: String

    /// At most 65535, the limit of PostgreSQL.
    package var parameters: [PostgresValue]

    /// The rows that the statement may touch, if known. Tests check the statement against it.
    package var reach: Reach?

    package enum Reach: Sendable {
        /// The rows of one tenant: the statement compares `tenant_id` for each tenant table that it uses.
        case tenant
        /// Reference tables, bookkeeping, or rows of all tenants, read by the engine's role.
        case global
    }

    package init(_ sql: String, _ parameters: [PostgresValue] = [], reach: Reach? = nil) {
        self.sql = sql
        self.parameters = parameters
        self.reach = reach
    }
}

/// Decides what to do inside an open transaction once the results of the last step are known.
///
/// Pure, synchronous and repeatable: it runs on the connection's thread, and again when the transaction is repeated.
/// Throwing rolls back, and the caller receives the error.
package typealias NextStep = @Sendable ([ResultSet]) throws(PostgresError) -> Step

/// The next statements of an open transaction.
package struct Step: Sendable {
    package var statements: [Statement]
    package var then: NextStep?

    package init(_ statements: [Statement], then: NextStep? = nil) {
        self.statements = statements
        self.then = then
    }

    /// Ends the transaction with a commit.
    package static let commit = Step([])
}

/// Statements of one tenant, or of none, that are committed together or not at all.
///
/// With a tenant: `BEGIN; SET LOCAL gateway.tenant = …; statements; COMMIT` in one round trip. Row-level security reads
/// that setting, which ends with the transaction. Without a tenant, a single statement commits by itself.
package struct Transaction: Sendable {
    package var tenant: String?
    /// The statements, in order. For a transaction that can be merged, they are made at each use: nearly all are sent merged, and need none of their own.
    package var statements: [Statement] {
        get { alone?() ?? listed }
        set { (listed, alone) = (newValue, nil) }
    }
    package var then: NextStep?

    private var listed: [Statement] = []
    /// Makes the statements of a transaction that can be merged: as many as `batches`.
    private var alone: (@Sendable () -> [Statement])?

    /// The number of statements.
    var statementCount: Int { alone == nil ? listed.count : batches.count }

    /// Whether the results are returned only when everything that the statements read is on disk too, even if its writer has not waited
    /// for the disk yet (`PostgresPool.run(gathered:)`). For results on which the reader relies. Where the pool may share flushes, the commit itself does not
    /// wait for the disk, so that the transaction does not hold its locks meanwhile; the flush follows it.
    package var flushes: Bool

    /// How the statements join those of other calls (`run(gathered:)` and `run(merged:)` of `PostgresPool`): one entry per statement, or empty if they do not.
    package var batches: [StatementBatch] = []

    /// Whether the session keeps the plans of its statements. Those of a migration run once, and one may need what the one before it creates, so that none can
    /// be planned before the transaction begins. They have no parameters, and their results are not returned.
    package var keepsPlans = true

    /// The call that the functions of the schema name in rows of the audit which they write themselves (`gateway.request`). Nil: none.
    package var request: String?

    /// Each step of `then` costs one more round trip while the transaction is open.
    package init(tenant: String?, _ statements: [Statement], flushes: Bool = false, then: NextStep? = nil) {
        self.tenant = tenant
        self.flushes = flushes
        self.then = then
        listed = statements
    }

    /// A transaction whose statements join those of other calls if each of them can.
    ///
    /// - Parameters:
    ///   - tenant: as above.
    ///   - batches: how its statements join others, one entry per statement that can.
    ///   - count: the number of its statements.
    ///   - flushes: as above.
    ///   - statements: makes its own statements, which must be the same at each call.
    package init(
        tenant: String?,
        _ batches: [StatementBatch],
        of count: Int,
        flushes: Bool,
        _ statements: @escaping @Sendable () -> [Statement]
    ) {
        let isWhole = batches.count == count && count > 0
        self.init(tenant: tenant, isWhole ? [] : statements(), flushes: flushes)
        self.batches = batches
        if isWhole { alone = statements }
    }

    /// Whether BEGIN and COMMIT are needed at all.
    var isExplicit: Bool { tenant != nil || statementCount != 1 || flushes || then != nil }
}

/// Quotes literals and names for SQL that cannot have parameters.
package enum SQLText {
    /// A string literal. With `standard_conforming_strings` (forced at connection), only the quote must be doubled.
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
