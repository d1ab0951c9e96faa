package import Model

/// Which side handles a vendor's call.
package enum CallAction: String, Sendable, Hashable, CaseIterable {
    /// The gateway.
    case serve
    /// The upstream. The caller gets its answer unchanged.
    case proxy
    /// The gateway answers, and sends the call to the upstream later.
    case serveAndForward
    /// The side that sent the message that the call is about.
    case followMessage
    /// Neither: the caller gets the dialect's refusal.
    case refuse
}

/// A range of versions of an app, compared number by number: `3.10` is after `3.9`.
package struct VersionRange: Sendable, Hashable {
    /// The first version inside; nil: all before `below`.
    package var from: String?
    /// The first version behind the range; nil: all after `from`.
    package var below: String?

    package init(from: String? = nil, below: String? = nil) {
        self.from = from
        self.below = below
    }

    package func contains(_ version: String) -> Bool {
        let version = Self.numbers(version)
        if let from, Self.isLess(version, Self.numbers(from)) { return false }
        if let below, !Self.isLess(version, Self.numbers(below)) { return false }
        return true
    }

    /// Whether every version of `other` is inside.
    func contains(_ other: VersionRange) -> Bool {
        if let from {
            guard let first = other.from, !Self.isLess(Self.numbers(first), Self.numbers(from)) else { return false }
        }
        if let below {
            guard let last = other.below, !Self.isLess(Self.numbers(below), Self.numbers(last)) else { return false }
        }
        return true
    }

    /// At most eight numbers. Everything behind the digits of a part is ignored: `4.0EE` is `4.0`.
    private static func numbers(_ text: String) -> [Int] {
        text.split(separator: ".", maxSplits: 8, omittingEmptySubsequences: false).prefix(8)
            .map { Int($0.prefix { $0.isASCII && $0.isNumber }.prefix(9)) ?? 0 }
    }

    private static func isLess(_ left: [Int], _ right: [Int]) -> Bool {
        for place in 0..<max(left.count, right.count) {
            let (a, b) = (place < left.count ? left[place] : 0, place < right.count ? right[place] : 0)
            if a != b { return a < b }
        }
        return false
    }
}

/// One rule for calls. The first one that matches applies.
package struct CallRule: Sendable, Hashable {
    /// The treatment of a send without named targets under a rollout.
    package enum Audience: String, Sendable, Hashable, CaseIterable {
        /// The next rule decides: moved devices are still registered at the upstream, which pushes to all of them once.
        case proxy
        /// The gateway accepts it, and the delivery rules split it.
        case split
    }

    /// Nil: every dialect. A rule with an upstream matches calls of the upstream's dialect only.
    package var vendor: Vendor?
    /// Empty: every kind.
    package var kinds: Set<CallKind>
    /// Names of calls in the vendor's compatibility table. Empty: every call.
    package var names: Set<String>
    /// Nil: every version, also an unknown one.
    package var appVersions: VersionRange?
    package var rollout: Rollout?
    package var audience: Audience
    package var action: CallAction
    package var upstream: CredentialID?
    /// Whether the upstream is asked when the gateway does not know what a read is about.
    package var proxiesMisses: Bool
    /// Whether the gateway serves the call while the upstream does not answer.
    package var servesInOutage: Bool

    package init(
        vendor: Vendor? = nil,
        kinds: Set<CallKind> = [],
        names: Set<String> = [],
        appVersions: VersionRange? = nil,
        rollout: Rollout? = nil,
        audience: Audience = .proxy,
        action: CallAction,
        upstream: CredentialID? = nil,
        proxiesMisses: Bool = false,
        servesInOutage: Bool = false
    ) {
        self.vendor = vendor
        self.kinds = kinds
        self.names = names
        self.appVersions = appVersions
        self.rollout = rollout
        self.audience = audience
        self.action = action
        self.upstream = upstream
        self.proxiesMisses = proxiesMisses
        self.servesInOutage = servesInOutage
    }

    /// Whether the rule may apply to calls of a kind.
    package func applies(to kind: CallKind) -> Bool { kinds.isEmpty || kinds.contains(kind) }
}
