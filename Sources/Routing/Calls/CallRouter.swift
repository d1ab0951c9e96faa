package import Model

/// Decides by the rules of an app which side answers a call. Pure.
package enum CallRouter {
    package enum Decision: Sendable, Hashable {
        /// The gateway answers.
        case serve
        /// Nobody answers: the caller gets the dialect's refusal.
        case refuse
        case proxy(Proxying)
        /// The gateway answers, and the upstream if the gateway does not know what the call is about.
        case serveOrProxy(Proxying)
        /// The side that sent the message that the call is about.
        case follow(Following)
        /// A rule that this version does not carry out, which a later version has stored. Neither side may answer, because both could push.
        case unready
    }

    /// A call about a message.
    package struct Following: Sendable, Hashable {
        /// The upstream of the rule: the one that may have sent a message that the gateway does not know.
        package var upstream: CredentialID
        package var kind: CallKind
        /// Whether that upstream is asked about such a message.
        package var proxiesMisses: Bool

        package init(upstream: CredentialID, kind: CallKind, proxiesMisses: Bool) {
            self.upstream = upstream
            self.kind = kind
            self.proxiesMisses = proxiesMisses
        }
    }

    package struct Proxying: Sendable, Hashable {
        package var upstream: CredentialID
        package var kind: CallKind
        /// Whether the gateway serves the call while the upstream does not answer.
        package var servesInOutage: Bool

        package init(upstream: CredentialID, kind: CallKind, servesInOutage: Bool) {
            self.upstream = upstream
            self.kind = kind
            self.servesInOutage = servesInOutage
        }
    }

    /// - Parameters:
    ///   - call: with its whole body, inflated.
    ///   - adapter: that of the call's dialect.
    ///   - settings: those of the binding.
    ///   - table: the rules.
    ///   - firstKeys: those of the call's `devices` by which rollouts know them.
    /// - Returns: the side that answers.
    package static func decide(
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ settings: BindingSettings,
        _ table: RouteTable,
        _ firstKeys: [String: String] = [:]
    ) -> Decision {
        guard let upstream = adapter as? any UpstreamAdapter else { return ofAnyKind(call, adapter, table) }
        let kind = upstream.kind(of: call, settings: settings)
        return decision(find(call, of: kind, upstream, settings, table, firstKeys), kind)
    }

    /// 2,000 devices: as many as a send of any dialect may name. Devices of a longer list are known by their own keys.
    package static let deviceLimit = 2000

    /// The devices that a call names and on whose rollout keys its side depends.
    package static func devices(
        in call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ settings: BindingSettings,
        _ table: RouteTable
    ) -> [String] {
        guard table.hasRolloutByDevice, let upstream = adapter as? any UpstreamAdapter,
            upstream.kind(of: call, settings: settings) == .send,
            case .targets(let targets) = upstream.named(in: call, settings: settings), targets.count <= deviceLimit
        else { return [] }
        return targets.compactMap(\.device)
    }

    /// The rule that takes a call whose kind is known.
    package static func find(
        _ call: VendorRequest,
        of kind: CallKind,
        _ adapter: any UpstreamAdapter,
        _ settings: BindingSettings,
        _ table: RouteTable,
        _ firstKeys: [String: String] = [:]
    ) -> RouteTable.CallDecision {
        var asked = RouteTable.Call(vendor: adapter.vendor, kind: kind, name: call.route)
        if table.rules.calls.contains(where: { $0.appVersions != nil }) {
            asked.appVersion = adapter.appVersion(in: call)
        }
        // Finding the targets reads the whole body.
        if kind == .send, table.rules.calls.contains(where: { $0.rollout != nil }) {
            asked.named = adapter.named(in: call, settings: settings).known(by: firstKeys)
        }
        return table.decide(asked)
    }

    /// The decision about a call of a dialect without an upstream: its kind is not known, so that all kinds must have the same one.
    private static func ofAnyKind(
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ table: RouteTable
    ) -> Decision {
        let decisions = Set(
            CallKind.allCases.map { kind -> Decision in
                let asked = RouteTable.Call(vendor: adapter.vendor, kind: kind, name: call.route)
                return decision(table.decide(asked), kind)
            }
        )
        return decisions.count == 1 ? decisions.first ?? .unready : .unready
    }

    private static func decision(_ found: RouteTable.CallDecision, _ kind: CallKind) -> Decision {
        switch found.action {
        // A send that is split is accepted, and the delivery rules split its targets.
        case .serve where !found.proxiesMisses: return .serve
        case .serve:
            guard let upstream = found.upstream else { return .unready }
            return .serveOrProxy(Proxying(upstream: upstream, kind: kind, servesInOutage: false))
        case .refuse: return .refuse
        case .proxy:
            guard let upstream = found.upstream else { return .unready }
            return .proxy(Proxying(upstream: upstream, kind: kind, servesInOutage: found.servesInOutage))
        // The call is given to the upstream's queue when the gateway serves it (`forwardOrder`).
        case .serveAndForward: return .serve
        case .followMessage:
            guard let upstream = found.upstream else { return .unready }
            return .follow(Following(upstream: upstream, kind: kind, proxiesMisses: found.proxiesMisses))
        }
    }
}

extension NamedTargets {
    /// The same targets, of which some devices are known by their first keys.
    fileprivate func known(by firstKeys: [String: String]) -> NamedTargets {
        guard !firstKeys.isEmpty, case .targets(let targets) = self else { return self }
        return .targets(
            targets.map { RolloutFacts(user: $0.user, device: $0.device.map { firstKeys[$0] ?? $0 }) }
        )
    }
}
