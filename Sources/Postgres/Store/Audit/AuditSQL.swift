import PostgresClient

/// The audit: written by one function, read in pages, and never changed.
enum AuditSQL {
    /// The names of people are read from their own table; an erased person has a pseudonym only.
    private static let entries = """
        SELECT a.position, a.at, a.actor, a.action, coalesce(s.subject, a.subject) AS subject, a.data FROM gateway.audit a \
        LEFT JOIN gateway.audit_subject s ON s.tenant_id = a.tenant_id AND s.pseudonym = a.subject
        """

    /// Parallel arrays of actions, subjects and data, so that several acts of one transaction need one statement.
    static let write = StoreSQL.function("write_audit", 5, columns: "write_audit AS position")

    static let page = StoreSQL.tenant(
        "\(entries) WHERE a.tenant_id = $1 AND a.position > $2 ORDER BY a.position LIMIT $3"
    )

    /// The rows before a position, newest first.
    static let before = StoreSQL.tenant(
        "\(entries) WHERE a.tenant_id = $1 AND a.position < $2 ORDER BY a.position DESC LIMIT $3"
    )

    /// The last rows, newest first.
    static let newest = StoreSQL.tenant("\(entries) WHERE a.tenant_id = $1 ORDER BY a.position DESC LIMIT $2")

    /// The last rows about a subject, newest first.
    static let about = StoreSQL.function("audit_about", 3)

    /// The counts of the last comparison of an export with the devices `$2`, unless it is older than `$3` or followed by 1,000 other rows about them.
    static let comparison = StoreSQL.tenant(
        """
        SELECT x.at, x.data FROM (
            SELECT a.at, a.data, a.action, a.position FROM gateway.audit a
            WHERE a.tenant_id = $1 AND a.subject = $2 ORDER BY a.position DESC LIMIT 1000) x
        WHERE x.action = 'compare' AND x.at > now() - $3::interval ORDER BY x.position DESC LIMIT 1
        """
    )

    /// The rows as their digests cover them.
    static let links = StoreSQL.tenant(
        """
        SELECT position, (extract(epoch FROM at) * 1000000)::bigint AS micros, actor, action, subject, data::text AS data, hash
        FROM gateway.audit WHERE tenant_id = $1 AND position > $2 ORDER BY position LIMIT $3
        """
    )

    static let checkpoints = StoreSQL.tenant(
        """
        SELECT position, hash, (extract(epoch FROM last_at) * 1000000)::bigint AS micros, signer, signature FROM gateway.audit_checkpoint
        WHERE tenant_id = $1 AND position > $2 ORDER BY position LIMIT $3
        """
    )
}
