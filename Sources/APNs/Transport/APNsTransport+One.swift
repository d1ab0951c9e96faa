internal import HTTP2
package import Model

/// Thin doors on the batch door.
extension APNsTransport {
    /// Sends one push and waits for its outcome.
    ///
    /// It leaves in a batch with the others that are asked for in the same moment (`SingleSends`). Cancelling the task takes a push back that has
    /// not left; one that has left is waited for.
    ///
    /// - Parameters:
    ///   - push: within the transport's size limit.
    ///   - credential: whose connections and keys are used.
    ///   - deadline: how long it may wait for its answer, from now.
    /// - Returns: how it ended.
    package func send(_ push: Push, through credential: CredentialKey, deadline: Duration) async -> Outcome {
        let id = singles.newID()
        let group = SingleSends.Group(credential: credential, deadline: deadline)
        return await withTaskCancellationHandler {
            await Waiter.wait { (caller: SingleSends.Caller) in
                switch singles.add(id, push, group, caller) {
                case .taken: break
                case .canceled: caller.resume(returning: .unsent(TransportError(.canceled)))
                case .closed: caller.resume(returning: .unsent(TransportError(.goingAway)))
                }
            }
        } onCancel: {
            switch singles.cancel(id) {
            case .waiting(let caller): caller.resume(returning: .unsent(TransportError(.canceled)))
            case .sent(let batch, let index): cancel(batch.job, credential, index: index)
            case .settled: break
            }
        }
    }

    /// Answers those whose push has ended, and sends what was asked for one by one, a batch per credential and deadline.
    func fetchSingles() {
        singles.passOn()
        let batches = singles.takeAll { pushes, group, callers in
            makeJob(pushes, group.credential, group.deadline, .callers(callers))
        }
        for batch in batches {
            offer(batch.job, batch.group.credential)
            for index in singles.offered(batch) { cancel(batch.job, batch.group.credential, index: index) }
        }
    }

    /// Answers those who wait in the hall, and closes it.
    func closeSingles() {
        for caller in singles.close() { caller.resume(returning: .unsent(TransportError(.goingAway))) }
    }

    /// Sends batch after batch, with at most `window` pushes unanswered: how a million pushes are sent from a source that makes them as they are
    /// asked for, in the memory of one window.
    ///
    /// - Parameters:
    ///   - batches: asked for the next one when there is room. A batch above the window goes alone.
    ///   - credential: whose connections and keys are used.
    ///   - deadline: how long one push may wait for its answer, from when its batch was asked for.
    ///   - window: pushes; above `APNsLimits.maxQueuedPushes` some come back as `unsent(overloaded)`.
    ///   - completed: called with completions as they come, from several tasks at once.
    /// - Throws: what the source throws; what was sent before has completed then.
    package func send<Batches: AsyncSequence>(
        _ batches: Batches,
        through credential: CredentialKey,
        deadline: Duration,
        window: Int,
        completed: @escaping @Sendable ([PushCompletion]) -> Void
    ) async throws where Batches.Element == [Push] {
        try await withThrowingTaskGroup(of: Int.self) { group in
            var unanswered = 0
            for try await batch in batches {
                while unanswered > 0, unanswered + batch.count > window, let answered = try await group.next() {
                    unanswered -= answered
                }
                unanswered += batch.count
                let stream = send(batch, through: credential, deadline: deadline)
                group.addTask {
                    for await completions in stream { completed(completions) }
                    return batch.count
                }
            }
            for try await _ in group {}
        }
    }
}
