package import ApplePayload
package import FoundationEssentials
internal import HTTP2
package import Model

/// One push to all followers of a channel: an update or the end of a Live Activity.
///
/// Source: Apple, "Sending broadcast push notification requests to APNs" (docs/contracts/apns.md#12). It has no topic, collapse id or device token; the bundle
/// id is in the path.
package struct Broadcast: Sendable, Hashable {
    /// The app's bundle id, without the suffix of a push type.
    package var bundleID: String
    package var channel: ChannelID
    /// Never a start: devices start their activities themselves.
    package var activity: LiveActivity
    /// Keys next to `aps`.
    package var custom: JSONObject
    /// 10, 5 or 1, as for every push.
    package var priority: Int
    /// Nil means 0: the push is not stored, which is the only possibility for a channel with `ChannelStorage.none`.
    package var expiresAt: Timestamp?
    /// APNs returns it in the answer, and creates one if it is nil.
    package var requestID: UUID?

    package init(
        bundleID: String,
        channel: ChannelID,
        activity: LiveActivity,
        custom: JSONObject = JSONObject(),
        priority: Int = 10,
        expiresAt: Timestamp? = nil,
        requestID: UUID? = nil
    ) {
        self.bundleID = bundleID
        self.channel = channel
        self.activity = activity
        self.custom = custom
        self.priority = priority
        self.expiresAt = expiresAt
        self.requestID = requestID
    }

    /// The checked request for `ChannelHosts.send`.
    ///
    /// - Parameter encoder: writes the payload; its memory is reused.
    /// - Returns: method, path, fields and body.
    /// - Throws: `PushFault` with the field and the rule.
    package func call(with encoder: inout PayloadEncoder) throws(PushFault) -> ChannelCall {
        if let fault = ChannelCall.bundleFault(bundleID) { throw fault }
        if case .start = activity.event { throw PushFault("aps.event", .notAllowed("to start in a broadcast")) }
        let rule = PushType.liveActivity.rule
        guard rule.priorities.contains(number: priority) else {
            throw PushFault(APNsHeader.priority.description, .outOfRange("10, 5, 1"), .badPriority)
        }
        try encoder.encode(
            APNsPayload(.liveActivity(activity), custom: custom),
            for: .liveActivity,
            limit: AppleLimits.broadcastPayloadBytes
        )
        let fields: [(FieldName, String)] = [
            (APNsHeader.channelID, channel.text),
            (APNsHeader.pushType, rule.name),
            (APNsHeader.priority, String(priority)),
            (APNsHeader.expiration, String(max(0, expiresAt?.seconds ?? 0))),
        ]
        return ChannelCall(
            "POST",
            "/4/broadcasts/apps/\(bundleID)",
            fields: fields + ChannelCall.requestIDField(requestID),
            body: encoder.copy()
        )
    }
}

/// The answer of APNs to a `Broadcast`.
package enum BroadcastAnswer: Sendable, Hashable {
    /// Accepted, but not yet delivered to any device. It has the `apns-request-id`, and in the sandbox the key to the delivery log.
    case accepted(requestID: String, logKey: String?)
    case refused(ChannelRefusal)

    /// Reads an answer: any 2xx means accepted.
    package init(
        status: Int,
        body: ArraySlice<UInt8>,
        requestID: String? = nil,
        uniqueID: String? = nil,
        retryAfter: String? = nil
    ) {
        self =
            (200..<300).contains(status)
            ? .accepted(requestID: requestID?.lowercased() ?? "", logKey: uniqueID)
            : .refused(ChannelRefusal(status: status, body: body, retryAfter: retryAfter))
    }

    init(_ response: Response) {
        self.init(
            status: response.status,
            body: response.body,
            requestID: response.value(APNsHeader.requestID),
            uniqueID: response.value(APNsHeader.uniqueID),
            retryAfter: response.value(APNsHeader.retryAfter)
        )
    }
}
