internal import Model

/// Pushes that wait for a stream: clients in turns, and within a client its batches in turns.
///
/// A turn is a few pushes of one batch. So an urgent push behind a campaign waits for one turn of its own client's batches, and a client
/// beside a flooding one waits for one turn per client, however much the other has offered. Pushes that are sent again go first in their
/// client's turn: they have waited already. Holds no push, only where it is.
struct FairQueue {
    typealias Instant = ContinuousClock.Instant

    /// One push and its history.
    struct Item {
        let job: SendJob
        let index: Int
        /// How often it came back unsent.
        var resends: UInt8 = 0
        /// Whether it has had its one more try after a refused provider token or connection.
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

        /// The next push of it, or nil at its end.
        fileprivate mutating func take() -> Item? {
            guard next < indices.count else { return nil }
            defer { next += 1 }
            return Item(job: job, index: indices[next])
        }

        /// What is left of it.
        var remaining: ArraySlice<Int> { indices[min(next, indices.count)...] }
    }

    private let quantum: Int
    private let limit: Int
    private var lanes: [Lane] = []
    private var freeLanes: [Int] = []
    private var places: [TenantID: Int] = [:]
    /// The lanes whose turn will come. One that was emptied since is dropped when it does.
    private var order = Line<Int>()
    /// The lane whose turn it is, and how much of it has passed.
    private var current: Int?
    private var takenInTurn = 0
    /// How many pushes wait.
    private(set) var count = 0

    /// Takes `quantum` pushes per turn and advises to hold at most `limit`, see `room`.
    init(quantum: Int, limit: Int = .max) {
        self.quantum = max(1, quantum)
        self.limit = limit
    }

    var isEmpty: Bool { count == 0 }

    /// How many more pushes of a client may wait.
    ///
    /// A client may hold four times what is free: alone it gets four fifths of the queue, and each that comes later four fifths of what is left, so
    /// that there always is something left (dynamic thresholds, as in shared-memory switches).
    func room(for client: TenantID) -> Int {
        let free = max(0, limit - count)
        let held = places[client].map { lanes[$0].count } ?? 0
        guard free < .max / 8 else { return free }
        return max(0, min(free, (free * 4 - held + 4) / 5))
    }

    /// When the first of what waits is given back.
    var earliestLeaveBy: Instant? { lanes.lazy.flatMap(\.jobs).map(\.leaveBy).min() }

    /// When the push that has waited longest was offered.
    var oldest: Instant? { lanes.lazy.flatMap(\.jobs).map(\.offeredAt).min() }

    mutating func append(_ run: Run) {
        let added = run.remaining.count
        guard added > 0 else { return }
        lanes[lane(of: run.job.client)].append(run, added)
        count += added
    }

    mutating func resend(_ item: Item) {
        lanes[lane(of: item.job.client)].append(item)
        count += 1
    }

    /// The next push, or nil if none waits.
    mutating func next() -> Item? {
        while count > 0, let place = current ?? order.popFirst() {
            guard let item = lanes[place].next() else {
                release(place)
                continue
            }
            current = place
            count -= 1
            takenInTurn += 1
            if lanes[place].count == 0 {
                release(place)
            } else if takenInTurn >= quantum {
                lanes[place].turnEnds()
                order.append(place)
                current = nil
                takenInTurn = 0
            }
            return item
        }
        return nil
    }

    /// Takes out everything that may not leave any more.
    mutating func removeExpired(at now: Instant) -> [Run] { remove { $0.leaveBy <= now } }

    /// Takes out everything of one batch, whose caller has gone.
    mutating func remove(_ job: SendJob) -> [Run] { remove { $0 === job } }

    /// Takes out everything.
    mutating func removeAll() -> [Run] { remove { _ in true } }

    // MARK: Private

    private mutating func lane(of client: TenantID) -> Int {
        if let place = places[client] { return place }
        let place: Int
        if let free = freeLanes.popLast() {
            place = free
            lanes[place] = Lane(client)
        } else {
            place = lanes.count
            lanes.append(Lane(client))
        }
        places[client] = place
        order.append(place)
        return place
    }

    /// An empty lane leaves the round.
    private mutating func release(_ place: Int) {
        places[lanes[place].client] = nil
        freeLanes.append(place)
        current = nil
        takenInTurn = 0
    }

    private mutating func remove(_ isWanted: (SendJob) -> Bool) -> [Run] {
        var removed: [Run] = []
        for place in places.values.sorted() { removed += lanes[place].remove(isWanted) }
        count -= removed.reduce(0) { $0 + $1.remaining.count }
        return removed
    }
}

/// What one client has waiting: its batches in turns, what is sent again before them.
private struct Lane {
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

    /// The next turn is another batch's.
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
