import PostgresClient
import Store

/// The status for `doctor`, `readyz` and the metrics, over all tenants, read by the engine's role.
enum StatusSQL {
    static let settings = StoreSQL.global(
        """
        SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', 'server_version',
            'TimeZone', 'data_checksums', 'wal_level', 'max_connections', 'default_transaction_isolation')
        """
    )

    static let nodes = StoreSQL.global("SELECT node_id, started_at, seen_at, now() AS now FROM gateway.node ORDER BY 1")
    static let now = StoreSQL.global("SELECT now() AS now")

    static let backlog = StoreSQL.global(
        """
        SELECT lane, count(*) AS slices, min(next_at) FILTER (WHERE state = 'ready') AS oldest FROM gateway.slice
        WHERE state IN ('ready', 'leased') AND next_at <= now() + interval '1 minute' GROUP BY lane
        """
    )

    static let stopped = StoreSQL.global(
        """
        SELECT tenant_id, credential_id, refusal, refused_at FROM gateway.credential WHERE refusal IS NOT NULL
        ORDER BY refused_at
        """
    )

    static let partitions = StoreSQL.global(
        """
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'gateway.delivery'::regclass AND c.relname ~ '^delivery_w[0-9]+$'
        ORDER BY length(c.relname), c.relname
        """
    )

    static let strays = StoreSQL.global("SELECT gateway.default_partition_rows() AS rows")
}
