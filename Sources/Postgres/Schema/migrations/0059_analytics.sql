-- The dialect of the device and the latency of the transport in each delivery. Old counts are merged into days.
-- Oldest program: 39
-- Routines: b2efc299fea615e7

DROP FUNCTION IF EXISTS gateway.record_outcomes;
DROP FUNCTION IF EXISTS gateway.touch_deliveries;
DROP FUNCTION IF EXISTS gateway.note_touched;

ALTER TABLE gateway.delivery ADD COLUMN device_vendor text;
ALTER TABLE gateway.delivery ADD COLUMN transport_ms integer;
ALTER TABLE gateway.counter_fold ADD COLUMN rolled integer;
