import Model

/// The vendor's codes. Each reason of the gateway is mapped to one of them once.
enum StubError: String {
    case unreadable, invalid, unauthorized, unknown, slower, unavailable

    /// The code for a request that did not become a command.
    init(_ error: AdapterError) {
        switch error.code {
        case .unreadable, .timedOut: self = .unreadable
        case .missing, .invalid, .tooLarge, .withheld: self = .invalid
        case .methodNotAllowed, .notFound: self = .unknown
        case .tooManyRequests: self = .slower
        case .unauthorized: self = .unauthorized
        }
    }

    /// The code for a command that was refused.
    init(_ refusal: Refusal) {
        switch refusal {
        case .unknownBinding, .unknownDevice, .unknownMessage, .unknownMedia, .unknownSender, .unknownGroup,
            .unknownTemplate, .noRecipients:
            self = .unknown
        case .unauthorized: self = .unauthorized
        case .invalid, .tooMany, .idempotencyMismatch, .outdated, .unsupported: self = .invalid
        case .rateLimited: self = .slower
        case .noCredential, .unavailable: self = .unavailable
        }
    }

    var status: Int {
        switch self {
        case .unreadable, .invalid: 400
        case .unauthorized: 401
        case .unknown: 404
        case .slower: 429
        case .unavailable: 503
        }
    }
}
