import Logging
import NIOConcurrencyHelpers

extension PostgresPool {
    /// A call that waits for its group's flush.
    struct PendingCall: Sendable {
        var transaction: Transaction
        var deadline: ContinuousClock.Instant
        var continuation: CheckedContinuation<Result<[ResultSet], PostgresError>, Never>
    }

    /// Runs one transaction beside others that are asked for at the same time: each commits or fails by itself, one flush to disk serves all.
    ///
    /// For short writes. One with steps, or of a pool that does not share flushes, runs by itself. A cancellation does not stop it.
    /// - Returns: the results, when they are on disk; also what the transaction only read then is.
    /// - Throws: any `PostgresError`; nothing happened unless `isIndeterminate`.
    package func run(gathered transaction: Transaction, timeout: Duration? = nil) async throws(PostgresError)
        -> [ResultSet]
    {
        guard transaction.then == nil, configuration.sharesFlush else {
            return try await run(transaction, timeout: timeout)
        }
        show(transaction)
        let deadline = ContinuousClock.now + (timeout ?? configuration.batchTimeout)
        let result = await withCheckedContinuation { continuation in
            enqueue(PendingCall(transaction: transaction, deadline: deadline, continuation: continuation))
        }
        // What the server undid for others' sake is repeated where it is alone, with the pool's patience.
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

    /// Takes a group to the server, joined where it can be, and gives each call its result.
    private func send(_ group: [PendingCall]) async {
        // The oldest has the least time.
        let deadline = group.first?.deadline ?? .now
        let transactions = group.map(\.transaction)
        let batched = BatchedTransactions(transactions)
        var results = [Result<[ResultSet], PostgresError>?](repeating: nil, count: group.count)
        var failure = PostgresError(.other, reason: "no result")
        do throws(PostgresError) {
            let answers = try await perform(batched.transactions, asGroup: true, until: deadline)
            results = batched.split(answers, count: group.count)
            let rest = results.indices.filter { results[$0] == nil }
            if !rest.isEmpty {
                let answers = try await perform(rest.map { transactions[$0] }, asGroup: true, until: deadline)
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
}
