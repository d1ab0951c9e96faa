/// Every error of the native API. The codes are stable and never change their meaning; `docs/errors.md` holds the same table, and a test compares them.
enum ProblemCode: String, Sendable, Hashable, CaseIterable {
    case badRequest = "PG-1001"
    case invalid = "PG-1002"
    case unauthorized = "PG-1003"
    case forbidden = "PG-1004"
    case notFound = "PG-1005"
    case methodNotAllowed = "PG-1006"
    case tooLarge = "PG-1007"
    case tooSlow = "PG-1008"
    case conflict = "PG-1009"
    case rateLimited = "PG-1010"
    case noCredential = "PG-1011"
    case gone = "PG-1012"
    case unavailable = "PG-2001"

    struct Entry: Sendable {
        var status: Int
        var title: String
        /// What it means, for the documentation.
        var meaning: String
        /// What the caller should do.
        var advice: String

        init(_ status: Int, _ title: String, _ meaning: String, _ advice: String) {
            self.status = status
            self.title = title
            self.meaning = meaning
            self.advice = advice
        }
    }

    var status: Int { entry.status }

    var entry: Entry {
        switch self {
        case .badRequest:
            Entry(
                400,
                "The request cannot be read",
                "the body is not a JSON object",
                "send a JSON object; the detail gives the byte of a syntax error"
            )
        case .invalid:
            Entry(
                422,
                "A field has a value that cannot be used",
                "a field or parameter is missing, unknown, or has a value that cannot be used",
                "the detail names the field or parameter"
            )
        case .unauthorized:
            Entry(
                401,
                "No valid API key",
                "the request has no valid API key",
                "create one with `push-gateway key create`; removed and expired keys stop working at once"
            )
        case .forbidden:
            Entry(
                403,
                "The API key may not do that",
                "the API key lacks a scope",
                "create a key with the scope: send, devices, read or admin"
            )
        case .notFound:
            Entry(
                404,
                "Not found",
                "the path or the object does not exist, or belongs to another tenant",
                "check the path and the id"
            )
        case .methodNotAllowed:
            Entry(
                405,
                "Method not allowed",
                "the path does not have this method",
                "the `Allow` header lists the methods; `/openapi.json` lists the operations"
            )
        case .tooLarge:
            Entry(
                413,
                "The body is too large",
                "the body is larger than 10 MiB, or 256 MiB for an import",
                "send less; split an import into several calls"
            )
        case .tooSlow:
            Entry(
                408,
                "The body came too slowly",
                "the body took longer than 15 s, or 15 min for an import",
                "send the body faster; resume an import with `after` set to `import.line`"
            )
        case .conflict:
            Entry(
                409,
                "The idempotency key was used with another body",
                "the idempotency key was used with another call",
                "use a new key for a new request"
            )
        case .rateLimited:
            Entry(429, "Too many requests", "too many requests", "wait `Retry-After` seconds")
        case .noCredential:
            Entry(
                422,
                "The app cannot send",
                "the app has no push credential",
                "provision a credential for the app and apply"
            )
        case .gone:
            Entry(
                410,
                "The requested events have expired",
                "events after the given offset have expired",
                "some events were missed; start again at offset 0"
            )
        case .unavailable:
            Entry(
                503,
                "The gateway cannot do this now",
                "the database is not available",
                "nothing was changed; try again after `Retry-After` seconds"
            )
        }
    }
}
