import PostgresClient

/// Messages that match a filter which no index contains: each statement reads the next `$4` messages of a range only.
enum MessageSearchSQL {
    /// The messages before `$2` that are due before `$3` and at or after `$5` (null: any time), the latest due first.
    ///
    /// `least` and `greatest` ignore nulls. `coalesce` would not be used for an index, because row security does not trust it.
    private static func range(_ more: String) -> String {
        """
        FROM gateway.message x
            WHERE x.tenant_id = $1 AND x.message_id < least($2, gateway.first_message_id($3::timestamptz))
                AND x.message_id >= greatest(gateway.first_message_id($5::timestamptz), '00000000-0000-0000-0000-000000000000')\(more)
            ORDER BY x.message_id DESC
        """
    }

    /// At most `$11` in state `$6`, of vendor `$7`, sender `$8` and label `$9`, with text `$10` in one of the texts that `ShownText` shows; null: any.
    static let page = StoreSQL.tenant(page(""))
    /// As `page`, of the app `$12`.
    static let pageOfApp = StoreSQL.tenant(page(" AND x.app_id = $12"))

    private static func page(_ more: String) -> String {
        """
        SELECT \(MessageSQL.messageColumns) FROM (SELECT x.* \(range(more)) LIMIT $4) m
        WHERE ($6::text IS NULL OR \(MessageSQL.state()) = $6) AND ($7::text IS NULL OR m.vendor = $7)
            AND ($8::text IS NULL OR m.submitted_by = $8)
            AND ($9::text IS NULL OR EXISTS (
                SELECT FROM gateway.message_label l WHERE l.tenant_id = $1 AND l.message_id = m.message_id AND l.label = $9))
            AND ($10::text IS NULL OR strpos(lower(concat_ws(E'\\n', m.content->>'title', m.content->>'body',
                m.content#>>'{raw,aps,alert,title}', m.content#>>'{raw,aps,alert,body}',
                CASE json_typeof(m.content#>'{raw,aps,alert}') WHEN 'string' THEN m.content#>>'{raw,aps,alert}' END,
                CASE WHEN m.content->'variants' IS NOT NULL AND json_typeof(m.content->'raw') = 'object' THEN
                    (SELECT string_agg(v.value, E'\\n') FROM json_each_text(m.content->'raw') AS v) END)), lower($10)) > 0)
        ORDER BY m.message_id DESC LIMIT $11
        """
    }

    /// The last of the next `$4` messages of the range; no row when there are fewer.
    static let end = StoreSQL.tenant(end(""))
    /// As `end`, of the app `$6`.
    static let endOfApp = StoreSQL.tenant(end(" AND x.app_id = $6"))

    private static func end(_ more: String) -> String {
        "SELECT x.message_id \(range(more)) OFFSET $4::bigint - 1 LIMIT 1"
    }
}
