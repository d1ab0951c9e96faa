import Model
package import PostgresClient
package import Store

/// Channels of LISTEN/NOTIFY. Notifications are only a hint: a listener also reads the tables after it has reconnected.
package enum PostgresChannel {
    /// Tenants, credentials, bindings or API keys changed.
    package static let provisioning = "gateway_provisioning"
}

/// Applies provisioning files: idempotent, all or nothing.
package struct PostgresProvisioningStore: Sendable {
    private let engine: PostgresPool

    /// - Parameter engine: the pool of `gateway_engine`.
    package init(engine: PostgresPool) { self.engine = engine }

    /// The versions of the rules of apps.
    package var routes: PostgresRouteStore { PostgresRouteStore(engine: engine) }

    /// Makes the listed tenants match the file. Objects that the file does not list are removed (an app is only retired, and its history stays).
    /// Tenants that are not listed stay unchanged, as do objects that were created through the API, and API keys of commands. A file that lists one of
    /// these is refused.
    ///
    /// Each change writes a row of the audit in the same transaction.
    ///
    /// - Parameters:
    ///   - tenants: the content of the file.
    ///   - key: the master key that sealed its secrets; nil: it has none.
    ///   - actor: who applies the file.
    /// - Returns: what has changed.
    /// - Throws: `ProvisioningError`.
    package func apply(
        _ tenants: [ProvisionedTenant],
        sealedBy key: String? = nil,
        by actor: AuditActor = .provisioning
    ) async throws(ProvisioningError) -> ProvisioningSummary {
        let parts = tenants.map { ProvisioningStatements($0, by: actor) }
        if let twice = ProvisioningStatements.duplicate(tenants.map { "tenant \($0.id)" })
            ?? parts.compactMap(\.duplicate).first
        {
            throw .duplicate(twice)
        }
        do throws(PostgresError) {
            let plan = ProvisioningPlan(parts, key, actor)
            return try plan.summary(of: try await engine.run(plan.transaction))
        } catch {
            throw ProvisioningPlan(parts, key, actor).refusal(for: error)
        }
    }
}

/// The transaction of one apply: remove, check for keys of other tenants, write, notify.
private struct ProvisioningPlan: Sendable {
    let parts: [ProvisioningStatements]
    let sealingKey: String?
    let actor: AuditActor

    init(_ parts: [ProvisioningStatements], _ sealingKey: String?, _ actor: AuditActor) {
        self.parts = parts
        self.sealingKey = sealingKey
        self.actor = actor
    }

    var transaction: Transaction {
        let ids = PostgresValue.strings(parts.map(\.tenant.id.rawValue))
        return Transaction(
            tenant: nil,
            [ProvisioningSQL.lock(), ProvisioningSQL.tenants(ids)] + parts.flatMap(\.removals)
                + parts.flatMap(\.checks) + parts.flatMap(\.former)
        ) { (results) throws(PostgresError) in
            try refuseReplacedKey(results)
            try refuseTaken(results)
            try refuseOthers(results)
            return Step(parts.flatMap(\.references) + parts.flatMap(\.rows)) { (written) throws(PostgresError) in
                try refuseRoutes(results + written)
                try refuseTakenSenders(results + written)
                let audit = ProvisioningAudit(parts, results + written)
                let rows = try audit.statements(by: actor)
                return rows.isEmpty ? .commit : Step(try rows + audit.events() + [ProvisioningSQL.notify()])
            }
        }
    }

    private static let replacedKey = "masterKey"

    /// A rotation that follows this transaction finds its rows, and one that came before it has sealed all others: a secret sealed by the key of before
    /// would be left behind.
    private func refuseReplacedKey(_ results: [ResultSet]) throws(PostgresError) {
        guard let sealingKey, let row = try results.result(0).first else { return }
        let current = try row.optionalText("sealing_key")
        if current != sealingKey { throw .abandoned(Self.replacedKey) }
    }

    private func refuseTaken(_ results: [ResultSet]) throws(PostgresError) {
        let places = ProvisioningPlaces(count: parts.count)
        for index in parts.indices {
            if let row = try results.result(places.takenBindings(index)).first {
                throw .abandoned("binding \(index) \(try row.int("place") - 1)")
            }
            if let row = try results.result(places.takenKeys(index)).first {
                throw .abandoned("key \(index) \(try row.int("place") - 1)")
            }
        }
    }

    private static let created = "created"
    private static let used = "used"

    /// Refuses a file that would change or break objects that it did not create.
    private func refuseOthers(_ results: [ResultSet]) throws(PostgresError) {
        let places = ProvisioningPlaces(count: parts.count)
        for index in parts.indices {
            if let row = try results.result(places.createdOtherwise(index)).first {
                throw .abandoned("\(Self.created) \(try row.text("kind")) \(try row.text("name"))")
            }
            if let row = try results.result(places.usedOtherwise(index)).first {
                throw .abandoned("\(Self.used) \(try row.text("credential_id")) \(try row.text("app_id"))")
            }
            if try !results.result(places.changedUpstreams(index)).isEmpty { throw .abandoned(Self.changedRoutes) }
        }
    }

    private static let changedRoutes = "routes"
    private static let named = "named"

    /// Refuses rules that follow another version than the one in force, and a file after which rules name an upstream that does not exist.
    private func refuseRoutes(_ results: [ResultSet]) throws(PostgresError) {
        let places = ProvisioningPlaces(count: parts.count)
        for index in parts.indices {
            for row in try results.result(places.routes(index)) where try row.optionalInt("version") == nil {
                throw .abandoned(Self.changedRoutes)
            }
            if let row = try results.result(places.missingUpstreams(index)).first {
                throw .abandoned("\(Self.named) \(try row.text("id")) \(try row.text("app_id"))")
            }
        }
    }

    private func refuseTakenSenders(_ results: [ResultSet]) throws(PostgresError) {
        let places = ProvisioningPlaces(count: parts.count)
        for index in parts.indices {
            if let row = try results.result(places.takenSenders(index)).first {
                throw .abandoned("sender \(index) \(try row.int("place") - 1)")
            }
        }
    }

    /// Converts the reason of an abandoned transaction to an error.
    func refusal(for error: PostgresError) -> ProvisioningError {
        if error.code == .abandoned, error.reason == Self.replacedKey { return .masterKeyReplaced }
        if error.code == .abandoned, error.reason == Self.changedRoutes { return .routesChanged }
        if error.code == .abandoned, let error = Self.refusalOfOthers(error.reason ?? "") { return error }
        let words = (error.reason ?? "").split(separator: " ")
        guard error.code == .abandoned, words.count == 3, let index = Int(words[1]), let place = Int(words[2]),
            parts.indices.contains(index)
        else { return .store(StoreError(error)) }
        let part = parts[index]
        if words[0] == "binding", part.bindings.indices.contains(place) {
            return .bindingTaken(part.bindings[place].key)
        }
        if words[0] == "key", part.tenant.apiKeys.indices.contains(place) {
            return .keyTaken(part.tenant.apiKeys[place].name)
        }
        if words[0] == "sender", part.senders.indices.contains(place) {
            return .senderTaken(part.senders[place].sender.name)
        }
        return .store(StoreError(error))
    }

    private static func refusalOfOthers(_ reason: String) -> ProvisioningError? {
        let words = reason.split(separator: " ", maxSplits: 2).map(String.init)
        guard words.count == 3 else { return nil }
        if words[0] == created { return .createdOtherwise(kind: words[1], name: words[2]) }
        if words[0] == named { return .routesName(CredentialID(words[1]), of: AppID(words[2])) }
        return words[0] == used ? .usedOtherwise(CredentialID(words[1]), by: AppID(words[2])) : nil
    }

    func summary(of results: [ResultSet]) throws(PostgresError) -> ProvisioningSummary {
        let places = ProvisioningPlaces(count: parts.count)
        func rows(_ index: Int) throws(PostgresError) -> Int { try results.result(index).affectedRows }
        var summary = ProvisioningSummary()
        summary.tenants = try rows(ProvisioningPlaces.tenants)
        for index in parts.indices {
            summary.removed += try rows(places.droppedBindings(index)) + rows(places.droppedKeys(index))
            summary.bindings += try rows(places.bindings(index))
            summary.apiKeys += try rows(places.keys(index))
            summary.tenants += try rows(places.retention(index)) + rows(places.rate(index))
            summary.apps += try rows(places.apps(index))
            summary.credentials += try rows(places.credentials(index))
            summary.senders += try rows(places.senders(index))
            summary.routes += try rows(places.routes(index))
            summary.removed += try rows(places.retiredApps(index)) + rows(places.droppedCredentials(index))
        }
        return summary
    }
}
