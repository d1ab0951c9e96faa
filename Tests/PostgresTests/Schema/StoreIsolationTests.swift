import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// I6: no tenant reads or changes another tenant's row, and PostgreSQL itself refuses it.
@Suite struct StoreIsolationTests {
    /// Rows in as many tables as a message touches.
    private func filled() async throws -> (StoreFixture, NewMessage, Registered) {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("key", token: "aabb", phone: "01011112222")
        let (message, lease) = try await fixture.sending(to: [device.identity])
        _ = try await fixture.delivery.record(try await fixture.progress(lease, [0]), by: fixture.node)
        return (fixture, message, device)
    }

    private func tables(_ admin: PostgresConnection) async throws -> [String] {
        try await admin.query(
            """
            SELECT relname::text AS name FROM pg_class
            WHERE relnamespace = 'gateway'::regnamespace AND relkind IN ('r', 'p', 'v', 'm') ORDER BY 1
            """
        ).map { try $0.text("name") }
    }

    /// A fingerprint of all rows, as the superuser sees them.
    private func checksum(_ admin: PostgresConnection, _ table: String, tenant: TenantID) async throws -> String {
        let sql = """
            SELECT coalesce(md5(string_agg(t::text, '|' ORDER BY t::text)), '') AS sum FROM gateway.\(table) t
            WHERE tenant_id = '\(tenant)'
            """
        return try await admin.query(sql).only().text("sum")
    }

    @Test func withoutATenantNoTableIsReadOrWritten() async throws {
        let (fixture, _, _) = try await filled()
        let admin = try await fixture.database.admin()
        let names = try await tables(admin)
        #expect(names.count > 30)
        for name in names {
            for verb in ["SELECT count(*) AS n FROM", "DELETE FROM", "TRUNCATE"] {
                let statement = Statement("\(verb) gateway.\(name)")
                do {
                    let result = try await fixture.call.run(statement, tenant: nil)
                    if verb.hasPrefix("SELECT") {
                        #expect(try result.only().int("n") == 0, "\(name)")
                    } else {
                        #expect(result.affectedRows == 0, "\(name)")
                        #expect(verb != "TRUNCATE", "\(name)")
                    }
                } catch {
                    // Nobody can delete from a view.
                    let isView = ["counter_hour", "event", "event_head"].contains(name)
                    let isRefused = isView && ["42809", "55000"].contains(error.sqlState)
                    #expect(error.code == .insufficientPrivilege || isRefused, "\(verb) \(name): \(error)")
                }
            }
        }
        // The control: with the tenant set, rows are visible.
        let seen = try await fixture.call.run(
            Statement("SELECT count(*) AS n FROM gateway.delivery"),
            tenant: fixture.acme.rawValue
        )
        #expect(try seen.only().int("n") == 1)
        let rows = try await admin.query(
            "SELECT count(*) AS n FROM gateway.tenant WHERE tenant_id IN ($1, $2)",
            [.id(fixture.acme), .id(fixture.other)]
        )
        #expect(try rows.only().int("n") == 2)
    }

    /// The tables that calls may use without the condition that a row is of their tenant, and the views that read with the rights of their owner. Every
    /// condition of a policy for calls is that one, or begins with it.
    private static let unguarded = #"""
        SELECT c.relname::text AS name FROM pg_class c
            WHERE c.relnamespace = 'gateway'::regnamespace AND c.relkind IN ('r', 'p')
                AND (has_any_column_privilege('gateway_call', c.oid, 'SELECT, INSERT, UPDATE')
                    OR has_table_privilege('gateway_call', c.oid, 'DELETE'))
                AND (NOT c.relrowsecurity OR EXISTS (
                    SELECT FROM pg_policy p
                        CROSS JOIN LATERAL (VALUES
                            (pg_get_expr(p.polqual, p.polrelid), p.polcmd <> 'a'),
                            (pg_get_expr(p.polwithcheck, p.polrelid), p.polcmd = 'a')) AS e(rule, is_needed)
                        WHERE p.polrelid = c.oid AND ('0'::oid = ANY (p.polroles) OR 'gateway_call'::regrole::oid = ANY (p.polroles))
                            AND (e.is_needed OR e.rule IS NOT NULL)
                            AND (coalesce(e.rule, '') ~ ' OR ' OR coalesce(e.rule, '') !~
                                '^\(?\(tenant_id = current_setting\(''gateway\.tenant''::text, true\)\)( AND .*)?$')))
        UNION ALL
        SELECT c.relname::text FROM pg_class c
            WHERE c.relnamespace = 'gateway'::regnamespace AND c.relkind = 'v'
                AND NOT coalesce('security_invoker=true' = ANY (c.reloptions), false)
        ORDER BY 1
        """#

    // A table without rows shows nothing to anybody, so that the rules are read too.
    @Test func everyTableForCallsHasTheRuleOfItsTenant() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        func names() async throws -> [String] {
            try await admin.query(Self.unguarded).map { try $0.text("name") }
        }
        #expect(try await names() == [])
        // The control: each way to lose the rule is found.
        try await admin.script(
            """
            ALTER TABLE gateway.latency DISABLE ROW LEVEL SECURITY;
            CREATE POLICY everyone ON gateway.counter FOR SELECT USING (true);
            CREATE POLICY anyone ON gateway.counter_delta FOR INSERT WITH CHECK (tenant_id <> '');
            ALTER POLICY tenant_only ON gateway.device_sketch
                USING (tenant_id = current_setting('gateway.tenant', true) OR app_id = 'shop');
            ALTER VIEW gateway.counter_hour RESET (security_invoker);
            """
        )
        #expect(try await names() == ["counter", "counter_delta", "counter_hour", "device_sketch", "latency"])
    }

    @Test func aRowOfAnotherTenantIsRefusedByTheServer() async throws {
        let fixture = try await StoreFixture.make()
        for tenant in [fixture.other.rawValue, nil] {
            let insert = Statement("INSERT INTO gateway.lane (tenant_id, lane) VALUES ('\(fixture.acme)', 1)")
            let error = await #expect(throws: PostgresError.self) {
                try await fixture.call.run(insert, tenant: tenant)
            }
            #expect(error?.code == .insufficientPrivilege)
        }
    }

    @Test func commandsOfAnotherTenantFindNothing() async throws {
        let (fixture, message, device) = try await filled()
        let admin = try await fixture.database.admin()
        let names = ["device", "identity", "message", "slice", "delivery", "event", "sender", "counter_delta"]
        var before: [String] = []
        for name in names { before.append(try await checksum(admin, name, tenant: fixture.acme)) }

        let scope = fixture.scope
        let now = try await fixture.now()
        let other = fixture.other
        #expect(try await fixture.ask(FindIdentity(scope, key: "key"), in: other) == nil)
        #expect(try await fixture.receipt(message.id, "key", .read, in: other) == .orphan)
        #expect(
            try await fixture.ask(FindDelivery(scope, message.id, Reporter(key: "key")), in: other)
                == ReportedDelivery()
        )
        #expect(try await fixture.ask(ControlMessage(scope, message.id, .cancel, by: nil), in: other) == 0)
        #expect(try await fixture.ask(NoteContact(scope, key: "key", at: now), in: other) == 0)
        #expect(try await fixture.ask(UnregisterDevices(scope, .key("key")), in: other) == 0)
        #expect(try await fixture.ask(UnregisterDevices(scope, .phone("01011112222")), in: other) == 0)
        #expect(try await fixture.ask(FindMedia(scope, message.id, media: "m"), in: other) == nil)
        #expect(
            try await fixture.ask(ResolveAddresses(scope, [.phone("01011112222"), .device(device.device)]), in: other)
                == [nil, nil]
        )
        #expect(try await fixture.queries.message(message.id.description, in: other) == nil)
        #expect(try await fixture.queries.deliveries(of: message.id, in: other, limit: 10).isEmpty)
        #expect(try await fixture.devices.device(device.device, in: other) == nil)
        #expect(try await fixture.erase(device.device, in: other, by: .key("test")) == .done(false))
        #expect(try await fixture.devices.inbox(of: device.device, in: other, before: nil, limit: 5).isEmpty)
        #expect(try await fixture.queries.events(in: other, after: 0, limit: 10).events.isEmpty)

        var after: [String] = []
        for name in names { after.append(try await checksum(admin, name, tenant: fixture.acme)) }
        #expect(before == after)
    }

    @Test func theSameKeyAndTokenOfTwoTenantsAreTwoDevices() async throws {
        let fixture = try await StoreFixture.make()
        let first = try await fixture.register("key", token: "aabb")
        let second = try await fixture.register("key", token: "aabb", in: fixture.other)
        #expect(first.device != second.device)
        #expect(!second.wasActive && second.replaced.isEmpty)
    }
}
