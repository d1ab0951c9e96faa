-- Appends events of deliveries and messages, given as parallel arrays; an event without a target is of the message itself and is not delivered to a sender.
-- An array may also have no element, or one element, which is the same for all events. No kinds: no events. Otherwise the number of events is that of the
-- longest array. The events of each kind stay in the order of the arrays; a kind that precedes another in the life of a delivery comes first.
--
-- p_before is the state of each delivery before the event. A reason that is null is read from the delivery's row. Must be the last step of its transaction
-- that locks anything (`write_events`).
CREATE OR REPLACE FUNCTION gateway.log_events(
    p_tenant text, p_app text, p_vendor text, p_sender text, p_kinds text[], p_messages uuid[], p_due_days integer[], p_targets uuid[],
    p_before text[] DEFAULT NULL, p_reasons text[] DEFAULT NULL)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_count integer := greatest(
        cardinality(p_kinds), cardinality(p_messages), cardinality(p_due_days), cardinality(p_targets), cardinality(p_before),
        cardinality(p_reasons));
    v_reasons text[] := array_remove(p_reasons, NULL);
    v_last bigint;
    g record;
BEGIN
    IF coalesce(cardinality(p_kinds), 0) = 0 THEN RETURN; END IF;
    -- Many receipts are of one message.
    IF p_messages[1] = ALL (p_messages) THEN p_messages := p_messages[1:1]; END IF;
    IF p_due_days[1] = ALL (p_due_days) THEN p_due_days := p_due_days[1:1]; END IF;
    -- Few reasons differ. Without any, the column is null.
    IF cardinality(v_reasons) = 0 THEN
        v_reasons := NULL;
    ELSIF cardinality(v_reasons) = cardinality(p_reasons) AND v_reasons[1] = ALL (v_reasons) THEN
        v_reasons := v_reasons[1:1];
    ELSE
        v_reasons := p_reasons;
    END IF;
    IF p_kinds[1] = ALL (p_kinds) AND (coalesce(cardinality(p_before), 0) = 0 OR p_before[1] = ALL (p_before))
        AND (v_count = 1 OR array_position(p_targets, NULL) IS NULL)
    THEN
        v_last := gateway.write_events(
            p_tenant => p_tenant, p_app => p_app, p_vendor => p_vendor,
            p_sender => CASE WHEN p_targets[1] IS NOT NULL THEN p_sender END, p_kind => p_kinds[1], p_before => p_before[1],
            p_count => v_count, p_messages => p_messages, p_due_days => p_due_days,
            p_targets => CASE WHEN p_targets[1] IS NOT NULL THEN p_targets END, p_reasons => v_reasons, p_identities => NULL,
            p_devices => NULL, p_data => NULL);
        RETURN;
    END IF;

    FOR g IN
        SELECT u.kind, u.before, u.target IS NOT NULL AS has_target, count(*)::integer AS events,
            array_agg(u.message ORDER BY u.o) AS messages, array_agg(u.due_day ORDER BY u.o) AS due_days,
            array_agg(u.target ORDER BY u.o) AS targets, array_agg(u.reason ORDER BY u.o) AS reasons, count(u.reason) AS reason_count,
            min(u.reason) = max(u.reason) AS is_one_reason
        FROM (
            SELECT CASE WHEN cardinality(p_kinds) = 1 THEN p_kinds[1] ELSE x.kind END AS kind, x.message, x.due_day,
                CASE WHEN cardinality(p_targets) = 1 THEN p_targets[1] ELSE x.target END AS target,
                CASE WHEN cardinality(p_before) = 1 THEN p_before[1] ELSE x.before END AS before, x.reason, x.o
            FROM unnest(p_kinds, p_messages, p_due_days, p_targets, p_before, v_reasons) WITH ORDINALITY
                AS x(kind, message, due_day, target, before, reason, o)) u
        GROUP BY u.kind, u.before, u.target IS NOT NULL
        ORDER BY array_position(
            ARRAY['accepted', 'suppressed', 'sent', 'failed', 'expired', 'canceled', 'received', 'read'], u.kind), min(u.o)
    LOOP
        v_last := gateway.write_events(
            p_tenant => p_tenant, p_app => p_app, p_vendor => p_vendor, p_sender => CASE WHEN g.has_target THEN p_sender END,
            p_kind => g.kind, p_before => g.before, p_count => g.events,
            p_messages => CASE WHEN cardinality(p_messages) > 1 THEN g.messages ELSE p_messages END,
            p_due_days => CASE WHEN cardinality(p_due_days) > 1 THEN g.due_days ELSE p_due_days END,
            p_targets => CASE WHEN g.has_target THEN g.targets END,
            p_reasons => CASE WHEN cardinality(v_reasons) = 1 THEN v_reasons
                WHEN g.reason_count = g.events AND g.is_one_reason THEN g.reasons[1:1] WHEN g.reason_count > 0 THEN g.reasons END,
            p_identities => NULL, p_devices => NULL, p_data => NULL);
    END LOOP;
END $$;

REVOKE ALL ON FUNCTION gateway.log_events FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.log_events TO gateway_call, gateway_engine;
