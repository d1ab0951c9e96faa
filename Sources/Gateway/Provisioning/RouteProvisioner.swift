import Adapters
package import EngineStore
package import Model
package import Routing
package import Secrets
package import Store

/// The result of a write of an app's rules.
package enum RouteWrite: Sendable, Hashable {
    /// The tenant does not have the app.
    case missing
    /// The app does not have the version that is to be restored.
    case unknownVersion
    /// Another version is in force than the expected one; 0: none.
    case mismatch(version: Int)
    /// Other writes of the rules or of their upstreams came between, several times.
    case busy
    /// The app has as many versions as calls may make.
    case full
    /// The migration with this name decides the overlay.
    case migrating(String)
    /// The rules have that content already. Nil: the app has no rules.
    case unchanged(version: Int?)
    /// The new version is in force.
    case stored(version: Int)
}

/// Checks rules with the upstreams of their tenant, and stores versions of them: for calls of the native API. A provisioning file is stored by `Provisioner`.
package struct RouteProvisioner: Sendable {
    package let store: PostgresRouteStore
    private let directory: PostgresDirectory
    private let keyRing: KeyRing
    private let vendors: VendorCatalog

    package init(
        store: PostgresRouteStore,
        directory: PostgresDirectory,
        keyRing: KeyRing,
        vendors: VendorCatalog = .product
    ) {
        self.store = store
        self.directory = directory
        self.keyRing = keyRing
        self.vendors = vendors
    }

    /// Three attempts: a write of another caller may come between the read and the write.
    private static let attempts = 3

    /// Replaces the overlay of an app.
    ///
    /// - Parameters:
    ///   - app: the app.
    ///   - overlay: the rules, as `routes` of a file. Empty: the base applies alone.
    ///   - expected: the version in force that the caller has seen; 0: none.
    ///   - tenant: the app's tenant.
    ///   - actor: the caller.
    /// - Returns: what was done.
    /// - Throws: `ProvisioningProblem` with the place of a wrong rule as its path, `MasterKeyError`, `StoreError`.
    package func put(
        _ app: AppID,
        overlay: JSONObject,
        ifVersion expected: Int,
        in tenant: TenantID,
        by actor: AuditActor
    ) async throws -> RouteWrite {
        let overlay = try Self.read(overlay)
        return try await write(app, ifVersion: expected, in: tenant, by: actor) { now in
            RouteSet(base: now.base, overlay: overlay)
        }
    }

    /// Gives an app the content of one of its earlier versions, as a new version.
    ///
    /// - Parameters:
    ///   - app: the app.
    ///   - version: the earlier version.
    ///   - expected: the version in force that the caller has seen; nil: any.
    ///   - tenant: the app's tenant.
    ///   - actor: the caller.
    /// - Returns: what was done.
    /// - Throws: `ProvisioningProblem` when these rules can no longer be in force, `MasterKeyError`, `StoreError`.
    package func restore(
        _ app: AppID,
        version: Int,
        ifVersion expected: Int?,
        in tenant: TenantID,
        by actor: AuditActor
    ) async throws -> RouteWrite {
        guard try await store.routes(of: app, in: tenant) != nil else { return .missing }
        guard let stored = try await store.version(version, of: app, in: tenant) else { return .unknownVersion }
        let former = try RouteSet(stored)
        return try await write(app, ifVersion: expected, restoring: version, in: tenant, by: actor) { _ in former }
    }

    private func write(
        _ app: AppID,
        ifVersion expected: Int?,
        restoring restored: Int? = nil,
        in tenant: TenantID,
        by actor: AuditActor,
        _ change: (RouteSet) -> RouteSet
    ) async throws -> RouteWrite {
        for _ in 0..<Self.attempts {
            guard let found = try await store.routes(of: app, in: tenant) else { return .missing }
            let current = found.current?.version
            if let migration = try await store.migration(of: app, in: tenant) { return .migrating(migration) }
            if let expected, expected != current ?? 0 { return .mismatch(version: current ?? 0) }
            let now = try Self.current(found, restoring: restored)
            let changed = change(now ?? RouteSet())
            let upstreams = try await upstreams(of: tenant)
            let next = RouteSet(base: changed.base, overlay: changed.overlay, upstreams: upstreams.facts)
            guard next != now else { return .unchanged(version: current) }
            try check(next)
            let newest = try await store.versions(of: app, in: tenant, before: nil, limit: 1).first
            guard (newest?.version ?? 0) < RouteLimits.versions else { return .full }
            let version = try await store.put(
                RouteDraft(app, next, after: current),
                checkedWith: upstreams.checked(for: next),
                restoring: restored,
                in: tenant,
                by: actor
            )
            if let version { return .stored(version: version) }
        }
        return .busy
    }

    /// Nil: a newer program wrote the rules in force, which a rollback replaces without reading them.
    private static func current(_ found: AppRoutes, restoring restored: Int?) throws(ProvisioningProblem) -> RouteSet? {
        guard let stored = found.current else { return RouteSet() }
        do throws(ProvisioningProblem) { return try RouteSet(stored) } catch {
            guard restored != nil else { throw error }
            return nil
        }
    }

    // MARK: Migrations

    /// The result of a change of a migration that makes a version of its app's rules.
    package enum Migrated: Sendable, Hashable {
        /// The tenant does not have the app.
        case missing
        /// Other writes of the rules or of their upstreams came between, several times.
        case busy
        /// The rules have that content already: nothing was written.
        case unchanged
        /// The migration has changed meanwhile: nothing was written.
        case outdated
        case stored(version: Int)
    }

    /// Replaces the overlay of an app by that of a migration, in one transaction with the migration's own change. It is not limited in the number of versions, because
    /// a rollback must always be possible.
    ///
    /// - Parameters:
    ///   - app: the app.
    ///   - overlay: the rules of a stage.
    ///   - companion: the change of the migration.
    ///   - tenant: the app's tenant.
    ///   - actor: the author.
    /// - Returns: what was done.
    /// - Throws: `ProvisioningProblem` when the rules cannot be in force, `MasterKeyError`, `StoreError`.
    package func migrate(
        _ app: AppID,
        to overlay: RouteRules,
        with companion: RouteCompanion,
        in tenant: TenantID,
        by actor: AuditActor
    ) async throws -> Migrated {
        for _ in 0..<Self.attempts {
            guard let found = try await store.routes(of: app, in: tenant) else { return .missing }
            let now = try found.current.map { try RouteSet($0) } ?? RouteSet()
            let upstreams = try await upstreams(of: tenant)
            let next = RouteSet(base: now.base, overlay: overlay, upstreams: upstreams.facts)
            guard next != now else { return .unchanged }
            try check(next)
            let written = try await store.migrate(
                RouteDraft(app, next, after: found.current?.version),
                checkedWith: upstreams.checked(for: next),
                with: companion,
                in: tenant,
                by: actor
            )
            switch written {
            case .stored(let version): return .stored(version: version)
            case .outdated: return .outdated
            case .otherRules: continue
            }
        }
        return .busy
    }

    /// Returns the facts about an upstream of a tenant, and those about the vendor that its credential is for. Nil: the tenant does not have such a credential.
    ///
    /// - Throws: `MasterKeyError`, `StoreError`.
    package func upstream(
        _ id: CredentialID,
        of tenant: TenantID
    ) async throws -> (facts: UpstreamFacts, reportsReceipts: Bool)? {
        guard let facts = try await upstreams(of: tenant).facts[id] else { return nil }
        return (facts: facts, reportsReceipts: vendors.upstreams[facts.vendor]?.reportsReceipts ?? false)
    }

    /// Finds what is wrong with overlays of an app, in front of its base.
    ///
    /// - Returns: for the first overlay that cannot be in force its place in the list, and the problem. Nil: all can, or the tenant does not have the app.
    /// - Throws: `MasterKeyError`, `StoreError`, or `ProvisioningProblem` when this program does not know the rules in force.
    package func problem(
        with overlays: [RouteRules],
        of app: AppID,
        in tenant: TenantID
    ) async throws -> (overlay: Int, problem: ProvisioningProblem)? {
        guard let found = try await store.routes(of: app, in: tenant) else { return nil }
        let base = try found.current.map { try RouteSet($0).base } ?? RouteRules.none
        let upstreams = try await upstreams(of: tenant)
        for (index, overlay) in overlays.enumerated() {
            do throws(ProvisioningProblem) {
                try check(RouteSet(base: base, overlay: overlay, upstreams: upstreams.facts))
            } catch {
                return (overlay: index, problem: error)
            }
        }
        return nil
    }

    private func upstreams(of tenant: TenantID) async throws -> StoredUpstreams {
        try StoredUpstreams(try await directory.upstreams(of: tenant), vendors, keyRing)
    }

    private var dialects: Set<Vendor> { Set(vendors.byVendor.keys) }

    private func check(_ set: RouteSet) throws(ProvisioningProblem) {
        guard let (place, problem) = set.problem(dialects: dialects) else { return }
        let (isOverlay, part) = set.part(of: place)
        throw ProvisioningProblem(path: isOverlay ? part : "base.\(part)", problem: problem)
    }

    /// Reads the rules of a call.
    private static func read(_ overlay: JSONObject) throws(ProvisioningProblem) -> RouteRules {
        do throws(ProvisioningProblem) { return try RouteReader.read(.object(overlay), path: "") } catch {
            let path = error.path.hasPrefix(".") ? String(error.path.dropFirst()) : error.path
            throw ProvisioningProblem(path: path, problem: error.problem)
        }
    }

    // MARK: Trials

    /// Shows the decisions of an app's rules about a call and deliveries. Nothing is stored.
    ///
    /// - Parameters:
    ///   - trial: the call and its targets.
    ///   - app: the app.
    ///   - overlay: rules to be tried in place of the stored overlay; nil: the rules in force.
    ///   - tenant: the app's tenant.
    /// - Returns: nil when the tenant does not have the app.
    /// - Throws: `ProvisioningProblem` for rules that cannot be read, `MasterKeyError`, `StoreError`.
    package func answer(
        _ trial: RouteTrial,
        of app: AppID,
        overlay: JSONObject?,
        in tenant: TenantID
    ) async throws -> RouteTrialAnswer? {
        guard let found = try await store.routes(of: app, in: tenant) else { return nil }
        var set = try found.current.map { try RouteSet($0) } ?? RouteSet()
        if let overlay {
            let upstreams = try await upstreams(of: tenant)
            set = RouteSet(base: set.base, overlay: try Self.read(overlay), upstreams: upstreams.facts)
        }
        return RouteTrialAnswer(set, trial, dialects: dialects)
    }
}

extension RouteSet {
    /// Reads a stored version.
    ///
    /// - Throws: `ProvisioningProblem` when this program does not know its rules.
    package init(_ stored: StoredRoutes) throws(ProvisioningProblem) {
        do throws(ProvisioningProblem) {
            try self.init(stored.rules)
        } catch {
            throw ProvisioningProblem(
                path: "version \(stored.version)",
                problem: "was written by a newer version of the gateway: \(error)"
            )
        }
    }
}

extension RouteDraft {
    init(_ app: AppID, _ set: RouteSet, after version: Int?) {
        self.init(
            app: app,
            after: version,
            format: RouteSet.format,
            base: set.base.json.object ?? [:],
            overlay: set.overlay.json.object ?? [:],
            upstreams: set.upstreamsJSON
        )
    }
}
