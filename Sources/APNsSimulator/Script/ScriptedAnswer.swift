/// One entry of the script: what pushes that fit its selector get instead of 200, or what befalls their connection.
package struct ScriptedAnswer: Sendable, Equatable {
    /// What an answer looks like, for clients that read too strictly.
    package enum Shape: String, Sendable, CaseIterable {
        /// One DATA frame for each byte of the body.
        case split
        /// An error without a body.
        case bodyless
        /// An `apns-id` in upper case, as the real service makes its own.
        case upperCaseId
        /// A header and a JSON key that nobody knows.
        case extra
    }

    /// What it is for.
    package var selector: ScriptSelector

    /// The device token of the selector.
    package var token: String { selector.token }

    /// Status of the answer, 200...599; nil when a fault takes its place.
    package var status: Int?

    /// Apple's word for it.
    package var reason: String?

    /// Milliseconds since 1970, sent with 410; without it the moment of the answer.
    package var timestamp: Int?

    /// How many pushes it is for; nil for all.
    package var times: Int?

    /// How long the answer is held back, on top of the simulator's own latency.
    package var latency = Latency.zero

    /// Seconds in a `retry-after` header. Apple documents none; clients should honour it all the same.
    package var retryAfter: Int?

    /// What the answer looks like, if not as usual.
    package var shape: Shape?

    /// What happens instead of an answer.
    package var fault: Fault?

    /// Whether the push counts as accepted although its answer is a fault: an answer that was lost on the way.
    package var isDelivered = false

    /// An answer with this status and reason.
    package init(token: String, status: Int, reason: String? = nil, timestamp: Int? = nil, times: Int? = nil) {
        selector = ScriptSelector(token: token)
        self.status = status
        self.reason = reason ?? Self.usualReason(of: status)
        self.timestamp = timestamp
        self.times = times
    }

    /// A fault in place of an answer.
    package init(token: String, fault: Fault, times: Int? = nil, isDelivered: Bool = false) {
        self.init(ScriptSelector(token: token), fault: fault, times: times)
        self.isDelivered = isDelivered
    }

    /// A fault for whatever fits the selector.
    package init(_ selector: ScriptSelector, fault: Fault, times: Int? = nil) {
        self.selector = selector
        self.fault = fault
        self.times = times
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
