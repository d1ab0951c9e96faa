-- Appends p_count events of one app, vendor, sender, kind and previous state and returns the last position. Each array has no element, one element (the same
-- for all events) or p_count elements. `log_events` and `append_changes` call it; events of an identity or device have no message.
--
-- Takes the tenant's event lock, which ends with the transaction: no event commits before an event with a lower position, and readers miss none. So it comes
-- last in its transaction, after all other locks except those of forwarded calls.
CREATE OR REPLACE FUNCTION gateway.write_events(
    p_tenant text, p_app text, p_vendor text, p_sender text, p_kind text, p_before text, p_count integer, p_messages uuid[],
    p_due_days integer[], p_targets uuid[], p_reasons text[], p_identities uuid[], p_devices uuid[], p_data json[])
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_at timestamptz;
    v_day integer;
    v_last_day integer;
    v_last bigint;
    v_size integer := 480;
    v_to integer;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'events', '');
    -- Under the lock, because the start of the transaction may be long ago: times and days then have the order of the positions.
    v_at := clock_timestamp();
    v_day := (v_at AT TIME ZONE 'UTC')::date - DATE '1970-01-01';
    SELECT p.last, p.day INTO v_last, v_last_day FROM gateway.event_position p WHERE p.tenant_id = p_tenant ORDER BY p.last DESC LIMIT 1;
    -- The day never decreases, also when the server's clock does: retention removes whole days, and no log may get a gap.
    v_day := greatest(v_day, v_last_day);
    v_last := coalesce(v_last, 0) + p_count;
    INSERT INTO gateway.event_position (tenant_id, last, day) VALUES (p_tenant, v_last, v_day);
    -- A row stays on one page.
    IF cardinality(p_messages) > 1 OR cardinality(p_reasons) > 1 OR cardinality(p_identities) > 1 OR cardinality(p_data) > 1 THEN
        v_size := 160;
    END IF;
    IF p_count <= v_size THEN
        INSERT INTO gateway.event_batch
                (tenant_id, last, at, day, count, app_id, vendor, sender_id, kind, before, messages, due_days, targets, reasons,
                identities, devices, data)
            VALUES (p_tenant, v_last, v_at, v_day, p_count, p_app, p_vendor, p_sender, p_kind, p_before, p_messages, p_due_days, p_targets,
                p_reasons, p_identities, p_devices, p_data);
        RETURN v_last;
    END IF;

    FOR v_from IN 1 .. p_count BY v_size LOOP
        v_to := least(v_from + v_size - 1, p_count);
        INSERT INTO gateway.event_batch
                (tenant_id, last, at, day, count, app_id, vendor, sender_id, kind, before, messages, due_days, targets, reasons,
                identities, devices, data)
            VALUES (p_tenant, v_last - p_count + v_to, v_at, v_day, v_to - v_from + 1, p_app, p_vendor, p_sender, p_kind, p_before,
                CASE WHEN cardinality(p_messages) > 1 THEN p_messages[v_from:v_to] ELSE p_messages END,
                CASE WHEN cardinality(p_due_days) > 1 THEN p_due_days[v_from:v_to] ELSE p_due_days END,
                CASE WHEN cardinality(p_targets) > 1 THEN p_targets[v_from:v_to] ELSE p_targets END,
                CASE WHEN cardinality(p_reasons) > 1 THEN p_reasons[v_from:v_to] ELSE p_reasons END,
                CASE WHEN cardinality(p_identities) > 1 THEN p_identities[v_from:v_to] ELSE p_identities END,
                CASE WHEN cardinality(p_devices) > 1 THEN p_devices[v_from:v_to] ELSE p_devices END,
                CASE WHEN cardinality(p_data) > 1 THEN p_data[v_from:v_to] ELSE p_data END);
    END LOOP;
    RETURN v_last;
END $$;

REVOKE ALL ON FUNCTION gateway.write_events FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.write_events TO gateway_call, gateway_engine;
