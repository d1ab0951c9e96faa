import Model

/// An error answer of this vendor: a status and a sentence (docs/contracts/braze.md#4.2).
struct BrazeError: Error, Sendable, Hashable {
    var status: Int
    var text: String
    /// Seconds until the caller may repeat the call, if it should.
    var retryAfter: Int?
    /// The key of the sentence: `error` for a body that is not JSON, otherwise `message`.
    var key = "message"

    init(_ status: Int, _ text: String, retryAfter: Int? = nil) {
        self.status = status
        self.text = text
        self.retryAfter = retryAfter
    }

    /// The answer to a request that never became a command. The error's field, if present, contains the whole sentence.
    init(_ error: AdapterError) {
        switch error.code {
        case .unreadable:
            self.init(400, "The body is not valid JSON.")
            key = "error"
        case .missing, .invalid: self.init(400, error.field ?? "A value is not valid")
        case .tooLarge where error.field != nil: self.init(400, error.field ?? "")
        // Assumed: the status. The text is the vendor's for too many objects.
        case .tooLarge: self.init(413, BrazeText.tooLong)
        case .notFound, .methodNotAllowed: self.init(404, "Not Found")
        case .tooManyRequests: self.init(429, BrazeText.throttled, retryAfter: 1)
        case .unauthorized: self.init(401, BrazeText.key)
        // `withheld` applies to payloads and does not occur here.
        case .timedOut, .withheld: self.init(408, "Request Timeout")
        }
    }

    /// The answer to a command that was refused.
    init(_ refusal: Refusal) {
        switch refusal {
        case .unknownBinding, .unauthorized: self.init(401, BrazeText.key)
        case .unknownDevice, .unknownMessage, .unknownMedia, .unknownSender, .unknownGroup, .unknownTemplate:
            self.init(404, "Not Found")
        case .noRecipients: self.init(400, BrazeText.nobody)
        case .noCredential: self.init(400, "The app has no credential for Apple's service")
        case .invalid("content"): self.init(400, BrazeText.pushTooLong)
        case .invalid("variables"): self.init(400, "'trigger_properties' is not valid")
        case .invalid("schedule"): self.init(400, BrazeText.tooLong)
        case .invalid("dueAt"): self.init(400, "'schedule.time' is not valid")
        case .invalid(let name): self.init(400, "'\(name)' is not valid")
        case .tooMany: self.init(400, BrazeText.tooManyRecipients)
        case .rateLimited(let after, _): self.init(429, BrazeText.throttled, retryAfter: Self.seconds(after, 1))
        case .idempotencyMismatch: self.init(400, "The request was repeated with another body")
        case .unsupported(let what): self.init(400, "\(what) is not available on this gateway")
        case .unavailable(let after): self.init(503, BrazeText.trouble, retryAfter: Self.seconds(after, 5))
        case .outdated: self.init(503, BrazeText.trouble, retryAfter: 1)
        }
    }

    private static func seconds(_ duration: Duration?, _ otherwise: Int64) -> Int {
        Int(clamping: max(1, duration?.components.seconds ?? otherwise))
    }
}

/// The sentences of answers. Those of docs/contracts/braze.md#4.4 and docs/contracts/braze.md#5.11 are the vendor's; the others are the gateway's.
enum BrazeText {
    static let key = "Invalid API Key"
    static let nobody = "No Recipients"
    static let nobodyToExport = "No users found to export"
    static let nothing = "No message to send"
    static let campaign = "Invalid Campaign ID"
    static let variationMissing = "Message Variant Unspecified"
    static let variation = "Invalid Message Variant"
    static let sendAt = "cannot parse send_at"
    static let past = "'schedule.time' is in the past"
    static let extra = "Invalid Extra Push Payload"
    static let pushTooLong = "Apple Push Length Exceeded"
    static let tooLong = "Max Input Length Exceeded"
    static let tooManyRecipients = "The max number of external_ids and aliases per request was exceeded"
    static let user = "'external_id', 'braze_id', 'user_alias', 'email' or 'phone' is required"
    static let noData = "Valid data must be provided in the 'attributes', 'events', or 'purchases' fields."
    static let throttled = "Too many requests"
    static let trouble = "Internal Server Error"
    static let broadcast = "'broadcast' and 'audience' may not be combined with recipients"

    static func fault(_ field: String) -> AdapterError { AdapterError(.invalid, field: "'\(field)' is not valid") }

    static func later(_ field: String) -> AdapterError {
        AdapterError(.invalid, field: "'\(field)' is not available on this gateway")
    }
}
