-- Devices have tokens for Live Activities in addition to their own. `condemn_tokens` forgets those that the push service reports as invalid, and `look_history`
-- leaves out messages that only changed a Live Activity.
-- Oldest program: 39
-- Routines: 3089803de4d98c07

CREATE TABLE gateway.activity_token (
    tenant_id text NOT NULL,
    device_id uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('start', 'running')),
    name text NOT NULL,
    app_id text NOT NULL,
    token text NOT NULL,
    registered_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, device_id, kind, name)
);
SELECT gateway.colocate('gateway.activity_token');
ALTER TABLE gateway.activity_token ADD FOREIGN KEY (tenant_id, device_id) REFERENCES gateway.device ON DELETE CASCADE;
CREATE INDEX activity_token_name ON gateway.activity_token (tenant_id, app_id, name, device_id) WHERE kind = 'running';
ALTER TABLE gateway.activity_token ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.activity_token USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.activity_token TO gateway_call, gateway_engine;
