internal import HTTP2
internal import Model
internal import NIOConcurrencyHelpers
internal import Synchronization

/// Pushes that were asked for one by one and leave together: the one-at-a-time door's hall.
///
/// Each waits until `APNsTransport.run` has its turn, which comes after every task that was ready before. A sender that is alone waits for one
/// change of tasks; of thousands each pays a batch's share of locks, wake-ups and allocations instead of its own. Any thread; it holds as many
/// as there are callers who wait.
final class SingleSends: Sendable {
    typealias Caller = Waiter<Outcome>

    /// What pushes share that leave in one batch.
    struct Group: Hashable {
        let credential: CredentialKey
        let deadline: Duration
    }

    /// A batch on its way, until its last caller is answered.
    struct Batch {
        let group: Group
        let job: SendJob
        let callers: SingleCallers
    }

    /// What became of one that came.
    enum Admission {
        case taken
        /// Its caller has gone before.
        case canceled
        /// Nobody fetches any more.
        case closed
    }

    /// What a cancellation met.
    enum Cancellation {
        /// It waited here, and is forgotten.
        case waiting(Caller)
        /// It is in a batch that was offered, at this index.
        case sent(Batch, Int)
        /// It was answered, it has not come yet and will see for itself, or whoever offers its batch is told.
        case settled
    }

    /// Pushes of one group, in order; the arrays run in parallel.
    fileprivate struct Waiting {
        let group: Group
        var ids: [UInt64] = []
        var pushes: [Push] = []
        var callers: [Caller?] = []
    }

    fileprivate struct Leaving {
        let batch: Batch
        var isOffered = false
        /// Places whose callers have gone before it was offered.
        var gone: [Int] = []
    }

    fileprivate struct State {
        /// What was told and not yet passed on, a part of a batch each.
        var told: [(callers: SingleCallers, completions: [PushCompletion])] = []
        var waiting: [Waiting] = []
        var places: [Group: Int] = [:]
        /// The place of the group that the last push had, which the next mostly has too.
        var last = 0
        var leaving: [Leaving] = []
        var isClosed = false
    }

    // Not a `Mutex`: the thread sanitizer does not see through that one.
    private let state = NIOLockedValueBox(State())
    private let ids = Atomic<UInt64>(0)
    /// Has `APNsTransport.run` fetch what waits and pass on what was told.
    private let fetch: @Sendable () -> Void

    init(fetch: @escaping @Sendable () -> Void) { self.fetch = fetch }

    /// What a push is called here.
    func newID() -> UInt64 { ids.add(1, ordering: .relaxed).newValue }

    /// Takes a push, unless its caller's task is cancelled: who cancels later finds it here.
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
        // The others that come until then are fetched with it.
        if isFirst { fetch() }
        return admission
    }

    /// Keeps completions of a batch until they are passed on. Not on this thread: of a connection's loop every caller that wakes would take the
    /// core, one by one.
    fileprivate func tell(_ callers: SingleCallers, _ completions: [PushCompletion]) {
        let (isClosed, isFirst) = state.withLockedValue { state in
            if !state.isClosed { state.told.append((callers, completions)) }
            return (state.isClosed, state.told.count == 1)
        }
        // Nobody passes on any more.
        if isClosed { callers.answer(completions) } else if isFirst { fetch() }
    }

    /// Answers everybody who was told.
    func passOn() {
        let told = state.withLockedValue { state in
            defer { state.told = [] }
            return state.told
        }
        for (callers, completions) in told { callers.answer(completions) }
    }

    /// Puts all that wait into batches, to be offered and then reported as `offered`.
    ///
    /// - Parameter makeJob: makes the job of one batch; called inside the lock.
    /// - Returns: the batches, one per group.
    func takeAll(_ makeJob: ([Push], Group, SingleCallers) -> SendJob) -> [Batch] {
        state.withLockedValue { state in
            // One that was cancelled to its last push has nobody who would report its end.
            let batches = state.waiting.filter { !$0.ids.isEmpty }.map { waiting in
                let callers = SingleCallers(waiting.ids, waiting.callers, hall: self)
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

    /// Its pool has the batch. Gives the places whose callers have gone meanwhile.
    func offered(_ batch: Batch) -> [Int] {
        state.withLockedValue { state in
            guard let place = state.leaving.firstIndex(where: { $0.batch.job === batch.job }) else { return [] }
            state.leaving[place].isOffered = true
            defer { state.leaving[place].gone = [] }
            return state.leaving[place].gone
        }
    }

    /// A caller has gone. It is looked for among all that wait and are on their way: that is rare, and each is a comparison of numbers.
    func cancel(_ id: UInt64) -> Cancellation {
        state.withLockedValue { state in
            for place in state.waiting.indices {
                if let caller = state.waiting[place].remove(id) { return .waiting(caller) }
            }
            for place in state.leaving.indices {
                guard let index = state.leaving[place].batch.callers.index(of: id) else { continue }
                if state.leaving[place].isOffered { return .sent(state.leaving[place].batch, index) }
                state.leaving[place].gone.append(index)
                return .settled
            }
            return .settled
        }
    }

    /// Takes nothing any more; gives whom what waited belongs to.
    func close() -> [Caller] {
        let left = state.withLockedValue { state in
            state.isClosed = true
            defer { state.waiting = [] }
            return state.waiting.flatMap { $0.callers.compactMap(\.self) }
        }
        passOn()
        return left
    }

    /// Everybody in a batch is answered.
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

/// Who waits for the pushes of one batch, each at its push's index. Any thread.
final class SingleCallers: Sendable {
    private struct State {
        var callers: [SingleSends.Caller?]
        var left: Int
    }

    private let ids: [UInt64]
    private let hall: SingleSends
    private let state: NIOLockedValueBox<State>

    init(_ ids: [UInt64], _ callers: [SingleSends.Caller?], hall: SingleSends) {
        self.ids = ids
        self.hall = hall
        state = NIOLockedValueBox(State(callers: callers, left: callers.count))
    }

    func index(of id: UInt64) -> Int? { ids.firstIndex(of: id) }

    /// Completions of the batch have come; their callers hear of them soon.
    func tell(_ completions: [PushCompletion]) { hall.tell(self, completions) }

    /// Answers callers; a second answer and one for nobody are dropped.
    fileprivate func answer(_ completions: [PushCompletion]) {
        var heard: [SingleSends.Caller?] = []
        heard.reserveCapacity(completions.count)
        let isLast = state.withLockedValue { state in
            for completion in completions {
                guard state.callers.indices.contains(completion.slot) else {
                    heard.append(nil)
                    continue
                }
                let caller = state.callers[completion.slot].take()
                if caller != nil { state.left -= 1 }
                heard.append(caller)
            }
            return state.left == 0
        }
        if isLast { hall.ended(self) }
        for index in heard.indices { heard[index]?.resume(returning: completions[index].outcome) }
    }
}
