import Model
import PostgresClient
import Store

/// The versions of the rules of apps.
enum RouteSQL {
    private static let columns = """
        r.version, r.format, r.base::text AS base, r.overlay::text AS overlay, r.upstreams::text AS upstreams, r.origin, r.actor, r.made_at
        """

    /// The app with its version in force, whose columns are null where it has none. No row: the tenant does not have the app, or it is retired.
    static let app = StoreSQL.tenant(
        """
        SELECT a.app_id, \(columns) FROM gateway.app a
        LEFT JOIN gateway.route_set r ON r.tenant_id = $1 AND r.app_id = a.app_id AND r.version = a.route_version
        WHERE a.tenant_id = $1 AND a.app_id = $2 AND a.retired_at IS NULL
        """
    )

    /// The versions in force of all apps.
    static let current = StoreSQL.tenant(
        """
        SELECT a.app_id, \(columns) FROM gateway.app a
        JOIN gateway.route_set r ON r.tenant_id = $1 AND r.app_id = a.app_id AND r.version = a.route_version
        WHERE a.tenant_id = $1 AND a.retired_at IS NULL ORDER BY a.app_id
        """
    )

    static let version = StoreSQL.tenant(
        "SELECT r.app_id, \(columns) FROM gateway.route_set r WHERE r.tenant_id = $1 AND r.app_id = $2 AND r.version = $3"
    )

    /// Versions below `$3`, the newest first.
    static let versions = StoreSQL.tenant(
        """
        SELECT r.version, r.origin, r.actor, r.made_at FROM gateway.route_set r
        WHERE r.tenant_id = $1 AND r.app_id = $2 AND r.version < $3 ORDER BY r.version DESC LIMIT $4
        """
    )

    /// The migration that decides the overlay of an app.
    static let migration = StoreSQL.tenant(
        "SELECT m.migration_id FROM gateway.migration m WHERE m.tenant_id = $1 AND m.app_id = $2 AND m.is_active"
    )

    /// For calls of one tenant.
    static let rules = StoreSQL.tenant(
        """
        SELECT r.format, r.base::text AS base, r.overlay::text AS overlay, r.upstreams::text AS upstreams FROM gateway.route_set r
        WHERE r.tenant_id = $1 AND r.app_id = $2 AND r.version = $3
        """
    )

    /// The credentials of the list that have changed since they were read.
    static let changedUpstreams = StoreSQL.tenant(
        """
        SELECT u.id FROM unnest($2::text[], $3::bigint[]) AS u(id, version) WHERE NOT EXISTS (
            SELECT FROM gateway.credential c WHERE c.tenant_id = $1 AND c.credential_id = u.id AND c.version = u.version)
        """
    )

    /// The app of each draft, with its new version; null: another version than the expected one is in force.
    private static let drafts = StoreSQL.tenant(
        """
        SELECT u.app_id, gateway.put_routes(
            $1, u.app_id, u.expected, u.format, u.base::json, u.overlay::json, u.upstreams::json, $8, $9) AS version
        FROM unnest($2::text[], $3::integer[], $4::integer[], $5::text[], $6::text[], $7::text[])
            AS u(app_id, expected, format, base, overlay, upstreams)
        """
    )

    static func put(
        _ drafts: [RouteDraft],
        _ origin: RouteOrigin,
        in tenant: TenantID,
        by actor: AuditActor
    ) -> Statement {
        Self.drafts(
            .id(tenant),
            .strings(drafts.map(\.app.rawValue)),
            .int32s(drafts.map { $0.expected.map(Int32.init(clamping:)) }),
            .int32s(drafts.map { Int32(clamping: $0.format) }),
            .strings(drafts.map { DocumentText.of($0.base) }),
            .strings(drafts.map { DocumentText.of($0.overlay) }),
            .strings(drafts.map { DocumentText.of($0.upstreams) }),
            .string(origin.rawValue),
            .string(actor.description)
        )
    }

    /// An upstream that the rules in force of an app name, and that is no longer a credential for the same vendor, or about which a file has other facts (`$2`,
    /// `$3`) than those with which the rules were checked. The rules of the file's apps are checked with its facts before.
    static let missingUpstream = StoreSQL.tenant(
        """
        SELECT a.app_id, u.id FROM gateway.app a
        JOIN gateway.route_set r ON r.tenant_id = $1 AND r.app_id = a.app_id AND r.version = a.route_version
        CROSS JOIN LATERAL json_each(r.upstreams) AS u(id, facts)
        WHERE a.tenant_id = $1 AND a.retired_at IS NULL AND (
            NOT EXISTS (
                SELECT FROM gateway.credential c
                WHERE c.tenant_id = $1 AND c.credential_id = u.id AND c.kind = 'upstream-' || (u.facts->>'vendor'))
            OR EXISTS (
                SELECT FROM unnest($2::text[], $3::text[]) AS f(id, facts)
                WHERE f.id = u.id AND NOT u.facts::jsonb @> f.facts::jsonb))
        LIMIT 1
        """
    )

    /// The apps whose rules in force name the credential `$2`, with the facts about it that their check has used.
    static let naming = StoreSQL.tenant(
        """
        SELECT a.app_id, u.facts::text AS facts FROM gateway.app a
        JOIN gateway.route_set r ON r.tenant_id = $1 AND r.app_id = a.app_id AND r.version = a.route_version
        CROSS JOIN LATERAL json_each(r.upstreams) AS u(id, facts)
        WHERE a.tenant_id = $1 AND a.retired_at IS NULL AND u.id = $2 ORDER BY a.app_id
        """
    )

    private static let changed = StoreSQL.tenant(
        """
        SELECT gateway.write_events(p_tenant => $1, p_app => $2, p_vendor => NULL, p_sender => NULL, p_kind => $3, \
        p_before => NULL, p_count => 1, p_messages => NULL, p_due_days => NULL, p_targets => NULL, p_reasons => NULL, \
        p_identities => NULL, p_devices => NULL, p_data => ARRAY[$4::text::json])
        """
    )

    /// The event of a new version. It comes last in its transaction.
    static func event(_ change: RouteChange, in tenant: TenantID) -> Statement {
        changed(
            .id(tenant),
            .id(change.app),
            .string(EventKind.routesChanged.rawValue),
            .text(DocumentText.of(change.facts))
        )
    }
}

/// A new version that is in force.
struct RouteChange: Sendable {
    var app: AppID
    var version: Int
    var previous: Int?
    var origin: RouteOrigin
    /// The version whose content it has again.
    var restored: Int?

    /// The data of the event and of the audit.
    var facts: JSONObject {
        var facts: JSONObject = [
            "version": .int(version), "previous": previous.map { .int($0) } ?? .null,
            "origin": .string(origin.rawValue),
        ]
        facts["restored"] = restored.map { .int($0) }
        return facts
    }

    var record: AuditRecord { AuditRecord(.write, "routes \(app)", data: .object(facts)) }

    /// The changes of the drafts, from the results of `RouteSQL.put`. Nil: another version was in force for one of them.
    static func all(
        of drafts: [RouteDraft],
        _ origin: RouteOrigin,
        restored: Int? = nil,
        _ written: ResultSet
    ) throws(PostgresError) -> [RouteChange]? {
        let expected = Dictionary(drafts.map { ($0.app, $0.expected) }, uniquingKeysWith: { first, _ in first })
        var changes: [RouteChange] = []
        for row in written {
            guard let version = try row.optionalInt("version") else { return nil }
            let app: AppID = try row.id("app_id")
            changes.append(
                RouteChange(
                    app: app,
                    version: version,
                    previous: expected[app] ?? nil,
                    origin: origin,
                    restored: restored
                )
            )
        }
        return changes
    }
}
