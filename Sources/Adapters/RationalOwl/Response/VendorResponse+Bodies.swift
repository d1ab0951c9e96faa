import HTTPTypes
import Model

extension VendorResponse {
    /// JSON in the format of the vendor's servers.
    static func json(_ value: JSON, status: Int = 200, headers: HTTPFields = HTTPFields()) -> VendorResponse {
        var headers = headers
        headers[.contentType] = "application/json; charset=utf-8"
        return VendorResponse(status: status, headers: headers, body: JSONWriter.bytes(value))
    }

    /// Plain text, which only `notiRead` answers.
    static func text(_ text: String, status: Int = 200, headers: HTTPFields = HTTPFields()) -> VendorResponse {
        var headers = headers
        headers[.contentType] = "text/plain; charset=utf-8"
        return VendorResponse(status: status, headers: headers, body: Array(text.utf8))
    }

    /// The short error of a surface, for unknown paths and bodies that were not read: these have no format of their own.
    static func failure(_ error: RationalOwlError, on surface: Surface) -> VendorResponse {
        let body: JSON =
            surface.isCore
            ? .pairs(["error": .string(error.detail)])
            : .pairs(["rc": .int(error.code.rawValue), "cmt": .string(error.comment)])
        return .json(body, status: error.status, headers: error.headers)
    }
}

extension RationalOwlError {
    /// The headers that the error requires.
    var headers: HTTPFields {
        var headers = HTTPFields()
        if status == 405 { headers[.allow] = "POST" }
        if let retryAfter { headers[.retryAfter] = String(max(1, retryAfter.components.seconds)) }
        return headers
    }
}
