internal import Model

/// Pushes that wait for a stream. Clients take turns, and within a client its batches take turns.
///
/// A turn is a few pushes of one batch. An urgent push behind a campaign therefore waits for one turn of each batch of its own client. A client next to one
/// that floods the queue waits for one turn per client, however many pushes the other has offered. Pushes that are sent again come first in their client's
/// turn, because they have waited already. The queue stores indices, not pushes.
struct FairQueue {
    typealias Instant = ContinuousClock.Instant

    /// One push and its attempts.
    struct Item {
        let job: SendJob
        let index: Int
        /// How often it came back unsent.
        var resends: UInt8 = 0
        /// Whether it was already repeated after a refused provider token or connection.
        var isRemedied = false
    }

    /// Pushes of one batch that have not been sent yet, in order.
    struct Run {
        let job: SendJob
        let indices: [Int]
        fileprivate(set) var next = 0

        init(_ job: SendJob, _ indices: [Int]) {
            self.job = job
            self.indices = indices
        }

        /// The next push of the run, or nil at its end.
        fileprivate mutating func take() -> Item? {
            guard next < indices.count else { return nil }
            defer { next += 1 }
            return Item(job: job, index: indices[next])
        }

        /// The pushes of the run that are left.
        var remaining: ArraySlice<Int> { indices[min(next, indices.count)...] }
    }

    private let quantum: Int
    private let limit: Int
    private var clientQueues: [ClientQueue] = []
    private var freeQueues: [Int] = []
    private var places: [TenantID: Int] = [:]
    /// The clients that wait for their turn. One whose queue has become empty is dropped at its turn.
    private var order = Line<Int>()
    /// The client whose turn it is, and how many pushes of the turn were taken.
    private var current: Int?
    private var takenInTurn = 0
    /// How many pushes wait.
    private(set) var count = 0

    /// Creates a queue that takes `quantum` pushes per turn; `room` advises callers to keep at most `limit` waiting.
    init(quantum: Int, limit: Int = .max) {
        self.quantum = max(1, quantum)
        self.limit = limit
    }

    var isEmpty: Bool { count == 0 }

    /// How many more pushes of a client may wait.
    ///
    /// A client may hold four times the free room. Alone it gets four fifths of the queue, and each later client four fifths of the rest, so that some room is
    /// always left (dynamic thresholds, as in shared-memory switches).
    func room(for client: TenantID) -> Int {
        let free = max(0, limit - count)
        let held = places[client].map { clientQueues[$0].count } ?? 0
        guard free < .max / 8 else { return free }
        return max(0, min(free, (free * 4 - held + 4) / 5))
    }

    /// When the first waiting push must be given back.
    var earliestLeaveBy: Instant? { clientQueues.lazy.flatMap(\.jobs).map(\.leaveBy).min() }

    /// When the push that has waited longest was offered.
    var oldest: Instant? { clientQueues.lazy.flatMap(\.jobs).map(\.offeredAt).min() }

    mutating func append(_ run: Run) {
        let added = run.remaining.count
        guard added > 0 else { return }
        clientQueues[clientQueue(of: run.job.client)].append(run, added)
        count += added
    }

    mutating func resend(_ item: Item) {
        clientQueues[clientQueue(of: item.job.client)].append(item)
        count += 1
    }

    /// The next push, or nil if none waits.
    mutating func next() -> Item? {
        while count > 0, let place = current ?? order.popFirst() {
            guard let item = clientQueues[place].next() else {
                release(place)
                continue
            }
            current = place
            count -= 1
            takenInTurn += 1
            if clientQueues[place].count == 0 {
                release(place)
            } else if takenInTurn >= quantum {
                clientQueues[place].turnEnds()
                order.append(place)
                current = nil
                takenInTurn = 0
            }
            return item
        }
        return nil
    }

    /// Removes all pushes that may not be sent any longer.
    mutating func removeExpired(at now: Instant) -> [Run] { remove { $0.leaveBy <= now } }

    /// Removes all pushes of a batch whose caller no longer waits.
    mutating func remove(_ job: SendJob) -> [Run] { remove { $0 === job } }

    /// Removes all pushes.
    mutating func removeAll() -> [Run] { remove { _ in true } }

    // MARK: Private

    private mutating func clientQueue(of client: TenantID) -> Int {
        if let place = places[client] { return place }
        let place: Int
        if let free = freeQueues.popLast() {
            place = free
            clientQueues[place] = ClientQueue(client)
        } else {
            place = clientQueues.count
            clientQueues.append(ClientQueue(client))
        }
        places[client] = place
        order.append(place)
        return place
    }

    /// Removes an empty client queue from the rotation.
    private mutating func release(_ place: Int) {
        places[clientQueues[place].client] = nil
        freeQueues.append(place)
        current = nil
        takenInTurn = 0
    }

    private mutating func remove(_ isWanted: (SendJob) -> Bool) -> [Run] {
        var removed: [Run] = []
        for place in places.values.sorted() { removed += clientQueues[place].remove(isWanted) }
        count -= removed.reduce(0) { $0 + $1.remaining.count }
        return removed
    }
}

/// The waiting pushes of one client. Its batches take turns; pushes that are sent again come before them.
private struct ClientQueue {
    let client: TenantID
    private var resends = Line<FairQueue.Item>()
    private var runs = Line<FairQueue.Run>()
    /// The batch whose turn it is.
    private var current: FairQueue.Run?
    private(set) var count = 0

    init(_ client: TenantID) { self.client = client }

    var jobs: [SendJob] {
        runs.elements.map(\.job) + resends.elements.map(\.job) + (current.map { [$0.job] } ?? [])
    }

    mutating func append(_ run: FairQueue.Run, _ added: Int) {
        runs.append(run)
        count += added
    }

    mutating func append(_ item: FairQueue.Item) {
        resends.append(item)
        count += 1
    }

    mutating func next() -> FairQueue.Item? {
        if let item = resends.popFirst() {
            count -= 1
            return item
        }
        if current == nil { current = runs.popFirst() }
        guard let item = current?.take() else { return nil }
        count -= 1
        if current?.remaining.isEmpty == true { current = nil }
        return item
    }

    /// Ends the turn of the current batch.
    mutating func turnEnds() {
        if let current { runs.append(current) }
        current = nil
    }

    mutating func remove(_ isWanted: (SendJob) -> Bool) -> [FairQueue.Run] {
        turnEnds()
        var removed = runs.removeAll { isWanted($0.job) }
        removed += resends.removeAll { isWanted($0.job) }.map { FairQueue.Run($0.job, [$0.index]) }
        count -= removed.reduce(0) { $0 + $1.remaining.count }
        return removed
    }
}
