-- Appends one event per identity or device, given as parallel arrays; vendors, identities, devices and data may be null as a whole. Must be the last step of
-- its transaction that locks anything (`write_events`). The events of each kind, app and vendor stay in the order of the arrays.
CREATE OR REPLACE FUNCTION gateway.append_changes(
    p_tenant text, p_kinds text[], p_apps text[], p_vendors text[], p_identities uuid[], p_devices uuid[], p_data json[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_data text[] := p_data::text[];
    v_last bigint;
    g record;
BEGIN
    IF coalesce(cardinality(p_kinds), 0) = 0 THEN RETURN; END IF;
    IF p_kinds[1] = ALL (p_kinds) AND p_apps[1] = ALL (p_apps) AND (p_vendors IS NULL OR p_vendors[1] = ALL (p_vendors)) THEN
        v_last := gateway.write_events(
            p_tenant => p_tenant, p_app => p_apps[1], p_vendor => p_vendors[1], p_sender => NULL, p_kind => p_kinds[1],
            p_before => NULL, p_count => cardinality(p_kinds), p_messages => NULL, p_due_days => NULL, p_targets => NULL,
            p_reasons => NULL, p_identities => p_identities, p_devices => p_devices,
            p_data => CASE WHEN v_data[1] = ALL (v_data) THEN p_data[1:1] ELSE p_data END);
        RETURN;
    END IF;

    -- The order of kinds is that in which they can affect one identity.
    FOR g IN
        SELECT u.kind, u.app, u.vendor, count(*)::integer AS events, array_agg(u.identity ORDER BY u.o) AS identities,
            array_agg(u.device ORDER BY u.o) AS devices, array_agg(u.data ORDER BY u.o) AS data
        FROM unnest(p_kinds, p_apps, p_vendors, p_identities, p_devices, p_data) WITH ORDINALITY
            AS u(kind, app, vendor, identity, device, data, o)
        GROUP BY u.kind, u.app, u.vendor
        ORDER BY array_position(ARRAY['replaced', 'unregistered', 'registered', 'moved', 'vouched', 'possession', 'preference_changed'], u.kind), min(u.o)
    LOOP
        v_last := gateway.write_events(
            p_tenant => p_tenant, p_app => g.app, p_vendor => g.vendor, p_sender => NULL, p_kind => g.kind, p_before => NULL,
            p_count => g.events, p_messages => NULL, p_due_days => NULL, p_targets => NULL, p_reasons => NULL,
            p_identities => CASE WHEN p_identities IS NOT NULL THEN g.identities END,
            p_devices => CASE WHEN p_devices IS NOT NULL THEN g.devices END, p_data => CASE WHEN p_data IS NOT NULL THEN g.data END);
    END LOOP;
END $$;

REVOKE ALL ON FUNCTION gateway.append_changes FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.append_changes TO gateway_call, gateway_engine;
