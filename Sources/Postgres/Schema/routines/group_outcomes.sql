-- The groups of `record_outcomes` for deliveries that were written in this transaction, with the receipts that were recorded before their outcomes.
CREATE OR REPLACE FUNCTION gateway.group_outcomes(p_tenant text, p_message uuid, p_due_day integer, p_targets uuid[])
RETURNS json LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_groups json;
BEGIN
    WITH r AS (
        SELECT d.device_vendor AS device, coalesce(d.transport, '') AS transport, d.reason, d.received_at, d.read_at,
            gateway.stage_of(d.state, d.transport, d.is_certain) AS stage, d.state = 'expired' AND d.attempts > 0 AS was_tried
        FROM unnest(p_targets) AS u(target)
        CROSS JOIN LATERAL (
            SELECT x.device_vendor, x.transport, x.reason, x.received_at, x.read_at, x.state, x.is_certain, x.attempts FROM gateway.delivery x
            WHERE x.tenant_id = p_tenant AND x.due_day = p_due_day AND x.message_id = p_message AND x.target_id = u.target OFFSET 0) AS d),
    w AS (
        SELECT r.device, r.transport, json_object_agg(r.stage || ':' || r.reason, r.count) AS reasons FROM (
            SELECT r.device, r.transport, r.stage, r.reason, count(*) AS count FROM r
            WHERE r.reason IS NOT NULL AND r.stage IN ('suppressed', 'unsendable', 'rejected')
            GROUP BY r.device, r.transport, r.stage, r.reason) r
        GROUP BY r.device, r.transport),
    g AS (
        SELECT r.device, r.transport, count(*) FILTER (WHERE r.stage = 'suppressed') AS suppressed,
            count(*) FILTER (WHERE r.stage = 'canceled') AS canceled, count(*) FILTER (WHERE r.stage = 'expired') AS expired,
            count(*) FILTER (WHERE r.was_tried) AS expired_tried, count(*) FILTER (WHERE r.stage = 'unsendable') AS unsendable,
            count(*) FILTER (WHERE r.stage = 'accepted') AS accepted, count(*) FILTER (WHERE r.stage = 'uncertain') AS uncertain,
            count(*) FILTER (WHERE r.stage = 'rejected') AS rejected,
            count(r.received_at) FILTER (WHERE r.stage IN ('accepted', 'uncertain')) AS received,
            count(r.read_at) FILTER (WHERE r.stage IN ('accepted', 'uncertain')) AS read
        FROM r GROUP BY r.device, r.transport)
    SELECT json_agg(json_build_object(
            'device', g.device, 'transport', g.transport, 'suppressed', g.suppressed, 'canceled', g.canceled, 'expired', g.expired,
            'expired_tried', g.expired_tried, 'unsendable', g.unsendable, 'accepted', g.accepted, 'uncertain', g.uncertain,
            'rejected', g.rejected, 'received', g.received, 'read', g.read, 'reasons', w.reasons))
        INTO v_groups FROM g LEFT JOIN w ON w.transport = g.transport AND w.device IS NOT DISTINCT FROM g.device;
    RETURN v_groups;
END $$;

REVOKE ALL ON FUNCTION gateway.group_outcomes FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.group_outcomes TO gateway_engine;
