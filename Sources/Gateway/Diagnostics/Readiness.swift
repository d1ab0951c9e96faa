package import Model

/// Whether this node should receive calls, with the reasons.
package struct Readiness: Sendable {
    package struct Check: Sendable {
        package var name: String
        package var isFine: Bool
        /// False: a failed check only warns and the node stays ready.
        package var isVital: Bool
        package var detail: String
    }

    package var checks: [Check]
    package var isReady: Bool { checks.allSatisfy { $0.isFine || !$0.isVital } }

    package var json: JSON {
        let checks = checks.map { check -> JSON in
            ["name": .string(check.name), "ok": .bool(check.isFine), "detail": .string(check.detail)]
        }
        return ["status": .string(isReady ? "ready" : "not ready"), "checks": .array(checks)]
    }
}
