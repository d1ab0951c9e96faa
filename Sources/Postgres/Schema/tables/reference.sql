-- Tables that are read before the tenant is known.
--
-- On Citus these become reference tables: small, rarely written, and without a foreign key to a distributed table. Calls never read them directly, only
-- through the functions `resolve_call` and `api_key_standing`.

CREATE TABLE gateway.tenant (
    -- Not empty: in a session without a tenant the setting gateway.tenant is '' and must match no row.
    tenant_id text PRIMARY KEY CHECK (tenant_id <> ''),
    created_at timestamptz NOT NULL DEFAULT now(),
    -- How many seconds each kind of row is kept, for example {"deliveries": 2592000}. A missing kind follows the gateway's own policy.
    retention jsonb NOT NULL DEFAULT '{}',
    -- The tenant's rate limit over all nodes; null: unlimited.
    pushes_per_second integer CHECK (pushes_per_second > 0)
);
ALTER TABLE gateway.tenant ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.tenant USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.tenant TO gateway_engine;

-- The app that a vendor's key (an account, a service, a hub) belongs to.
CREATE TABLE gateway.binding (
    tenant_id text NOT NULL REFERENCES gateway.tenant ON DELETE CASCADE,
    app_id text NOT NULL,
    vendor text NOT NULL,
    -- The kind of key: account, service, hub and so on.
    kind text NOT NULL,
    value text NOT NULL,
    -- '' matches every host.
    host text NOT NULL DEFAULT '',
    settings json NOT NULL DEFAULT '{}',
    -- As in `app`.
    origin text NOT NULL DEFAULT 'file' CONSTRAINT binding_origin CHECK (origin IN ('file', 'api')),
    PRIMARY KEY (vendor, kind, value, host)
);
CREATE INDEX binding_app ON gateway.binding (tenant_id, app_id);
ALTER TABLE gateway.binding ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.binding USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.binding TO gateway_engine;

CREATE TABLE gateway.api_key (
    key_id uuid PRIMARY KEY,
    tenant_id text NOT NULL REFERENCES gateway.tenant ON DELETE CASCADE,
    name text NOT NULL,
    -- Hash of the whole key; the key itself is not stored. The time of its last use is in `api_key_use`, because writing a reference table is expensive.
    hash bytea NOT NULL UNIQUE,
    scopes text[] NOT NULL DEFAULT '{}',
    expires_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- True: the key comes from the provisioning file, which may remove it again. False: it was created through the API or by a command.
    is_provisioned boolean NOT NULL DEFAULT false,
    -- The networks from which the key may be used, in CIDR notation. Empty: every network.
    networks text[] NOT NULL DEFAULT '{}',
    -- The hash of the key's other secret, which is valid until `previous_until`; null: as long as the key.
    previous_hash bytea,
    previous_until timestamptz,
    -- The recipients to whom it may send per UTC day; null: any number.
    recipients_per_day bigint CHECK (recipients_per_day > 0),
    -- When the secrets became the key's; null: when the key was created.
    secret_at timestamptz,
    previous_at timestamptz,
    UNIQUE (tenant_id, name)
);
CREATE UNIQUE INDEX api_key_previous ON gateway.api_key (previous_hash);
ALTER TABLE gateway.api_key ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.api_key USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.api_key TO gateway_engine;
