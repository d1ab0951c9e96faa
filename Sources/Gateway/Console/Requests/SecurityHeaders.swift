package import HTTPTypes

/// The headers of every answer of the console.
package enum SecurityHeaders {
    /// No inline script and style, no other origin, no frames; scripts write markup through one policy only.
    package static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
        + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
        + "trusted-types console"

    /// The headers of a page: it is stored nowhere.
    package static let page: HTTPFields = {
        var headers = common
        headers[.cacheControl] = "no-store"
        headers[.contentType] = "text/html; charset=utf-8"
        return headers
    }()

    /// The headers of an asset whose address contains the digest of its content.
    static func asset(_ type: String) -> HTTPFields {
        var headers = common
        headers[.cacheControl] = "public, max-age=31536000, immutable"
        headers[.contentType] = type
        return headers
    }

    static let common: HTTPFields = {
        var headers = HTTPFields()
        headers[.contentSecurityPolicy] = policy
        headers[.xContentTypeOptions] = "nosniff"
        for (name, value) in [
            ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Referrer-Policy", "same-origin"), ("X-Frame-Options", "DENY"),
            ("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
            ("X-Robots-Tag", "noindex, nofollow"),
        ] {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        return headers
    }()
}
