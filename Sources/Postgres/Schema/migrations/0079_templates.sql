-- Templates of messages, which people compose again (`put_template`, `remove_template`).
-- Oldest program: 39
-- Routines: efcc2d817e3bdfc9

-- A template of a message, or a draft of one: its name then begins with `draft-`.
CREATE TABLE gateway.message_template (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    name text NOT NULL CHECK (name <> ''),
    -- In the format of a message. json, not jsonb: keeps the caller's order and spelling.
    content json NOT NULL,
    -- Grows with each change; a caller changes the revision that it has read (`put_template`).
    revision bigint NOT NULL,
    -- The author of the last change, as in `audit`.
    changed_by text NOT NULL,
    changed_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, app_id, name)
);
SELECT gateway.colocate('gateway.message_template');
ALTER TABLE gateway.message_template ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;
ALTER TABLE gateway.message_template ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.message_template USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.message_template TO gateway_call, gateway_engine;
