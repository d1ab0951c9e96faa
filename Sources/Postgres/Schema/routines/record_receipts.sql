-- `record_receipt` for several receipts of one app and vendor (see `settle_receipts`).
CREATE OR REPLACE FUNCTION gateway.record_receipts(
    p_tenant text, p_app text, p_vendor text, p_node text, p_messages uuid[], p_keys text[], p_kinds text[], p_at timestamptz[])
RETURNS TABLE (ordinal integer, outcome text) LANGUAGE plpgsql SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    v record;
    v_outcomes text[];
BEGIN
    -- Each message is looked up once. `unnest((SELECT …))`: see `settle_receipts`.
    SELECT array_agg(x.identity_id) AS identities, array_agg(x.due_day) AS days
        INTO v FROM (
            SELECT i.identity_id, CASE WHEN i.identity_id IS NOT NULL THEN m.due_day END AS due_day
            FROM (
                SELECT n.message, array_agg(n.key) AS keys, array_agg(n.o) AS places
                FROM unnest((SELECT p_messages), (SELECT p_keys)) WITH ORDINALITY AS n(message, key, o) GROUP BY n.message) g
            LEFT JOIN gateway.message m ON m.tenant_id = p_tenant AND m.message_id = g.message AND m.app_id = p_app
            CROSS JOIN LATERAL unnest(g.keys, g.places) AS u(key, o)
            LEFT JOIN gateway.identity i
                ON i.tenant_id = p_tenant AND i.app_id = p_app AND i.key = u.key AND i.vendor = p_vendor
            ORDER BY u.o) x;
    v_outcomes := gateway.settle_receipts(p_tenant, p_app, v.identities, p_messages, v.days, p_kinds, p_at, p_node);
    RETURN QUERY SELECT k, v_outcomes[k] FROM generate_subscripts(v_outcomes, 1) AS k ORDER BY k;
END $$;

REVOKE ALL ON FUNCTION gateway.record_receipts FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.record_receipts TO gateway_call, gateway_engine;
