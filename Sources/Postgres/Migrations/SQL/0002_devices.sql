-- Apps, their credentials, and who can be reached.

CREATE TABLE gateway.app (
    tenant_id text NOT NULL,
    app_id text NOT NULL CHECK (app_id <> ''),
    -- {"ios": {"topic": "com.example.shop", "credentials": {"production": "apple"}}}
    platforms jsonb NOT NULL DEFAULT '{}',
    -- {"ttlSeconds": 86400}
    defaults jsonb NOT NULL DEFAULT '{}',
    -- Set when the provisioning file lists it no more: its history stays, nothing reaches it.
    retired_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, app_id)
);
SELECT gateway.colocate('gateway.app');
ALTER TABLE gateway.app ADD FOREIGN KEY (tenant_id) REFERENCES gateway.tenant ON DELETE CASCADE;

CREATE TABLE gateway.credential (
    tenant_id text NOT NULL,
    credential_id text NOT NULL CHECK (credential_id <> ''),
    kind text NOT NULL,
    team_id text,
    key_id text,
    endpoint text,
    trust_roots text,
    sealed bytea NOT NULL,
    -- Digest of the secret: sealing makes other bytes every time.
    fingerprint bytea NOT NULL,
    version bigint NOT NULL DEFAULT 1,
    -- The peer's own word when it refused the credential; null while it works.
    refusal text,
    refused_at timestamptz,
    PRIMARY KEY (tenant_id, credential_id)
);
SELECT gateway.colocate('gateway.credential');
ALTER TABLE gateway.credential ADD FOREIGN KEY (tenant_id) REFERENCES gateway.tenant ON DELETE CASCADE;

-- Last use of API keys, apart from them.
CREATE TABLE gateway.api_key_use (
    tenant_id text NOT NULL,
    key_id uuid NOT NULL,
    last_used_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, key_id)
);
SELECT gateway.colocate('gateway.api_key_use');

CREATE TABLE gateway.device (
    tenant_id text NOT NULL,
    device_id uuid NOT NULL,
    app_id text NOT NULL,
    platform text NOT NULL,
    environment text NOT NULL,
    token text,
    -- An index row holds 2.7 kB, a token of FCM's may be longer. The token itself is compared beside it.
    token_digest text GENERATED ALWAYS AS (md5(token)) STORED,
    token_state text NOT NULL DEFAULT 'none' CHECK (token_state IN ('none', 'active', 'invalid', 'quarantined')),
    token_reason text,
    -- A push service's "dead" that is older than this does not count.
    token_registered_at timestamptz,
    created_at timestamptz NOT NULL,
    seen_at timestamptz,
    PRIMARY KEY (tenant_id, device_id)
) WITH (fillfactor = 90);
SELECT gateway.colocate('gateway.device');
ALTER TABLE gateway.device ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;
-- The environment comes last: a caller that does not name one looks a token up in both.
CREATE UNIQUE INDEX device_token ON gateway.device (tenant_id, app_id, platform, token_digest, environment) WHERE token_digest IS NOT NULL;

CREATE TABLE gateway.identity (
    tenant_id text NOT NULL,
    identity_id uuid NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    key text NOT NULL,
    device_id uuid,
    state text NOT NULL CHECK (state IN ('active', 'replaced', 'unregistered', 'removed')),
    user_id text,
    name text,
    phone text,
    raw_phone text,
    accepts_push boolean NOT NULL DEFAULT true,
    attributes json NOT NULL DEFAULT '{}',
    registered_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, identity_id)
) WITH (fillfactor = 90);
SELECT gateway.colocate('gateway.identity');
ALTER TABLE gateway.identity ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;
-- The vendor comes last: the native dialect looks a key up over all vendors.
CREATE UNIQUE INDEX identity_key ON gateway.identity (tenant_id, app_id, key, vendor);
-- App and vendor are in each, although they select little: before the first ANALYZE the planner takes the index that matches most columns,
-- and would read the whole app through `identity_audience`.
CREATE INDEX identity_device ON gateway.identity (tenant_id, device_id, app_id, vendor) WHERE device_id IS NOT NULL;
CREATE INDEX identity_phone ON gateway.identity (tenant_id, app_id, phone, vendor) WHERE phone IS NOT NULL;
CREATE INDEX identity_user ON gateway.identity (tenant_id, app_id, user_id, vendor) WHERE user_id IS NOT NULL;
-- The keyset that audiences are expanded along. Not partial on the state, which would make it look small to that same planner.
CREATE INDEX identity_audience ON gateway.identity (tenant_id, app_id, vendor, identity_id);

-- Active identities, maintained. Sixteen rows per dialect, summed on read: one row would make registrations wait for each other.
CREATE TABLE gateway.identity_count (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    bucket smallint NOT NULL,
    active bigint NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor, bucket)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.identity_count');

-- Back ends that a vendor makes register, and the calls that are owed to them.
CREATE TABLE gateway.sender (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    sender_id text NOT NULL,
    name text NOT NULL,
    enrolment_key text,
    enrolment_name text,
    address text,
    created_at timestamptz NOT NULL DEFAULT now(),
    callback_url text,
    -- 64 hex digits; signs the calls.
    secret text,
    -- The tenant's event offset up to which it was told everything.
    cursor bigint NOT NULL DEFAULT 0,
    -- Failures in a row, and when the first of them was.
    attempts integer NOT NULL DEFAULT 0,
    failing_since timestamptz,
    failure text,
    -- The one time its queue looks at: next try while free, end of the lease while leased.
    next_at timestamptz NOT NULL DEFAULT now(),
    owner text,
    epoch bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, app_id, vendor, sender_id)
);
SELECT gateway.colocate('gateway.sender');
ALTER TABLE gateway.sender ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;
CREATE UNIQUE INDEX sender_name ON gateway.sender (tenant_id, app_id, vendor, name);
CREATE INDEX sender_next ON gateway.sender (next_at) WHERE callback_url IS NOT NULL;

-- One code per phone that waits for its proof.
CREATE TABLE gateway.verification (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    phone text NOT NULL,
    -- Null once it was used.
    code_hash text,
    sent_at timestamptz NOT NULL,
    tries integer NOT NULL DEFAULT 0,
    -- The hour in which `sent_count` codes went out.
    window_start timestamptz NOT NULL,
    sent_count integer NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor, phone)
);
SELECT gateway.colocate('gateway.verification');
