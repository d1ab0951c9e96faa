package import APNs
import Crypto
package import EngineStore
import Foundation
package import Model

/// Stores the cluster's provider tokens, sealed, in PostgreSQL: one node renews a token and every node sends the same one (I8).
package struct SealedProviderTokenStore: ProviderTokenStore {
    package let directory: PostgresDirectory
    package let keyRing: KeyRing

    package init(directory: PostgresDirectory, keyRing: KeyRing) {
        self.directory = directory
        self.keyRing = keyRing
    }

    package func standing(for signer: ProviderTokenSigner.ID) async throws(APNsError) -> ProviderToken? {
        do {
            return try await directory.providerToken(Self.key(signer)).map { try open($0, signer) }
        } catch {
            throw APNsError(.tokenUnavailable, underlying: "\(error)")
        }
    }

    package func offer(
        _ token: ProviderToken,
        for signer: ProviderTokenSigner.ID,
        replacingOlderThan time: Timestamp
    ) async throws(APNsError) -> ProviderToken {
        do {
            let sealed = try keyRing.seal(
                Array(token.text.utf8),
                context: SealContext.providerToken(team: signer.teamID, key: signer.keyID)
            )
            let standing = try await directory.offerProviderToken(
                StoredProviderToken(sealed: sealed, issuedAt: token.issuedAt),
                for: Self.key(signer),
                replacingOlderThan: time
            )
            return try open(standing, signer)
        } catch {
            throw APNsError(.tokenUnavailable, underlying: "\(error)")
        }
    }

    private func open(_ stored: StoredProviderToken, _ signer: ProviderTokenSigner.ID) throws -> ProviderToken {
        let text = try keyRing.open(
            stored.sealed,
            context: SealContext.providerToken(team: signer.teamID, key: signer.keyID)
        )
        return ProviderToken(
            teamID: signer.teamID,
            keyID: signer.keyID,
            issuedAt: stored.issuedAt,
            text: String(decoding: text, as: UTF8.self)
        )
    }

    /// The public key is part of the row's key: a signer with the same team and key id but another key gets a separate row.
    private static func key(_ signer: ProviderTokenSigner.ID) -> ProviderTokenKey {
        ProviderTokenKey(
            teamID: signer.teamID,
            keyID: signer.keyID,
            fingerprint: Array(SHA256.hash(data: Data(signer.publicKeyPEM.utf8)))
        )
    }
}
