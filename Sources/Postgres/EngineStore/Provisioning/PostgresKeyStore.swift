package import FoundationEssentials
package import Model
package import PostgresClient
package import Store

/// Manages the API keys that are created through the API or by commands, in addition to those of the provisioning file.
package struct PostgresKeyStore: Sendable {
    let engine: PostgresPool

    /// - Parameter engine: the pool of `gateway_engine`.
    package init(engine: PostgresPool) { self.engine = engine }

    /// Adds a key. Returns nil when the tenant does not exist, when the name or hash is in use, or when the tenant has `limit` keys that no file created.
    ///
    /// - Throws: `StoreError`.
    package func create(
        _ key: ProvisionedKey,
        in tenant: TenantID,
        limit: Int? = nil,
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
            let change = KeyChange(statement: statement, action: .create, data: data, limit: limit)
            return try await audited(change, by: actor, in: tenant)?.uuid("key_id")
        }
    }

    private struct KeyChange: Sendable {
        var statement: Statement
        var action: AuditAction
        var data: JSON?
        /// The number of keys from which on nothing is changed.
        var limit: Int?
    }

    /// Changes a key, writes the audit row and notifies the nodes. Returns nil when nothing changed.
    private func audited(
        _ change: KeyChange,
        by actor: AuditActor,
        in tenant: TenantID
    ) async throws(PostgresError) -> Row? {
        // The lock makes the count exact.
        let reads = [ProvisioningSQL.lock(), DirectorySQL.keyCount(.id(tenant))]
        let transaction = Transaction(tenant: nil, reads) { (results) throws(PostgresError) in
            if let limit = change.limit, try results.result(1).only().int("keys") >= limit { return .commit }
            return Step([change.statement]) { (written) throws(PostgresError) in
                guard let row = try written.result(0).first else { return .commit }
                let record = AuditRecord(change.action, "key \(try row.text("name"))", data: change.data)
                return Step([[record].written(by: actor, in: tenant), ProvisioningSQL.notify()])
            }
        }
        let results = try await engine.run(transaction)
        return results.count > reads.count ? try results.result(reads.count).first : nil
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

    /// Returns a key of a tenant by its name; nil when it does not exist.
    ///
    /// - Throws: `StoreError`.
    package func key(_ name: String, of tenant: TenantID) async throws(StoreError) -> StoredKey? {
        try await asStore { () throws(PostgresError) in
            try await engine.run(DirectorySQL.oneKey(.id(tenant), .string(name)), tenant: nil).rows(Self.key).first
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
            isProvisioned: try row.bool("is_provisioned"),
            secretAt: try row.time("secret_at"),
            previousAt: try row.optionalTime("previous_at")
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
            let change = KeyChange(statement: statement, action: .rotate, data: ["overlapSeconds": .int(seconds)])
            return try await audited(change, by: actor, in: tenant) != nil
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
            try await audited(KeyChange(statement: statement, action: .revoke), by: actor, in: tenant) != nil
        }
    }

    /// Removes a key by its id. Returns false when it does not exist, or is from the provisioning file.
    ///
    /// - Throws: `StoreError`.
    package func remove(_ key: UUID, in tenant: TenantID, by actor: AuditActor) async throws(StoreError) -> Bool {
        let statement = DirectorySQL.removeKey(.id(tenant), .uuid(key))
        return try await asStore { () throws(PostgresError) in
            try await audited(KeyChange(statement: statement, action: .revoke), by: actor, in: tenant) != nil
        }
    }
}
