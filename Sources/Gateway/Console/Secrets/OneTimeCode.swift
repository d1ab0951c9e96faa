import Crypto
import Foundation
package import Model

/// One-time codes by time (RFC 6238): six digits of HMAC-SHA-1, a new one every thirty seconds.
///
/// The secret of an account is derived from a key of the gateway and a random value in its row. Nothing that could be read from the database alone makes a code,
/// and no rotation of the master key changes it.
package struct OneTimeCode: Sendable {
    /// SHA-1 and 20 bytes: what every authenticator application supports.
    private static let secretBytes = 20
    private static let stepSeconds: Int64 = 30
    private static let modulus: UInt32 = 1_000_000

    private let secret: [UInt8]

    /// - Parameters:
    ///   - key: 32 bytes of the gateway for this purpose (`KeyRing.derived`).
    ///   - account: the account's id.
    ///   - salt: the random value of the account's row.
    package init(key: [UInt8], account: String, salt: [UInt8]) {
        let message = Array(account.utf8) + [0] + salt
        let code = HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key))
        secret = Array(code.prefix(Self.secretBytes))
    }

    /// The code of a known secret, for the vectors of the standard.
    init(secret: [UInt8]) { self.secret = secret }

    /// The number of the thirty seconds that contain a time.
    package static func step(at time: Timestamp) -> Int64 { time.milliseconds / 1000 / stepSeconds }

    /// The step whose code this is, among the present one and its two neighbours, as clocks differ. Nil: it is wrong.
    package func step(of code: String, at time: Timestamp) -> Int64? {
        let digits = code.filter { !$0.isWhitespace }
        guard digits.utf8.count == 6, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let now = Self.step(at: time)
        var found: Int64?
        // All three are compared, so that the time says nothing about which one it is.
        for step in [now - 1, now, now + 1] where Self.isSame(self.code(step), digits) { found = step }
        return found
    }

    private static func isSame(_ one: String, _ other: String) -> Bool {
        var difference: UInt8 = 0
        for (left, right) in zip(one.utf8, other.utf8) { difference |= left ^ right }
        return difference == 0
    }

    /// The six digits of a step.
    package func code(_ step: Int64) -> String {
        let number = UInt64(max(0, step))
        let message = (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
        let code = HMAC<Insecure.SHA1>.authenticationCode(for: message, using: SymmetricKey(data: secret))
        let bytes = Array(code)
        let offset = Int((bytes.last ?? 0) & 0x0F)
        var value: UInt32 = 0
        for byte in bytes.dropFirst(offset).prefix(4) { value = value << 8 | UInt32(byte) }
        let digits = String((value & 0x7FFF_FFFF) % Self.modulus)
        return String(repeating: "0", count: max(0, 6 - digits.count)) + digits
    }

    /// The secret as people type it: base 32 in groups of four.
    package var text: String {
        let letters = Array(Self.base32(secret))
        return stride(from: 0, to: letters.count, by: 4)
            .map { String(letters[$0..<min($0 + 4, letters.count)]) }.joined(separator: " ")
    }

    /// The address that an authenticator application reads.
    package func address(account: String) -> String {
        let label = PercentCoding.encode("push-gateway:\(account)")
        return
            "otpauth://totp/\(label)?secret=\(Self.base32(secret))&issuer=push-gateway&algorithm=SHA1&digits=6&period=30"
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")

    static func base32(_ bytes: [UInt8]) -> String {
        var out = ""
        var buffer: UInt32 = 0
        var bits = 0
        for byte in bytes {
            buffer = (buffer & 0xFF) << 8 | UInt32(byte)
            bits += 8
            while bits >= 5 {
                bits -= 5
                out.append(alphabet[Int(buffer >> UInt32(bits)) & 31])
            }
        }
        if bits > 0 { out.append(alphabet[Int(buffer << UInt32(5 - bits)) & 31]) }
        return out
    }
}
