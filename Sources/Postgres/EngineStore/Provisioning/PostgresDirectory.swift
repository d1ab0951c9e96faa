package import DeliveryEngine
package import Model
package import PostgresClient
package import Routing
import Store

/// Finds the tenant of a key, and stores the data that all nodes share: credentials, provider tokens, the check value of the master key.
package struct PostgresDirectory: Sendable {
    private let call: PostgresPool
    private let engine: PostgresPool

    /// - Parameters:
    ///   - call: the pool of `gateway_call`, which resolves keys by functions that run with the rights of the owner.
    ///   - engine: the pool of `gateway_engine`.
    package init(call: PostgresPool, engine: PostgresPool) {
        self.call = call
        self.engine = engine
    }

    /// Finds the binding of a vendor's key. A binding with the host of the call takes precedence over one without a host.
    ///
    /// - Throws: `StoreError`.
    package func binding(_ key: BindingKey) async throws(StoreError) -> ResolvedBinding? {
        try await asStore { () throws(PostgresError) in
            let statement = DirectorySQL.binding(
                .id(key.vendor),
                .string(key.kind),
                .string(key.value),
                .string(key.host)
            )
            guard let row = try await call.run(statement, tenant: nil).first else { return nil }
            let tenant: TenantID = try row.id("tenant_id")
            let app: AppID = try row.id("app_id")
            let settings = BindingSettings(tenant: tenant, app: app, values: try row.object("settings"))
            return ResolvedBinding(
                tenant: tenant,
                app: app,
                settings: settings,
                routeVersion: try row.optionalInt("route_version"),
                hasFirstKeys: try row.bool("has_first_keys")
            )
        }
    }

    /// The first keys of devices that have one, by their keys.
    ///
    /// - Throws: `StoreError`.
    package func firstKeys(
        of devices: [String],
        _ vendor: Vendor,
        of app: AppID,
        in tenant: TenantID
    ) async throws(StoreError) -> [String: String] {
        // The store refuses a text with a null character, and has no key with it.
        let keys = devices.filter { !$0.utf8.contains(0) }
        let statement = DirectorySQL.firstKeys(.id(tenant), .id(app), .id(vendor), .strings(keys))
        let found = try await asStore { () throws(PostgresError) in
            try await call.run(statement, tenant: tenant.rawValue).rows { (row) throws(PostgresError) in
                (key: try row.text("key"), first: try row.text("first_key"))
            }
        }
        return Dictionary(found.map { ($0.key, $0.first) }) { first, _ in first }
    }

    /// The hosts that belong to exactly one binding, each with a key of that binding.
    ///
    /// - Throws: `StoreError`.
    package func hosts(limit: Int) async throws(StoreError) -> [String: BindingKey] {
        let found = try await asStore { () throws(PostgresError) in
            try await engine.run(DirectorySQL.hosts(.int(limit)), tenant: nil).rows { (row) throws(PostgresError) in
                BindingKey(
                    vendor: Vendor(try row.text("vendor")),
                    kind: try row.text("kind"),
                    value: try row.text("value"),
                    host: try row.text("host")
                )
            }
        }
        return Dictionary(found.map { ($0.host ?? "", $0) }) { first, _ in first }
    }

    /// Returns a version of an app's rules; nil when it does not exist.
    ///
    /// - Throws: `StoreError`.
    package func rules(
        _ version: Int,
        of app: AppID,
        in tenant: TenantID
    ) async throws(StoreError) -> StoredRules? {
        try await asStore { () throws(PostgresError) in
            let statement = RouteSQL.rules(.id(tenant), .id(app), .int32(Int32(clamping: version)))
            guard let row = try await call.run(statement, tenant: tenant.rawValue).first else { return nil }
            return StoredRules(
                version: version,
                format: try row.int("format"),
                base: try row.object("base"),
                overlay: try row.object("overlay"),
                upstreams: try row.object("upstreams")
            )
        }
    }

    /// Returns the version of an app's rules that is in force; nil when it has none.
    ///
    /// - Throws: `StoreError`.
    package func rulesInForce(of app: AppID, in tenant: TenantID) async throws(StoreError) -> StoredRules? {
        try await PostgresRouteStore(engine: engine).routes(of: app, in: tenant)?.current?.rules
    }

    /// The bindings of every tenant. Secrets are sealed.
    ///
    /// - Throws: `StoreError`.
    package func bindings() async throws(StoreError) -> [StoredBinding] {
        try await asStore { () throws(PostgresError) in
            try await engine.run(DirectorySQL.everyBinding(), tenant: nil).rows(Self.binding)
        }
    }

    /// The first bindings of a tenant. Secrets are sealed.
    ///
    /// - Throws: `StoreError`.
    package func bindings(of tenant: TenantID, limit: Int) async throws(StoreError) -> [StoredBinding] {
        try await asStore { () throws(PostgresError) in
            try await engine.run(DirectorySQL.bindingsOfTenant(.id(tenant), .int(limit)), tenant: nil)
                .rows(Self.binding)
        }
    }

    private static func binding(_ row: Row) throws(PostgresError) -> StoredBinding {
        StoredBinding(
            tenant: try row.id("tenant_id"),
            app: try row.id("app_id"),
            vendor: Vendor(try row.text("vendor")),
            settings: try row.object("settings"),
            assurance: AssuranceCoding.read(try row.object("defaults"))
        )
    }

    /// Returns a page to which a push links, by its unguessable id. Nil when it does not exist or has expired.
    ///
    /// - Throws: `StoreError`.
    package func page(_ id: String) async throws(StoreError) -> (name: String, body: String)? {
        try await asStore { () throws(PostgresError) in
            guard let row = try await call.run(DirectorySQL.page(.string(id)), tenant: nil).first else { return nil }
            return (try row.text("name"), try row.text("body"))
        }
    }

    /// Returns the tenant of a challenge that has not ended, by the digest of its nonce.
    ///
    /// - Throws: `StoreError`.
    package func tenant(ofChallenge digest: [UInt8]) async throws(StoreError) -> TenantID? {
        try await asStore { () throws(PostgresError) in
            try await call.run(DirectorySQL.challenge(.bytes(digest)), tenant: nil).first?.id("tenant_id")
        }
    }

    /// Finds the tenant of an API key. Nil when the key is unknown, revoked or expired.
    ///
    /// - Throws: `StoreError`.
    package func apiKey(hash: [UInt8]) async throws(StoreError) -> ResolvedKey? {
        try await asStore { () throws(PostgresError) in
            guard let row = try await call.run(DirectorySQL.apiKey(.bytes(hash)), tenant: nil).first else { return nil }
            return ResolvedKey(
                id: try row.uuid("key_id"),
                tenant: try row.id("tenant_id"),
                name: try row.text("name"),
                scopes: try row.texts("scopes"),
                expiresAt: try row.optionalTime("expires_at"),
                networks: try row.texts("networks"),
                recipientsPerDay: try row.optionalInt("recipients_per_day"),
                secretAt: try row.time("secret_at")
            )
        }
    }

    /// Returns the credentials of every tenant.
    ///
    /// - Throws: `StoreError`.
    package func credentials() async throws(StoreError) -> [StoredCredential] {
        try await asStore { () throws(PostgresError) in
            try await engine.run(DirectorySQL.credentials(), tenant: nil).rows(Self.credential)
        }
    }

    /// Returns the assignments of every credential.
    ///
    /// - Throws: `StoreError`.
    package func assignments() async throws(StoreError) -> [CredentialAssignment] {
        try await asStore { () throws(PostgresError) in
            try Self.assignments(try await engine.run(DirectorySQL.everyPlatforms(), tenant: nil))
        }
    }

    private static func assignments(_ result: ResultSet) throws(PostgresError) -> [CredentialAssignment] {
        var assignments: [CredentialAssignment] = []
        for row in result {
            let tenant: TenantID = try row.id("tenant_id")
            for route in PlatformRouteCoding.decode(try row.object("platforms")).values {
                assignments += route.credentials.map { environment, credential in
                    CredentialAssignment(
                        key: CredentialKey(tenant: tenant, credential: credential),
                        topic: route.topic,
                        environment: environment
                    )
                }
            }
        }
        return assignments
    }

    /// Returns a tenant's credentials by id, beginning after `id`, with their uses by apps that are not retired.
    ///
    /// - Throws: `StoreError`.
    package func credentials(
        of tenant: TenantID,
        after id: String?,
        limit: Int
    ) async throws(StoreError) -> [ListedCredential] {
        try await asStore { () throws(PostgresError) in
            let results = try await engine.run(
                [
                    DirectorySQL.credentialPage(.id(tenant), .string(id ?? ""), .int(limit)),
                    DirectorySQL.platformsOfTenant(.id(tenant)),
                ],
                tenant: nil
            )
            let uses = Dictionary(grouping: try Self.assignments(try results.result(1)), by: \.key)
            return try results.result(0).rows(Self.credential).map { stored in
                // Several apps may use it for the same topic.
                ListedCredential(stored: stored, uses: Set(uses[stored.key] ?? []).sorted())
            }
        }
    }

    /// Returns a tenant's credentials for upstreams.
    ///
    /// - Throws: `StoreError`.
    package func upstreams(of tenant: TenantID) async throws(StoreError) -> [StoredCredential] {
        try await asStore { () throws(PostgresError) in
            try await engine.run(DirectorySQL.upstreams(.id(tenant)), tenant: nil).rows(Self.credential)
        }
    }

    /// Returns a credential with its uses by apps that are not retired; nil when the tenant does not have it.
    ///
    /// - Throws: `StoreError`.
    package func credential(_ key: CredentialKey) async throws(StoreError) -> ListedCredential? {
        try await asStore { () throws(PostgresError) in
            let results = try await engine.run(
                [
                    DirectorySQL.oneCredential(.id(key.tenant), .id(key.credential)),
                    DirectorySQL.platformsOfTenant(.id(key.tenant)),
                ],
                tenant: nil
            )
            guard let stored = try results.result(0).rows(Self.credential).first else { return nil }
            let uses = try Self.assignments(try results.result(1)).filter { $0.key == key }
            return ListedCredential(stored: stored, uses: Set(uses).sorted())
        }
    }

    private static func credential(_ row: Row) throws(PostgresError) -> StoredCredential {
        StoredCredential(
            key: CredentialKey(tenant: try row.id("tenant_id"), credential: try row.id("credential_id")),
            kind: try row.text("kind"),
            teamID: try row.optionalText("team_id"),
            keyID: try row.optionalText("key_id"),
            endpoint: try row.optionalText("endpoint"),
            channelEndpoint: try row.optionalText("channel_endpoint"),
            trustRoots: try row.optionalText("trust_roots"),
            sealed: try row.bytes("sealed"),
            fingerprint: try row.bytes("fingerprint"),
            version: try row.int64("version"),
            refusal: try row.optionalText("refusal"),
            refusedAt: try row.optionalTime("refused_at"),
            pushesPerSecond: try row.optionalInt("pushes_per_second").map(Int32.init(clamping:)),
            tenantPushesPerSecond: try row.optionalInt("tenant_pushes_per_second").map(Int32.init(clamping:)),
            origin: try row.word("origin"),
            storedAt: try row.optionalTime("stored_at")
        )
    }

    /// Returns the settings of each dialect that has a binding on the app.
    ///
    /// - Throws: `StoreError`.
    package func settings(
        of app: AppID,
        in tenant: TenantID
    ) async throws(StoreError) -> [Vendor: BindingSettings] {
        try await asStore { () throws(PostgresError) in
            let result = try await engine.run(DirectorySQL.settings(.id(tenant), .id(app)), tenant: nil)
            return try SettingsRow.read(result, tenant: tenant)
        }
    }

    /// Returns the topic and credentials of each platform of an app; empty for an unknown app.
    ///
    /// - Throws: `StoreError`.
    package func routes(
        of app: AppID,
        in tenant: TenantID
    ) async throws(StoreError) -> [Platform: PlatformRoute] {
        try await asStore { () throws(PostgresError) in
            let result = try await engine.run(AppSQL.platforms(.id(tenant), .id(app)), tenant: nil)
            guard let row = result.first else { return [:] }
            return PlatformRouteCoding.decode(try row.object("platforms"))
        }
    }

    /// Returns whether a credential works; nil when it is not provisioned.
    ///
    /// - Throws: `StoreError`.
    package func standing(of key: CredentialKey) async throws(StoreError) -> CredentialStanding? {
        try await asStore { () throws(PostgresError) in
            let statement = DirectorySQL.standing(.id(key.tenant), .id(key.credential))
            guard let row = try await engine.run(statement, tenant: nil).first else { return nil }
            return CredentialStanding(
                kind: try row.text("kind"),
                refusal: try row.optionalText("refusal"),
                refusedAt: try row.optionalTime("refused_at")
            )
        }
    }

    /// Returns those of some budgets (`PushRate`) that have no push left now.
    ///
    /// - Throws: `StoreError`.
    package func spentBudgets(among names: [String], in tenant: TenantID) async throws(StoreError) -> Set<String> {
        try await asStore { () throws(PostgresError) in
            let statement = DirectorySQL.spentBudgets(.id(tenant), .strings(names))
            let spent = try await engine.run(statement, tenant: nil).rows { (row) throws(PostgresError) in
                try row.text("name")
            }
            return Set(spent)
        }
    }

    /// Returns the version of the rules by which a delivery was routed; nil: the app had none, or the delivery has no outcome.
    ///
    /// - Throws: `StoreError`.
    package func routeVersion(
        of message: MessageID,
        dueOn day: Int32,
        to target: TargetID,
        in tenant: TenantID
    ) async throws(StoreError) -> Int? {
        try await asStore { () throws(PostgresError) in
            let statement = DeliverySQL.routeVersion(.id(tenant), .int32(day), .id(message), .id(target))
            return try await engine.run(statement, tenant: nil).first?.optionalInt("route_version")
        }
    }

    /// Returns the call by which an upstream got a message for a target; nil: none was made, or it is one of very many calls of the message.
    ///
    /// - Throws: `StoreError`.
    package func upstreamCall(
        of message: MessageID,
        to target: TargetID,
        in tenant: TenantID
    ) async throws(StoreError) -> UpstreamTrace? {
        try await asStore { () throws(PostgresError) in
            let statement = DeliverySQL.upstreamCall(.id(tenant), .id(message), .id(target))
            guard let row = try await engine.run(statement, tenant: nil).first else { return nil }
            return try UpstreamTrace(row)
        }
    }

    /// The message with the same text that a device, or an identity without one, was sent before this one through another entry point.
    ///
    /// - Throws: `StoreError`.
    package func sentBefore(
        _ message: MessageID,
        to device: DeviceID?,
        or identity: IdentityID?,
        in tenant: TenantID
    ) async throws(StoreError) -> MessageID? {
        try await asStore { () throws(PostgresError) in
            let statement = DeliverySQL.sentBefore(.id(tenant), .id(message), .id(device), .id(identity))
            return try await engine.run(statement, tenant: nil).only().optionalID("earlier")
        }
    }

    /// Records when keys were last used, with one statement per tenant.
    ///
    /// - Throws: `StoreError`.
    package func touch(_ uses: [KeyUse]) async throws(StoreError) {
        let pipeline = Dictionary(grouping: uses, by: \.tenant).map { tenant, uses in
            let latest = Dictionary(uses.map { ($0.key, $0.at) }, uniquingKeysWith: max)
            return Transaction(
                tenant: nil,
                [DirectorySQL.touch(.id(tenant), .uuids(Array(latest.keys)), .times(Array(latest.values)))]
            )
        }
        try await asStore { () throws(PostgresError) in
            for outcome in try await engine.run(pipeline: pipeline) { _ = try outcome.get() }
        }
    }

    /// Returns the current provider token of a key, if one is stored.
    ///
    /// - Throws: `StoreError`.
    package func providerToken(_ key: ProviderTokenKey) async throws(StoreError) -> StoredProviderToken? {
        try await asStore { () throws(PostgresError) in
            try await engine.run(DirectorySQL.providerToken.with(Self.parameters(key)), tenant: nil)
                .rows(Self.providerToken).first
        }
    }

    /// Replaces a provider token that was issued before `age` by `token`, and returns the token that is valid then: this one, or a newer one of another node.
    ///
    /// - Throws: `StoreError`.
    package func offerProviderToken(
        _ token: StoredProviderToken,
        for key: ProviderTokenKey,
        replacingOlderThan age: Timestamp
    ) async throws(StoreError) -> StoredProviderToken {
        try await asStore { () throws(PostgresError) in
            let key = Self.parameters(key)
            let offer = key + [.bytes(token.sealed), .time(token.issuedAt), .time(age)]
            let results = try await engine.run(
                [DirectorySQL.offerProviderToken.with(offer), DirectorySQL.providerToken.with(key)],
                tenant: nil
            )
            return try Self.providerToken(try results.result(1).only())
        }
    }

    private static func parameters(_ key: ProviderTokenKey) -> [PostgresValue] {
        [.string(key.teamID), .string(key.keyID), .bytes(key.fingerprint)]
    }

    private static func providerToken(_ row: Row) throws(PostgresError) -> StoredProviderToken {
        StoredProviderToken(sealed: try row.bytes("sealed"), issuedAt: try row.time("issued_at"))
    }

    /// Returns what the database knows of the key that seals; nil: no node has served it yet.
    ///
    /// - Throws: `StoreError`.
    package func masterKey() async throws(StoreError) -> MasterKeyCheck? {
        try await asStore { () throws(PostgresError) in
            guard let row = try await engine.run(DirectorySQL.masterKey(), tenant: nil).first else { return nil }
            return try MasterKeyCheck(row)
        }
    }

    /// Stores `check` unless a check value exists, and returns the stored one.
    ///
    /// - Throws: `StoreError`.
    package func adoptMasterKey(_ check: MasterKeyCheck) async throws(StoreError) -> MasterKeyCheck {
        try await asStore { () throws(PostgresError) in
            let results = try await engine.run(
                [
                    DirectorySQL.adoptMasterKey(.string(check.keyID), .bytes(check.checkValue)),
                    DirectorySQL.masterKey(),
                ],
                tenant: nil
            )
            return try MasterKeyCheck(try results.result(1).only())
        }
    }
}
