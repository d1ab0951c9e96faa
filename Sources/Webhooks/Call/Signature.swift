import Crypto
import Model

/// The signature that proves that a call comes from this gateway.
package enum Signature {
    /// The header that contains the signature.
    package static let header = "X-Gateway-Signature"

    /// `sha256=` and the HMAC-SHA256 of `body` in lower-case hex.
    ///
    /// - Parameters:
    ///   - body: the bytes that are sent.
    ///   - secret: the sender's secret.
    /// - Returns: the header's value.
    package static func of(_ body: [UInt8], secret: [UInt8]) -> String {
        "sha256=" + HexCoding.encode(HMAC<SHA256>.authenticationCode(for: body, using: SymmetricKey(data: secret)))
    }

    /// A secret of a webhook with its id.
    struct Key: Sendable {
        var id: String
        /// The bytes as the tenant received them.
        var secret: [UInt8]
    }

    /// The signature of a webhook call: `t=<seconds since 1970>`, and `,kid=<key id>,v1=<hex>` for each key, the newest first. The hex is the HMAC-SHA256 of the time's digits, a full stop
    /// and the body.
    ///
    /// The time is signed too, so that receivers that check it can refuse a recorded call (docs/webhooks.md).
    ///
    /// - Parameters:
    ///   - body: the bytes that are sent.
    ///   - time: the time of the call.
    ///   - keys: the webhook's secrets.
    /// - Returns: the header's value.
    static func of(_ body: [UInt8], at time: Timestamp, keys: [Key]) -> String {
        let start = Array("\(time.seconds).".utf8)
        return "t=\(time.seconds)"
            + keys.map { key in
                var code = HMAC<SHA256>(key: SymmetricKey(data: key.secret))
                code.update(data: start)
                code.update(data: body)
                return ",kid=\(key.id),v1=" + HexCoding.encode(code.finalize())
            }.joined()
    }
}
