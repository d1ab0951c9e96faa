/// A push certificate like Apple's, with key and authority, in files; created now, valid for a day.
///
/// The `openssl` command creates the Apple extensions from their documented OIDs (docs/contracts/apns.md#4), never this project's
/// code.
struct IdentityFiles: Sendable {
    let directory: TemporaryDirectory
    static let passphrase = "correct horse"

    var certificatePEM: [UInt8] { get throws { try directory.bytes("client.pem") } }
    var keyPEM: [UInt8] { get throws { try directory.bytes("client.key") } }
    var authorityPEM: [UInt8] { get throws { try directory.bytes("ca.pem") } }
    var authorityFile: String { directory.file("ca.pem") }

    private static let made = MadeFiles()

    /// - Parameters:
    ///   - userID: the subject's UID.
    ///   - extensions: lines of an extension section of openssl's configuration.
    ///   - isNew: whether it has its own authority and key. Otherwise all tests with the same values share them.
    /// - Throws: if `openssl` fails.
    init(userID: String = "com.example.shop", extensions: [String] = [], isNew: Bool = false) throws {
        let files = ["ca.pem", "client.key", "client.pem"]
        let key = ([userID] + extensions).joined(separator: "|")
        directory = try Self.made.directory(of: files, key: isNew ? nil : key) { directory in
            try Self.make(userID, extensions, in: directory)
        }
    }

    private static func make(_ userID: String, _ extensions: [String], in directory: TemporaryDirectory) throws {
        let configuration = """
            [req]
            distinguished_name = name
            prompt = no
            x509_extensions = client
            [name]
            [client]
            basicConstraints = critical,CA:FALSE
            extendedKeyUsage = clientAuth
            \(extensions.joined(separator: "\n"))
            [topics]
            app = UTF8:com.example.shop
            appKind = SEQUENCE:kindApp
            voip = UTF8:com.example.shop.voip
            voipKind = SEQUENCE:kindVoIP
            complication = UTF8:com.example.shop.complication
            complicationKind = SEQUENCE:kindComplication
            [kindApp]
            kind = UTF8:app
            [kindVoIP]
            kind = UTF8:voip
            [kindComplication]
            kind = UTF8:complication
            """
        try directory.write("openssl.cnf", Array(configuration.utf8))
        let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        _ = try run(
            "/usr/bin/openssl",
            ["req", "-x509", "-days", "2", "-subj", "/CN=Test WWDR", "-addext", "basicConstraints=critical,CA:TRUE"]
                + curve + ["-keyout", directory.file("ca.key"), "-out", directory.file("ca.pem")]
        )
        _ = try run("/usr/bin/openssl", ["genrsa", "-out", directory.file("client.key"), "2048"])
        _ = try run(
            "/usr/bin/openssl",
            ["req", "-x509", "-days", "1", "-config", directory.file("openssl.cnf")]
                + ["-subj", "/UID=\(userID)/CN=Apple Push Services: \(userID)", "-key", directory.file("client.key")]
                + ["-CA", directory.file("ca.pem"), "-CAkey", directory.file("ca.key")]
                + ["-out", directory.file("client.pem")]
        )
    }

    /// All extensions of Apple's universal certificates.
    static let universal = [
        "1.2.840.113635.100.6.3.1 = ASN1:NULL",
        "1.2.840.113635.100.6.3.2 = ASN1:NULL",
        "1.2.840.113635.100.6.3.6 = ASN1:SEQUENCE:topics",
    ]

    func openssl(_ arguments: String...) throws { _ = try run("/usr/bin/openssl", arguments) }

    /// A PKCS#12 file with certificate, key and authority.
    func pkcs12(_ options: [String] = [], passphrase: String = IdentityFiles.passphrase) throws -> [UInt8] {
        _ = try run(
            "/usr/bin/openssl",
            ["pkcs12", "-export", "-in", directory.file("client.pem"), "-inkey", directory.file("client.key")]
                + ["-certfile", directory.file("ca.pem"), "-passout", "pass:\(passphrase)"] + options
                + ["-out", directory.file("client.p12")]
        )
        return try directory.bytes("client.p12")
    }

    /// The format of old Keychain exports: the certificates with RC2-40, the key with triple DES, the MAC with SHA-1.
    func oldPKCS12() throws -> [UInt8] {
        try pkcs12(["-legacy", "-certpbe", "PBE-SHA1-RC2-40", "-keypbe", "PBE-SHA1-3DES", "-macalg", "sha1"])
    }

    /// The key, encrypted.
    func encryptedKeyPEM(_ options: [String] = ["-v2", "aes256"]) throws -> [UInt8] {
        _ = try run(
            "/usr/bin/openssl",
            ["pkcs8", "-topk8", "-in", directory.file("client.key"), "-passout", "pass:\(Self.passphrase)"]
                + options + ["-out", directory.file("locked.key")]
        )
        return try directory.bytes("locked.key")
    }
}
