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
        let send = SingleSend(push, through: credential, deadline: deadline)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { caller in
                guard send.awaited(by: caller) else { return send.end(.unsent(TransportError(.canceled))) }
                switch singles.add(send) {
                case .first: workContinuation.yield(.gather)
                case .beside: break
                case .closed: send.end(.unsent(TransportError(.goingAway)))
                }
            }
        } onCancel: {
            if let (job, index) = send.canceled() { cancel(job, credential, index: index) }
        }
    }

    /// Sends what was asked for one by one, a batch per credential and deadline.
    func sendGathered() {
        var groups: [SingleGroup: [SingleSend]] = [:]
        var last: SingleGroup?
        var run: [SingleSend] = []
        for send in singles.takeAll() {
            if let last, last.deadline == send.deadline, last.credential == send.credential {
                run.append(send)
                continue
            }
            if let last { groups[last, default: []] += run }
            last = SingleGroup(credential: send.credential, deadline: send.deadline)
            run = [send]
        }
        if let last { groups[last, default: []] += run }
        for (group, sends) in groups { self.send(sends, group) }
    }

    private func send(_ sends: [SingleSend], _ group: SingleGroup) {
        var pushes: [Push] = []
        pushes.reserveCapacity(sends.count)
        for (index, send) in sends.enumerated() {
            var push = send.push
            // The batch's own, which tells the callers apart.
            push.slot = index
            pushes.append(push)
        }
        let job = makeJob(pushes, group.credential, group.deadline, .callers(sends))
        var gone: [Int] = []
        for (index, send) in sends.enumerated() where send.sent(job, index) { gone.append(index) }
        offer(job, group.credential)
        for index in gone { cancel(job, group.credential, index: index) }
    }

    /// Answers those who wait in the hall, and closes it.
    func closeSingles() {
        for send in singles.close() { send.end(.unsent(TransportError(.goingAway))) }
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

/// What single pushes share that leave in one batch.
private struct SingleGroup: Hashable {
    let credential: CredentialKey
    let deadline: Duration
}
