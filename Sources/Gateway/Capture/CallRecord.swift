import EngineStore
import Model

/// The outcome of a vendor's call, as the endpoint records it while the call is processed.
struct CallRecord: Sendable {
    /// The tenant and app of the call. Nil: no binding was found for it.
    var owner: Owner?
    var outcome = CapturedExchange.Outcome.unknown
    /// A word from the gateway's own list, never text from the caller.
    var reason: String?
    /// Whether the log contains the reason already.
    var isLogged = false
    /// False: the call is never captured, for example a call above the rate limit of its address.
    var isKept = true

    /// Whether the log has no line about the refusal of this call, or of a command of it. Calls above a limit have lines of their own (`CallLimiter`).
    func isUnloggedError(_ status: Int) -> Bool { isKept && !isLogged && (status >= 400 || outcome != .known) }

    struct Owner: Sendable, Hashable {
        var tenant: TenantID
        var app: AppID
    }

    /// `isLogged`: the log contains the error already.
    mutating func refused(_ error: AdapterError, isLogged: Bool = false) {
        if isLogged { self.isLogged = true }
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
