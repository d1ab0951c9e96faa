import Crypto
import CryptoExtras
import FoundationEssentials
package import Model

/// A JSON web token in its compact form (RFC 7515, RFC 7519), with which a back end states who a caller is. Only verified here, never issued.
package enum SignedToken {
    /// The supported algorithms. A token that declares another one, `none` included, is refused.
    package enum Algorithm: String, Sendable, Hashable, CaseIterable {
        case rs256 = "RS256"
        case es256 = "ES256"
    }

    /// Why a token proves nothing.
    package enum Fault: Error, Sendable, Hashable, CaseIterable {
        case missing
        /// It is too long, or not three parts of base64url with a JSON object as the head.
        case undecodable
        case algorithm
        /// None of the keys is usable.
        case noKey
        /// None of the keys signed it.
        case signature
        case payload
        case noExpiration
        case expired
    }

    /// The claims of a token that a key has signed and that has not expired.
    package struct Claims: Sendable, Hashable {
        package var subject: String
        package var all: JSONObject

        /// 60 seconds: an issuer whose clock is ahead must not refuse every user who has just signed in.
        private static let clockSkewSeconds = 60.0

        /// Whether `nbf` is absent or past.
        package func hasBegun(at now: Timestamp) -> Bool {
            guard let begins = all["nbf"] else { return true }
            return begins.double.map { $0 <= Double(now.milliseconds) / 1000 + Self.clockSkewSeconds } ?? false
        }

        /// Whether `iss` is this issuer.
        package func isIssued(by issuer: String) -> Bool { all["iss"]?.string == issuer }

        /// Whether `aud`, a text or a list of texts, contains this audience.
        package func isMeant(for audience: String) -> Bool {
            all["aud"]?.string == audience || all["aud"]?.array?.contains(.string(audience)) ?? false
        }
    }

    /// Verifies a token.
    ///
    /// - Parameters:
    ///   - token: the token as received.
    ///   - keys: public keys in PEM. Any of them may verify, so that keys can be replaced one after the other; unusable ones are ignored.
    ///   - algorithms: those that the caller accepts.
    ///   - limitBytes: the length above which a token is not read.
    ///   - now: the time at which it must be valid.
    /// - Returns: the claims of the token, whose issuer and audience the caller checks.
    /// - Throws: `Fault`. The checks run in the order of its cases, except that `algorithm` comes before the keys: the algorithm that a token declares
    ///   must not decide how it is verified.
    package static func claims(
        _ token: String?,
        keys: [String],
        algorithms: Set<Algorithm>,
        limitBytes: Int,
        at now: Timestamp
    ) throws(Fault) -> Claims {
        guard let token, !token.isEmpty else { throw .missing }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard token.utf8.count <= limitBytes, parts.count == 3, let head = object(parts[0]),
            let signature = bytes(parts[2])
        else { throw .undecodable }
        guard let algorithm = head["alg"]?.string.flatMap(Algorithm.init), algorithms.contains(algorithm) else {
            throw .algorithm
        }
        let usable = keys.compactMap(TokenKey.init)
        guard !usable.isEmpty else { throw .noKey }
        let text = Data("\(parts[0]).\(parts[1])".utf8)
        guard usable.contains(where: { $0.didSign(text, signature, algorithm) }) else { throw .signature }
        guard let claims = object(parts[1]) else { throw .payload }
        guard let expiration = claims["exp"] else { throw .noExpiration }
        guard let ends = expiration.double, let subject = claims["sub"]?.string, !subject.isEmpty else {
            throw .payload
        }
        guard ends > Double(now.milliseconds) / 1000 else { throw .expired }
        return Claims(subject: subject, all: claims)
    }

    private static func object(_ part: Substring) -> JSONObject? {
        bytes(part).flatMap { try? JSONParser.parse(Array($0)).object }
    }

    /// The bytes of base64url without padding (RFC 7515 §2); nil for any other text.
    static func bytes(_ part: some StringProtocol) -> Data? {
        let part = String(part)
        guard !part.utf8.contains(where: "+/=".utf8.contains) else { return nil }
        let padding = String(repeating: "=", count: (4 - part.utf8.count % 4) % 4)
        return Data(base64Encoded: part.replacing("-", with: "+").replacing("_", with: "/") + padding)
    }
}
