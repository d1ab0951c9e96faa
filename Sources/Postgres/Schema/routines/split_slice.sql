-- Moves targets of a slice into a slice of their own, after `record_outcomes` has put the slice back: they wait for something else than the rest, or longer.
-- Returns the number of targets moved.
--
-- p_moves_due: they are outside their hours, so that they are due when the wait ends.
--
-- Their places stay in the slice as done, with an empty target. So a place means the same target under every lease of the slice, and each lookup finds a
-- target once. A repeated call finds none of its targets in the slice and changes nothing.
CREATE OR REPLACE FUNCTION gateway.split_slice(
    p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_targets uuid[], p_attempts smallint, p_after interval, p_held text,
    p_dead text, p_moves_due boolean DEFAULT false)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    m record;
    s record;
    v record;
    v_next integer;
    v_done bytea;
    v_place integer;
    v_due timestamptz := now() + p_after;
BEGIN
    SELECT state, expires_at INTO m FROM gateway.message
        WHERE tenant_id = p_tenant AND message_id = p_message FOR NO KEY UPDATE;
    SELECT lane, due_day, targets, addresses, done, first_target, due_at, route_version, guarded_at INTO s FROM gateway.slice
        WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no AND epoch = p_epoch AND state = 'ready' FOR UPDATE;
    IF NOT FOUND THEN RETURN 0; END IF;
    SELECT array_agg(u.place::integer ORDER BY u.place) FILTER (WHERE x.target IS NOT NULL) AS places,
            array_agg(u.target ORDER BY u.place) FILTER (WHERE x.target IS NOT NULL) AS targets,
            array_agg(u.address ORDER BY u.place) FILTER (WHERE x.target IS NOT NULL) AS addresses,
            array_agg(CASE WHEN x.target IS NULL THEN u.target ELSE '00000000-0000-0000-0000-000000000000' END ORDER BY u.place) AS rest,
            array_agg(CASE WHEN x.target IS NULL THEN u.address ELSE '' END ORDER BY u.place) AS rest_addresses
        INTO v FROM unnest(s.targets, s.addresses) WITH ORDINALITY AS u(target, address, place)
        LEFT JOIN unnest(p_targets) AS x(target) ON x.target = u.target;
    IF v.places IS NULL THEN RETURN 0; END IF;

    v_done := s.done || decode(repeat('00', greatest(0, (cardinality(s.targets) + 7) / 8 - length(s.done))), 'hex');
    FOREACH v_place IN ARRAY v.places LOOP
        v_done := set_bit(v_done, v_place - 1, 1);
    END LOOP;
    UPDATE gateway.slice SET done = v_done, targets = v.rest,
            addresses = CASE WHEN cardinality(s.addresses) > 0 THEN v.rest_addresses ELSE s.addresses END
        WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no;

    SELECT max(no) + 1 INTO v_next FROM gateway.slice WHERE tenant_id = p_tenant AND message_id = p_message;
    INSERT INTO gateway.slice
            (tenant_id, message_id, no, lane, kind, due_day, targets, addresses, state, next_at, resume_at, attempts, held_by,
            dead_reason, first_target, due_at, route_version, guarded_at, epoch)
        VALUES (p_tenant, p_message, v_next, s.lane, 'deliver', s.due_day, v.targets,
            CASE WHEN cardinality(s.addresses) > 0 THEN v.addresses ELSE '{}' END, 'ready',
            CASE WHEN m.state = 'canceled' THEN now()
                -- As in `record_outcomes`.
                WHEN p_dead IS NOT NULL THEN greatest(m.expires_at, now() + interval '1 hour')
                WHEN m.state = 'paused' THEN m.expires_at ELSE v_due END,
            CASE WHEN m.state = 'paused' AND p_dead IS NULL THEN v_due END, p_attempts, p_held, p_dead,
            s.first_target, CASE WHEN p_moves_due THEN v_due ELSE s.due_at END, s.route_version, s.guarded_at,
            -- Its targets had a lease (`route_slice`).
            1);
    INSERT INTO gateway.message_open (tenant_id, message_id) VALUES (p_tenant, p_message) ON CONFLICT DO NOTHING;
    IF p_dead IS NOT NULL THEN
        UPDATE gateway.message SET dead_slices = dead_slices + 1 WHERE tenant_id = p_tenant AND message_id = p_message;
        PERFORM gateway.settle_message(p_tenant, p_message);
    ELSIF m.state = 'dead' THEN
        -- The rest of the slice gave up in this transaction.
        UPDATE gateway.message SET state = 'sending' WHERE tenant_id = p_tenant AND message_id = p_message;
    END IF;
    RETURN cardinality(v.places);
END $$;

REVOKE ALL ON FUNCTION gateway.split_slice FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.split_slice TO gateway_engine;
