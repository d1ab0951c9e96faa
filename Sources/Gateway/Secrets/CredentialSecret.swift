package import APNs
package import EngineStore
import Foundation
import HTTP2
package import Model

/// The secret part of a credential: what is sealed, and what a credential is opened from.
package enum CredentialSecret: Sendable, Hashable {
    /// A .p8 file, and for a topic-specific key the topics its owner names.
    case signingKey(pem: [UInt8], topics: [String]?)
    /// A certificate chain and its key in PEM; the key may stand in the same file.
    case pem(certificate: [UInt8], privateKey: [UInt8]?, passphrase: String?)
    /// A .p12 file.
    case pkcs12([UInt8], passphrase: String?)

    /// The credential's kind in provisioning files and in the store.
    package var kind: String {
        switch self {
        case .signingKey: "apns-token"
        case .pem, .pkcs12: "apns-certificate"
        }
    }

    // MARK: Sealed form

    /// The bytes that are sealed: the .p8 file itself, or a JSON object of what belongs together.
    package var sealedForm: [UInt8] {
        var object = JSONObject()
        switch self {
        case .signingKey(let pem, nil): return pem
        case .signingKey(let pem, let topics?):
            object["privateKey"] = .string(String(decoding: pem, as: UTF8.self))
            object["topics"] = .array(topics.map { .string($0) })
        case .pem(let certificate, let key, let passphrase):
            object["certificate"] = .string(String(decoding: certificate, as: UTF8.self))
            object["privateKey"] = key.map { .string(String(decoding: $0, as: UTF8.self)) }
            object["passphrase"] = passphrase.map { .string($0) }
        case .pkcs12(let bytes, let passphrase):
            object["pkcs12"] = .string(Data(bytes).base64EncodedString())
            object["passphrase"] = passphrase.map { .string($0) }
        }
        return JSONWriter.bytes(.object(object))
    }

    /// What `sealedForm` spelled; nil when it is none of ours.
    package init?(sealedForm bytes: [UInt8]) {
        guard bytes.first == UInt8(ascii: "{") else {
            self = .signingKey(pem: bytes, topics: nil)
            return
        }
        guard let object = (try? JSONParser.parse(bytes))?.object else { return nil }
        let passphrase = object["passphrase"]?.string
        let key = object["privateKey"]?.string.map { Array($0.utf8) }
        if let text = object["pkcs12"]?.string, let data = Data(base64Encoded: text) {
            self = .pkcs12(Array(data), passphrase: passphrase)
        } else if let certificate = object["certificate"]?.string {
            self = .pem(certificate: Array(certificate.utf8), privateKey: key, passphrase: passphrase)
        } else if let key {
            self = .signingKey(pem: key, topics: object["topics"]?.array?.compactMap(\.string))
        } else {
            return nil
        }
    }

    // MARK: Use

    /// The credential that the APNs transport opens.
    ///
    /// - Throws: `HTTP2Error` when the files cannot be read, with advice; `APNsError` for a bad endpoint.
    package func credential(
        teamID: String?,
        keyID: String?,
        endpoint: String?,
        channelEndpoint: String?,
        trustRoots: [UInt8]?
    ) throws -> APNsCredential {
        let proof: APNsCredential.Proof =
            switch self {
            case .signingKey(let pem, let topics):
                .token(
                    APNsCredential.SigningKey(
                        teamID: teamID ?? "",
                        keyID: keyID ?? "",
                        privateKeyPEM: pem,
                        topics: topics
                    )
                )
            case .pem(let certificate, let key, let passphrase):
                .certificate(try TLSIdentity(pem: certificate, privateKeyPEM: key, passphrase: passphrase))
            case .pkcs12(let bytes, let passphrase):
                .certificate(try TLSIdentity(pkcs12: bytes, passphrase: passphrase))
            }
        return APNsCredential(
            proof,
            endpoint: try endpoint.map { try APNsEndpoint(url: $0) },
            channelEndpoint: try channelEndpoint.map { try APNsEndpoint(url: $0) },
            trustRootsPEM: trustRoots
        )
    }

    /// The stored credential as the transport opens it.
    ///
    /// - Throws: `MasterKeyError`, or what its files are at fault for.
    package static func open(_ stored: StoredCredential, with masterKey: MasterKey) throws -> APNsCredential {
        let bytes = try masterKey.open(stored.sealed, context: SealContext.credential(stored.key))
        guard let secret = CredentialSecret(sealedForm: bytes) else { throw MasterKeyError.notOurs }
        return try secret.credential(
            teamID: stored.teamID,
            keyID: stored.keyID,
            endpoint: stored.endpoint,
            channelEndpoint: stored.channelEndpoint,
            trustRoots: stored.trustRoots.map { Array($0.utf8) }
        )
    }
}

/// The places secrets are sealed for.
package enum SealContext {
    package static func credential(_ key: CredentialKey) -> String { "credential/\(key.tenant)/\(key.credential)" }
}
