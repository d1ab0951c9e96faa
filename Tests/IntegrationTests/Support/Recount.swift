import CommandSupport
import Model
import PostgresClient
import Testing

@testable import Gateway

/// Compares everything that the gateway counts with the rows of `delivery` (I2). Only for a queue without open slices.
enum Recount {
    /// The differences, as sentences.
    static func differences(in database: Database) async throws -> [String] {
        var found: [String] = []
        for (what, sql) in [("counters", counters), ("events", events), ("positions", positions)] {
            for row in try await database.engine.run(Statement(sql), tenant: nil) {
                found.append(
                    "\(what) of \(try row.text("name")): \(try row.text("counted")), not \(try row.text("rows"))"
                )
            }
        }
        return found
    }

    /// The analytics per tenant, app and dialect, and the number of targets of all messages.
    private static let counters = """
        WITH d AS (
            SELECT d.tenant_id || '/' || d.app_id || '/' || d.vendor AS name, count(*) AS recipients,
                count(*) FILTER (WHERE d.state IN ('sent', 'received', 'read')) AS sent,
                count(*) FILTER (WHERE d.received_at IS NOT NULL) AS received, count(*) FILTER (WHERE d.read_at IS NOT NULL) AS read,
                count(*) FILTER (WHERE d.state = 'failed') AS failed, count(*) FILTER (WHERE d.state = 'suppressed') AS suppressed,
                count(*) FILTER (WHERE d.state = 'expired') AS expired, count(*) FILTER (WHERE d.state = 'canceled') AS canceled
            FROM gateway.delivery d GROUP BY 1),
        c AS (
            SELECT c.tenant_id || '/' || c.app_id || '/' || c.vendor AS name, sum(c.recipients)::bigint AS recipients,
                sum(c.sent)::bigint AS sent, sum(c.received)::bigint AS received, sum(c.read)::bigint AS read,
                sum(c.failed)::bigint AS failed, sum(c.suppressed)::bigint AS suppressed, sum(c.expired)::bigint AS expired,
                sum(c.canceled)::bigint AS canceled
            FROM gateway.counter_hour c GROUP BY 1)
        SELECT coalesce(d.name, c.name) AS name, coalesce(to_json(c)::text, 'nothing') AS counted, coalesce(to_json(d)::text, 'nothing') AS rows
        FROM d FULL JOIN c ON c.name = d.name WHERE d IS DISTINCT FROM c
        """

    /// One event of each message, one of each outcome, and one of each receipt.
    private static let events = """
        WITH d AS (
            SELECT d.message_id, d.target_id, k.kind FROM gateway.delivery d CROSS JOIN LATERAL (
                SELECT CASE WHEN d.state IN ('received', 'read') THEN 'sent' ELSE d.state END AS kind
                -- A receipt of read is the only event of a delivery that was not reported as received.
                UNION ALL SELECT 'received' WHERE d.received_at IS NOT NULL AND d.received_at IS DISTINCT FROM d.read_at
                UNION ALL SELECT 'read' WHERE d.read_at IS NOT NULL) AS k),
        wanted AS (
            -- Two receipts within one millisecond have the same time.
            SELECT kind, count(*) AS number, CASE kind WHEN 'received' THEN (
                SELECT count(*) FROM gateway.delivery r WHERE r.received_at = r.read_at) ELSE 0 END AS more
            FROM d GROUP BY kind
            UNION ALL SELECT 'accepted', count(*), 0 FROM gateway.message HAVING count(*) > 0),
        seen AS (
            SELECT e.kind, count(*) AS number, count(DISTINCT (e.message_id, e.target_id)) AS different FROM gateway.event e
            WHERE e.kind IN ('accepted', 'suppressed', 'sent', 'failed', 'expired', 'canceled', 'received', 'read') GROUP BY e.kind)
        SELECT coalesce(w.kind, s.kind) AS name, coalesce(w.number, 0)::text AS rows,
            coalesce(s.number, 0) || ' (' || coalesce(s.different, 0) || ' different)' AS counted
        FROM wanted w FULL JOIN seen s ON s.kind = w.kind
        WHERE (s.number BETWEEN coalesce(w.number, 0) AND coalesce(w.number + w.more, 0)) IS NOT TRUE OR s.number <> s.different
        """

    /// The positions of a tenant have no gap and no repeat.
    private static let positions = """
        SELECT e.tenant_id AS name, count(*)::text AS counted, (max(e.position) - min(e.position) + 1)::text AS rows
        FROM gateway.event e GROUP BY e.tenant_id
        HAVING count(*) <> max(e.position) - min(e.position) + 1 OR count(DISTINCT e.position) <> count(*)
        """

    /// The numbers of latencies by tenant, app, dialect and kind that differ between the event reader's figures and the deliveries, as sentences.
    static func figures(in database: Database) async throws -> [String] {
        var counted: [String: Int64] = [:]
        for row in try await database.engine.run(Statement(histograms), tenant: nil) {
            let histogram = try #require(LatencyHistogram(encoded: try row.bytes("histogram")))
            counted[try row.text("name"), default: 0] += histogram.count
        }
        var expected: [String: Int64] = [:]
        for row in try await database.engine.run(Statement(latencies), tenant: nil) {
            expected[try row.text("name")] = try row.int64("count")
        }
        return Set(counted.keys).union(expected.keys).sorted().compactMap { name in
            let (one, other) = (counted[name] ?? 0, expected[name] ?? 0)
            return one == other ? nil : "latencies of \(name): \(one), not \(other)"
        }
    }

    private static let histograms = """
        SELECT l.tenant_id || '/' || l.app_id || '/' || l.vendor || '/' || l.kind AS name, l.histogram FROM gateway.latency l
        """

    private static let latencies = """
        SELECT d.tenant_id || '/' || d.app_id || '/' || d.vendor || '/' || k.kind AS name, count(*) AS count
        FROM gateway.delivery d JOIN gateway.message m ON m.tenant_id = d.tenant_id AND m.message_id = d.message_id
        CROSS JOIN LATERAL (
            SELECT 'delivery' AS kind WHERE d.transport NOT LIKE '%:%'
                AND (d.due_at IS NOT NULL OR m.due_local IS NULL AND m.pace_count IS NULL)
            UNION ALL SELECT 'transport' WHERE d.transport_ms IS NOT NULL
            UNION ALL SELECT 'receipt' WHERE d.state IN ('received', 'read')
            UNION ALL SELECT 'read' WHERE d.state = 'read') k
        WHERE d.sent_at IS NOT NULL GROUP BY 1
        """

    /// Compares the funnel that the API shows with the rows of each message.
    static func expectFunnels(
        of messages: [String],
        _ world: World,
        in database: Database,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let sql = """
            SELECT count(*) AS recipients, count(*) FILTER (WHERE d.state IN ('sent', 'received', 'read')) AS sent,
                count(*) FILTER (WHERE d.received_at IS NOT NULL) AS received, count(*) FILTER (WHERE d.read_at IS NOT NULL) AS read,
                count(*) FILTER (WHERE d.state = 'failed') AS failed, count(*) FILTER (WHERE d.state = 'suppressed') AS suppressed,
                count(*) FILTER (WHERE d.state = 'expired') AS expired, count(*) FILTER (WHERE d.state = 'canceled') AS canceled
            FROM gateway.delivery d WHERE d.message_id = $1::text::uuid
            """
        for message in messages {
            let row = try await database.engine.run(Statement(sql, [.text(message)]), tenant: nil).only()
            let funnel = try await world.native("GET", "/v1/messages/\(message)").json?["funnel"]
            for stage in ["recipients", "sent", "received", "read", "failed", "suppressed", "expired", "canceled"] {
                let rows = try row.int(.name(stage))
                #expect(
                    funnel?[stage]?.int == Int64(rows),
                    "\(stage) of \(message): \(JSONWriter.text(funnel ?? .null)), not \(rows)",
                    sourceLocation: sourceLocation
                )
            }
        }
    }
}

extension Cluster {
    /// Expects that counters, events, funnels and the event reader's figures equal the rows of `delivery`. Counting may take up to a minute.
    func expectEqualCounts(
        of messages: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await withDatabase { database in
            try await world.expectEqualCounts(of: messages, in: database, sourceLocation: sourceLocation)
        }
    }
}

extension World {
    func expectEqualCounts(
        of messages: [String],
        in database: Database,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let end = ContinuousClock.now + .seconds(60)
        var differences = try await Recount.differences(in: database)
        differences += try await Recount.figures(in: database)
        while !differences.isEmpty, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(100))
            differences = try await Recount.differences(in: database)
            differences += try await Recount.figures(in: database)
        }
        #expect(differences == [], sourceLocation: sourceLocation)
        try await Recount.expectFunnels(of: messages, self, in: database, sourceLocation: sourceLocation)
    }
}
