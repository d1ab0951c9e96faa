-- How far latencies are merged into days. Counts have a marker of their own, because they may have been merged by a program that merges no latencies.
-- Oldest program: 39
-- Routines: c26fb988f41f111c

ALTER TABLE gateway.counter_fold ADD COLUMN latencies_rolled integer;
