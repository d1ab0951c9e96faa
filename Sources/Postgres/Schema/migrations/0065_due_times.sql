-- When a push was due for its device, so that latencies do not contain the waits for local times, for hours and for a pace. And the first day of which
-- retention has removed nothing, so that a recount does not remove the counts of the days before it.
-- Oldest program: 39
-- Routines: dd3498214fed42d2

ALTER TABLE gateway.slice ADD COLUMN due_at timestamptz;
ALTER TABLE gateway.delivery ADD COLUMN due_at timestamptz;
ALTER TABLE gateway.counter_fold ADD COLUMN kept_from integer;
DROP FUNCTION IF EXISTS gateway.split_slice;
DROP FUNCTION IF EXISTS gateway.group_by_due;
