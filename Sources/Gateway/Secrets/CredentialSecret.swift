package import APNs
package import EngineStore
import Foundation
import HTTP2
package import Model

/// The secret part of a credential, in the form in which it is sealed and opened.
package enum CredentialSecret: Sendable, Hashable {
    /// A .p8 file, and for a topic-specific key its declared topics.
    case signingKey(pem: [UInt8], topics: [String]?)
    /// A certificate chain and its key in PEM; one file may contain both.
    case pem(certificate: [UInt8], privateKey: [UInt8]?, passphrase: String?)
    /// A .p12 file.
    case pkcs12([UInt8], passphrase: String?)
    /// The fields of a vendor's real service. They are sealed as a whole, also those that are not secret.
    case upstream(UpstreamSettings)

    /// The credential's kind in provisioning files and in the store.
    package var kind: String {
        switch self {
        case .signingKey: "apns-token"
        case .pem, .pkcs12: "apns-certificate"
        case .upstream(let settings): UpstreamKind.kind(of: settings.vendor)
        }
    }

    // MARK: Sealed form

    /// The bytes to seal: the .p8 file itself, or a JSON object with all parts.
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
        case .upstream(let settings):
            object["upstream"] = .string(settings.vendor.rawValue)
            let secrets = settings.secrets.sorted { $0.key < $1.key }
            object["secrets"] = .object(JSONObject(secrets.map { ($0.key, .string($0.value)) }))
            object["values"] = .object(settings.values)
        }
        return JSONWriter.bytes(.object(object))
    }

    /// Parses `sealedForm`; nil for bytes of another form.
    package init?(sealedForm bytes: [UInt8]) {
        guard bytes.first == UInt8(ascii: "{") else {
            self = .signingKey(pem: bytes, topics: nil)
            return
        }
        guard let object = (try? JSONParser.parse(bytes))?.object else { return nil }
        if let vendor = object["upstream"]?.string {
            let secrets = (object["secrets"]?.object?.pairs ?? []).map { ($0.key, $0.value.string ?? "") }
            self = .upstream(
                UpstreamSettings(
                    vendor: Vendor(vendor),
                    secrets: Dictionary(secrets, uniquingKeysWith: { first, _ in first }),
                    values: object["values"]?.object ?? JSONObject()
                )
            )
            return
        }
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

    /// Creates the credential for the APNs transport.
    ///
    /// - Throws: `HTTP2Error` with advice when the files cannot be read; `APNsError` for an invalid endpoint; `NotForAPNs` for an upstream.
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
            case .upstream: throw NotForAPNs()
            }
        return APNsCredential(
            proof,
            endpoint: try endpoint.map { try APNsEndpoint(url: $0) },
            channelEndpoint: try channelEndpoint.map { try APNsEndpoint(url: $0) },
            trustRootsPEM: trustRoots
        )
    }

    /// The text of an error of `credential` for an operator: the advice, if it has one.
    package static func sentence(about error: any Error) -> String { (error as? HTTP2Error)?.advice ?? "\(error)" }

    /// Opens the fields of a stored upstream. Nil: the credential is of another kind.
    ///
    /// - Throws: `MasterKeyError`.
    package static func openUpstream(
        _ stored: StoredCredential,
        with keyRing: KeyRing
    ) throws(MasterKeyError) -> UpstreamSettings? {
        guard stored.upstream != nil else { return nil }
        let bytes = try keyRing.open(stored.sealed, context: SealContext.credential(stored.key))
        guard case .upstream(let settings)? = CredentialSecret(sealedForm: bytes) else { throw MasterKeyError.notOurs }
        return settings
    }

    /// Opens a stored credential for the transport.
    ///
    /// - Throws: `MasterKeyError`, or the error of the credential's files.
    package static func open(_ stored: StoredCredential, with keyRing: KeyRing) throws -> APNsCredential {
        let bytes = try keyRing.open(stored.sealed, context: SealContext.credential(stored.key))
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

/// An upstream cannot be used as a credential of the push service.
package struct NotForAPNs: Error, CustomStringConvertible {
    package var description: String { "an upstream is not a credential of the push service" }
}
