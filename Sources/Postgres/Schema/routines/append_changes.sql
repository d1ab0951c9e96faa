-- Appends one event per identity or device, given as parallel arrays. Must be the last statement of its transaction, like `append_events`.
CREATE OR REPLACE FUNCTION gateway.append_changes(
    p_tenant text, p_kinds text[], p_apps text[], p_vendors text[], p_identities uuid[], p_devices uuid[], p_data json[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint := cardinality(p_kinds);
    v_last bigint;
BEGIN
    IF coalesce(v_count, 0) = 0 THEN RETURN; END IF;
    INSERT INTO gateway.event_head AS h (tenant_id, last) VALUES (p_tenant, v_count)
        ON CONFLICT (tenant_id) DO UPDATE SET last = h.last + excluded.last
        RETURNING h.last INTO v_last;
    INSERT INTO gateway.event (tenant_id, position, at, kind, app_id, vendor, identity_id, device_id, data)
        SELECT p_tenant, v_last - v_count + u.o, now(), u.kind, u.app, u.vendor, u.identity, u.device, u.data
        FROM unnest(p_kinds, p_apps, p_vendors, p_identities, p_devices, p_data) WITH ORDINALITY
            AS u(kind, app, vendor, identity, device, data, o)
        ON CONFLICT DO NOTHING;
END $$;

REVOKE ALL ON FUNCTION gateway.append_changes FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.append_changes TO gateway_call, gateway_engine;
