-- Writes one audit row per action, given as parallel arrays, and returns the last position. Call it as late as possible in the transaction of the actions
-- themselves. The lock is held until the commit, so a reader that has read a position never misses a lower one.
CREATE OR REPLACE FUNCTION gateway.write_audit(p_tenant text, p_actor text, p_actions text[], p_subjects text[], p_data text[])
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_last bigint;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'audit', '');
    SELECT coalesce(max(a.position), 0) INTO v_last FROM gateway.audit a WHERE a.tenant_id = p_tenant;
    -- A position that is already taken raises an error; no row is ever dropped.
    WITH r AS (
        INSERT INTO gateway.audit (tenant_id, audit_id, position, at, actor, action, subject, data)
            SELECT p_tenant, gen_random_uuid(), v_last + u.o, now(), p_actor, u.action, u.subject, u.data::json
            FROM unnest(p_actions, p_subjects, p_data) WITH ORDINALITY AS u(action, subject, data, o)
            RETURNING position)
    SELECT max(r.position) INTO v_last FROM r;
    RETURN v_last;
END $$;

REVOKE ALL ON FUNCTION gateway.write_audit FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.write_audit TO gateway_call, gateway_engine;
