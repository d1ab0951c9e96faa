import DatabaseSupport

@testable import PostgresClient

/// Checks the effects of a migration's statements on tables with rows, in the transaction that runs them.
struct LockCheck {
    /// Tables that stay small or that a migration may read completely: one row per app, credential, back end or
    /// similar.
    static let small: Set<String> = [
        "api_key", "api_key_day", "api_key_use", "app", "binding", "budget", "campaign", "capture", "counter_hour",
        "credential",
        "event_head", "event_position",
        "group_count", "identity_count", "lane", "master_key", "message_number", "message_template", "node",
        "provider_token",
        "schema_routine",
        "schema_version", "sender", "singleton", "account", "account_role", "console_session", "account_invitation",
        "account_attempt", "tenant", "user_group", "vendor_sequence", "webhook",
    ]

    private static let blocking = "'ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock'"

    private static func statistic(_ names: String...) -> String {
        names.map { "pg_stat_get_xact_tuples_\($0)(c.oid)" }.joined(separator: " + ")
    }

    private static let facts = """
        SELECT c.oid, c.relname::text AS name, pg_relation_filenode(c.oid) AS filenode,
            \(statistic("returned", "fetched")) AS read, \(statistic("inserted", "updated", "deleted")) AS changed
        FROM pg_class c WHERE c.relnamespace = 'gateway'::regnamespace AND c.relkind = 'r'
        """

    /// Runs statements as a migration does, commits them, and returns their effects on large tables that had rows.
    static func findings(_ sql: String, _ admin: PostgresConnection) async throws -> [String] {
        try await admin.script(
            """
            CREATE TEMP TABLE IF NOT EXISTS finding (name text, what text);
            TRUNCATE finding;
            BEGIN;
            CREATE TEMP TABLE before ON COMMIT DROP AS \(facts);
            SET LOCAL ROLE gateway_owner;
            SET LOCAL search_path = gateway, pg_catalog;
            \(sql)
            ;
            RESET ROLE;
            CREATE TEMP TABLE after ON COMMIT DROP AS \(facts);
            INSERT INTO finding
            SELECT name, 'is rewritten' FROM before b JOIN after a USING (oid, name) WHERE a.filenode IS DISTINCT FROM b.filenode
            UNION ALL
            SELECT name, 'is changed row by row' FROM before b JOIN after a USING (oid, name) WHERE a.changed > b.changed
            UNION ALL
            SELECT name, 'is read under a lock that blocks writes' FROM before b JOIN after a USING (oid, name)
            WHERE a.read > b.read AND EXISTS (
                SELECT FROM pg_locks l WHERE l.pid = pg_backend_pid() AND l.relation = oid AND l.mode IN (\(blocking)));
            COMMIT;
            """
        )
        let rows = try await admin.query("SELECT name, what FROM finding ORDER BY 1, 2")
        return try rows.compactMap { row in
            let name = try row.text("name")
            return small.contains(name) ? nil : "\(name) \(try row.text("what"))"
        }
    }
}
