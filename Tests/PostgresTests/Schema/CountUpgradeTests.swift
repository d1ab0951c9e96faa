import DatabaseSupport
import Foundation
import Model
import Testing

@testable import DatabaseSchema
@testable import PostgresClient
@testable import Store

/// Counts survive an upgrade: those of version 38, by hour and node, and those of each version since.
@Suite struct CountUpgradeTests {
    // 48 hours of two vendors, each counted by three nodes.
    @Test func theCountsOfVersion38AreThoseOfTheFunnel() async throws {
        let database = try await TestCluster.databaseOfVersion38()
        let admin = try await database.admin()
        let hour: Int32 = 490_000
        try await admin.script(
            """
            INSERT INTO gateway.tenant (tenant_id) VALUES ('acme'), ('other');
            INSERT INTO gateway.counter_hour
                    (tenant_id, app_id, vendor, hour, node_id, recipients, sent, received, read, failed, suppressed, expired, canceled)
                SELECT t, 'shop', v, \(hour) + h, 'node ' || n, 100, 60, 30, 10, 12, 9, 8, 7
                FROM unnest(ARRAY['acme', 'other']) AS t, unnest(ARRAY['upmc', 'native']) AS v, generate_series(0, 47) AS h,
                    generate_series(1, 3) AS n;
            """
        )
        try await Migrator.bundled().migrate(admin)
        let queries = PostgresQueryStore(call: database.pool(.call))
        func counts(_ from: Int32, _ to: Int32, _ filter: FunnelFilter) async throws -> StageCounts {
            let part = FunnelPart(range: QuarterRange(from: from * 4, to: to * 4), day: "")
            let rows = try await queries.funnel(of: [part], filter, by: [], in: "acme")
            return (rows ?? []).reduce(StageCounts()) { $0 + $1.counts }
        }
        func expected(_ rows: Int64) -> StageCounts {
            StageCounts([
                .targets: 100 * rows, .accepted: 60 * rows, .received: 30 * rows, .read: 10 * rows,
                .rejected: 12 * rows, .suppressed: 9 * rows, .expired: 8 * rows, .canceled: 7 * rows,
            ])
        }
        #expect(try await counts(hour, hour + 48, FunnelFilter(apps: ["shop"])) == expected(2 * 48 * 3))
        #expect(try await counts(hour + 5, hour + 6, FunnelFilter(vendors: ["upmc"])) == expected(3))
        #expect(try await counts(hour + 48, hour + 96, FunnelFilter()) == expected(0))
        // A program of the version before reads them by hour.
        let sums = try await admin.query(
            "SELECT sum(sent)::bigint AS sent, sum(recipients)::bigint AS recipients FROM gateway.counter_hour WHERE tenant_id = 'acme'"
        ).only()
        #expect(try sums.int("sent") == 60 * 288 && sums.int("recipients") == 100 * 288)
    }

    /// A row of each table of counts, as columns and values.
    private static let rows = [
        (
            "counter",
            "(tenant_id, quarter, app_id, vendor, device_vendor, transport, targets, accepted, received, read) VALUES ('acme', 1960000, 'shop', 'upmc', 'upmc', 'apns', 9, 8, 5, 3)"
        ),
        (
            "counter_delta",
            "(tenant_id, quarter, app_id, vendor, device_vendor, targets, rejected, reasons) VALUES ('acme', 1960001, 'shop', 'upmc', 'upmc', 4, 2, '{\"rejected:Unregistered\": 2}')"
        ),
        (
            "counter_reason",
            "VALUES ('acme', 1960000, 'shop', 'upmc', 'upmc', 'apns', 'rejected', 'Unregistered', 6)"
        ),
        ("orphan_receipt", "VALUES ('acme', 20416, 'shop', 'repeated', 4)"),
        (
            "message_counter",
            "(tenant_id, message_id, device_vendor, transport, targets, accepted) VALUES ('acme', md5('1')::uuid, 'upmc', 'apns', 7, 6)"
        ),
        (
            "event_reader",
            "(tenant_id, cursor, since, key) VALUES ('acme', 17, '2025-11-24T16:00:00Z', '\\x000102030405060708090a0b0c0d0e0f')"
        ),
        ("latency", "VALUES ('acme', 1960000, 'shop', 'upmc', 'delivery', '\\x0102')"),
        ("device_sketch", "VALUES ('acme', 20416, 'shop', 'device', 'reached', '\\x0304')"),
        ("device_change", "(tenant_id, day, app_id, gained, lost) VALUES ('acme', 20416, 'shop', 3, 1)"),
        (
            "property_count",
            "(tenant_id, day, app_id, property, value, variant, reached, read) VALUES ('acme', 20416, 'shop', 'campaign', 'spring', 'b', 5, 2)"
        ),
    ]

    /// The rows of `kept` that are no longer in their tables. Further columns do not matter.
    private static let lost = """
        CREATE TEMP TABLE kept (name text, content jsonb);
        CREATE FUNCTION pg_temp.lost() RETURNS SETOF text LANGUAGE plpgsql AS $$
        DECLARE
            v_name text;
        BEGIN
            FOR v_name IN SELECT DISTINCT k.name FROM kept k LOOP
                RETURN QUERY EXECUTE format(
                    'SELECT k.name || k.content::text FROM kept k WHERE k.name = %L
                        AND NOT EXISTS (SELECT FROM gateway.%I t WHERE to_jsonb(t) @> k.content)', v_name, v_name);
            END LOOP;
        END $$;
        """

    // A version adds tables of counts, and each later version keeps their rows.
    @Test func noVersionChangesTheCountsOfTheOneBefore() async throws {
        let admin = try await TestCluster.databaseOfVersion38().admin()
        let root = try #require(Bundle.module.resourceURL)
        let filled = try String(contentsOf: root.appendingPathComponent("Fixtures/rows-0038.sql"), encoding: .utf8)
        try await admin.script(filled)
        try await admin.script(Self.lost)
        var added: Set<String> = []
        for migration in try SchemaFiles.bundled().migrations {
            var parts = [migration.expand]
            for step in migration.steps { if case .transaction(let sql) = step { parts.append(sql) } }
            for part in parts {
                _ = try await LockCheck.findings(part, admin)
                let lost = try await admin.query("SELECT x AS row FROM pg_temp.lost() AS x")
                #expect(try lost.map { try $0.text("row") } == [], "migration \(migration.version)")
            }
            for (table, values) in Self.rows where !added.contains(table) {
                let found = try await admin.query("SELECT to_regclass('gateway.\(table)') IS NOT NULL AS is_there")
                guard try found.only().bool("is_there") else { continue }
                try await admin.script(
                    """
                    INSERT INTO gateway.\(table) \(values);
                    INSERT INTO kept SELECT '\(table)', to_jsonb(t) FROM gateway.\(table) t WHERE t.tenant_id = 'acme';
                    """
                )
                added.insert(table)
            }
        }
        #expect(added.count == Self.rows.count)
        let kept = try await admin.query("SELECT count(*) AS count FROM kept").only()
        #expect(try kept.int("count") >= Self.rows.count)
        // Control: a changed count is a lost row.
        try await admin.script("UPDATE gateway.counter SET accepted = accepted + 1 WHERE quarter = 1960000")
        #expect(try await admin.query("SELECT x AS row FROM pg_temp.lost() AS x").count == 1)
    }
}
