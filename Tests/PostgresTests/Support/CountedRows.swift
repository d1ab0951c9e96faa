import DatabaseSupport
import Model

@testable import PostgresClient

/// The counts of a tenant by group, and the same counts computed from its deliveries and open slices.
struct CountedRows {
    /// By "quarter app vendor device transport stage", without zeros.
    let counters: [String: Int]
    let recount: [String: Int]
    /// Targets without an outcome, by "quarter app vendor".
    let pending: [String: Int]
    /// The counts of messages that have their own, by "message stage", and their recount.
    let messages: [String: Int]
    let messageRecount: [String: Int]

    private static let stages = [
        "suppressed", "canceled", "expired", "expired_tried", "unsendable", "accepted", "uncertain", "rejected",
        "received", "read",
    ]

    private static func parts(_ stages: [String]) -> String {
        "(VALUES \(stages.map { "('\($0)', c.\($0)::bigint)" }.joined(separator: ", "))) AS s(stage, count)"
    }

    private static let counted = """
        SELECT concat_ws(' ', c.quarter, c.app_id, c.vendor, c.device_vendor, c.transport, s.stage) AS key, sum(s.count)::bigint AS count FROM (
            SELECT quarter, app_id, vendor, device_vendor, transport, targets, \(stages.joined(separator: ", "))
            FROM gateway.counter WHERE tenant_id = $1
            UNION ALL
            SELECT quarter, app_id, vendor, device_vendor, transport, targets, \(stages.joined(separator: ", "))
            FROM gateway.counter_delta WHERE tenant_id = $1) c
        CROSS JOIN LATERAL \(parts(["targets"] + stages)
        )
        GROUP BY 1 HAVING sum(s.count) <> 0
        UNION ALL
        SELECT concat_ws(' ', r.quarter, r.app_id, r.vendor, r.device_vendor, r.transport, r.stage, r.reason), sum(r.count)::bigint FROM (
            SELECT quarter, app_id, vendor, device_vendor, transport, stage, reason, count
            FROM gateway.counter_reason WHERE tenant_id = $1
            UNION ALL
            SELECT quarter, app_id, vendor, device_vendor, transport, split_part(x.key, ':', 1), split_part(x.key, ':', 2), x.value::bigint
            FROM gateway.counter_delta d CROSS JOIN LATERAL json_each_text(d.reasons) AS x(key, value) WHERE d.tenant_id = $1) r
        GROUP BY 1 HAVING sum(r.count) <> 0
        """

    /// The deliveries with an outcome, by group, and the targets: those and the open ones.
    private static let rows = """
        d AS (
            SELECT m.message_id, m.is_counted,
                concat_ws(' ', floor(extract(epoch FROM m.due_at) / 900)::integer, m.app_id, m.vendor) AS cohort,
                coalesce(d.device_vendor, CASE WHEN m.vendor = 'native' THEN '' ELSE m.vendor END) AS device,
                coalesce(d.transport, '') AS transport,
                gateway.stage_of(d.state, d.transport, d.is_certain) AS stage, d.reason, d.attempts, d.received_at, d.read_at
            FROM gateway.delivery d JOIN gateway.message m ON m.tenant_id = d.tenant_id AND m.message_id = d.message_id
            WHERE d.tenant_id = $1 AND d.sent_at IS NOT NULL),
        x AS (
            SELECT d.*, y.part FROM d CROSS JOIN LATERAL (
                SELECT d.stage AS part
                UNION ALL SELECT 'expired_tried' WHERE d.stage = 'expired' AND d.attempts > 0
                UNION ALL SELECT 'received' WHERE d.stage IN ('accepted', 'uncertain') AND d.received_at IS NOT NULL
                UNION ALL SELECT 'read' WHERE d.stage IN ('accepted', 'uncertain') AND d.read_at IS NOT NULL
                UNION ALL SELECT d.stage || ' ' || d.reason WHERE d.reason IS NOT NULL AND d.stage IN ('suppressed', 'unsendable', 'rejected')) y),
        o AS (
            SELECT m.message_id, concat_ws(' ', floor(extract(epoch FROM m.due_at) / 900)::integer, m.app_id, m.vendor) AS cohort,
                CASE WHEN m.vendor = 'native' THEN '' ELSE m.vendor END AS device,
                sum(cardinality(s.targets) - bit_count(s.done))::bigint AS count
            FROM gateway.slice s JOIN gateway.message m ON m.tenant_id = s.tenant_id AND m.message_id = s.message_id
            WHERE s.tenant_id = $1 AND s.state <> 'done' GROUP BY 1, 2, 3)
        """

    private static let recounted = """
        WITH \(rows)
        SELECT concat_ws(' ', cohort, device, transport, part) AS key, count(*) AS count FROM x GROUP BY 1
        UNION ALL
        SELECT concat_ws(' ', t.cohort, t.device, '', 'targets'), sum(t.count)::bigint FROM (
            SELECT cohort, device, count(*) AS count FROM d GROUP BY 1, 2 UNION ALL SELECT cohort, device, count FROM o) t
        GROUP BY 1 HAVING sum(t.count) <> 0
        """

    private static let open = "WITH \(rows) SELECT cohort AS key, sum(count)::bigint AS count FROM o GROUP BY 1"

    private static let ofMessages = """
        SELECT concat_ws(' ', c.message_id, c.transport, s.stage) AS key, sum(s.count)::bigint AS count FROM (
            SELECT message_id, transport, \(stages.joined(separator: ", ")) FROM gateway.message_counter WHERE tenant_id = $1
            UNION ALL
            SELECT message_id, transport, \(stages.joined(separator: ", ")) FROM gateway.counter_delta
            WHERE tenant_id = $1 AND message_id IS NOT NULL) c
        CROSS JOIN LATERAL \(parts(stages))
        GROUP BY 1 HAVING sum(s.count) <> 0
        """

    private static let recountedMessages = """
        WITH \(rows)
        SELECT concat_ws(' ', message_id, transport, part) AS key, count(*) AS count FROM x
        WHERE is_counted AND part NOT LIKE '% %' GROUP BY 1
        """

    /// Reads everything in one transaction with one snapshot.
    init(of tenant: TenantID, _ admin: PostgresConnection) async throws {
        let statements = [Self.counted, Self.recounted, Self.open, Self.ofMessages, Self.recountedMessages]
        let results = try await admin.run(
            Transaction(
                tenant: nil,
                [Statement("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")]
                    + statements.map { Statement($0, [.text(tenant.rawValue)]) }
            )
        )
        func table(_ index: Int) throws -> [String: Int] {
            Dictionary(uniqueKeysWithValues: try results[index].map { (try $0.text("key"), try $0.int("count")) })
        }
        counters = try table(1)
        recount = try table(2)
        pending = try table(3)
        messages = try table(4)
        messageRecount = try table(5)
    }
}
