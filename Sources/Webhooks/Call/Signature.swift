import Crypto
import Model

/// The proof that a call comes from this gateway.
package enum Signature {
    /// The header that carries it.
    package static let header = "X-Gateway-Signature"

    /// `sha256=` and the HMAC-SHA256 of `body` in lower-case hex.
    ///
    /// - Parameters:
    ///   - body: the bytes as they are sent.
    ///   - secret: the subscription's secret; the key is the bytes that its hex spells, or its own bytes when it is no hex.
    /// - Returns: the header's value.
    package static func of(_ body: [UInt8], secret: String) -> String {
        let key = SymmetricKey(data: HexCoding.decode(secret) ?? Array(secret.utf8))
        return "sha256=" + HexCoding.encode(HMAC<SHA256>.authenticationCode(for: body, using: key))
    }
}
