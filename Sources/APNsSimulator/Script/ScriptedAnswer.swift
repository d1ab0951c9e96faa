/// What happens to a stream or its connection instead of an answer.
package enum Fault: Sendable, Equatable {
    /// RST_STREAM with this error code; 7 is REFUSED_STREAM.
    case reset(code: Int)
    /// GOAWAY with this error code and reason; the stream that met it counts as not processed unless `isProcessed`. Then a close.
    case goAway(code: Int, reason: String, isProcessed: Bool)
    /// No answer, ever.
    case silence
    /// The TCP connection ends without a word.
    case close
    /// The first half of the answer's bytes, then the end of the TCP connection.
    case halfFrame
}

/// One scripted answer: what pushes to a device token get instead of 200.
package struct ScriptedAnswer: Sendable, Equatable {
    /// The device token, or a prefix of one followed by `*`; `*` alone means every token.
    package var token: String

    /// Status of the answer, 200...599; nil when a fault takes its place.
    package var status: Int?

    /// Apple's word for it.
    package var reason: String?

    /// Milliseconds since 1970, sent with 410; without it the moment of the answer.
    package var timestamp: Int?

    /// How many pushes it is for; nil for all.
    package var times: Int?

    /// How long the answer is held back, on top of the simulator's own latency.
    package var latency = Duration.zero

    /// Seconds in a `retry-after` header. Apple documents none; clients should honour it all the same.
    package var retryAfter: Int?

    /// What happens instead of an answer.
    package var fault: Fault?

    /// Whether the push counts as accepted although its answer is a fault: an answer that was lost on the way.
    package var isDelivered = false

    /// An answer with this status and reason.
    package init(token: String, status: Int, reason: String? = nil, timestamp: Int? = nil, times: Int? = nil) {
        self.token = token
        self.status = status
        self.reason = reason ?? Self.usualReason(of: status)
        self.timestamp = timestamp
        self.times = times
    }

    /// A fault in place of an answer.
    package init(token: String, fault: Fault, times: Int? = nil, isDelivered: Bool = false) {
        self.token = token
        self.fault = fault
        self.times = times
        self.isDelivered = isDelivered
    }

    /// The reason that usually comes with a status.
    private static func usualReason(of status: Int) -> String? {
        switch status {
        case 400: Reason.badDeviceToken.rawValue
        case 403: Reason.forbidden.rawValue
        case 404: Reason.badPath.rawValue
        case 405: Reason.methodNotAllowed.rawValue
        case 410: Reason.unregistered.rawValue
        case 413: Reason.payloadTooLarge.rawValue
        case 429: Reason.tooManyRequests.rawValue
        case 500: Reason.internalServerError.rawValue
        case 503: Reason.serviceUnavailable.rawValue
        default: nil
        }
    }
}
