-- Rotation of the master key while the nodes run, and of the secrets of webhooks with an overlap.
-- Oldest program: 39
-- Routines: d41d1b4c2ac6209c

ALTER TABLE gateway.node ADD COLUMN master_keys text[];
ALTER TABLE gateway.master_key ADD COLUMN root bytea;
ALTER TABLE gateway.master_key ADD COLUMN wanted text;
ALTER TABLE gateway.webhook ADD COLUMN previous_sealed bytea;
ALTER TABLE gateway.webhook ADD COLUMN previous_key_id text;
ALTER TABLE gateway.webhook ADD COLUMN previous_until timestamptz;
GRANT SELECT (previous_key_id, previous_until) ON gateway.webhook TO gateway_call;
