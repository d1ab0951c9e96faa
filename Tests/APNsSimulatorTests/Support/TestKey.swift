import APNsSimulator
import Crypto
import Foundation

/// A provider key made for one test, and the tokens it can sign.
struct TestKey {
    /// The encoding of a token's signature.
    enum SignatureForm { case raw, der, wrong }

    var teamID = "ABCDE12345"
    var keyID = "KEY1234567"
    let privateKey = P256.Signing.PrivateKey()

    /// The time of every test without I/O.
    static let now = 1_800_000_000

    /// The PEM that a keys file points to.
    var publicPEM: String { privateKey.publicKey.pemRepresentation }

    /// The content of a .p8 file.
    var privatePEM: String { privateKey.pemRepresentation }

    func registered(
        topics: Set<String>? = nil,
        environment: APNsEnvironment? = nil,
        isRevoked: Bool = false
    ) throws -> ProviderKey {
        try ProviderKey(
            teamID: teamID,
            keyID: keyID,
            publicKeyPEM: publicPEM,
            topics: topics,
            environment: environment,
            isRevoked: isRevoked
        )
    }

    /// `bearer <jwt>`, issued at `issuedAt`.
    func bearer(issuedAt: Int = now, alg: String = "ES256", form: SignatureForm = .raw, isPadded: Bool = false) throws
        -> String
    {
        let header = #"{"alg":"\#(alg)","kid":"\#(keyID)"}"#
        let claims = #"{"iss":"\#(teamID)","iat":\#(issuedAt)}"#
        return try "bearer " + sign(header: header, claims: claims, form: form, isPadded: isPadded)
    }

    /// A token with exactly this header and these claims.
    func sign(header: String, claims: String, form: SignatureForm = .raw, isPadded: Bool = false) throws -> String {
        let signed = Self.base64(Data(header.utf8), isPadded) + "." + Self.base64(Data(claims.utf8), isPadded)
        let signature = try privateKey.signature(for: Data(signed.utf8))
        let bytes: Data =
            switch form {
            case .raw: signature.rawRepresentation
            case .der: signature.derRepresentation
            case .wrong: Data(repeating: 7, count: 64)
            }
        return signed + "." + Self.base64(bytes, isPadded)
    }

    private static func base64(_ data: Data, _ isPadded: Bool) -> String {
        let standard = data.base64EncodedString()
        guard !isPadded else { return standard }
        return standard.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
