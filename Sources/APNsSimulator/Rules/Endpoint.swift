/// The two kinds of Apple's hosts.
package enum ListenerKind: Sendable, Equatable {
    /// Pushes and broadcasts: `api.push.apple.com`.
    case send
    /// Channel management: `api-manage-broadcast.push.apple.com`.
    case manage
}

/// The purpose of a path.
enum Endpoint: Sendable, Equatable {
    /// `/3/device/<token>`.
    case device
    /// `/4/broadcasts/apps/<bundle>`.
    case broadcast(bundle: String)
    /// `/1/apps/<bundle>/channels`: create, read or delete, depending on the method.
    case channels(bundle: String)
    /// `/1/apps/<bundle>/all-channels`: list.
    case allChannels(bundle: String)

    /// The app of a broadcast or channel call.
    var bundle: String? {
        switch self {
        case .device: nil
        case .broadcast(let bundle), .channels(let bundle), .allChannels(let bundle): bundle
        }
    }

    /// The methods that it supports.
    var methods: [String] {
        switch self {
        case .device, .broadcast: ["POST"]
        case .channels: ["POST", "GET", "DELETE"]
        case .allChannels: ["GET"]
        }
    }
}

/// The contents of a successful answer.
package struct SuccessReply: Sendable, Equatable {
    /// 200, 201 or 204.
    package var status = 200

    /// `apns-channel-id` of a channel that was created.
    package var channelID: String?

    /// JSON; empty for none.
    package var body = ""
}
