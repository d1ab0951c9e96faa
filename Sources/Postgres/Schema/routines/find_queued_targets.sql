-- Finds the targets of a message that have no delivery yet: one row for each of p_targets that is queued. no: its slice; null: it is in a slice that is not looked
-- for. Each target is found or not, whatever the others are.
--
-- The cost does not depend on the number of slices of the message. A message to listed targets has few, and all of them are searched. Of a message to an
-- audience, the slices that are being sent are searched. Where the slices are in the order of their targets (everyone, tags), up to 100 before the target
-- follow: its own, and those of the same page of the audience with other due times. Targets of groups, users and variants have no such order, so the
-- identity and the message decide: the message is open, and the audience selects the identity now.
--
-- A message to all dialects reaches a device through the identity that was seen last, and the slice has the place of the identity by which the audience selected the
-- device (`receiving_identities`). So the other identities of the device are looked at too. Where the slice is unknown, the identity that was seen last by now
-- counts.
CREATE OR REPLACE FUNCTION gateway.find_queued_targets(p_tenant text, p_message uuid, p_targets uuid[])
RETURNS TABLE (target_id uuid, no integer) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    m record;
    q record;
    -- Whether the message reaches all dialects.
    v_crosses boolean;
    -- The targets that are not found yet.
    v_left uuid[] := p_targets;
    -- Each of them with a place where it may be: its own, and for such a message those of the other identities of its device.
    v_ids uuid[];
    v_places uuid[];
    -- Those whose identity may receive the message, with that identity.
    v_targets uuid[];
    v_identities uuid[];
    -- The places that the audience selects, with the identities that receive the message for them.
    v_selected uuid[];
    v_receiving uuid[];
BEGIN
    IF cardinality(p_targets) = 0 THEN RETURN; END IF;
    SELECT x.app_id, x.vendor, x.state, x.recipients, x.expanded, x.audience, x.content->'variants' IS NOT NULL AS has_variants,
            x.content->>'consent' = 'all' AS reaches_all INTO m
        FROM gateway.message x WHERE x.tenant_id = p_tenant AND x.message_id = p_message;
    IF NOT FOUND THEN RETURN; END IF;
    IF m.recipients IS NOT NULL AND m.expanded = 0 THEN
        RETURN QUERY SELECT DISTINCT ON (t.id) t.id, s.no FROM gateway.slice s CROSS JOIN LATERAL unnest(s.targets) AS t(id)
            WHERE s.tenant_id = p_tenant AND s.message_id = p_message AND s.state <> 'done' AND s.targets && p_targets AND t.id = ANY (p_targets)
            ORDER BY t.id, s.no;
        RETURN;
    END IF;
    FOR q IN
        SELECT DISTINCT ON (t.id) t.id, s.no FROM gateway.slice s CROSS JOIN LATERAL unnest(s.targets) AS t(id)
        WHERE s.tenant_id = p_tenant AND s.message_id = p_message AND s.state = 'leased' AND s.targets && p_targets AND t.id = ANY (p_targets)
        ORDER BY t.id, s.no
    LOOP
        RETURN QUERY SELECT q.id, q.no;
        v_left := array_remove(v_left, q.id);
    END LOOP;
    IF cardinality(v_left) = 0 THEN RETURN; END IF;
    v_ids := v_left;
    v_places := v_left;
    v_crosses := m.vendor = 'native' OR NOT m.has_variants AND EXISTS (
        SELECT FROM gateway.app a WHERE a.tenant_id = p_tenant AND a.app_id = m.app_id AND a.defaults->>'crossDialectSends' = 'true');
    IF v_crosses THEN
        SELECT v_left || array_agg(i.identity_id), v_left || array_agg(s.identity_id) INTO v_ids, v_places
            FROM gateway.identity i CROSS JOIN LATERAL (
                SELECT x.identity_id FROM gateway.identity x
                WHERE x.tenant_id = p_tenant AND x.device_id = i.device_id AND x.identity_id <> i.identity_id LIMIT 16) AS s
            WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v_left);
    END IF;
    IF NOT m.has_variants AND (m.audience IS NULL OR m.audience->'tags' IS NOT NULL) THEN
        RETURN QUERY SELECT DISTINCT ON (t.id) t.id, s.no
            FROM (SELECT u.place, array_agg(u.id) AS ids FROM unnest(v_ids, v_places) AS u(id, place) GROUP BY u.place) AS c
            -- The slice that begins last counts, so the first one that has the only target ends the search.
            CROSS JOIN LATERAL (
                SELECT x.* FROM (
                    SELECT y.no, y.targets, y.first_target FROM gateway.slice y
                    WHERE y.tenant_id = p_tenant AND y.message_id = p_message AND y.state = 'ready' AND y.first_target <= c.place
                    ORDER BY y.first_target DESC LIMIT 100) AS x
                WHERE x.targets && c.ids LIMIT CASE WHEN cardinality(c.ids) = 1 THEN 1 ELSE 100 END) AS s
            CROSS JOIN LATERAL unnest(s.targets) AS t(id)
            WHERE t.id = ANY (c.ids)
            ORDER BY t.id, c.place <> t.id, s.first_target DESC, s.no;
        RETURN;
    END IF;
    IF m.state IN ('done', 'canceled', 'expired') THEN RETURN; END IF;
    SELECT array_agg(t.id), array_agg(i.identity_id) INTO v_targets, v_identities FROM unnest(v_left) AS t(id)
        -- A subquery of its own: under row-level security, no index is used for a condition that contains a subquery.
        CROSS JOIN LATERAL (
            SELECT coalesce((SELECT x.identity_id FROM gateway.variant x WHERE x.tenant_id = p_tenant AND x.target_id = t.id), t.id) AS id
            OFFSET 0) AS c
        CROSS JOIN LATERAL (
            SELECT x.identity_id, x.app_id, x.vendor, x.state FROM gateway.identity x WHERE x.tenant_id = p_tenant AND x.identity_id = c.id
            OFFSET 0) AS i
        WHERE i.app_id = m.app_id AND i.state = 'active' AND (v_crosses OR i.vendor = m.vendor);
    IF v_targets IS NULL THEN RETURN; END IF;
    IF m.audience->'groups' IS NULL AND m.audience->'users' IS NULL THEN
        RETURN QUERY SELECT DISTINCT t.id, NULL::integer FROM unnest(v_targets) AS t(id);
        RETURN;
    END IF;
    IF NOT v_crosses THEN
        v_ids := v_targets;
        v_places := v_identities;
    END IF;
    v_selected := gateway.meant(p_tenant, m.app_id, m.vendor, m.audience, ARRAY(SELECT DISTINCT unnest(v_places)), v_crosses);
    v_receiving := v_selected;
    IF v_crosses THEN
        v_receiving := gateway.receiving_identities(p_tenant, m.app_id, v_selected, NULL, true, m.reaches_all IS TRUE);
    END IF;
    RETURN QUERY SELECT DISTINCT t.id, NULL::integer FROM unnest(v_targets, v_identities) AS t(id, receiving)
        JOIN unnest(v_ids, v_places) AS c(id, place) USING (id)
        JOIN unnest(v_selected, v_receiving) AS r(place, receiving) USING (place, receiving);
END $$;

REVOKE ALL ON FUNCTION gateway.find_queued_targets FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.find_queued_targets TO gateway_call, gateway_engine;
