package import Model
package import PostgresClient

/// One operation of the store: its SQL, its parameters, and how its result reads.
///
/// An operation is declared once, in a file of its own in the folder of its feature, and is used by its type: `store.run(FindApp(scope), in: tenant)`
/// answers with `AppFacts?`. Operations that run together are one transaction, in order; each reads what those before it wrote, and the rows of another
/// tenant do not exist for it.
package protocol StoreOperation: Sendable {
    /// The result that the caller receives.
    associatedtype Answer: Sendable

    /// The statement of this call. Its text must be constant: it is the key of the prepared statement.
    func statement(_ call: StoreCall) -> Statement

    /// The answer in the statement's result. Pure; called again where the transaction is repeated.
    ///
    /// - Throws: `PostgresError`, when the result is not what the statement should give.
    func read(_ result: ResultSet) throws(PostgresError) -> Answer

    /// Whether it changes rows.
    var writes: Bool { get }

    /// Whether it reads and writes few rows, whoever calls: only such operations share a commit with other calls, because those wait for them.
    var sharesCommit: Bool { get }

    /// The same for many calls in one statement; nil where this call has to go alone.
    func batch(_ call: StoreCall) -> StatementBatch?
}

extension StoreOperation {
    package var sharesCommit: Bool { false }

    package func batch(_ call: StoreCall) -> StatementBatch? { nil }
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

/// Whose call an operation belongs to, and which process carries it out.
package struct StoreCall: Sendable {
    package var tenant: TenantID
    /// Whose row of the counters this process adds to.
    package var node: NodeID

    package init(tenant: TenantID, node: NodeID) {
        self.tenant = tenant
        self.node = node
    }
}

extension StoreCall {
    /// The parameters that most statements begin with: tenant, app, dialect.
    func owner(_ scope: AppScope) -> [PostgresValue] { [.id(tenant), .id(scope.app), .id(scope.vendor)] }
}

extension ResultSet {
    /// The number in the column `count` of a result of one row.
    func count() throws(PostgresError) -> Int { try only().int("count") }
}
