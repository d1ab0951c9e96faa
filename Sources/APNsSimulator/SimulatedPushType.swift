/// Apple's push types: the topic suffix and the largest payload of each.
///
/// Source: Apple, "Sending notification requests to APNs" (read 2026-11), docs/contracts/apns.md#6.
package enum SimulatedPushType: String, Sendable, CaseIterable {
    case alert, background, voip, complication, fileprovider, mdm, location, liveactivity, pushtotalk, widgets, controls

    /// The suffix of the topic after the bundle identifier; empty if the topic is the bundle identifier itself.
    package var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .location: ".location-query"
        case .liveactivity: ".push-type.liveactivity"
        case .pushtotalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        }
    }

    /// The largest payload in bytes.
    package var longestPayloadBytes: Int {
        self == .voip ? 5120 : 4096
    }

    private static let suffixes = allCases.map(\.topicSuffix).filter { !$0.isEmpty }

    /// The suffix of a topic that belongs to a push type; empty for a bare bundle identifier.
    static func suffix(of topic: String) -> String { suffixes.first(where: topic.hasSuffix) ?? "" }
}
