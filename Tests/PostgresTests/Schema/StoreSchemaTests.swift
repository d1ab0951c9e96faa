import DatabaseSupport
import Foundation
import Testing

@testable import PostgresClient

/// The schema against the rules that keep it distributable. Statements are checked when a test first uses them
/// (`StatementInspector`).
@Suite struct StoreSchemaTests {
    /// Tables with rows of tenants. Reference tables are reached by other keys too.
    private let tenantTables: Set<String> = [
        "app", "route_set", "credential", "api_key_use", "api_key_day", "challenge", "device", "identity",
        "identity_count",
        "sender", "verification", "erased_identity", "message",
        "message_ref", "media", "message_media", "lane", "slice", "delivery", "counter", "counter_delta",
        "counter_fold", "counter_reason", "orphan_receipt", "message_counter", "message_open", "event_batch",
        "event_position", "event_single",
        "idempotency", "audit", "audit_key", "audit_subject", "audit_checkpoint", "audit_copy", "identity_tag",
        "user_group",
        "group_member", "group_count", "webhook",
        "capture", "captured_exchange", "variant", "campaign", "message_template", "schedule", "message_label",
        "event_reader", "receipt_mark", "latency", "device_sketch", "device_change", "client_version",
        "property_count", "outbox_upstream", "outbox_queue", "outbox", "upstream_call",
        "upstream_user", "parity_count",
        "upstream_user", "migration", "migration_history", "observed_figure",
    ]

    /// The number of tenant tables that each text names, and the number of its `tenant_id` conditions.
    private func lint(_ sql: String) -> (tables: Int, tenants: Int) {
        let tables = sql.matches(of: /gateway\.([a-z_]+)\b(?!\()/).filter { tenantTables.contains(String($0.1)) }
        return (tables.count, sql.components(separatedBy: "tenant_id").count - 1)
    }

    @Test func theLintDetectsAMissingTenant() {
        let (tables, tenants) = lint("SELECT 1 FROM gateway.device d JOIN gateway.identity i ON i.tenant_id = $1")
        #expect(tables == 2 && tenants == 1)
    }

    @Test func everyFunctionNamesTheTenantForEachTable() async throws {
        let admin = try await DatabaseStores.shared().database.admin()
        let functions = try await admin.query(
            """
            SELECT proname::text AS name, prosrc AS body FROM pg_proc
            WHERE pronamespace = 'gateway'::regnamespace AND NOT prosecdef
            """
        )
        #expect(functions.count > 15)
        for function in functions {
            let body = try function.text("body").replacing(/--[^\n]*/, with: "")
            let (tables, tenants) = lint(body)
            let rowTypes = body.matches(of: /^\s+[a-z_]+ gateway\.[a-z_]+;/.anchorsMatchLineEndings()).count
            let name = try function.text("name")
            #expect(tenants >= tables - rowTypes, "\(name)")
        }
    }

    @Test func oneRoleOwnsEverything() async throws {
        let admin = try await DatabaseStores.shared().database.admin()
        let owners = try await admin.query(
            """
            SELECT relowner::regrole::text AS owner FROM pg_class WHERE relnamespace = 'gateway'::regnamespace
            UNION SELECT proowner::regrole::text FROM pg_proc WHERE pronamespace = 'gateway'::regnamespace
            """
        )
        #expect(try owners.only().text("owner") == "gateway_owner")
    }

    @Test func everyTableHasAKeyAndNoneATriggerOrAnIdentityColumn() async throws {
        let admin = try await DatabaseStores.shared().database.admin()
        let faults = try await admin.query(
            """
            SELECT c.relname::text AS name FROM pg_class c
            WHERE c.relnamespace = 'gateway'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname <> 'schema_version'
                AND (NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)
                    OR EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal)
                    OR EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attidentity <> ''))
            """
        )
        #expect(try faults.map { try $0.text("name") } == [])
    }

    @Test func everyUniqueKeyOfATenantTableBeginsWithTheTenant() async throws {
        let admin = try await DatabaseStores.shared().database.admin()
        let keys = try await admin.query(
            """
            SELECT c.relname::text AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
            JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
            WHERE c.relnamespace = 'gateway'::regnamespace AND i.indisunique AND a.attname <> 'tenant_id'
            """
        )
        let names = Set(try keys.map { try $0.text("name") })
        #expect(names.isDisjoint(with: tenantTables))
    }

    @Test func rowLevelSecurityIsEnabledOnEveryTenantTableAndForcedOnNone() async throws {
        let admin = try await DatabaseStores.shared().database.admin()
        let rows = try await admin.query(
            """
            SELECT relname::text AS name, relrowsecurity AS enabled, relforcerowsecurity AS forced FROM pg_class
            WHERE relnamespace = 'gateway'::regnamespace AND relkind IN ('r', 'p')
            """
        )
        for row in rows {
            if tenantTables.contains(try row.text("name")) { #expect(try row.bool("enabled")) }
            #expect(try !row.bool("forced"))
        }
    }

    @Test func noRoleHasRightsOnAPartition() async throws {
        let admin = try await DatabaseStores.shared().database.admin()
        let grants = try await admin.query(
            """
            SELECT c.relname::text AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
            WHERE i.inhparent IN ('gateway.delivery'::regclass, 'gateway.event_batch'::regclass) AND (
                has_table_privilege('gateway_call', c.oid, 'SELECT, INSERT, UPDATE, DELETE')
                OR has_table_privilege('gateway_engine', c.oid, 'SELECT, INSERT, UPDATE, DELETE'))
            """
        )
        #expect(grants.isEmpty)
    }

    @Test func onlyListedFunctionsRunWithTheOwnersRights() async throws {
        let admin = try await DatabaseStores.shared().database.admin()
        let rows = try await admin.query(
            """
            SELECT proname::text AS name, proconfig AS settings, has_function_privilege('gateway_call', oid, 'EXECUTE') AS call
            FROM pg_proc WHERE pronamespace = 'gateway'::regnamespace AND prosecdef ORDER BY 1
            """
        )
        #expect(
            try rows.map { try $0.text("name") } == [
                "analyze_devices", "analyze_grown", "api_key_grant", "api_key_standing", "attach_staged_weeks",
                "current_generation",
                "default_partition_rows",
                "default_partition_weeks", "drop_audit", "drop_delivery_partitions", "drop_event_partitions",
                "find_api_key", "make_delivery_partitions", "make_event_partitions",
                "resolve_api_key",
                "resolve_binding", "resolve_call",
                "resolve_challenge", "resolve_page", "stage_default_rows",
            ]
        )
        for row in rows {
            #expect(try row.texts("settings").contains("search_path=pg_catalog, pg_temp"))
            let mayCall = try row.bool("call")
            let name = try row.text("name")
            let isForCalls =
                name.hasPrefix("resolve") || name.hasPrefix("api_key")
                || ["current_generation", "find_api_key"].contains(name)
            #expect(mayCall == isForCalls)
        }
    }
}
