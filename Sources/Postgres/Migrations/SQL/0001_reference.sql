-- What is known before a tenant is, and the cluster's own bookkeeping.
--
-- tenant, binding and api_key become reference tables on Citus: small, rarely written, never pointing at a distributed table.
-- node, singleton, provider_token and master_key stay on the coordinator, in statements of their own, without foreign keys.

-- Distributes a tenant table where there is Citus, and does nothing elsewhere. Called right after CREATE TABLE; foreign keys follow the call.
CREATE FUNCTION gateway.colocate(t regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname = 'citus') THEN
        EXECUTE format('SELECT create_distributed_table(%L, %L, colocate_with => %L)', t::text, 'tenant_id', 'gateway.app');
    END IF;
END $$;

CREATE TABLE gateway.tenant (
    -- Empty is no tenant: a session whose setting was reset reads '' and must match nothing.
    tenant_id text PRIMARY KEY CHECK (tenant_id <> ''),
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE gateway.binding (
    tenant_id text NOT NULL REFERENCES gateway.tenant ON DELETE CASCADE,
    app_id text NOT NULL,
    vendor text NOT NULL,
    -- Which of the vendor's keys: account, service, hub …
    kind text NOT NULL,
    value text NOT NULL,
    -- '' answers on any host.
    host text NOT NULL DEFAULT '',
    settings json NOT NULL DEFAULT '{}',
    PRIMARY KEY (vendor, kind, value, host)
);
CREATE INDEX binding_app ON gateway.binding (tenant_id, app_id);

CREATE TABLE gateway.api_key (
    key_id uuid PRIMARY KEY,
    tenant_id text NOT NULL REFERENCES gateway.tenant ON DELETE CASCADE,
    name text NOT NULL,
    -- Of the whole key; the key itself is nowhere. Its last use is in api_key_use: writing a reference table is dear.
    hash bytea NOT NULL UNIQUE,
    scopes text[] NOT NULL DEFAULT '{}',
    expires_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- From the provisioning file, which then may take it away.
    is_provisioned boolean NOT NULL DEFAULT false,
    UNIQUE (tenant_id, name)
);

CREATE TABLE gateway.node (
    node_id text PRIMARY KEY,
    started_at timestamptz NOT NULL DEFAULT now(),
    seen_at timestamptz NOT NULL DEFAULT now()
);

-- Work that one node does for all: whoever holds the row until the deadline.
CREATE TABLE gateway.singleton (
    name text PRIMARY KEY,
    owner text NOT NULL,
    held_until timestamptz NOT NULL
);

-- One signed token per (team, key) over the cluster: Apple punishes frequent renewal.
CREATE TABLE gateway.provider_token (
    team_id text NOT NULL,
    key_id text NOT NULL,
    -- Digest of the private key: a tenant that only claims somebody's team and key gets a row of its own.
    fingerprint bytea NOT NULL,
    sealed bytea NOT NULL,
    issued_at timestamptz NOT NULL,
    PRIMARY KEY (team_id, key_id, fingerprint)
);

-- One row: which key seals the secrets, and a value that only it makes.
CREATE TABLE gateway.master_key (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    key_id text NOT NULL,
    check_value bytea NOT NULL,
    adopted_at timestamptz NOT NULL DEFAULT now()
);

-- The tenant behind a vendor's key. A binding with this host wins over one without.
CREATE FUNCTION gateway.resolve_binding(p_vendor text, p_kind text, p_value text, p_host text)
RETURNS TABLE (tenant_id text, app_id text, settings json)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT b.tenant_id, b.app_id, b.settings FROM gateway.binding b
        WHERE b.vendor = p_vendor AND b.kind = p_kind AND b.value = p_value AND b.host IN ('', coalesce(p_host, ''))
        ORDER BY b.host DESC LIMIT 1;
END $$;

-- The tenant behind an API key that is valid now.
CREATE FUNCTION gateway.resolve_api_key(p_hash bytea)
RETURNS TABLE (key_id uuid, tenant_id text, name text, scopes text[], expires_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT k.key_id, k.tenant_id, k.name, k.scopes, k.expires_at FROM gateway.api_key k
        WHERE k.hash = p_hash AND (k.expires_at IS NULL OR k.expires_at > now());
END $$;
