import ApplePayload
import Model

/// A refusal of this vendor: a status and the text of its detail (docs/contracts/notificationhubs.md#3.5).
struct HubsError: Error, Sendable, Hashable {
    var status: Int
    var text: String
    /// Seconds, where the caller should come again.
    var retryAfter: Int?
    /// Only headers: a key without the right (docs/contracts/notificationhubs.md#3.4).
    var isBare = false

    init(_ status: Int, _ text: String, retryAfter: Int? = nil, isBare: Bool = false) {
        self.status = status
        self.text = text
        self.retryAfter = retryAfter
        self.isBare = isBare
    }

    /// Why a request never became a command. The field is the detail's text where there is one.
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

    /// Why a command was not carried out.
    init(_ refusal: Refusal) {
        switch refusal {
        case .unknownBinding: self.init(404, HubText.noService)
        case .unauthorized: self.init(AccessFault.signature.status, AccessFault.signature.text)
        case .unknownDevice: self.init(404, HubText.noInstallation)
        case .unknownMessage: self.init(404, HubText.noMessage)
        case .unknownMedia, .unknownSender, .unknownGroup, .unknownTemplate: self.init(404, "Not found")
        // Only of a direct send: one by tags is accepted, whoever is there.
        case .noRecipients: self.init(400, "The device handle is not registered with this hub")
        case .noCredential: self.init(400, "The hub has no credential for Apple's service")
        case .invalid("content"): self.init(400, HubText.payloadTooLarge)
        case .invalid("attributes"): self.init(400, "The installation is too large")
        case .invalid(let name): self.init(400, "The value of \(name) is not valid")
        case .tooMany(let name, let limit): self.init(400, "There may be at most \(limit) \(name)")
        case .rateLimited(let after): self.init(429, HubText.throttled, retryAfter: Self.seconds(after, 1))
        case .idempotencyMismatch: self.init(400, "The request was repeated with another body")
        case .unsupported(let what): self.init(400, "\(what) is not available on this gateway")
        // Not a 4xx: the vendor's iOS SDK would switch itself off for the life of the process (docs/contracts/notificationhubs.md#4.5).
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

    /// 403 only for a missing right: SDKs repeat a 403 (docs/contracts/notificationhubs.md#3.5).
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

/// Texts of details that are used in more than one place. Recorded ones: docs/contracts/notificationhubs.md#3.4, docs/contracts/notificationhubs.md#4.2,
/// docs/contracts/notificationhubs.md#7.7; others: Assumed.
enum HubText {
    static let noService = "No service is hosted at the specified address."
    static let noInstallation = "Installation not found"
    static let noMessage = "Notification not found"
    static let later = "This call is not available on this gateway"
    static let throttled = "SubCode=42900. Throttled"
    static let unavailable = "The service is temporarily unavailable"
    static let payloadTooLarge = "The payload is larger than \(AppleLimits.payloadBytes) bytes"
}
