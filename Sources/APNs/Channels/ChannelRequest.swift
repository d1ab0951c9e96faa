package import ApplePayload
package import FoundationEssentials
internal import HTTP2
internal import Model

/// How much of what is sent to a channel APNs keeps for devices that are away. It cannot be changed later.
///
/// Source: Apple, "Sending channel management requests to APNs" (docs/contracts/apns.md#12).
package enum ChannelStorage: Sendable, Hashable {
    /// 0: nothing; in return more may be sent. Broadcasts must expire at 0.
    case none
    /// 1: the newest message, for 8 hours at most.
    case newest
    /// A policy that Apple adds after us; only answers have one.
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

/// A call about the channels of one app. Its answer is a `ChannelAnswer`.
///
/// Source: Apple, "Sending channel management requests to APNs" (docs/contracts/apns.md#12).
package struct ChannelRequest: Sendable, Hashable {
    /// What is asked.
    package enum Operation: Sendable, Hashable {
        /// Makes one; APNs chooses its id. 10,000 per app and environment.
        case create(ChannelStorage)
        case read(ChannelID)
        /// Cannot be undone; what was stored may still be delivered.
        case delete(ChannelID)
        /// All channels of the app.
        case list
    }

    /// Without the suffix of any push type.
    package var bundleID: String
    package var operation: Operation
    /// Echoed; APNs makes one where there is none.
    package var requestID: UUID?

    package init(bundleID: String, _ operation: Operation, requestID: UUID? = nil) {
        self.bundleID = bundleID
        self.operation = operation
        self.requestID = requestID
    }

    /// The request as it goes over the wire, to `ChannelHosts.manage`.
    ///
    /// - Throws: `PushFault` if the bundle id cannot stand in a path.
    package func call() throws(PushFault) -> ChannelCall {
        if let fault = ChannelCall.bundleFault(bundleID) { throw fault }
        let channels = "/1/apps/\(bundleID)/channels"
        let id = ChannelCall.requestIDField(requestID)
        switch operation {
        case .create(let storage):
            // The one push type that channels are for.
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
