/// One entry of the script: the answer that matching pushes get instead of 200, or the fault of their connection.
package struct ScriptedAnswer: Sendable, Equatable {
    /// Unusual forms of an answer, to test clients that parse too strictly.
    package enum Shape: String, Sendable, CaseIterable {
        /// One DATA frame for each byte of the body.
        case split
        /// An error without a body.
        case bodyless
        /// An `apns-id` in upper case, like the ids that the real service creates.
        case upperCaseId
        /// An unknown header and an unknown JSON key.
        case extra
    }

    /// The selector of the entry.
    package var selector: ScriptSelector

    /// The device token of the selector.
    package var token: String { selector.token }

    /// The status of the answer, 200...599; nil if a fault replaces it.
    package var status: Int?

    /// Apple's reason.
    package var reason: String?

    /// Milliseconds since 1970, sent with 410; nil for the time of the answer.
    package var timestamp: Int?

    /// How many pushes it applies to; nil for all.
    package var times: Int?

    /// The delay of the answer, in addition to the simulator's own latency.
    package var latency = Latency.zero

    /// Seconds in a `retry-after` header. Apple documents none, but clients should respect it.
    package var retryAfter: Int?

    /// The unusual form of the answer, if any.
    package var shape: Shape?

    /// The fault that replaces the answer.
    package var fault: Fault?

    /// Whether the push counts as accepted although its answer is a fault. This simulates an answer that was lost.
    package var isDelivered = false

    /// Creates an answer with this status and reason.
    package init(token: String, status: Int, reason: String? = nil, timestamp: Int? = nil, times: Int? = nil) {
        selector = ScriptSelector(token: token)
        self.status = status
        self.reason = reason ?? Self.usualReason(of: status)
        self.timestamp = timestamp
        self.times = times
    }

    /// Creates a fault for everything that matches the selector.
    package init(_ selector: ScriptSelector, fault: Fault, times: Int? = nil) {
        self.selector = selector
        self.fault = fault
        self.times = times
    }

    /// The usual reason for a status.
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
