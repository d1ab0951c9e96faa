internal import Model
internal import NIOConcurrencyHelpers

/// One call of `send`: its pushes, its deadline and the stream that its completions go to.
///
/// Made by `APNsTransport.send`, held by whatever still owes it a completion, ended by its last one. Any thread.
final class SendJob: Sendable {
    /// The caller's batch, shared and never changed; queues and slots hold indices into it.
    let pushes: [Push]
    /// When a push of it fails if there is no answer.
    let deadline: ContinuousClock.Instant
    private let continuation: AsyncStream<[PushCompletion]>.Continuation
    private let remaining: NIOLockedValueBox<Int>

    init(
        _ pushes: [Push],
        deadline: ContinuousClock.Instant,
        continuation: AsyncStream<[PushCompletion]>.Continuation
    ) {
        self.pushes = pushes
        self.deadline = deadline
        self.continuation = continuation
        remaining = NIOLockedValueBox(pushes.count)
        if pushes.isEmpty { continuation.finish() }
    }

    /// Hands completions to the caller; the stream ends with the last one.
    func complete(_ completions: [PushCompletion]) {
        guard !completions.isEmpty else { return }
        // Yielded before it is counted: whoever counts the last one finishes after everybody has yielded.
        continuation.yield(completions)
        let left = remaining.withLockedValue { count in
            count -= completions.count
            return count
        }
        if left <= 0 { continuation.finish() }
    }

    /// Hands the same outcome for some of its pushes to the caller.
    func complete(_ indices: some Sequence<Int>, _ outcome: Outcome) {
        complete(indices.map { PushCompletion(slot: pushes[$0].slot, outcome: outcome) })
    }
}
