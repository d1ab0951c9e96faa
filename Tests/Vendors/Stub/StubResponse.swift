import HTTPTypes
import Model

/// Encodes replies as the answer: `{"ok": true, …}`, or `{"ok": false, "error": code}`.
enum StubResponse {
    /// Handles every reply: one that belongs to no call of the vendor is reported as a failure of the gateway.
    static func answer(_ replies: [Reply]) -> VendorResponse {
        switch replies.first {
        case .registration(.registered(let device))?: success([("device", .string(device.key.rawValue))])
        case .submission(.accepted(let message, _))?: success([("message", .string(message.description))])
        case .receipt?: success([])
        case .refused(let refusal)?: failure(StubError(refusal))
        case .registration?, .submission?, .preference?, .sender?, .group?, .campaign?, .inbox?, .media?, .badge?,
            .user?,
            nil:
            failure(.unavailable)
        }
    }

    static func failure(_ error: StubError) -> VendorResponse {
        json(JSONObject([("ok", false), ("error", .string(error.rawValue))]), status: error.status)
    }

    private static func success(_ fields: [(String, JSON)]) -> VendorResponse {
        json(JSONObject([("ok", true)] + fields), status: 200)
    }

    private static func json(_ body: JSONObject, status: Int) -> VendorResponse {
        var headers = HTTPFields()
        headers[.contentType] = "application/json"
        return VendorResponse(status: status, headers: headers, body: JSONWriter.bytes(.object(body)))
    }
}
