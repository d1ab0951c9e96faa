import Crypto
package import HTTPTypes
import Model

/// Whether a request with effects comes from a page of the console itself.
package enum RequestOrigin {
    private static let site = HTTPField.Name("Sec-Fetch-Site")

    /// Browsers state both headers with each POST. A request with neither is not from a browser, and is refused.
    package static func isOwn(_ headers: HTTPFields, authority: String?) -> Bool {
        let site = site.flatMap { headers[$0] }
        if let site, site != "same-origin" { return false }
        guard let origin = headers[.origin] else { return site == "same-origin" }
        guard let authority, !authority.isEmpty else { return false }
        return origin.lowercased() == "https://\(authority.lowercased())"
            || origin.lowercased() == "http://\(authority.lowercased())"
    }
}

/// The token that the forms of a session carry. It follows from the session's secret, so that no other site knows it and nothing is stored.
///
/// Each page has another spelling of it: random bytes, and the token combined with them. So the length of a compressed page says nothing about it.
package enum FormToken {
    package static let field = "_token"

    private static let bytes = 32

    /// A spelling of the token.
    package static func of(session secret: String) -> String {
        var generator = SystemRandomNumberGenerator()
        let veil = (0..<bytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return HexCoding.encode(veil + zip(veil, code(secret)).map { $0 ^ $1 })
    }

    /// Compares in constant time.
    package static func isRight(_ token: String?, session secret: String) -> Bool {
        guard let given = token.flatMap({ $0.utf8.count <= 4 * bytes ? HexCoding.decode($0) : nil }),
            given.count == 2 * bytes
        else { return false }
        var difference: UInt8 = 0
        for (index, expected) in code(secret).enumerated() {
            difference |= given[index] ^ given[index + bytes] ^ expected
        }
        return difference == 0
    }

    private static func code(_ secret: String) -> [UInt8] {
        let key = SymmetricKey(data: Array(secret.utf8))
        return Array(HMAC<SHA256>.authenticationCode(for: Array("form".utf8), using: key))
    }
}
