import Model
import PostgresClient

/// Figures that the event reader counts.
enum ReadingSQL {
    /// Now, unless a transaction has the event log (`write_events`) and has not committed its events, whose time is earlier: then null. Asked before `span`, in
    /// a statement of its own, so that `span` sees everything that was committed before the answer.
    static let quiet = StoreSQL.tenant(
        """
        SELECT CASE WHEN NOT EXISTS (
            SELECT FROM pg_catalog.pg_locks l
            WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
                AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = current_database())
                AND (l.classid::bigint << 32) | l.objid::bigint
                    = pg_catalog.hashtextextended($1::text || chr(31) || 'events' || chr(31), 0)) THEN now() END AS now
        """
    )

    /// The time of the first event that is not counted. If all are counted: `$2`, or, if it is null, the time of the last event, because no later event
    /// has an earlier time.
    static let span = StoreSQL.tenant(
        """
        SELECT r.since, coalesce((
            SELECT b.at FROM gateway.event_batch b WHERE b.tenant_id = $1 AND b.last > r.cursor ORDER BY b.last LIMIT 1), $2::timestamptz, (
            SELECT b.at FROM gateway.event_batch b WHERE b.tenant_id = $1 ORDER BY b.last DESC LIMIT 1), r.since) AS until
        FROM gateway.event_reader r WHERE r.tenant_id = $1
        """
    )

    /// `$2`, `$3`: quarter hours since 1970, the second excluded. `$4`, `$5`: apps and dialects of senders; null: all. `$6`, `$7`: whether by app and by
    /// dialect. `$8`: the maximum number of rows.
    static let latencies = StoreSQL.tenant(
        """
        SELECT l.kind, CASE WHEN $6 THEN l.app_id END AS app_id, CASE WHEN $7 THEN l.vendor END AS vendor, l.histogram
        FROM gateway.latency l
        WHERE l.tenant_id = $1 AND l.quarter >= $2 AND l.quarter < $3 AND ($4::text[] IS NULL OR l.app_id = ANY ($4))
            AND ($5::text[] IS NULL OR l.vendor = ANY ($5))
        LIMIT $8
        """
    )

    /// `$2`, `$3`: days since 1970, both included. `$4`: apps; null: all. `$5`: the maximum number of rows.
    static let sketches = StoreSQL.tenant(
        """
        SELECT s.day, s.app_id, s.subject, s.stage, s.sketch FROM gateway.device_sketch s
        WHERE s.tenant_id = $1 AND s.day >= $2 AND s.day <= $3 AND ($4::text[] IS NULL OR s.app_id = ANY ($4)) LIMIT $5
        """
    )

    static let changes = StoreSQL.tenant(
        """
        SELECT c.day, c.app_id, c.gained, c.lost, c.invalidated FROM gateway.device_change c
        WHERE c.tenant_id = $1 AND c.day >= $2 AND c.day <= $3 AND ($4::text[] IS NULL OR c.app_id = ANY ($4)) LIMIT $5
        """
    )

    /// Receipts that changed no delivery: their numbers by reason, one row for each app and day. Parameters as above.
    static let orphans = StoreSQL.tenant(
        """
        \(MessageSQL.withFirstMinute)
        SELECT c.day, c.app_id, json_object_agg(c.reason, c.count)::text AS orphans
        FROM (
            SELECT x.day, x.app_id, x.reason, sum(x.count)::bigint AS count
            FROM (
                SELECT o.day, o.app_id, o.reason, o.count FROM gateway.orphan_receipt o
                WHERE o.tenant_id = $1 AND o.day >= $2 AND o.day <= $3 AND ($4::text[] IS NULL OR o.app_id = ANY ($4))
                UNION ALL
                SELECT d.orphan_day, d.app_id, d.orphan, d.orphans
                FROM f JOIN gateway.counter_delta d ON d.tenant_id = $1 AND d.minute >= f.minute
                WHERE d.orphan_day >= $2 AND d.orphan_day <= $3 AND ($4::text[] IS NULL OR d.app_id = ANY ($4))) x
            GROUP BY x.day, x.app_id, x.reason) c
        GROUP BY c.day, c.app_id LIMIT $5
        """
    )

    /// The counts of a property. `$2`, `$3`: days since 1970, both included. `$4`: apps; null: all. `$5`: the maximum number of rows that are read, `$6` that of
    /// groups, the largest first. `scanned`: the number of rows that were read.
    private static func counts(_ property: CountedProperty, _ columns: [String], from join: String) -> StoreSQL {
        let names = columns.indices.map { "v\($0)" }
        let list = zip(columns, names).map { "\($0) AS \($1)" }.joined(separator: ", ")
        return .tenant(
            """
            WITH c AS (
                SELECT c.app_id, c.value, c.variant, c.reached, c.received, c.read FROM gateway.property_count c
                WHERE c.tenant_id = $1 AND c.day >= $2 AND c.day <= $3 AND ($4::text[] IS NULL OR c.app_id = ANY ($4))
                    AND c.property = '\(property.rawValue)'
                LIMIT $5)
            SELECT \(list), sum(c.reached)::bigint AS reached, sum(c.received)::bigint AS received, sum(c.read)::bigint AS read,
                (SELECT count(*) FROM c) AS scanned
            FROM c\(join) GROUP BY \(names.joined(separator: ", "))
            ORDER BY sum(c.reached) DESC, \(names.joined(separator: ", ")) LIMIT $6
            """
        )
    }

    /// By app, name and variant.
    static let campaigns = counts(.campaign, ["c.app_id", "c.value", "nullif(c.variant, '')"], from: "")
    /// By hour of the week.
    static let hours = counts(.hour, ["c.value"], from: "")

    /// By the facts `fields`; a statement for each combination; in the order of `allCases` there are 63.
    static func versions(_ fields: [ClientFacts.Field]) -> StoreSQL {
        counts(
            .client,
            fields.map { "CASE c.value WHEN '0' THEN 'other' ELSE v.\(column($0)) END" },
            from: """

                LEFT JOIN LATERAL (
                    SELECT x.* FROM gateway.client_version x
                    WHERE x.tenant_id = $1 AND x.app_id = c.app_id
                        AND x.client = CASE WHEN c.value <> '' THEN c.value::bigint END OFFSET 0) v ON true
                """
        )
    }

    private static func column(_ field: ClientFacts.Field) -> String {
        switch field {
        case .appVersion: "app_version"
        case .os: "os"
        case .osVersion: "os_version"
        case .sdkVersion: "sdk_version"
        case .model: "model"
        case .locale: "locale"
        }
    }
}
