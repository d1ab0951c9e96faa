-- Maintenance changes partitions without waiting for long transactions, moves rows out of the default partition in steps, and sweeps media without deleting an
-- image that an acceptance uses. Finished slices release their targets.
-- Oldest program: 42
-- Routines: 0000000000000000

GRANT UPDATE (created_at) ON gateway.media TO gateway_call;

--@ index
CREATE INDEX media_created ON gateway.media (tenant_id, created_at);

--@ backfill
UPDATE gateway.slice AS t SET targets = '{}', addresses = '{}'
WHERE state = 'done' AND (targets <> '{}' OR addresses <> '{}');
