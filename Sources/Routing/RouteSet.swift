package import Model

/// One version of an app's rules: the base of its provisioning file, the overlay in front of it, and the facts about their upstreams when they were checked.
package struct RouteSet: Sendable, Hashable {
    /// The format of stored rules that this program writes, and the only one that it reads. Rules that an older program would misunderstand get another one.
    package static let format = 1

    package var base: RouteRules
    package var overlay: RouteRules
    /// Those of the upstreams that the rules name.
    package var upstreams: [CredentialID: UpstreamFacts]

    package init(
        base: RouteRules = .none,
        overlay: RouteRules = .none,
        upstreams: [CredentialID: UpstreamFacts] = [:]
    ) {
        self.base = base
        self.overlay = overlay
        let named = base.upstreams.union(overlay.upstreams)
        self.upstreams = upstreams.filter { named.contains($0.key) }
    }

    /// The rules that apply.
    package var rules: RouteRules { overlay.inFront(of: base) }

    /// The only dialect of which the overlay rules calls, as that of a migration does. Nil: it rules none, or those of several dialects.
    package var overlaidDialect: Vendor? {
        let dialects = Set(overlay.calls.map(\.vendor))
        return dialects.count == 1 ? dialects.first.flatMap { $0 } : nil
    }

    package var table: RouteTable { RouteTable(rules, upstreams: upstreams) }

    /// Finds the faults of the rules that apply. Rules of the base from which the overlay takes everything have none: they apply again without it.
    ///
    /// - Parameter dialects: the dialects that this gateway speaks.
    /// - Returns: every fault, in the order of the rules. Empty: the rules may be stored.
    package func faults(dialects: Set<Vendor>) -> [RouteFault] {
        let faults = RouteCheck(rules, upstreams: upstreams, dialects: dialects).faults
        let covered = Set(faults.filter(isCovering).map(\.place))
        return faults.filter { !covered.contains($0.place) }
    }

    private func isCovering(_ fault: RouteFault) -> Bool {
        let isOfBase = !part(of: fault.place).isOverlay
        if case .unreachable(let earlier) = fault.kind { return isOfBase && earlier < overlay.calls.count }
        if case .unreachableDelivery(let earlier) = fault.kind { return isOfBase && earlier < overlay.deliveries.count }
        return false
    }

    /// Finds the part of the set to which a place in its rules belongs: `calls[3]`, behind two rules for calls of the overlay, is `calls[1]` of the base.
    ///
    /// - Returns: the place within that part. A place that names no rule belongs to the overlay if there is one.
    package func part(of place: String) -> (isOverlay: Bool, place: String) {
        let words = place.split(separator: "[")
        guard words.count == 2, let index = Int(words[1].dropLast()) else { return (!overlay.isEmpty, place) }
        let count = words[0] == "calls" ? overlay.calls.count : overlay.deliveries.count
        return index < count ? (true, place) : (false, "\(words[0])[\(index - count)]")
    }
}

extension RouteRules {
    /// These rules, with those of `base` behind them in each list.
    package func inFront(of base: RouteRules) -> RouteRules {
        RouteRules(
            calls: calls + base.calls,
            deliveries: deliveries + base.deliveries,
            duplicateWindow: duplicateWindow ?? base.duplicateWindow
        )
    }
}
