internal import HTTP2
package import Model

/// One provider token: the signed statement that authenticates a team to APNs on every request.
///
/// Created by `ProviderTokenSigner`, shared by every connection of its (team, key); it expires by age. Its text is a secret for an hour.
package struct ProviderToken: Sendable, Hashable {
    /// The team's ten characters from Apple; the token's `iss`.
    package let teamID: String
    /// The key's ten characters from Apple; the token's `kid`.
    package let keyID: String
    /// The token's `iat`, by the database's clock. Unit on the wire: whole seconds.
    package let issuedAt: Timestamp
    /// The JSON Web Token: header, claims and signature, joined by dots.
    package let text: String

    /// Creates a token that is already signed, by this node or, through a shared store, by another.
    package init(teamID: String, keyID: String, issuedAt: Timestamp, text: String) {
        self.teamID = teamID
        self.keyID = keyID
        self.issuedAt = issuedAt
        self.text = text
    }

    /// The value of the `authorization` field. The scheme is lower-case, as Apple writes it.
    var authorization: String { "bearer " + text }
}

extension ProviderToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The owner and the age, never the text: a log must not give access for an hour.
    package var description: String { "ProviderToken(team \(teamID), key \(keyID), iat \(issuedAt.seconds))" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(reflecting: description) }
}

/// The age limits of a provider token. Unit: `Duration` since its `iat`.
///
/// Source: Apple, "Establishing a token-based connection to APNs" (docs/contracts/apns.md#3, 2026-11): at most one new token in 20 minutes, at least one in 60.
package enum ProviderTokenAge {
    /// 20 minutes. An earlier new token causes 429 `TooManyProviderTokenUpdates`, after which APNs may stop answering.
    package static let minimum = Duration.seconds(20 * 60)
    /// 50 minutes: a new token is fetched. The ten minutes until `expiry` are for slow stores and deviating clocks.
    package static let renewal = Duration.seconds(50 * 60)
    /// 59 minutes: the token is not used after this time, because a request in flight must not arrive after 60 minutes. Otherwise it causes 403
    /// `ExpiredProviderToken` and a connection that never recovers.
    package static let expiry = Duration.seconds(59 * 60)
}

/// The private key of one (team, key id). It creates tokens in one canonical form.
///
/// APNs tolerates more (DER signatures, padded base64, `iat` as a string, further claims). The canonical form is raw R‖S, base64url without padding, an integer
/// `iat`, and nothing else. Source: RFC 7515 §3, RFC 7518 §3.4; docs/contracts/apns.md#3.
package struct ProviderTokenSigner: Sendable {
    /// The identity of a signer: tokens of equal signers are interchangeable and count together for the 20-minute rule.
    package struct ID: Sendable, Hashable {
        package let teamID: String
        package let keyID: String
        /// The key's public half. A corrected key file under the same key id is another signer.
        package let publicKeyPEM: String
    }

    package let id: ID
    private let key: ECPrivateKey

    /// Reads the bytes of the .p8 file.
    ///
    /// - Throws: `badKey` if they are not a P-256 private key in PEM, `badIdentifier` if an id is not allowed in a token.
    package init(teamID: String, keyID: String, privateKeyPEM: [UInt8]) throws(APNsError) {
        guard Self.isSafe(teamID), Self.isSafe(keyID) else { throw APNsError(.badIdentifier) }
        do {
            key = try ECPrivateKey(pem: privateKeyPEM)
            id = ID(teamID: teamID, keyID: keyID, publicKeyPEM: try key.publicKeyPEM())
        } catch {
            throw APNsError(.badKey, underlying: error.debugDescription)
        }
    }

    /// Creates a token that was issued at `time`.
    ///
    /// - Throws: `signingFailed` if OpenSSL could not sign.
    package func sign(issuedAt time: Timestamp) throws(APNsError) -> ProviderToken {
        let statement = Self.statement(teamID: id.teamID, keyID: id.keyID, issuedAt: time)
        do {
            let signature = try key.sign(Array(statement.utf8))
            let text = statement + "." + Base64URL.encode(signature)
            return ProviderToken(teamID: id.teamID, keyID: id.keyID, issuedAt: time, text: text)
        } catch {
            throw APNsError(.signingFailed, underlying: error.debugDescription)
        }
    }

    /// The text to sign: header and claims, each base64url, joined by a dot (RFC 7515 §5.1).
    static func statement(teamID: String, keyID: String, issuedAt: Timestamp) -> String {
        let header = #"{"alg":"ES256","kid":"\#(keyID)"}"#
        let claims = #"{"iss":"\#(teamID)","iat":\#(issuedAt.seconds)}"#
        return Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(claims.utf8))
    }

    /// Whether an id needs no escaping in JSON: 1...64 letters, digits, `-` and `_`. Apple's ids are ten capital letters and digits; a simulator's may differ.
    private static func isSafe(_ id: String) -> Bool {
        (1...64).contains(id.utf8.count)
            && id.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
