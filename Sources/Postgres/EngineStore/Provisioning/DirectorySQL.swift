import PostgresClient
import Store

/// Queries that run before a tenant is known, and the bookkeeping of the cluster.
enum DirectorySQL {
    static let binding = StoreSQL.global("SELECT * FROM gateway.resolve_call($1, $2, $3, $4)")
    /// The hosts that belong to one binding, with one of its keys; at most `$1`.
    static let hosts = StoreSQL.global(
        """
        SELECT b.host, min(b.vendor) AS vendor, (array_agg(b.kind ORDER BY b.kind, b.value))[1] AS kind,
            (array_agg(b.value ORDER BY b.kind, b.value))[1] AS value
        FROM gateway.binding b WHERE b.host <> '' GROUP BY b.host
        HAVING count(DISTINCT (b.tenant_id, b.app_id, b.vendor)) = 1 ORDER BY b.host LIMIT $1
        """
    )
    static let apiKey = StoreSQL.global("SELECT * FROM gateway.api_key_standing($1)")

    /// The first keys of those of the devices `$4` that have one. Only for apps with `has_first_keys`.
    static let firstKeys = StoreSQL.tenant(
        """
        SELECT k.key, i.first_key FROM unnest($4::text[]) AS k(key)
        CROSS JOIN LATERAL (
            SELECT x.first_key FROM gateway.identity x
            WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.vendor = $3 AND x.key = k.key OFFSET 0) AS i
        WHERE i.first_key IS NOT NULL
        """
    )

    private static let storedCredentials = """
        SELECT c.tenant_id, c.credential_id, c.kind, c.team_id, c.key_id, c.endpoint, c.channel_endpoint, c.trust_roots, c.sealed,
            c.fingerprint, c.version, c.refusal, c.refused_at, c.pushes_per_second, c.origin, c.stored_at,
            t.pushes_per_second AS tenant_pushes_per_second
        FROM gateway.credential c JOIN gateway.tenant t ON t.tenant_id = c.tenant_id
        """

    static let credentials = StoreSQL.global("\(storedCredentials) ORDER BY c.tenant_id, c.credential_id")

    /// One tenant's credentials after an id.
    static let credentialPage = StoreSQL.tenant(
        "\(storedCredentials) WHERE c.tenant_id = $1 AND c.credential_id > $2 ORDER BY c.credential_id LIMIT $3"
    )

    /// One tenant's credentials for upstreams.
    static let upstreams = StoreSQL.tenant("\(storedCredentials) WHERE c.tenant_id = $1 AND c.kind LIKE 'upstream-%'")

    static let oneCredential = StoreSQL.tenant("\(storedCredentials) WHERE c.tenant_id = $1 AND c.credential_id = $2")

    static let platformsOfTenant = StoreSQL.tenant(
        "SELECT tenant_id, platforms::text AS platforms FROM gateway.app WHERE tenant_id = $1 AND retired_at IS NULL ORDER BY app_id"
    )

    /// One row per binding; its keys have the same settings.
    private static func bindings(_ source: String) -> String {
        """
        SELECT b.tenant_id, b.app_id, b.vendor, (array_agg(b.settings::text ORDER BY b.kind, b.value, b.host))[1] AS settings,
            coalesce(a.defaults::text, '{}') AS defaults
        FROM \(source) b LEFT JOIN gateway.app a ON a.tenant_id = b.tenant_id AND a.app_id = b.app_id
        GROUP BY b.tenant_id, b.app_id, b.vendor, a.defaults::text ORDER BY b.tenant_id, b.app_id, b.vendor
        """
    }

    static let everyBinding = StoreSQL.global(bindings("gateway.binding"))

    /// The first bindings of one tenant.
    static let bindingsOfTenant = StoreSQL.tenant(
        bindings(
            """
            (SELECT tenant_id, app_id, vendor, kind, value, host, settings FROM gateway.binding
                WHERE tenant_id = $1 ORDER BY app_id, vendor, kind, value, host LIMIT $2)
            """
        )
    )

    static let everyPlatforms = StoreSQL.global(
        "SELECT tenant_id, platforms::text AS platforms FROM gateway.app WHERE retired_at IS NULL ORDER BY tenant_id, app_id"
    )

    static let settings = StoreSQL.tenant(
        "SELECT vendor, app_id, settings FROM gateway.binding WHERE tenant_id = $1 AND app_id = $2"
    )

    static let standing = StoreSQL.tenant(
        "SELECT kind, refusal, refused_at FROM gateway.credential WHERE tenant_id = $1 AND credential_id = $2"
    )

    /// Those of the budgets `$2` that have no push left now.
    static let spentBudgets = StoreSQL.tenant(
        "SELECT b.name FROM gateway.budget b WHERE b.tenant_id = $1 AND b.name = ANY ($2::text[]) AND b.spent_until > now()"
    )

    static let touch = StoreSQL.tenant(
        """
        INSERT INTO gateway.api_key_use AS u (tenant_id, key_id, last_used_at)
        SELECT $1, k.key_id, k.at FROM unnest($2::uuid[], $3::timestamptz[]) AS k(key_id, at)
        ON CONFLICT (tenant_id, key_id) DO UPDATE SET last_used_at = greatest(u.last_used_at, excluded.last_used_at)
        """
    )

    static let providerToken = StoreSQL.global(
        """
        SELECT sealed, issued_at FROM gateway.provider_token WHERE team_id = $1 AND key_id = $2 AND fingerprint = $3
        """
    )

    /// Writes a token if none is stored, or if the stored one was issued before `$6`.
    static let offerProviderToken = StoreSQL.global(
        """
        INSERT INTO gateway.provider_token AS t (team_id, key_id, fingerprint, sealed, issued_at) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (team_id, key_id, fingerprint) DO UPDATE SET sealed = excluded.sealed, issued_at = excluded.issued_at
        WHERE t.issued_at < $6
        """
    )

    static let masterKey = StoreSQL.global("SELECT key_id, check_value, root, wanted FROM gateway.master_key")

    static let adoptMasterKey = StoreSQL.global(
        "INSERT INTO gateway.master_key (key_id, check_value) VALUES ($1, $2) ON CONFLICT DO NOTHING"
    )

    static let createKey = StoreSQL.tenant(
        """
        INSERT INTO gateway.api_key (key_id, tenant_id, name, hash, scopes, expires_at, networks, recipients_per_day)
        SELECT gen_random_uuid(), tenant_id, $2, $3::bytea, $4::text[], $5::timestamptz, $6::text[], $7::bigint FROM gateway.tenant WHERE tenant_id = $1
        ON CONFLICT DO NOTHING RETURNING key_id, name
        """
    )

    private static let keys = """
        SELECT k.key_id, k.tenant_id, k.name, k.scopes, k.created_at, k.expires_at, k.is_provisioned, u.last_used_at,
            k.networks, k.previous_hash IS NOT NULL AND (k.previous_until IS NULL OR k.previous_until > now()) AS has_previous, k.previous_until,
            coalesce(k.secret_at, k.created_at) AS secret_at,
            CASE WHEN k.previous_hash IS NOT NULL AND (k.previous_until IS NULL OR k.previous_until > now())
                THEN coalesce(k.previous_at, k.created_at) END AS previous_at,
            k.recipients_per_day, CASE WHEN k.recipients_per_day IS NOT NULL THEN coalesce(d.recipients, 0) END AS recipients_today
        FROM gateway.api_key k
        LEFT JOIN gateway.api_key_use u ON u.tenant_id = k.tenant_id AND u.key_id = k.key_id
        LEFT JOIN gateway.api_key_day d ON d.tenant_id = k.tenant_id AND d.name = k.name AND d.day = (now() AT TIME ZONE 'UTC')::date
        """

    /// `$1` null: the keys of every tenant.
    static let listKeys = StoreSQL.global(
        "\(keys) WHERE $1::text IS NULL OR k.tenant_id = $1 ORDER BY k.tenant_id, k.name"
    )

    /// One tenant's keys after a name.
    static let keyPage = StoreSQL.global("\(keys) WHERE k.tenant_id = $1 AND k.name > $2 ORDER BY k.name LIMIT $3")

    static let oneKey = StoreSQL.global("\(keys) WHERE k.tenant_id = $1 AND k.name = $2")

    /// The actors that created the object `$2`, or gave it a new secret.
    static let keyHolders = StoreSQL.tenant(
        "SELECT DISTINCT a.actor FROM gateway.audit a WHERE a.tenant_id = $1 AND a.subject = $2 AND a.action IN ('create', 'rotate')"
    )

    /// The keys that no file created.
    static let keyCount = StoreSQL.tenant(
        "SELECT count(*) AS keys FROM gateway.api_key WHERE tenant_id = $1 AND NOT is_provisioned"
    )

    /// Removes a key by its id, unless it is from a file.
    static let removeKey = StoreSQL.tenant(
        "DELETE FROM gateway.api_key WHERE tenant_id = $1 AND key_id = $2 AND NOT is_provisioned RETURNING key_id, name"
    )

    /// The secret in use stays valid as the previous one for `$4` seconds. A file's key is changed in the file.
    static let rotateKey = StoreSQL.tenant(
        """
        UPDATE gateway.api_key SET previous_hash = hash, previous_until = now() + make_interval(secs => $4::double precision),
            previous_at = coalesce(secret_at, created_at), hash = $3::bytea, secret_at = now()
        WHERE tenant_id = $1 AND (name = $2 OR key_id::text = $2) AND NOT is_provisioned RETURNING key_id, name
        """
    )

    static let revokeKey = StoreSQL.tenant(
        "DELETE FROM gateway.api_key WHERE tenant_id = $1 AND (name = $2 OR key_id::text = $2) RETURNING key_id, name"
    )

    /// Runs before the tenant is known.
    static let challenge = StoreSQL.global("SELECT tenant_id FROM gateway.resolve_challenge($1)")

    /// Runs before the tenant is known.
    static let page = StoreSQL.global("SELECT * FROM gateway.resolve_page($1)")
}
