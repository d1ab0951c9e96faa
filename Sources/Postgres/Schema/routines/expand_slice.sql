-- Turns the next page of an audience into slices. outcome: page, finished, or fenced (another node holds the slice, or the message is not being sent).
--
-- Where time zones, quiet hours or windows matter, targets are grouped by due time, and each group gets slices of its own. A page of everyone is then ten
-- times as long, because otherwise the groups would be small; a page of an audience already looks at twenty times as many candidates. Where they do not
-- matter, the cost is one lookup of the app.
--
-- The last page ends the expansion, except for a message to variants: `expand_variants` rewrites its slices afterwards, and only then is the number of
-- targets known.
--
-- The native API sends to all vendors' identities, but only once to each device; so does a vendor's send in an app with `crossDialectSends`. Pages select devices by their first identities that match, and
-- `receiving_identities` then replaces these by the identities that receive the send, with the dialects of p_prefer first. That is done once: retries keep it.
-- p_prefer null: the dialects that the rules prefer which were in force at the first page, for all pages.
CREATE OR REPLACE FUNCTION gateway.expand_slice(
    p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_page integer, p_slice_size integer,
    p_prefer text[] DEFAULT NULL)
RETURNS TABLE (outcome text, targets bigint, after uuid)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    s gateway.slice;
    m gateway.message;
    v_ids uuid[];
    -- The identities by which the audience selected the devices of v_ids, in the same places.
    v_matched uuid[];
    v_part uuid[];
    -- The identity by which the first target of v_part was selected.
    v_start uuid;
    v_count integer;
    v_first integer;
    v_slices integer;
    v_ended boolean := true;
    v_finishes boolean;
    v_is_timed boolean := false;
    v_crosses boolean;
    -- Whether the identities that matched are, over all pages, in the order of their ids.
    v_is_ordered boolean;
    p record;
    v_app record;
    v_group record;
BEGIN
    SELECT * INTO m FROM gateway.message WHERE tenant_id = p_tenant AND message_id = p_message FOR NO KEY UPDATE;
    SELECT * INTO s FROM gateway.slice
        WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no AND epoch = p_epoch AND owner = p_owner
            AND state = 'leased' FOR UPDATE;
    IF NOT FOUND THEN RETURN QUERY SELECT 'fenced', 0::bigint, NULL::uuid; RETURN; END IF;

    IF m.state = 'paused' THEN
        UPDATE gateway.slice SET state = 'ready', owner = NULL, epoch = epoch + 1, lapses = 0, resume_at = now(), next_at = m.expires_at
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no;
        RETURN QUERY SELECT 'fenced', 0::bigint, NULL::uuid;
        RETURN;
    END IF;
    IF m.state IN ('scheduled', 'expanding', 'sending', 'dead') THEN
        SELECT x.defaults, x.uses_windows, x.route_version INTO v_app FROM gateway.app x WHERE x.tenant_id = p_tenant AND x.app_id = m.app_id;
        v_is_timed := m.due_local IS NOT NULL OR v_app.defaults->'quiet'->'lanes' @> to_jsonb(m.lane)
            OR v_app.uses_windows AND gateway.heeds_windows(v_app.defaults, m.lane);
        v_crosses := m.vendor = 'native' OR m.content->'variants' IS NULL AND (v_app.defaults->>'crossDialectSends' = 'true') IS TRUE;
        IF v_is_timed AND m.audience IS NULL THEN p_page := greatest(p_page, least(p_page * 10, 5000)); END IF;
        SELECT * INTO p FROM gateway.audience_page(
            p_tenant, m.app_id, m.vendor, m.audience, p_page, s.after_user, s.after_vendor, s.after, v_crosses);
        v_matched := p.o_ids;
        v_ids := v_matched;
        IF v_crosses THEN
            IF p_prefer IS NULL THEN
                s.route_version := coalesce(s.route_version, v_app.route_version);
                IF s.route_version IS NOT NULL THEN
                    p_prefer := gateway.dialects_of_version(
                        p_tenant, m.app_id, s.route_version, (ARRAY['urgent', 'transactional', 'bulk', 'background'])[m.lane + 1]);
                END IF;
            END IF;
            v_ids := gateway.receiving_identities(
                p_tenant, m.app_id, v_matched, p_prefer,
                -- Notification Hubs name a user by a tag.
                m.audience->'users' IS NOT NULL OR m.audience->'groups' IS NOT NULL OR (m.audience::text ILIKE '%$userid:%') IS TRUE,
                m.content->>'consent' IS NOT DISTINCT FROM 'all');
        END IF;
        v_ended := p.o_ended;
        s.after_user := p.io_user;
        s.after_vendor := p.io_dialect;
        s.after := p.io_after;
    END IF;
    v_count := coalesce(cardinality(v_ids), 0);

    v_slices := 0;
    v_finishes := v_ended AND (v_count = 0 OR m.content->'variants' IS NULL);
    UPDATE gateway.slice SET after_user = s.after_user, after_vendor = s.after_vendor, after = s.after, lapses = 0, route_version = s.route_version,
            state = CASE WHEN v_finishes THEN 'done' ELSE state END, owner = CASE WHEN v_finishes THEN NULL ELSE owner END
        WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no;
    IF v_count = 0 AND NOT v_finishes THEN
        -- None of the candidates matched: only the cursor moves, and the transaction stays short.
        UPDATE gateway.message SET state = 'expanding' WHERE tenant_id = p_tenant AND message_id = p_message AND state = 'scheduled';
        RETURN QUERY SELECT 'page', 0::bigint, coalesce(s.after, '00000000-0000-0000-0000-000000000000'::uuid);
        RETURN;
    END IF;
    IF v_count > 0 THEN
        v_is_ordered := (m.audience IS NULL OR m.audience->'tags' IS NOT NULL) AND m.content->'variants' IS NULL;
        SELECT max(x.no) + 1 INTO v_first FROM gateway.slice x WHERE x.tenant_id = p_tenant AND x.message_id = p_message;
        IF v_is_timed THEN
            FOR v_group IN
                SELECT x.due, x.ids, x.due_at FROM gateway.group_by_due(
                    p_tenant, m.lane, m.due_at, m.due_local, m.expires_at, v_app.defaults, v_ids) AS x
            LOOP
                FOR k IN 0 .. (cardinality(v_group.ids) - 1) / p_slice_size LOOP
                    v_part := v_group.ids[k * p_slice_size + 1 : (k + 1) * p_slice_size];
                    v_start := CASE WHEN v_is_ordered THEN v_matched[array_position(v_ids, v_part[1])] END;
                    INSERT INTO gateway.slice (tenant_id, message_id, no, lane, kind, due_day, targets, state, next_at, first_target, due_at)
                        VALUES (p_tenant, p_message, v_first + v_slices, m.lane, 'deliver', m.due_day,
                            v_part, 'ready', v_group.due, v_start,
                            CASE WHEN v_group.due_at <> m.due_at OR m.due_local IS NOT NULL THEN v_group.due_at END);
                    v_slices := v_slices + 1;
                END LOOP;
            END LOOP;
        ELSE
            v_slices := (v_count + p_slice_size - 1) / p_slice_size;
            FOR k IN 0 .. v_slices - 1 LOOP
                -- Beforehand, because Citus would send the whole page with each row.
                v_part := v_ids[k * p_slice_size + 1 : (k + 1) * p_slice_size];
                v_start := CASE WHEN v_is_ordered THEN v_matched[k * p_slice_size + 1] END;
                INSERT INTO gateway.slice (tenant_id, message_id, no, lane, kind, due_day, targets, state, next_at, first_target)
                    VALUES (p_tenant, p_message, v_first + k, m.lane, 'deliver', m.due_day,
                        v_part, 'ready', greatest(m.due_at, now()), v_start);
            END LOOP;
        END IF;
    END IF;
    IF NOT v_finishes THEN
        UPDATE gateway.message SET expanded = expanded + v_count, state = 'expanding' WHERE tenant_id = p_tenant AND message_id = p_message;
    ELSE
        UPDATE gateway.message SET expanded = expanded + v_count, recipients = expanded + v_count,
                state = CASE WHEN state IN ('scheduled', 'expanding', 'dead') THEN 'sending' ELSE state END
            WHERE tenant_id = p_tenant AND message_id = p_message;
        PERFORM gateway.settle_message(p_tenant, p_message);
    END IF;
    IF v_count > 0 THEN
        PERFORM gateway.append_counts(
            p_tenant, m.app_id, m.vendor, m.due_at, CASE WHEN m.is_counted THEN p_message END, p_targets => v_count);
    END IF;
    IF NOT v_finishes THEN
        -- Between two users the walk is not at an identity.
        RETURN QUERY SELECT 'page', v_count::bigint, coalesce(s.after, '00000000-0000-0000-0000-000000000000'::uuid);
        RETURN;
    END IF;
    IF m.state IN ('scheduled', 'expanding', 'sending', 'dead') THEN
        RETURN QUERY SELECT 'finished', m.expanded + v_count, NULL::uuid;
    ELSE
        RETURN QUERY SELECT 'fenced', 0::bigint, NULL::uuid;
    END IF;
END $$;

REVOKE ALL ON FUNCTION gateway.expand_slice FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.expand_slice TO gateway_engine;
