package import Model

/// Apple's rules for one push type: a row of the table in docs/contracts/apns.md#6.
///
/// Source: Apple, "Sending notification requests to APNs" (2026-11) and the pages it names per type.
package final class PushTypeRule: Sendable {
    /// The values of `apns-priority`.
    package struct Priorities: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// 10: deliver at once.
        package static let now = Priorities(rawValue: 1)
        /// 5: deliver when the device's power allows it.
        package static let powerAware = Priorities(rawValue: 2)
        /// 1: never wake the device.
        package static let lowest = Priorities(rawValue: 4)
        /// All values that Apple documents.
        package static let any: Priorities = [.now, .powerAware, .lowest]

        /// Whether `number` is one of the values.
        package func contains(number: Int) -> Bool {
            switch number {
            case 10: contains(.now)
            case 5: contains(.powerAware)
            case 1: contains(.lowest)
            default: false
            }
        }

        /// The values as text: `10, 5, 1`.
        package var text: String {
            [10, 5, 1].filter { contains(number: $0) }.map(String.init).joined(separator: ", ")
        }
    }

    /// The use of `apns-expiration`.
    package enum Expiry: Sendable, Equatable {
        /// The caller decides; without the header, APNs stores the push as it sees fit, for up to 30 days.
        case free
        /// The push is useless after seconds: 0 is sent if the caller sets no expiration, so that an outdated call does not ring.
        case immediate

        /// The value that is sent if the caller sets none; nil leaves the header out. Unit: seconds since 1970.
        package var standard: Int64? { self == .immediate ? 0 : nil }
    }

    /// The required form of the payload. It is checked for typed payloads only.
    package enum Body: Sendable, Equatable {
        /// `aps` with an alert, a sound or a badge.
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
        /// An unknown type: the payload is left to the caller.
        case any
    }

    /// The value of `apns-push-type`.
    package let name: String
    /// The suffix after the bundle id in `apns-topic`. It is empty for `mdm`, whose topic is its certificate's UID, and for unknown types, whose caller sets
    /// the whole topic.
    package let topicSuffix: String
    /// The values that are not answered with `BadPriority`. The only documented refusal is a background push at 10.
    package let priorities: Priorities
    /// The priority that is sent if the caller sets none.
    package let standardPriority: Int
    /// The largest payload. Unit: bytes of UTF-8.
    package let maxPayloadBytes: Int
    package let expiry: Expiry
    package let body: Body
    /// Whether APNs accepts the type only over connections with a provider token.
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

/// The rows of the table, created once because each push looks up its row.
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

/// The wire values of a push type.
extension PushType {
    /// All types that Apple documents. Source: docs/contracts/apns.md#6.
    package static let documented: [PushType] = [
        .alert, .background, .voip, .complication, .fileProvider, .mdm, .location, .liveActivity, .pushToTalk, .widgets,
        .controls,
    ]

    /// The type with this name; an unknown name is kept, because Apple adds types.
    package init(wire name: String) {
        self = Self.documented.first { $0.rule.name == name } ?? .unknown(name)
    }

    /// The type's row of the table.
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

    /// The largest payload that APNs accepts for the type. Unit: bytes.
    package var maxPayloadBytes: Int { rule.maxPayloadBytes }
}
