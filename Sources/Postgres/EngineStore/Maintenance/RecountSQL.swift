import PostgresClient
import Store

/// Compares the counts of one tenant and UTC day with its deliveries and open slices.
enum RecountSQL {
    private static let stages = [
        "suppressed", "canceled", "expired", "unsendable", "accepted", "uncertain", "rejected", "expired_tried",
        "received", "read",
    ]

    /// Numbers by key, from the columns of a row `c`.
    private static func unpivoted(_ stages: [String]) -> String {
        "(VALUES \(stages.map { "('\($0)', c.\($0)::bigint)" }.joined(separator: ", "))) AS s(key, count)"
    }

    /// The differences by message (null: the counts of all messages together), group and key: a stage, or a stage with a reason. `$2`: the day since 1970;
    /// `$4` and `$5`: the ids of its messages, the second excluded.
    private static let differences = """
        WITH m AS (
            SELECT x.message_id, x.is_counted, x.app_id, x.vendor, floor(extract(epoch FROM x.due_at) / 900)::integer AS quarter,
                CASE WHEN x.vendor = 'native' THEN '' ELSE x.vendor END AS device_vendor
            FROM gateway.message x WHERE x.tenant_id = $1 AND x.message_id >= $4 AND x.message_id < $5 AND x.due_day = $2),
        d AS (
            SELECT m.message_id, m.is_counted, m.quarter, m.app_id, m.vendor, coalesce(d.device_vendor, m.device_vendor) AS device_vendor,
                coalesce(d.transport, '') AS transport,
                gateway.stage_of(d.state, d.transport, d.is_certain) AS stage, d.reason, d.attempts, d.received_at, d.read_at
            FROM gateway.delivery d JOIN m ON m.message_id = d.message_id
            WHERE d.tenant_id = $1 AND d.due_day = $2 AND d.sent_at IS NOT NULL),
        e AS (
            SELECT CASE WHEN d.is_counted THEN d.message_id END AS message_id, d.quarter, d.app_id, d.vendor, d.device_vendor, d.transport,
                k.key, count(*) AS count
            FROM d CROSS JOIN LATERAL (
                SELECT d.stage AS key
                UNION ALL SELECT 'expired_tried' WHERE d.stage = 'expired' AND d.attempts > 0
                UNION ALL SELECT 'received' WHERE d.stage IN ('accepted', 'uncertain') AND d.received_at IS NOT NULL
                UNION ALL SELECT 'read' WHERE d.stage IN ('accepted', 'uncertain') AND d.read_at IS NOT NULL
                UNION ALL SELECT d.stage || ':' || d.reason
                    WHERE d.reason IS NOT NULL AND d.stage IN ('suppressed', 'unsendable', 'rejected')) k
            GROUP BY 1, 2, 3, 4, 5, 6, 7),
        t AS (
            SELECT NULL::uuid AS message_id, x.quarter, x.app_id, x.vendor, x.device_vendor, '' AS transport, 'targets' AS key,
                sum(x.count)::bigint AS count
            FROM (
                SELECT d.quarter, d.app_id, d.vendor, d.device_vendor, count(*) AS count FROM d GROUP BY 1, 2, 3, 4
                UNION ALL
                SELECT m.quarter, m.app_id, m.vendor, m.device_vendor, sum(cardinality(s.targets) - bit_count(s.done))::bigint
                FROM m JOIN gateway.slice s ON s.tenant_id = $1 AND s.message_id = m.message_id AND s.state <> 'done'
                GROUP BY 1, 2, 3, 4) x
            GROUP BY 1, 2, 3, 4, 5, 6, 7),
        c AS (
            SELECT NULL::uuid AS message_id, x.quarter, x.app_id, x.vendor, x.device_vendor, x.transport, x.targets,
                \(stages.map { "x.\($0)" }.joined(separator: ", ")), NULL::json AS reasons
            FROM gateway.counter x WHERE x.tenant_id = $1 AND x.quarter >= $2 * 96 AND x.quarter < $2 * 96 + 96
            UNION ALL
            SELECT x.message_id, x.quarter, x.app_id, x.vendor, x.device_vendor, x.transport, x.targets,
                \(stages.map { "x.\($0)" }.joined(separator: ", ")), x.reasons
            FROM gateway.counter_delta x WHERE x.tenant_id = $1 AND x.quarter >= $2 * 96 AND x.quarter < $2 * 96 + 96),
        n AS (
            -- All messages together.
            SELECT NULL::uuid AS message_id, e.quarter, e.app_id, e.vendor, e.device_vendor, e.transport, e.key, e.count FROM e
            UNION ALL SELECT * FROM t
            UNION ALL
            SELECT NULL, c.quarter, c.app_id, c.vendor, c.device_vendor, c.transport, s.key, -s.count
            FROM c CROSS JOIN LATERAL \(unpivoted(["targets"] + stages))
            UNION ALL
            SELECT NULL, x.quarter, x.app_id, x.vendor, x.device_vendor, x.transport, x.stage || ':' || x.reason, -x.count
            FROM gateway.counter_reason x WHERE x.tenant_id = $1 AND x.quarter >= $2 * 96 AND x.quarter < $2 * 96 + 96
            UNION ALL
            SELECT NULL, c.quarter, c.app_id, c.vendor, c.device_vendor, c.transport, r.key, -r.value::bigint
            FROM c CROSS JOIN LATERAL json_each_text(c.reasons) AS r(key, value) WHERE c.reasons IS NOT NULL
            -- Messages with counts of their own, which have neither targets nor reasons there.
            UNION ALL
            SELECT e.message_id, e.quarter, e.app_id, e.vendor, e.device_vendor, e.transport, e.key, e.count
            FROM e WHERE e.message_id IS NOT NULL AND strpos(e.key, ':') = 0
            UNION ALL
            SELECT c.message_id, m.quarter, m.app_id, m.vendor, c.device_vendor, c.transport, s.key, -s.count
            FROM gateway.message_counter c JOIN m ON m.message_id = c.message_id
            CROSS JOIN LATERAL \(unpivoted(stages)) WHERE c.tenant_id = $1
            UNION ALL
            SELECT c.message_id, c.quarter, c.app_id, c.vendor, c.device_vendor, c.transport, s.key, -s.count
            FROM c CROSS JOIN LATERAL \(unpivoted(stages)) WHERE c.message_id IS NOT NULL),
        diff AS (
            SELECT message_id, quarter, app_id, vendor, device_vendor, transport, key, sum(count)::bigint AS count
            FROM n GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING sum(count) <> 0)
        """

    /// `$3`: the maximum number of differences.
    private static let found = """
        SELECT message_id, quarter, app_id, vendor, device_vendor, transport, key, count FROM diff
        ORDER BY message_id NULLS FIRST, quarter, app_id, vendor, device_vendor, transport, key LIMIT $3
        """

    /// The differences of all messages together and of single messages, and no change.
    static let compare = StoreSQL.tenant(
        """
        \(differences)
        \(found)
        """
    )

    /// Adds the differences to the counts. A row of a message changes the counts of all messages too, so what it adds there is subtracted again.
    static let correct = StoreSQL.tenant(
        """
        \(differences),
        w AS (
            SELECT message_id, quarter, app_id, vendor, device_vendor, transport, key, count FROM diff
            UNION ALL
            SELECT NULL, quarter, app_id, vendor, device_vendor, transport, key, -count FROM diff WHERE message_id IS NOT NULL),
        v AS (
            SELECT message_id, quarter, app_id, vendor, device_vendor, transport, key, sum(count)::integer AS count
            FROM w GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING sum(count) <> 0),
        i AS (
            INSERT INTO gateway.counter_delta
                    (tenant_id, message_id, quarter, app_id, vendor, device_vendor, transport, targets, \(stages.joined(separator: ", ")), reasons)
                SELECT $1, message_id, quarter, app_id, vendor, device_vendor, transport,
                    \((["targets"] + stages).map { "coalesce(sum(count) FILTER (WHERE key = '\($0)'), 0)" }.joined(separator: ", ")),
                    json_object_agg(key, count) FILTER (WHERE strpos(key, ':') > 0)
                FROM v GROUP BY message_id, quarter, app_id, vendor, device_vendor, transport RETURNING 1)
        \(found)
        """
    )

    /// One recount at a time: of two, both would find the same difference and add it. It conflicts only with itself and with maintenance of the table. Before
    /// the first query, so that the snapshot contains what the previous recount has added.
    static let lock = StoreSQL.global("LOCK TABLE gateway.counter_fold IN SHARE UPDATE EXCLUSIVE MODE")

    /// One snapshot for everything that is compared.
    static let snapshot = StoreSQL.global("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")

    /// The limit of one statement of a session is shorter than the largest day needs.
    static let longTimeout = StoreSQL.global("SET LOCAL statement_timeout = '600s'")

    /// The facts that decide whether a day of the tenant is whole.
    static let limits = StoreSQL.tenant(
        """
        SELECT t.retention::text AS retention, coalesce(f.rolled, 0) AS rolled, coalesce(f.kept_from, 0) AS kept_from,
            clock_timestamp() AS now
        FROM gateway.tenant t
        LEFT JOIN gateway.counter_fold f ON f.tenant_id = t.tenant_id
        WHERE t.tenant_id = $1
        """
    )

    static let tenants = StoreSQL.global(
        """
        SELECT t.tenant_id, t.retention::text AS retention, coalesce(f.rolled, 0) AS rolled, coalesce(f.kept_from, 0) AS kept_from
        FROM gateway.tenant t
        LEFT JOIN gateway.counter_fold f ON f.tenant_id = t.tenant_id
        WHERE $1::text IS NULL OR t.tenant_id = $1 ORDER BY t.tenant_id
        """
    )
}
