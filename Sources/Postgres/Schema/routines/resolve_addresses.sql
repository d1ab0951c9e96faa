-- The receiving identity of each address of a send that reaches every dialect (docs/schema.md#the-identity-that-receives-a-send). Addresses are values with their
-- places in the caller's list, in one pair of arrays for each kind; an address without an identity has no row. Of a phone or a user it is the newest identity of the
-- highest level, and only one of the same person receives the send.
--
-- p_prefer and p_all are those of `receiving_identities`; p_lane adds the dialects that the rules of the app prefer for it. A single address has statements of its
-- own, because the server would plan a list of one value at every call.
CREATE OR REPLACE FUNCTION gateway.resolve_addresses(
    p_tenant text, p_app text, p_vendor text, p_phone_places bigint[], p_phones text[], p_key_places bigint[], p_keys text[],
    p_user_places bigint[], p_users text[], p_device_places bigint[], p_devices uuid[], p_prefer text[], p_all boolean, p_lane text)
RETURNS TABLE (
    place bigint, identity_id uuid, device_id uuid, is_reachable boolean, assurance smallint, is_outranked boolean, vendor text,
    last_seen timestamptz, has_withdrawn boolean, has_ended boolean, time_zone text, window_from smallint, window_to smallint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_prefer text[] := p_prefer || gateway.preferred_dialects(p_tenant, p_app, p_lane);
    v_persons integer := cardinality(p_phones) + cardinality(p_users);
    v_devices integer := cardinality(p_keys) + cardinality(p_devices);
    v_place bigint;
    v_value text;
    v_device uuid;
    v_id uuid;
    v_is_outranked boolean := false;
    v_places bigint[] := '{}';
    v_ids uuid[] := '{}';
    v_outranked boolean[] := '{}';
    v_more_places bigint[];
    v_more_ids uuid[];
    v_more_outranked boolean[];
BEGIN
    IF v_persons + v_devices = 1 THEN
        v_place := coalesce(p_phone_places[1], p_user_places[1], p_key_places[1], p_device_places[1]);
        v_value := coalesce(p_phones[1], p_users[1], p_keys[1]);
        v_device := p_devices[1];
        IF cardinality(p_phones) = 1 THEN
            SELECT i.identity_id, EXISTS (
                SELECT 1 FROM gateway.identity h
                WHERE h.tenant_id = p_tenant AND h.app_id = p_app AND h.phone = i.phone
                    AND h.assurance > i.assurance AND h.assurance > 0 AND h.state = 'active') INTO v_id, v_is_outranked
            FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.state = 'active' AND i.phone = v_value
            ORDER BY CASE WHEN (
                SELECT a.defaults->>'mixedAssurance' = 'true' FROM gateway.app a WHERE a.tenant_id = p_tenant AND a.app_id = p_app)
            THEN 0 ELSE i.assurance END DESC, i.registered_at DESC, i.identity_id DESC LIMIT 1;
        ELSIF cardinality(p_users) = 1 THEN
            SELECT i.identity_id, EXISTS (
                SELECT 1 FROM gateway.identity h
                WHERE h.tenant_id = p_tenant AND h.app_id = p_app AND h.user_id = i.user_id
                    AND h.assurance > i.assurance AND h.assurance > 0 AND h.state = 'active') INTO v_id, v_is_outranked
            FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.state = 'active' AND i.user_id = v_value
            ORDER BY CASE WHEN (
                SELECT a.defaults->>'mixedAssurance' = 'true' FROM gateway.app a WHERE a.tenant_id = p_tenant AND a.app_id = p_app)
            THEN 0 ELSE i.assurance END DESC, i.registered_at DESC, i.identity_id DESC LIMIT 1;
        ELSIF cardinality(p_keys) = 1 THEN
            SELECT i.identity_id INTO v_id FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND (p_vendor = 'native' OR i.vendor = p_vendor)
                AND i.state = 'active' AND i.key = v_value
            ORDER BY i.registered_at DESC, i.identity_id DESC LIMIT 1;
        ELSE
            SELECT i.identity_id INTO v_id FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND (p_vendor = 'native' OR i.vendor = p_vendor)
                AND i.state = 'active' AND i.device_id = v_device
            ORDER BY i.registered_at DESC, i.identity_id DESC LIMIT 1;
        END IF;
        IF v_id IS NULL THEN RETURN; END IF;
        v_ids := gateway.receiving_identities(p_tenant, p_app, ARRAY[v_id], v_prefer, v_persons = 1, p_all);
        v_id := v_ids[1];
        RETURN QUERY SELECT v_place, i.identity_id, i.device_id, coalesce(d.token_state = 'active', false), i.assurance, v_is_outranked, i.vendor,
                greatest(i.registered_at, i.seen_at), NOT i.accepts_push, coalesce(i.ends_at <= now(), false), d.time_zone, d.window_from, d.window_to
            FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = p_tenant AND d.device_id = i.device_id
            WHERE i.tenant_id = p_tenant AND i.identity_id = v_id;
        RETURN;
    END IF;

    IF cardinality(p_phones) > 0 THEN
        SELECT array_agg(q.place ORDER BY q.place), array_agg(r.identity_id ORDER BY q.place), array_agg(r.is_outranked ORDER BY q.place)
            INTO v_places, v_ids, v_outranked FROM unnest(p_phone_places, p_phones) AS q(place, value)
            CROSS JOIN LATERAL (
                SELECT i.identity_id, EXISTS (
                        SELECT 1 FROM gateway.identity h
                        WHERE h.tenant_id = p_tenant AND h.app_id = p_app AND h.phone = i.phone
                            AND h.assurance > i.assurance AND h.assurance > 0 AND h.state = 'active') AS is_outranked
                FROM gateway.identity i
                WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.state = 'active' AND i.phone = q.value
                ORDER BY CASE WHEN (
                        SELECT a.defaults->>'mixedAssurance' = 'true' FROM gateway.app a WHERE a.tenant_id = p_tenant AND a.app_id = p_app)
                    THEN 0 ELSE i.assurance END DESC, i.registered_at DESC, i.identity_id DESC LIMIT 1) AS r;
    END IF;
    IF cardinality(p_users) > 0 THEN
        SELECT array_agg(q.place ORDER BY q.place), array_agg(r.identity_id ORDER BY q.place), array_agg(r.is_outranked ORDER BY q.place)
            INTO v_more_places, v_more_ids, v_more_outranked FROM unnest(p_user_places, p_users) AS q(place, value)
            CROSS JOIN LATERAL (
                SELECT i.identity_id, EXISTS (
                        SELECT 1 FROM gateway.identity h
                        WHERE h.tenant_id = p_tenant AND h.app_id = p_app AND h.user_id = i.user_id
                            AND h.assurance > i.assurance AND h.assurance > 0 AND h.state = 'active') AS is_outranked
                FROM gateway.identity i
                WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.state = 'active' AND i.user_id = q.value
                ORDER BY CASE WHEN (
                        SELECT a.defaults->>'mixedAssurance' = 'true' FROM gateway.app a WHERE a.tenant_id = p_tenant AND a.app_id = p_app)
                    THEN 0 ELSE i.assurance END DESC, i.registered_at DESC, i.identity_id DESC LIMIT 1) AS r;
        v_places := v_places || v_more_places;
        v_ids := v_ids || v_more_ids;
        v_outranked := v_outranked || v_more_outranked;
    END IF;
    IF cardinality(v_ids) > 0 THEN
        v_ids := gateway.receiving_identities(p_tenant, p_app, v_ids, v_prefer, true, p_all);
    END IF;
    v_more_ids := NULL;
    IF v_devices > 0 THEN
        SELECT array_agg(x.place ORDER BY x.place), array_agg(x.identity_id ORDER BY x.place), array_agg(false ORDER BY x.place)
            INTO v_more_places, v_more_ids, v_more_outranked FROM (
                SELECT q.place, r.identity_id FROM unnest(p_key_places, p_keys) AS q(place, value)
                CROSS JOIN LATERAL (
                    SELECT i.identity_id FROM gateway.identity i
                    WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND (p_vendor = 'native' OR i.vendor = p_vendor)
                        AND i.state = 'active' AND i.key = q.value
                    ORDER BY i.registered_at DESC, i.identity_id DESC LIMIT 1) AS r
                UNION ALL
                SELECT q.place, r.identity_id FROM unnest(p_device_places, p_devices) AS q(place, value)
                CROSS JOIN LATERAL (
                    SELECT i.identity_id FROM gateway.identity i
                    WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND (p_vendor = 'native' OR i.vendor = p_vendor)
                        AND i.state = 'active' AND i.device_id = q.value
                    ORDER BY i.registered_at DESC, i.identity_id DESC LIMIT 1) AS r) AS x;
    END IF;
    IF v_more_ids IS NOT NULL THEN
        v_places := v_places || v_more_places;
        v_ids := v_ids || gateway.receiving_identities(p_tenant, p_app, v_more_ids, v_prefer, false, p_all);
        v_outranked := v_outranked || v_more_outranked;
    END IF;
    IF v_ids IS NULL OR cardinality(v_ids) = 0 THEN RETURN; END IF;
    RETURN QUERY SELECT x.place, r.identity_id, r.device_id, r.is_reachable, r.assurance, x.is_outranked, r.vendor, r.last_seen,
            r.has_withdrawn, r.has_ended, r.time_zone, r.window_from, r.window_to
        FROM unnest(v_places, v_ids, v_outranked) AS x(place, id, is_outranked)
        CROSS JOIN LATERAL (
            SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, i.assurance, i.vendor,
                greatest(i.registered_at, i.seen_at) AS last_seen, NOT i.accepts_push AS has_withdrawn,
                coalesce(i.ends_at <= now(), false) AS has_ended, d.time_zone, d.window_from, d.window_to
            FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = p_tenant AND d.device_id = i.device_id
            WHERE i.tenant_id = p_tenant AND i.identity_id = x.id OFFSET 0) AS r;
END $$;

REVOKE ALL ON FUNCTION gateway.resolve_addresses FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.resolve_addresses TO gateway_call, gateway_engine;
