import Model
import PostgresClient

/// Counts of deliveries for analytics. Each statement adds the rows that are not folded yet, so its sums are exact.
enum FunnelSQL {
    private static let counts = """
        targets, suppressed, canceled, expired, expired_tried, unsendable, accepted, uncertain, rejected, received, read
        """

    private static func counts(_ prefix: String) -> String {
        counts.split(separator: ", ").map { "\(prefix).\($0)" }.joined(separator: ", ")
    }

    private static let sums = FunnelStage.allCases.map { #"\#(sum($0))::bigint AS "\#($0.rawValue)""# }
        .joined(separator: ", ")

    private static func sum(_ stage: FunnelStage) -> String {
        func observed(_ counts: String) -> String {
            "coalesce(sum(\(counts)) FILTER (WHERE starts_with(c.transport, '\(FunnelFilter.observedPrefix)')), 0)"
        }
        return switch stage {
        case .observedSent: observed("c.accepted + c.uncertain + c.rejected + c.expired_tried")
        case .observedAccepted: observed("c.accepted")
        case .expiredTried: "sum(c.expired_tried)"
        default: "sum(c.\(stage.rawValue))"
        }
    }

    /// `$2`, `$3`: quarter hours since 1970, the second excluded. `$4` to `$7`: apps, dialects of senders, dialects of devices, transports; null: all.
    private static func matches(_ row: String) -> String {
        """
        \(row).quarter >= $2 AND \(row).quarter < $3 AND ($4::text[] IS NULL OR \(row).app_id = ANY ($4))
            AND ($5::text[] IS NULL OR \(row).vendor = ANY ($5)) AND ($6::text[] IS NULL OR \(row).device_vendor = ANY ($6))
            AND ($7::text[] IS NULL OR \(row).transport = ANY ($7))
        """
    }

    /// The groups: `$8` whether by app, `$9` by the sender's dialect, `$10` by transport. `device`: the dialect of the device.
    private static func groups(device: String) -> String {
        """
        CASE WHEN $8 THEN c.app_id END AS app_id, CASE WHEN $9 THEN c.vendor END AS vendor, \(device) AS device_vendor,
            CASE WHEN $10 THEN c.transport END AS transport
        """
    }

    /// Always by the dialect of the device, on which it depends what can be reported. `$11`: the first quarter hours of the parts, in their order. `part`: from 1. `$12`: the maximum number of rows.
    /// `$13`: the dialects whose receipts need a setting; `$14`: `DIALECT/APP` of the apps that have it.
    static let funnel = StoreSQL.tenant(
        """
        \(MessageSQL.withFirstMinute)
        SELECT width_bucket(c.quarter, $11::integer[]) AS part, \(groups(device: "c.device_vendor")),
            c.device_vendor <> ALL ($13::text[]) OR c.device_vendor || '/' || c.app_id = ANY ($14::text[]) AS is_configured, \(sums)
        FROM (
            SELECT x.quarter, x.app_id, x.vendor, x.device_vendor, x.transport, \(counts("x"))
            FROM gateway.counter x WHERE x.tenant_id = $1 AND \(matches("x"))
            UNION ALL
            SELECT d.quarter, d.app_id, d.vendor, d.device_vendor, d.transport, \(counts("d"))
            FROM f JOIN gateway.counter_delta d ON d.tenant_id = $1 AND d.minute >= f.minute WHERE \(matches("d"))) c
        GROUP BY 1, 2, 3, 4, 5, 6 LIMIT $12
        """
    )

    /// `$11`: whether also by the dialect of the device. `$12`: stages; `$13`: the maximum number of losses, the largest first. After them the sum of each stage
    /// and group, whose reason is null.
    static let losses = StoreSQL.tenant(
        """
        \(MessageSQL.withFirstMinute), l AS (
        SELECT c.stage, c.reason, \(groups(device: "CASE WHEN $11 THEN c.device_vendor END")),
            sum(c.count)::bigint AS count
        FROM (
            SELECT x.app_id, x.vendor, x.device_vendor, x.transport, x.stage, x.reason, x.count
            FROM gateway.counter_reason x WHERE x.tenant_id = $1 AND \(matches("x"))
            UNION ALL
            SELECT d.app_id, d.vendor, d.device_vendor, d.transport, split_part(r.key, ':', 1),
                substr(r.key, strpos(r.key, ':') + 1), r.value::bigint
            FROM f JOIN gateway.counter_delta d ON d.tenant_id = $1 AND d.minute >= f.minute
            CROSS JOIN LATERAL json_each_text(d.reasons) AS r(key, value)
            WHERE d.reasons IS NOT NULL AND \(matches("d"))) c
        WHERE c.stage = ANY ($12::text[]) GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(c.count) <> 0)
        (SELECT l.stage, l.reason, l.app_id, l.vendor, l.device_vendor, l.transport, l.count FROM l
        ORDER BY l.count DESC, l.stage, l.reason, l.app_id, l.vendor, l.device_vendor, l.transport LIMIT $13)
        UNION ALL SELECT l.stage, NULL::text, l.app_id, l.vendor, l.device_vendor, l.transport, sum(l.count)::bigint
        FROM l GROUP BY 1, 3, 4, 5, 6
        """
    )

    /// One snapshot for all statements of a transaction.
    static let snapshot = StoreSQL.global("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")

    /// The apps `$2` that exist, or existed.
    static let appDefaults = StoreSQL.tenant(
        "SELECT app_id, defaults::text AS defaults FROM gateway.app WHERE tenant_id = $1 AND app_id = ANY ($2::text[])"
    )

    /// The parts of a range on the clock of a zone: the first quarter hour of each, and its local day. `$1`, `$2`: the range; `$3`: the field of `date_trunc`;
    /// `$4`: the zone. An hour that the clock repeats is two parts; a repeated hour does not split a day.
    static let parts = StoreSQL.global(
        """
        SELECT min(q.quarter)::integer AS quarter, to_char(min(q.local), 'YYYY-MM-DD') AS day
        FROM (
            SELECT g.quarter, t.local, t.local - (to_timestamp(g.quarter * 900.0) AT TIME ZONE 'UTC') AS ahead
            FROM generate_series($1::integer, $2::integer - 1) AS g(quarter)
            CROSS JOIN LATERAL (SELECT to_timestamp(g.quarter * 900.0) AT TIME ZONE $4 AS local) t) q
        GROUP BY date_trunc($3, q.local), CASE WHEN $3 = 'hour' THEN q.ahead END
        ORDER BY min(q.quarter)
        """
    )
}
