import HTTPTypes
package import Hummingbird
package import Model

/// An error of the native API, as RFC 9457 problem details. docs/errors.md explains the codes, whose meanings never change.
package struct Problem: Error, Hashable {
    package var code: ProblemCode
    package var detail: String
    package var retryAfterSeconds: Int?
    /// The methods of the path, for 405.
    package var allowedMethods: [String] = []
    /// Whether the limit that caused it has a log line of its own.
    package var isLogged = false

    package var status: Int { code.status }

    /// A URI that identifies the kind of problem; it is not served.
    package static func type(_ code: ProblemCode) -> String { "https://push-gateway.invalid/errors/\(code.rawValue)" }

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

    package static func badRequest(_ detail: String) -> Problem { Problem(.badRequest, detail) }
    /// The detail begins with `field`: a body field, a parameter or a header.
    package static func invalid(_ field: String, _ detail: String) -> Problem {
        Problem(.invalid, "\(field): \(detail)")
    }
    /// `known`: the parameters that the operation has.
    package static func unknownParameter(_ name: String, known: [String]) -> Problem {
        let rest = known.isEmpty ? "" : "; known are \(known.joined(separator: ", "))"
        return .invalid(name, "is not a known parameter\(rest)")
    }
    package static let unauthorized = Problem(
        .unauthorized,
        "send Authorization: Bearer with a key of `push-gateway key create`"
    )
    package static let forbiddenNetwork = Problem(.forbidden, "the key may not be used from this address")
    package static let ownApproval = Problem(
        .forbidden,
        "the sender of the message may not approve it, nor a key that has its secret from the same key or account"
    )
    package static let unknownSender = Problem(
        .forbidden,
        "the sender of the message is not known: approve it in the console, or with push-gateway message approve"
    )
    package static func notFound(_ detail: String) -> Problem { Problem(.notFound, detail) }
    /// `allowed` lists the methods of the path.
    package static func methodNotAllowed(_ method: String, allowed: [String] = []) -> Problem {
        var problem = Problem(.methodNotAllowed, "\(method) is not allowed here")
        problem.allowedMethods = allowed
        return problem
    }
    package static func tooLarge(_ limitBytes: Int) -> Problem {
        Problem(.tooLarge, "the limit is \(limitBytes) bytes")
    }
    package static let tooSlow = Problem(
        .tooSlow,
        "send it within \(BodyReader.timeLimit.components.seconds) seconds"
    )
    package static let auditBehind = Problem(
        .auditBehind,
        "the operator's limit audit.lag.seconds is reached; nothing was changed",
        retryAfterSeconds: 30
    )
    package static let conflict = Problem(.conflict, "use a new key for a new request")
    package static func provisioned(_ what: String) -> Problem {
        Problem(.provisioned, "\(what) is from a provisioning file; nothing was changed")
    }
    package static func preconditionFailed(_ detail: String) -> Problem {
        Problem(.preconditionFailed, "\(detail); nothing was changed")
    }
    package static func preconditionRequired(_ detail: String) -> Problem { Problem(.preconditionRequired, detail) }
    package static func rateLimited(_ seconds: Int) -> Problem {
        Problem(.rateLimited, "try again in \(seconds) seconds", retryAfterSeconds: seconds)
    }
    package static func usedUp(_ quota: Quota, _ seconds: Int) -> Problem {
        Problem(
            .quotaUsedUp,
            "\(quota.rawValue) is used up; try again in \(seconds) seconds",
            retryAfterSeconds: seconds
        )
    }
    package static func limited(_ excess: LimitExcess) -> Problem {
        var problem = rateLimited(excess.waitSeconds)
        problem.isLogged = true
        return problem
    }
    package static func gone(_ what: String) -> Problem {
        Problem(.gone, "\(what) have expired; start again at offset 0")
    }
    package static let staleGeneration = Problem(
        .staleGeneration,
        "the log has begun a new generation; start again at offset 0"
    )
    package static func noCredential(_ app: AppID) -> Problem {
        Problem(.noCredential, "no push credential is provisioned for app '\(app)'")
    }
    package static func unavailable(_ seconds: Int) -> Problem {
        Problem(.unavailable, "nothing was changed; try again", retryAfterSeconds: seconds)
    }

    /// Converts a refusal to a problem.
    package init(_ refusal: Refusal, app: AppID) {
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

    package init(_ code: ProblemCode, _ detail: String, retryAfterSeconds: Int? = nil) {
        self.code = code
        self.detail = detail
        self.retryAfterSeconds = retryAfterSeconds
    }
}
