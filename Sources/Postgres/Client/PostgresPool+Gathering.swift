import Logging
import NIOConcurrencyHelpers

extension PostgresPool {
    /// A call that waits for its group's flush.
    struct Passenger: Sendable {
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
        let deadline = ContinuousClock.now + (timeout ?? configuration.batchTimeout)
        let result = await withCheckedContinuation { continuation in
            board(Passenger(transaction: transaction, deadline: deadline, continuation: continuation))
        }
        // What the server undid for others' sake is repeated where it is alone, with the pool's patience.
        if Self.isWorthRepeating(result, until: deadline) {
            return try await run(transaction, timeout: deadline - .now)
        }
        return try result.get()
    }

    @inline(never)
    private func board(_ passenger: Passenger) {
        if let action = gathering.withLockedValue({ $0.arrived(passenger, now: .now) }) {
            perform(action)
        } else {
            let error = PostgresError(.overloaded, reason: "too many gathered calls")
            passenger.continuation.resume(returning: .failure(error))
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

    private func perform(_ action: GatherMachine<Passenger>.Action) {
        for group in action.groups { Task { await self.carry(group) } }
        guard let instant = action.wakesAt else { return }
        Task {
            try? await Task.sleep(until: instant, tolerance: .zero)
            self.perform(self.gathering.withLockedValue { $0.ticked(now: .now) })
        }
    }

    /// Takes a group to the server, folded where it can be, and gives each call its result.
    private func carry(_ group: [Passenger]) async {
        // The oldest has the least time.
        let deadline = group.first?.deadline ?? .now
        let transactions = group.map(\.transaction)
        let folded = FoldedGroup(transactions)
        var results = [Result<[ResultSet], PostgresError>?](repeating: nil, count: group.count)
        var failure = PostgresError(.other, reason: "no result")
        do throws(PostgresError) {
            let answers = try await perform(folded.transactions, asGroup: true, until: deadline)
            results = folded.split(answers, count: group.count)
            let rest = results.indices.filter { results[$0] == nil }
            if !rest.isEmpty {
                let answers = try await perform(rest.map { transactions[$0] }, asGroup: true, until: deadline)
                for (index, answer) in zip(rest, answers) { results[index] = answer }
            }
        } catch {
            failure = error
        }
        perform(gathering.withLockedValue { $0.landed(now: .now) })
        for (index, passenger) in group.enumerated() {
            passenger.continuation.resume(returning: results[index] ?? .failure(failure))
        }
    }
}
