import HTTPTypes
import Model

extension VendorResponse {
    /// JSON as the vendor's servers send it.
    static func json(_ value: JSON, status: Int = 200, headers: HTTPFields = HTTPFields()) -> VendorResponse {
        var headers = headers
        headers[.contentType] = "application/json; charset=utf-8"
        return VendorResponse(status: status, headers: headers, body: JSONWriter.bytes(value))
    }

    /// Plain text: `notiRead` alone answers so.
    static func text(_ text: String, status: Int = 200, headers: HTTPFields = HTTPFields()) -> VendorResponse {
        var headers = headers
        headers[.contentType] = "text/plain; charset=utf-8"
        return VendorResponse(status: status, headers: headers, body: Array(text.utf8))
    }

    /// The short error of a surface, where no call's own shape is owed: unknown paths, and bodies that were not read.
    static func failure(_ error: RationalOwlError, on surface: Surface) -> VendorResponse {
        let body: JSON =
            surface.isCore
            ? .pairs(["error": .string(error.detail)])
            : .pairs(["rc": .int(error.code.rawValue), "cmt": .string(error.comment)])
        return .json(body, status: error.status, headers: error.headers)
    }
}

extension RationalOwlError {
    /// What the status asks for beside the body.
    var headers: HTTPFields {
        var headers = HTTPFields()
        if status == 405 { headers[.allow] = "POST" }
        if let retryAfter { headers[.retryAfter] = String(max(1, retryAfter.components.seconds)) }
        return headers
    }
}
