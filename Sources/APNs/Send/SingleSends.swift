internal import HTTP2
internal import Model
internal import NIOConcurrencyHelpers
internal import Synchronization

/// Pushes of single calls, which are sent together in batches.
///
/// Each waits until `APNsTransport.run` has its turn, which comes after every task that was ready before. A single caller waits for one task switch; with
/// thousands of callers, each pays a share of the batch's locks, wake-ups and allocations instead of its own. Callers: any thread. It contains as many pushes
/// as there are waiting callers.
final class SingleSends: Sendable {
    typealias Caller = Waiter<Outcome>

    /// The properties that the pushes of one batch share.
    struct Group: Hashable {
        let credential: CredentialKey
        let deadline: Duration
    }

    /// A batch that was taken and still has unanswered callers.
    struct Batch {
        let group: Group
        let job: SendJob
        let callers: SingleCallers
    }

    /// The result of adding a push.
    enum Admission {
        case taken
        /// Its caller has cancelled before.
        case canceled
        /// It was closed: pushes are not fetched any longer.
        case closed
    }

    /// The state of the push at its cancellation.
    enum Cancellation {
        /// It was waiting here, and was removed.
        case waiting(Caller)
        /// It is in a batch that was offered, at this index.
        case sent(Batch, Int)
        /// It was answered; or it was not added yet, and `add` will see the cancellation; or its batch is about to be offered, and `offered` will return it.
        case settled
    }

    /// Pushes of one group, in order; the three arrays have the same indices.
    fileprivate struct Waiting {
        let group: Group
        var ids: [UInt64] = []
        var pushes: [Push] = []
        var callers: [Caller?] = []
    }

    fileprivate struct Leaving {
        let batch: Batch
        var isOffered = false
        /// Indices of pushes whose callers cancelled before the batch was offered.
        var canceled: [Int] = []
    }

    fileprivate struct State {
        /// Completions that were received and not passed on yet, in parts of batches.
        var arrived: [(callers: SingleCallers, completions: [PushCompletion])] = []
        var waiting: [Waiting] = []
        var places: [Group: Int] = [:]
        /// The index of the last push's group; the next push usually has the same group.
        var last = 0
        var leaving: [Leaving] = []
        var isClosed = false
    }

    // Not a `Mutex`, because the thread sanitizer does not recognize its synchronization.
    private let state = NIOLockedValueBox(State())
    private let ids = Atomic<UInt64>(0)
    /// Lets `APNsTransport.run` fetch the waiting pushes and pass on completions.
    private let fetch: @Sendable () -> Void

    init(fetch: @escaping @Sendable () -> Void) { self.fetch = fetch }

    /// A new id for a push.
    func newID() -> UInt64 { ids.add(1, ordering: .relaxed).newValue }

    /// Adds a push, unless its caller's task is already cancelled; a later cancellation finds the push here.
    func add(_ id: UInt64, _ push: Push, _ group: Group, _ caller: Caller) -> Admission {
        var isFirst = false
        let admission: Admission = state.withLockedValue { state in
            if state.isClosed { return .closed }
            if Task.isCancelled { return .canceled }
            isFirst = state.waiting.isEmpty
            if isFirst || state.waiting[state.last].group != group { state.turn(to: group) }
            state.waiting[state.last].ids.append(id)
            state.waiting[state.last].pushes.append(push)
            state.waiting[state.last].callers.append(caller)
            return .taken
        }
        // Pushes that are added before the fetch are fetched with this one.
        if isFirst { fetch() }
        return admission
    }

    /// Stores completions of a batch until `passOn` is called. The callers are not resumed here, on a connection's loop thread: each resumed caller would take
    /// the core, one by one.
    fileprivate func store(_ callers: SingleCallers, _ completions: [PushCompletion]) {
        let (isClosed, isFirst) = state.withLockedValue { state in
            if !state.isClosed { state.arrived.append((callers, completions)) }
            return (state.isClosed, state.arrived.count == 1)
        }
        // After the close nothing calls `passOn`, so answer directly.
        if isClosed { callers.answer(completions) } else if isFirst { fetch() }
    }

    /// Answers all callers whose completions have arrived.
    func passOn() {
        let arrived = state.withLockedValue { state in
            defer { state.arrived = [] }
            return state.arrived
        }
        for (callers, completions) in arrived { callers.answer(completions) }
    }

    /// Puts all waiting pushes into batches, which the caller must offer and then report as `offered`.
    ///
    /// - Parameter makeJob: creates the job of one batch; called inside the lock.
    /// - Returns: the batches, one per group.
    func takeAll(_ makeJob: ([Push], Group, SingleCallers) -> SendJob) -> [Batch] {
        state.withLockedValue { state in
            // A group whose pushes were all cancelled has no caller that would report its end.
            let batches = state.waiting.filter { !$0.ids.isEmpty }.map { waiting in
                let callers = SingleCallers(waiting.ids, waiting.callers, owner: self)
                return Batch(
                    group: waiting.group,
                    job: makeJob(waiting.pushes, waiting.group, callers),
                    callers: callers
                )
            }
            state.waiting.removeAll(keepingCapacity: true)
            state.places.removeAll(keepingCapacity: true)
            state.leaving += batches.map { Leaving(batch: $0) }
            return batches
        }
    }

    /// Records that a pool has the batch. Returns the indices of pushes whose callers cancelled in the meantime.
    func offered(_ batch: Batch) -> [Int] {
        state.withLockedValue { state in
            guard let place = state.leaving.firstIndex(where: { $0.batch.job === batch.job }) else { return [] }
            state.leaving[place].isOffered = true
            defer { state.leaving[place].canceled = [] }
            return state.leaving[place].canceled
        }
    }

    /// Cancels a push. It is searched among all waiting and sent pushes: cancellation is rare, and each step compares two numbers.
    func cancel(_ id: UInt64) -> Cancellation {
        state.withLockedValue { state in
            for place in state.waiting.indices {
                if let caller = state.waiting[place].remove(id) { return .waiting(caller) }
            }
            for place in state.leaving.indices {
                guard let index = state.leaving[place].batch.callers.index(of: id) else { continue }
                if state.leaving[place].isOffered { return .sent(state.leaving[place].batch, index) }
                state.leaving[place].canceled.append(index)
                return .settled
            }
            return .settled
        }
    }

    /// Stops accepting pushes; returns the callers of the waiting pushes.
    func close() -> [Caller] {
        let left = state.withLockedValue { state in
            state.isClosed = true
            defer { state.waiting = [] }
            return state.waiting.flatMap { $0.callers.compactMap(\.self) }
        }
        passOn()
        return left
    }

    /// All callers of a batch are answered.
    fileprivate func ended(_ callers: SingleCallers) {
        state.withLockedValue { state in state.leaving.removeAll { $0.batch.callers === callers } }
    }
}

extension SingleSends.State {
    mutating func turn(to group: SingleSends.Group) {
        if let place = places[group] {
            last = place
            return
        }
        last = waiting.count
        places[group] = last
        waiting.append(SingleSends.Waiting(group: group))
    }
}

extension SingleSends.Waiting {
    mutating func remove(_ id: UInt64) -> SingleSends.Caller? {
        guard let index = ids.firstIndex(of: id) else { return nil }
        ids.remove(at: index)
        pushes.remove(at: index)
        return callers.remove(at: index)
    }
}

/// The callers of the pushes of one batch, each at its push's index. Callers: any thread.
final class SingleCallers: Sendable {
    private struct State {
        var callers: [SingleSends.Caller?]
        var left: Int
    }

    private let ids: [UInt64]
    private let owner: SingleSends
    private let state: NIOLockedValueBox<State>

    init(_ ids: [UInt64], _ callers: [SingleSends.Caller?], owner: SingleSends) {
        self.ids = ids
        self.owner = owner
        state = NIOLockedValueBox(State(callers: callers, left: callers.count))
    }

    func index(of id: UInt64) -> Int? { ids.firstIndex(of: id) }

    /// Completions of the batch have arrived; their callers are answered soon.
    func tell(_ completions: [PushCompletion]) { owner.store(self, completions) }

    /// Answers callers. A second answer, and one without a caller, are ignored.
    fileprivate func answer(_ completions: [PushCompletion]) {
        var answered: [SingleSends.Caller?] = []
        answered.reserveCapacity(completions.count)
        let isLast = state.withLockedValue { state in
            for completion in completions {
                guard state.callers.indices.contains(completion.slot) else {
                    answered.append(nil)
                    continue
                }
                let caller = state.callers[completion.slot].take()
                if caller != nil { state.left -= 1 }
                answered.append(caller)
            }
            return state.left == 0
        }
        if isLast { owner.ended(self) }
        for index in answered.indices { answered[index]?.resume(returning: completions[index].outcome) }
    }
}
