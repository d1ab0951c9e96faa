-- Makes deliveries anonymous that were recorded after the erasure of their identities, for up to p_limit identities whose turn it is. Returns their number.
-- A node that was sending during the erasure reports within minutes. The searches of an identity are each twice as late as the one before, and end after a day.
CREATE OR REPLACE FUNCTION gateway.erase_late(p_tenant text, p_limit integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_identities uuid[];
    v_messages uuid[];
    v record;
BEGIN
    v_identities := ARRAY(
        SELECT e.identity_id FROM gateway.erased_identity e WHERE e.tenant_id = p_tenant AND e.next_at <= now()
        ORDER BY e.next_at LIMIT p_limit FOR UPDATE SKIP LOCKED);
    IF cardinality(v_identities) = 0 THEN RETURN 0; END IF;
    DELETE FROM gateway.erased_identity
        WHERE tenant_id = p_tenant AND identity_id = ANY (v_identities) AND erased_at < now() - interval '1 day';
    -- The times are computed beforehand: Citus refuses a time that an UPDATE computes from a column and an interval.
    SELECT array_agg(e.identity_id) AS identities, array_agg(now() + greatest(now() - e.erased_at, interval '1 minute')) AS nexts INTO v
        FROM gateway.erased_identity e WHERE e.tenant_id = p_tenant AND e.identity_id = ANY (v_identities);
    UPDATE gateway.erased_identity e SET next_at = u.next_at FROM unnest(v.identities, v.nexts) AS u(identity, next_at)
        WHERE e.tenant_id = p_tenant AND e.identity_id = u.identity;
    WITH d AS (
        UPDATE gateway.delivery SET identity_id = NULL, device_id = NULL, user_id = NULL, address = NULL
        WHERE tenant_id = p_tenant AND identity_id = ANY (v_identities)
        RETURNING message_id)
    SELECT coalesce(array_agg(DISTINCT d.message_id), '{}') INTO v_messages FROM d;
    IF cardinality(v_messages) > 0 THEN
        PERFORM gateway.forget_content(p_tenant, v_messages, v_identities);
    END IF;
    RETURN cardinality(v_identities);
END $$;

REVOKE ALL ON FUNCTION gateway.erase_late FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.erase_late TO gateway_engine;
