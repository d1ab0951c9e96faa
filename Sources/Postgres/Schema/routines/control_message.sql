-- Pauses, resumes, requeues, cancels or approves a message. Returns 1 if that changed something. Slices that are being sent are not interrupted: they finish within
-- seconds, and `record_outcomes` parks what they return.
--
-- A parked slice keeps its due time (`resume_at`). A message with a pace goes on where it stopped: what was not due yet is later by the time of the pause.
-- Other times are those of a day or of a peer's request, and pass during the pause. Slices that are requeued keep the pace among themselves.
--
-- A message that awaits an approval is not resumed. p_by approves it unless p_by has sent it; an approval is a resumption.
CREATE OR REPLACE FUNCTION gateway.control_message(p_tenant text, p_app text, p_vendor text, p_message uuid, p_action text, p_by text DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    m gateway.message;
    v_now timestamptz := now();
    v_shift interval := interval '0';
    v_pace timestamptz;
    v record;
    v_count bigint;
    v_expands boolean;
    v_settled uuid[];
BEGIN
    SELECT * INTO m FROM gateway.message
        WHERE tenant_id = p_tenant AND message_id = p_message AND app_id = p_app AND (vendor = p_vendor OR p_vendor = 'native')
        FOR UPDATE;
    IF NOT FOUND THEN RETURN 0; END IF;

    IF p_action = 'cancel' AND m.state IN ('scheduled', 'expanding', 'sending', 'paused', 'dead') THEN
        -- Its slices become due immediately, and the node that claims them writes them off.
        UPDATE gateway.message SET state = 'canceled' WHERE tenant_id = p_tenant AND message_id = p_message;
        UPDATE gateway.slice SET next_at = now()
            WHERE tenant_id = p_tenant AND message_id = p_message AND state = 'ready' AND next_at > now();
    ELSIF p_action = 'pause' AND m.state IN ('scheduled', 'expanding', 'sending') THEN
        UPDATE gateway.message SET state = 'paused', paused_at = now() WHERE tenant_id = p_tenant AND message_id = p_message;
        UPDATE gateway.slice SET resume_at = next_at, next_at = m.expires_at
            WHERE tenant_id = p_tenant AND message_id = p_message AND state = 'ready' AND dead_reason IS NULL;
    ELSIF m.state = 'paused' AND (p_action = 'resume' AND NOT m.awaits_approval
        OR p_action = 'approve' AND m.awaits_approval AND p_by IS NOT NULL AND p_by IS DISTINCT FROM m.submitted_by) THEN
        IF m.pace_count IS NOT NULL THEN v_shift := greatest(v_now - greatest(m.paused_at, m.due_at), v_shift); END IF;
        -- The times are computed beforehand: Citus refuses a time that an UPDATE computes from a column and an interval.
        SELECT array_agg(x.no) AS numbers, array_agg(least(m.expires_at, greatest(v_now, CASE WHEN x.resume_at > m.paused_at
                THEN x.resume_at + v_shift WHEN x.resume_at IS NULL THEN m.due_at ELSE x.resume_at END))) AS nexts
            INTO v FROM gateway.slice x
            WHERE x.tenant_id = p_tenant AND x.message_id = p_message AND x.state = 'ready' AND x.dead_reason IS NULL;
        UPDATE gateway.slice s SET resume_at = NULL, next_at = u.next_at FROM unnest(v.numbers, v.nexts) AS u(no, next_at)
            WHERE s.tenant_id = p_tenant AND s.message_id = p_message AND s.no = u.no AND s.state = 'ready' AND s.dead_reason IS NULL;
        v_pace := CASE WHEN m.pace_count IS NOT NULL THEN greatest(m.pace_from, m.due_at) + v_shift END;
        SELECT coalesce(bool_or(kind = 'expand'), false) INTO v_expands
            FROM gateway.slice WHERE tenant_id = p_tenant AND message_id = p_message AND state <> 'done';
        UPDATE gateway.message SET paused_at = NULL, awaits_approval = false,
                pace_from = v_pace,
                state = CASE WHEN m.due_at > v_now THEN 'scheduled' WHEN v_expands THEN 'expanding' ELSE 'sending' END
            WHERE tenant_id = p_tenant AND message_id = p_message;
        IF m.due_at <= v_now THEN PERFORM gateway.settle_message(p_tenant, p_message); END IF;
        IF m.awaits_approval THEN
            -- `number_message` left these out of the inboxes.
            SELECT array_agg(d.target_id) INTO v_settled FROM gateway.delivery d
                JOIN gateway.identity i ON i.tenant_id = p_tenant AND i.identity_id = d.identity_id
                JOIN gateway.message_ref r ON r.tenant_id = p_tenant AND r.message_id = p_message AND r.vendor = i.vendor
                WHERE d.tenant_id = p_tenant AND d.due_day = m.due_day AND d.message_id = p_message;
            IF v_settled IS NOT NULL THEN PERFORM gateway.open_inbox(p_tenant, p_message, v_settled); END IF;
        END IF;
    ELSIF p_action = 'requeue' AND m.dead_slices > 0 AND m.state <> 'canceled' THEN
        -- One attempt, because a dead slice was tried, and keeps its rules for that (`return_route`).
        UPDATE gateway.slice s SET dead_reason = NULL, attempts = 1, lapses = 0,
                next_at = CASE WHEN m.state = 'paused' THEN m.expires_at ELSE d.due END,
                resume_at = CASE WHEN m.state = 'paused' THEN d.due END
            FROM (
                SELECT x.no, greatest(v_now, least(m.expires_at, v_now + interval '1 second' * coalesce(m.pace_seconds * div(
                    sum(cardinality(x.targets) - bit_count(x.done)) OVER (ORDER BY x.no) - (cardinality(x.targets) - bit_count(x.done)),
                    m.pace_count), 0)::float8)) AS due
                FROM gateway.slice x
                WHERE x.tenant_id = p_tenant AND x.message_id = p_message AND x.state = 'ready' AND x.dead_reason IS NOT NULL) AS d
            WHERE s.tenant_id = p_tenant AND s.message_id = p_message AND s.no = d.no;
        GET DIAGNOSTICS v_count = ROW_COUNT;
        SELECT coalesce(bool_or(kind = 'expand'), false) INTO v_expands
            FROM gateway.slice WHERE tenant_id = p_tenant AND message_id = p_message AND state <> 'done';
        UPDATE gateway.message SET dead_slices = dead_slices - v_count,
                state = CASE WHEN state <> 'dead' THEN state WHEN v_expands THEN 'expanding' ELSE 'sending' END
            WHERE tenant_id = p_tenant AND message_id = p_message;
        RETURN least(v_count, 1);
    ELSE
        RETURN 0;
    END IF;
    RETURN 1;
END $$;

REVOKE ALL ON FUNCTION gateway.control_message FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.control_message TO gateway_call, gateway_engine;
