import Crypto
import Foundation
package import Model

/// The key that seals every stored secret: 32 random bytes in a separate file, outside the directory of the database cluster.
///
/// The database stores a key id and a check value, so that a node with another key refuses to start instead of writing secrets that the other nodes cannot
/// open.
package struct MasterKey: Sendable {
    /// The first 16 hex digits of an HMAC-SHA256 with the key over a label. It distinguishes keys and reveals nothing about the key.
    package let id: String
    private let key: SymmetricKey

    /// - Throws: `MasterKeyError.wrongLength` unless there are exactly 32 bytes.
    package init(bytes: [UInt8]) throws(MasterKeyError) {
        guard bytes.count == 32 else { throw .wrongLength(bytes.count) }
        key = SymmetricKey(data: bytes)
        let digest = HMAC<SHA256>.authenticationCode(for: Array("push-gateway key id".utf8), using: key)
        id = HexCoding.encode(Array(digest).prefix(8))
    }

    /// The value by which the database recognizes this key: a MAC of a fixed text.
    package var checkValue: [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Array("push-gateway check value".utf8), using: key))
    }

    /// Seals `secret` for one `context`; it cannot be opened in another context.
    ///
    /// Format: 12 bytes nonce, ciphertext, 16 bytes tag (AES-256-GCM).
    ///
    /// - Throws: `MasterKeyError.sealing`, which cannot occur with a working random number generator.
    package func seal(_ secret: [UInt8], context: String) throws(MasterKeyError) -> [UInt8] {
        do {
            let box = try AES.GCM.seal(secret, using: key, authenticating: Array(context.utf8))
            guard let combined = box.combined else { throw MasterKeyError.sealing }
            return Array(combined)
        } catch {
            throw .sealing
        }
    }

    /// Seals `secret` like `seal`, with equal output for equal secrets and contexts, so that applying unchanged content changes nothing. The nonce is a MAC of
    /// both, so that different inputs have different nonces.
    ///
    /// - Throws: `MasterKeyError.sealing`.
    package func sealSame(_ secret: [UInt8], context: String) throws(MasterKeyError) -> [UInt8] {
        let name = Array("push-gateway nonce".utf8) + [0] + Array(context.utf8) + [0] + secret
        do {
            let digest = HMAC<SHA256>.authenticationCode(for: name, using: key)
            let nonce = try AES.GCM.Nonce(data: Array(digest).prefix(12))
            let box = try AES.GCM.seal(secret, using: key, nonce: nonce, authenticating: Array(context.utf8))
            guard let combined = box.combined else { throw MasterKeyError.sealing }
            return Array(combined)
        } catch {
            throw .sealing
        }
    }

    /// The 32 bytes that sign the calls to a sender. They are derived from the master key, and therefore need not be stored.
    package func senderSecret(_ tenant: TenantID, _ app: AppID, _ vendor: Vendor, _ sender: SenderID) -> [UInt8] {
        var code = HMAC<SHA256>(key: key)
        // None of the parts contains a NUL, so that no two senders have the same text.
        for part in ["push-gateway sender", "\(tenant)", "\(app)", "\(vendor)", "\(sender)"] {
            code.update(data: Array(part.utf8) + [0])
        }
        return Array(code.finalize())
    }

    /// 32 bytes for one purpose, derived from the master key (HKDF-SHA256, RFC 5869). Two purposes never share a key, and no derived key reveals another.
    package func derived(_ purpose: String) -> [UInt8] {
        let extracted = HKDF<SHA256>.extract(inputKeyMaterial: key, salt: [UInt8]())
        // 32 bytes are the first block of the expansion.
        let info = Array("push-gateway \(purpose)".utf8) + [1]
        return Array(HMAC<SHA256>.authenticationCode(for: info, using: SymmetricKey(data: extracted)))
    }

    /// Opens the output of `seal` for the same `context`.
    ///
    /// - Throws: `MasterKeyError.notOurs` for another key, another context or damaged bytes.
    package func open(_ sealed: [UInt8], context: String) throws(MasterKeyError) -> [UInt8] {
        do {
            let box = try AES.GCM.SealedBox(combined: sealed)
            return Array(try AES.GCM.open(box, using: key, authenticating: Array(context.utf8)))
        } catch {
            throw .notOurs
        }
    }

    /// Reads the key file, which only its owner may read. If it is absent and `createIfMissing` is true, the file is created with mode 0600.
    ///
    /// - Throws: `MasterKeyError`.
    package static func load(path: String, createIfMissing: Bool) throws(MasterKeyError) -> MasterKey {
        if let text = FileManager.default.contents(atPath: path) {
            guard !isOpenToOthers(path) else { throw .openToOthers(path) }
            let hex = String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            guard let bytes = HexCoding.decode(hex) else { throw .unreadable(path) }
            return try MasterKey(bytes: bytes)
        }
        guard createIfMissing else { throw .missing(path) }
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let made = try MasterKey(bytes: bytes)
        let text = Data((HexCoding.encode(bytes) + "\n").utf8)
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard FileManager.default.createFile(atPath: path, contents: text, attributes: attributes) else {
            throw .unwritable(path)
        }
        return made
    }

    /// Whether the group or other users may read or change the file that the path leads to.
    private static func isOpenToOthers(_ path: String) -> Bool {
        let file = URL(filePath: path).resolvingSymlinksInPath().path(percentEncoded: false)
        let mode = (try? FileManager.default.attributesOfItem(atPath: file))?[.posixPermissions] as? Int
        return mode.map { $0 & 0o077 != 0 } ?? false
    }
}

/// The reason why the master key cannot be used. The paths come from the operator's own settings.
package enum MasterKeyError: Error, CustomStringConvertible {
    case missing(String)
    case unreadable(String)
    case unwritable(String)
    case openToOthers(String)
    case wrongLength(Int)
    case sealing
    case notOurs
    case mismatch(stored: String, ours: String)

    package var description: String {
        switch self {
        case .missing(let path):
            "no master key file at \(path): copy it from another node, or, for the first node of a new database, create it: "
                + "mkdir -p $(dirname '\(path)') && (umask 077 && openssl rand -hex 32 >'\(path)')"
        case .unreadable(let path): "the master key file \(path) must contain 64 hex digits"
        case .unwritable(let path): "cannot write the master key file \(path)"
        case .openToOthers(let path):
            "other users can read or change the master key file \(path): chmod 600 '\(path)'; if it was readable for long, replace the secrets that it seals"
        case .wrongLength(let count): "a master key has 32 bytes, this one has \(count)"
        case .sealing: "sealing failed"
        case .notOurs: "a sealed secret cannot be opened with this master key"
        case .mismatch(let stored, let ours):
            "the database's secrets are sealed with master key \(stored), this node has \(ours); start it with the right --master-key-file"
        }
    }
}
