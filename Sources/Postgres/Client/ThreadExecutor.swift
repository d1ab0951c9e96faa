import NIOConcurrencyHelpers

/// A serial executor with its own thread, for actors that call blocking C functions.
///
/// Made with the actor and stopped by the actor's `deinit`. Jobs run one after the other, in the order in which they arrive.
final class ThreadExecutor: SerialExecutor {
    private enum Signal: Equatable { case nothing, work }

    private struct State {
        var jobs: [UnownedJob] = []
        var isStopped = false
    }

    private let signal = ConditionLock(value: Signal.nothing)
    private let state = NIOLockedValueBox(State())

    private init() {}

    /// Makes an executor whose thread is running.
    ///
    /// - Throws: `other` when the system cannot create a thread.
    static func start() throws(PostgresError) -> ThreadExecutor {
        let executor = ThreadExecutor()
        guard NativeThread.start({ executor.loop() }) else { throw PostgresError(.other, reason: "no thread") }
        return executor
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let unowned = UnownedJob(job)
        state.withLockedValue { $0.jobs.append(unowned) }
        wake()
    }

    /// Ends the thread once the queue is empty.
    func stop() {
        state.withLockedValue { $0.isStopped = true }
        wake()
    }

    private func wake() {
        signal.lock()
        signal.unlock(withValue: .work)
    }

    private func loop() {
        while true {
            signal.lock(whenValue: .work)
            signal.unlock(withValue: .nothing)
            let (jobs, isStopped) = state.withLockedValue { state in
                defer { state.jobs.removeAll(keepingCapacity: true) }
                return (state.jobs, state.isStopped)
            }
            for job in jobs { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
            if isStopped && jobs.isEmpty { return }
            if isStopped { wake() }
        }
    }
}
