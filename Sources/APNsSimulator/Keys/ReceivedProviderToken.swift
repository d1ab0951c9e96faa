import Crypto
import Foundation

/// A parsed provider token (JWT): its claims, and the data that is needed to verify them.
///
/// It tolerates what the real service tolerates (docs/contracts/apns.md#3): raw or DER signatures, base64url or padded base64, `iat` as number or string, any
/// extra header or claim. It does not tolerate other algorithms: Apple documents ES256 only.
package struct ReceivedProviderToken: Sendable, Equatable {
    /// `kid`: the key that signed the token, according to the token.
    package let keyID: String

    /// `iss`: the team of the sender, according to the token.
    package let teamID: String

    /// `iat`, in seconds since 1970.
    package let issuedAt: Int

    private let signedPart: [UInt8]
    private let signature: [UInt8]

    /// The longest token that is parsed. Real ones have about 200 characters; header lists end at 8000 bytes anyway.
    private static let longestTokenLength = 4096

    /// Reads a token; nil for anything that is not a JWT with ES256, `kid`, `iss` and `iat`.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count <= Self.longestTokenLength else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3,
            let header = decodeBase64(parts[0]), let claims = decodeBase64(parts[1]),
            let signature = decodeBase64(parts[2]), !signature.isEmpty,
            let head = try? JSONDecoder().decode(Head.self, from: Data(header)), head.alg == "ES256",
            let body = try? JSONDecoder().decode(Body.self, from: Data(claims))
        else { return nil }
        keyID = head.kid
        teamID = body.iss
        issuedAt = body.iat
        signedPart = Array("\(parts[0]).\(parts[1])".utf8)
        self.signature = signature
    }

    /// Whether `key` created this token's signature, as raw R‖S or as DER.
    package func isSigned(by key: ProviderKey) -> Bool {
        let digest = SHA256.hash(data: signedPart)
        if signature.count == 64, let raw = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            key.publicKey.isValidSignature(raw, for: digest)
        {
            return true
        }
        guard let der = try? P256.Signing.ECDSASignature(derRepresentation: signature) else { return false }
        return key.publicKey.isValidSignature(der, for: digest)
    }

    private struct Head: Decodable {
        var alg: String
        var kid: String
    }

    private struct Body: Decodable {
        var iss: String
        var iat: Int

        private enum CodingKeys: String, CodingKey { case iss, iat }

        init(from decoder: any Decoder) throws {
            let claims = try decoder.container(keyedBy: CodingKeys.self)
            iss = try claims.decode(String.self, forKey: .iss)
            if let number = try? claims.decode(Double.self, forKey: .iat), number.magnitude < 1e15 {
                iat = Int(number)
            } else if let number = Int(try claims.decode(String.self, forKey: .iat)) {
                iat = number
            } else {
                throw DecodingError.dataCorruptedError(forKey: .iat, in: claims, debugDescription: "not a time")
            }
        }
    }
}

/// Decodes base64 or base64url text, padded or not; nil if it is neither.
func decodeBase64(_ text: some StringProtocol) -> [UInt8]? {
    var standard = ""
    for character in text.utf8 {
        switch character {
        case UInt8(ascii: "-"): standard.append("+")
        case UInt8(ascii: "_"): standard.append("/")
        case UInt8(ascii: "="): continue
        default: standard.unicodeScalars.append(Unicode.Scalar(character))
        }
    }
    standard += String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
    return Data(base64Encoded: standard).map(Array.init)
}
