-- When a push was due for its device, so that latencies do not contain the waits for local times, for hours and for a pace.
-- Oldest program: 39
-- Routines: dd3498214fed42d2

ALTER TABLE gateway.slice ADD COLUMN due_at timestamptz;
ALTER TABLE gateway.delivery ADD COLUMN due_at timestamptz;
DROP FUNCTION IF EXISTS gateway.split_slice;
