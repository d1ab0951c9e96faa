package import Model
package import PostgresClient

/// One operation of the store: its SQL, its parameters, and the decoding of its result.
///
/// An operation is declared once, in its own file in the folder of its feature, and is used by its type: `store.run(FindApp(scope), in: tenant)`
/// returns `AppFacts?`. Operations that run together are one transaction, in order. Each reads the rows that the preceding operations wrote, and cannot
/// see rows of another tenant.
package protocol StoreOperation: Sendable {
    /// The result that the caller receives.
    associatedtype Answer: Sendable

    /// The statement of this call. Its text must be constant, because it is the key of the prepared statement.
    func statement(_ call: StoreCall) -> Statement

    /// Decodes the answer from the result of the statement. Pure; called again when the transaction is repeated.
    ///
    /// - Throws: `PostgresError` when the result does not have the expected form.
    func read(_ result: ResultSet) throws(PostgresError) -> Answer

    /// Called once, when the transaction has been committed, for what happens outside the database.
    func committed(_ result: ResultSet)

    /// Whether the operation changes rows.
    var writes: Bool { get }

    /// Whether it reads and writes few rows for every caller. Only such operations share a commit with other calls, because the other calls wait for them.
    var sharesCommit: Bool { get }

    /// Whether a function of the schema writes rows of the audit for it. The transaction then names the call (`CallID.current`). It must not share a commit.
    var isAuditedBySchema: Bool { get }

    /// The form in which many calls share one statement. Nil when this call must run alone.
    func batch(_ call: StoreCall) -> StatementBatch?
}

extension StoreOperation {
    package var sharesCommit: Bool { false }

    package var isAuditedBySchema: Bool { false }

    package func batch(_ call: StoreCall) -> StatementBatch? { nil }

    package func committed(_ result: ResultSet) {}
}

/// An operation that changes nothing.
package protocol StoreRead: StoreOperation {}

extension StoreRead {
    package var writes: Bool { false }
}

/// An operation that changes rows.
package protocol StoreWrite: StoreOperation {}

extension StoreWrite {
    package var writes: Bool { true }
}

/// The tenant of a call, and the node that carries it out.
package struct StoreCall: Sendable {
    package var tenant: TenantID
    /// The node of this process.
    package var node: NodeID

    package init(tenant: TenantID, node: NodeID) {
        self.tenant = tenant
        self.node = node
    }
}

extension StoreCall {
    /// The first parameters of most statements: tenant, app, dialect.
    package func owner(_ scope: AppScope) -> [PostgresValue] { [.id(tenant), .id(scope.app), .id(scope.vendor)] }
}

extension ResultSet {
    /// Returns the number in the column `count` of a result of one row.
    func count() throws(PostgresError) -> Int { try only().int("count") }
}
