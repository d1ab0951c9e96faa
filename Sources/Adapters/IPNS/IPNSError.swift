package import Model

/// A refusal of this vendor: a result code and its text, under HTTP 200; 400 is only for a body that cannot be parsed (docs/contracts/ipns.md#2.4).
package struct IPNSError: Error, Sendable, Hashable {
    package var code: ResultCode
    package var text: String
    package var status: Int

    init(_ code: ResultCode, _ text: String, status: Int = 200) {
        self.code = code
        self.text = text
        self.status = status
    }

    /// Why a request never became a command.
    package init(_ error: AdapterError) {
        let field = error.field ?? ""
        switch error.code {
        case .unreadable: self.init(.failure, "UNREADABLE REQUEST", status: 400)
        case .timedOut, .withheld: self.init(.failure, "REQUEST TIMED OUT", status: 400)
        case .tooLarge where error.field == nil: self.init(.failure, "REQUEST TOO LARGE", status: 400)
        case .tooLarge: self.init(.tooLarge, "PUSH MESSAGE TOO LARGE: \(field)")
        case .missing: self.init(.missing, "REQUIRED PARAMETER MISSING: \(field)")
        case .invalid where field == Fields.Key.pushToken.rawValue: self.init(.invalidToken, "INVALID DEVICE TOKEN")
        case .invalid: self.init(.invalid, "INVALID PARAMETER: \(field)")
        case .methodNotAllowed, .notFound: self.init(.failure, "UNKNOWN OPERATION")
        case .tooManyRequests: self.init(.failure, "TOO MANY REQUESTS")
        case .unauthorized: self.init(.failure, "UNAUTHORIZED")
        }
    }

    /// Why a command was not carried out.
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
        // The library reports a failure and asks again at its next start (docs/contracts/ipns.md#2.4).
        case .unavailable: self.init(.failure, "TEMPORARILY UNAVAILABLE")
        }
    }

    /// The vendor's name of a command's field.
    private static func wireName(_ name: String) -> String {
        switch name {
        case "key": Fields.Key.deviceID.rawValue
        case "user": Fields.Key.userCN.rawValue
        case "alias": Fields.Key.cpUserID.rawValue
        case "audience": Fields.Key.pushID.rawValue
        case "dueAt": Fields.Key.reserved.rawValue
        case "before": Fields.Key.reqID.rawValue
        case "idempotencyKey": "Idempotency-Key"
        default: name  // a name of a field that has no other spelling here
        }
    }
}

/// The values of `RT` and `rtCode` (docs/contracts/ipns.md#2.4). Only `0000` is documented by the vendor.
package enum ResultCode: String, Sendable, CaseIterable {
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
