import Foundation
import TestKit
import Testing

@testable import HTTP2

/// Client identities in the operators' formats, PEM and PKCS#12, created by the `openssl` command.
struct TLSIdentityTests {
    let files: IdentityFiles

    init() throws { files = try IdentityFiles(extensions: IdentityFiles.universal) }

    private func failure(_ body: () throws -> TLSIdentity) -> HTTP2Error? {
        #expect(throws: HTTP2Error.self) { try body() }
    }

    // MARK: PEM

    @Test func factsEqualThoseOfOpenSSL() throws {
        let identity = try TLSIdentity(pem: files.certificatePEM + files.keyPEM)
        let facts = identity.certificate
        #expect(facts.commonName == "Apple Push Services: com.example.shop")
        #expect(facts.userID == "com.example.shop")
        #expect(facts.issuerCommonName == "Test WWDR")
        let file = files.directory.file("client.pem")
        let printed = try run("/usr/bin/openssl", ["x509", "-in", file, "-noout", "-fingerprint", "-sha256"])
        let hexadecimal = printed.split(separator: "=").last.map { $0.filter(\.isHexDigit).lowercased() }
        #expect(HexText.text(facts.fingerprint) == hexadecimal)
        // `-checkend` fails if the certificate ends within this number of seconds.
        let now = Int64(try run("/usr/bin/date", ["+%s"]).trimmingSuffix) ?? 0
        let left = facts.notAfterSeconds - now
        _ = try run("/usr/bin/openssl", ["x509", "-in", file, "-noout", "-checkend", String(left - 60)])
        #expect(throws: ProgramFailed.self) {
            _ = try run("/usr/bin/openssl", ["x509", "-in", file, "-noout", "-checkend", String(left + 60)])
        }
        #expect(facts.notBeforeSeconds <= now && facts.notAfterSeconds > now)
    }

    @Test func daysLeftAreRoundedDownAndNegativeAfterTheEnd() throws {
        let facts = try TLSIdentity(pem: files.certificatePEM + files.keyPEM).certificate
        let end = facts.notAfterSeconds
        #expect(facts.daysLeft(at: end - 86_400 * 7) == 7)
        #expect(facts.daysLeft(at: end - 86_399) == 0)
        #expect(facts.daysLeft(at: end) == 0)
        #expect(facts.daysLeft(at: end + 1) == -1)
        #expect(facts.daysLeft(at: end + 86_400) == -1)
        #expect(facts.daysLeft(at: end + 86_401) == -2)
        #expect(facts.daysLeft(at: .min) > 0)
        #expect(facts.daysLeft(at: .max) < 0)
    }

    // docs/contracts/apns.md#4: topics and environments of the certificate.
    @Test func appleExtensionsAreRead() throws {
        let facts = try TLSIdentity(pem: files.certificatePEM, privateKeyPEM: files.keyPEM).certificate
        #expect(facts.pushScope.environments == [.sandbox, .production])
        let expected = ["com.example.shop", "com.example.shop.voip", "com.example.shop.complication"]
        #expect(facts.pushScope.topics == expected)
        #expect(facts.topics == expected)
        #expect(!facts.pushScope.isForVoIP)
    }

    @Test func oldVoIPCertificateHasItsSubjectAsTopic() throws {
        let old = try IdentityFiles(
            userID: "com.example.shop.voip",
            extensions: ["1.2.840.113635.100.6.3.4 = ASN1:NULL", "1.2.840.113635.100.6.3.1 = ASN1:NULL"]
        )
        let facts = try TLSIdentity(pem: old.certificatePEM + old.keyPEM).certificate
        #expect(facts.pushScope.environments == [.sandbox])
        #expect(facts.pushScope.isForVoIP)
        #expect(facts.pushScope.topics.isEmpty)
        #expect(facts.topics == ["com.example.shop.voip"])
    }

    @Test func certificateThatMatchesTheKeyIsFoundInAnyPosition() throws {
        let identity = try TLSIdentity(pem: files.keyPEM + files.authorityPEM + files.certificatePEM)
        #expect(identity.certificate.userID == "com.example.shop")
        #expect(identity.issuerCount == 1)
        _ = try TLSContext(trustRoots: .system, identity: identity)
    }

    @Test func encryptedKeyNeedsItsPassphrase() throws {
        let locked = try files.encryptedKeyPEM()
        let identity = try TLSIdentity(
            pem: files.certificatePEM,
            privateKeyPEM: locked,
            passphrase: IdentityFiles.passphrase
        )
        #expect(try identity == TLSIdentity(pem: files.certificatePEM + files.keyPEM))
        for wrong in [nil, "", "wrong", String(repeating: "x", count: 2_000), "a\u{0}b"] {
            let error = failure {
                try TLSIdentity(pem: files.certificatePEM, privateKeyPEM: locked, passphrase: wrong)
            }
            #expect(error?.code == .badPassphrase)
            #expect(error?.advice?.contains("passphrase") == true)
        }
    }

    // RFC 1423: the older encryption, with the cipher in the PEM header.
    @Test func traditionallyEncryptedKeyIsRead() throws {
        try files.openssl(
            "rsa",
            "-in",
            files.directory.file("client.key"),
            "-aes128",
            "-traditional",
            "-passout",
            "pass:\(IdentityFiles.passphrase)",
            "-out",
            files.directory.file("old.key")
        )
        let pem = try files.certificatePEM + files.directory.bytes("old.key")
        #expect(String(decoding: pem, as: UTF8.self).contains("DEK-Info"))
        #expect(try TLSIdentity(pem: pem, passphrase: IdentityFiles.passphrase).issuerCount == 0)
        #expect(failure { try TLSIdentity(pem: pem, passphrase: "wrong") }?.code == .badPassphrase)
    }

    @Test func missingOrWrongPartsAreNamed() throws {
        let stranger = try IdentityFiles(isNew: true)
        #expect(failure { try TLSIdentity(pem: files.certificatePEM) }?.code == .badKey)
        #expect(failure { try TLSIdentity(pem: files.keyPEM) }?.code == .badCertificate)
        #expect(failure { try TLSIdentity(pem: files.certificatePEM + stranger.keyPEM) }?.code == .badCertificate)
        #expect(failure { try TLSIdentity(pem: []) }?.code == .badKey)
        let long = [UInt8](repeating: 10, count: TLSIdentityLimits.maxFileBytes + 1)
        #expect(failure { try TLSIdentity(pem: long) }?.code == .badCertificate)
        #expect(failure { try TLSIdentity(pkcs12: long) }?.code == .badCertificate)
    }

    @Test func tooManyCertificatesAreRefused() throws {
        let certificates = try Array(repeating: files.certificatePEM, count: 17).flatMap(\.self)
        #expect(failure { try TLSIdentity(pem: certificates + files.keyPEM) }?.code == .badCertificate)
    }

    // MARK: PKCS#12

    @Test(arguments: [[], ["-certpbe", "NONE", "-keypbe", "NONE"], ["-maciter", "-iter", "100000"]])
    func currentFileIsRead(options: [String]) throws {
        let identity = try TLSIdentity(pkcs12: files.pkcs12(options), passphrase: IdentityFiles.passphrase)
        #expect(identity.certificate.userID == "com.example.shop")
        #expect(identity.issuerCount == 1)
        _ = try TLSContext(trustRoots: .system, identity: identity)
    }

    @Test func fileWithoutPassphraseIsReadWithoutAndWithAnEmptyOne() throws {
        let file = try files.pkcs12(passphrase: "")
        #expect(try TLSIdentity(pkcs12: file) == TLSIdentity(pkcs12: file, passphrase: ""))
    }

    // openssl#14790: only the legacy provider has RC2-40.
    @Test func oldFileIsReadThroughTheLegacyProvider() throws {
        let identity = try TLSIdentity(pkcs12: files.oldPKCS12(), passphrase: IdentityFiles.passphrase)
        #expect(try identity == TLSIdentity(pem: files.certificatePEM + files.keyPEM))
        _ = try TLSContext(trustRoots: .system, identity: identity)
        let locked = try files.encryptedKeyPEM(
            ["-v1", "PBE-SHA1-RC2-40", "-provider", "legacy", "-provider", "default"]
        )
        _ = try TLSIdentity(pem: files.certificatePEM, privateKeyPEM: locked, passphrase: IdentityFiles.passphrase)
    }

    @Test func oldFileWithoutTheLegacyProviderReportsTheConversion() throws {
        let reader = IdentityReader(modulesDirectory: files.directory.path)
        let old = try files.oldPKCS12()
        let error = #expect(throws: HTTP2Error.self) {
            try reader.read(pkcs12: old, passphrase: IdentityFiles.passphrase)
        }
        #expect(error?.code == .legacyEncryption)
        #expect(error?.isRetriable == false)
        #expect(error?.advice?.contains("openssl pkcs12 -legacy -in old.p12") == true)
        // The control: a file that needs no legacy provider is read without it.
        _ = try reader.read(pkcs12: files.pkcs12(), passphrase: IdentityFiles.passphrase)
    }

    // The advice is a command line, and it must work.
    @Test func adviceConvertsTheFile() throws {
        _ = try files.oldPKCS12()
        let secret = "pass:\(IdentityFiles.passphrase)"
        let (old, pem) = (files.directory.file("client.p12"), files.directory.file("identity.pem"))
        try files.openssl("pkcs12", "-legacy", "-in", old, "-passin", secret, "-nodes", "-out", pem)
        let new = files.directory.file("new.p12")
        try files.openssl("pkcs12", "-export", "-in", pem, "-passout", secret, "-out", new)
        let reader = IdentityReader(modulesDirectory: files.directory.path)
        _ = try reader.read(pkcs12: files.directory.bytes("new.p12"), passphrase: IdentityFiles.passphrase)
    }

    @Test func wrongPassphraseAndDamagedFileAreDifferentErrors() throws {
        for file in [try files.pkcs12(), try files.oldPKCS12()] {
            for wrong in [nil, "wrong"] {
                #expect(failure { try TLSIdentity(pkcs12: file, passphrase: wrong) }?.code == .badPassphrase)
            }
        }
        // OpenSSL 3.0 accepts no file without a MAC.
        let unsigned = try files.pkcs12(["-nomac"])
        #expect(
            failure { try TLSIdentity(pkcs12: unsigned, passphrase: IdentityFiles.passphrase) }?.code == .badCertificate
        )
        let noise = Array("no PKCS#12 at all".utf8)
        #expect(failure { try TLSIdentity(pkcs12: noise, passphrase: "x") }?.code == .badCertificate)
        try files.openssl(
            "pkcs12",
            "-export",
            "-nokeys",
            "-in",
            files.directory.file("client.pem"),
            "-passout",
            "pass:x",
            "-out",
            files.directory.file("nokey.p12")
        )
        let keyless = try files.directory.bytes("nokey.p12")
        #expect(failure { try TLSIdentity(pkcs12: keyless, passphrase: "x") }?.code == .badKey)
    }

    // MARK: Hostile files

    @Test func fileThatWouldHashForHoursIsRefusedAtOnce() throws {
        var file = try files.pkcs12(["-iter", "65538"])
        let places = file.indices.filter { file[$0...].starts(with: [0x02, 0x03, 0x01, 0x00, 0x02]) }
        #expect(places.count >= 2, "certificates and key each name it")
        #expect(PassphraseCost.highestCount(file[...], depth: 0) == 65_538)
        file[try #require(places.last) + 2] = 0xFF
        let error = failure { try TLSIdentity(pkcs12: file, passphrase: IdentityFiles.passphrase) }
        #expect(error?.underlying?.contains("rounds") == true)
    }

    @Test func iterationCountIsFoundInAnyPosition() {
        let salted: [UInt8] = [0x30, 0x0C, 0x04, 0x04, 1, 2, 3, 4, 0x02, 0x04, 0x7F, 0x01, 0x00, 0x02]
        let indefinite: [UInt8] = [0x30, 0x80, 0x24, 0x80, 0x04, 0x0E] + salted
        let long: [UInt8] = [0x30, 0x0F, 0x04, 0x04, 1, 2, 3, 4, 0x02, 0x07, 1, 0, 0, 0, 0, 0, 0]
        for der in [salted, indefinite, long] {
            #expect(throws: HTTP2Error.self) { try PassphraseCost.check(der: der) }
            let text = Data(der).base64EncodedString()
            let pem = "-----BEGIN ENCRYPTED PRIVATE KEY-----\n\(text)\n-----END ENCRYPTED PRIVATE KEY-----\n"
            let error = failure { try TLSIdentity(pem: Array(pem.utf8), passphrase: "x") }
            #expect(error?.underlying?.contains("rounds") == true)
        }
    }

    @Test func deepNestingIsBounded() {
        let deep = [UInt8](repeating: 0, count: 3_000).enumerated().map { $0.offset % 2 == 0 ? UInt8(0x30) : 0x80 }
        #expect(PassphraseCost.highestCount(deep[...], depth: 0) == 0)
    }

    @Test(arguments: [UInt64(20_261_121)])
    func damagedFilesEndInAnError(seed: UInt64) throws {
        var random = SplitMix(state: seed)
        let pem = try files.certificatePEM + files.keyPEM
        let (new, old) = (try files.pkcs12(["-iter", "1"]), try files.oldPKCS12())
        let reader = IdentityReader(modulesDirectory: nil)
        for round in 0..<60 {
            for (source, isPEM) in [(pem, true), (new, false), (old, false)] {
                var bytes = source
                if round % 2 == 0 { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random)) }
                for _ in 0..<Int.random(in: 0...4, using: &random) where !bytes.isEmpty {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                // A success is valid too, because not every byte matters. The call must end and must not trap.
                _ =
                    isPEM
                    ? try? reader.read(pem: bytes, privateKeyPEM: bytes, passphrase: "x")
                    : try? reader.read(pkcs12: bytes, passphrase: IdentityFiles.passphrase)
            }
        }
        for _ in 0..<300 {
            let noise = (0..<Int.random(in: 0..<300, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            #expect(throws: HTTP2Error.self) { try TLSIdentity(pkcs12: noise, passphrase: "x") }
            #expect(throws: HTTP2Error.self) { try TLSIdentity(pem: noise, passphrase: "x") }
        }
    }

    @Test func theKeyIsNeverPrinted() throws {
        let identity = try TLSIdentity(pem: files.certificatePEM + files.keyPEM)
        var dumped = ""
        dump(identity, to: &dumped)
        for text in ["\(identity)", String(reflecting: identity), dumped] {
            #expect(text.contains("com.example.shop"))
            #expect(!text.contains("PRIVATE"))
            #expect(text.count < 400)
        }
    }
}

extension String {
    fileprivate var trimmingSuffix: String { String(prefix { $0 != "\n" }) }
}

extension TLSIdentity {
    /// How many issuer certificates it presents in addition to its own.
    fileprivate var issuerCount: Int { unsafe material.certificates.count - 1 }
}
