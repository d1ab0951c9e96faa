-- Takes the version of its rules from a slice that was put back without a try: its next lease gets the version of then. A slice of a message that is older than
-- the app's first rules keeps its version, because `route_slice` gives it no other one. Runs after `record_outcomes`. Returns the number of slices.
CREATE OR REPLACE FUNCTION gateway.return_route(p_tenant text, p_message uuid, p_no integer, p_epoch bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint;
BEGIN
    UPDATE gateway.slice s SET route_version = NULL
        WHERE s.tenant_id = p_tenant AND s.message_id = p_message AND s.no = p_no AND s.epoch = p_epoch AND s.state = 'ready'
            AND s.route_version IS NOT NULL AND s.attempts = 0 AND bit_count(s.done) = 0
            AND NOT EXISTS (
                SELECT FROM gateway.upstream_call c
                WHERE c.tenant_id = p_tenant AND c.message_id = p_message AND c.slice_no = p_no)
            AND EXISTS (
                SELECT FROM gateway.message m
                JOIN gateway.route_set r ON r.tenant_id = p_tenant AND r.app_id = m.app_id
                    AND date_trunc('milliseconds', r.made_at) <= m.accepted_at
                WHERE m.tenant_id = p_tenant AND m.message_id = p_message);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;

REVOKE ALL ON FUNCTION gateway.return_route FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.return_route TO gateway_engine;
