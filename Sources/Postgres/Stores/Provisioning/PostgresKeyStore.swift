package import FoundationEssentials
package import Model

/// API keys made by hand, beside those of the provisioning file.
package struct PostgresKeyStore: Sendable {
    private let engine: PostgresPool

    /// - Parameter engine: the pool of `gateway_engine`.
    package init(engine: PostgresPool) { self.engine = engine }

    /// Adds a key. Nil when there is no such tenant, or its name or hash is taken.
    ///
    /// - Throws: `StoreError`.
    package func create(_ key: ProvisionedKey, in tenant: TenantID) async throws(StoreError) -> UUID? {
        let statement = DirectorySQL.createKey(
            .id(tenant),
            .string(key.name),
            .bytes(key.hash),
            .strings(key.scopes),
            .time(key.expiresAt)
        )
        return try await asStore { () throws(PostgresError) in
            let results = try await engine.run([statement, ProvisioningSQL.notify()], tenant: nil)
            return try results.result(0).first?.uuid("key_id")
        }
    }

    /// A tenant's keys, or everybody's.
    ///
    /// - Throws: `StoreError`.
    package func list(_ tenant: TenantID?) async throws(StoreError) -> [StoredKey] {
        try await asStore { () throws(PostgresError) in
            try await engine.run(DirectorySQL.listKeys(.id(tenant)), tenant: nil).rows(Self.key)
        }
    }

    private static func key(_ row: Row) throws(PostgresError) -> StoredKey {
        StoredKey(
            id: try row.uuid("key_id"),
            tenant: try row.id("tenant_id"),
            name: try row.text("name"),
            scopes: try row.texts("scopes"),
            createdAt: try row.time("created_at"),
            expiresAt: try row.optionalTime("expires_at"),
            lastUsedAt: try row.optionalTime("last_used_at"),
            isProvisioned: try row.bool("is_provisioned")
        )
    }

    /// Removes a key by its name or id; false when there is none.
    ///
    /// - Throws: `StoreError`.
    package func revoke(_ nameOrID: String, in tenant: TenantID) async throws(StoreError) -> Bool {
        try await asStore { () throws(PostgresError) in
            let results = try await engine.run(
                [DirectorySQL.revokeKey(.id(tenant), .string(nameOrID)), ProvisioningSQL.notify()],
                tenant: nil
            )
            return try !results.result(0).isEmpty
        }
    }
}
