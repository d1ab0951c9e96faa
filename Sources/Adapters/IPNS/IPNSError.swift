package import Model

/// An error answer of this vendor: a result code and its text, under HTTP 200; 400 is only for a body that cannot be parsed
/// (docs/contracts/ipns.md#2.4).
package struct IPNSError: Error, Sendable, Hashable {
    package var code: IPNSCode
    package var text: String
    package var status: Int

    init(_ code: IPNSCode, _ text: String, status: Int = 200) {
        self.code = code
        self.text = text
        self.status = status
    }

    /// The answer to a request that never became a command.
    package init(_ error: AdapterError) {
        let field = error.field ?? ""
        switch error.code {
        case .unreadable: self.init(.failure, "UNREADABLE REQUEST", status: 400)
        case .timedOut, .withheld: self.init(.failure, "REQUEST TIMED OUT", status: 400)
        case .tooLarge where error.field == nil: self.init(.failure, "REQUEST TOO LARGE", status: 400)
        case .tooLarge: self.init(.tooLarge, "PUSH MESSAGE TOO LARGE: \(field)")
        case .missing: self.init(.missing, "REQUIRED PARAMETER MISSING: \(field)")
        case .invalid where field == IPNSFields.Key.pushToken.rawValue: self.init(.invalidToken, "INVALID DEVICE TOKEN")
        case .invalid: self.init(.invalid, "INVALID PARAMETER: \(field)")
        case .methodNotAllowed, .notFound: self.init(.failure, "UNKNOWN OPERATION")
        case .tooManyRequests: self.init(.failure, "TOO MANY REQUESTS")
        case .unauthorized: self.init(.failure, "UNAUTHORIZED")
        }
    }

    /// The answer to a command that was refused.
    package init(_ refusal: Refusal) {
        switch refusal {
        case .unknownBinding: self.init(.unknownApp, "APP_ID DOES NOT EXIST")
        case .unauthorized: self.init(.failure, "UNAUTHORIZED")
        case .unknownDevice, .unknownSender, .unknownGroup, .noRecipients:
            self.init(.notRegistered, "DEVICE OR USER NOT REGISTERED")
        case .unknownMessage, .unknownMedia: self.init(.unknownMessage, "MESSAGE NOT FOUND")
        case .unknownTemplate, .unsupported, .outdated: self.init(.failure, "NOT SUPPORTED")
        case .noCredential: self.init(.failure, "NO PUSH CREDENTIAL")
        case .invalid("content"): self.init(.tooLarge, "PUSH MESSAGE TOO LARGE")
        case .invalid("token"): self.init(.invalidToken, "INVALID DEVICE TOKEN")
        case .invalid(let name), .tooMany(let name, limit: _):
            self.init(.invalid, "INVALID PARAMETER: \(Self.wireName(name))")
        case .rateLimited: self.init(.failure, "TOO MANY REQUESTS")
        case .idempotencyMismatch: self.init(.invalid, "INVALID PARAMETER: Idempotency-Key")
        // The library reports a failure and repeats the call at its next start (docs/contracts/ipns.md#2.4).
        case .unavailable: self.init(.failure, "TEMPORARILY UNAVAILABLE")
        }
    }

    /// The vendor's name of a command's field.
    private static func wireName(_ name: String) -> String {
        switch name {
        case "key": IPNSFields.Key.deviceID.rawValue
        case "user": IPNSFields.Key.userCN.rawValue
        case "alias": IPNSFields.Key.cpUserID.rawValue
        case "audience": IPNSFields.Key.pushID.rawValue
        case "dueAt": IPNSFields.Key.reserved.rawValue
        case "before": IPNSFields.Key.reqID.rawValue
        case "idempotencyKey": "Idempotency-Key"
        default: name  // a field whose name is the same in both
        }
    }
}

/// The values of `RT` and `rtCode` (docs/contracts/ipns.md#2.4). The vendor documents only `0000`.
package enum IPNSCode: String, Sendable, CaseIterable {
    case success = "0000"
    case failure = "9999"
    case unknownApp = "1400"
    case tooLarge = "1036"
    case invalidToken = "1305"
    case missing = "2001"
    case invalid = "2002"
    case notRegistered = "2003"
    case unknownMessage = "2004"
}
