package import Model

/// A call that is tried against rules, with the deliveries to the targets that it names: of `routes test` and of its operation.
package struct RouteTrial: Sendable, Hashable {
    package var vendor: Vendor
    package var kind: CallKind
    /// The call's name in the vendor's compatibility table.
    package var name: String
    /// Nil: not stated.
    package var appVersion: String?
    /// The targets. Empty: the call is about an audience.
    package var targets: [RolloutFacts]
    package var platform: Platform
    package var lane: Lane
    /// Those of the devices.
    package var tags: Set<String>

    package init(
        vendor: Vendor,
        kind: CallKind = .send,
        name: String = "",
        appVersion: String? = nil,
        targets: [RolloutFacts] = [],
        platform: Platform = .ios,
        lane: Lane = .transactional,
        tags: Set<String> = []
    ) {
        self.vendor = vendor
        self.kind = kind
        self.name = name
        self.appVersion = appVersion
        self.targets = targets
        self.platform = platform
        self.lane = lane
        self.tags = tags
    }

    package func decisions(of table: RouteTable) -> RouteDecisions {
        let call = RouteTable.Call(
            vendor: vendor,
            kind: kind,
            name: name,
            appVersion: appVersion,
            named: targets.isEmpty ? .audience : .targets(targets)
        )
        let deliveries = targets.map { target in
            let delivery = RouteTable.Delivery(
                vendor: vendor,
                platform: platform,
                lane: lane,
                tags: tags,
                rollout: target
            )
            return RouteDecisions.Delivery(target: target, decision: table.decide(delivery))
        }
        return RouteDecisions(call: table.decide(call), deliveries: deliveries)
    }
}

/// The decisions about a trial.
package struct RouteDecisions: Sendable, Hashable {
    package struct Delivery: Sendable, Hashable {
        package let target: RolloutFacts
        package let decision: RouteTable.DeliveryDecision
    }

    package let call: RouteTable.CallDecision
    /// In the order of the targets.
    package let deliveries: [Delivery]
}

// MARK: Output

extension RouteDecisions {
    /// `call` and `deliveries`, as `routes test --json` prints them.
    package var json: JSONObject {
        ["call": callJSON, "deliveries": .array(deliveries.map(\.json))]
    }

    private var callJSON: JSON {
        [
            "rule": call.rule.map { .int($0) } ?? .null, "action": .string(call.action.rawValue),
            "upstream": call.upstream.map { .string($0.rawValue) } ?? .null, "split": .bool(call.isSplit),
            "onMiss": call.proxiesMisses ? "proxy" : .null, "onOutage": call.servesInOutage ? "serve" : .null,
        ]
    }
}

extension RouteDecisions.Delivery {
    fileprivate var json: JSON {
        [
            "target": (target.user ?? target.device).map { .string($0) } ?? .null,
            "rule": decision.rule.map { .int($0) } ?? .null,
            "bucket": decision.bucket.map { .int(Int64($0)) } ?? .null,
            "paths": .array(decision.paths.map { .string($0.name) }),
        ]
    }
}
