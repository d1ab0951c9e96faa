-- Captures: what callers of one binding sent for a while, masked, so that a contract's open questions are settled by a customer's own traffic.

-- The limits stand here too: whatever a program says, and however many nodes write at once, no row can exceed them.
CREATE TABLE gateway.capture (
    tenant_id text NOT NULL,
    capture_id uuid NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    started_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL,
    -- Before its time: by somebody (`stopped`) or because it was full (`full`).
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
-- What every node asks each second.
CREATE INDEX capture_running ON gateway.capture (ends_at) WHERE ended_at IS NULL;

-- One call and its answer. Everything in it is masked before it comes here.
CREATE TABLE gateway.captured_exchange (
    tenant_id text NOT NULL,
    capture_id uuid NOT NULL,
    sequence integer NOT NULL,
    at timestamptz NOT NULL,
    route text NOT NULL,
    -- known, refused (with the reason), or unknown: no call of the catalogue.
    outcome text NOT NULL CHECK (outcome IN ('known', 'refused', 'unknown')),
    reason text,
    method text NOT NULL,
    path text NOT NULL,
    query text,
    headers json NOT NULL,
    body text NOT NULL,
    -- As it came, unmasked and whole.
    body_bytes bigint NOT NULL,
    status smallint NOT NULL,
    answer_type text,
    answer text NOT NULL,
    answer_bytes bigint NOT NULL,
    PRIMARY KEY (tenant_id, capture_id, sequence)
);
SELECT gateway.colocate('gateway.captured_exchange');
ALTER TABLE gateway.captured_exchange ADD FOREIGN KEY (tenant_id, capture_id) REFERENCES gateway.capture ON DELETE CASCADE;

DO $$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['capture', 'captured_exchange'] LOOP
        EXECUTE format('ALTER TABLE gateway.%I ENABLE ROW LEVEL SECURITY', v_table);
        EXECUTE format(
            'CREATE POLICY tenant_only ON gateway.%I USING (tenant_id = current_setting(''gateway.tenant'', true)) '
                'WITH CHECK (tenant_id = current_setting(''gateway.tenant'', true))', v_table);
    END LOOP;
END $$;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.capture TO gateway_call, gateway_engine;
GRANT SELECT, INSERT ON gateway.captured_exchange TO gateway_call;
GRANT SELECT, DELETE ON gateway.captured_exchange TO gateway_engine;

-- started, or why not: missing (no such app), tooMany, running (one of this binding is). The lock keeps two starts from both being the tenth.
CREATE FUNCTION gateway.start_capture(
    p_tenant text, p_capture uuid, p_app text, p_vendor text, p_actor text, p_seconds integer, p_exchanges integer, p_body integer,
    p_bytes integer, p_texts boolean, p_limit integer)
RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'capture', '');
    IF NOT EXISTS (SELECT FROM gateway.app a WHERE a.tenant_id = p_tenant AND a.app_id = p_app AND a.retired_at IS NULL) THEN
        RETURN 'missing';
    END IF;
    IF EXISTS (
        SELECT FROM gateway.capture c WHERE c.tenant_id = p_tenant AND c.app_id = p_app AND c.vendor = p_vendor
            AND c.ended_at IS NULL AND c.ends_at > now()) THEN
        RETURN 'running';
    END IF;
    IF (SELECT count(*) FROM gateway.capture c WHERE c.tenant_id = p_tenant) >= p_limit THEN RETURN 'tooMany'; END IF;
    INSERT INTO gateway.capture (
            tenant_id, capture_id, app_id, vendor, started_at, ends_at, started_by, keeps_texts, exchange_limit, body_limit, byte_limit)
        VALUES (
            p_tenant, p_capture, p_app, p_vendor, now(), now() + p_seconds * interval '1 second', p_actor, p_texts, p_exchanges, p_body,
            p_bytes);
    RETURN 'started';
END $$;

-- Writes one exchange and gives its number, or 0 when the capture is over. What it may still take is taken first, in one statement, which locks its row:
-- so the limits hold over all nodes. The first exchange that does not fit ends the capture.
CREATE FUNCTION gateway.record_exchange(
    p_tenant text, p_capture uuid, p_at timestamptz, p_route text, p_outcome text, p_reason text, p_method text, p_path text,
    p_query text, p_headers json, p_body text, p_body_bytes bigint, p_status smallint, p_answer_type text, p_answer text,
    p_answer_bytes bigint)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    v_bytes integer := octet_length(concat(
        p_route, p_reason, p_method, p_path, p_query, p_headers::text, p_body, p_answer_type, p_answer));
    v_sequence integer;
    v_is_full boolean;
BEGIN
    UPDATE gateway.capture c SET exchange_count = c.exchange_count + 1, byte_count = c.byte_count + v_bytes
        WHERE c.tenant_id = p_tenant AND c.capture_id = p_capture AND c.ended_at IS NULL AND c.ends_at > now()
            AND c.exchange_count < c.exchange_limit AND c.byte_count + v_bytes <= c.byte_limit
        RETURNING c.exchange_count, c.exchange_count = c.exchange_limit INTO v_sequence, v_is_full;
    IF v_sequence IS NOT NULL THEN
        INSERT INTO gateway.captured_exchange (
                tenant_id, capture_id, sequence, at, route, outcome, reason, method, path, query, headers, body, body_bytes, status,
                answer_type, answer, answer_bytes)
            VALUES (
                p_tenant, p_capture, v_sequence, p_at, p_route, p_outcome, p_reason, p_method, p_path, p_query, p_headers, p_body,
                p_body_bytes, p_status, p_answer_type, p_answer, p_answer_bytes);
    END IF;
    IF v_sequence IS NULL OR v_is_full THEN
        UPDATE gateway.capture c SET ended_at = now(), ended_by = 'full'
            WHERE c.tenant_id = p_tenant AND c.capture_id = p_capture AND c.ended_at IS NULL AND c.ends_at > now();
    END IF;
    RETURN coalesce(v_sequence, 0);
END $$;

REVOKE ALL ON FUNCTION gateway.start_capture, gateway.record_exchange FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gateway.start_capture, gateway.record_exchange TO gateway_call;
