-- Captures: masked recordings of the calls of one binding, to settle questions about a vendor's contract with real traffic.

-- The limits are CHECK constraints as well, so no program can exceed them, whatever the number of nodes.
CREATE TABLE gateway.capture (
    tenant_id text NOT NULL,
    capture_id uuid NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    started_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL,
    -- Set when the capture ended before `ends_at`: 'stopped' by a person, or 'full'.
    ended_at timestamptz,
    ended_by text CHECK (ended_by IN ('stopped', 'full')),
    started_by text NOT NULL,
    keeps_texts boolean NOT NULL,
    exchange_limit integer NOT NULL CHECK (exchange_limit BETWEEN 1 AND 1000),
    body_limit integer NOT NULL CHECK (body_limit BETWEEN 1 AND 65536),
    byte_limit integer NOT NULL CHECK (byte_limit BETWEEN 1 AND 16777216),
    exchange_count integer NOT NULL DEFAULT 0,
    byte_count integer NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, capture_id),
    CHECK (ends_at <= started_at + interval '24 hours'),
    CHECK (exchange_count <= exchange_limit),
    CHECK (byte_count <= byte_limit)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.capture');
ALTER TABLE gateway.capture ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;
-- Every node reads the running captures once per second.
CREATE INDEX capture_running ON gateway.capture (ends_at) WHERE ended_at IS NULL;
ALTER TABLE gateway.capture ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.capture USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.capture TO gateway_call, gateway_engine;

-- One call and its answer. Everything in a row was masked before it reached the database.
CREATE TABLE gateway.captured_exchange (
    tenant_id text NOT NULL,
    capture_id uuid NOT NULL,
    sequence integer NOT NULL,
    at timestamptz NOT NULL,
    route text NOT NULL,
    -- 'known', 'refused' (with a reason), or 'unknown' (not a call of the vendor's catalogue).
    outcome text NOT NULL CHECK (outcome IN ('known', 'refused', 'unknown')),
    reason text,
    method text NOT NULL,
    path text NOT NULL,
    query text,
    headers json NOT NULL,
    body text NOT NULL,
    -- Size of the whole body as received.
    body_bytes bigint NOT NULL,
    status smallint NOT NULL,
    answer_type text,
    answer text NOT NULL,
    answer_bytes bigint NOT NULL,
    PRIMARY KEY (tenant_id, capture_id, sequence)
);
SELECT gateway.colocate('gateway.captured_exchange');
ALTER TABLE gateway.captured_exchange ADD FOREIGN KEY (tenant_id, capture_id) REFERENCES gateway.capture ON DELETE CASCADE;
ALTER TABLE gateway.captured_exchange ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.captured_exchange USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT ON gateway.captured_exchange TO gateway_call;
GRANT SELECT, DELETE ON gateway.captured_exchange TO gateway_engine;
