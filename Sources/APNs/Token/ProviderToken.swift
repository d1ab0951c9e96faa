internal import HTTP2
package import Model

/// One provider token: the signed statement by which a team proves itself to APNs on every request.
///
/// Made by `ProviderTokenSigner`, shared by every connection of its (team, key), ended by age. Its text is a secret for an hour.
package struct ProviderToken: Sendable, Hashable {
    /// The ten characters that Apple gave the team; the token's `iss`.
    package let teamID: String
    /// The ten characters that Apple gave the key; the token's `kid`.
    package let keyID: String
    /// The token's `iat`, by the database's clock. Unit on the wire: whole seconds.
    package let issuedAt: Timestamp
    /// The JSON Web Token: header, claims and signature, joined by dots.
    package let text: String

    /// A token that somebody has signed: this node, or another one through a shared store.
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
    /// Whose and how old, never the text: a log must not hand out an hour of access.
    package var description: String { "ProviderToken(team \(teamID), key \(keyID), iat \(issuedAt.seconds))" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(reflecting: description) }
}

/// How old a provider token may get. Unit: `Duration` since its `iat`.
///
/// Source: Apple, "Establishing a token-based connection to APNs" (docs/contracts/apns.md#3, 2026-11): not more than one new token in 20 minutes,
/// not less than one in 60.
package enum ProviderTokenAge {
    /// 20 minutes. A new token sooner earns 429 `TooManyProviderTokenUpdates`, after which APNs may stop to answer.
    package static let minimum = Duration.seconds(20 * 60)
    /// 50 minutes: a new one is fetched. The ten minutes to `expiry` are for stores that answer late and clocks that disagree.
    package static let renewal = Duration.seconds(50 * 60)
    /// 59 minutes: nothing is sent with it any more, for a request on its way must not arrive after 60, which earns 403
    /// `ExpiredProviderToken` and a connection that never recovers.
    package static let expiry = Duration.seconds(59 * 60)
}

/// The private key of one (team, key id), and the one spelling of a token we send.
///
/// APNs tolerates more (DER signatures, padded base64, `iat` as a string, further claims). We send only the canonical form: raw R‖S,
/// base64url without padding, an integer `iat`, nothing else. Source: RFC 7515 §3, RFC 7518 §3.4; docs/contracts/apns.md#3.
package struct ProviderTokenSigner: Sendable {
    /// What makes two signers the same: their tokens are interchangeable and count together for the 20-minute rule.
    package struct ID: Sendable, Hashable {
        package let teamID: String
        package let keyID: String
        /// The key's public half. A key file that was mended under the same key id is another signer.
        package let publicKeyPEM: String
    }

    package let id: ID
    private let key: ECPrivateKey

    /// Reads the .p8 file's bytes.
    ///
    /// - Throws: `badKey` if they are not a P-256 private key in PEM, `badIdentifier` if an id could not stand in a token.
    package init(teamID: String, keyID: String, privateKeyPEM: [UInt8]) throws(APNsError) {
        guard Self.isSafe(teamID), Self.isSafe(keyID) else { throw APNsError(.badIdentifier) }
        do {
            key = try ECPrivateKey(pem: privateKeyPEM)
            id = ID(teamID: teamID, keyID: keyID, publicKeyPEM: try key.publicKeyPEM())
        } catch {
            throw APNsError(.badKey, underlying: error.debugDescription)
        }
    }

    /// A new token that says it was issued at `time`.
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

    /// What is signed: header and claims, each base64url, joined by a dot (RFC 7515 §5.1).
    static func statement(teamID: String, keyID: String, issuedAt: Timestamp) -> String {
        let header = #"{"alg":"ES256","kid":"\#(keyID)"}"#
        let claims = #"{"iss":"\#(teamID)","iat":\#(issuedAt.seconds)}"#
        return Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(claims.utf8))
    }

    /// Whether an id needs no escaping in JSON: 1...64 of the letters, digits, `-` and `_`. Apple's are ten capitals and digits, but a
    /// simulator's need not be.
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
