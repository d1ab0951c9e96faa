package import Model

/// Finds the faults of a set of rules before it is stored: what cannot work, and above all what could push a message twice. Pure.
package struct RouteCheck: Sendable {
    private let rules: RouteRules
    private let upstreams: [CredentialID: UpstreamFacts]
    private let dialects: Set<Vendor>

    /// - Parameters:
    ///   - rules: the rules, as they would apply.
    ///   - upstreams: the upstreams of the tenant.
    ///   - dialects: the dialects that this gateway speaks.
    package init(_ rules: RouteRules, upstreams: [CredentialID: UpstreamFacts], dialects: Set<Vendor>) {
        self.rules = rules
        self.upstreams = upstreams
        self.dialects = dialects
    }

    /// Every fault, in the order of the rules. Empty: the rules may be stored.
    package var faults: [RouteFault] {
        var faults = sizes
        for (index, rule) in rules.calls.enumerated() {
            faults += kinds(of: rule, at: index).map { RouteFault("calls[\(index)]", $0) }
        }
        for (index, rule) in rules.deliveries.enumerated() {
            faults += kinds(of: rule, at: index).map { RouteFault("deliveries[\(index)]", $0) }
        }
        return faults
    }

    private var sizes: [RouteFault] {
        var faults: [RouteFault] = []
        for (place, count) in [("calls", rules.calls.count), ("deliveries", rules.deliveries.count)]
        where count > RouteLimits.rules {
            faults.append(RouteFault(place, .tooManyRules(count)))
        }
        let tags = Set(rules.deliveries.flatMap(\.tags)).count
        if tags > RouteLimits.tags { faults.append(RouteFault("deliveries", .tooManyTags(tags))) }
        return faults
    }

    private func unknown(_ vendor: Vendor?) -> [RouteFault.Kind] {
        vendor.map { dialects.contains($0) ? [] : [.unknownDialect($0)] } ?? []
    }

    // MARK: Call rules

    private func kinds(of rule: CallRule, at index: Int) -> [RouteFault.Kind] {
        var kinds = unknown(rule.vendor) + upstream(of: rule) + sends(of: rule) + options(of: rule)
        if let earlier = rules.calls[..<index].firstIndex(where: { takesAll($0, of: rule) }) {
            kinds.append(.unreachable(behind: earlier))
        }
        return kinds
    }

    private func upstream(of rule: CallRule) -> [RouteFault.Kind] {
        switch rule.action {
        case .proxy, .serveAndForward, .followMessage:
            guard rule.upstream != nil else { return [.missingUpstream(rule.action)] }
        case .serve where rule.proxiesMisses:
            guard rule.upstream != nil else { return [.missingUpstream(rule.action)] }
        case .serve, .refuse:
            return rule.upstream == nil ? [] : [.unusedUpstream(rule.action)]
        }
        guard let id = rule.upstream else { return [] }
        guard let facts = upstreams[id] else { return [.unknownUpstream(id)] }
        return rule.vendor.map { $0 == facts.vendor ? [] : [.otherDialect(id, of: facts.vendor)] } ?? []
    }

    private func sends(of rule: CallRule) -> [RouteFault.Kind] {
        var kinds: [RouteFault.Kind] = []
        if rule.applies(to: .send) {
            if rule.action == .serveAndForward { kinds.append(.sendForwarded) }
            if rule.action == .followMessage { kinds.append(.sendFollows) }
        }
        if let rollout = rule.rollout {
            if rule.kinds != [.send] { kinds.append(.rolloutOfCalls) }
            if !rules.deliveries.contains(where: { $0.rollout == rollout && !$0.paths.isEmpty }) {
                kinds.append(.rolloutWithoutDelivery(rollout))
            }
        } else if rule.audience == .split {
            kinds.append(.audienceWithoutRollout)
        }
        return kinds
    }

    private func options(of rule: CallRule) -> [RouteFault.Kind] {
        var kinds: [RouteFault.Kind] = []
        let about: Set<CallKind> = [.read, .receipt, .message]
        if rule.proxiesMisses, rule.kinds.isEmpty || !rule.kinds.isSubset(of: about) { kinds.append(.missesOfWrites) }
        let registering: Set<CallKind> = [.device, .receipt]
        if rule.servesInOutage {
            let fits = !rule.kinds.isEmpty && rule.kinds.isSubset(of: registering) && rule.action == .proxy
            if !fits { kinds.append(.outageOfOthers) }
        }
        return kinds
    }

    /// Whether every call that `rule` matches is taken by `earlier`.
    private func takesAll(_ earlier: CallRule, of rule: CallRule) -> Bool {
        if let rollout = earlier.rollout {
            // The same share is taken; a larger one of the same members too.
            guard let own = rule.rollout, own.salt == rollout.salt, own.unit == rollout.unit,
                own.hundredths <= rollout.hundredths, earlier.audience == .split || rule.audience == .proxy
            else { return false }
        }
        if let vendor = dialect(of: earlier), vendor != dialect(of: rule) { return false }
        if !earlier.kinds.isEmpty, rule.kinds.isEmpty || !rule.kinds.isSubset(of: earlier.kinds) { return false }
        if !earlier.names.isEmpty, rule.names.isEmpty || !rule.names.isSubset(of: earlier.names) { return false }
        guard let range = earlier.appVersions else { return true }
        return rule.appVersions.map { range.contains($0) } ?? false
    }

    /// The only dialect whose calls a rule matches.
    private func dialect(of rule: CallRule) -> Vendor? {
        rule.vendor ?? rule.upstream.flatMap { upstreams[$0]?.vendor }
    }

    // MARK: Delivery rules

    private func kinds(of rule: DeliveryRule, at index: Int) -> [RouteFault.Kind] {
        var kinds = unknown(rule.vendor) + rule.preferDialects.flatMap(unknown)
        kinds += paths(of: rule)
        if rule.paths.isEmpty, rule.preferDialects.isEmpty { kinds.append(.ruleWithoutEffect) }
        if !rule.preferDialects.isEmpty,
            rule.vendor != nil || rule.platform != nil || !rule.tags.isEmpty || rule.rollout != nil
        {
            kinds.append(.preferenceNarrowed)
        }
        for id in rule.paths.compactMap(\.upstream) {
            guard let facts = upstreams[id], facts.addressesUsers else { continue }
            kinds += splits(of: id, facts, at: index)
            if rule.paths.first == .apns, rules.calls.contains(where: { $0.audience == .split }) {
                kinds.append(.audienceTwice(id))
            }
        }
        return kinds
    }

    private func paths(of rule: DeliveryRule) -> [RouteFault.Kind] {
        var kinds: [RouteFault.Kind] = []
        if rule.paths.count > RouteLimits.paths { kinds.append(.tooManyPaths) }
        var seen: Set<DeliveryPath> = []
        for path in rule.paths where !seen.insert(path).inserted { kinds.append(.pathTwice(path.name)) }
        if rule.paths.contains(.none), rule.paths.count > 1 { kinds.append(.noneWithOthers) }
        for id in rule.paths.compactMap(\.upstream) {
            guard let facts = upstreams[id] else {
                kinds.append(.unknownUpstream(id))
                continue
            }
            if let vendor = rule.vendor, vendor != facts.vendor { kinds.append(.otherDialect(id, of: facts.vendor)) }
        }
        return kinds
    }

    /// The criteria of the rule, and of those in front of it, that may give two devices of one user different paths: the upstream would push to both of them.
    private func splits(of id: CredentialID, _ facts: UpstreamFacts, at index: Int) -> [RouteFault.Kind] {
        for (place, rule) in rules.deliveries[...index].enumerated() where !rule.paths.isEmpty {
            // Registrations of other dialects never reach this upstream.
            if let vendor = rule.vendor, vendor != facts.vendor { continue }
            // Devices that take the same upstream are not apart.
            if place < index, rule.paths == rules.deliveries[index].paths { continue }
            if !rule.tags.isEmpty { return [.userSplit(id, by: "tags", rule: place)] }
            if rule.rollout?.unit == .device { return [.userSplit(id, by: "rollout by: device", rule: place)] }
            if rule.platform != nil, !facts.splitsPlatforms {
                return [.userSplit(id, by: "platform", rule: place)]
            }
        }
        return []
    }
}
