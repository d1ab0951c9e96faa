package import ApplePayload
package import FoundationEssentials
internal import HTTP2
internal import Model

/// How many messages of a channel APNs stores for devices that are offline. The policy cannot be changed later.
///
/// Source: Apple, "Sending channel management requests to APNs" (docs/contracts/apns.md#12).
package enum ChannelStorage: Sendable, Hashable {
    /// 0: no messages; in return more may be sent. Broadcasts must expire at 0.
    case none
    /// 1: the newest message, for at most 8 hours.
    case newest
    /// A policy that is not documented yet; only answers contain one.
    case unknown(Int64)

    /// The value of `message-storage-policy`.
    package var wireValue: Int64 {
        switch self {
        case .none: 0
        case .newest: 1
        case .unknown(let value): value
        }
    }

    package init(wire value: Int64) {
        self =
            switch value {
            case 0: .none
            case 1: .newest
            default: .unknown(value)
            }
    }
}

/// A request about the channels of one app. Its answer is a `ChannelAnswer`.
///
/// Source: Apple, "Sending channel management requests to APNs" (docs/contracts/apns.md#12).
package struct ChannelRequest: Sendable, Hashable {
    /// The operation to perform.
    package enum Operation: Sendable, Hashable {
        /// Creates a channel; APNs chooses its id. At most 10,000 per app and environment.
        case create(ChannelStorage)
        case read(ChannelID)
        /// Deletes a channel. It cannot be undone; a stored message may still be delivered.
        case delete(ChannelID)
        /// All channels of the app.
        case list
    }

    /// The app's bundle id, without the suffix of a push type.
    package var bundleID: String
    package var operation: Operation
    /// APNs returns it in the answer, and creates one if it is nil.
    package var requestID: UUID?

    package init(bundleID: String, _ operation: Operation, requestID: UUID? = nil) {
        self.bundleID = bundleID
        self.operation = operation
        self.requestID = requestID
    }

    /// The HTTP request for `ChannelHosts.manage`.
    ///
    /// - Throws: `PushFault` if the bundle id is not allowed in a path.
    package func call() throws(PushFault) -> ChannelCall {
        if let fault = ChannelCall.bundleFault(bundleID) { throw fault }
        let channels = "/1/apps/\(bundleID)/channels"
        let id = ChannelCall.requestIDField(requestID)
        switch operation {
        case .create(let storage):
            // Channels exist only for this push type.
            let body = #"{"message-storage-policy":\#(storage.wireValue),"push-type":"LiveActivity"}"#
            return ChannelCall("POST", channels, fields: id, body: Array(body.utf8))
        case .read(let channel):
            return ChannelCall("GET", channels, fields: [(APNsHeader.channelID, channel.text)] + id)
        case .delete(let channel):
            return ChannelCall("DELETE", channels, fields: [(APNsHeader.channelID, channel.text)] + id)
        case .list: return ChannelCall("GET", "/1/apps/\(bundleID)/all-channels", fields: id)
        }
    }
}
