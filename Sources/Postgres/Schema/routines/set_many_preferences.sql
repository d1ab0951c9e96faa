-- `set_preferences` for several identities of one app and vendor that all set the same push preference and nothing else; without repeated keys. Returns
-- one row per key, in order.
--
-- Does nothing for the places in `gateway.left_out`, whose registrations `register_many` has left out of this transaction: they may be refused.
CREATE OR REPLACE FUNCTION gateway.set_many_preferences(p_tenant text, p_app text, p_vendor text, p_accepts boolean, p_keys text[])
RETURNS TABLE (count bigint, ordinal bigint)
LANGUAGE plpgsql SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    -- The identities of the keys, null for a key without one, and whether the preference of one of them differs.
    v_ids uuid[];
    v_differs boolean;
    v_news uuid[];
    v_devices uuid[];
    v_left_out bigint[] := coalesce(nullif(current_setting('gateway.left_out', true), ''), '{}')::bigint[];
BEGIN
    SELECT array_agg(w.id), bool_or(w.accepts <> p_accepts) INTO v_ids, v_differs FROM (
        SELECT i.identity_id AS id, i.accepts_push AS accepts FROM unnest(p_keys) WITH ORDINALITY AS u(key, o)
        LEFT JOIN LATERAL (
            SELECT x.identity_id, x.accepts_push FROM gateway.identity x
            WHERE x.tenant_id = p_tenant AND x.app_id = p_app AND x.vendor = p_vendor AND x.key = u.key AND x.state = 'active' OFFSET 0) AS i
            ON u.o <> ALL (v_left_out)
        ORDER BY u.o) AS w;
    IF v_differs THEN
        PERFORM FROM gateway.identity i WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v_ids) AND i.accepts_push <> p_accepts
            ORDER BY i.identity_id FOR UPDATE;
        WITH r AS (
            UPDATE gateway.identity i SET accepts_push = p_accepts
                WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v_ids) AND i.accepts_push <> p_accepts
                RETURNING i.identity_id, i.device_id)
        SELECT array_agg(r.identity_id), array_agg(r.device_id) INTO v_news, v_devices FROM r;
        IF v_news IS NOT NULL THEN
            PERFORM gateway.append_changes(
                p_tenant, array_fill('preference_changed'::text, ARRAY[cardinality(v_news)]), array_fill(p_app, ARRAY[cardinality(v_news)]),
                array_fill(p_vendor, ARRAY[cardinality(v_news)]), v_news, v_devices,
                array_fill(json_build_object('acceptsPush', p_accepts), ARRAY[cardinality(v_news)]));
        END IF;
    END IF;
    RETURN QUERY SELECT (u.id IS NOT NULL)::integer::bigint, CASE WHEN u.id IS NOT NULL THEN u.o END
        FROM unnest(v_ids) WITH ORDINALITY AS u(id, o) ORDER BY u.o;
END $$;

REVOKE ALL ON FUNCTION gateway.set_many_preferences FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.set_many_preferences TO gateway_call;
