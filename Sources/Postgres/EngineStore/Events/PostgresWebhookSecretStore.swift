package import Model
package import PostgresClient
package import Store

/// Replaces the secrets of webhooks. Only the role of the engine may read a sealed secret, which the overlap copies.
package struct PostgresWebhookSecretStore: Sendable {
    private let engine: PostgresPool

    /// - Parameter engine: the pool of `gateway_engine`.
    package init(engine: PostgresPool) { self.engine = engine }

    /// Gives a webhook a new secret, and writes this into the audit. The secret in use signs next to it for `overlap`; an earlier one ends now.
    ///
    /// Returns false when the webhook does not exist.
    /// - Throws: `StoreError`.
    package func rotate(
        _ webhook: WebhookID,
        to secret: SealedSecret,
        overlap: Duration,
        in tenant: TenantID,
        by actor: AuditActor
    ) async throws(StoreError) -> Bool {
        let seconds = overlap.components.seconds
        let statement = WebhookSQL.rotate(
            .id(tenant),
            .id(webhook),
            .bytes(secret.bytes),
            .string(secret.keyID),
            .double(Double(seconds))
        )
        let data: JSON = ["keyId": .string(secret.keyID), "overlapSeconds": .int(seconds)]
        let record = AuditRecord(.rotate, "webhook \(webhook)", data: data)
        let transaction = Transaction(tenant: nil, [statement]) { (results) throws(PostgresError) in
            try results.result(0).affectedRows == 1 ? Step([[record].written(by: actor, in: tenant)]) : .commit
        }
        return try await asStore { () throws(PostgresError) in
            try await engine.run(transaction).result(0).affectedRows == 1
        }
    }
}
