package import Model
package import PostgresClient

/// Runs operations. One call is one transaction of one tenant in one round trip, under row-level security.
///
/// The operations run in order, all or none. The call returns after the commit is on disk.
package struct OperationStore: Sendable {
    let pool: PostgresPool
    let node: NodeID

    /// Calls with at most this many operations share a commit with other calls, because the others wait for them.
    package static var sharingLimit: Int { 8 }

    /// - Parameters:
    ///   - call: the pool of `gateway_call`.
    ///   - node: the node whose row of the counters this process updates.
    package init(call: PostgresPool, node: NodeID) {
        pool = call
        self.node = node
    }

    /// Runs a request. A settled request returns its answer without a database call.
    ///
    /// - Throws: `StoreError`. Nothing happened then, except with code `.timedOut`.
    package func run<Answer>(_ request: StoreRequest<Answer>, in tenant: TenantID) async throws(StoreError) -> Answer {
        do throws(PostgresError) {
            if request.hasEnding { return try await ended(request, in: tenant) }
            let results = request.isSettled ? [] : try await results(of: request.operations, in: tenant)
            Self.committed(request.operations, results[...])
            return try request.read(results)
        } catch {
            throw StoreError(error)
        }
    }

    /// Runs a request unless its key was used before, and stores the answer in its transaction. Of two concurrent calls, the second waits for the first.
    ///
    /// - Throws: `StoreError`. Nothing happened then, except with code `.timedOut`.
    package func run<Answer>(
        _ request: StoreRequest<Answer>,
        in tenant: TenantID,
        keeping keep: Keep<Answer>
    ) async throws(StoreError) -> Kept<Answer> {
        let call = StoreCall(tenant: tenant, node: node)
        let act = KeptAct(
            request.operations.map { $0.statement(call) },
            keep,
            request: Self.request(of: request.operations),
            read: { (results) throws(PostgresError) in try request.read(results) },
            last: { (results) throws(PostgresError) in try request.lastOperations(results).map { $0.statement(call) } }
        )
        return try await asStore { () throws(PostgresError) in try await act.run(on: pool, in: tenant) }
    }

    /// Runs a request whose answer determines the operations that end its transaction.
    private func ended<Answer>(
        _ request: StoreRequest<Answer>,
        in tenant: TenantID
    ) async throws(PostgresError) -> Answer {
        let call = StoreCall(tenant: tenant, node: node)
        let statements = request.operations.map { $0.statement(call) }
        var transaction = Transaction(tenant: tenant.rawValue, statements, flushes: true) {
            (results) throws(PostgresError) in
            Step(try request.lastOperations(results).map { $0.statement(call) })
        }
        transaction.request = Self.request(of: request.operations)
        let results = try await pool.run(transaction)
        let count = request.operations.count
        Self.committed(request.operations, results[...])
        Self.committed(try request.lastOperations(Array(results.prefix(count))), results.dropFirst(count))
        return try request.read(results)
    }

    private static func committed(_ operations: [any StoreOperation], _ results: ArraySlice<ResultSet>) {
        for (operation, result) in zip(operations, results) { operation.committed(result) }
    }

    /// The part that is suspended while the server works. It holds the transaction and nothing else.
    private func results(
        of operations: [any StoreOperation],
        in tenant: TenantID
    ) async throws(PostgresError) -> [ResultSet] {
        let transaction = transaction(operations, tenant)
        if Self.shareCommit(operations) { return try await pool.run(gathered: transaction) }
        return try await pool.run(merged: transaction)
    }

    // Separate from the suspended function, because the variables of this computation would stay in the memory of every waiting call.

    @inline(never)
    private func transaction(_ operations: [any StoreOperation], _ tenant: TenantID) -> Transaction {
        let call = StoreCall(tenant: tenant, node: node)
        let batches = operations.compactMap { $0.batch(call) }
        let writes = operations.contains { $0.writes }
        var transaction = Transaction(tenant: tenant.rawValue, batches, of: operations.count, flushes: writes) {
            operations.map { $0.statement(call) }
        }
        transaction.request = Self.request(of: operations)
        return transaction
    }

    /// The call that the schema's functions name in the audit, if they write rows for these operations.
    private static func request(of operations: [any StoreOperation]) -> String? {
        operations.contains { $0.isAuditedBySchema } ? CallID.current?.description : nil
    }

    /// Whether these operations run together with those of other calls and share one commit: they are short, and one of them writes.
    ///
    /// An answer to a write must never depend on rows of another call that are not flushed, so a long write ends with a separate flush.
    @inline(never)
    static func shareCommit(_ operations: [any StoreOperation]) -> Bool {
        operations.count <= sharingLimit && operations.contains { $0.writes }
            && operations.allSatisfy { $0.sharesCommit }
    }
}
