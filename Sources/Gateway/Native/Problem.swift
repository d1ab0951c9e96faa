import HTTPTypes
import Hummingbird
import Model

/// An error of the native API, as RFC 9457 problem details. The numbers are explained in docs/errors.md and never change their meaning.
struct Problem: Error, Hashable {
    var status: Int
    /// Stable: `PG-1001`.
    var code: String
    var title: String
    var detail: String
    var retryAfterSeconds: Int?

    var response: Response { response(with: nil) }

    /// The response with one more member, such as what was done before it failed.
    func response(with more: (String, JSON)?) -> Response {
        var body: JSON = [
            "type": .string("https://push-gateway.invalid/errors/\(code)"), "title": .string(title),
            "status": .int(status), "code": .string(code), "detail": .string(detail),
        ]
        if case .object(var object) = body {
            if let retryAfterSeconds { object["retryAfter"] = .int(retryAfterSeconds) }
            if let more { object[more.0] = more.1 }
            body = .object(object)
        }
        var headers = HTTPFields()
        headers[.contentType] = "application/problem+json"
        if let retryAfterSeconds { headers[.retryAfter] = "\(retryAfterSeconds)" }
        if status == 401 { headers[.wwwAuthenticate] = "Bearer" }
        return .json(body, status: HTTPResponse.Status(code: status), headers: headers)
    }

    static func badRequest(_ detail: String) -> Problem {
        Problem(status: 400, code: "PG-1001", title: "The request cannot be read", detail: detail)
    }
    static func invalid(_ field: String, _ detail: String) -> Problem {
        Problem(
            status: 422,
            code: "PG-1002",
            title: "A field has a value that cannot be used",
            detail: "\(field): \(detail)"
        )
    }
    static let unauthorized = Problem(
        status: 401,
        code: "PG-1003",
        title: "No valid API key",
        detail: "send Authorization: Bearer with a key of `push-gateway key create`"
    )
    static func forbidden(_ scope: String) -> Problem {
        Problem(
            status: 403,
            code: "PG-1004",
            title: "The API key may not do that",
            detail: "it lacks the scope '\(scope)'"
        )
    }
    static func notFound(_ detail: String) -> Problem {
        Problem(status: 404, code: "PG-1005", title: "Not found", detail: detail)
    }
    static func methodNotAllowed(_ method: String) -> Problem {
        Problem(status: 405, code: "PG-1006", title: "Method not allowed", detail: "\(method) is not possible here")
    }
    static func tooLarge(_ limitBytes: Int) -> Problem {
        Problem(
            status: 413,
            code: "PG-1007",
            title: "The body is too large",
            detail: "the limit is \(limitBytes) bytes"
        )
    }
    static let tooSlow = Problem(
        status: 408,
        code: "PG-1008",
        title: "The body came too slowly",
        detail: "send it within \(BodyReader.timeLimit.components.seconds) seconds"
    )
    static let importTooSlow = Problem(
        status: 408,
        code: "PG-1008",
        title: "The body came too slowly",
        detail: "it broke off, or took more than \(DeviceImports.timeLimit.components.seconds) seconds; "
            + "go on behind the line that is committed"
    )
    static let conflict = Problem(
        status: 409,
        code: "PG-1009",
        title: "The idempotency key was used with another body",
        detail: "use a new key for a new request"
    )
    static func rateLimited(_ seconds: Int) -> Problem {
        Problem(
            status: 429,
            code: "PG-1010",
            title: "Too many requests",
            detail: "slow down",
            retryAfterSeconds: seconds
        )
    }
    static func gone(_ what: String) -> Problem {
        Problem(
            status: 410,
            code: "PG-1012",
            title: "What was asked for is kept no more",
            detail: "\(what) are gone; start again at 0 and take what there is"
        )
    }
    static func noCredential(_ app: AppID) -> Problem {
        Problem(
            status: 422,
            code: "PG-1011",
            title: "The app cannot send",
            detail: "no push credential is provisioned for app '\(app)'"
        )
    }
    static func unavailable(_ seconds: Int) -> Problem {
        Problem(
            status: 503,
            code: "PG-2001",
            title: "The gateway cannot do this now",
            detail: "nothing was changed; try again",
            retryAfterSeconds: seconds
        )
    }

    /// The problem that a refusal is.
    init(_ refusal: Refusal, app: AppID) {
        switch refusal {
        case .unknownBinding: self = .notFound("no such app")
        case .unauthorized: self = .unauthorized
        case .unknownDevice: self = .notFound("no such device")
        case .unknownMessage: self = .notFound("no such message")
        case .unknownMedia: self = .notFound("no such media")
        case .unknownSender: self = .invalid("sender", "is not enrolled")
        case .unknownGroup(let name): self = .notFound("no such group '\(name.rawValue.prefix(64))'")
        case .unknownTemplate: self = .invalid("template", "is not known")
        case .noRecipients: self = .invalid("audience", "reaches nobody")
        case .noCredential: self = .noCredential(app)
        case .invalid(let field): self = .invalid(field, "cannot be used")
        case .tooMany(let what, let limit): self = .invalid(what, "at most \(limit)")
        case .rateLimited(let after): self = .rateLimited(Int(after?.components.seconds ?? 1))
        case .idempotencyMismatch: self = .conflict
        case .outdated: self = .unavailable(1)
        case .unsupported(let what): self = .invalid(what, "is not available on this gateway")
        case .unavailable(let after): self = .unavailable(Int(after?.components.seconds ?? 5))
        }
    }

    init(status: Int, code: String, title: String, detail: String, retryAfterSeconds: Int? = nil) {
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
        self.retryAfterSeconds = retryAfterSeconds
    }
}
