import PageParts

/// The kind of an uploaded file, by its content; its name only helps to find a wrong key ID.
enum CredentialFile: Sendable, Hashable {
    /// A .p8: the key of a team.
    case signingKey(String)
    /// A certificate in PEM with its key.
    case pem(String)
    /// A .p12.
    case pkcs12([UInt8])
    /// Something else, with a sentence about what it is and what is needed instead.
    case wrong(Text)

    /// 48 KiB, so that base64 of it stays below the 64 KiB of the API.
    static let limitBytes = 48 << 10

    init(_ bytes: [UInt8]) {
        self =
            if bytes.isEmpty {
                .wrong(CredentialsText.emptyFile)
            } else if bytes.count > Self.limitBytes {
                .wrong(CredentialsText.bigFile)
            } else if let text = String(validating: bytes, as: UTF8.self), text.contains("-----BEGIN ") {
                Self.text(text)
            } else {
                Self.binary(bytes)
            }
    }

    private static func text(_ text: String) -> CredentialFile {
        let hasKey = text.contains("PRIVATE KEY-----")
        if text.contains("BEGIN CERTIFICATE REQUEST") || text.contains("BEGIN NEW CERTIFICATE REQUEST") {
            return .wrong(CredentialsText.request)
        }
        if text.contains("BEGIN CERTIFICATE-----") {
            return hasKey ? .pem(text) : .wrong(CredentialsText.bareCertificate)
        }
        if text.contains("-----BEGIN PRIVATE KEY-----") { return .signingKey(text) }
        if hasKey { return .wrong(CredentialsText.otherKey) }
        if text.contains("PUBLIC KEY-----") { return .wrong(CredentialsText.publicKey) }
        return .wrong(CredentialsText.unknownFile)
    }

    /// A SEQUENCE of DER: a PFX begins with its version, 3; a certificate with another SEQUENCE, a profile with the object identifier of signed data.
    private static func binary(_ bytes: [UInt8]) -> CredentialFile {
        guard bytes.count > 8, bytes[0] == 0x30, let content = contentStart(bytes), content + 2 < bytes.count else {
            return .wrong(CredentialsText.unknownFile)
        }
        switch (bytes[content], bytes[content + 1], bytes[content + 2]) {
        case (0x02, 0x01, 0x03): return .pkcs12(bytes)
        case (0x30, _, _): return .wrong(CredentialsText.bareCertificate)
        case (0x06, _, _): return .wrong(CredentialsText.profile)
        default: return .wrong(CredentialsText.unknownFile)
        }
    }

    private static func contentStart(_ bytes: [UInt8]) -> Int? {
        let length = bytes[1]
        // 0x80: of indefinite length, as some exporters write it.
        if length <= 0x80 { return 2 }
        let count = Int(length & 0x7F)
        return count <= 4 ? 2 + count : nil
    }

    /// The key ID in the name that Apple gives a .p8: `AuthKey_KEY1234567.p8`.
    static func keyID(inName name: String) -> String? {
        let last = name.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last ?? ""
        guard last.hasPrefix("AuthKey_"), last.lowercased().hasSuffix(".p8") else { return nil }
        // A second download is `AuthKey_KEY1234567 (1).p8`.
        let id = String(last.dropFirst(8).prefix(10))
        return isAppleID(id) ? id : nil
    }

    /// Ten capital letters and digits.
    static func isAppleID(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
            }
    }
}
