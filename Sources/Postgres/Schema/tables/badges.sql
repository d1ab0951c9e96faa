-- Badges that the gateway counts.

-- The number at an app's icon, counted per holder. A holder is a user ('user:' and the user's id) or a device without a user ('key:' and the device's key).
CREATE TABLE gateway.badge (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    holder text NOT NULL,
    count integer NOT NULL CHECK (count >= 0),
    PRIMARY KEY (tenant_id, app_id, vendor, holder)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.badge');
ALTER TABLE gateway.badge ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;
-- For erasures, which cover all apps.
CREATE INDEX badge_holder ON gateway.badge (tenant_id, holder);
ALTER TABLE gateway.badge ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.badge USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.badge TO gateway_call, gateway_engine;

-- The effect of a message on a holder's badge. The message is counted once, every attempt of its push carries the same number, and it is read once.
CREATE TABLE gateway.badge_mark (
    tenant_id text NOT NULL,
    message_id uuid NOT NULL,
    holder text NOT NULL,
    badge integer,
    is_read boolean NOT NULL DEFAULT false,
    PRIMARY KEY (tenant_id, message_id, holder)
) WITH (fillfactor = 75);
SELECT gateway.colocate('gateway.badge_mark');
ALTER TABLE gateway.badge_mark ADD FOREIGN KEY (tenant_id, message_id) REFERENCES gateway.message ON DELETE CASCADE;
-- For erasures.
CREATE INDEX badge_mark_holder ON gateway.badge_mark (tenant_id, holder);
ALTER TABLE gateway.badge_mark ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.badge_mark USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.badge_mark TO gateway_call, gateway_engine;
