package import Model

/// One way by which a push can leave.
package enum DeliveryPath: Sendable, Hashable {
    /// The push service, with the app's credential. It needs a token.
    case apns
    /// An upstream.
    case upstream(CredentialID)
    /// The delivery is suppressed.
    case none

    package var upstream: CredentialID? { if case .upstream(let id) = self { id } else { nil } }

    /// As a file spells it.
    package var name: String {
        switch self {
        case .apns: Self.apnsName
        case .upstream(let id): id.rawValue
        case .none: Self.noneName
        }
    }

    static let apnsName = "apns"
    static let noneName = "none"

    package init(name: String) {
        switch name {
        case Self.apnsName: self = .apns
        case Self.noneName: self = .none
        default: self = .upstream(CredentialID(name))
        }
    }
}

/// One rule for deliveries. The first one that matches applies; a rule without paths only sets the preferred dialects.
package struct DeliveryRule: Sendable, Hashable {
    /// The dialect of the registration. Nil: every dialect.
    package var vendor: Vendor?
    package var platform: Platform?
    package var lane: Lane?
    /// The device has all of them. Empty: any device.
    package var tags: Set<String>
    package var rollout: Rollout?
    /// In the order in which they are tried. Empty: the next rule decides.
    package var paths: [DeliveryPath]
    /// The dialects whose registrations of a device receive a send first.
    package var preferDialects: [Vendor]
    /// How long a path may be out of order before the next one is tried.
    package var coolDown: Duration

    /// 30 s: longer than a restart of a server, shorter than the time for which a person waits for the push of a sign-in.
    package static let standardCoolDown = Duration.seconds(30)

    package init(
        vendor: Vendor? = nil,
        platform: Platform? = nil,
        lane: Lane? = nil,
        tags: Set<String> = [],
        rollout: Rollout? = nil,
        paths: [DeliveryPath] = [],
        preferDialects: [Vendor] = [],
        coolDown: Duration = DeliveryRule.standardCoolDown
    ) {
        self.vendor = vendor
        self.platform = platform
        self.lane = lane
        self.tags = tags
        self.rollout = rollout
        self.paths = paths
        self.preferDialects = preferDialects
        self.coolDown = coolDown
    }
}
