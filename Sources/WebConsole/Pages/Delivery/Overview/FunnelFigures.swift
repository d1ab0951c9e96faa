import Model
import PageParts

/// The counts of an answer of the analytics. A member that is missing is 0.
struct FunnelFigures: Sendable, Hashable {
    private let counts: JSON

    init(_ counts: JSON?) { self.counts = counts ?? .null }

    /// Sums of a few counts do not overflow.
    static let limit: Int64 = 1 << 50

    subscript(metric: FunnelMetric) -> Int64 { min(max(0, counts[metric.rawValue]?.int ?? 0), Self.limit) }

    /// Nil without a denominator.
    func rate(_ rate: FunnelRate) -> Double? {
        let whole = self[rate.denominator]
        return whole > 0 ? Double(self[rate.numerator]) / Double(whole) : nil
    }

    /// A count for charts and funnels, which draw integers.
    func int(_ metric: FunnelMetric) -> Int { Int(clamping: self[metric]) }
}

/// The latencies of an answer of the analytics, of which percentiles over all groups are computed from the buckets.
struct LatencyFigures: Sendable {
    private let entries: [JSON]

    init(_ body: JSON) { entries = (body["latencies"]?.array ?? []).filter { $0["kind"]?.string == "delivery" } }

    /// The median of a vendor. Unit: milliseconds.
    func median(of vendor: String) -> Int64? {
        entries.first { $0["group"]?["vendor"]?.string == vendor }?["p50"]?.int
    }

    /// The latency that a share of all deliveries does not exceed: the end of its bucket. Unit: milliseconds.
    func percentile(_ share: Double) -> Int64? {
        let buckets = entries.flatMap { $0["histogram"]?.array ?? [] }.compactMap { bucket -> (Int64, Int64)? in
            guard let end = bucket["to"]?.int, let count = bucket["count"]?.int, count > 0 else { return nil }
            return (end, count)
        }.sorted { $0.0 < $1.0 }
        let whole = buckets.reduce(0) { $0 &+ $1.1 }
        guard whole > 0 else { return nil }
        var seen: Int64 = 0
        for (end, count) in buckets {
            seen &+= count
            if Double(seen) >= Double(whole) * share { return end }
        }
        return buckets.last?.0
    }
}

/// The queue of a tenant.
struct QueueFigures: Sendable {
    struct Lane: Sendable, Hashable {
        var name: String
        var isPaused: Bool
        var open: Int64
        var oldestDueAt: Timestamp?
    }

    /// Nil: the answer failed.
    let lanes: [Lane]?
    /// The credentials for which slices wait.
    let heldBy: [String]

    init(_ answers: Answers, _ name: String) {
        let body = answers.body(name)
        lanes = body["lanes"]?.array?.map { lane in
            Lane(
                name: lane["lane"]?.string ?? "",
                isPaused: lane["paused"]?.bool ?? false,
                open: max(0, lane["open"]?.int ?? 0),
                oldestDueAt: lane["oldestDueAt"]?.string.flatMap { Timestamp(rfc3339: $0) }
            )
        }
        heldBy = (body["heldBy"]?.array ?? []).compactMap { $0["credential"]?.string }
    }

    var isEmpty: Bool { heldBy.isEmpty && lanes?.allSatisfy { $0.open == 0 } == true }
    var pausedLanes: [String] { (lanes ?? []).filter { $0.isPaused && $0.open > 0 }.map(\.name) }
    var oldestDueAt: Timestamp? { (lanes ?? []).compactMap(\.oldestDueAt).min() }
}

/// A credential with the results of its checks.
struct CredentialFigures: Sendable, Hashable {
    var name: String
    var refusal: String?
    var refusedAt: Timestamp?
    var isUsable: Bool
    var daysToExpiry: Int64?
    var expiresAt: Timestamp?
    /// Whether an app uses it: one that nothing uses needs no action.
    var isUsed: Bool

    static func all(_ body: JSON) -> [CredentialFigures] {
        (body["credentials"]?.array ?? []).compactMap { entry in
            guard let name = entry["credential"]?.string else { return nil }
            return CredentialFigures(
                name: name,
                refusal: entry["refusal"]?.string,
                refusedAt: entry["refusedAt"]?.string.flatMap { Timestamp(rfc3339: $0) },
                isUsable: entry["usable"]?.bool ?? true,
                daysToExpiry: entry["daysToExpiry"]?.int,
                expiresAt: entry["expiresAt"]?.string.flatMap { Timestamp(rfc3339: $0) },
                isUsed: !(entry["uses"]?.array ?? []).isEmpty
            )
        }
    }
}

/// The deliveries that were lost in a stage for a reason.
struct LossFigures: Sendable, Hashable {
    var stage: String
    var reason: String?
    var count: Int64

    /// The word that names it: the reason, else the stage.
    var code: String { reason ?? stage }

    func name(_ language: Language) -> String {
        reason.map { ReasonWords.name($0, language) } ?? StateWords.stage(stage)(language)
    }

    static func all(_ body: JSON) -> [LossFigures] {
        (body["losses"]?.array ?? []).compactMap { loss in
            guard let stage = loss["stage"]?.string, let count = loss["count"]?.int, count > 0 else { return nil }
            return LossFigures(stage: stage, reason: loss["reason"]?.string, count: min(count, FunnelFigures.limit))
        }
    }
}
