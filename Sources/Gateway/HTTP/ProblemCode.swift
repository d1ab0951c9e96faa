/// Every error of the native API. The codes are stable and never change their meaning. `docs/errors.md` contains the same table, and a test compares the two.
package enum ProblemCode: String, Sendable, Hashable, CaseIterable {
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
    case pushServiceRefused = "PG-1013"
    case staleGeneration = "PG-1014"
    case quotaUsedUp = "PG-1015"
    case provisioned = "PG-1016"
    case preconditionFailed = "PG-1017"
    case preconditionRequired = "PG-1018"
    case unavailable = "PG-2001"
    case pushServiceFailed = "PG-2002"
    case auditBehind = "PG-2003"

    package struct Entry: Sendable {
        package var status: Int
        package var title: String
        /// The meaning of the error, for the documentation.
        package var meaning: String
        /// The action that the caller should take.
        package var advice: String

        init(_ status: Int, _ title: String, _ meaning: String, _ advice: String) {
            self.status = status
            self.title = title
            self.meaning = meaning
            self.advice = advice
        }
    }

    package var status: Int { entry.status }

    package var entry: Entry {
        switch self {
        case .badRequest:
            Entry(
                400,
                "The request cannot be parsed",
                "the request cannot be parsed",
                "send a JSON object; the detail names the byte position"
            )
        case .invalid:
            Entry(
                422,
                "A field or parameter has an invalid value",
                "a field or parameter has an invalid value",
                "the detail names the field or parameter; unknown ones are refused too"
            )
        case .unauthorized:
            Entry(
                401,
                "No valid API key",
                "no valid API key",
                "`push-gateway key create`; removed and expired keys stop working at once"
            )
        case .forbidden:
            Entry(
                403,
                "The API key lacks a scope",
                "the key lacks a scope",
                "create a key with it: send, devices, read, content, admin"
            )
        case .notFound:
            Entry(
                404,
                "Not found",
                "not found",
                "objects of other tenants count as not found"
            )
        case .methodNotAllowed:
            Entry(
                405,
                "Method not allowed",
                "method not allowed",
                "the `Allow` header lists the methods of the path; `/openapi.json` lists all operations"
            )
        case .tooLarge:
            Entry(
                413,
                "The body is too large",
                "the body is too large",
                "send at most 10 MiB; an import: 256 MiB"
            )
        case .tooSlow:
            Entry(
                408,
                "The body arrived too slowly",
                "the body arrived too slowly",
                "send the whole body within 15 s; an import: 15 min, then resume after `import.line`"
            )
        case .conflict:
            Entry(
                409,
                "The idempotency key was used with another call",
                "the idempotency key was used with another call",
                "use a new key for a new request"
            )
        case .rateLimited:
            Entry(
                429,
                "Too many requests",
                "too many requests",
                "wait `Retry-After` seconds"
            )
        case .noCredential:
            Entry(
                422,
                "The app has no push credential",
                "the app has no push credential",
                "add one, and name it in `platforms` of the app: in the provisioning file or through the API"
            )
        case .gone:
            Entry(
                410,
                "The requested events have expired",
                "the requested events have expired",
                "events were missed; start again at offset 0"
            )
        case .pushServiceRefused:
            Entry(
                422,
                "The push service refused the request",
                "the push service refused the request",
                "the detail has Apple's status and reason"
            )
        case .staleGeneration:
            Entry(
                410,
                "The event log has begun a new generation",
                "the event log has begun a new generation, after a restore or a failover of the database",
                "offsets of the old generation are invalid; the last events may be lost; start again at offset 0"
            )
        case .quotaUsedUp:
            Entry(
                429,
                "A quota is used up",
                "a quota is used up",
                "the detail names its setting; wait `Retry-After` seconds, or have it raised"
            )
        case .provisioned:
            Entry(
                409,
                "The object is from a provisioning file",
                "the object is from a provisioning file, which alone changes it",
                "change the file and apply it, or use another name"
            )
        case .preconditionFailed:
            Entry(
                412,
                "The object has changed since it was read",
                "the object has changed since it was read: `If-Match` does not name its present version",
                "read it again, and repeat the call with the new `ETag`"
            )
        case .preconditionRequired:
            Entry(
                428,
                "The call must name the version that it changes",
                "the call must name the version that it changes",
                "read the object, and send its `ETag` as `If-Match`"
            )
        case .pushServiceFailed:
            Entry(
                502,
                "The push service did not answer",
                "the push service did not answer, or it answered with a server error",
                "the detail says whether the request was sent; look at the state before you repeat it"
            )
        case .auditBehind:
            Entry(
                503,
                "The copy of the audit is behind",
                "administrative calls are refused, because the copy of the audit is behind",
                "check `audit.file` and the collector of `audit.syslog`; sends and calls of devices are not affected"
            )
        case .unavailable:
            Entry(
                503,
                "The gateway cannot process the call now",
                "the gateway cannot process the call now",
                "nothing was changed; try again after `Retry-After` seconds"
            )
        }
    }
}
