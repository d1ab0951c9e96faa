-- A target of a message without a delivery row: its state, and its place in the queue (`find_queued`). no: null when its slice is unknown.
CREATE OR REPLACE FUNCTION gateway.queued_delivery(p_tenant text, p_message uuid, p_target uuid)
RETURNS TABLE (
    message_id uuid, target_id uuid, identity_id uuid, address text, is_reserved boolean, fallback json, device_id uuid, user_id text, no integer,
    slice_state text, next_at timestamptz, attempts smallint, held_by text, dead_reason text, is_paused boolean, seen_at timestamptz)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    q record;
    v_no integer;
BEGIN
    SELECT x.no INTO q FROM gateway.find_queued(p_tenant, p_message, p_target) x;
    IF NOT FOUND THEN RETURN; END IF;
    -- No slice has this number. Citus refuses an outer join whose condition is null.
    v_no := coalesce(q.no, -1);
    RETURN QUERY SELECT m.message_id, p_target, i.identity_id, nullif(s.addresses[array_position(s.targets, p_target)], ''),
            m.state = 'scheduled', m.fallback, i.device_id, i.user_id, s.no, s.state, s.next_at, coalesce(s.attempts, 0::smallint), s.held_by,
            s.dead_reason, coalesce(l.is_paused, false), now()
        FROM gateway.message m
        LEFT JOIN gateway.slice s ON s.tenant_id = p_tenant AND s.message_id = m.message_id AND s.no = v_no
        LEFT JOIN gateway.lane l ON l.tenant_id = p_tenant AND l.lane = m.lane
        LEFT JOIN gateway.identity i ON i.tenant_id = p_tenant AND i.identity_id = p_target
        WHERE m.tenant_id = p_tenant AND m.message_id = p_message;
END $$;

REVOKE ALL ON FUNCTION gateway.queued_delivery FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.queued_delivery TO gateway_call, gateway_engine;
