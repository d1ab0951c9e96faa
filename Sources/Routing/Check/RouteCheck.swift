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
            if rule.action != .serve { kinds.append(.rolloutOfAction(rule.action)) }
            if !isDelivered(rollout, of: dialect(of: rule)) { kinds.append(.rolloutWithoutDelivery(rollout)) }
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

    /// Whether a delivery rule takes the whole rollout of a dialect's calls (nil: of all calls): it has no other criterion than the dialect, and no rule in
    /// front of it takes all of its deliveries.
    private func isDelivered(_ rollout: Rollout, of dialect: Vendor?) -> Bool {
        for (index, rule) in rules.deliveries.enumerated() where rule.rollout == rollout {
            guard rule.platform == nil, rule.lane == nil, rule.tags.isEmpty else { continue }
            guard rule.vendor == nil || rule.vendor == dialect else { continue }
            var narrowed = rule
            narrowed.vendor = dialect
            let taken = reach(of: narrowed)
            guard dialect == nil ? taken == nil : taken?.isEmpty == false else { continue }
            if !rules.deliveries[..<index].contains(where: { takesAll($0, of: narrowed) }) { return true }
        }
        return false
    }

    /// Whether the gateway sends some audiences of a dialect itself: those that no call rule gives to an upstream or refuses.
    private func servesAudiences(of vendor: Vendor) -> Bool {
        for rule in rules.calls where rule.applies(to: .send) {
            if let own = dialect(of: rule), own != vendor { continue }
            if rule.rollout != nil {
                // An audience that is not split takes the next rule.
                if rule.audience == .proxy { continue }
                return true
            }
            switch rule.action {
            case .serve, .serveAndForward, .followMessage: return true
            case .proxy, .refuse: if rule.names.isEmpty, rule.appVersions == nil { return false }
            }
        }
        return true
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
        let earlier = rules.deliveries[..<index].firstIndex { takesAll($0, of: rule) }
        if let earlier, !rule.paths.isEmpty { kinds.append(.unreachableDelivery(behind: earlier)) }
        if !rule.preferDialects.isEmpty,
            rule.vendor != nil || rule.platform != nil || !rule.tags.isEmpty || rule.rollout != nil
        {
            kinds.append(.preferenceNarrowed)
        }
        for id in rule.paths.compactMap(\.upstream) {
            guard let facts = upstreams[id], facts.addressesUsers else { continue }
            kinds += splits(of: id, facts, at: index)
            if rule.paths.contains(.apns), servesAudiences(of: facts.vendor) { kinds.append(.audienceTwice(id)) }
        }
        return kinds
    }

    /// Whether every delivery that `rule` takes is taken by `earlier`.
    private func takesAll(_ earlier: DeliveryRule, of rule: DeliveryRule) -> Bool {
        if let rollout = earlier.rollout {
            // The same share is taken; a larger one of the same members too.
            guard let own = rule.rollout, own.salt == rollout.salt, own.unit == rollout.unit,
                own.hundredths <= rollout.hundredths
            else { return false }
        }
        if let platform = earlier.platform, platform != rule.platform { return false }
        if let lane = earlier.lane, lane != rule.lane { return false }
        guard earlier.tags.isSubset(of: rule.tags) else { return false }
        guard let taken = reach(of: earlier) else { return true }
        guard let own = reach(of: rule), !own.isEmpty else { return false }
        return own.isSubset(of: taken)
    }

    /// The dialects whose registrations a rule can take; nil: all. Those of an upstream are of its own dialect; a rule without paths takes none.
    private func reach(of rule: DeliveryRule) -> Set<Vendor>? {
        var reach: Set<Vendor>?
        if rule.paths.allSatisfy({ $0.upstream != nil }) {
            reach = Set(rule.paths.compactMap(\.upstream).compactMap { upstreams[$0]?.vendor })
        }
        guard let vendor = rule.vendor else { return reach }
        guard let known = reach else { return [vendor] }
        return known.intersection([vendor])
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
