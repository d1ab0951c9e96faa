-- API keys with source networks and with a second secret, for rotation.
-- Oldest program: 39
-- Routines: be9ff9998deddc1b

ALTER TABLE gateway.api_key ADD COLUMN networks text[] NOT NULL DEFAULT '{}';
ALTER TABLE gateway.api_key ADD COLUMN previous_hash bytea;
ALTER TABLE gateway.api_key ADD COLUMN previous_until timestamptz;
CREATE UNIQUE INDEX api_key_previous ON gateway.api_key (previous_hash);
