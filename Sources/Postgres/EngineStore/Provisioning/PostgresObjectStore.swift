import DeliveryEngine
package import Model
package import PostgresClient
package import Store

/// The result of a write of an app or a credential through the API.
package enum ObjectWrite: Sendable, Hashable {
    case created, changed, unchanged, removed
    case refused(ObjectRefusal)
}

/// The reason why a write of the API changed nothing.
package enum ObjectRefusal: Sendable, Hashable {
    /// The tenant has no such object.
    case missing
    /// The object is from a provisioning file, which alone changes it.
    case fromFile
    /// The tenant has as many objects of this kind as it may have.
    case full(Int)
    /// The object is in use: by `app web`, by `12 active identities`.
    case used(by: String)
    case unknownCredential(CredentialID)
    /// The vendor's key leads to another app, of this tenant or of another.
    case bindingTaken(BindingKey)
    /// The app contains an object twice.
    case listedTwice(String)
    /// The sender is stored with another id, or its id with another name.
    case senderTaken(String)
    /// Another master key seals than the one that sealed the secrets of the call.
    case masterKeyReplaced
}

/// Writes apps and credentials of the native API. It runs the statements of provisioning files, in the same lock, so that neither overwrites the other.
package struct PostgresObjectStore: Sendable {
    private let engine: PostgresPool

    /// - Parameter engine: the pool of `gateway_engine`.
    package init(engine: PostgresPool) { self.engine = engine }

    private typealias Records = @Sendable ([ResultSet]) throws(PostgresError) -> [AuditRecord]

    private enum Decision: Sendable {
        case refuse(ObjectRefusal)
        /// The statements, and the rows of the audit for their results. No rows: nothing has changed.
        case write([Statement], ObjectWrite, Records)
    }

    /// Decides about a write with the results of `reads`, behind that of the lock, and writes its audit.
    private func run(
        _ reads: [Statement],
        in tenant: TenantID,
        by actor: AuditActor,
        _ decide: @escaping @Sendable ([ResultSet]) throws(PostgresError) -> Decision
    ) async throws(StoreError) -> ObjectWrite {
        let reads = [ProvisioningSQL.lock()] + reads
        let transaction = Transaction(tenant: nil, reads) { (results) throws(PostgresError) in
            guard case .write(let statements, _, let records) = try decide(results) else { return .commit }
            return Step(statements) { (written) throws(PostgresError) in
                let rows = try records(written)
                return rows.isEmpty
                    ? .commit : Step([rows.written(by: actor, in: tenant), ProvisioningSQL.notify()])
            }
        }
        return try await asStore { () throws(PostgresError) in
            let results = try await engine.run(transaction)
            switch try decide(results) {
            case .refuse(let refusal): return .refused(refusal)
            case .write(_, let outcome, let records):
                return try records(Array(results.dropFirst(reads.count))).isEmpty ? .unchanged : outcome
            }
        }
    }

    /// A secret that a former key sealed would be left behind by its rotation.
    private static func isSealed(by key: String, _ results: [ResultSet]) throws(PostgresError) -> Bool {
        try results.result(0).first?.optionalText("sealing_key") == key
    }

    // MARK: Credentials

    /// Creates or replaces a credential. A key of the push service that an app uses does not become an upstream, and an upstream that rules name keeps the facts
    /// with which they were checked.
    ///
    /// - Parameters:
    ///   - credential: the checked and sealed credential.
    ///   - facts: those of an upstream that rules need; nil: it is one of the push service.
    ///   - key: the master key that sealed it.
    ///   - tenant: its tenant.
    ///   - actor: the caller.
    /// - Returns: what was done.
    /// - Throws: `StoreError`.
    package func put(
        _ credential: ProvisionedCredential,
        facts: JSON? = nil,
        sealedBy key: String,
        in tenant: TenantID,
        by actor: AuditActor
    ) async throws(StoreError) -> ObjectWrite {
        let part = ProvisioningStatements(ProvisionedTenant(id: tenant, credentials: [credential]), origin: .api)
        let name = credential.id.rawValue
        let reads = [
            ProvisioningSQL.credentials(.id(tenant)), ProvisioningSQL.apps(.id(tenant)),
            RouteSQL.naming(.id(tenant), .id(credential.id)),
        ]
        return try await run(reads, in: tenant, by: actor) { (results) throws(PostgresError) in
            guard try Self.isSealed(by: key, results) else { return .refuse(.masterKeyReplaced) }
            let former = try StoredObjects(results.result(1), FormerSettings.credential)
            if let refusal = former.refusal(of: name, limit: ObjectLimits.credentials) { return .refuse(refusal) }
            for row in try results.result(3) where try row.optionalDocument("facts") != facts {
                return .refuse(.used(by: "the routes of app \(try row.text("app_id"))"))
            }
            if UpstreamKind.vendor(of: credential.kind) != nil,
                let app = try Self.user(of: credential.id, try results.result(2))
            {
                return .refuse(.used(by: app))
            }
            let changes = SettingChanges(
                from: former.settings[name],
                to: ProvisionedSettings(part).credentials[name] ?? [:]
            )
            let record = AuditRecord(.write, "credential \(name)", data: ["changes": changes.json])
            let outcome: ObjectWrite = former.settings[name] == nil ? .created : .changed
            return .write([part.putCredentials], outcome) { (written) throws(PostgresError) in
                try written.result(0).isEmpty ? [] : [record]
            }
        }
    }

    /// Removes a credential that no app uses, also not in its routes.
    ///
    /// - Throws: `StoreError`.
    package func remove(
        _ credential: CredentialID,
        in tenant: TenantID,
        by actor: AuditActor
    ) async throws(StoreError) -> ObjectWrite {
        let reads = [
            ProvisioningSQL.credentials(.id(tenant)), ProvisioningSQL.apps(.id(tenant)),
            RouteSQL.naming(.id(tenant), .id(credential)),
        ]
        return try await run(reads, in: tenant, by: actor) { (results) throws(PostgresError) in
            let former = try StoredObjects(results.result(1), FormerSettings.credential)
            if let refusal = former.refusal(ofRemoving: credential.rawValue) { return .refuse(refusal) }
            if let row = try results.result(3).first {
                return .refuse(.used(by: "the routes of app \(try row.text("app_id"))"))
            }
            if let app = try Self.user(of: credential, try results.result(2)) { return .refuse(.used(by: app)) }
            let remove = ProvisioningSQL.removeCredential(.id(tenant), .id(credential))
            return .write([remove], .removed) { (_) in [AuditRecord(.remove, "credential \(credential)")] }
        }
    }

    /// An app that names the credential for its pushes: `app web`. Nil: none does.
    private static func user(of credential: CredentialID, _ apps: ResultSet) throws(PostgresError) -> String? {
        for row in apps where try !row.bool("is_retired") {
            let routes = PlatformRouteCoding.decode(try row.object("platforms")).values
            if routes.contains(where: { $0.credentials.values.contains(credential) }) {
                return "app \(try row.text("app_id"))"
            }
        }
        return nil
    }

    // MARK: Apps

    /// Creates or replaces an app with its bindings. Senders that it does not list stay, because messages name them.
    ///
    /// - Parameters:
    ///   - app: the checked app, with sealed secrets.
    ///   - key: the master key that sealed them.
    ///   - tenant: its tenant.
    ///   - actor: the caller.
    /// - Returns: what was done.
    /// - Throws: `StoreError`.
    package func put(
        _ app: ProvisionedApp,
        sealedBy key: String,
        in tenant: TenantID,
        by actor: AuditActor
    ) async throws(StoreError) -> ObjectWrite {
        let part = ProvisioningStatements(ProvisionedTenant(id: tenant, apps: [app]), origin: .api)
        let id = PostgresValue.id(tenant)
        let reads = [
            ProvisioningSQL.apps(id), ProvisioningSQL.credentials(id), ProvisioningSQL.bindings(id),
            part.takenBindings, part.takenSenders,
        ]
        return try await run(reads, in: tenant, by: actor) { (results) throws(PostgresError) in
            guard try Self.isSealed(by: key, results) else { return .refuse(.masterKeyReplaced) }
            let former = try StoredObjects(results.result(1), FormerSettings.app)
            if let refusal = former.refusal(of: app.id.rawValue, limit: ObjectLimits.apps) { return .refuse(refusal) }
            if let refusal = try Self.refusal(of: part, app, results) { return .refuse(refusal) }
            let bindings = try StoredObjects(results.result(3), FormerSettings.binding)
            let outcome: ObjectWrite = former.isUsed(app.id.rawValue) ? .changed : .created
            let writes = [
                ProvisioningSQL.removeBindings.with([id] + part.bindingKeys + [.id(app.id)]), part.putApps,
                part.putBindings, part.putSenders,
            ]
            return .write(writes, outcome) { (written) throws(PostgresError) in
                try Self.records(of: part, app, former.settings[app.id.rawValue], bindings.settings, written)
            }
        }
    }

    /// Credentials, vendor's keys and senders that the app may not have.
    private static func refusal(
        of part: ProvisioningStatements,
        _ app: ProvisionedApp,
        _ results: [ResultSet]
    ) throws(PostgresError) -> ObjectRefusal? {
        if let twice = part.duplicate { return .listedTwice(twice) }
        // An upstream is not a credential of the push service.
        let known = Set(
            try results.result(2).rows { (row) throws(PostgresError) -> String? in
                UpstreamKind.vendor(of: try row.text("kind")) == nil ? try row.text("credential_id") : nil
            }.compactMap(\.self)
        )
        let used = app.platforms.values.flatMap { $0.credentials.values }.sorted { $0.rawValue < $1.rawValue }
        if let unknown = used.first(where: { !known.contains($0.rawValue) }) { return .unknownCredential(unknown) }
        let others = try results.result(3).rows { (row) throws(PostgresError) in
            (name: try FormerSettings.bindingName(row), app: try row.text("app_id"))
        }
        let taken = Set(others.filter { $0.app != app.id.rawValue }.map(\.name))
        for binding in part.bindings where taken.contains(FormerSettings.bindingName(binding.key)) {
            return .bindingTaken(binding.key)
        }
        if let place = try results.result(4).first?.int("place"), part.bindings.indices.contains(place - 1) {
            return .bindingTaken(part.bindings[place - 1].key)
        }
        if let place = try results.result(5).first?.int("place"), part.senders.indices.contains(place - 1) {
            return .senderTaken(part.senders[place - 1].sender.name)
        }
        return nil
    }

    /// The audit of a written app, from the results of its statements.
    private static func records(
        of part: ProvisioningStatements,
        _ app: ProvisionedApp,
        _ before: JSONObject?,
        _ bindings: [String: JSONObject],
        _ written: [ResultSet]
    ) throws(PostgresError) -> [AuditRecord] {
        let after = ProvisionedSettings(part)
        var records: [AuditRecord] = []
        for row in try written.result(0) { records.append(try ProvisioningAudit.binding(.remove, row, nil)) }
        if try !written.result(1).isEmpty {
            let changes = SettingChanges(from: before, to: after.apps[app.id.rawValue] ?? [:])
            records.append(AuditRecord(.write, "app \(app.id)", data: ["changes": changes.json]))
        }
        for row in try written.result(2) {
            records.append(try ProvisioningAudit.binding(written: row, from: bindings, to: after.bindings))
        }
        for row in try written.result(3) { records.append(AuditRecord(.write, "sender \(try row.text("name"))")) }
        return records
    }

    /// Removes an app without active identities, and its bindings. Its history stays.
    ///
    /// - Throws: `StoreError`.
    package func remove(
        _ app: AppID,
        in tenant: TenantID,
        by actor: AuditActor
    ) async throws(StoreError) -> ObjectWrite {
        let part = ProvisioningStatements(ProvisionedTenant(id: tenant), origin: .api)
        let reads = [ProvisioningSQL.apps(.id(tenant)), ProvisioningSQL.activeIdentities(.id(tenant), .id(app))]
        return try await run(reads, in: tenant, by: actor) { (results) throws(PostgresError) in
            let former = try StoredObjects(results.result(1), FormerSettings.app)
            if let refusal = former.refusal(ofRemoving: app.rawValue) { return .refuse(refusal) }
            let active = try results.result(2).only().int("active")
            guard active <= 0 else { return .refuse(.used(by: "\(active) active identities")) }
            let writes = [
                ProvisioningSQL.removeBindings.with([.id(tenant)] + part.bindingKeys + [.id(app)]),
                ProvisioningSQL.retireApp(.id(tenant), .id(app)),
            ]
            return .write(writes, .removed) { (written) throws(PostgresError) in
                var records: [AuditRecord] = []
                for row in try written.result(0) { records.append(try ProvisioningAudit.binding(.remove, row, nil)) }
                return records + [AuditRecord(.retire, "app \(app)")]
            }
        }
    }
}

/// The stored objects of one kind, by name.
private struct StoredObjects: Sendable {
    private(set) var settings: [String: JSONObject] = [:]
    private var origins: [String: ObjectOrigin] = [:]
    private var retired: Set<String> = []

    init(
        _ result: ResultSet,
        _ read: (Row) throws(PostgresError) -> (String, JSONObject)
    ) throws(PostgresError) {
        for row in result {
            let (name, values) = try read(row)
            settings[name] = values
            origins[name] = try row.word("origin")
            if values["retired"] == true { retired.insert(name) }
        }
    }

    /// Whether the object exists, and was not removed.
    func isUsed(_ name: String) -> Bool { settings[name] != nil && !retired.contains(name) }

    /// Why the API may not write the object. The name of a removed app is free.
    func refusal(of name: String, limit: Int) -> ObjectRefusal? {
        if isUsed(name) { return origins[name] == .file ? .fromFile : nil }
        return origins.count { $0.value == .api && !retired.contains($0.key) } >= limit ? .full(limit) : nil
    }

    /// Why the API may not remove the object.
    func refusal(ofRemoving name: String) -> ObjectRefusal? {
        guard isUsed(name) else { return .missing }
        return origins[name] == .file ? .fromFile : nil
    }
}
