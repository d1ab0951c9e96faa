import HTTP2
import Testing

/// ES256 with OpenSSL's EVP, verified by the `openssl` command.
struct ECPrivateKeyTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func openssl(_ arguments: String...) throws { _ = try run("/usr/bin/openssl", arguments) }

    private func makeKey(curve: String = "prime256v1") throws {
        try openssl("ecparam", "-name", curve, "-genkey", "-out", directory.file("sec1.pem"))
        try openssl("pkcs8", "-topk8", "-nocrypt", "-in", directory.file("sec1.pem"), "-out", directory.file("p8.pem"))
    }

    /// The signature R‖S in the ASN.1 form for a verifier.
    private func der(_ raw: [UInt8]) -> [UInt8] {
        func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            var value = Array(bytes.drop { $0 == 0 })
            if value.isEmpty || value[0] >= 0x80 { value.insert(0, at: 0) }
            return [0x02, UInt8(value.count)] + value
        }
        let body = integer(raw[..<32]) + integer(raw[32...])
        return [0x30, UInt8(body.count)] + body
    }

    @Test(arguments: ["p8.pem", "sec1.pem"])
    func signatureIsRawAndVerifies(file: String) throws {
        try makeKey()
        let key = try ECPrivateKey(pem: directory.bytes(file))
        try directory.write("public.pem", Array(key.publicKeyPEM().utf8))
        let message = Array("header.claims".utf8)
        try directory.write("message", message)
        // Many signatures, because one in 128 halves starts with a zero byte and must be padded.
        for _ in 0..<300 { #expect(try key.sign(message).count == 64) }
        let raw = try key.sign(message)
        try directory.write("signature", der(raw))
        try openssl(
            "dgst",
            "-sha256",
            "-verify",
            directory.file("public.pem"),
            "-signature",
            directory.file("signature"),
            directory.file("message")
        )
        // The control: another message does not verify.
        try directory.write("message", Array("header.claimz".utf8))
        #expect(throws: ProgramFailed.self) {
            try openssl(
                "dgst",
                "-sha256",
                "-verify",
                directory.file("public.pem"),
                "-signature",
                directory.file("signature"),
                directory.file("message")
            )
        }
    }

    @Test(arguments: ["secp384r1", "secp256k1"])
    func otherCurveIsRefusedByName(curve: String) throws {
        try makeKey(curve: curve)
        let error = #expect(throws: HTTP2Error.self) { try ECPrivateKey(pem: directory.bytes("p8.pem")) }
        #expect(error?.code == .badKey)
        #expect(error?.underlying?.contains(curve) == true)
    }

    @Test func otherKindOfKeyIsRefused() throws {
        try openssl(
            "genpkey",
            "-algorithm",
            "RSA",
            "-pkeyopt",
            "rsa_keygen_bits:1024",
            "-out",
            directory.file("rsa.pem")
        )
        let error = #expect(throws: HTTP2Error.self) { try ECPrivateKey(pem: directory.bytes("rsa.pem")) }
        #expect(error?.code == .badKey)
    }

    // OpenSSL would prompt for the password on the terminal.
    @Test func encryptedKeyIsRefusedWithoutAPrompt() throws {
        try makeKey()
        try openssl(
            "pkcs8",
            "-topk8",
            "-in",
            directory.file("sec1.pem"),
            "-passout",
            "pass:secret",
            "-out",
            directory.file("locked.pem")
        )
        let error = #expect(throws: HTTP2Error.self) { try ECPrivateKey(pem: directory.bytes("locked.pem")) }
        #expect(error?.code == .badKey)
    }

    @Test func noiseIsRefused() {
        for text in ["", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "\u{0}"] {
            let error = #expect(throws: HTTP2Error.self) { try ECPrivateKey(pem: Array(text.utf8)) }
            #expect(error?.code == .badKey)
        }
    }
}
