package import FoundationEssentials
package import Model
package import PostgresClient
package import Store

/// Manages the API keys that are created by hand, in addition to those of the provisioning file.
package struct PostgresKeyStore: Sendable {
    private let engine: PostgresPool

    /// - Parameter engine: the pool of `gateway_engine`.
    package init(engine: PostgresPool) { self.engine = engine }

    /// Adds a key. Returns nil when the tenant does not exist, or the name or hash is in use.
    ///
    /// - Throws: `StoreError`.
    package func create(
        _ key: ProvisionedKey,
        in tenant: TenantID,
        by actor: AuditActor
    ) async throws(StoreError) -> UUID? {
        let statement = DirectorySQL.createKey(
            .id(tenant),
            .string(key.name),
            .bytes(key.hash),
            .strings(key.scopes),
            .time(key.expiresAt),
            .strings(key.networks),
            .int(key.recipientsPerDay.map(Int.init))
        )
        return try await asStore { () throws(PostgresError) in
            let data: JSON = [
                "scopes": .array(key.scopes.map { .string($0) }), "expiresAt": Self.time(key.expiresAt),
                "networks": .array(key.networks.map { .string($0) }),
                "recipientsPerDay": key.recipientsPerDay.map { .int(Int64($0)) } ?? .null,
            ]
            return try await audited(statement, .create, data, by: actor, in: tenant)?.uuid("key_id")
        }
    }

    /// Changes a key, writes the audit row and notifies the nodes. Returns nil when nothing changed.
    private func audited(
        _ statement: Statement,
        _ action: AuditAction,
        _ data: JSON?,
        by actor: AuditActor,
        in tenant: TenantID
    ) async throws(PostgresError) -> Row? {
        let transaction = Transaction(tenant: nil, [statement]) { (results) throws(PostgresError) in
            guard let row = try results.result(0).first else { return .commit }
            let record = AuditRecord(action, "key \(try row.text("name"))", data: data)
            return Step([[record].written(by: actor, in: tenant), ProvisioningSQL.notify()])
        }
        return try await engine.run(transaction).result(0).first
    }

    private static func time(_ time: Timestamp?) -> JSON { time.map { .int($0.milliseconds) } ?? .null }

    /// Returns the keys of one tenant, or of all tenants.
    ///
    /// - Throws: `StoreError`.
    package func list(_ tenant: TenantID?) async throws(StoreError) -> [StoredKey] {
        try await asStore { () throws(PostgresError) in
            try await engine.run(DirectorySQL.listKeys(.id(tenant)), tenant: nil).rows(Self.key)
        }
    }

    /// Returns keys of a tenant by name, beginning after `name`.
    ///
    /// - Throws: `StoreError`.
    package func page(of tenant: TenantID, after name: String?, limit: Int) async throws(StoreError) -> [StoredKey] {
        try await asStore { () throws(PostgresError) in
            try await engine.run(DirectorySQL.keyPage(.id(tenant), .string(name ?? ""), .int(limit)), tenant: nil)
                .rows(Self.key)
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
            networks: try row.texts("networks"),
            recipientsPerDay: try row.optionalInt("recipients_per_day"),
            recipientsToday: try row.optionalInt("recipients_today"),
            hasPrevious: try row.bool("has_previous"),
            previousUntil: try row.optionalTime("previous_until"),
            isProvisioned: try row.bool("is_provisioned")
        )
    }

    /// Gives a key a new secret, by its name or id. The secret that was in use stays valid for `overlap`; an older one ends now.
    ///
    /// Returns false when the key does not exist, or is from the provisioning file.
    /// - Throws: `StoreError`.
    package func rotate(
        _ nameOrID: String,
        to hash: [UInt8],
        overlap: Duration,
        in tenant: TenantID,
        by actor: AuditActor
    ) async throws(StoreError) -> Bool {
        let seconds = overlap.components.seconds
        let statement = DirectorySQL.rotateKey(.id(tenant), .string(nameOrID), .bytes(hash), .double(Double(seconds)))
        return try await asStore { () throws(PostgresError) in
            try await audited(statement, .rotate, ["overlapSeconds": .int(seconds)], by: actor, in: tenant) != nil
        }
    }

    /// Removes a key by its name or id. Returns false when it does not exist.
    ///
    /// - Throws: `StoreError`.
    package func revoke(
        _ nameOrID: String,
        in tenant: TenantID,
        by actor: AuditActor
    ) async throws(StoreError) -> Bool {
        let statement = DirectorySQL.revokeKey(.id(tenant), .string(nameOrID))
        return try await asStore { () throws(PostgresError) in
            try await audited(statement, .revoke, nil, by: actor, in: tenant) != nil
        }
    }
}
