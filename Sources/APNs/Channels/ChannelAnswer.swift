package import ApplePayload
internal import HTTP2
internal import Model

/// What APNs said to a `ChannelRequest`.
package struct ChannelAnswer: Sendable, Equatable {
    /// The answer to each operation, or that there was none to read.
    package enum Result: Sendable, Equatable {
        case created(ChannelID)
        /// What a channel is: how it stores, and the push type that it is for, in Apple's own word.
        case channel(ChannelStorage, pushType: String)
        case deleted
        case channels([ChannelID])
        case refused(ChannelRefusal)
        /// A "yes" without what belongs to it: no id, or a body that cannot be read. Nothing may be concluded; `read` and `list` may be asked
        /// again.
        case unreadable(status: Int)
    }

    package let result: Result
    /// `apns-request-id`, as it came back.
    package let requestID: String?

    /// Reads what came back. Lenient with statuses and further keys, strict with what is used.
    ///
    /// - Parameters:
    ///   - request: what was asked.
    ///   - status: of the answer. Apple names 201, 200 and 204; any 2xx is taken for a yes.
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
        // A list with holes would have somebody delete or make channels on false grounds.
        return channels.count == entries.count ? .channels(channels) : nil
    }
}

/// APNs' "no" to a broadcast or to a call about channels.
package struct ChannelRefusal: Sendable, Hashable {
    package let reason: APNsReason
    package let status: Int
    /// How long it asked to wait, if it did.
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

    /// What it means: the reason's row, or the status where the word is not known.
    package var retry: ReasonRule.Retry {
        if let rule = reason.rule { return rule.retry }
        return switch status {
        case 403: .whenMended
        case 429: .later
        case 400..<500: .never
        default: .later
        }
    }

    /// What the connection or the provider token needs.
    package var remedy: APNsAnswer.Remedy { APNsAnswer(reason: reason, status: status).remedy }
}
