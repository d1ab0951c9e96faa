import GatewayHTTP
import HTTPTypes
package import Hummingbird
import Imports
package import Model

/// An error of the native API, as RFC 9457 problem details. docs/errors.md explains the codes, whose meanings never change.
package struct Problem: Error, Hashable {
    var code: ProblemCode
    var detail: String
    var retryAfterSeconds: Int?
    /// The methods of the path, for 405.
    var allowedMethods: [String] = []
    /// Whether the limit that caused it has a log line of its own.
    var isLogged = false

    var status: Int { code.status }

    /// A URI that identifies the kind of problem; it is not served.
    static func type(_ code: ProblemCode) -> String { "https://push-gateway.invalid/errors/\(code.rawValue)" }

    package var response: Response { response(with: nil) }

    /// The response with one more member, for example the changes made before the failure.
    package func response(with more: (String, JSON)?) -> Response {
        var body: JSON = [
            "type": .string(Self.type(code)), "title": .string(code.entry.title),
            "status": .int(status), "code": .string(code.rawValue), "detail": .string(detail),
        ]
        if case .object(var object) = body {
            object["requestId"] = CallID.current.map { .string($0.description) }
            if let retryAfterSeconds { object["retryAfter"] = .int(retryAfterSeconds) }
            if let more { object[more.0] = more.1 }
            body = .object(object)
        }
        var headers = HTTPFields()
        headers[.contentType] = "application/problem+json"
        if let retryAfterSeconds { headers[.retryAfter] = "\(retryAfterSeconds)" }
        if !allowedMethods.isEmpty { headers[.allow] = allowedMethods.joined(separator: ", ") }
        if status == 401 { headers[.wwwAuthenticate] = "Bearer" }
        return .json(body, status: HTTPResponse.Status(code: status), headers: headers)
    }

    static func badRequest(_ detail: String) -> Problem { Problem(.badRequest, detail) }
    /// The detail begins with `field`: a body field, a parameter or a header.
    static func invalid(_ field: String, _ detail: String) -> Problem { Problem(.invalid, "\(field): \(detail)") }
    static let unauthorized = Problem(
        .unauthorized,
        "send Authorization: Bearer with a key of `push-gateway key create`"
    )
    static func forbidden(_ scope: APIScope) -> Problem { .forbidden(KeyScope(scope)) }
    static func forbidden(_ scope: KeyScope) -> Problem {
        Problem(.forbidden, "the key lacks the scope '\(scope)'")
    }
    static let forbiddenNetwork = Problem(.forbidden, "the key may not be used from this address")
    static let ownApproval = Problem(.forbidden, "the key that sent the message may not approve it")
    package static func notFound(_ detail: String) -> Problem { Problem(.notFound, detail) }
    /// `allowed` lists the methods of the path.
    package static func methodNotAllowed(_ method: String, allowed: [String] = []) -> Problem {
        var problem = Problem(.methodNotAllowed, "\(method) is not allowed here")
        problem.allowedMethods = allowed
        return problem
    }
    static func tooLarge(_ limitBytes: Int) -> Problem { Problem(.tooLarge, "the limit is \(limitBytes) bytes") }
    static let tooSlow = Problem(
        .tooSlow,
        "send it within \(BodyReader.timeLimit.components.seconds) seconds"
    )
    static let importTooSlow = Problem(
        .tooSlow,
        "the body ended early, or took more than \(DeviceImports.timeLimit.components.seconds) seconds; "
            + "resume after the last committed line"
    )
    static let auditBehind = Problem(
        .auditBehind,
        "the operator's limit audit.lag.seconds is reached; nothing was changed",
        retryAfterSeconds: 30
    )
    static let conflict = Problem(.conflict, "use a new key for a new request")
    static func provisioned(_ what: String) -> Problem {
        Problem(.provisioned, "\(what) is from a provisioning file; nothing was changed")
    }
    static func rateLimited(_ seconds: Int) -> Problem {
        Problem(.rateLimited, "try again in \(seconds) seconds", retryAfterSeconds: seconds)
    }
    static func usedUp(_ quota: Quota, _ seconds: Int) -> Problem {
        Problem(
            .quotaUsedUp,
            "\(quota.rawValue) is used up; try again in \(seconds) seconds",
            retryAfterSeconds: seconds
        )
    }
    static func limited(_ excess: LimitExcess) -> Problem {
        var problem = rateLimited(excess.waitSeconds)
        problem.isLogged = true
        return problem
    }
    static func gone(_ what: String) -> Problem {
        Problem(.gone, "\(what) have expired; start again at offset 0")
    }
    static let staleGeneration = Problem(
        .staleGeneration,
        "the log has begun a new generation; start again at offset 0"
    )
    static func noCredential(_ app: AppID) -> Problem {
        Problem(.noCredential, "no push credential is provisioned for app '\(app)'")
    }
    package static func unavailable(_ seconds: Int) -> Problem {
        Problem(.unavailable, "nothing was changed; try again", retryAfterSeconds: seconds)
    }

    /// Converts a refusal to a problem.
    init(_ refusal: Refusal, app: AppID) {
        switch refusal {
        case .unknownBinding: self = .notFound("no such app")
        case .unauthorized: self = .unauthorized
        case .unknownDevice: self = .notFound("no such device")
        case .unknownMessage: self = .notFound("no such message")
        case .unknownMedia: self = .notFound("no such media")
        case .unknownSender: self = .invalid("sender", "is not registered")
        case .unknownGroup(let name): self = .notFound("no such group '\(name.rawValue.prefix(64))'")
        case .unknownTemplate: self = .invalid("template", "is not known")
        case .noRecipients: self = .invalid("audience", "does not reach any device")
        case .noCredential: self = .noCredential(app)
        case .invalid(let field): self = .invalid(field, "cannot be used")
        case .tooMany(let what, let limit): self = .invalid(what, "at most \(limit)")
        case .rateLimited(let after, nil): self = .rateLimited(Int(after?.components.seconds ?? 1))
        case .rateLimited(let after, let quota?): self = .usedUp(quota, Int(after?.components.seconds ?? 1))
        case .idempotencyMismatch: self = .conflict
        case .outdated: self = .unavailable(1)
        case .unsupported(let what): self = .invalid(what, "is not available on this gateway")
        case .unavailable(let after): self = .unavailable(Int(after?.components.seconds ?? 5))
        }
    }

    init(_ code: ProblemCode, _ detail: String, retryAfterSeconds: Int? = nil) {
        self.code = code
        self.detail = detail
        self.retryAfterSeconds = retryAfterSeconds
    }
}
