import Model
import PostgresClient
import Store

/// The statements about migrations.
enum MigrationSQL {
    private static let columns = StoredMigration.columns

    /// The number of migrations of a tenant, counted up to `$2`, and whether it has the app `$3`.
    static let count = StoreSQL.tenant(
        """
        SELECT (SELECT count(*) FROM (SELECT FROM gateway.migration m WHERE m.tenant_id = $1 LIMIT $2) x) AS n, EXISTS (
            SELECT FROM gateway.app a WHERE a.tenant_id = $1 AND a.app_id = $3 AND a.retired_at IS NULL) AS has_app
        """
    )

    /// A migration that has not begun is replaced. No row: one with the name has begun, or belongs to another app.
    static let put = StoreSQL.tenant(
        """
        INSERT INTO gateway.migration AS m (tenant_id, migration_id, app_id, upstream, plan, state)
        VALUES ($1, $2, $3, $4, $5::json, $6::json)
        ON CONFLICT (tenant_id, migration_id) DO UPDATE SET upstream = excluded.upstream, plan = excluded.plan, revision = m.revision + 1
        WHERE m.app_id = excluded.app_id AND m.state->>'status' = 'planned'
        RETURNING m.revision
        """
    )

    static let find = StoreSQL.tenant(
        "SELECT \(columns) FROM gateway.migration WHERE tenant_id = $1 AND migration_id = $2"
    )

    /// In the order of their names; `$2`: an app, null: all.
    static let page = StoreSQL.tenant(
        """
        SELECT \(columns) FROM gateway.migration
        WHERE tenant_id = $1 AND ($2::text IS NULL OR app_id = $2) AND migration_id > $3 ORDER BY migration_id LIMIT $4
        """
    )

    /// The newest first.
    static let history = StoreSQL.tenant(
        """
        SELECT h.revision, h.at, h.status, h.step, h.note, h.actor, h.route_version FROM gateway.migration_history h
        WHERE h.tenant_id = $1 AND h.migration_id = $2 ORDER BY h.revision DESC LIMIT $3
        """
    )

    /// Migrations that are due, as a hint: over all tenants, without locks.
    static let due = StoreSQL.global(
        """
        SELECT m.tenant_id, m.migration_id FROM gateway.migration m
        WHERE m.is_active AND m.next_at <= now() ORDER BY m.next_at LIMIT 100
        """
    )

    static let claim = StoreSQL.tenant(
        """
        UPDATE gateway.migration SET owner = $3, next_at = now() + $4::interval
        WHERE tenant_id = $1 AND migration_id = $2 AND is_active AND next_at <= now()
        RETURNING \(columns), next_at
        """
    )

    /// After an evaluation without a change.
    static let release = StoreSQL.tenant(
        """
        UPDATE gateway.migration SET owner = NULL, next_at = now() + $4::interval
        WHERE tenant_id = $1 AND migration_id = $2 AND owner = $3
        """
    )

    /// `$4`: the revision before.
    static let change = StoreSQL.tenant(
        """
        UPDATE gateway.migration SET state = $3::json, revision = $4 + 1, is_active = $5, owner = NULL, next_at = now() + $6::interval
        WHERE tenant_id = $1 AND migration_id = $2 AND revision = $4
        """
    )

    static let note = StoreSQL.tenant(
        """
        INSERT INTO gateway.migration_history (tenant_id, migration_id, revision, status, step, note, actor, route_version)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        """
    )

    /// The event of a change. It comes last in its transaction.
    static let event = StoreSQL.tenant(
        """
        SELECT gateway.write_events(p_tenant => $1, p_app => $2, p_vendor => NULL, p_sender => NULL, p_kind => $3, \
        p_before => NULL, p_count => 1, p_messages => NULL, p_due_days => NULL, p_targets => NULL, p_reasons => NULL, \
        p_identities => NULL, p_devices => NULL, p_data => ARRAY[$4::text::json])
        """
    )

    /// The number of migrations in each state, over all tenants.
    static let statuses = StoreSQL.global(
        "SELECT m.state->>'status' AS status, count(*) AS n FROM gateway.migration m GROUP BY 1"
    )

    // MARK: Figures

    /// Adds counts of one tenant. `$2` to `$6`: apps, figures, beginnings of intervals, samples and differences.
    static let add = StoreSQL.tenant(
        """
        INSERT INTO gateway.observed_figure AS f (tenant_id, app_id, figure, at, samples, differences)
        SELECT $1, u.app_id, u.figure, u.at, u.samples, u.differences
        FROM unnest($2::text[], $3::text[], $4::timestamptz[], $5::bigint[], $6::bigint[]) AS u(app_id, figure, at, samples, differences)
        ON CONFLICT (tenant_id, app_id, figure, at) DO UPDATE
            SET samples = f.samples + excluded.samples, differences = f.differences + excluded.differences
        """
    )

    /// The counts of the app `$2` in the intervals that began at `$3` or later, and in those of them that began at `$4` or later.
    static let figures = StoreSQL.tenant(
        """
        SELECT f.figure, sum(f.samples)::bigint AS samples, sum(f.differences)::bigint AS differences,
            coalesce(sum(f.samples) FILTER (WHERE f.at >= $4), 0)::bigint AS recent_samples,
            coalesce(sum(f.differences) FILTER (WHERE f.at >= $4), 0)::bigint AS recent_differences
        FROM gateway.observed_figure f
        WHERE f.tenant_id = $1 AND f.app_id = $2 AND f.at >= $3 GROUP BY f.figure
        """
    )

    /// The calls that wait for the upstream `$2`; no row: none has been forwarded. They are counted now, up to 1,000: `waiting` of the row is some seconds old,
    /// and says of calls that have just come that none waits.
    static let backlog = StoreSQL.tenant(
        """
        SELECT u.is_full, CASE WHEN n.counted < 1000 THEN n.counted ELSE greatest(u.waiting, n.counted) END AS waiting, coalesce((
            SELECT greatest(0, extract(epoch FROM now() - o.called_at)) FROM gateway.outbox o
            WHERE o.tenant_id = $1 AND o.upstream = $2 ORDER BY o.called_at LIMIT 1), 0)::double precision AS oldest
        FROM gateway.outbox_upstream u CROSS JOIN (
            SELECT count(*) AS counted FROM (
                SELECT FROM gateway.outbox o WHERE o.tenant_id = $1 AND o.upstream = $2 LIMIT 1000) x) n
        WHERE u.tenant_id = $1 AND u.upstream = $2
        """
    )

    /// The devices of the dialect `$3` that were seen within 30 days and that no token of Apple reaches, counted up to `$4`.
    static let withoutTransport = StoreSQL.tenant(
        """
        SELECT count(*) AS n FROM (
            SELECT FROM gateway.identity i
            LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
            WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active'
                AND (d.device_id IS NULL OR d.platform <> 'ios' OR d.token_state <> 'active')
                AND greatest(i.registered_at, i.seen_at, d.seen_at) >= now() - interval '30 days'
            LIMIT $4) x
        """
    )

    /// The imports of devices (`$2` names them in the audit) that ended since `$3`, of the last 1,000 rows about them, the opt-outs in their files, and the
    /// rows with a decision of a user. Rows of the audit from before these were counted have the opt-outs alone.
    static let imports = StoreSQL.tenant(
        """
        SELECT count(*) AS imports, coalesce(sum((x.data->>'optOuts')::bigint), 0)::bigint AS opt_outs,
            coalesce(sum(greatest((x.data->>'optOuts')::bigint, (x.data->>'consents')::bigint)), 0)::bigint AS consents
        FROM (
            SELECT a.at, a.data, a.action FROM gateway.audit a
            WHERE a.tenant_id = $1 AND a.subject = $2 ORDER BY a.position DESC LIMIT 1000) x
        WHERE x.action = 'imported' AND x.at >= $3
        """
    )
}
