-- Calls that the gateway has answered and that wait for their upstream, in the order of their users and devices.
-- Oldest program: 39
-- Routines: bea447755a169373

-- An upstream to which calls of a tenant have been forwarded. Calls insert the row once; the engine counts what waits.
CREATE TABLE gateway.outbox_upstream (
    tenant_id text NOT NULL,
    upstream text NOT NULL,
    -- The number of waiting calls when they were counted last; counting ends at the limit.
    waiting bigint NOT NULL DEFAULT 0,
    -- Whether so many calls wait that no further ones are added.
    is_full boolean NOT NULL DEFAULT false,
    counted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, upstream)
);
SELECT gateway.colocate('gateway.outbox_upstream');
ALTER TABLE gateway.outbox_upstream ADD FOREIGN KEY (tenant_id) REFERENCES gateway.tenant ON DELETE CASCADE;
ALTER TABLE gateway.outbox_upstream ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.outbox_upstream USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT ON gateway.outbox_upstream TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.outbox_upstream TO gateway_engine;

-- The calls that wait for an upstream and share one ordering key. They are made in their order by one node at a time. The row is deleted with its last call.
CREATE TABLE gateway.outbox_queue (
    tenant_id text NOT NULL,
    -- SHA-256 of the user, or else of the vendor's key of the device (`forward_calls`).
    ordering_key bytea NOT NULL,
    app_id text NOT NULL,
    upstream text NOT NULL,
    -- The number of the newest call.
    last bigint NOT NULL,
    -- Whether a receipt waits: the queue is claimed before others.
    is_urgent boolean NOT NULL,
    -- Number of consecutive failures of the first call, and the time of the first one.
    attempts integer NOT NULL DEFAULT 0,
    failing_since timestamptz,
    failure text,
    -- The only time that the queue reads: the next try while free, the end of the lease while leased.
    next_at timestamptz NOT NULL,
    owner text,
    -- Begins with the time of the insertion in microseconds: a row that is deleted and inserted again never has an epoch again.
    epoch bigint NOT NULL,
    PRIMARY KEY (tenant_id, ordering_key, app_id, upstream)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.outbox_queue');
ALTER TABLE gateway.outbox_queue ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;
CREATE INDEX outbox_queue_next ON gateway.outbox_queue (tenant_id, upstream, is_urgent, next_at);
ALTER TABLE gateway.outbox_queue ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.outbox_queue USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE ON gateway.outbox_queue TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.outbox_queue TO gateway_engine;

-- A call that waits, without authorization. The body may contain data of a person: erasures remove it (`forget_forwarded`), and retention after seven days.
CREATE TABLE gateway.outbox (
    tenant_id text NOT NULL,
    ordering_key bytea NOT NULL,
    app_id text NOT NULL,
    upstream text NOT NULL,
    no bigint NOT NULL,
    -- SHA-256 of the vendor's key of the device that the call names: such calls also keep their order when the device changes its user.
    device_key bytea,
    vendor text NOT NULL,
    kind text NOT NULL,
    call text NOT NULL,
    method text NOT NULL,
    path text NOT NULL,
    query text,
    content_type text,
    via text,
    body bytea NOT NULL,
    -- Whether the call also concerns others than its own user and device, or removes something at the upstream: an erasure then leaves it.
    outlives boolean NOT NULL DEFAULT false,
    called_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, ordering_key, app_id, upstream, no)
);
SELECT gateway.colocate('gateway.outbox');
ALTER TABLE gateway.outbox ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;
CREATE INDEX outbox_age ON gateway.outbox (tenant_id, upstream, called_at);
CREATE INDEX outbox_device ON gateway.outbox (tenant_id, device_key, called_at) WHERE device_key IS NOT NULL;
ALTER TABLE gateway.outbox ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.outbox USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.outbox TO gateway_call, gateway_engine;
