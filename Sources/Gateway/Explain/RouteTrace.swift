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
    init?(_ stored: StoredVersion, for target: TargetFacts, lane: Lane) {
        guard
            let set = try? RouteSet(
                format: stored.format,
                base: .object(stored.base),
                overlay: .object(stored.overlay),
                upstreams: .object(stored.upstreams)
            )
        else { return nil }
        let decision = set.table.decide(
            RouteTable.Delivery(
                vendor: target.vendor,
                platform: target.destination.platform,
                lane: lane,
                rollout: RolloutFacts(user: target.person.user?.rawValue, device: target.key.rawValue)
            )
        )
        version = stored.version
        rule = decision.rule
        bucket = decision.bucket
        paths = decision.paths.map(\.name)
    }

    /// A version of the rules with its number.
    struct StoredVersion: Sendable {
        var version: Int
        var format: Int
        var base: JSONObject
        var overlay: JSONObject
        var upstreams: JSONObject
    }

    package var text: String {
        let place = rule.map { "deliveries[\($0)]" } ?? "no rule"
        let share = bucket.map { ", bucket \($0)" } ?? ""
        return "version \(version), \(place)\(share): \(paths.joined(separator: ", "))"
    }
}
