-- Maintenance changes partitions without waiting for long transactions, moves rows out of the default partition in steps, and sweeps media without deleting an
-- image that an acceptance uses. Finished slices release their targets.
-- Oldest program: 39
-- Routines: 28f78a07d83f5294

GRANT UPDATE (created_at) ON gateway.media TO gateway_call;
ALTER TABLE gateway.slice SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, vacuum_index_cleanup = on);
ALTER TABLE gateway.delivery_default SET (fillfactor = 75);

--@ index
CREATE INDEX media_created ON gateway.media (tenant_id, created_at);

--@ backfill
UPDATE gateway.slice AS t SET targets = '{}', addresses = '{}'
WHERE state = 'done' AND (targets <> '{}' OR addresses <> '{}');
