import EngineStore
import Model

/// The outcome of a vendor's call, as the endpoint records it while the call is processed.
struct CallRecord: Sendable {
    /// The tenant and app of the call. Nil: no binding was found for it.
    var owner: Owner?
    var outcome = CapturedExchange.Outcome.unknown
    /// A word from the gateway's own list, never text from the caller.
    var reason: String?
    /// False: the call is never captured, for example a call above the rate limit of its address.
    var isKept = true

    struct Owner: Sendable, Hashable {
        var tenant: TenantID
        var app: AppID
    }

    mutating func refused(_ error: AdapterError) {
        switch error.code {
        case .notFound, .methodNotAllowed: outcome = .unknown
        case .unreadable, .missing, .invalid, .tooLarge, .tooManyRequests, .unauthorized, .timedOut, .withheld:
            outcome = .refused
        }
        reason = "\(error.code)"
    }

    mutating func answered(_ replies: [Reply]) {
        outcome = .known
        for case .refused(let refusal) in replies {
            outcome = .refused
            // Only the kind of the refusal: its content may be a name that the caller sent.
            reason = String("\(refusal)".prefix { $0 != "(" })
            if case .unsupported = refusal { outcome = .unknown }
        }
    }
}
