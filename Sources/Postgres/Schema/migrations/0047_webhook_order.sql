-- A webhook may receive its events in parallel, in order per device. `create_webhook` takes the order as its last parameter.
-- Oldest program: 39
-- Routines: c583fb017f175422

ALTER TABLE gateway.webhook ADD COLUMN delivery_order text NOT NULL DEFAULT 'log'
    CONSTRAINT webhook_order CHECK (delivery_order IN ('log', 'device'));
GRANT SELECT (delivery_order) ON gateway.webhook TO gateway_call;
DROP FUNCTION IF EXISTS gateway.create_webhook;
