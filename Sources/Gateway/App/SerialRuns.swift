/// Runs work one piece after the other, in the order of the calls.
actor SerialRuns {
    private var last: Task<Void, Never>?

    /// Runs `work` when the pieces before it have ended, and returns its result. A canceled caller cancels its own piece only.
    func run<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value {
        let previous = last
        let task = Task {
            if let previous { await previous.value }
            return await work()
        }
        last = Task { _ = await task.value }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
