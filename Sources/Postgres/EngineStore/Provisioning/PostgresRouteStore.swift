package import Model
package import PostgresClient
package import Store

/// The versions of the rules of apps. Versions are only inserted. `PostgresProvisioningStore` inserts those of a provisioning file.
package struct PostgresRouteStore: Sendable {
    private let engine: PostgresPool

    /// - Parameter engine: the pool of `gateway_engine`.
    package init(engine: PostgresPool) { self.engine = engine }

    /// Returns an app with its version in force; nil when the tenant does not have the app, or it is retired.
    ///
    /// - Throws: `StoreError`.
    package func routes(of app: AppID, in tenant: TenantID) async throws(StoreError) -> AppRoutes? {
        try await asStore { () throws(PostgresError) in
            let result = try await engine.run(RouteSQL.app(.id(tenant), .id(app)), tenant: nil)
            guard let row = result.first else { return nil }
            return AppRoutes(app: app, current: try row.optionalInt("version") == nil ? nil : StoredRoutes(row))
        }
    }

    /// Returns the versions in force of the tenant's apps.
    ///
    /// - Throws: `StoreError`.
    package func current(in tenant: TenantID) async throws(StoreError) -> [StoredRoutes] {
        try await asStore { () throws(PostgresError) in
            try await engine.run(RouteSQL.current(.id(tenant)), tenant: nil).rows(StoredRoutes.init)
        }
    }

    /// Returns one version; nil when the app does not have it.
    ///
    /// - Throws: `StoreError`.
    package func version(
        _ version: Int,
        of app: AppID,
        in tenant: TenantID
    ) async throws(StoreError) -> StoredRoutes? {
        try await asStore { () throws(PostgresError) in
            let statement = RouteSQL.version(.id(tenant), .id(app), .int32(Int32(clamping: version)))
            return try await engine.run(statement, tenant: nil).rows(StoredRoutes.init).first
        }
    }

    /// Returns the versions of an app below `version`, the newest first. Nil: all.
    ///
    /// - Throws: `StoreError`.
    package func versions(
        of app: AppID,
        in tenant: TenantID,
        before version: Int?,
        limit: Int
    ) async throws(StoreError) -> [RouteVersion] {
        try await asStore { () throws(PostgresError) in
            let end = Int32(clamping: version ?? Int(Int32.max))
            let statement = RouteSQL.versions(.id(tenant), .id(app), .int32(end), .int(limit))
            return try await engine.run(statement, tenant: nil).rows(RouteVersion.init)
        }
    }

    /// Stores the next version of an app's rules, with its row of the audit and its event. It runs in the lock of provisioning.
    ///
    /// - Parameters:
    ///   - draft: the version.
    ///   - upstreams: the credentials whose facts the check of the rules has used.
    ///   - restored: the version whose content it has; nil: that of none.
    ///   - tenant: the app's tenant.
    ///   - actor: the caller.
    /// - Returns: the number of the version. Nil: another version is in force, a credential has changed, or a migration of the app runs; nothing was written.
    /// - Throws: `StoreError`.
    package func put(
        _ draft: RouteDraft,
        checkedWith upstreams: [CheckedUpstream],
        restoring restored: Int? = nil,
        in tenant: TenantID,
        by actor: AuditActor
    ) async throws(StoreError) -> Int? {
        let changed = RouteSQL.changedUpstreams(
            .id(tenant),
            .strings(upstreams.map(\.credential.rawValue)),
            .int64s(upstreams.map(\.version))
        )
        // A migration that runs has the overlay.
        let migrating = RouteSQL.migration(.id(tenant), .id(draft.app))
        let reads = [ProvisioningSQL.lock(), changed, migrating]
        let transaction = Transaction(tenant: nil, reads) { (results) throws(PostgresError) in
            guard try results.result(1).isEmpty, try results.result(2).isEmpty else { return .commit }
            return Step([RouteSQL.put([draft], .api, in: tenant, by: actor)]) { (written) throws(PostgresError) in
                let changes = try RouteChange.all(of: [draft], .api, restored: restored, written.result(0))
                guard let changes, let change = changes.first else { return .commit }
                return Step([
                    [change.record].written(by: actor, in: tenant), RouteSQL.event(change, in: tenant),
                    ProvisioningSQL.notify(),
                ])
            }
        }
        return try await asStore { () throws(PostgresError) in
            let results = try await engine.run(transaction)
            guard results.count > reads.count else { return nil }
            return try results.result(reads.count).first?.optionalInt("version")
        }
    }

    /// Returns the migration that decides the overlay of an app; nil: calls may change it.
    ///
    /// - Throws: `StoreError`.
    package func migration(of app: AppID, in tenant: TenantID) async throws(StoreError) -> String? {
        try await asStore { () throws(PostgresError) in
            try await engine.run(RouteSQL.migration(.id(tenant), .id(app)), tenant: nil).first?.optionalText(
                "migration_id"
            )
        }
    }

    /// The result of a version that a migration makes.
    package enum Migrated: Sendable, Hashable {
        case stored(version: Int)
        /// Another version is in force, or a credential has changed; nothing was written.
        case otherRules
        /// The migration has changed meanwhile; nothing was written.
        case outdated
    }

    private static let outdated = "migration"

    /// Stores the next version of an app's rules together with the change of the migration that makes it. It runs in the lock of provisioning.
    ///
    /// - Parameters:
    ///   - draft: the version.
    ///   - upstreams: the credentials whose facts the check of the rules has used.
    ///   - companion: the change of the migration.
    ///   - tenant: the app's tenant.
    ///   - actor: the author.
    /// - Returns: the version, or why nothing was written.
    /// - Throws: `StoreError`.
    package func migrate(
        _ draft: RouteDraft,
        checkedWith upstreams: [CheckedUpstream],
        with companion: RouteCompanion,
        in tenant: TenantID,
        by actor: AuditActor
    ) async throws(StoreError) -> Migrated {
        let changed = RouteSQL.changedUpstreams(
            .id(tenant),
            .strings(upstreams.map(\.credential.rawValue)),
            .int64s(upstreams.map(\.version))
        )
        let reads = [ProvisioningSQL.lock(), changed]
        let transaction = Transaction(tenant: nil, reads) { (results) throws(PostgresError) in
            guard try results.result(1).isEmpty else { return .commit }
            // The app before the migration, in the order of locks.
            return Step([RouteSQL.put([draft], .migration, in: tenant, by: actor)]) { (written) throws(PostgresError) in
                let changes = try RouteChange.all(of: [draft], .migration, written.result(0))
                guard let changes, let change = changes.first else { return .commit }
                return Step([companion.condition]) { (moved) throws(PostgresError) in
                    guard try moved.result(0).affectedRows == 1 else { throw .abandoned(Self.outdated) }
                    let audit = [change.record].written(by: actor, in: tenant)
                    let rest = companion.others(change.version)
                    let events = [RouteSQL.event(change, in: tenant)] + Array(rest.suffix(1))
                    return Step(Array(rest.dropLast()) + [audit] + events + [ProvisioningSQL.notify()])
                }
            }
        }
        do throws(PostgresError) {
            let results = try await engine.run(transaction)
            guard results.count > reads.count else { return .otherRules }
            let version = try results.result(reads.count).first?.optionalInt("version")
            return version.map { .stored(version: $0) } ?? .otherRules
        } catch {
            if error.code == .abandoned, error.reason == Self.outdated { return .outdated }
            throw StoreError(error)
        }
    }
}
