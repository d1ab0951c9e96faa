import Crypto
package import Model

/// The secret of a link that creates an account or replaces a password, and its address.
package enum InvitationLink {
    /// 32 random bytes as hexadecimal digits.
    package static func secret(_ identifiers: any IdentifierSource) -> String { identifiers.randomHex(byteCount: 32) }

    /// The digest that is stored in place of the secret.
    package static func hash(_ secret: String) -> [UInt8] { Array(SHA256.hash(data: Array(secret.utf8))) }

    /// The path of the page that the link opens.
    package static func path(_ secret: String) -> String { "/invitation/\(secret)" }

    /// Whether a text can be a secret: no other is looked up.
    static func isSecret(_ text: String) -> Bool {
        text.utf8.count == 64 && text.utf8.allSatisfy { HexCoding.value(of: $0) != nil }
    }
}

/// The names of accounts.
package enum AccountNames {
    /// Letters, digits, `.`, `-`, `_` and `@` of ASCII, at most 64, in lower case: a name that looks like another one is the same.
    package static func normalized(_ text: String) -> String? {
        let name = text.lowercased()
        guard (1...64).contains(name.utf8.count) else { return nil }
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x61...0x7A: true
            default: ".-_@".utf8.contains(byte)
            }
        }
        return isPlain ? name : nil
    }
}
