-- Finds a target of a message that has no delivery yet: one row if it is queued. no: its slice; null: it is in a slice that is not looked for.
--
-- The cost does not depend on the number of slices of the message. A message to listed targets has few, and all of them are searched. Of a message to an
-- audience, the slices that are being sent are searched. Where the slices are in the order of their targets (everyone, tags), up to 100 before the target
-- follow: its own, and those of the same page of the audience with other due times. Targets of groups, users and variants have no such order, so the
-- identity and the message decide: the message is open, and the audience selects the identity now.
--
-- A message to all dialects reaches a device through the identity that was seen last, and the slice has the place of the identity by which the audience selected the
-- device (`receiving_identities`). So the other identities of the device are looked at too. Where the slice is unknown, the identity that was seen last by now
-- counts.
CREATE OR REPLACE FUNCTION gateway.find_queued(p_tenant text, p_message uuid, p_target uuid) RETURNS TABLE (no integer) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    m record;
    v_no integer;
    v_identity uuid;
    v_id uuid;
    -- Whether the message reaches all dialects.
    v_crosses boolean := false;
    -- The target, and for such a message the other identities of its device.
    v_ids uuid[] := ARRAY[p_target];
BEGIN
    SELECT x.app_id, x.vendor, x.state, x.recipients, x.expanded, x.audience, x.content->'variants' IS NOT NULL AS has_variants,
            x.content->>'consent' = 'all' AS reaches_all INTO m
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
    v_crosses := m.vendor = 'native' OR NOT m.has_variants AND EXISTS (
        SELECT FROM gateway.app a WHERE a.tenant_id = p_tenant AND a.app_id = m.app_id AND a.defaults->>'crossDialectSends' = 'true');
    IF v_no IS NULL AND v_crosses THEN
        v_ids := v_ids || ARRAY(
            SELECT s.identity_id FROM gateway.identity i CROSS JOIN LATERAL (
                SELECT x.identity_id FROM gateway.identity x
                WHERE x.tenant_id = p_tenant AND x.device_id = i.device_id AND x.identity_id <> p_target LIMIT 16) AS s
            WHERE i.tenant_id = p_tenant AND i.identity_id = p_target);
    END IF;
    IF v_no IS NULL AND NOT m.has_variants AND (m.audience IS NULL OR m.audience->'tags' IS NOT NULL) THEN
        FOREACH v_id IN ARRAY v_ids LOOP
            SELECT x.no INTO v_no FROM (
                SELECT s.no, s.targets FROM gateway.slice s
                WHERE s.tenant_id = p_tenant AND s.message_id = p_message AND s.state = 'ready' AND s.first_target <= v_id
                ORDER BY s.first_target DESC LIMIT 100) x
                WHERE p_target = ANY (x.targets) LIMIT 1;
            EXIT WHEN v_no IS NOT NULL;
        END LOOP;
        IF v_no IS NULL THEN RETURN; END IF;
    END IF;
    IF v_no IS NULL THEN
        IF m.state IN ('done', 'canceled', 'expired') THEN RETURN; END IF;
        SELECT x.identity_id INTO v_identity FROM gateway.variant x WHERE x.tenant_id = p_tenant AND x.target_id = p_target;
        v_identity := coalesce(v_identity, p_target);
        IF NOT EXISTS (
            SELECT FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND i.identity_id = v_identity AND i.app_id = m.app_id AND i.state = 'active'
                AND (v_crosses OR i.vendor = m.vendor))
        THEN RETURN; END IF;
        IF m.audience->'groups' IS NOT NULL OR m.audience->'users' IS NOT NULL THEN
            v_ids := gateway.meant(
                p_tenant, m.app_id, m.vendor, m.audience, CASE WHEN v_crosses THEN v_ids ELSE ARRAY[v_identity] END, v_crosses);
            IF v_crosses THEN
                v_ids := gateway.receiving_identities(p_tenant, m.app_id, v_ids, NULL, true, m.reaches_all IS TRUE);
            END IF;
            IF v_identity <> ALL (v_ids) THEN RETURN; END IF;
        END IF;
    END IF;
    RETURN QUERY SELECT v_no;
END $$;

REVOKE ALL ON FUNCTION gateway.find_queued FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.find_queued TO gateway_call, gateway_engine;
