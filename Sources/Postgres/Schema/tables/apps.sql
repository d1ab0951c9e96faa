-- Apps, their credentials and rate limits.

-- The first distributed table: on Citus the other tenant tables are colocated with it.
CREATE TABLE gateway.app (
    tenant_id text NOT NULL,
    app_id text NOT NULL CHECK (app_id <> ''),
    -- {"ios": {"topic": "com.example.shop", "credentials": {"production": "apple"}}}
    platforms jsonb NOT NULL DEFAULT '{}',
    -- Defaults of messages, as `TimingCoding` and the provisioning write them:
    -- {"ttlSeconds": 86400, "timeZone": "Asia/Seoul",
    --  "quiet": {"from": 1320, "to": 420, "zone": null, "lanes": [2, 3], "hold": "delay"},
    --  "windows": {"lanes": [1, 2, 3], "hold": "delay"}, "cap": {"count": 5, "seconds": 86400}}
    defaults jsonb NOT NULL DEFAULT '{}',
    -- Set when the provisioning file stops listing the app. Its history stays; calls no longer reach it.
    retired_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- True once any device of the app has had a delivery window. While it is false, no expansion reads devices for their windows. Never reset.
    uses_windows boolean NOT NULL DEFAULT false,
    -- True once any device of the app has had two identities at a time. While it is false, no page looks for shared devices. Never reset.
    shares_devices boolean NOT NULL DEFAULT false,
    -- 'file': the provisioning file that lists the app changes it. 'api': calls of the native API do.
    origin text NOT NULL DEFAULT 'file' CONSTRAINT app_origin CHECK (origin IN ('file', 'api')),
    -- The version of the rules in force (`route_set`); null: the app has none, or is retired.
    route_version integer,
    -- True once any identity of the app has had a `first_key`. While it is false, no call looks for one. Never reset.
    has_first_keys boolean NOT NULL DEFAULT false,
    PRIMARY KEY (tenant_id, app_id)
);
SELECT gateway.colocate('gateway.app');
ALTER TABLE gateway.app ADD FOREIGN KEY (tenant_id) REFERENCES gateway.tenant ON DELETE CASCADE;
ALTER TABLE gateway.app ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.app USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT ON gateway.app TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.app TO gateway_engine;
GRANT UPDATE (uses_windows, shares_devices, has_first_keys) ON gateway.app TO gateway_call;

-- A version of the rules of an app: which side answers calls, and by which paths pushes leave (docs/routing.md). The rules that apply are those of
-- `overlay`, then those of `base`. Rows are only inserted: `put_routes` gives the next number, and a rollback inserts the content of an earlier version.
CREATE TABLE gateway.route_set (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    version integer NOT NULL CHECK (version > 0),
    -- The format of the rules. A program that does not know it treats the app as one without rules.
    format integer NOT NULL,
    -- The rules of the provisioning file.
    base json NOT NULL,
    -- The rules in front of them.
    overlay json NOT NULL,
    -- The facts about the upstreams that the rules name, when the rules were checked:
    -- {"old": {"vendor": "braze", "addressesUsers": true, "splitsPlatforms": true}}
    upstreams json NOT NULL,
    origin text NOT NULL CONSTRAINT route_set_origin CHECK (origin IN ('file', 'api', 'migration')),
    -- The author, as in `audit`.
    actor text NOT NULL,
    made_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, app_id, version)
);
SELECT gateway.colocate('gateway.route_set');
ALTER TABLE gateway.route_set ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;
ALTER TABLE gateway.route_set ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.route_set USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT ON gateway.route_set TO gateway_call;
GRANT SELECT, INSERT ON gateway.route_set TO gateway_engine;

CREATE TABLE gateway.credential (
    tenant_id text NOT NULL,
    credential_id text NOT NULL CHECK (credential_id <> ''),
    kind text NOT NULL,
    team_id text,
    key_id text,
    endpoint text,
    trust_roots text,
    sealed bytea NOT NULL,
    -- Digest of the secret, to detect a change: sealing the same secret twice produces different bytes.
    fingerprint bytea NOT NULL,
    version bigint NOT NULL DEFAULT 1,
    -- The push service's reason for refusing the credential; null while it works.
    refusal text,
    refused_at timestamptz,
    -- The credential's rate limit over all nodes; null: unlimited.
    pushes_per_second integer CHECK (pushes_per_second > 0),
    -- Where channels are managed, if not at Apple; `endpoint` is where pushes go.
    channel_endpoint text,
    -- As in `app`.
    origin text NOT NULL DEFAULT 'file' CONSTRAINT credential_origin CHECK (origin IN ('file', 'api')),
    -- When the secret was stored; null: by a program of version 88 or older.
    stored_at timestamptz,
    PRIMARY KEY (tenant_id, credential_id)
);
SELECT gateway.colocate('gateway.credential');
ALTER TABLE gateway.credential ADD FOREIGN KEY (tenant_id) REFERENCES gateway.tenant ON DELETE CASCADE;
ALTER TABLE gateway.credential ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.credential USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
-- Not its secret: the names of upstreams, for the messages that they have sent (`called_message`).
GRANT SELECT (tenant_id, credential_id, kind) ON gateway.credential TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.credential TO gateway_engine;

-- The last use of each API key, apart from the reference table `api_key`.
CREATE TABLE gateway.api_key_use (
    tenant_id text NOT NULL,
    key_id uuid NOT NULL,
    last_used_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, key_id)
);
SELECT gateway.colocate('gateway.api_key_use');
ALTER TABLE gateway.api_key_use ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.api_key_use USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.api_key_use TO gateway_engine;

-- The recipients to whom an API key with a limit has sent on a UTC day (`accept_message`). Deleted by retention.
CREATE TABLE gateway.api_key_day (
    tenant_id text NOT NULL,
    -- The name of the key.
    name text NOT NULL,
    day date NOT NULL,
    recipients bigint NOT NULL,
    PRIMARY KEY (tenant_id, name, day)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.api_key_day');
ALTER TABLE gateway.api_key_day ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.api_key_day USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE ON gateway.api_key_day TO gateway_call;
GRANT SELECT, DELETE ON gateway.api_key_day TO gateway_engine;

-- A rate limit as a clock (`draw_budget`): each push moves `spent_until` forward by 1 s / rate, and it may be ahead of the time by a bounded interval.
CREATE TABLE gateway.budget (
    tenant_id text NOT NULL,
    -- 'tenant', or 'credential/' and the credential's id.
    name text NOT NULL,
    spent_until timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, name)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.budget');
ALTER TABLE gateway.budget ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.budget USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE ON gateway.budget TO gateway_engine;
