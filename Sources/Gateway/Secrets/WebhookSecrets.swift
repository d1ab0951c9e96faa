package import Model

/// Creates the secrets of webhooks, and seals each for one webhook. No other webhook can open it.
package struct WebhookSecrets: Sendable {
    private let keyRing: KeyRing
    private let identifiers: any IdentifierSource

    package init(keyRing: KeyRing, identifiers: any IdentifierSource) {
        self.keyRing = keyRing
        self.identifiers = identifiers
    }

    /// Creates a secret of 256 random bits. People and scanners for leaked secrets can recognize its prefix.
    package func make() -> String { "whsec_" + identifiers.randomHex(byteCount: 32) }

    /// - Throws: `MasterKeyError`.
    package func seal(
        _ secret: String,
        of id: WebhookID,
        in tenant: TenantID
    ) throws(MasterKeyError) -> SealedSecret {
        let bytes = try keyRing.seal(Array(secret.utf8), context: SealContext.webhook(id, tenant))
        return SealedSecret(keyID: "whk_" + identifiers.randomHex(byteCount: 4), bytes: bytes)
    }

    /// Opens the secret; nil when it was sealed with another master key.
    package func open(_ secret: SealedSecret, of id: WebhookID, in tenant: TenantID) -> [UInt8]? {
        do throws(MasterKeyError) {
            return try keyRing.open(secret.bytes, context: SealContext.webhook(id, tenant))
        } catch {
            return nil
        }
    }
}
