import PostgresClient

/// Answers that are given again when a call comes again. Keys of messages are `accept_message`'s own.
enum AnswerSQL {
    /// Takes the key for this transaction, or gives what it stands for.
    static let find = StoreSQL.function("find_answer", 3)

    static let keep = StoreSQL.tenant(
        """
        INSERT INTO gateway.idempotency (tenant_id, app_id, vendor, key, body_hash, status, answer, created_at)
        VALUES ($1, '', 'native', $2, $3, $4, $5, now())
        """
    )

    /// Without waiting for whoever holds the key.
    static let peek = StoreSQL.tenant(
        """
        SELECT body_hash, status, answer FROM gateway.idempotency
        WHERE tenant_id = $1 AND app_id = '' AND vendor = 'native' AND key = $2
        """
    )
}
