-- Rotation of the master key while the nodes run, and of the secrets of webhooks with an overlap.
-- Oldest program: 39
-- Routines: e0da0535f2b1772e

ALTER TABLE gateway.node ADD COLUMN master_keys text[];
ALTER TABLE gateway.master_key ADD COLUMN root bytea;
ALTER TABLE gateway.master_key ADD COLUMN wanted text;
ALTER TABLE gateway.webhook ADD COLUMN previous_sealed bytea;
ALTER TABLE gateway.webhook ADD COLUMN previous_key_id text;
ALTER TABLE gateway.webhook ADD COLUMN previous_until timestamptz;
GRANT SELECT (previous_key_id, previous_until) ON gateway.webhook TO gateway_call;
