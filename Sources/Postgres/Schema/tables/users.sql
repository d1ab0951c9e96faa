-- Users as back ends describe them: attributes, aliases and acts, for every vendor.

-- A user with or without a device. `revision` counts the changes: a caller that changes a user names the revision it has read (`put_users`).
CREATE TABLE gateway.user_profile (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    user_id text NOT NULL,
    -- True: the user is known by aliases only, and the gateway made the id.
    is_anonymous boolean NOT NULL,
    -- Whether the user's devices accept pushes, as last set for the user; null: never set.
    accepts_push boolean,
    attributes json NOT NULL,
    revision bigint NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    -- True: the user explicitly asked for pushes.
    opted_in boolean NOT NULL DEFAULT false,
    -- 'subscribed' or 'unsubscribed', by subject.
    consents json NOT NULL DEFAULT '{}',
    -- The facts about `consents`, by subject: `at`, when the user decided (RFC 3339), and `source`, who said so; both may be missing. In a column of its
    -- own, because programs of version 66 read `consents` as texts.
    consent_facts json NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant_id, app_id, vendor, user_id)
) WITH (fillfactor = 80);
SELECT gateway.colocate('gateway.user_profile');
ALTER TABLE gateway.user_profile ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;
-- For erasures, which cover all apps.
CREATE INDEX user_profile_user ON gateway.user_profile (tenant_id, user_id);
ALTER TABLE gateway.user_profile ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.user_profile USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.user_profile TO gateway_call, gateway_engine;

CREATE TABLE gateway.user_alias (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    label text NOT NULL,
    name text NOT NULL,
    user_id text NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor, label, name)
);
SELECT gateway.colocate('gateway.user_alias');
ALTER TABLE gateway.user_alias ADD FOREIGN KEY (tenant_id, app_id, vendor, user_id) REFERENCES gateway.user_profile ON DELETE CASCADE;
CREATE INDEX user_alias_user ON gateway.user_alias (tenant_id, app_id, vendor, user_id);
ALTER TABLE gateway.user_alias ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.user_alias USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.user_alias TO gateway_call, gateway_engine;

-- Events, purchases and SDK signals. The digest covers kind, name, time and data, so an act that is reported twice is stored once for as long as it is kept.
CREATE TABLE gateway.user_act (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    user_id text NOT NULL,
    digest uuid NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    -- As the caller reports it, which may be late.
    at timestamptz NOT NULL,
    data json NOT NULL,
    noted_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor, user_id, digest)
);
SELECT gateway.colocate('gateway.user_act');
ALTER TABLE gateway.user_act ADD FOREIGN KEY (tenant_id, app_id, vendor, user_id) REFERENCES gateway.user_profile ON DELETE CASCADE;
-- For retention.
CREATE INDEX user_act_noted ON gateway.user_act (tenant_id, noted_at);
ALTER TABLE gateway.user_act ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.user_act USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.user_act TO gateway_call, gateway_engine;

-- How often a user did an act of a kind and name. Kept longer than the acts themselves.
CREATE TABLE gateway.user_tally (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    user_id text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    count bigint NOT NULL,
    first_at timestamptz NOT NULL,
    last_at timestamptz NOT NULL,
    noted_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor, user_id, kind, name)
) WITH (fillfactor = 80);
SELECT gateway.colocate('gateway.user_tally');
ALTER TABLE gateway.user_tally ADD FOREIGN KEY (tenant_id, app_id, vendor, user_id) REFERENCES gateway.user_profile ON DELETE CASCADE;
CREATE INDEX user_tally_noted ON gateway.user_tally (tenant_id, noted_at);
ALTER TABLE gateway.user_tally ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.user_tally USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.user_tally TO gateway_call, gateway_engine;
