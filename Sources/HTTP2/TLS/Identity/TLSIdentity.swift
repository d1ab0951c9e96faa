/// The certificate that a client presents, with its key, for services that authenticate by certificate.
///
/// It is created from the operator's files and given to `TLSContext(trustRoots:identity:)`. It never changes: a renewed certificate is a new identity, which
/// needs a new context and new connections. It is a value and may be used by any thread. It never exposes or prints the key, and keeps neither the bytes nor
/// the passphrase of a file.
///
/// It does not judge the certificate: an expired one is read, and `certificate.notAfterSeconds` shows it.
package struct TLSIdentity: Sendable {
    /// The contents of the certificate.
    package let certificate: CertificateFacts
    /// The C objects: the key, the certificate and its issuers.
    let material: IdentityMaterial

    /// Reads certificate, issuers and key in PEM.
    ///
    /// The order of the blocks does not matter: the certificate that fits the key is the client's, the others are its issuers.
    ///
    /// - Parameters:
    ///   - pem: the certificates, and the key unless it is given separately. At most `TLSIdentityLimits.maxFileBytes`.
    ///   - privateKeyPEM: the key, PKCS#8 or traditional, if it is in a separate file.
    ///   - passphrase: the passphrase of an encrypted key, as UTF-8.
    /// - Throws: `badCertificate` if the file is too long, contains no certificate or none that fits the key; `badKey` if it contains no readable key;
    ///   `badPassphrase` if the key is encrypted and the passphrase is missing or wrong; `legacyEncryption` if it is encrypted in a way that this OpenSSL does
    ///   not offer; `outOfMemory`. The error's `advice` contains instructions.
    package init(pem: [UInt8], privateKeyPEM: [UInt8]? = nil, passphrase: String? = nil) throws(HTTP2Error) {
        try self.init(
            IdentityReader(modulesDirectory: nil).read(
                pem: pem,
                privateKeyPEM: privateKeyPEM ?? pem,
                passphrase: passphrase
            )
        )
    }

    /// Reads a PKCS#12 file (`.p12`, `.pfx`), including those that old tools encrypted with RC2-40.
    ///
    /// - Parameters:
    ///   - pkcs12: the file. At most `TLSIdentityLimits.maxFileBytes`.
    ///   - passphrase: the passphrase of the export, as UTF-8; nil and "" both mean none.
    /// - Throws: `badCertificate` if it is not a PKCS#12 file or contains no certificate that fits its key; `badKey` if it contains no key; `badPassphrase`;
    ///   `legacyEncryption` if it needs OpenSSL's `legacy` provider and that is not installed; `outOfMemory`. The error's `advice` contains instructions, for
    ///   `legacyEncryption` with the commands that convert the file.
    package init(pkcs12: [UInt8], passphrase: String? = nil) throws(HTTP2Error) {
        try self.init(IdentityReader(modulesDirectory: nil).read(pkcs12: pkcs12, passphrase: passphrase))
    }

    init(_ material: IdentityMaterial) throws(HTTP2Error) {
        certificate = try material.facts()
        self.material = material
    }
}

extension TLSIdentity: Hashable {
    /// Two identities are equal if they have the same certificate. Their keys are then equal as well, because each fits its certificate.
    package static func == (left: TLSIdentity, right: TLSIdentity) -> Bool {
        left.certificate.fingerprint == right.certificate.fingerprint
    }

    /// Hashes the certificate's fingerprint.
    package func hash(into hasher: inout Hasher) { hasher.combine(certificate.fingerprint) }
}

extension TLSIdentity: CustomStringConvertible, CustomReflectable {
    /// The certificate's name and fingerprint.
    package var description: String { "TLSIdentity(\(certificate))" }
    /// Only the description, so that nothing prints the contents.
    package var customMirror: Mirror { Mirror(reflecting: description) }
}

/// The limits for reading an identity, each with the harm it prevents.
package enum TLSIdentityLimits {
    /// 256 KiB per file. A chain and a key have a few KiB; a larger file would only cost memory and time before it is refused.
    package static let maxFileBytes = 262_144
    /// 16 certificates per file. Each is sent in every full handshake, and peers refuse long chains anyway.
    package static let maxCertificates = 16
    /// 10,000,000 rounds of a passphrase's hash. A file states its own count, so a hostile one could keep a core busy for hours.
    package static let maxPassphraseRounds = 10_000_000
    /// 1 KiB of passphrase. A longer one is a file that was given by mistake.
    package static let maxPassphraseBytes = 1_024
    /// 256 bytes of a name in the subject; a longer name is ignored. Names are shown and used as labels.
    package static let maxNameBytes = 256
    /// 16 KiB of one extension; a larger one is treated as absent.
    package static let maxExtensionBytes = 16_384
    /// 256 topics per certificate. Apple's certificates have a few.
    package static let maxTopics = 256
}
