import ApplePayload
import Model

/// An error answer of this vendor: a status and the text of its detail (docs/contracts/notificationhubs.md#3.5).
struct HubsError: Error, Sendable, Hashable {
    var status: Int
    var text: String
    /// Seconds until the caller may repeat the call, if it should.
    var retryAfter: Int?
    /// The answer has headers only: the key lacks the right (docs/contracts/notificationhubs.md#3.4).
    var isBare = false

    init(_ status: Int, _ text: String, retryAfter: Int? = nil, isBare: Bool = false) {
        self.status = status
        self.text = text
        self.retryAfter = retryAfter
        self.isBare = isBare
    }

    /// The answer to a request that never became a command. The error's field, if present, contains the text of the detail.
    init(_ error: AdapterError) {
        switch error.code {
        case .unreadable: self.init(400, error.field ?? "The body cannot be read")
        case .missing: self.init(400, error.field.map { "\($0) is missing" } ?? "A value is missing")
        case .invalid: self.init(400, error.field ?? "A value is not valid")
        case .tooLarge where error.field != nil: self.init(400, error.field ?? "")
        case .tooLarge: self.init(413, "The request is too large")
        case .methodNotAllowed: self.init(405, "The method is not allowed")
        case .notFound: self.init(404, error.field ?? HubText.noService)
        case .tooManyRequests: self.init(429, HubText.throttled, retryAfter: 1)
        case .unauthorized:
            let fault = error.field.flatMap { AccessFault(rawValue: $0) } ?? .signature
            self.init(fault.status, fault.text, isBare: fault == .right)
        case .timedOut, .withheld: self.init(408, "The request did not arrive in time")
        }
    }

    /// The answer to a command that was refused.
    init(_ refusal: Refusal) {
        switch refusal {
        case .unknownBinding: self.init(404, HubText.noService)
        case .unauthorized: self.init(AccessFault.signature.status, AccessFault.signature.text)
        case .unknownDevice: self.init(404, HubText.noInstallation)
        case .unknownMessage: self.init(404, HubText.noMessage)
        case .unknownMedia, .unknownSender, .unknownGroup, .unknownTemplate: self.init(404, "Not found")
        // Only for a direct send: a send by tags is accepted even if no device matches.
        case .noRecipients: self.init(400, "The device handle is not registered with this hub")
        case .noCredential: self.init(400, "The hub has no credential for Apple's service")
        case .invalid("content"): self.init(400, HubText.payloadTooLarge)
        case .invalid("attributes"): self.init(400, "The installation is too large")
        case .invalid(let name): self.init(400, "The value of \(name) is not valid")
        case .tooMany(let name, let limit): self.init(400, "There may be at most \(limit) \(name)")
        case .rateLimited(let after, _): self.init(429, HubText.throttled, retryAfter: Self.seconds(after, 1))
        case .idempotencyMismatch: self.init(400, "The request was repeated with another body")
        case .unsupported(let what): self.init(400, "\(what) is not available on this gateway")
        // Not a 4xx: the vendor's iOS SDK would disable itself for the lifetime of the process (docs/contracts/notificationhubs.md#4.5).
        case .unavailable(let after): self.init(503, HubText.unavailable, retryAfter: Self.seconds(after, 5))
        case .outdated: self.init(503, HubText.unavailable, retryAfter: 1)
        }
    }

    private static func seconds(_ duration: Duration?, _ otherwise: Int64) -> Int {
        Int(clamping: max(1, duration?.components.seconds ?? otherwise))
    }
}

/// The reason why a call is refused. The raw value is logged. Texts: docs/contracts/notificationhubs.md#3.4.
enum AccessFault: String, Error, Sendable, CaseIterable {
    case missing, malformed, expired, signature, audience, right, manage

    var error: AdapterError { AdapterError(.unauthorized, field: rawValue) }

    /// 403 only for a missing right, because SDKs repeat a call after a 403 (docs/contracts/notificationhubs.md#3.5).
    var status: Int { self == .right ? 403 : 401 }

    var text: String {
        switch self {
        // Assumed: the texts of the first two.
        case .missing: "MissingToken: The request has no authorization header."
        case .malformed: "MalformedToken: The token cannot be read."
        case .expired: "ExpiredToken: "
        case .signature: "InvalidSignature: The token has an invalid signature."
        case .audience: "InvalidAudience: The authorization header contains a token with a wrong audience."
        case .right: ""
        case .manage: "Manage claim is required for this operation."
        }
    }
}

/// Texts of details that are used in more than one place. Recorded texts: docs/contracts/notificationhubs.md#3.4,
/// docs/contracts/notificationhubs.md#4.2, docs/contracts/notificationhubs.md#7.7; others: Assumed.
enum HubText {
    static let noService = "No service is hosted at the specified address."
    static let noInstallation = "Installation not found"
    static let noMessage = "Notification not found"
    static let later = "This call is not available on this gateway"
    static let throttled = "SubCode=42900. Throttled"
    static let unavailable = "The service is temporarily unavailable"
    static let payloadTooLarge = "The payload is larger than \(AppleLimits.payloadBytes) bytes"
}
