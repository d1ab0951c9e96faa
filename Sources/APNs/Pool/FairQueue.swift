/// Pushes that wait for a stream, batch by batch in turns.
///
/// A batch is one run of indices; a turn takes a few of them. So an urgent push behind a campaign waits for one turn, not for the
/// campaign. Pushes that are sent again go first: they have waited already. Holds no push, only where it is.
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

        /// What is left of it.
        var remaining: ArraySlice<Int> { indices[next...] }
    }

    private let quantum: Int
    private var resends: [Item] = []
    private var runs: [Run] = []
    private var turn = 0
    private var takenInTurn = 0
    /// How many pushes wait.
    private(set) var count = 0

    /// Takes `quantum` pushes of a batch per turn.
    init(quantum: Int) { self.quantum = max(1, quantum) }

    var isEmpty: Bool { count == 0 }

    /// The earliest deadline of what waits.
    var earliestDeadline: Instant? {
        let first = runs.lazy.map(\.job.deadline).min()
        let second = resends.lazy.map(\.job.deadline).min()
        guard let first, let second else { return first ?? second }
        return min(first, second)
    }

    mutating func append(_ run: Run) {
        guard !run.remaining.isEmpty else { return }
        runs.append(run)
        count += run.remaining.count
    }

    mutating func resend(_ item: Item) {
        resends.append(item)
        count += 1
    }

    /// The next push, or nil if none waits.
    mutating func next() -> Item? {
        if let item = resends.popLast() {
            count -= 1
            return item
        }
        guard !runs.isEmpty else { return nil }
        if turn >= runs.count { turn = 0 }
        let item = Item(job: runs[turn].job, index: runs[turn].indices[runs[turn].next])
        runs[turn].next += 1
        takenInTurn += 1
        count -= 1
        if runs[turn].remaining.isEmpty {
            // The last one takes its place: order among batches is a turn's matter anyway.
            runs.swapAt(turn, runs.count - 1)
            runs.removeLast()
            takenInTurn = 0
        } else if takenInTurn >= quantum {
            turn += 1
            takenInTurn = 0
        }
        return item
    }

    /// Takes out everything whose deadline has come.
    mutating func removeExpired(at now: Instant) -> [Run] { remove { $0.deadline <= now } }

    /// Takes out everything of one batch, whose caller has gone.
    mutating func remove(_ job: SendJob) -> [Run] { remove { $0 === job } }

    /// Takes out everything.
    mutating func removeAll() -> [Run] { remove { _ in true } }

    private mutating func remove(_ isWanted: (SendJob) -> Bool) -> [Run] {
        var removed = runs.filter { isWanted($0.job) }
        runs.removeAll { isWanted($0.job) }
        removed += resends.filter { isWanted($0.job) }.map { Run($0.job, [$0.index]) }
        resends.removeAll { isWanted($0.job) }
        count -= removed.reduce(0) { $0 + $1.remaining.count }
        turn = 0
        takenInTurn = 0
        return removed
    }
}
