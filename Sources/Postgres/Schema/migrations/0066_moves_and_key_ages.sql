-- A user or phone that moves to a device with another vendor's dialect is reported like one that stays within the dialect (`is_taken`). The times of the
-- secrets of API keys, for a maximum age (`api_key_standing`).
-- Oldest program: 39
-- Routines: 99fae2e3c9d9d46d
DROP FUNCTION IF EXISTS gateway.is_taken;
ALTER TABLE gateway.api_key ADD COLUMN secret_at timestamptz;
ALTER TABLE gateway.api_key ADD COLUMN previous_at timestamptz;
