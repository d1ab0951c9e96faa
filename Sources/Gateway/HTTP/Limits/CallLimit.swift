package import Model

/// The limits of calls. The raw value is the name in metrics and logs, and after `limits.` in the settings.
package enum CallLimit: String, Sendable, CaseIterable {
    /// Identities that one address creates.
    case identities
    /// Calls of one address that name an unknown device, message or binding.
    case unknown
    /// Calls of one known identity.
    case identity
    /// Calls that name one user.
    case user
    /// Calls that name one phone.
    case phone
    /// Failed proofs of one address.
    case addressProofs = "proofs.address"
    /// Failed proofs of one address for one name of a key.
    case nameProofs = "proofs.name"
    /// Open connections of one address.
    case connections
    /// Bytes of large bodies on the node.
    case bodies
    /// Values of bodies on the node (`BodyValues`). It has no setting.
    case values = "bodies.values"
}

/// Limits of calls without a setting. The raw value is the name in the metric `calls_limited_total`.
package enum FixedLimit: String, Sendable, CaseIterable {
    /// Bytes of the body of a call.
    case bodyBytes = "body.bytes"
    /// Values of a JSON body (`JSONParser.valueLimit`).
    case bodyValues = "body.values"
    /// Time in which a body arrives (`BodyReader.timeLimit`).
    case bodyTime = "body.time"
    /// Streams of events and exports (`EventStreamLimit`).
    case streams
    /// Imports at once.
    case imports
    /// Calls of one address that are in flight to one upstream (`UpstreamShares`).
    case upstreamCalls = "upstream.calls"
}

/// The settings of the limits of calls of one node.
package struct CallLimitSettings: Sendable, Hashable {
    /// False: no call is limited.
    package var isOn = true
    /// By limit; a missing limit is off. `identities` is generous, because carriers put thousands of phones behind one address.
    package var rates: [CallLimit: CallRate] = standardRates
    /// Failed proofs before an address has to wait. 0: off.
    package var addressFailures = 20
    /// Failed proofs before an address has to wait with one name of a key. 0: off.
    package var nameFailures = 5
    /// Open connections of one address. Nil: off. 1,024 are a sixteenth of a listener's: a single address must not use them up, but many phones may share it.
    package var connections: Int? = 1024
    /// Bytes of bodies above `LargeBodies.smallBytes` that the node holds at once. 16 MiB: the largest body of a call and a half.
    package var bodyBytes = 16 << 20
    /// How long a large body waits for room. Unit: seconds.
    package var bodyWaitSeconds = 10
    /// Networks whose calls and connections are not limited.
    package var exempt: [AddressRange] = []

    package static let standardRates: [CallLimit: CallRate] = [
        .identities: CallRate(perSecond: 10, burst: 600),
        .unknown: CallRate(perSecond: 5, burst: 300),
        .identity: CallRate(perSecond: 5, burst: 300),
        .user: CallRate(perSecond: 20, burst: 1200),
        .phone: CallRate(perSecond: 0.2, burst: 30),
    ]

    package init() {}

    package static let off: CallLimitSettings = {
        var settings = CallLimitSettings()
        settings.isOn = false
        return settings
    }()
}

/// A limit that was reached, and the time after which a call may succeed.
package struct LimitExcess: Error, Sendable, Hashable {
    package var limit: CallLimit
    /// Unit: seconds, at least 1.
    package var waitSeconds: Int

    package var refusal: Refusal { .rateLimited(retryAfter: .seconds(waitSeconds)) }

    init(_ limit: CallLimit, wait: Double) {
        self.limit = limit
        waitSeconds = max(1, Int(wait.rounded(.up)))
    }
}
