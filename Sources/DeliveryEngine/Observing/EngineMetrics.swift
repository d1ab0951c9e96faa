import Metrics
import Model
import NIOConcurrencyHelpers

/// The engine's metrics: names and labels in one place, with each label from a closed set.
final class EngineMetrics: Sendable {
    enum Name: String, CaseIterable {
        /// Outcomes written. Labels: vendor, state, reason.
        case deliveries = "delivery_deliveries_total"
        /// Pushes that ended. Labels: transport, outcome.
        case pushes = "delivery_pushes_total"
        /// Store calls that failed. Label: call.
        case storeFailures = "delivery_store_failures_total"
        /// Slices lost to another node.
        case fenced = "delivery_slices_fenced_total"
        /// Slices that gave up.
        case dead = "delivery_slices_dead_total"
        /// Claims of slices whose last lease ended without being given back.
        case leasesExpired = "delivery_leases_expired_total"
        /// Verdicts on tokens that were applied. Labels: state, reason.
        case condemned = "delivery_tokens_condemned_total"
        /// Verdicts that were not applied, because an unusual share of an app's tokens fails.
        case spared = "delivery_tokens_spared_total"
        /// Targets that are pushed although a message with the same text may have reached them through another entry point. Label: reason.
        case duplicatesUnresolved = "delivery_duplicates_unresolved_total"
        /// Running slices.
        case running = "delivery_slices_running"
        /// Their targets, as the limits count them.
        case targetsRunning = "delivery_targets_running"
        /// Pushes without an answer.
        case pushesInFlight = "delivery_pushes_in_flight"
        /// Outcomes that are not written yet.
        case resultsUnflushed = "delivery_results_unflushed"
    }

    private struct Series: Hashable {
        var name: Name
        var labels: [String]
    }

    private let counters = NIOLockedValueBox<[Series: Counter]>([:])
    private let running = Gauge(label: Name.running.rawValue)
    private let targetsRunning = Gauge(label: Name.targetsRunning.rawValue)
    private let pushesInFlight = Gauge(label: Name.pushesInFlight.rawValue)
    private let resultsUnflushed = Gauge(label: Name.resultsUnflushed.rawValue)

    func add(_ count: Int, to name: Name, _ labels: (String, String)...) {
        let series = Series(name: name, labels: labels.map(\.1))
        let counter = counters.withLockedValue { counters in
            if let known = counters[series] { return known }
            let counter = Counter(label: name.rawValue, dimensions: labels)
            counters[series] = counter
            return counter
        }
        counter.increment(by: Int64(count))
    }

    func setRunning(_ slices: Int, targets: Int) {
        running.record(slices)
        targetsRunning.record(targets)
    }

    func setOpen(_ work: OpenWork) {
        pushesInFlight.record(work.pushes)
        resultsUnflushed.record(work.results)
    }

    /// A reason as a label. An unknown reason of a peer must not create a new series.
    static func label(of reason: String?) -> String {
        guard let reason else { return "none" }
        return knownReasons.contains(reason) ? reason : "other"
    }

    /// The gateway's reasons, and Apple's (docs/contracts/apns.md#9).
    private static let knownReasons: Set<String> = Set(
        SuppressionReason.allLabels + PayloadProblem.allCases.map(\.rawValue) + FailureReason.allCases.map(\.rawValue)
            + [
                "BadCollapseId", "BadDeviceToken", "BadExpirationDate", "BadMessageId", "BadPriority", "BadTopic",
                "DeviceTokenNotForTopic", "DuplicateHeaders", "InvalidPushType", "MissingDeviceToken", "PayloadEmpty",
                "BadPath", "MethodNotAllowed", "ExpiredToken", "MissingTopic", "PayloadTooLarge", "TopicDisallowed",
                "Unregistered",
            ]
    )
}

extension SuppressionReason {
    static let allLabels = allCases.map(\.rawValue)
}

extension Outcome {
    /// The case's name, as a label.
    var label: String {
        switch self {
        case .accepted: "accepted"
        case .rejected: "rejected"
        case .deferred: "deferred"
        case .unsent: "unsent"
        case .indeterminate: "indeterminate"
        }
    }
}
