/// Runs work one piece after the other, in the order of the calls.
actor SerialRuns {
    private var last: Task<Void, Never>?

    /// Runs `work` when the pieces before it have ended, and returns at its end. A canceled caller cancels its own piece only.
    func run(_ work: @escaping @Sendable () async -> Void) async {
        let previous = last
        let task = Task {
            if let previous { await previous.value }
            await work()
        }
        last = task
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
