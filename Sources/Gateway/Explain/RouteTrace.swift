import Model
import Routing

/// How the rules of an app routed a delivery, recomputed from the version by which it was routed.
package struct RouteTrace: Sendable, Hashable {
    package let version: Int
    /// The place of the rule in the list of the version, overlay first; nil: none matched.
    package let rule: Int?
    /// The bucket of the last rollout that was looked at.
    package let bucket: UInt32?
    /// In the order in which they are tried.
    package let paths: [String]

    /// Nil: this program does not know the rules. Tags of devices are not looked up, so that rules that name some do not match.
    init?(_ stored: StoredRules, for target: TargetFacts, lane: Lane) {
        guard let set = try? RouteSet(stored) else { return nil }
        let decision = set.table.decide(RouteTable.Delivery(to: target, lane: lane))
        version = stored.version
        rule = decision.rule
        bucket = decision.bucket
        paths = decision.paths.map(\.name)
    }

    package var text: String {
        let place = rule.map { "deliveries[\($0)]" } ?? "no rule"
        let share = bucket.map { ", bucket \($0)" } ?? ""
        return "version \(version), \(place)\(share): \(paths.joined(separator: ", "))"
    }
}
