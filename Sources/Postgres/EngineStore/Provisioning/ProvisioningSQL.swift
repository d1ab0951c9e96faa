import PostgresClient
import Store

/// The statements that apply a provisioning file: reference tables first, tenant tables after them.
enum ProvisioningSQL {
    /// Serializes applies, so that the changes of two files do not interleave, and keeps the key that seals until the end of the transaction.
    static let lock = StoreSQL.global(
        """
        SELECT (SELECT key_id FROM gateway.master_key FOR SHARE) AS sealing_key
        FROM (SELECT pg_advisory_xact_lock(hashtextextended('gateway.provisioning', 0)) OFFSET 0) AS locked
        """
    )

    static let tenants = StoreSQL.global(
        "INSERT INTO gateway.tenant (tenant_id) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING RETURNING tenant_id"
    )

    static let dropBindings = StoreSQL.tenant(
        """
        DELETE FROM gateway.binding b WHERE b.tenant_id = $1 AND b.origin = 'file' AND NOT EXISTS (
            SELECT FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]) AS k(vendor, kind, value, host)
            WHERE k.vendor = b.vendor AND k.kind = b.kind AND k.value = b.value AND k.host = b.host)
        RETURNING b.vendor, b.kind, b.value, b.host, b.app_id
        """
    )

    static let putBindings = StoreSQL.tenant(
        """
        INSERT INTO gateway.binding AS b (tenant_id, vendor, kind, value, host, app_id, settings, origin)
        SELECT $1, k.vendor, k.kind, k.value, k.host, k.app_id, k.settings::json, $8
        FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
            AS k(vendor, kind, value, host, app_id, settings)
        ON CONFLICT (vendor, kind, value, host) DO UPDATE SET app_id = excluded.app_id, settings = excluded.settings
        WHERE b.tenant_id = excluded.tenant_id
            AND (b.app_id <> excluded.app_id OR b.settings::text <> excluded.settings::text)
        RETURNING b.vendor, b.kind, b.value, b.host, b.app_id
        """
    )

    /// Indexes of the bindings in the list that belong to another tenant.
    static let takenBindings = StoreSQL.tenant(
        """
        SELECT k.place FROM unnest($2::text[], $3::text[], $4::text[], $5::text[])
            WITH ORDINALITY AS k(vendor, kind, value, host, place)
        JOIN gateway.binding b ON b.vendor = k.vendor AND b.kind = k.kind AND b.value = k.value AND b.host = k.host
        WHERE b.tenant_id <> $1 ORDER BY k.place
        """
    )

    /// The listed keys, credentials, apps and bindings that the file did not create: kinds and names. An app that was deleted is free again.
    static let createdOtherwise = StoreSQL.tenant(
        """
        SELECT 'key' AS kind, k.name FROM gateway.api_key k
        WHERE k.tenant_id = $1 AND NOT k.is_provisioned AND k.name = ANY ($6::text[])
        UNION ALL SELECT 'credential', c.credential_id FROM gateway.credential c
        WHERE c.tenant_id = $1 AND c.origin <> 'file' AND c.credential_id = ANY ($7::text[])
        UNION ALL SELECT 'app', a.app_id FROM gateway.app a
        WHERE a.tenant_id = $1 AND a.origin <> 'file' AND a.retired_at IS NULL AND a.app_id = ANY ($8::text[])
        UNION ALL SELECT 'binding', concat_ws(' ', b.vendor, b.kind, b.value) FROM gateway.binding b
        JOIN unnest($2::text[], $3::text[], $4::text[], $5::text[]) AS u(vendor, kind, value, host)
            ON u.vendor = b.vendor AND u.kind = b.kind AND u.value = b.value AND u.host = b.host
        WHERE b.tenant_id = $1 AND b.origin <> 'file'
        LIMIT 1
        """
    )

    /// A credential of the file that the list lacks, or that becomes an upstream ($3), and an app that was created otherwise and uses it.
    static let usedOtherwise = StoreSQL.tenant(
        """
        SELECT c.credential_id, a.app_id FROM gateway.credential c JOIN gateway.app a ON a.tenant_id = $1
        WHERE c.tenant_id = $1 AND c.origin = 'file'
            AND (NOT c.credential_id = ANY ($2::text[]) OR c.credential_id = ANY ($3::text[]))
            AND a.origin <> 'file' AND a.retired_at IS NULL
            AND EXISTS (SELECT FROM jsonb_each(a.platforms) AS p, jsonb_each_text(p.value->'credentials') AS u
                WHERE u.value = c.credential_id)
        LIMIT 1
        """
    )

    static let dropKeys = StoreSQL.tenant(
        "DELETE FROM gateway.api_key WHERE tenant_id = $1 AND is_provisioned AND NOT name = ANY ($2) RETURNING name"
    )

    /// Indexes of the keys in the list whose hash belongs to another key.
    static let takenKeys = StoreSQL.tenant(
        """
        SELECT u.place FROM unnest($2::text[], $3::bytea[]) WITH ORDINALITY AS u(name, hash, place)
        JOIN gateway.api_key k ON k.hash = u.hash WHERE NOT (k.tenant_id = $1 AND k.name = u.name) ORDER BY u.place
        """
    )

    /// Scopes and networks are joined by commas, because arrays of arrays must be rectangular. A secret that was the key's other one keeps its age.
    static let putKeys = StoreSQL.tenant(
        """
        INSERT INTO gateway.api_key AS k (tenant_id, key_id, name, hash, scopes, expires_at, is_provisioned, networks, previous_hash,
            recipients_per_day, secret_at)
        SELECT $1, gen_random_uuid(), u.name, u.hash, string_to_array(u.scopes, ','), u.expires_at, true, string_to_array(u.networks, ','),
            nullif(u.previous_hash, ''), u.recipients_per_day, now()
        FROM unnest($2::text[], $3::bytea[], $4::text[], $5::timestamptz[], $6::text[], $7::bytea[], $8::integer[])
            AS u(name, hash, scopes, expires_at, networks, previous_hash, recipients_per_day)
        ON CONFLICT (tenant_id, name) DO UPDATE SET hash = excluded.hash, scopes = excluded.scopes,
            expires_at = excluded.expires_at, is_provisioned = true, networks = excluded.networks,
            previous_hash = excluded.previous_hash, previous_until = NULL, recipients_per_day = excluded.recipients_per_day,
            secret_at = CASE WHEN k.hash = excluded.hash THEN k.secret_at
                WHEN k.previous_hash = excluded.hash THEN coalesce(k.previous_at, k.created_at) ELSE excluded.secret_at END,
            previous_at = CASE WHEN k.hash = excluded.previous_hash THEN coalesce(k.secret_at, k.created_at) ELSE k.previous_at END
        WHERE (k.hash, k.scopes, k.expires_at, k.is_provisioned, k.networks, k.previous_hash, k.recipients_per_day)
            IS DISTINCT FROM (excluded.hash, excluded.scopes, excluded.expires_at, true, excluded.networks, excluded.previous_hash,
            excluded.recipients_per_day)
        RETURNING k.name
        """
    )

    // Objects of the API.

    static let removeBindings = StoreSQL.tenant(
        """
        DELETE FROM gateway.binding b WHERE b.tenant_id = $1 AND b.app_id = $6 AND b.origin = 'api' AND NOT EXISTS (
            SELECT FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]) AS k(vendor, kind, value, host)
            WHERE k.vendor = b.vendor AND k.kind = b.kind AND k.value = b.value AND k.host = b.host)
        RETURNING b.vendor, b.kind, b.value, b.host, b.app_id
        """
    )

    static let retireApp = StoreSQL.tenant(
        """
        UPDATE gateway.app SET retired_at = now(), platforms = '{}', route_version = NULL
        WHERE tenant_id = $1 AND app_id = $2 AND origin = 'api' AND retired_at IS NULL RETURNING app_id
        """
    )

    static let removeCredential = StoreSQL.tenant(
        "DELETE FROM gateway.credential WHERE tenant_id = $1 AND credential_id = $2 AND origin = 'api' RETURNING credential_id"
    )

    /// The active identities of an app, of every vendor.
    static let activeIdentities = StoreSQL.tenant(
        "SELECT coalesce(sum(active), 0)::bigint AS active FROM gateway.identity_count WHERE tenant_id = $1 AND app_id = $2"
    )

    static let putRetention = StoreSQL.tenant(
        """
        UPDATE gateway.tenant SET retention = $2::text::jsonb
        WHERE tenant_id = $1 AND retention <> $2::text::jsonb RETURNING tenant_id
        """
    )

    static let putRate = StoreSQL.tenant(
        """
        UPDATE gateway.tenant SET pushes_per_second = $2
        WHERE tenant_id = $1 AND pushes_per_second IS DISTINCT FROM $2 RETURNING tenant_id
        """
    )

    static let retireApps = StoreSQL.tenant(
        """
        UPDATE gateway.app SET retired_at = now(), platforms = '{}', route_version = NULL
        WHERE tenant_id = $1 AND origin = 'file' AND NOT app_id = ANY ($2) AND retired_at IS NULL RETURNING app_id
        """
    )

    /// An app that returns has no rules: an older version of the program retires it without removing them.
    static let putApps = StoreSQL.tenant(
        """
        INSERT INTO gateway.app AS a (tenant_id, app_id, platforms, defaults, origin)
        SELECT $1, u.app_id, u.platforms::jsonb, u.defaults::jsonb, $5
        FROM unnest($2::text[], $3::text[], $4::text[]) AS u(app_id, platforms, defaults)
        ON CONFLICT (tenant_id, app_id) DO UPDATE SET platforms = excluded.platforms, defaults = excluded.defaults,
            retired_at = NULL, origin = excluded.origin,
            route_version = CASE WHEN a.retired_at IS NULL THEN a.route_version END
        WHERE a.platforms <> excluded.platforms OR a.defaults <> excluded.defaults OR a.retired_at IS NOT NULL
        RETURNING a.app_id
        """
    )

    /// Indexes of the senders in the list whose name is stored with another id, or whose id is stored with another name.
    static let takenSenders = StoreSQL.tenant(
        """
        SELECT u.place FROM unnest($2::text[], $3::text[], $4::text[], $5::text[])
            WITH ORDINALITY AS u(app_id, vendor, name, id, place)
        JOIN gateway.sender s ON s.tenant_id = $1 AND s.app_id = u.app_id AND s.vendor = u.vendor
            AND (s.name = u.name) <> (s.sender_id = u.id)
        ORDER BY u.place
        """
    )

    /// A sender whose id has another name is left out, because `takenSenders` reports it.
    static let putSenders = StoreSQL.tenant(
        """
        INSERT INTO gateway.sender AS s (tenant_id, app_id, vendor, name, sender_id, is_proven)
        SELECT $1, u.app_id, u.vendor, u.name, coalesce(u.id, 'SVR' || gen_random_uuid()::text), true
        FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]) AS u(app_id, vendor, name, id)
        WHERE NOT EXISTS (
            SELECT FROM gateway.sender o WHERE o.tenant_id = $1 AND o.app_id = u.app_id AND o.vendor = u.vendor
                AND o.sender_id = u.id AND o.name <> u.name)
        ON CONFLICT (tenant_id, app_id, vendor, name) DO UPDATE SET is_proven = true WHERE NOT s.is_proven
        RETURNING s.name
        """
    )

    static let dropCredentials = StoreSQL.tenant(
        """
        DELETE FROM gateway.credential WHERE tenant_id = $1 AND origin = 'file' AND NOT credential_id = ANY ($2)
        RETURNING credential_id
        """
    )

    /// Sealed bytes differ every time, so the fingerprint decides whether the secret has changed, and when it was stored. The time is a value of the row: Citus
    /// permits no `now()` in the update of an insertion.
    static let putCredentials = StoreSQL.tenant(
        """
        INSERT INTO gateway.credential AS c
            (tenant_id, credential_id, kind, team_id, key_id, endpoint, trust_roots, sealed, fingerprint, pushes_per_second,
            channel_endpoint, origin, stored_at)
        SELECT $1, u.id, u.kind, u.team, u.key, u.endpoint, u.roots, u.sealed, u.fingerprint, u.rate, u.channels, $12, now()
        FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bytea[], $9::bytea[],
            $10::integer[], $11::text[]) AS u(id, kind, team, key, endpoint, roots, sealed, fingerprint, rate, channels)
        ON CONFLICT (tenant_id, credential_id) DO UPDATE SET kind = excluded.kind, team_id = excluded.team_id,
            key_id = excluded.key_id, endpoint = excluded.endpoint, trust_roots = excluded.trust_roots,
            sealed = excluded.sealed, fingerprint = excluded.fingerprint, pushes_per_second = excluded.pushes_per_second,
            channel_endpoint = excluded.channel_endpoint, version = c.version + 1, refusal = NULL, refused_at = NULL,
            stored_at = CASE WHEN c.fingerprint = excluded.fingerprint THEN c.stored_at ELSE excluded.stored_at END
        WHERE (c.kind, c.team_id, c.key_id, c.endpoint, c.channel_endpoint, c.trust_roots, c.fingerprint, c.pushes_per_second)
            IS DISTINCT FROM (excluded.kind, excluded.team_id, excluded.key_id, excluded.endpoint, excluded.channel_endpoint,
            excluded.trust_roots, excluded.fingerprint, excluded.pushes_per_second)
        RETURNING c.credential_id
        """
    )

    // The settings before an apply, for the audit. A file lists the objects of a tenant, and lists of these lengths are applied as a whole.

    static let bindings = StoreSQL.tenant(
        "SELECT vendor, kind, value, host, app_id, settings::text AS settings, origin FROM gateway.binding WHERE tenant_id = $1"
    )

    static let keys = StoreSQL.tenant(
        "SELECT name, scopes, networks, expires_at, hash, previous_hash, recipients_per_day FROM gateway.api_key WHERE tenant_id = $1"
    )

    static let tenant = StoreSQL.tenant(
        "SELECT retention::text AS retention, pushes_per_second FROM gateway.tenant WHERE tenant_id = $1"
    )

    static let apps = StoreSQL.tenant(
        """
        SELECT app_id, platforms::text AS platforms, defaults::text AS defaults, retired_at IS NOT NULL AS is_retired, origin
        FROM gateway.app WHERE tenant_id = $1
        """
    )

    static let credentials = StoreSQL.tenant(
        """
        SELECT credential_id, kind, team_id, key_id, endpoint, channel_endpoint, trust_roots, fingerprint, pushes_per_second, origin
        FROM gateway.credential WHERE tenant_id = $1
        """
    )

    static let notify = NotifyNodes.sql
}
