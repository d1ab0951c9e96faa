package import ApplePayload
internal import HTTP2
internal import Model

/// The answer of APNs to a `ChannelRequest`.
package struct ChannelAnswer: Sendable, Equatable {
    /// The result of each operation, including an unreadable one.
    package enum Result: Sendable, Equatable {
        case created(ChannelID)
        /// The properties of a channel: its storage policy, and its push type in Apple's spelling.
        case channel(ChannelStorage, pushType: String)
        case deleted
        case channels([ChannelID])
        case refused(ChannelRefusal)
        /// A success without the expected content: the id is missing, or the body cannot be read. The outcome is unknown; `read` and `list` may be repeated.
        case unreadable(status: Int)
    }

    package let result: Result
    /// The `apns-request-id` of the answer.
    package let requestID: String?

    /// Reads an answer. It accepts unexpected statuses and additional keys, but checks everything that it uses.
    ///
    /// - Parameters:
    ///   - request: the request that was sent.
    ///   - status: the status of the answer. Apple documents 201, 200 and 204; any 2xx counts as success.
    ///   - body: at most `APNsLimits.maxChannelListBytes`.
    ///   - isCut: whether the body was longer.
    ///   - channelID: `apns-channel-id`.
    ///   - requestID: `apns-request-id`.
    ///   - retryAfter: `retry-after`, in seconds.
    package init(
        to request: ChannelRequest,
        status: Int,
        body: ArraySlice<UInt8>,
        isCut: Bool = false,
        channelID: String? = nil,
        requestID: String? = nil,
        retryAfter: String? = nil
    ) {
        self.requestID = requestID
        guard (200..<300).contains(status) else {
            result = .refused(ChannelRefusal(status: status, body: body, retryAfter: retryAfter))
            return
        }
        let known: Result? =
            switch request.operation {
            case .create: channelID.flatMap(ChannelID.init).map(Result.created)
            case .read: Self.channel(body)
            case .delete: .deleted
            case .list: isCut ? nil : Self.list(body)
            }
        result = known ?? .unreadable(status: status)
    }

    init(to request: ChannelRequest, _ response: Response) {
        self.init(
            to: request,
            status: response.status,
            body: response.body,
            isCut: response.isBodyTruncated,
            channelID: response.value(APNsHeader.channelID),
            requestID: response.value(APNsHeader.requestID),
            retryAfter: response.value(APNsHeader.retryAfter)
        )
    }

    private static func channel(_ body: ArraySlice<UInt8>) -> Result? {
        guard let json = try? JSONParser.parse(Array(body)), let policy = json["message-storage-policy"]?.lenientInt
        else { return nil }
        return .channel(ChannelStorage(wire: policy), pushType: json["push-type"]?.string ?? "")
    }

    private static func list(_ body: ArraySlice<UInt8>) -> Result? {
        guard let json = try? JSONParser.parse(Array(body)), let entries = json["channels"]?.array,
            entries.count <= APNsLimits.maxChannels
        else { return nil }
        let channels = entries.compactMap { $0.string.flatMap(ChannelID.init) }
        // An incomplete list would lead callers to delete or create the wrong channels.
        return channels.count == entries.count ? .channels(channels) : nil
    }
}

/// A refusal by APNs of a broadcast or of a request about channels.
package struct ChannelRefusal: Sendable, Hashable {
    package let reason: APNsReason
    package let status: Int
    /// How long the answer asked to wait, if it did.
    package let retryAfter: Duration?

    package init(reason: APNsReason, status: Int, retryAfter: Duration? = nil) {
        self.reason = reason
        self.status = status
        self.retryAfter = retryAfter
    }

    init(status: Int, body: ArraySlice<UInt8>, retryAfter: String?) {
        self.init(
            reason: AnswerBody(body).reason,
            status: status,
            retryAfter: retryAfter.flatMap(APNsAnswer.retryAfter)
        )
    }

    /// Whether the request may be retried: according to the reason's row, or the status if the reason is unknown.
    package var retry: ReasonRule.Retry {
        if let rule = reason.rule { return rule.retry }
        return switch status {
        case 403: .whenMended
        case 429: .later
        case 400..<500: .never
        default: .later
        }
    }

    /// The action that the connection or the provider token needs.
    package var remedy: APNsAnswer.Remedy { APNsAnswer(reason: reason, status: status).remedy }
}
