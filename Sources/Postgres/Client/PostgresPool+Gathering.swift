import Logging
import NIOConcurrencyHelpers

extension PostgresPool {
    /// A call that waits for the flush of its group.
    struct PendingCall: Sendable {
        var transaction: Transaction
        var deadline: ContinuousClock.Instant
        var continuation: CheckedContinuation<Result<[ResultSet], PostgresError>, Never>
    }

    /// Runs one transaction together with concurrent ones: each commits or fails separately, and one flush to disk serves all of them.
    ///
    /// For short writes. A transaction with steps runs separately. On a pool that does not share flushes, such as that of a Citus coordinator, so does one that cannot
    /// be merged with others; those that can gather as usual. A cancellation does not stop the call.
    /// - Returns: the results, once they and everything that the transaction read are on disk.
    /// - Throws: any `PostgresError`; nothing happened unless `isIndeterminate`.
    package func run(gathered transaction: Transaction, timeout: Duration? = nil) async throws(PostgresError)
        -> [ResultSet]
    {
        guard transaction.then == nil, configuration.sharesFlush || !transaction.batches.isEmpty else {
            return try await run(transaction, timeout: timeout)
        }
        show(transaction)
        let deadline = ContinuousClock.now + (timeout ?? configuration.batchTimeout)
        let result = await withCheckedContinuation { continuation in
            enqueue(PendingCall(transaction: transaction, deadline: deadline, continuation: continuation))
        }
        // A transaction that the server rolled back because of another one is repeated alone, with the pool's own retries.
        if Self.isWorthRepeating(result, until: deadline) {
            return try await run(transaction, timeout: deadline - .now)
        }
        return try result.get()
    }

    @inline(never)
    private func enqueue(_ call: PendingCall) {
        if let action = gathering.withLockedValue({ $0.arrived(call, now: .now) }) {
            perform(action)
        } else {
            let error = PostgresError(.overloaded, reason: "too many gathered calls")
            call.continuation.resume(returning: .failure(error))
        }
    }

    @inline(never)
    private static func isWorthRepeating(
        _ result: Result<[ResultSet], PostgresError>,
        until deadline: ContinuousClock.Instant
    ) -> Bool {
        guard case .failure(let error) = result else { return false }
        return error.wasRolledBackForOthers && ContinuousClock.now < deadline
    }

    private func perform(_ action: GatherMachine<PendingCall>.Action) {
        for group in action.groups { Task { await self.send(group) } }
        guard let instant = action.wakesAt else { return }
        Task {
            try? await Task.sleep(until: instant, tolerance: .zero)
            self.perform(self.gathering.withLockedValue { $0.ticked(now: .now) })
        }
    }

    /// Sends a group to the server, merged into batches where possible, and passes each call its result.
    private func send(_ group: [PendingCall]) async {
        // The oldest call has the earliest deadline.
        let deadline = group.first?.deadline ?? .now
        let transactions = group.map(\.transaction)
        let batched = BatchedTransactions(transactions)
        var results = [Result<[ResultSet], PostgresError>?](repeating: nil, count: group.count)
        var failure = PostgresError(.other, reason: "no result")
        do throws(PostgresError) {
            let answers = try await perform(group: batched.transactions, until: deadline)
            results = batched.split(answers, count: group.count)
            let rest = results.indices.filter { results[$0] == nil }
            if !rest.isEmpty {
                let answers = try await perform(group: rest.map { transactions[$0] }, until: deadline)
                for (index, answer) in zip(rest, answers) { results[index] = answer }
            }
        } catch {
            failure = error
        }
        perform(gathering.withLockedValue { $0.landed(now: .now) })
        for (index, call) in group.enumerated() {
            call.continuation.resume(returning: results[index] ?? .failure(failure))
        }
    }

    /// Sends a group on one session and flushes once. Without a shared flush, each transaction commits on a session of its own, because a commit waits for the disk.
    private func perform(group transactions: [Transaction], until deadline: ContinuousClock.Instant)
        async throws(PostgresError) -> [Result<[ResultSet], PostgresError>]
    {
        if configuration.sharesFlush { return try await perform(transactions, asGroup: true, until: deadline) }
        guard transactions.count > 1 else { return try await perform(transactions, until: deadline) }
        return await withTaskGroup(of: (place: Int, result: Result<[ResultSet], PostgresError>).self) { tasks in
            for (place, transaction) in transactions.enumerated() {
                tasks.addTask { (place, await self.result(of: transaction, until: deadline)) }
            }
            let missing = PostgresError(.other, reason: "no result")
            var results = [Result<[ResultSet], PostgresError>](repeating: .failure(missing), count: transactions.count)
            for await (place, result) in tasks { results[place] = result }
            return results
        }
    }

    private func result(of transaction: Transaction, until deadline: ContinuousClock.Instant) async
        -> Result<[ResultSet], PostgresError>
    {
        do throws(PostgresError) {
            return try await perform([transaction], until: deadline).first
                ?? .failure(PostgresError(.other, reason: "no result"))
        } catch {
            return .failure(error)
        }
    }
}
