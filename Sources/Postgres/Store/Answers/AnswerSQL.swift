import PostgresClient

/// Stored answers, which are returned when a call is repeated. The repeat keys of messages are handled by `accept_message`.
enum AnswerSQL {
    /// Reserves the key for this transaction, or returns the stored answer.
    static let find = StoreSQL.function("find_answer", 3)

    static let keep = StoreSQL.tenant(
        """
        INSERT INTO gateway.idempotency (tenant_id, app_id, vendor, key, body_hash, status, answer, created_at)
        VALUES ($1, '', 'native', $2, $3, $4, $5, now())
        """
    )

    /// Does not wait for a transaction that holds the key.
    static let peek = StoreSQL.tenant(
        """
        SELECT body_hash, status, answer FROM gateway.idempotency
        WHERE tenant_id = $1 AND app_id = '' AND vendor = 'native' AND key = $2
        """
    )
}
