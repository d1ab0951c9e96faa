package import APNs
import Crypto
package import EngineStore
import Foundation
package import Model

/// Stores the cluster's provider tokens, sealed, in PostgreSQL: one node renews a token and every node sends the same one (I8).
package struct SealedProviderTokenStore: ProviderTokenStore {
    package let directory: PostgresDirectory
    package let masterKey: MasterKey

    package init(directory: PostgresDirectory, masterKey: MasterKey) {
        self.directory = directory
        self.masterKey = masterKey
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
            let sealed = try masterKey.seal(Array(token.text.utf8), context: Self.context(signer))
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
        let text = try masterKey.open(stored.sealed, context: Self.context(signer))
        return ProviderToken(
            teamID: signer.teamID,
            keyID: signer.keyID,
            issuedAt: stored.issuedAt,
            text: String(decoding: text, as: UTF8.self)
        )
    }

    private static func context(_ signer: ProviderTokenSigner.ID) -> String {
        "provider-token/\(signer.teamID)/\(signer.keyID)"
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
