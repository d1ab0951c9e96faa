-- The versions of the rules of apps, and the version in force (`put_routes`, `resolve_call`).
-- Oldest program: 39
-- Routines: fddbc969eeb70878

ALTER TABLE gateway.app ADD COLUMN route_version integer;

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
