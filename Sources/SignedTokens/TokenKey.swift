package import Crypto
package import CryptoExtras
import FoundationEssentials
package import Model

/// A public key that verifies tokens: RSA of 2,048 bits or more, or P-256.
package enum TokenKey: Sendable {
    case rsa(_RSA.Signing.PublicKey)
    case p256(P256.Signing.PublicKey)

    /// Nil for a text that is not the PEM of such a key.
    package init?(pem: String) {
        if let key = try? _RSA.Signing.PublicKey(pemRepresentation: pem) {
            self = .rsa(key)
        } else if let key = try? P256.Signing.PublicKey(pemRepresentation: pem) {
            self = .p256(key)
        } else {
            return nil
        }
    }

    /// A key of a key set (RFC 7517). Nil for a key of another kind, or one that is meant for encryption.
    package init?(jwk: JSONObject) {
        func number(_ name: String) -> Data? { jwk[name]?.string.flatMap { SignedToken.bytes($0) } }
        if let use = jwk["use"]?.string, use != "sig" { return nil }
        switch jwk["kty"]?.string {
        case "RSA":
            guard let modulus = number("n"), let exponent = number("e"), modulus.count >= 256,
                let key = try? _RSA.Signing.PublicKey(n: modulus, e: exponent)
            else { return nil }
            self = .rsa(key)
        case "EC":
            guard jwk["crv"] == "P-256", let x = number("x"), let y = number("y"),
                let key = try? P256.Signing.PublicKey(x963Representation: Data([0x04]) + x + y)
            else { return nil }
            self = .p256(key)
        default: return nil
        }
    }

    package var pem: String {
        switch self {
        case .rsa(let key): key.pemRepresentation
        case .p256(let key): key.pemRepresentation
        }
    }

    func didSign(_ text: Data, _ signature: Data, _ algorithm: SignedToken.Algorithm) -> Bool {
        let digest = SHA256.hash(data: text)
        switch (self, algorithm) {
        case (.rsa(let key), .rs256):
            // RS256 is this padding (RFC 7518 §3.3), and it is only verified here.
            return key.isValidSignature(
                .init(rawRepresentation: signature),
                for: digest,
                padding: .insecurePKCS1v1_5
            )
        case (.p256(let key), .es256):
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: digest)
        case (.rsa, .es256), (.p256, .rs256): return false
        }
    }
}
