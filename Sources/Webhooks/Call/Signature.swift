import Crypto
package import Model

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

    /// The signature of a webhook call: `t=<seconds since 1970>,kid=<key id>,v1=<hex>`. The hex is the HMAC-SHA256 of the time's digits, a full stop
    /// and the body.
    ///
    /// The time is signed too, so that receivers that check it can refuse a recorded call (docs/webhooks.md).
    ///
    /// - Parameters:
    ///   - body: the bytes that are sent.
    ///   - time: the time of the call.
    ///   - secret: the webhook's secret, byte by byte as the tenant received it.
    ///   - keyID: identifies the secret.
    /// - Returns: the header's value.
    package static func of(_ body: [UInt8], at time: Timestamp, secret: [UInt8], keyID: String) -> String {
        var code = HMAC<SHA256>(key: SymmetricKey(data: secret))
        code.update(data: Array("\(time.seconds).".utf8))
        code.update(data: body)
        return "t=\(time.seconds),kid=\(keyID),v1=" + HexCoding.encode(code.finalize())
    }
}
