package import Model
package import PostgresClient

/// Runs operations: one call is one transaction of one tenant in one round trip, under row-level security.
///
/// All or nothing, in order; the answer comes after the commit is on disk.
package struct OperationStore: Sendable {
    let pool: PostgresPool
    let node: NodeID

    /// At most so many operations of one call share a commit with other calls: theirs wait for them.
    private static var sharingLimit: Int { 8 }

    /// - Parameters:
    ///   - call: the pool of `gateway_call`.
    ///   - node: whose row of the counters this process adds to.
    package init(call: PostgresPool, node: NodeID) {
        pool = call
        self.node = node
    }

    /// Runs one operation.
    ///
    /// - Throws: `StoreError`; then nothing of it happened, except with code `.timedOut`.
    package func run<Operation: StoreOperation>(
        _ operation: Operation,
        in tenant: TenantID
    ) async throws(StoreError) -> Operation.Answer {
        try await run(StoreRequest(operation) { $0 }, in: tenant)
    }

    /// Runs the operations in order and gives the answer of each.
    ///
    /// - Throws: `StoreError`; then nothing of it happened, except with code `.timedOut`.
    package func run<each Operation: StoreOperation>(
        _ operation: repeat each Operation,
        in tenant: TenantID
    ) async throws(StoreError) -> (repeat (each Operation).Answer) {
        try await run(StoreRequest(repeat each operation), in: tenant)
    }

    /// Runs a request; one that is settled asks nothing.
    ///
    /// - Throws: `StoreError`; then nothing of it happened, except with code `.timedOut`.
    package func run<Answer>(_ request: StoreRequest<Answer>, in tenant: TenantID) async throws(StoreError) -> Answer {
        do throws(PostgresError) {
            if request.hasEnding { return try await ended(request, in: tenant) }
            let results = request.isSettled ? [] : try await results(of: request.operations, in: tenant)
            return try request.read(results)
        } catch {
            throw StoreError(error)
        }
    }

    /// Runs a request unless its key came before, and keeps the answer in its transaction. Of two that come at once the second waits for the first.
    ///
    /// - Throws: `StoreError`; then nothing of it happened, except with code `.timedOut`.
    package func run<Answer>(
        _ request: StoreRequest<Answer>,
        in tenant: TenantID,
        keeping keep: Keep<Answer>
    ) async throws(StoreError) -> Kept<Answer> {
        let call = StoreCall(tenant: tenant, node: node)
        let act = KeptAct(
            request.operations.map { $0.statement(call) },
            keep,
            read: { (results) throws(PostgresError) in try request.read(results) },
            last: { (results) throws(PostgresError) in try request.lastOperations(results).map { $0.statement(call) } }
        )
        return try await asStore { () throws(PostgresError) in try await act.run(on: pool, in: tenant) }
    }

    /// Runs a request whose answer decides which operations end its transaction.
    private func ended<Answer>(
        _ request: StoreRequest<Answer>,
        in tenant: TenantID
    ) async throws(PostgresError) -> Answer {
        let call = StoreCall(tenant: tenant, node: node)
        let transaction = Transaction(tenant: tenant.rawValue, request.operations.map { $0.statement(call) }) {
            (results) throws(PostgresError) in
            Step(try request.lastOperations(results).map { $0.statement(call) })
        }
        return try request.read(try await pool.run(transaction))
    }

    /// The part that is suspended while the server works: it holds the transaction and nothing else.
    private func results(
        of operations: [any StoreOperation],
        in tenant: TenantID
    ) async throws(PostgresError) -> [ResultSet] {
        let transaction = transaction(operations, tenant)
        if Self.shareCommit(operations) { return try await pool.run(gathered: transaction) }
        return try await pool.run(transaction)
    }

    // Apart from the function that waits: what these compute with would lie in the memory of every call that waits.

    @inline(never)
    private func transaction(_ operations: [any StoreOperation], _ tenant: TenantID) -> Transaction {
        let call = StoreCall(tenant: tenant, node: node)
        var transaction = Transaction(
            tenant: tenant.rawValue,
            operations.map { $0.statement(call) },
            flushes: operations.contains { $0.writes }
        )
        transaction.batches = operations.compactMap { $0.batch(call) }
        return transaction
    }

    /// Whether these go together with other calls' operations and share one commit: short, and something is written.
    ///
    /// What writes must never answer from what another call wrote and has not flushed, so a long write ends with a flush of its own.
    @inline(never)
    static func shareCommit(_ operations: [any StoreOperation]) -> Bool {
        operations.count <= sharingLimit && operations.contains { $0.writes }
            && operations.allSatisfy { $0.sharesCommit }
    }
}
