-- Counts of deliveries, by the quarter hour in which a message was due. docs/schema.md, "Counters", describes them.

-- One change of the counts. Every transaction that changes a delivery appends rows here, so that no transaction updates a row that another one needs.
-- `fold_counts` moves the rows to the tables below. The sum of both is exact at every commit.
CREATE TABLE gateway.counter_delta (
    tenant_id text NOT NULL,
    -- The minute in which the row was written, in minutes since 1970.
    minute integer NOT NULL DEFAULT floor(extract(epoch FROM clock_timestamp()) / 60)::integer,
    delta_id uuid NOT NULL DEFAULT gen_random_uuid(),
    -- Quarter hours since 1970.
    quarter integer NOT NULL,
    app_id text NOT NULL,
    -- The dialect through which the message was sent.
    vendor text NOT NULL,
    -- The dialect of the device; '': unknown.
    device_vendor text NOT NULL,
    -- '': none was used.
    transport text NOT NULL DEFAULT '',
    -- Set for a message with counts of its own (`message.is_counted`).
    message_id uuid,
    targets integer NOT NULL DEFAULT 0,
    suppressed integer NOT NULL DEFAULT 0,
    canceled integer NOT NULL DEFAULT 0,
    expired integer NOT NULL DEFAULT 0,
    -- The part of `expired` with at least one attempt.
    expired_tried integer NOT NULL DEFAULT 0,
    unsendable integer NOT NULL DEFAULT 0,
    accepted integer NOT NULL DEFAULT 0,
    uncertain integer NOT NULL DEFAULT 0,
    rejected integer NOT NULL DEFAULT 0,
    received integer NOT NULL DEFAULT 0,
    read integer NOT NULL DEFAULT 0,
    -- Numbers by stage and reason: {"rejected:Unregistered": 3}.
    reasons json,
    -- Set for a row that counts orphan receipts and no delivery (`note_orphan`), whose quarter is -1: the reason, how many there were, and the day of the app's
    -- time zone on which they arrived, since 1970.
    orphan text,
    orphans integer,
    orphan_day integer,
    PRIMARY KEY (tenant_id, minute, delta_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, vacuum_truncate = off);
SELECT gateway.colocate('gateway.counter_delta');
ALTER TABLE gateway.counter_delta ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.counter_delta USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT ON gateway.counter_delta TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.counter_delta TO gateway_engine;

-- The first minute of which rows of `counter_delta` may exist. Readers and `fold_counts` begin there, because the index still contains the entries of
-- removed rows while an old snapshot is open.
CREATE TABLE gateway.counter_fold (
    tenant_id text PRIMARY KEY,
    minute integer NOT NULL,
    -- Counts before this quarter hour are merged into days of their app's time zone (`roll_up_counts`); null: none are.
    rolled integer,
    -- The first UTC day since 1970 of which retention has removed no message and no delivery; null: it has removed nothing. It never decreases.
    kept_from integer,
    -- Latencies before this quarter hour are merged into days of their app's time zone (`LatencyMerge`); null: none are.
    latencies_rolled integer
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.counter_fold');
ALTER TABLE gateway.counter_fold ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.counter_fold USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT ON gateway.counter_fold TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.counter_fold TO gateway_engine;

CREATE TABLE gateway.counter (
    tenant_id text NOT NULL,
    quarter integer NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    device_vendor text NOT NULL,
    transport text NOT NULL,
    targets bigint NOT NULL DEFAULT 0,
    suppressed bigint NOT NULL DEFAULT 0,
    canceled bigint NOT NULL DEFAULT 0,
    expired bigint NOT NULL DEFAULT 0,
    expired_tried bigint NOT NULL DEFAULT 0,
    unsendable bigint NOT NULL DEFAULT 0,
    accepted bigint NOT NULL DEFAULT 0,
    uncertain bigint NOT NULL DEFAULT 0,
    rejected bigint NOT NULL DEFAULT 0,
    received bigint NOT NULL DEFAULT 0,
    read bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, quarter, app_id, vendor, device_vendor, transport)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.counter');
ALTER TABLE gateway.counter ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.counter USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT ON gateway.counter TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.counter TO gateway_engine;

CREATE TABLE gateway.counter_reason (
    tenant_id text NOT NULL,
    quarter integer NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    device_vendor text NOT NULL,
    transport text NOT NULL,
    stage text NOT NULL,
    reason text NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (tenant_id, quarter, app_id, vendor, device_vendor, transport, stage, reason)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.counter_reason');
ALTER TABLE gateway.counter_reason ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.counter_reason USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT ON gateway.counter_reason TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.counter_reason TO gateway_engine;

-- Orphan receipts, which change no delivery: by the day of the app's time zone on which they arrived, and the reason (`note_orphan`).
CREATE TABLE gateway.orphan_receipt (
    tenant_id text NOT NULL,
    -- Days since 1970.
    day integer NOT NULL,
    app_id text NOT NULL,
    reason text NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (tenant_id, day, app_id, reason)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.orphan_receipt');
ALTER TABLE gateway.orphan_receipt ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.orphan_receipt USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT ON gateway.orphan_receipt TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.orphan_receipt TO gateway_engine;

-- The counts of one message, for messages to an audience or to more than 2,000 targets. The others are counted from their deliveries.
CREATE TABLE gateway.message_counter (
    tenant_id text NOT NULL,
    message_id uuid NOT NULL,
    device_vendor text NOT NULL,
    transport text NOT NULL,
    targets bigint NOT NULL DEFAULT 0,
    suppressed bigint NOT NULL DEFAULT 0,
    canceled bigint NOT NULL DEFAULT 0,
    expired bigint NOT NULL DEFAULT 0,
    expired_tried bigint NOT NULL DEFAULT 0,
    unsendable bigint NOT NULL DEFAULT 0,
    accepted bigint NOT NULL DEFAULT 0,
    uncertain bigint NOT NULL DEFAULT 0,
    rejected bigint NOT NULL DEFAULT 0,
    received bigint NOT NULL DEFAULT 0,
    read bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, message_id, device_vendor, transport)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.message_counter');
ALTER TABLE gateway.message_counter ADD FOREIGN KEY (tenant_id, message_id) REFERENCES gateway.message ON DELETE CASCADE;
ALTER TABLE gateway.message_counter ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.message_counter USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT ON gateway.message_counter TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.message_counter TO gateway_engine;

-- The counts by hour, in the columns that programs of schema version 42 read.
CREATE VIEW gateway.counter_hour WITH (security_invoker = true) AS
    SELECT c.tenant_id, c.app_id, c.vendor, c.quarter / 4 AS hour, ''::text AS node_id,
        sum(c.targets)::bigint AS recipients, sum(c.accepted + c.uncertain)::bigint AS sent, sum(c.received)::bigint AS received,
        sum(c.read)::bigint AS read, sum(c.rejected + c.unsendable)::bigint AS failed, sum(c.suppressed)::bigint AS suppressed,
        sum(c.expired)::bigint AS expired, sum(c.canceled)::bigint AS canceled
    FROM (
        SELECT x.tenant_id, x.app_id, x.vendor, x.quarter, x.targets, x.accepted, x.uncertain, x.received, x.read, x.rejected,
            x.unsendable, x.suppressed, x.expired, x.canceled
        FROM gateway.counter x
        UNION ALL
        SELECT d.tenant_id, d.app_id, d.vendor, d.quarter, d.targets, d.accepted, d.uncertain, d.received, d.read, d.rejected,
            d.unsendable, d.suppressed, d.expired, d.canceled
        FROM gateway.counter_delta d) c
    GROUP BY c.tenant_id, c.app_id, c.vendor, c.quarter / 4;
GRANT SELECT ON gateway.counter_hour TO gateway_call, gateway_engine;
