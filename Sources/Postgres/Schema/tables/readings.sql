-- Figures that a reader of the event log counts after the fact: latencies, distinct devices and users, devices gained and lost. docs/schema.md, "Event reader".

-- How far the events of a tenant are counted. Its queue columns work like those of `webhook`. A step adds to the figures below and moves the cursor in one
-- transaction, under the lock of this row.
CREATE TABLE gateway.event_reader (
    tenant_id text PRIMARY KEY,
    -- The event position up to which everything is counted.
    cursor bigint NOT NULL,
    -- The time from which on events are counted.
    since timestamptz NOT NULL,
    -- The number of events that retention removed before they were counted.
    lost bigint NOT NULL DEFAULT 0,
    -- The end of the lease; free if it is over.
    next_at timestamptz NOT NULL DEFAULT now(),
    owner text,
    epoch bigint NOT NULL DEFAULT 0,
    -- The key of the hashes in the tenant's sketches: 16 random bytes.
    key bytea NOT NULL
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.event_reader');
ALTER TABLE gateway.event_reader ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.event_reader USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
-- Calls must not read the key.
GRANT SELECT (tenant_id, cursor, since, lost) ON gateway.event_reader TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.event_reader TO gateway_engine;

-- Receipts that arrived before the outcome of their delivery, or that contradict it (`EventTally`). Few deliveries have a row.
CREATE TABLE gateway.receipt_mark (
    tenant_id text NOT NULL,
    due_day integer NOT NULL,
    message_id uuid NOT NULL,
    target_id uuid NOT NULL,
    -- Whether the receipts wait for the outcome to be counted.
    is_early boolean NOT NULL,
    is_received boolean NOT NULL,
    is_read boolean NOT NULL,
    PRIMARY KEY (tenant_id, due_day, message_id, target_id)
);
SELECT gateway.colocate('gateway.receipt_mark');
ALTER TABLE gateway.receipt_mark ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.receipt_mark USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.receipt_mark TO gateway_engine;

-- The latencies of deliveries by the quarter hour in which their messages were due.
CREATE TABLE gateway.latency (
    tenant_id text NOT NULL,
    -- Quarter hours since 1970.
    quarter integer NOT NULL,
    app_id text NOT NULL,
    -- The dialect through which the message was sent.
    vendor text NOT NULL,
    kind text NOT NULL CONSTRAINT latency_kind CHECK (kind IN ('delivery', 'transport', 'receipt', 'read')),
    -- `LatencyHistogram`.
    histogram bytea NOT NULL,
    PRIMARY KEY (tenant_id, quarter, app_id, vendor, kind)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.latency');
ALTER TABLE gateway.latency ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.latency USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT ON gateway.latency TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.latency TO gateway_engine;

-- The distinct devices and users of a day, as sketches.
CREATE TABLE gateway.device_sketch (
    tenant_id text NOT NULL,
    -- The day of the app's time zone on which the messages were due, since 1970.
    day integer NOT NULL,
    app_id text NOT NULL,
    subject text NOT NULL CONSTRAINT device_sketch_subject CHECK (subject IN ('device', 'user')),
    stage text NOT NULL CONSTRAINT device_sketch_stage CHECK (stage IN ('reached', 'received', 'read')),
    -- `DistinctSketch`.
    sketch bytea NOT NULL,
    PRIMARY KEY (tenant_id, day, app_id, subject, stage)
);
SELECT gateway.colocate('gateway.device_sketch');
ALTER TABLE gateway.device_sketch ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.device_sketch USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT ON gateway.device_sketch TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.device_sketch TO gateway_engine;

-- Identities that began and ended on a day of the app's time zone, and tokens that the push service reported as dead.
CREATE TABLE gateway.device_change (
    tenant_id text NOT NULL,
    day integer NOT NULL,
    app_id text NOT NULL,
    gained bigint NOT NULL DEFAULT 0,
    lost bigint NOT NULL DEFAULT 0,
    invalidated bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, day, app_id)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.device_change');
ALTER TABLE gateway.device_change ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.device_change USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT ON gateway.device_change TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.device_change TO gateway_engine;

-- How many deliveries were reached, received and read, by a property of the delivery. At most 1,000 values per app, day and property; the deliveries with
-- others are counted together (`CountedValue.other`).
CREATE TABLE gateway.property_count (
    tenant_id text NOT NULL,
    -- The day of the app's time zone on which the messages were due, since 1970.
    day integer NOT NULL,
    app_id text NOT NULL,
    property text NOT NULL CONSTRAINT property_count_property CHECK (property IN ('client', 'campaign', 'hour')),
    -- client: the number in `client_version`, empty if nothing was reported; campaign: its name; hour: the hour of the week.
    value text NOT NULL,
    -- The variant of a campaign; empty: none.
    variant text NOT NULL,
    reached bigint NOT NULL DEFAULT 0,
    received bigint NOT NULL DEFAULT 0,
    read bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, day, app_id, property, value, variant)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.property_count');
ALTER TABLE gateway.property_count ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.property_count USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT ON gateway.property_count TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.property_count TO gateway_engine;
