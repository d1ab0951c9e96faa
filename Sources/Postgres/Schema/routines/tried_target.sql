-- The first of p_targets, which have no delivery, whose slice had a lease: its push may have left, and its outcome is not written. A target whose slice is
-- leased comes before one whose slice waits for another try: after an answer that asks for one, a stop of its node, or a lapsed lease. Null: none is found.
--
-- Searched are the slices that are being sent, the 100 open slices of the message with the highest numbers, where new retry slices are, and, if there may be
-- more, those of `find_queued_targets`. Of groups, users and variants, a slice that waits and has more than 100 newer ones is not found.
CREATE OR REPLACE FUNCTION gateway.tried_target(p_tenant text, p_message uuid, p_targets uuid[]) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    q record;
    v_target uuid;
    v_count bigint;
    v_place integer;
BEGIN
    -- Nearly all receipts that arrive before their outcome need only these.
    FOREACH v_target IN ARRAY p_targets LOOP
        PERFORM FROM gateway.slice s
            WHERE s.tenant_id = p_tenant AND s.message_id = p_message AND s.state = 'leased' AND v_target = ANY (s.targets) LIMIT 1;
        IF FOUND THEN RETURN v_target; END IF;
    END LOOP;
    SELECT count(*), min(t.place) INTO v_count, v_place FROM (
            SELECT x.epoch, x.targets FROM gateway.slice x
            WHERE x.tenant_id = p_tenant AND x.message_id = p_message AND x.state <> 'done' ORDER BY x.no DESC LIMIT 100) AS s
        CROSS JOIN LATERAL (
            SELECT min(array_position(p_targets, u.target)) AS place FROM unnest(s.targets) AS u(target)
            WHERE s.epoch > 0 AND s.targets && p_targets AND u.target = ANY (p_targets)) AS t;
    -- Fewer than 100 are all of them.
    IF v_place IS NOT NULL OR v_count < 100 THEN RETURN p_targets[v_place]; END IF;
    FOR q IN
        SELECT x.target_id, x.no FROM gateway.find_queued_targets(p_tenant, p_message, p_targets) x
        ORDER BY array_position(p_targets, x.target_id)
    LOOP
        -- Its slice is unknown.
        CONTINUE WHEN q.no IS NULL;
        PERFORM FROM gateway.slice s WHERE s.tenant_id = p_tenant AND s.message_id = p_message AND s.no = q.no AND s.epoch > 0;
        IF FOUND THEN RETURN q.target_id; END IF;
    END LOOP;
    RETURN NULL;
END $$;

REVOKE ALL ON FUNCTION gateway.tried_target FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.tried_target TO gateway_call, gateway_engine;
