package import Logging
import NIOConcurrencyHelpers

/// Sessions of one role on one database, each leased to one call at a time.
///
/// Calls are batches, not closures: a session is never held while its caller does something else. A session is returned without
/// a transaction and without a tenant, or it is closed. Any task may call; `close` ends the pool.
package final class PostgresPool: Sendable {
    /// A session that one call uses.
    private struct Lease {
        var slot: PoolMachine.Slot
        var connection: PostgresConnection
    }

    private struct State {
        var machine: PoolMachine
        var connections: [PoolMachine.Slot: PostgresConnection] = [:]
        var continuations: [PoolMachine.Waiter: CheckedContinuation<PoolMachine.Grant, Never>] = [:]
        var closers: [CheckedContinuation<Void, Never>] = []
    }

    /// Wakes the housekeeping thread, which holds the timer but not the pool.
    private let timer = WakeupTimer()
    private let state: NIOLockedValueBox<State>
    /// Short writes that are sent together.
    let writes = Gathering(flushes: true)
    /// Short reads that are merged. Apart from the writes, because they do not wait for the disk.
    let reads = Gathering(flushes: false)
    package let configuration: PostgresConfiguration
    private let limits: PoolLimits
    private let logger: Logger

    /// Makes a pool without sessions. The first call opens one.
    package init(_ configuration: PostgresConfiguration, limits: PoolLimits = PoolLimits(), logger: Logger) {
        self.configuration = configuration
        self.limits = limits
        self.logger = logger
        state = NIOLockedValueBox(State(machine: PoolMachine(limits: limits)))
        let timer = timer
        let isKept = NativeThread.start { [weak self] in
            // Handles the deadlines of waiting calls and idle sessions. The thread ends with the pool.
            while timer.wait() { timer.next(self?.tick()) }
        }
        if !isKept { logger.debug("The thread that ends waiting calls and idle sessions could not be started") }
    }

    deinit { timer.stop() }

    /// Runs statements as one transaction of `tenant` (nil: without a tenant).
    ///
    /// - Throws: any `PostgresError`; nothing happened unless `isIndeterminate`.
    package func run(_ statements: [Statement], tenant: String?, timeout: Duration? = nil) async throws(PostgresError)
        -> [ResultSet]
    {
        try await run(Transaction(tenant: tenant, statements), timeout: timeout)
    }

    /// Runs one statement as one transaction of `tenant` (nil: without a tenant).
    ///
    /// - Throws: any `PostgresError`; nothing happened unless `isIndeterminate`.
    package func run(_ statement: Statement, tenant: String?, timeout: Duration? = nil) async throws(PostgresError)
        -> ResultSet
    {
        let results = try await run(Transaction(tenant: tenant, [statement]), timeout: timeout)
        guard let result = results.first else { throw PostgresError(.other, reason: "no result") }
        return result
    }

    /// Runs one transaction and returns the results of all its steps, in order.
    ///
    /// - Throws: any `PostgresError`; nothing happened unless `isIndeterminate`.
    package func run(_ transaction: Transaction, timeout: Duration? = nil) async throws(PostgresError) -> [ResultSet] {
        show(transaction)
        let deadline = ContinuousClock.now + (timeout ?? configuration.batchTimeout)
        // It then holds its locks only while it computes, and not while the disk or a standby confirms its commit.
        let flushesAfterwards = transaction.flushes && configuration.sharesFlush
        var repeats = 0
        while true {
            let results = try await perform([transaction], asGroup: flushesAfterwards, until: deadline)
            guard let result = results.first else { throw PostgresError(.other, reason: "no result") }
            guard case .failure(let error) = result, error.wasRolledBackForOthers, repeats < limits.repeatCount else {
                return try result.get()
            }
            repeats += 1
            try await pause(before: repeats)
        }
    }

    /// Runs independent transactions, each with its own tenant, commit and outcome, in one round trip if none has steps.
    ///
    /// - Parameters:
    ///   - pipeline: the transactions.
    ///   - timeout: the time for all of them; nil: that of the configuration.
    ///   - sharesFlush: whether one flush to disk may cover all of them, where the pool shares flushes; at most 128 transactions then.
    /// - Returns: an outcome per transaction.
    /// - Throws: only when nothing could be sent.
    package func run(
        pipeline: [Transaction],
        timeout: Duration? = nil,
        sharesFlush: Bool = false
    ) async throws(PostgresError) -> [Result<[ResultSet], PostgresError>] {
        guard !pipeline.isEmpty else { return [] }
        pipeline.forEach(show)
        let deadline = ContinuousClock.now + (timeout ?? configuration.batchTimeout)
        return try await perform(pipeline, asGroup: sharesFlush && configuration.sharesFlush, until: deadline)
    }

    /// Refuses new calls and waits until the running calls have ended. Each of them has a deadline.
    package func close() async {
        let action = state.withLockedValue { $0.machine.closed() }
        perform(action)
        await withCheckedContinuation { continuation in
            let isDrained = state.withLockedValue { state in
                if !state.machine.isDrained { state.closers.append(continuation) }
                return state.machine.isDrained
            }
            if isDrained { continuation.resume() }
        }
    }

    /// The current state and the counters of the pool.
    package var statistics: PoolStatistics { state.withLockedValue { $0.machine.currentStatistics } }

    // MARK: One call

    func perform(
        _ transactions: [Transaction],
        asGroup isGroup: Bool = false,
        until deadline: ContinuousClock.Instant
    ) async throws(PostgresError) -> [Result<[ResultSet], PostgresError>] {
        while true {
            let lease = try await acquire(until: deadline)
            let performance = await lease.connection.perform(transactions, asGroup: isGroup, until: deadline)
            release(lease, isReusable: performance.isReusable)
            // The server had closed an idle session, and nothing was sent. Each round closes one such session, so the loop ends.
            if performance.wasStale, ContinuousClock.now < deadline { continue }
            return performance.results
        }
    }

    /// Passes a transaction to the statement inspector, on the caller's task, so that a test can match it to its call.
    func show(_ transaction: Transaction) {
        guard let inspect = configuration.inspect else { return }
        inspect(transaction.statements)
        if !transaction.batches.isEmpty { inspect(transaction.batches.map(\.shared)) }
    }

    private func pause(before repeats: Int) async throws(PostgresError) {
        do {
            try await Task.sleep(for: .milliseconds(Int.random(in: 1...(10 << repeats))))
        } catch {
            throw PostgresError(.cancelled)
        }
    }

    private func acquire(until deadline: ContinuousClock.Instant) async throws(PostgresError) -> Lease {
        let waitEnd = min(deadline, .now + limits.waitTimeout)
        while true {
            switch await grant(until: waitEnd) {
            case .lease(let slot):
                if let lease = lease(slot) { return lease }
            case .open(let slot):
                do throws(PostgresError) {
                    return try await open(slot, until: deadline)
                } catch {
                    // Waiting helps when a server restarts, but not when it rejects the credentials.
                    guard error.isRetriable, ContinuousClock.now < waitEnd else { throw error }
                }
            case .fail(let error): throw error
            }
        }
    }

    private func lease(_ slot: PoolMachine.Slot) -> Lease? {
        let connection = state.withLockedValue { $0.connections[slot] }
        if let connection { return Lease(slot: slot, connection: connection) }
        perform(state.withLockedValue { $0.machine.released(slot, isReusable: false, now: .now) })
        return nil
    }

    private func open(_ slot: PoolMachine.Slot, until deadline: ContinuousClock.Instant)
        async throws(PostgresError) -> Lease
    {
        var random = SystemRandomNumberGenerator()
        let isHurried = deadline < .now + configuration.connectTimeout
        do throws(PostgresError) {
            let connection = try await PostgresConnection.connect(configuration, logger: logger, deadline: deadline)
            let action = state.withLockedValue { state in
                state.connections[slot] = connection
                return state.machine.opened(slot, now: .now, random: &random)
            }
            perform(action)
            return Lease(slot: slot, connection: connection)
        } catch {
            logger.debug("A database session cannot be opened", metadata: ["error": .string("\(error)")])
            // The short timeout of one caller proves nothing about the server, so the other calls do not have to pause.
            let verdict = isHurried && error.code == .timeout ? PostgresError(.cancelled) : error
            perform(state.withLockedValue { $0.machine.openFailed(slot, verdict, now: .now, random: &random) })
            timer.wake()
            throw error
        }
    }

    private func release(_ lease: Lease, isReusable: Bool) {
        perform(state.withLockedValue { $0.machine.released(lease.slot, isReusable: isReusable, now: .now) })
    }

    // MARK: Waiting

    private func grant(until waitEnd: ContinuousClock.Instant) async -> PoolMachine.Grant {
        if let grant = state.withLockedValue({ $0.machine.acquired(now: .now) }) { return grant }
        let waiter = state.withLockedValue { $0.machine.makeWaiter() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let action = state.withLockedValue { state in
                    state.continuations[waiter] = continuation
                    return state.machine.waited(waiter, until: waitEnd, now: .now)
                }
                perform(action)
                timer.wake()
                // Cancelled before the call was in the queue: the cancellation handler could not find it.
                if Task.isCancelled { giveUp(waiter) }
            }
        } onCancel: {
            giveUp(waiter)
        }
    }

    private func giveUp(_ waiter: PoolMachine.Waiter) {
        let continuation = state.withLockedValue { state in
            state.machine.waiterCancelled(waiter) ? state.continuations.removeValue(forKey: waiter) : nil
        }
        continuation?.resume(returning: .fail(PostgresError(.cancelled)))
    }

    // MARK: Housekeeping

    /// Returns the time of the next call; nil when no call waits.
    private func tick() -> ContinuousClock.Instant? {
        let (action, next) = state.withLockedValue { state in
            (state.machine.ticked(now: .now), state.machine.nextTick(now: .now))
        }
        perform(action)
        return next
    }

    /// Performs, outside the lock, the action that the machine decided inside it.
    private func perform(_ action: PoolMachine.Action) {
        let (answers, closers) = state.withLockedValue { state in
            for slot in action.closing { state.connections[slot] = nil }
            let answers = action.grants.compactMap { waiter, grant in
                state.continuations.removeValue(forKey: waiter).map { ($0, grant) }
            }
            let closers = state.machine.isDrained ? state.closers : []
            if state.machine.isDrained { state.closers = [] }
            return (answers, closers)
        }
        for (continuation, grant) in answers { continuation.resume(returning: grant) }
        for closer in closers { closer.resume() }
    }
}

extension PostgresError {
    /// The server rolled back this transaction because of a concurrent one. The client is expected to repeat it.
    var wasRolledBackForOthers: Bool {
        code == .serializationFailure || code == .deadlock || code == .partitionChanged
    }
}
