package import Model

/// The wire side of a push type. Source: Apple, "Sending notification requests to APNs"; apns.md §6.
extension PushType {
    /// The value of `apns-push-type`.
    package var wireName: String {
        switch self {
        case .alert: "alert"
        case .background: "background"
        case .voip: "voip"
        case .complication: "complication"
        case .fileProvider: "fileprovider"
        case .mdm: "mdm"
        case .location: "location"
        case .liveActivity: "liveactivity"
        case .pushToTalk: "pushtotalk"
        case .widgets: "widgets"
        case .controls: "controls"
        case .unknown(let name): name
        }
    }

    /// What follows the bundle id in `apns-topic`.
    ///
    /// Empty for `mdm`, whose topic is its certificate's UID, and for types we do not know, whose caller names the whole topic.
    package var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm, .unknown: ""
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileProvider: ".pushkit.fileprovider"
        case .location: ".location-query"
        case .liveActivity: ".push-type.liveactivity"
        case .pushToTalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        }
    }

    /// The largest payload that APNs takes for it. Unit: bytes.
    package var maxPayloadBytes: Int {
        self == .voip ? APNsLimits.maxVoIPPayloadBytes : APNsLimits.maxPayloadBytes
    }
}
