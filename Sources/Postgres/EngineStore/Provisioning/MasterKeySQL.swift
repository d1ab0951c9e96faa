import PostgresClient
import Store

/// The statements of a rotation of the master key, and of the nodes that follow it.
enum MasterKeySQL {
    /// The ids of the keys of a node, that of the sealing key first.
    static let report = StoreSQL.global(
        "UPDATE gateway.node SET master_keys = $2 WHERE node_id = $1 AND master_keys IS DISTINCT FROM $2::text[]"
    )

    static let nodes = StoreSQL.global(
        "SELECT node_id, master_keys FROM gateway.node WHERE seen_at > now() - interval '1 minute' ORDER BY node_id"
    )

    /// Makes another key seal, if `$1` seals now.
    static let replace = StoreSQL.global(
        """
        UPDATE gateway.master_key SET key_id = $2, check_value = $3, root = $4, wanted = NULL, adopted_at = now() WHERE key_id = $1
        RETURNING key_id
        """
    )

    static let tenants = StoreSQL.global("SELECT tenant_id FROM gateway.tenant ORDER BY tenant_id")

    /// Asks all nodes for a key before it seals. Nodes whose keys come from a command run it again for a key they lack.
    static let want = StoreSQL.global("UPDATE gateway.master_key SET wanted = $1 WHERE wanted IS DISTINCT FROM $1")

    // MARK: Pages of sealed secrets: the rows after a key, in its order, with the parts of the key as texts

    static let credentials = StoreSQL.global(
        """
        SELECT ARRAY[tenant_id, credential_id] AS parts, sealed FROM gateway.credential
        WHERE tenant_id > $1 OR (tenant_id = $1 AND credential_id > $2) ORDER BY tenant_id, credential_id LIMIT $3
        """
    )

    static let webhooks = StoreSQL.global(
        """
        SELECT ARRAY[tenant_id, webhook_id::text] AS parts, sealed FROM gateway.webhook
        WHERE tenant_id > $1 OR (tenant_id = $1 AND webhook_id > $2::text::uuid) ORDER BY tenant_id, webhook_id LIMIT $3
        """
    )

    static let formerWebhooks = StoreSQL.global(
        """
        SELECT ARRAY[tenant_id, webhook_id::text] AS parts, previous_sealed AS sealed FROM gateway.webhook
        WHERE (tenant_id > $1 OR (tenant_id = $1 AND webhook_id > $2::text::uuid)) AND previous_sealed IS NOT NULL
        ORDER BY tenant_id, webhook_id LIMIT $3
        """
    )

    static let providerTokens = StoreSQL.global(
        """
        SELECT ARRAY[team_id, key_id, encode(fingerprint, 'hex')] AS parts, sealed FROM gateway.provider_token
        WHERE (team_id, key_id, fingerprint) > ($1, $2, decode($3, 'hex')) ORDER BY team_id, key_id, fingerprint LIMIT $4
        """
    )

    static let bindings = StoreSQL.global(
        """
        SELECT ARRAY[vendor, kind, value, host, tenant_id, app_id] AS parts, settings::text AS settings FROM gateway.binding
        WHERE (vendor, kind, value, host) > ($1, $2, $3, $4) ORDER BY vendor, kind, value, host LIMIT $5
        """
    )

    // MARK: Replacing a secret that is still the one that was read

    static let putCredential = StoreSQL.tenant(
        "UPDATE gateway.credential SET sealed = $4 WHERE tenant_id = $1 AND credential_id = $2 AND sealed = $3"
    )

    static let putWebhook = StoreSQL.tenant(
        "UPDATE gateway.webhook SET sealed = $4 WHERE tenant_id = $1 AND webhook_id = $2::text::uuid AND sealed = $3"
    )

    static let putFormerWebhook = StoreSQL.tenant(
        """
        UPDATE gateway.webhook SET previous_sealed = $4
        WHERE tenant_id = $1 AND webhook_id = $2::text::uuid AND previous_sealed = $3
        """
    )

    static let putProviderToken = StoreSQL.global(
        """
        UPDATE gateway.provider_token SET sealed = $5
        WHERE team_id = $1 AND key_id = $2 AND fingerprint = decode($3, 'hex') AND sealed = $4
        """
    )

    static let putBinding = StoreSQL.tenant(
        """
        UPDATE gateway.binding SET settings = $7::text::json
        WHERE tenant_id = $1 AND vendor = $2 AND kind = $3 AND value = $4 AND host = $5 AND settings::text = $6
        """
    )
}
