package import Model

/// Apple's rules for one push type: a row of the table in docs/contracts/apns.md#6.
///
/// Source: Apple, "Sending notification requests to APNs" (2026-11) and the pages it names per type.
package final class PushTypeRule: Sendable {
    /// The values of `apns-priority`.
    package struct Priorities: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// 10: at once.
        package static let now = Priorities(rawValue: 1)
        /// 5: when the device's power allows.
        package static let powerAware = Priorities(rawValue: 2)
        /// 1: never wakes the device.
        package static let lowest = Priorities(rawValue: 4)
        /// All that Apple names.
        package static let any: Priorities = [.now, .powerAware, .lowest]

        /// Whether `number` is one of them.
        package func contains(number: Int) -> Bool {
            switch number {
            case 10: contains(.now)
            case 5: contains(.powerAware)
            case 1: contains(.lowest)
            default: false
            }
        }

        /// The values in words: `10, 5, 1`.
        package var text: String {
            [10, 5, 1].filter { contains(number: $0) }.map(String.init).joined(separator: ", ")
        }
    }

    /// What `apns-expiration` is for.
    package enum Expiry: Sendable, Equatable {
        /// The caller's choice; absent means that APNs stores it as it sees fit, for up to 30 days.
        case free
        /// Worthless seconds later: 0 is sent where the caller names none, so that no old call rings.
        case immediate

        /// What is sent where the caller names none; nil leaves the header out. Unit: seconds since 1970.
        package var standard: Int64? { self == .immediate ? 0 : nil }
    }

    /// What the payload must be. Checked for typed payloads only.
    package enum Body: Sendable, Equatable {
        /// `aps` with something to see, hear or count.
        case alert
        /// `aps` with `content-available` and nothing else.
        case background
        /// Any `aps`.
        case notification
        /// `{"mdm":"…"}` and no `aps`.
        case mdm
        /// `aps` of a Live Activity: docs/contracts/apns.md#10.
        case liveActivity
        /// `{"aps":{"content-changed":true}}`.
        case contentChanged
        /// A type that we do not know: the caller's own business.
        case any
    }

    /// The value of `apns-push-type`.
    package let name: String
    /// What follows the bundle id in `apns-topic`. Empty for `mdm`, whose topic is its certificate's UID, and for types that we do not know,
    /// whose caller names the whole topic.
    package let topicSuffix: String
    /// What is not answered with `BadPriority`. The one documented refusal is a background push at 10.
    package let priorities: Priorities
    /// What is sent where the caller names none.
    package let standardPriority: Int
    /// The largest payload. Unit: bytes of UTF-8.
    package let maxPayloadBytes: Int
    package let expiry: Expiry
    package let body: Body
    /// Whether APNs takes it over connections with a provider token only.
    package let isTokenOnly: Bool

    init(
        _ name: String,
        suffix: String = "",
        priorities: Priorities = .any,
        standardPriority: Int = 10,
        maxPayloadBytes: Int = AppleLimits.payloadBytes,
        expiry: Expiry = .free,
        body: Body = .notification,
        isTokenOnly: Bool = false
    ) {
        self.name = name
        self.topicSuffix = suffix
        self.priorities = priorities
        self.standardPriority = standardPriority
        self.maxPayloadBytes = maxPayloadBytes
        self.expiry = expiry
        self.body = body
        self.isTokenOnly = isTokenOnly
    }
}

/// The table, made once: each push asks for its row.
extension PushTypeRule {
    fileprivate static let alert = PushTypeRule("alert", body: .alert)
    fileprivate static let background = PushTypeRule(
        "background",
        priorities: [.powerAware, .lowest],
        standardPriority: 5,
        body: .background
    )
    fileprivate static let voip = PushTypeRule(
        "voip",
        suffix: ".voip",
        maxPayloadBytes: AppleLimits.voipPayloadBytes,
        expiry: .immediate
    )
    fileprivate static let complication = PushTypeRule("complication", suffix: ".complication")
    fileprivate static let fileProvider = PushTypeRule("fileprovider", suffix: ".pushkit.fileprovider")
    fileprivate static let mdm = PushTypeRule("mdm", body: .mdm)
    fileprivate static let location = PushTypeRule("location", suffix: ".location-query", isTokenOnly: true)
    fileprivate static let liveActivity = PushTypeRule(
        "liveactivity",
        suffix: ".push-type.liveactivity",
        body: .liveActivity
    )
    fileprivate static let pushToTalk = PushTypeRule("pushtotalk", suffix: ".voip-ptt", expiry: .immediate)
    fileprivate static let widgets = PushTypeRule("widgets", suffix: ".push-type.widgets", body: .contentChanged)
    fileprivate static let controls = PushTypeRule("controls", suffix: ".push-type.controls", body: .contentChanged)
}

/// The wire side of a push type.
extension PushType {
    /// All types that Apple documents. Source: docs/contracts/apns.md#6.
    package static let documented: [PushType] = [
        .alert, .background, .voip, .complication, .fileProvider, .mdm, .location, .liveActivity, .pushToTalk, .widgets,
        .controls,
    ]

    /// The type of that name; one that we do not know is kept as it is, because Apple adds types.
    package init(wire name: String) {
        self = Self.documented.first { $0.rule.name == name } ?? .unknown(name)
    }

    /// Its row of the table.
    package var rule: PushTypeRule {
        switch self {
        case .alert: .alert
        case .background: .background
        case .voip: .voip
        case .complication: .complication
        case .fileProvider: .fileProvider
        case .mdm: .mdm
        case .location: .location
        case .liveActivity: .liveActivity
        case .pushToTalk: .pushToTalk
        case .widgets: .widgets
        case .controls: .controls
        case .unknown(let name): PushTypeRule(name, body: .any)
        }
    }

    /// The value of `apns-push-type`.
    package var wireName: String { rule.name }

    /// What follows the bundle id in `apns-topic`.
    package var topicSuffix: String { rule.topicSuffix }

    /// The largest payload that APNs takes for it. Unit: bytes.
    package var maxPayloadBytes: Int { rule.maxPayloadBytes }
}
