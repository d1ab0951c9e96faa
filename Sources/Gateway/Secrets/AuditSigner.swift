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

    /// Signs the digest and the time (in microseconds since 1970) of the row at `position`.
    ///
    /// - Throws: an error of the cryptography library.
    package func checkpoint(
        _ tenant: TenantID,
        _ position: Int64,
        _ hash: [UInt8],
        micros: Int64
    ) throws -> AuditCheckpoint {
        var checkpoint = AuditCheckpoint(
            position: position,
            hash: hash,
            micros: micros,
            signer: publicKey,
            signature: []
        )
        checkpoint.signature = Array(try key.signature(for: Self.signed(checkpoint, tenant)))
        return checkpoint
    }

    /// Whether the signature is right for the key that the checkpoint names. It does not say whose key that is.
    package static func isValid(_ checkpoint: AuditCheckpoint, of tenant: TenantID) -> Bool {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: checkpoint.signer) else { return false }
        return key.isValidSignature(checkpoint.signature, for: signed(checkpoint, tenant))
            || key.isValidSignature(checkpoint.signature, for: signedWithoutTime(checkpoint, tenant))
    }

    /// `push-gateway audit checkpoint 2`, tenant, position, time in microseconds and digest in hex, separated by line feeds.
    private static func signed(_ checkpoint: AuditCheckpoint, _ tenant: TenantID) -> [UInt8] {
        let place = [tenant.rawValue, String(checkpoint.position), String(checkpoint.micros)]
        return lines(["push-gateway audit checkpoint 2"] + place + [HexCoding.encode(checkpoint.hash)])
    }

    /// Older programs sign less: `push-gateway audit checkpoint`, tenant, position and digest in hex.
    private static func signedWithoutTime(_ checkpoint: AuditCheckpoint, _ tenant: TenantID) -> [UInt8] {
        let place = [tenant.rawValue, String(checkpoint.position)]
        return lines(["push-gateway audit checkpoint"] + place + [HexCoding.encode(checkpoint.hash)])
    }

    private static func lines(_ fields: [String]) -> [UInt8] { Array(fields.joined(separator: "\n").utf8) }
}
