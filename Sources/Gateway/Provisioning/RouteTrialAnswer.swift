package import Model
package import Routing

/// The decisions of rules about a trial, with what is wrong with the rules.
package struct RouteTrialAnswer: Sendable {
    package let rules: RouteRules
    package let faults: [RouteFault]
    /// The first thing that this version does not carry out.
    package let unsupported: (place: String, what: String)?
    package let decisions: RouteDecisions

    init(_ set: RouteSet, _ trial: RouteTrial, dialects: Set<Vendor>) {
        rules = set.rules
        faults = set.faults(dialects: dialects)
        unsupported = RouteExecution.unsupported(in: set.rules)
        decisions = trial.decisions(of: set.table)
    }

    /// The answer of the operation, and what `routes test --json` prints.
    package var json: JSONObject {
        var object: JSONObject = [
            "rules": rules.json,
            "faults": .array(faults.map { ["rule": .string($0.place), "problem": .string("\($0)")] }),
            "unsupported": unsupported.map { .string("\($0.place): \($0.what)") } ?? .null,
        ]
        for (name, value) in decisions.json.pairs { object[name] = value }
        return object
    }
}
