/// The rules that this version of the gateway carries out. Rules with anything else are refused when they are stored: a rule that is stored is in force.
package enum RouteExecution {
    private static let actions: Set<CallAction> = [.serve, .proxy, .refuse]

    /// The first thing that this version does not carry out, with its place. Nil: all of it.
    package static func unsupported(in rules: RouteRules) -> (place: String, what: String)? {
        if rules.duplicateWindow != nil { return ("duplicateGuard", "duplicateGuard") }
        for (index, rule) in rules.calls.enumerated() {
            if let what = unsupported(in: rule) { return ("calls[\(index)]", what) }
        }
        for (index, rule) in rules.deliveries.enumerated() {
            if let what = unsupported(in: rule) { return ("deliveries[\(index)]", what) }
        }
        return nil
    }

    private static func unsupported(in rule: CallRule) -> String? {
        if !actions.contains(rule.action) { return "action \(rule.action.rawValue)" }
        if rule.rollout != nil { return "rollout" }
        return rule.proxiesMisses ? "onMiss" : nil
    }

    private static func unsupported(in rule: DeliveryRule) -> String? {
        if !rule.preferDialects.isEmpty { return "preferDialects" }
        if rule.rollout != nil { return "rollout" }
        return rule.paths.first { $0 != .apns }.map { "path \($0.name)" }
    }
}
