package import Model

/// The rules that this version of the gateway carries out. Rules with anything else are refused when they are stored: a rule that is stored is in force.
package enum RouteExecution {
    private static let actions: Set<CallAction> = [.serve, .proxy, .serveAndForward, .followMessage, .refuse]
    /// The kinds of calls that can be forwarded: a read changes nothing, and a send or a change of a message would be carried out twice.
    package static let forwarded: Set<CallKind> = [.device, .user, .receipt]
    /// Calls about a message.
    private static let following: Set<CallKind> = [.receipt, .message, .read]

    /// The first thing that this version does not carry out, with its place. Nil: all of it.
    package static func unsupported(in rules: RouteRules) -> (place: String, what: String)? {
        for (index, rule) in rules.calls.enumerated() {
            if let what = unsupported(in: rule) { return ("calls[\(index)]", what) }
        }
        return nil
    }

    private static func unsupported(in rule: CallRule) -> String? {
        if !actions.contains(rule.action) { return "action \(rule.action.rawValue)" }
        if rule.action == .serveAndForward,
            let kind = CallKind.allCases.first(where: { rule.applies(to: $0) && !forwarded.contains($0) })
        {
            return "serveAndForward of kind \(kind.rawValue)"
        }
        if rule.action == .followMessage,
            let kind = CallKind.allCases.first(where: { rule.applies(to: $0) && !following.contains($0) })
        {
            return "followMessage of kind \(kind.rawValue)"
        }
        return nil
    }
}
