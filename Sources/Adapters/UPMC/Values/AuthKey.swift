import Crypto
import FoundationEssentials
import Model

/// A key that an app sends with its calls. It contains an expiry, and a MAC over user, token and expiry.
///
/// `base64url(SHA-256(APP_ID)[0..<8] ‖ expiry ‖ HMAC-SHA256(secret, APP_ID ‖ CUID ‖ PSID ‖ expiry))` (docs/contracts/upmc.md#1.4). A binding without a
/// secret issues a key of the same format that is never checked.
struct AuthKey {
    let applicationID: String
    let secret: [UInt8]?

    /// A new key for this user and token. The prefix of an app that is not registered yet is not part of the user's id.
    func issue(user: String, token: String, now: Timestamp) -> String {
        let expiry = now.seconds + UPMCLimits.keyLife.components.seconds
        let bytes = Self.head(applicationID) + Self.bytes(expiry) + mac(Self.plain(user), token, expiry)
        return Self.text(bytes)
    }

    /// Whether `key` was issued for this token, for this user or before the user was known, and has not expired.
    func accepts(_ key: String, user: String, token: String, now: Timestamp) -> Bool {
        guard secret != nil, let bytes = Self.bytes(key), bytes.count == 8 + 8 + 32,
            Array(bytes.prefix(8)) == Self.head(applicationID)
        else { return false }
        let expiry = bytes[8..<16].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        // Issued keys never live longer than this. The check also keeps a forged time out of the arithmetic.
        guard expiry > now.seconds, expiry - now.seconds <= UPMCLimits.keyLife.components.seconds else { return false }
        let shown = Array(bytes.suffix(32))
        // Both are compared completely, so that the time reveals nothing.
        let known = [Self.plain(user), Self.guest].map { Self.equal(mac($0, token, expiry), shown) }
        return known.contains(true)
    }

    static let guest = "GUEST"
    /// In front of the user, in calls of a device that is not registered yet.
    static let newPrefix = "TMP0"

    /// The user without the prefix of a device that is not registered yet; an empty user is a guest.
    static func plain(_ user: String) -> String {
        let name = user.hasPrefix(newPrefix) ? String(user.dropFirst(newPrefix.count)) : user
        return name.isEmpty ? guest : name
    }

    private func mac(_ user: String, _ token: String, _ expiry: Int64) -> [UInt8] {
        let fields = [applicationID, user, token].map { Array($0.utf8) }
        // The lengths come first, so that no two triples give the same bytes.
        let message = fields.flatMap { Self.bytes(Int64($0.count)) + $0 } + Self.bytes(expiry)
        let key = SymmetricKey(data: secret ?? [])
        return Array(HMAC<SHA256>.authenticationCode(for: message, using: key))
    }

    private static func head(_ applicationID: String) -> [UInt8] {
        Array(SHA256.hash(data: Array(applicationID.utf8)).prefix(8))
    }

    private static func bytes(_ value: Int64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) }
    }

    private static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func text(_ bytes: [UInt8]) -> String {
        let plain = Data(bytes).base64EncodedString()
        return String(plain.compactMap { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 == "=" ? nil : $0 })
    }

    private static func bytes(_ text: String) -> [UInt8]? {
        guard text.utf8.count == 64 else { return nil }
        let plain = String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
        return Data(base64Encoded: plain).map { Array($0) }
    }
}

/// Digests in payloads.
enum Digest {
    /// SHA-1 in lower-case hex: 40 digits as in the vendor's example. It is an identifier and protects nothing.
    static func sha1(_ parts: String...) -> String {
        HexCoding.encode(Insecure.SHA1.hash(data: Array(parts.joined(separator: "|").utf8)))
    }
}
