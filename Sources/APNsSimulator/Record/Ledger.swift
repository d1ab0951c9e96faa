/// The record of the simulator's activity: counts, the last requests, and repeated deliveries. A pure value; its owner locks it.
///
/// Its memory is bounded: two fingerprint tables (`trackedDeliveryLimit`), a ring of requests, and a hundred named repeats.
struct Ledger: Sendable {
    /// One accepted push.
    struct Delivery: Sendable {
        var token: String
        /// Nil if the client sent none: the id that the simulator creates then cannot be a repeat.
        var apnsID: String?
    }

    /// The events of one turn of a connection's event loop, so that many pushes need one lock.
    struct Batch: Sendable {
        var deliveries: [Delivery] = []
        var refusals: [String] = []
        var unanswered = 0
        var faults: [String] = []
        var findings = 0
        var records: [RecordedRequest] = []
        /// Change of the number of open streams since the last batch, and the largest number that was open at once.
        var streamsDelta = 0
        var streamsMax = 0

        var isEmpty: Bool {
            deliveries.isEmpty && refusals.isEmpty && unanswered == 0 && faults.isEmpty && records.isEmpty
                && streamsDelta == 0
        }
    }

    /// 100 named repeats: enough to investigate one, and bounded if many occur.
    static let namedRepeatLimit = 100

    /// 200 reasons. Apple has about fifty; scripts may invent any number of others.
    static let namedReasonLimit = 200

    private(set) var stats = SimulatorStats()
    private var requests: RequestLog
    private var tokens: FingerprintSet
    private var pairs: FingerprintSet
    private var repeated: [DuplicateDelivery] = []
    private var repeatedIndex: [UInt64: Int] = [:]
    private let recordLimit: Int
    private let trackedLimit: Int

    /// Creates an empty ledger with these limits.
    init(recordLimit: Int, trackedLimit: Int) {
        self.recordLimit = recordLimit
        self.trackedLimit = trackedLimit
        requests = RequestLog(limit: recordLimit)
        tokens = FingerprintSet(limit: trackedLimit)
        pairs = FingerprintSet(limit: trackedLimit)
    }

    /// Discards everything except the connections and streams that are open.
    mutating func reset() {
        var fresh = Ledger(recordLimit: recordLimit, trackedLimit: trackedLimit)
        fresh.stats.connections = stats.connections
        fresh.stats.connectionsTotal = stats.connections
        fresh.stats.streams = stats.streams
        self = fresh
    }

    /// Records that a connection opened.
    mutating func connectionOpened() {
        stats.connections += 1
        stats.connectionsTotal += 1
    }

    /// Records that a connection closed. Its last batch has subtracted its streams.
    mutating func connectionClosed() {
        stats.connections -= 1
    }

    /// Records the events of one turn.
    mutating func commit(_ batch: Batch) {
        for delivery in batch.deliveries { accept(delivery) }
        for reason in batch.refusals { count(reason) }
        for fault in batch.faults { stats.faults[fault, default: 0] += 1 }
        for record in batch.records { requests.append(record) }
        stats.unanswered += batch.unanswered
        stats.findings += batch.findings
        stats.streams += batch.streamsDelta
        stats.streamsMax = max(stats.streamsMax, batch.streamsMax)
    }

    /// The newest requests, oldest first.
    func requests(token: String?, limit: Int) -> [RecordedRequest] {
        requests.last(limit, token: token)
    }

    /// The recorded repeats.
    var duplicates: DuplicateReport {
        DuplicateReport(
            pairs: stats.distinctPairs,
            repeats: stats.repeats,
            untracked: stats.untracked,
            first: repeated
        )
    }

    private mutating func count(_ reason: String) {
        let isNew = stats.rejected[reason] == nil
        stats.rejected[isNew && stats.rejected.count >= Self.namedReasonLimit ? "(other)" : reason, default: 0] += 1
    }

    private mutating func accept(_ delivery: Delivery) {
        stats.accepted += 1
        var fingerprint = Fingerprint()
        fingerprint.combine(delivery.token)
        let isTokenTracked = tokens.insert(fingerprint.value) != .untracked
        stats.distinctTokens = tokens.count

        guard let apnsID = delivery.apnsID else {
            stats.distinctPairs += 1
            stats.untracked += isTokenTracked ? 0 : 1
            return
        }
        fingerprint.combine(" ")
        fingerprint.combine(apnsID)
        switch pairs.insert(fingerprint.value) {
        case .added:
            stats.distinctPairs += 1
            stats.untracked += isTokenTracked ? 0 : 1
        case .untracked:
            stats.untracked += 1
        case .present:
            stats.repeats += 1
            name(delivery.token, apnsID, fingerprint.value)
        }
    }

    private mutating func name(_ token: String, _ apnsID: String, _ fingerprint: UInt64) {
        if let index = repeatedIndex[fingerprint] {
            repeated[index].count += 1
        } else if repeated.count < Self.namedRepeatLimit {
            repeatedIndex[fingerprint] = repeated.count
            repeated.append(DuplicateDelivery(token: token, apnsID: apnsID, count: 2))
        }
    }
}
