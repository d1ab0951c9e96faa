-- Which credential a slice waits for: when that is mended, the wait is over.
ALTER TABLE gateway.slice ADD COLUMN held_by text;
CREATE INDEX slice_held ON gateway.slice (tenant_id, held_by) WHERE held_by IS NOT NULL;
