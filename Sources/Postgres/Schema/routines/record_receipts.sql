-- `record_receipt` for several receipts of one app and vendor (see `settle_receipts`).
CREATE OR REPLACE FUNCTION gateway.record_receipts(
    p_tenant text, p_app text, p_vendor text, p_node text, p_messages uuid[], p_keys text[], p_kinds text[], p_at timestamptz[])
RETURNS TABLE (ordinal integer, outcome text) LANGUAGE plpgsql SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    v record;
    v_outcomes text[];
BEGIN
    SELECT array_agg(i.identity_id ORDER BY u.o) AS identities,
            array_agg(CASE WHEN i.identity_id IS NOT NULL THEN m.due_day END ORDER BY u.o) AS days
        INTO v FROM unnest(p_messages, p_keys) WITH ORDINALITY AS u(message, key, o)
        LEFT JOIN gateway.identity i
            ON i.tenant_id = p_tenant AND i.app_id = p_app AND i.key = u.key AND i.vendor = p_vendor
        LEFT JOIN gateway.message m ON m.tenant_id = p_tenant AND m.message_id = u.message AND m.app_id = p_app;
    v_outcomes := gateway.settle_receipts(p_tenant, p_app, v.identities, p_messages, v.days, p_kinds, p_at, p_node);
    RETURN QUERY SELECT k, v_outcomes[k] FROM generate_subscripts(v_outcomes, 1) AS k ORDER BY k;
END $$;

REVOKE ALL ON FUNCTION gateway.record_receipts FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.record_receipts TO gateway_call, gateway_engine;
