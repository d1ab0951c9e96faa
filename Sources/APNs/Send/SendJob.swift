internal import HTTP2
internal import Model
internal import Synchronization

/// One call of `send`: its pushes, its deadline and the receiver of its completions.
///
/// `APNsTransport` creates it. Every part that must still complete a push retains it; it ends with its last completion. Callers: any thread.
final class SendJob: Sendable {
    /// The receiver of completions.
    enum Sink: Sendable {
        /// For batches: completions as they arrive; the stream ends after the last.
        case stream(AsyncStream<[PushCompletion]>.Continuation)
        /// For single sends: the callers, each by the index of its push.
        case callers(SingleCallers)
    }

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
    private let sink: Sink
    private let isStream: Bool
    private let remaining: Atomic<Int>

    init(
        _ pushes: [Push],
        client: TenantID,
        offeredAt: ContinuousClock.Instant,
        deadline: ContinuousClock.Instant,
        sink: Sink
    ) {
        self.pushes = pushes
        self.client = client
        self.offeredAt = offeredAt
        self.deadline = deadline
        requestDeadline = Moment(deadline)
        leaveBy = offeredAt + offeredAt.duration(to: deadline) / 2
        self.sink = sink
        if case .stream = sink { isStream = true } else { isStream = false }
        remaining = Atomic(pushes.count)
        if pushes.isEmpty, case .stream(let continuation) = sink { continuation.finish() }
    }

    /// The number of a push in completions: the caller's own number, or its index if the receiver identifies pushes by that.
    func slot(at index: Int) -> Int {
        isStream ? pushes[index].slot : index
    }

    /// Passes completions to the receiver; the stream ends with the last one.
    func complete(_ completions: [PushCompletion]) {
        guard !completions.isEmpty else { return }
        switch sink {
        // Yield before counting, so that the thread that counts the last one finishes the stream after all others have yielded.
        case .stream(let continuation): continuation.yield(completions)
        case .callers(let callers): return callers.tell(completions)
        }
        let left = remaining.subtract(completions.count, ordering: .acquiringAndReleasing).newValue
        if left <= 0, case .stream(let continuation) = sink { continuation.finish() }
    }

    /// Passes the same outcome of several pushes to the receiver.
    func complete(_ indices: some Sequence<Int>, _ outcome: Outcome) {
        complete(indices.map { PushCompletion(slot: slot(at: $0), outcome: outcome) })
    }
}
