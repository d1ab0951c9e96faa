-- Campaigns that a back end sends by name, templates, schedules, and the acts of users after a campaign.

CREATE TABLE gateway.campaign (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    campaign_id text NOT NULL,
    name text NOT NULL,
    -- In the vendor's own shape. json, not jsonb: keeps the caller's order and spelling.
    body json NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor, campaign_id)
);
SELECT gateway.colocate('gateway.campaign');
ALTER TABLE gateway.campaign ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;
ALTER TABLE gateway.campaign ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.campaign USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.campaign TO gateway_call, gateway_engine;

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

-- A message that is due later, under the id that its caller knows.
CREATE TABLE gateway.schedule (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    -- The id of the schedule's first message.
    schedule_id uuid NOT NULL,
    message_id uuid NOT NULL,
    -- The caller's request, of which an update changes a part.
    request json NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor, schedule_id)
);
SELECT gateway.colocate('gateway.schedule');
-- Deleting the message deletes the schedule.
ALTER TABLE gateway.schedule ADD FOREIGN KEY (tenant_id, message_id) REFERENCES gateway.message ON DELETE CASCADE;
CREATE INDEX schedule_message ON gateway.schedule (tenant_id, message_id);
ALTER TABLE gateway.schedule ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.schedule USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.schedule TO gateway_call, gateway_engine;

-- The time of a user's last session (campaign '') and of its purchases by campaign.
CREATE TABLE gateway.campaign_mark (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    user_id text NOT NULL,
    campaign text NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor, user_id, campaign)
);
SELECT gateway.colocate('gateway.campaign_mark');
ALTER TABLE gateway.campaign_mark ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;
-- For erasures, which cover all apps.
CREATE INDEX campaign_mark_user ON gateway.campaign_mark (tenant_id, user_id);
ALTER TABLE gateway.campaign_mark ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.campaign_mark USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.campaign_mark TO gateway_call, gateway_engine;
