-- Stores one exchange and returns its number, or 0 when the capture is over. The row of the capture is updated first, in one statement that checks the
-- limits and locks the row, so the limits hold over all nodes. The first exchange that does not fit ends the capture.
CREATE OR REPLACE FUNCTION gateway.record_exchange(
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

REVOKE ALL ON FUNCTION gateway.record_exchange FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.record_exchange TO gateway_call;
