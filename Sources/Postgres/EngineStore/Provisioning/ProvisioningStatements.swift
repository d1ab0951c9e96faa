import Model
import PostgresClient
import Store

/// One tenant's part of an apply, as statements in a fixed order.
struct ProvisioningStatements: Sendable {
    let tenant: ProvisionedTenant
    let bindings: [ProvisionedBinding]
    /// Where the objects come from.
    let origin: ObjectOrigin
    /// The author of versions of rules.
    let actor: AuditActor

    init(_ tenant: ProvisionedTenant, origin: ObjectOrigin = .file, by actor: AuditActor = .provisioning) {
        self.tenant = tenant
        self.origin = origin
        self.actor = actor
        self.bindings = tenant.apps.flatMap(\.bindings)
    }

    private var id: PostgresValue { .id(tenant.id) }

    var bindingKeys: [PostgresValue] {
        [
            .strings(bindings.map(\.key.vendor.rawValue)), .strings(bindings.map(\.key.kind)),
            .strings(bindings.map(\.key.value)), .strings(bindings.map { $0.key.host ?? "" }),
        ]
    }

    /// Removals, which run before the additions of any tenant: a key that one tenant gives up can be given to another in the same file.
    var removals: [Statement] {
        [
            ProvisioningSQL.dropBindings.with([id] + bindingKeys),
            ProvisioningSQL.dropKeys(id, .strings(tenant.apiKeys.map(\.name))),
        ]
    }

    /// Checks that must return no rows: bindings, then keys, that belong to another tenant; objects that the file did not create; credentials that an app
    /// uses which the file did not create; credentials that have changed since the rules were checked.
    var checks: [Statement] {
        [
            takenBindings,
            ProvisioningSQL.takenKeys(
                id,
                .strings(tenant.apiKeys.map(\.name)),
                .byteArrays(tenant.apiKeys.map(\.hash))
            ),
            ProvisioningSQL.createdOtherwise.with(
                [id] + bindingKeys
                    + [
                        .strings(tenant.apiKeys.map(\.name)), .strings(tenant.credentials.map(\.id.rawValue)),
                        .strings(tenant.apps.map(\.id.rawValue)),
                    ]
            ),
            ProvisioningSQL.usedOtherwise(
                id,
                .strings(tenant.credentials.map(\.id.rawValue)),
                .strings(tenant.credentials.filter { UpstreamKind.vendor(of: $0.kind) != nil }.map(\.id.rawValue))
            ),
            RouteSQL.changedUpstreams(
                id,
                .strings(tenant.checkedUpstreams.map(\.credential.rawValue)),
                .int64s(tenant.checkedUpstreams.map(\.version))
            ),
        ]
    }

    /// Reads the settings that the file may change: bindings, API keys, the tenant, apps, credentials.
    var former: [Statement] {
        [
            ProvisioningSQL.bindings(id), ProvisioningSQL.keys(id), ProvisioningSQL.tenant(id),
            ProvisioningSQL.apps(id),
            ProvisioningSQL.credentials(id),
        ]
    }

    /// Writes to reference tables: bindings, API keys, retention, rate.
    var references: [Statement] {
        [
            putBindings,
            ProvisioningSQL.putKeys(
                id,
                .strings(tenant.apiKeys.map(\.name)),
                .byteArrays(tenant.apiKeys.map(\.hash)),
                .strings(tenant.apiKeys.map { $0.scopes.joined(separator: ",") }),
                .times(tenant.apiKeys.map(\.expiresAt)),
                .strings(tenant.apiKeys.map { $0.networks.joined(separator: ",") }),
                .byteArrays(tenant.apiKeys.map { $0.previousHash ?? [] }),
                .int32s(tenant.apiKeys.map(\.recipientsPerDay))
            ),
            ProvisioningSQL.putRetention(id, .text(DocumentText.of(tenant.retention.json))),
            ProvisioningSQL.putRate(id, tenant.pushesPerSecond.map { .int32($0) } ?? .null),
        ]
    }

    /// Writes to tenant tables: apps and credentials are stored, unlisted apps and credentials are removed, and versions of rules and senders are stored.
    /// Unlisted senders stay, because messages name them. Two statements are checks that must return no rows: upstreams that rules name and that are gone or
    /// have other facts, and senders with another id or name.
    var rows: [Statement] {
        [putApps, putCredentials] + [
            ProvisioningSQL.retireApps(id, .strings(tenant.apps.map(\.id.rawValue))),
            ProvisioningSQL.dropCredentials(id, .strings(tenant.credentials.map(\.id.rawValue))),
        ] + [putRoutes, missingUpstream] + [takenSenders, putSenders]
    }

    private var putRoutes: Statement { RouteSQL.put(tenant.routes, .file, in: tenant.id, by: actor) }

    private var missingUpstream: Statement {
        let upstreams = tenant.upstreams.sorted { $0.key.rawValue < $1.key.rawValue }
        return RouteSQL.missingUpstream(
            id,
            .strings(upstreams.map(\.key.rawValue)),
            .strings(upstreams.map { DocumentText.of($0.value) })
        )
    }

    var putBindings: Statement {
        let apps = tenant.apps.flatMap { app in app.bindings.map { _ in app.id.rawValue } }
        return ProvisioningSQL.putBindings.with(
            [id] + bindingKeys
                + [
                    .strings(apps), .texts(bindings.map { DocumentText.of($0.settings) }), .string(origin.rawValue),
                ]
        )
    }

    var takenBindings: Statement { ProvisioningSQL.takenBindings.with([id] + bindingKeys) }

    var putApps: Statement {
        ProvisioningSQL.putApps(
            id,
            .strings(tenant.apps.map(\.id.rawValue)),
            .strings(tenant.apps.map { DocumentText.of(PlatformRouteCoding.encode($0.platforms)) }),
            .strings(tenant.apps.map { DocumentText.of(Self.defaults(of: $0)) }),
            .string(origin.rawValue)
        )
    }

    /// The stored settings of an app in addition to its platforms.
    static func defaults(of app: ProvisionedApp) -> JSONObject {
        var defaults = JSONObject()
        defaults["ttlSeconds"] = app.defaultTimeToLive.map { .int($0.milliseconds / 1000) }
        TimingCoding.write(app.timing, into: &defaults)
        AssuranceCoding.write(app.assurance, into: &defaults)
        ApprovalCoding.write(app.approvalAbove, into: &defaults)
        DialectCoding.write(app.crossesDialects, into: &defaults)
        QuotaCoding.write(app.quotas, into: &defaults)
        return defaults
    }

    /// The senders of all apps, with their apps.
    var senders: [(app: AppID, sender: ProvisionedSender)] {
        tenant.apps.flatMap { app in app.senders.map { (app.id, $0) } }
    }

    private var senderValues: [PostgresValue] {
        [
            id, .strings(senders.map(\.app.rawValue)), .strings(senders.map(\.sender.vendor.rawValue)),
            .strings(senders.map(\.sender.name)), .strings(senders.map(\.sender.id?.rawValue)),
        ]
    }

    var takenSenders: Statement { ProvisioningSQL.takenSenders.with(senderValues) }
    var putSenders: Statement { ProvisioningSQL.putSenders.with(senderValues) }

    var putCredentials: Statement {
        let credentials = tenant.credentials
        return ProvisioningSQL.putCredentials(
            id,
            .strings(credentials.map(\.id.rawValue)),
            .strings(credentials.map(\.kind)),
            .strings(credentials.map(\.teamID)),
            .strings(credentials.map(\.keyID)),
            .strings(credentials.map(\.endpoint)),
            .strings(credentials.map(\.trustRoots)),
            .byteArrays(credentials.map(\.sealed)),
            .byteArrays(credentials.map(\.fingerprint)),
            .int32s(credentials.map(\.pushesPerSecond)),
            .strings(credentials.map(\.channelEndpoint)),
            .string(origin.rawValue)
        )
    }

    /// The first object that is listed twice.
    var duplicate: String? {
        Self.duplicate(bindings.map { "\($0.key.vendor) \($0.key.kind) \($0.key.value) \($0.key.host ?? "")" })
            ?? Self.duplicate(tenant.apiKeys.map { "API key \($0.name)" })
            ?? Self.duplicate(tenant.credentials.map { "credential \($0.id)" })
            ?? Self.duplicate(tenant.apps.map { "app \($0.id)" })
            ?? Self.duplicate(senders.map { "sender \($0.app) \($0.sender.vendor) \($0.sender.name)" })
    }

    static func duplicate(_ names: [String]) -> String? {
        var seen: Set<String> = []
        return names.first { !seen.insert($0).inserted }
    }
}
