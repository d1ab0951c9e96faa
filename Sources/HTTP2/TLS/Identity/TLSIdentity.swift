/// The certificate a client shows, with its key: for services that authenticate by certificate.
///
/// Made from the operator's files by whoever configures a pool, given to `TLSContext(trustRoots:identity:)`, and never changed:
/// a renewed certificate is a new identity, a new context and new connections. A value; any thread may hold it. It never gives
/// the key away, prints nothing of it, and no file's bytes or passphrase are kept.
///
/// Reading does not judge: an expired certificate is read, and `certificate.notAfterSeconds` says so.
package struct TLSIdentity: Sendable {
    /// What the certificate says of itself.
    package let certificate: CertificateFacts
    /// The C objects: the key, the certificate and its issuers.
    let material: IdentityMaterial

    /// Reads certificate, issuers and key in PEM.
    ///
    /// The order of the blocks does not matter: the certificate that fits the key is the client's, the others are its issuers.
    ///
    /// - Parameters:
    ///   - pem: the certificates, and the key unless it is given apart. At most `TLSIdentityLimits.maxFileBytes`.
    ///   - privateKeyPEM: the key, PKCS#8 or traditional, if it is in a file of its own.
    ///   - passphrase: what an encrypted key was encrypted with, as UTF-8.
    /// - Throws: `badCertificate` if there is no certificate, none that fits the key, or the file is too long; `badKey` if there
    ///   is no readable key; `badPassphrase` if the key is encrypted and the passphrase is missing or wrong;
    ///   `legacyEncryption` if it is encrypted in a way that this OpenSSL does not offer; `outOfMemory`. `advice` of the error
    ///   says what to do.
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
    ///   - passphrase: what it was exported with, as UTF-8; nil and "" both mean none.
    /// - Throws: `badCertificate` if it is no such file or holds no certificate that fits its key; `badKey` if it holds no key;
    ///   `badPassphrase`; `legacyEncryption` if it needs OpenSSL's `legacy` provider and that is not installed; `outOfMemory`.
    ///   `advice` of the error says what to do, for `legacyEncryption` with the commands that convert the file.
    package init(pkcs12: [UInt8], passphrase: String? = nil) throws(HTTP2Error) {
        try self.init(IdentityReader(modulesDirectory: nil).read(pkcs12: pkcs12, passphrase: passphrase))
    }

    init(_ material: IdentityMaterial) throws(HTTP2Error) {
        certificate = try material.facts()
        self.material = material
    }

    /// How many certificates it shows besides its own.
    package var issuerCount: Int { material.issuerCount }
}

extension TLSIdentity: Hashable {
    /// Two identities are equal if their certificate is the same; the key then is, too, because it fits.
    package static func == (left: TLSIdentity, right: TLSIdentity) -> Bool {
        left.certificate.fingerprint == right.certificate.fingerprint
    }

    /// Hashes the certificate's fingerprint.
    package func hash(into hasher: inout Hasher) { hasher.combine(certificate.fingerprint) }
}

extension TLSIdentity: CustomStringConvertible, CustomReflectable {
    /// The certificate's name and when it ends.
    package var description: String { "TLSIdentity(\(certificate))" }
    /// The description alone: nothing prints what is inside.
    package var customMirror: Mirror { Mirror(reflecting: description) }
}

/// The bounds of what is read of an identity, each with the harm it avoids.
package enum TLSIdentityLimits {
    /// 256 KiB per file. A chain and a key have a few; more would only cost memory and time before it is refused.
    package static let maxFileBytes = 262_144
    /// 16 certificates per file. Each is sent in every full handshake, and a peer refuses long chains anyway.
    package static let maxCertificates = 16
    /// 10,000,000 rounds of a passphrase's hash. A file names its own count: a hostile one could keep a core busy for hours.
    package static let maxPassphraseRounds = 10_000_000
    /// 1 KiB of passphrase. A longer one is a file that was given by mistake.
    package static let maxPassphraseBytes = 1_024
    /// 256 bytes of a name in the subject; what is longer is left out. Names are shown and used as labels.
    package static let maxNameBytes = 256
    /// 16 KiB of one extension; a larger one is taken for absent.
    package static let maxExtensionBytes = 16_384
    /// 256 topics per certificate. Apple's have a handful.
    package static let maxTopics = 256
}
