package import Model

/// The rules of one version with the facts about their upstreams: decides calls and deliveries. Pure: the same facts give the same decision on every node.
package struct RouteTable: Sendable, Hashable {
    package let rules: RouteRules
    private let upstreams: [CredentialID: UpstreamFacts]

    package init(_ rules: RouteRules, upstreams: [CredentialID: UpstreamFacts]) {
        self.rules = rules
        self.upstreams = upstreams
    }

    /// The facts about an upstream that the rules name, as they were when the rules were checked.
    package func facts(of upstream: CredentialID) -> UpstreamFacts? { upstreams[upstream] }

    /// A call, as far as rules look at it.
    package struct Call: Sendable {
        package var vendor: Vendor
        package var kind: CallKind
        /// The call's name in the vendor's compatibility table.
        package var name: String
        /// Nil: not known.
        package var appVersion: String?
        package var named: NamedTargets

        package init(
            vendor: Vendor,
            kind: CallKind,
            name: String = "",
            appVersion: String? = nil,
            named: NamedTargets = .audience
        ) {
            self.vendor = vendor
            self.kind = kind
            self.name = name
            self.appVersion = appVersion
            self.named = named
        }
    }

    /// The decision about a call.
    package struct CallDecision: Sendable, Hashable {
        /// The index of the rule; nil: none matched, and the gateway serves the call.
        package var rule: Int?
        package var action: CallAction
        package var upstream: CredentialID?
        package var proxiesMisses = false
        package var servesInOutage = false
        /// Whether the gateway accepts a send that the delivery rules split between both sides.
        package var isSplit = false

        static let standard = CallDecision(rule: nil, action: .serve)
    }

    /// A delivery, as far as rules look at it.
    package struct Delivery: Sendable {
        package var vendor: Vendor
        package var platform: Platform
        package var lane: Lane
        /// Those of the device that the rules name.
        package var tags: Set<String>
        package var rollout: RolloutFacts

        package init(
            vendor: Vendor,
            platform: Platform,
            lane: Lane,
            tags: Set<String> = [],
            rollout: RolloutFacts = RolloutFacts()
        ) {
            self.vendor = vendor
            self.platform = platform
            self.lane = lane
            self.tags = tags
            self.rollout = rollout
        }

        /// - Parameters:
        ///   - target: the identity and the device that receive the push.
        ///   - lane: that of the message.
        ///   - tags: those of the device that the rules name.
        package init(to target: TargetFacts, lane: Lane, tags: Set<String> = []) {
            self.init(
                vendor: target.vendor,
                platform: target.destination.platform,
                lane: lane,
                tags: tags,
                rollout: RolloutFacts(
                    user: target.person.user?.rawValue,
                    device: (target.firstKey ?? target.key).rawValue
                )
            )
        }
    }

    /// Where a push leaves.
    package struct DeliveryDecision: Sendable, Hashable {
        /// The index of the rule; nil: none matched, and the push service gets the push.
        package var rule: Int?
        /// In the order in which they are tried; at least one.
        package var paths: [DeliveryPath]
        package var coolDown: Duration
        /// The bucket of the last rollout that was looked at; nil: no rule with one was reached.
        package var bucket: UInt32?
    }
}

// MARK: Calls

extension RouteTable {
    /// Decides a call: the first rule that matches applies.
    ///
    /// A send under a rollout takes the rule if all its targets are inside, and the next one if all are outside. Mixed targets, and those that do not reveal
    /// their keys, are accepted by the gateway and split by the delivery rules. An audience takes the next rule unless the rule says `split`.
    package func decide(_ call: Call) -> CallDecision {
        for (index, rule) in rules.calls.enumerated() where matches(rule, call) {
            guard let rollout = rule.rollout else { return Self.decision(index, rule) }
            switch Self.share(of: call.named, rollout) {
            case .inside: return Self.decision(index, rule)
            case .outside: continue
            case .mixed: return CallDecision(rule: index, action: .serve, isSplit: true)
            case .audience:
                if rule.audience == .split { return CallDecision(rule: index, action: .serve, isSplit: true) }
            }
        }
        return .standard
    }

    private static func decision(_ index: Int, _ rule: CallRule) -> CallDecision {
        CallDecision(
            rule: index,
            action: rule.action,
            upstream: rule.upstream,
            proxiesMisses: rule.proxiesMisses,
            servesInOutage: rule.servesInOutage
        )
    }

    private func matches(_ rule: CallRule, _ call: Call) -> Bool {
        guard rule.applies(to: call.kind), rule.names.isEmpty || rule.names.contains(call.name) else { return false }
        if let vendor = rule.vendor ?? rule.upstream.flatMap({ upstreams[$0]?.vendor }), vendor != call.vendor {
            return false
        }
        guard let range = rule.appVersions else { return true }
        return call.appVersion.map { range.contains($0) } ?? false
    }

    /// Whether the side of a send may depend on the keys of devices.
    package var hasRolloutByDevice: Bool {
        rules.calls.contains { rule in
            rule.rollout.map { $0.unit == .device && (1..<10_000).contains($0.hundredths) } ?? false
        }
    }

    private enum Share { case inside, outside, mixed, audience }

    private static func share(of named: NamedTargets, _ rollout: Rollout) -> Share {
        switch named {
        case .audience: return .audience
        case .hidden: return .mixed
        case .targets(let targets):
            guard !targets.isEmpty else { return .audience }
            var (inside, outside) = (false, false)
            for target in targets {
                // The delivery rules know the user of a device that the call names without one.
                if rollout.unit == .user, target.user == nil { return .mixed }
                guard let isInside = rollout.includes(target) else { return .mixed }
                if isInside { inside = true } else { outside = true }
                if inside && outside { return .mixed }
            }
            return inside ? .inside : .outside
        }
    }
}

// MARK: Deliveries

extension RouteTable {
    /// Decides a delivery: the first rule that matches and has a path for the registration's dialect applies. An upstream knows registrations of its own dialect only.
    package func decide(_ delivery: Delivery) -> DeliveryDecision {
        var bucket: UInt32?
        for (index, rule) in rules.deliveries.enumerated() where !rule.paths.isEmpty && matches(rule, delivery) {
            let paths = rule.paths.filter { path in
                path.upstream.map { upstreams[$0]?.vendor == delivery.vendor } ?? true
            }
            guard !paths.isEmpty else { continue }
            if let rollout = rule.rollout {
                guard let key = rollout.key(of: delivery.rollout) else { continue }
                let own = Rollout.bucket(of: key, salt: rollout.salt)
                bucket = own
                guard rollout.includes(bucket: own) else { continue }
            }
            return DeliveryDecision(rule: index, paths: paths, coolDown: rule.coolDown, bucket: bucket)
        }
        return DeliveryDecision(rule: nil, paths: [.apns], coolDown: DeliveryRule.standardCoolDown, bucket: bucket)
    }

    private func matches(_ rule: DeliveryRule, _ delivery: Delivery) -> Bool {
        (rule.vendor == nil || rule.vendor == delivery.vendor)
            && (rule.platform == nil || rule.platform == delivery.platform)
            && (rule.lane == nil || rule.lane == delivery.lane) && rule.tags.isSubset(of: delivery.tags)
    }

    /// The tags that the rules name, for one look-up per slice.
    package var tags: Set<String> { rules.deliveries.reduce(into: []) { $0.formUnion($1.tags) } }

    /// The upstreams through which deliveries may leave.
    package var deliveryUpstreams: Set<CredentialID> {
        Set(rules.deliveries.flatMap(\.paths).compactMap(\.upstream))
    }

    /// The dialects of which a registration may be pushed by an upstream.
    package var upstreamDialects: Set<Vendor> { Set(deliveryUpstreams.compactMap { upstreams[$0]?.vendor }) }

    /// The dialects whose registrations of a device receive a message of a lane first; empty: the one seen last.
    package func preferredDialects(in lane: Lane) -> [Vendor] {
        rules.deliveries.first { !$0.preferDialects.isEmpty && ($0.lane == nil || $0.lane == lane) }?.preferDialects
            ?? []
    }
}
