import Logging
import NIOConcurrencyHelpers

extension PostgresPool {
    /// Calls that are sent together.
    struct Gathering: Sendable {
        /// Whether their groups end with a flush to disk.
        let flushes: Bool
        let machine = NIOLockedValueBox(GatherMachine<PendingCall>(limits: GatherLimits()))
    }

    /// A call that waits for its group.
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
        guard transaction.then == nil, configuration.sharesFlush || transaction.canBeMerged else {
            return try await run(transaction, timeout: timeout)
        }
        return try await run(transaction, in: writes, timeout: timeout)
    }

    /// Runs a short read together with concurrent ones, merged where possible. None of them waits for the disk. Any other transaction runs alone.
    ///
    /// - Throws: any `PostgresError`.
    package func run(merged transaction: Transaction, timeout: Duration? = nil) async throws(PostgresError)
        -> [ResultSet]
    {
        guard transaction.canBeMerged, !transaction.flushes else {
            return try await run(transaction, timeout: timeout)
        }
        return try await run(transaction, in: reads, timeout: timeout)
    }

    private func run(
        _ transaction: Transaction,
        in gathering: Gathering,
        timeout: Duration?
    ) async throws(PostgresError) -> [ResultSet] {
        show(transaction)
        let deadline = ContinuousClock.now + (timeout ?? configuration.batchTimeout)
        let result = await withCheckedContinuation { continuation in
            let call = PendingCall(transaction: transaction, deadline: deadline, continuation: continuation)
            enqueue(call, in: gathering)
        }
        // A transaction that the server rolled back because of another one is repeated alone, with the pool's own retries.
        if Self.isWorthRepeating(result, until: deadline) {
            return try await run(transaction, timeout: deadline - .now)
        }
        return try result.get()
    }

    @inline(never)
    private func enqueue(_ call: PendingCall, in gathering: Gathering) {
        if let action = gathering.machine.withLockedValue({ $0.arrived(call, now: .now) }) {
            perform(action, of: gathering)
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

    private func perform(_ action: GatherMachine<PendingCall>.Action, of gathering: Gathering) {
        for group in action.groups { Task { await self.send(group, of: gathering) } }
        guard let instant = action.wakesAt else { return }
        Task {
            try? await Task.sleep(until: instant, tolerance: .zero)
            self.perform(gathering.machine.withLockedValue { $0.ticked(now: .now) }, of: gathering)
        }
    }

    /// Sends a group to the server, merged into batches where possible, and passes each call its result.
    private func send(_ group: [PendingCall], of gathering: Gathering) async {
        // The oldest call has the earliest deadline.
        let deadline = group.first?.deadline ?? .now
        let transactions = group.map(\.transaction)
        let batched = BatchedTransactions(transactions)
        guard configuration.sharesFlush else {
            return await send(group, apart: batched, of: gathering, until: deadline)
        }
        var results = [Result<[ResultSet], PostgresError>?](repeating: nil, count: group.count)
        var failure = PostgresError(.other, reason: "no result")
        do throws(PostgresError) {
            let flushes = gathering.flushes
            let answers = try await perform(batched.transactions, asGroup: flushes, until: deadline)
            results = batched.split(answers, count: group.count)
            let rest = results.indices.filter { results[$0] == nil }
            if !rest.isEmpty {
                let answers = try await perform(rest.map { transactions[$0] }, asGroup: flushes, until: deadline)
                for (index, answer) in zip(rest, answers) { results[index] = answer }
            }
        } catch {
            failure = error
        }
        perform(gathering.machine.withLockedValue { $0.landed(now: .now) }, of: gathering)
        for (index, call) in group.enumerated() {
            call.continuation.resume(returning: results[index] ?? .failure(failure))
        }
    }

    /// How long a group that does not share a flush keeps others from being sent. A transaction that waits longer, for a lock or a moved shard, delays its own
    /// calls only.
    private static let stallLimit = Duration.seconds(1)

    /// Sends each transaction of a group on a session of its own, because each commit waits for the disk and each may wait for another server, and passes each
    /// call its result when it has one.
    private func send(
        _ group: [PendingCall],
        apart batched: BatchedTransactions,
        of gathering: Gathering,
        until deadline: ContinuousClock.Instant
    ) async {
        let hasLanded = NIOLockedValueBox(false)
        let land: @Sendable () -> Void = {
            let isFirst = hasLanded.withLockedValue { hasLanded in
                defer { hasLanded = true }
                return !hasLanded
            }
            if isFirst { self.perform(gathering.machine.withLockedValue { $0.landed(now: .now) }, of: gathering) }
        }
        let timer = Task {
            try? await Task.sleep(for: Self.stallLimit)
            land()
        }
        await withDiscardingTaskGroup { tasks in
            for (place, transaction) in batched.transactions.enumerated() {
                tasks.addTask {
                    let answer = await self.result(of: transaction, until: deadline)
                    for (member, result) in batched.split(answer, at: place) {
                        let call = group[member]
                        if let result {
                            call.continuation.resume(returning: result)
                        } else {
                            let own = await self.result(of: call.transaction, until: deadline)
                            call.continuation.resume(returning: own)
                        }
                    }
                }
            }
        }
        timer.cancel()
        land()
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
