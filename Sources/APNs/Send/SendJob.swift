internal import HTTP2
internal import Model
internal import Synchronization

/// One call of `send`: its pushes, its deadline and where its completions go.
///
/// Made by `APNsTransport`, held by whatever still owes it a completion, ended by its last one. Any thread.
final class SendJob: Sendable {
    /// Who waits for completions.
    enum Sink: Sendable {
        /// The batch door: completions as they come; the stream ends after the last.
        case stream(AsyncStream<[PushCompletion]>.Continuation)
        /// The one-at-a-time door: the callers, each by the place of its push.
        case callers(SingleCallers)
    }

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

    /// What a completion of a push is told by: the caller's own number, or its place where callers are kept by that.
    func slot(at index: Int) -> Int {
        isStream ? pushes[index].slot : index
    }

    /// Hands completions to the caller; the stream ends with the last one.
    func complete(_ completions: [PushCompletion]) {
        guard !completions.isEmpty else { return }
        switch sink {
        // Yielded before it is counted: whoever counts the last one finishes after everybody has yielded.
        case .stream(let continuation): continuation.yield(completions)
        case .callers(let callers): return callers.tell(completions)
        }
        let left = remaining.subtract(completions.count, ordering: .acquiringAndReleasing).newValue
        if left <= 0, case .stream(let continuation) = sink { continuation.finish() }
    }

    /// Hands the same outcome for some of its pushes to the caller.
    func complete(_ indices: some Sequence<Int>, _ outcome: Outcome) {
        complete(indices.map { PushCompletion(slot: slot(at: $0), outcome: outcome) })
    }
}
