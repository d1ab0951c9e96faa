import Crypto
import Foundation
import Model

/// One key of the ring that seals every stored secret: 32 random bytes, which are stored outside the database.
///
/// The database stores the id and a check value of the key that seals at present, so that a node with another key refuses to start instead of writing secrets
/// that the other nodes cannot open.
package struct MasterKey: Sendable {
    /// How the 32 bytes are used.
    package enum Form: Sendable, Hashable {
        /// The bytes themselves encrypt and authenticate: the form of the first versions.
        case raw
        /// Each purpose has a key of its own, derived by HKDF-SHA256 (RFC 5869).
        case derived
    }

    static let byteCount = 32
    /// The prefix of a line of the key file with a key of the form `derived`.
    static let derivedPrefix = "v2:"

    /// 16 hex digits that distinguish keys and reveal nothing about the key.
    package let id: String
    package let form: Form
    private let bytes: [UInt8]
    private let sealing: SymmetricKey
    private let nonces: SymmetricKey
    private let check: [UInt8]

    /// - Throws: `MasterKeyError.wrongLength` unless there are exactly 32 bytes.
    package init(bytes: [UInt8], form: Form = .raw) throws(MasterKeyError) {
        guard bytes.count == Self.byteCount else { throw .wrongLength(bytes.count) }
        self.bytes = bytes
        self.form = form
        let digest: [UInt8]
        switch form {
        case .raw:
            let key = SymmetricKey(data: bytes)
            (sealing, nonces) = (key, key)
            digest = Self.code("push-gateway key id", key)
            check = Self.code("push-gateway check value", key)
        case .derived:
            sealing = SymmetricKey(data: HKDF.block(of: bytes, info: "push-gateway master key sealing"))
            nonces = SymmetricKey(data: HKDF.block(of: bytes, info: "push-gateway master key nonce"))
            digest = HKDF.block(of: bytes, info: "push-gateway master key id")
            check = HKDF.block(of: bytes, info: "push-gateway master key check value")
        }
        id = HexCoding.encode(Array(digest.prefix(8)))
    }

    /// A new random key of the form `derived`.
    ///
    /// - Throws: never for 32 bytes.
    package static func random() throws(MasterKeyError) -> MasterKey {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<byteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return try MasterKey(bytes: bytes, form: .derived)
    }

    /// The key's line in the key file.
    package var line: String { (form == .raw ? "" : Self.derivedPrefix) + HexCoding.encode(bytes) }

    /// The value by which the database recognizes this key.
    package var checkValue: [UInt8] { check }

    /// The secret from which the secrets that are known outside are derived, as long as no key was replaced.
    package var root: RootSecret {
        RootSecret(bytes: form == .raw ? bytes : HKDF.block(of: bytes, info: "push-gateway master key root"))
    }

    /// The 32 bytes that encrypt backups (`BackupCipher`).
    package var backupSecret: [UInt8] { HKDF.block(of: bytes, info: "push-gateway backup") }

    private static func code(_ text: String, _ key: SymmetricKey) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key))
    }

    /// Seals `secret` for one `context`; it cannot be opened in another context.
    ///
    /// Format: 12 bytes nonce, ciphertext, 16 bytes tag (AES-256-GCM).
    ///
    /// - Throws: `MasterKeyError.sealing`, which cannot occur with a working random number generator.
    package func seal(_ secret: [UInt8], context: String) throws(MasterKeyError) -> [UInt8] {
        try seal(secret, context, AES.GCM.Nonce())
    }

    /// Seals `secret` like `seal`, with equal output for equal secrets and contexts, so that applying unchanged content changes nothing. The nonce is a MAC of
    /// both, so that different inputs have different nonces.
    ///
    /// - Throws: `MasterKeyError.sealing`.
    package func sealSame(_ secret: [UInt8], context: String) throws(MasterKeyError) -> [UInt8] {
        let name = Array("push-gateway nonce".utf8) + [0] + Array(context.utf8) + [0] + secret
        let digest = HMAC<SHA256>.authenticationCode(for: name, using: nonces)
        guard let nonce = try? AES.GCM.Nonce(data: Array(digest).prefix(12)) else { throw .sealing }
        return try seal(secret, context, nonce)
    }

    private func seal(_ secret: [UInt8], _ context: String, _ nonce: AES.GCM.Nonce) throws(MasterKeyError) -> [UInt8] {
        do {
            let box = try AES.GCM.seal(secret, using: sealing, nonce: nonce, authenticating: Array(context.utf8))
            guard let combined = box.combined else { throw MasterKeyError.sealing }
            return Array(combined)
        } catch {
            throw .sealing
        }
    }

    /// Opens the output of `seal` for the same `context`.
    ///
    /// - Throws: `MasterKeyError.notOurs` for another key, another context or damaged bytes.
    package func open(_ sealed: [UInt8], context: String) throws(MasterKeyError) -> [UInt8] {
        do {
            let box = try AES.GCM.SealedBox(combined: sealed)
            return Array(try AES.GCM.open(box, using: sealing, authenticating: Array(context.utf8)))
        } catch {
            throw .notOurs
        }
    }
}

/// The secret from which the secrets that others know are derived: those of senders, and the signing key of the audit. A new master key does not change it.
package struct RootSecret: Sendable {
    /// 32 bytes.
    let bytes: [UInt8]

    /// The 32 bytes that sign the calls to a sender. They are derived, and therefore need not be stored.
    func senderSecret(_ tenant: TenantID, _ app: AppID, _ vendor: Vendor, _ sender: SenderID) -> [UInt8] {
        var code = HMAC<SHA256>(key: SymmetricKey(data: bytes))
        // None of the parts contains a NUL, so that no two senders have the same text.
        for part in ["push-gateway sender", "\(tenant)", "\(app)", "\(vendor)", "\(sender)"] {
            code.update(data: Array(part.utf8) + [0])
        }
        return Array(code.finalize())
    }

    /// 32 bytes for one purpose (HKDF-SHA256). Two purposes never share a key, and no derived key reveals another.
    func derived(_ purpose: String) -> [UInt8] { HKDF.block(of: bytes, info: "push-gateway \(purpose)") }
}

extension HKDF<SHA256> {
    /// The first block of the expansion, 32 bytes, without a salt (RFC 5869).
    fileprivate static func block(of key: [UInt8], info: String) -> [UInt8] {
        let extracted = extract(inputKeyMaterial: SymmetricKey(data: key), salt: [UInt8]())
        let text = Array(info.utf8) + [1]
        return Array(HMAC<SHA256>.authenticationCode(for: text, using: SymmetricKey(data: extracted)))
    }
}
