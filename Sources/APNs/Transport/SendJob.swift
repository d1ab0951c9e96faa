internal import HTTP2
internal import Model
internal import Synchronization

/// One call of `send`: its pushes, its deadline and where its completions go.
///
/// Made by `APNsTransport`, held by whatever still owes it a completion, ended by its last one. Any thread.
final class SendJob: Sendable {
    /// The caller's batch, shared and never changed; queues and slots hold indices into it.
    let pushes: [Push]
    /// Whose it is: clients take turns.
    let client: TenantID
    /// When it came.
    let offeredAt: ContinuousClock.Instant
    /// When a push of it fails if there is no answer; and the same as requests carry it.
    let deadline: ContinuousClock.Instant
    let requestDeadline: Moment
    /// When a push of it is given back if it has not left: half-way, because one that leaves too late for its answer would count as unknown.
    let leaveBy: ContinuousClock.Instant
    /// Completions as they come; the stream ends after the last.
    private let completions: AsyncStream<[PushCompletion]>.Continuation
    private let remaining: Atomic<Int>

    init(
        _ pushes: [Push],
        client: TenantID,
        offeredAt: ContinuousClock.Instant,
        deadline: ContinuousClock.Instant,
        completions: AsyncStream<[PushCompletion]>.Continuation
    ) {
        self.pushes = pushes
        self.client = client
        self.offeredAt = offeredAt
        self.deadline = deadline
        requestDeadline = Moment(deadline)
        leaveBy = offeredAt + offeredAt.duration(to: deadline) / 2
        self.completions = completions
        remaining = Atomic(pushes.count)
        if pushes.isEmpty { completions.finish() }
    }

    /// Hands completions to the caller; the stream ends with the last one.
    func complete(_ batch: [PushCompletion]) {
        guard !batch.isEmpty else { return }
        // Yielded before it is counted: whoever counts the last one finishes after everybody has yielded.
        completions.yield(batch)
        let left = remaining.subtract(batch.count, ordering: .acquiringAndReleasing).newValue
        if left <= 0 { completions.finish() }
    }

    /// Hands the same outcome for some of its pushes to the caller.
    func complete(_ indices: some Sequence<Int>, _ outcome: Outcome) {
        complete(indices.map { PushCompletion(slot: pushes[$0].slot, outcome: outcome) })
    }
}
