-- A wait belongs to a target: `split_slice` moves targets that wait longer than the rest into slices of their own. A paused message keeps the due times of its
-- slices and its pace.
-- Oldest program: 39
-- Routines: 9e63c7f4f14df2b0

ALTER TABLE gateway.slice ADD COLUMN resume_at timestamptz;
ALTER TABLE gateway.message ADD COLUMN paused_at timestamptz, ADD COLUMN pace_from timestamptz;
