-- `report_number` for several receipts of one app and vendor (see `settle_receipts`).
CREATE OR REPLACE FUNCTION gateway.report_numbers(
    p_tenant text, p_app text, p_vendor text, p_node text, p_keys text[], p_numbers text[], p_kinds text[], p_at timestamptz[])
RETURNS TABLE (ordinal integer, outcome text) LANGUAGE plpgsql SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    v record;
    v_outcomes text[];
BEGIN
    -- Each number is looked up once. `unnest((SELECT …))`: see `settle_receipts`.
    SELECT array_agg(x.identity_id) AS identities, array_agg(x.message_id) AS messages, array_agg(x.due_day) AS days
        INTO v FROM (
            SELECT i.identity_id, m.message_id, CASE WHEN i.identity_id IS NOT NULL THEN m.due_day END AS due_day
            FROM (
                SELECT n.number, array_agg(n.key) AS keys, array_agg(n.o) AS places
                FROM unnest((SELECT p_keys), (SELECT p_numbers)) WITH ORDINALITY AS n(key, number, o) GROUP BY n.number) g
            LEFT JOIN gateway.message_ref r
                ON r.tenant_id = p_tenant AND r.app_id = p_app AND r.vendor = p_vendor AND r.ref = g.number
            LEFT JOIN gateway.message m ON m.tenant_id = p_tenant AND m.message_id = r.message_id AND m.app_id = p_app
            CROSS JOIN LATERAL unnest(g.keys, g.places) AS u(key, o)
            LEFT JOIN gateway.identity i
                ON i.tenant_id = p_tenant AND i.app_id = p_app AND i.key = u.key AND i.vendor = p_vendor AND i.state = 'active'
            ORDER BY u.o) x;
    v_outcomes := gateway.settle_receipts(p_tenant, p_app, v.identities, v.messages, v.days, p_kinds, p_at, p_node, true);
    RETURN QUERY SELECT k, v_outcomes[k] FROM generate_subscripts(v_outcomes, 1) AS k ORDER BY k;
END $$;

REVOKE ALL ON FUNCTION gateway.report_numbers FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.report_numbers TO gateway_call, gateway_engine;
