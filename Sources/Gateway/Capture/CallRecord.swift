import EngineStore
import Model

/// How a vendor's call fared, as the endpoint saw it on its way.
struct CallRecord: Sendable {
    /// Whose call it was; nil: no binding was found for it.
    var owner: Owner?
    var outcome = CapturedExchange.Outcome.unknown
    /// A word of ours, never of the caller's.
    var reason: String?
    /// False: nobody keeps it, such as a call beyond its address's rate.
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
            // Its kind only: what is in it may be a name that the caller sent.
            reason = String("\(refusal)".prefix { $0 != "(" })
            if case .unsupported = refusal { outcome = .unknown }
        }
    }
}
