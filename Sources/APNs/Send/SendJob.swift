internal import HTTP2
internal import Model
internal import Synchronization

/// One call of `send`: its pushes, its deadline and the receiver of its completions.
///
/// `APNsTransport` creates it. Every part that must still complete a push retains it; it ends with its last completion. Callers: any thread.
final class SendJob: Sendable {
    /// The caller's batch, shared and never changed; queues and slots contain indices into it.
    let pushes: [Push]
    /// The tenant of the batch: tenants take turns.
    let client: TenantID
    /// When the batch was offered.
    let offeredAt: ContinuousClock.Instant
    /// When a push of the batch fails unless it was answered. `requestDeadline` is the same time in the form that requests need.
    let deadline: ContinuousClock.Instant
    let requestDeadline: Moment
    /// When a push is given back unless it was sent. This is half of the time, because a push that is sent too late for its answer would count as unknown.
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

    /// Passes completions to the receiver; the stream ends with the last one.
    func complete(_ batch: [PushCompletion]) {
        guard !batch.isEmpty else { return }
        // Yield before counting, so that the thread that counts the last one finishes the stream after all others have yielded.
        completions.yield(batch)
        let left = remaining.subtract(batch.count, ordering: .acquiringAndReleasing).newValue
        if left <= 0 { completions.finish() }
    }

    /// Passes the same outcome of several pushes to the receiver.
    func complete(_ indices: some Sequence<Int>, _ outcome: Outcome) {
        complete(indices.map { PushCompletion(slot: pushes[$0].slot, outcome: outcome) })
    }
}
