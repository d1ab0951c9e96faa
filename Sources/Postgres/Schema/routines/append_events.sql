-- Appends one event per kind and target, given as parallel arrays. A null target: the event is of the message itself and is not delivered to a sender.
-- Must be the last statement of its transaction: the row lock on the tenant's event head makes positions commit in order.
CREATE OR REPLACE FUNCTION gateway.append_events(
    p_tenant text, p_app text, p_vendor text, p_sender text, p_message uuid, p_due_day integer,
    p_kinds text[], p_targets uuid[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint := cardinality(p_kinds);
    v_last bigint;
BEGIN
    IF coalesce(v_count, 0) = 0 THEN RETURN; END IF;
    INSERT INTO gateway.event_head AS h (tenant_id, last) VALUES (p_tenant, v_count)
        ON CONFLICT (tenant_id) DO UPDATE SET last = h.last + excluded.last
        RETURNING h.last INTO v_last;
    IF v_count = 1 THEN
        INSERT INTO gateway.event (tenant_id, position, at, kind, app_id, vendor, sender_id, message_id, target_id, due_day)
            VALUES (p_tenant, v_last, now(), p_kinds[1], p_app, p_vendor, CASE WHEN p_targets[1] IS NOT NULL THEN p_sender END,
                p_message, p_targets[1], p_due_day);
        RETURN;
    END IF;
    -- RETURNING keeps Citus from turning the INSERT into a COPY. ON CONFLICT would as well, but costs a lookup and a log record more per row.
    WITH r AS (
        INSERT INTO gateway.event (tenant_id, position, at, kind, app_id, vendor, sender_id, message_id, target_id, due_day)
            SELECT p_tenant, v_last - v_count + u.o, now(), u.kind, p_app, p_vendor,
                CASE WHEN u.target IS NOT NULL THEN p_sender END, p_message, u.target, p_due_day
            FROM unnest(p_kinds, p_targets) WITH ORDINALITY AS u(kind, target, o)
            RETURNING 1)
    SELECT count(*) INTO v_count FROM r;
END $$;

REVOKE ALL ON FUNCTION gateway.append_events FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.append_events TO gateway_call, gateway_engine;
