import Model

/// An error answer of this vendor: a code and the text of `RESULT_BODY`, under HTTP 200 (docs/contracts/upmc.md#1.3).
package struct UPMCError: Error, Sendable, Hashable {
    package var code: UPMCCode
    package var text: String

    init(_ code: UPMCCode, _ text: String) {
        self.code = code
        self.text = text
    }

    /// The answer to a request that never became a command.
    init(_ error: AdapterError) {
        switch error.code {
        case .unreadable: self.init(.badRequest, "request cannot be read")
        case .missing: self.init(.badRequest, "\(error.field ?? "parameter") is required")
        case .invalid where error.field == Self.passedField: self.init(.reservationPassed, "RESERVEDATE is over")
        case .invalid: self.init(.badRequest, "\(error.field ?? "parameter") is invalid")
        case .tooLarge: self.init(.badRequest, "\(error.field ?? "request") is too large")
        case .methodNotAllowed: self.init(.badRequest, "method is not allowed")
        case .notFound where error.field != nil: self.init(.noBroker, "no UPNS server")
        case .notFound: self.init(.badRequest, "no such service")
        case .tooManyRequests: self.init(.denied, "too many requests")
        case .unauthorized: self.init(.unauthorized, "client authentication failed")
        case .timedOut, .withheld: self.init(.badRequest, "request timed out")
        }
    }

    /// The answer to a command that was refused.
    init(_ refusal: Refusal, at endpoint: UPMCCall, isReserved: Bool) {
        switch refusal {
        case .unknownBinding: self.init(.badRequest, "APP_ID is not registered")
        case .unauthorized: self.init(.unauthorized, "client authentication failed")
        case .unknownDevice: self.init(.notSubscribed, "service is not registered")
        case .noRecipients:
            self.init(isReserved ? .reservedNotSubscribed : .notSubscribed, "No subscribed target")
        case .unknownMessage: self.init(.badRequest, "SEQNO is not known")
        case .unknownGroup: self.init(.badRequest, "GROUPSEQ is not known")
        case .unknownMedia, .unknownSender, .unknownTemplate, .unsupported: self.init(.badRequest, "not supported")
        case .noCredential: self.init(.serverError, "no push credential")
        case .invalid(let name): self.init(.badRequest, "\(Self.wireName(name)) is invalid")
        case .tooMany(let name, let limit): self.init(.badRequest, "\(Self.wireName(name)) is over \(limit)")
        case .rateLimited: self.init(.denied, "too many requests")
        case .idempotencyMismatch: self.init(.badRequest, "request was repeated with another body")
        case .unavailable, .outdated: self.init(.serverError, "server error")
        }
    }

    /// The field of an `AdapterError(.invalid)` for a reservation whose time has passed.
    static let passedField = "RESERVEDATE is over"

    /// The vendor's name of a command's field.
    private static func wireName(_ name: String) -> String {
        switch name {
        case "dueAt": "RESERVEDATE"
        case "before": "LASTSEQNO"
        case "audience", "user", "variables": "CUID"
        case "body", "content": "MESSAGE"
        case "page": "EXT"
        case "tokens": "REQ_PSIDS"
        case "pace": "SPLIT_MSG_CNT"
        case "badge": "BADGENO"
        case "key": "DEVICE_ID"
        case "token": "PSID"
        case "name": "CNAME"
        case "phone": "PHONENUM"
        case "title": "GROUPNAME"
        case "attributes": "DEVICE_MD"
        default: name  // a field whose name is the same in both
        }
    }
}
