import Crypto
import Foundation
package import Model
package import Store

/// Signs checkpoints of the audit (Ed25519) with a key that is derived from the master key.
package struct AuditSigner: Sendable {
    private let key: Curve25519.Signing.PrivateKey

    /// - Throws: an error of the cryptography library; a key of 32 bytes always fits.
    package init(_ keyRing: KeyRing) throws {
        key = try Curve25519.Signing.PrivateKey(rawRepresentation: keyRing.derived("audit checkpoint"))
    }

    /// The public key, 32 bytes, with which anyone can verify the checkpoints.
    package var publicKey: [UInt8] { Array(key.publicKey.rawRepresentation) }

    /// Signs the digest of the row at `position`.
    ///
    /// - Throws: an error of the cryptography library.
    package func checkpoint(
        _ tenant: TenantID,
        _ position: Int64,
        _ hash: [UInt8],
        at time: Timestamp
    ) throws -> AuditCheckpoint {
        let signature = try key.signature(for: Self.signed(tenant, position, hash))
        return AuditCheckpoint(
            position: position,
            hash: hash,
            at: time,
            signer: publicKey,
            signature: Array(signature)
        )
    }

    /// Whether the signature is right for the key that the checkpoint names. It does not say whose key that is.
    package static func isValid(_ checkpoint: AuditCheckpoint, of tenant: TenantID) -> Bool {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: checkpoint.signer) else { return false }
        return key.isValidSignature(
            checkpoint.signature,
            for: signed(tenant, checkpoint.position, checkpoint.hash)
        )
    }

    /// `push-gateway audit checkpoint`, tenant, position and digest in hex, separated by line feeds.
    private static func signed(_ tenant: TenantID, _ position: Int64, _ hash: [UInt8]) -> [UInt8] {
        let fields = ["push-gateway audit checkpoint", tenant.rawValue, String(position), HexCoding.encode(hash)]
        return Array(fields.joined(separator: "\n").utf8)
    }
}
