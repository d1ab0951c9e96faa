-- Finds a target of a message that has no delivery yet: one row if it is queued. no: its slice; null: it is in a slice that is not looked for.
--
-- The cost does not depend on the number of slices of the message. A message to listed targets has few, and all of them are searched. Of a message to an
-- audience, the slices that are being sent are searched. Where the slices are in the order of their targets (everyone, tags), up to 100 before the target
-- follow: its own, and those of the same page of the audience with other due times. Targets of groups, users and variants have no such order, so the
-- identity and the message decide: the message is open, and the audience selects the identity now.
CREATE OR REPLACE FUNCTION gateway.find_queued(p_tenant text, p_message uuid, p_target uuid) RETURNS TABLE (no integer) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    m record;
    v_no integer;
    v_identity uuid;
BEGIN
    SELECT x.app_id, x.vendor, x.state, x.recipients, x.expanded, x.audience, x.content->'variants' IS NOT NULL AS has_variants INTO m
        FROM gateway.message x WHERE x.tenant_id = p_tenant AND x.message_id = p_message;
    IF NOT FOUND THEN RETURN; END IF;
    IF m.recipients IS NOT NULL AND m.expanded = 0 THEN
        RETURN QUERY SELECT s.no FROM gateway.slice s
            WHERE s.tenant_id = p_tenant AND s.message_id = p_message AND s.state <> 'done' AND p_target = ANY (s.targets)
            ORDER BY s.no LIMIT 1;
        RETURN;
    END IF;
    SELECT s.no INTO v_no FROM gateway.slice s
        WHERE s.tenant_id = p_tenant AND s.message_id = p_message AND s.state = 'leased' AND p_target = ANY (s.targets) LIMIT 1;
    IF v_no IS NULL AND NOT m.has_variants AND (m.audience IS NULL OR m.audience->'tags' IS NOT NULL) THEN
        SELECT x.no INTO v_no FROM (
            SELECT s.no, s.targets FROM gateway.slice s
            WHERE s.tenant_id = p_tenant AND s.message_id = p_message AND s.state = 'ready' AND s.first_target <= p_target
            ORDER BY s.first_target DESC LIMIT 100) x
            WHERE p_target = ANY (x.targets) LIMIT 1;
        IF v_no IS NULL THEN RETURN; END IF;
    END IF;
    IF v_no IS NULL THEN
        IF m.state IN ('done', 'canceled', 'expired') THEN RETURN; END IF;
        SELECT x.identity_id INTO v_identity FROM gateway.variant x WHERE x.tenant_id = p_tenant AND x.target_id = p_target;
        v_identity := coalesce(v_identity, p_target);
        IF NOT EXISTS (
            SELECT FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND i.identity_id = v_identity AND i.app_id = m.app_id AND i.state = 'active'
                AND (i.vendor = m.vendor OR m.vendor = 'native'))
        THEN RETURN; END IF;
        IF (m.audience->'groups' IS NOT NULL OR m.audience->'users' IS NOT NULL)
            AND cardinality(gateway.meant(p_tenant, m.app_id, m.vendor, m.audience, ARRAY[v_identity])) = 0
        THEN RETURN; END IF;
    END IF;
    RETURN QUERY SELECT v_no;
END $$;

REVOKE ALL ON FUNCTION gateway.find_queued FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.find_queued TO gateway_call, gateway_engine;
