internal import HTTP2
package import Model

/// Convenience methods that are built on sending batches.
extension APNsTransport {
    /// Sends one push and waits for its outcome.
    ///
    /// It is sent in a batch with other pushes of concurrent calls (`SingleSends`). Cancelling the task withdraws a push that was not sent; for one that was
    /// sent, the call waits.
    ///
    /// - Parameters:
    ///   - push: within the transport's size limit.
    ///   - credential: the credential to send with.
    ///   - deadline: how long it may wait for its answer, counted from the call.
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

    /// Answers the calls whose push has completed, and sends the waiting pushes of single calls, one batch per credential and deadline.
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

    /// Answers the waiting single calls, and accepts no further ones.
    func closeSingles() {
        for caller in singles.close() { caller.resume(returning: .unsent(TransportError(.goingAway))) }
    }

    /// Sends batch after batch, with at most `window` unanswered pushes. A million pushes from a source that creates them on demand need only the memory of one
    /// window.
    ///
    /// - Parameters:
    ///   - batches: the next batch is requested when there is room. A batch larger than the window is sent alone.
    ///   - credential: the credential to send with.
    ///   - deadline: how long one push may wait for its answer, counted from the request of its batch.
    ///   - window: a number of pushes; above `APNsLimits.maxQueuedPushes` some come back as `unsent(overloaded)`.
    ///   - completed: called with completions as they arrive, from several tasks at once.
    /// - Throws: the error of the source; the pushes sent before have completed then.
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
