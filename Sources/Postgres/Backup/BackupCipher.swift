import Crypto
import Foundation

/// The form of an encrypted backup: a header, and the output of pg_dump in chunks of 64 KiB, each encrypted with AES-256-GCM.
///
/// | bytes | content |
/// |---|---|
/// | 8 | `PGWBAK01` |
/// | 16 | the id of the master key, in hexadecimal |
/// | 32 | random |
/// | then | chunks of 64 KiB, each followed by its tag of 16 bytes; only the last chunk may be shorter |
///
/// The key of a file is HMAC-SHA256 of its header under the backup key of the master key, so that no two files share one. The nonce of a chunk is three
/// zeros, its number (8 bytes, big-endian, from 0), and 1 for the last chunk, else 0. The header is authenticated with every chunk. So a chunk that was
/// changed, moved, repeated, left out or taken from another file is found, and so is a file whose end is missing.
struct BackupCipher {
    static let magic = Array("PGWBAK01".utf8)
    static let idBytes = 16
    static let saltBytes = 32
    static let headerBytes = magic.count + idBytes + saltBytes
    /// 64 KiB: what a command holds of a backup.
    static let chunkBytes = 64 * 1024
    static let tagBytes = 16
    static let sealedBytes = chunkBytes + tagBytes

    let header: [UInt8]
    private let key: SymmetricKey

    /// The cipher of a new file.
    init(_ key: BackupKey, salt: [UInt8]) {
        self.init(header: Self.magic + Array(key.id.utf8) + salt, key)
    }

    /// The cipher of the file with this header.
    init(header: [UInt8], _ key: BackupKey) {
        self.header = header
        let secret = SymmetricKey(data: key.secret)
        self.key = SymmetricKey(data: Array(HMAC<SHA256>.authenticationCode(for: header, using: secret)))
    }

    /// The id of the key in a header.
    static func keyID(in header: [UInt8]) -> String {
        let digits = header.dropFirst(magic.count).prefix(idBytes)
        // The header may be damaged, and the id is printed.
        let isReadable = digits.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        return isReadable ? String(decoding: digits, as: UTF8.self) : "(unreadable)"
    }

    static func randomSalt() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<saltBytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// - Throws: `failed`, which cannot occur with nonces of 12 bytes.
    func seal(_ chunk: [UInt8], _ number: UInt64, isLast: Bool) throws(BackupError) -> [UInt8] {
        do {
            let nonce = try AES.GCM.Nonce(data: Self.nonce(number, isLast))
            let box = try AES.GCM.seal(chunk, using: key, nonce: nonce, authenticating: header)
            return Array(box.ciphertext) + Array(box.tag)
        } catch {
            throw BackupError(.failed, "a part of the backup could not be encrypted")
        }
    }

    /// The chunk; nil when these bytes were not written as this chunk of this file.
    func open(_ sealed: [UInt8], _ number: UInt64, isLast: Bool) -> [UInt8]? {
        guard sealed.count >= Self.tagBytes,
            let nonce = try? AES.GCM.Nonce(data: Self.nonce(number, isLast)),
            let box = try? AES.GCM.SealedBox(
                nonce: nonce,
                ciphertext: sealed.dropLast(Self.tagBytes),
                tag: sealed.suffix(Self.tagBytes)
            ),
            let chunk = try? AES.GCM.open(box, using: key, authenticating: header)
        else { return nil }
        return Array(chunk)
    }

    private static func nonce(_ number: UInt64, _ isLast: Bool) -> [UInt8] {
        let digits = stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
        return [0, 0, 0] + digits + [isLast ? 1 : 0]
    }
}
