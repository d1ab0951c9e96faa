-- Time zones, receiving windows, quiet hours: slices come due when their targets may be rung.

-- The zone of its clock (IANA), null: the app's. When it may be rung: its first and last minute of the day, 0 to 1439; null: always.
ALTER TABLE gateway.device ADD COLUMN time_zone text, ADD COLUMN window_from smallint, ADD COLUMN window_to smallint;
-- Whether a device of it ever had a window: without, no expansion looks at a device. Never taken back.
ALTER TABLE gateway.app ADD COLUMN uses_windows boolean NOT NULL DEFAULT false;
GRANT UPDATE (uses_windows) ON gateway.app TO gateway_call;
-- What the wall clock of each device's zone must show, in seconds since 1970-01-01T00:00 as that clock counts them; null: everybody is due at `due_at`.
-- With it `due_at` is when the first zone has it (UTC+14), and `expires_at` counts from the last (UTC-12).
ALTER TABLE gateway.message ADD COLUMN due_local bigint;

-- `app.defaults`, as `TimingCoding` writes it, holds the app's part:
-- {"timeZone": "Asia/Seoul", "quiet": {"from": 1320, "to": 420, "zone": null, "lanes": [2, 3], "hold": "delay"},
--  "windows": {"lanes": [1, 2, 3], "hold": "delay"}, "cap": {"count": 5, "seconds": 86400}}

-- p_zone if the server knows it, else p_default, else UTC. A name that only the gateway's table has must not stop an expansion.
CREATE FUNCTION gateway.known_zone(p_zone text, p_default text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF p_zone IS NOT NULL THEN
        BEGIN
            PERFORM now() AT TIME ZONE p_zone;
            RETURN p_zone;
        EXCEPTION WHEN invalid_parameter_value THEN
            NULL;
        END;
    END IF;
    RETURN CASE WHEN p_default IS NULL THEN 'UTC' ELSE gateway.known_zone(p_default, NULL) END;
END $$;

-- When a daily window is open next: p_at itself, or later. `DailyWindow.opening`.
CREATE FUNCTION gateway.opens_at(p_at timestamptz, p_zone text, p_from integer, p_to integer) RETURNS timestamptz
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_local timestamp := p_at AT TIME ZONE p_zone;
    v_minute integer := extract(hour FROM v_local)::integer * 60 + extract(minute FROM v_local)::integer;
    v_start timestamp;
BEGIN
    IF (v_minute - p_from + 1440) % 1440 <= (p_to - p_from + 1440) % 1440 THEN RETURN p_at; END IF;
    v_start := date_trunc('day', v_local) + p_from * interval '1 minute';
    IF v_start <= v_local THEN v_start := v_start + interval '1 day'; END IF;
    RETURN v_start AT TIME ZONE p_zone;
END $$;

-- When a device's slice should come due: `TimingRules.slot`. Null ends: no such hours, or they let nothing wait. Quiet from p_quiet_from until
-- before p_quiet_to; a window's last minute belongs to it.
CREATE FUNCTION gateway.due_of(
    p_now timestamptz, p_due timestamptz, p_local bigint, p_expires timestamptz, p_zone text,
    p_quiet_zone text, p_quiet_from integer, p_quiet_to integer, p_from integer, p_to integer)
RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
DECLARE
    -- greatest and least pass over null: without a local time these are the message's.
    v_due timestamptz := greatest(p_due, (timestamp '1970-01-01' + p_local * interval '1 second') AT TIME ZONE p_zone);
    v_end timestamptz := least(p_expires, v_due + (p_expires - (to_timestamp(p_local) + interval '12 hours')));
    v_start timestamptz := greatest(p_now, v_due);
    v_open timestamptz := v_start;
    v_before timestamptz;
BEGIN
    -- Two daily windows overlap where one of them begins, or nowhere.
    FOR k IN 1 .. 4 LOOP
        v_before := v_open;
        IF p_quiet_from IS NOT NULL THEN
            v_open := gateway.opens_at(v_open, p_quiet_zone, p_quiet_to, (p_quiet_from + 1439) % 1440);
        END IF;
        IF p_from IS NOT NULL THEN v_open := gateway.opens_at(v_open, p_zone, p_from, p_to); END IF;
        IF v_open = v_before THEN RETURN CASE WHEN v_open < v_end THEN v_open ELSE v_start END; END IF;
    END LOOP;
    RETURN v_start;
END $$;

-- Whether the app looks at its devices' windows in a lane.
CREATE FUNCTION gateway.heeds_windows(p_defaults jsonb, p_lane smallint) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN coalesce(p_defaults->'windows'->'lanes', '[1, 2, 3]') @> to_jsonb(p_lane);
END $$;

-- Targets by when they are due, the earliest first: by quarters of an hour, each due with its first. Zone and window of many devices are the same:
-- each such pair is looked at once.
CREATE FUNCTION gateway.group_by_due(
    p_tenant text, p_lane smallint, p_due timestamptz, p_local bigint, p_expires timestamptz, p_defaults jsonb, p_ids uuid[])
RETURNS TABLE (due timestamptz, ids uuid[])
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_zone text := gateway.known_zone(p_defaults->>'timeZone', NULL);
    v_quiet jsonb := p_defaults->'quiet';
    v_quiet_zone text := v_quiet->>'zone';
    v_quiet_from integer;
    v_quiet_to integer;
    v_heeds boolean := gateway.heeds_windows(p_defaults, p_lane) AND coalesce(p_defaults->'windows'->>'hold', 'delay') = 'delay';
BEGIN
    IF v_quiet->'lanes' @> to_jsonb(p_lane) AND v_quiet->>'hold' = 'delay' THEN
        v_quiet_from := (v_quiet->>'from')::integer;
        v_quiet_to := (v_quiet->>'to')::integer;
    END IF;
    IF v_quiet_zone IS NOT NULL THEN v_quiet_zone := gateway.known_zone(v_quiet_zone, v_zone); END IF;
    RETURN QUERY
        WITH t AS (
            SELECT u.id, u.place, x.time_zone, x.window_from, x.window_to, concat_ws('/', x.time_zone, x.window_from, x.window_to) AS clock
            FROM unnest(p_ids) WITH ORDINALITY AS u(id, place)
            -- OFFSET 0: by the keys, also while the tables have no statistics.
            LEFT JOIN LATERAL (
                SELECT d.time_zone, d.window_from, d.window_to FROM gateway.identity i
                JOIN gateway.device d ON d.tenant_id = p_tenant AND d.device_id = i.device_id
                WHERE i.tenant_id = p_tenant AND i.identity_id = u.id OFFSET 0) AS x ON true),
        z AS (
            SELECT t.clock, gateway.known_zone(min(t.time_zone), v_zone) AS zone, min(t.window_from)::integer AS window_from,
                min(t.window_to)::integer AS window_to
            FROM t GROUP BY t.clock),
        c AS MATERIALIZED (
            SELECT z.clock, gateway.due_of(
                now(), p_due, p_local, p_expires, z.zone, coalesce(v_quiet_zone, z.zone), v_quiet_from, v_quiet_to,
                CASE WHEN v_heeds THEN z.window_from END, z.window_to) AS due
            FROM z)
        SELECT min(c.due), array_agg(t.id ORDER BY t.place) FROM t JOIN c ON c.clock = t.clock
        GROUP BY floor(extract(epoch FROM c.due) / 900) ORDER BY 1;
END $$;

-- Zone and window of a device; null stays as it is, a window of the whole day is none. The app, or null when there is no such device.
CREATE FUNCTION gateway.set_clock(p_tenant text, p_device uuid, p_zone text, p_from integer, p_to integer)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_app text;
    v_is_whole boolean := (p_to - p_from + 1440) % 1440 = 1439;
BEGIN
    UPDATE gateway.device d SET time_zone = coalesce(p_zone, d.time_zone),
            window_from = CASE WHEN v_is_whole THEN NULL ELSE coalesce(p_from, d.window_from) END,
            window_to = CASE WHEN v_is_whole THEN NULL ELSE coalesce(p_to, d.window_to) END
        WHERE d.tenant_id = p_tenant AND d.device_id = p_device
        RETURNING d.app_id INTO v_app;
    IF NOT v_is_whole THEN
        UPDATE gateway.app SET uses_windows = true WHERE tenant_id = p_tenant AND app_id = v_app AND NOT uses_windows;
    END IF;
    RETURN v_app;
END $$;

-- A registration that says something of its clock; without tags p_tags is null.
CREATE FUNCTION gateway.register_timed(
    p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid,
    p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text,
    p_replaces_phone boolean, p_attributes json, p_at timestamptz, p_tags text[], p_zone text, p_from integer, p_to integer)
RETURNS TABLE (identity_id uuid, device_id uuid, platform text, was_active boolean, replaced uuid[])
LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    SELECT * INTO r FROM gateway.register_noted(
        p_tenant, p_app, p_vendor, p_key, p_identity, p_device, p_platform, p_environment, p_token, p_user, p_name, p_phone,
        p_raw_phone, p_replaces_phone, p_attributes, p_at);
    IF p_tags IS NOT NULL THEN PERFORM gateway.set_tags(p_tenant, r.identity_id, p_tags); END IF;
    PERFORM gateway.set_clock(p_tenant, r.device_id, p_zone, p_from, p_to);
    RETURN QUERY SELECT r.identity_id, r.device_id, r.platform, r.was_active, r.replaced;
END $$;

-- After import_identities, of the same rows: parallel arrays; of two rows with one key the later counts. Device by device in their order, so that two
-- imports wait for each other and never in a ring.
CREATE FUNCTION gateway.import_clocks(
    p_tenant text, p_app text, p_vendor text, p_keys text[], p_zones text[], p_from integer[], p_to integer[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    FOR r IN
        SELECT i.device_id, u.zone, u.first, u.last FROM unnest(p_keys, p_zones, p_from, p_to) WITH ORDINALITY AS u(key, zone, first, last, o)
        CROSS JOIN LATERAL (
            SELECT x.device_id FROM gateway.identity x
            WHERE x.tenant_id = p_tenant AND x.app_id = p_app AND x.vendor = p_vendor AND x.key = u.key OFFSET 0) AS i
        WHERE u.zone IS NOT NULL OR u.first IS NOT NULL ORDER BY i.device_id, u.o
    LOOP
        PERFORM gateway.set_clock(p_tenant, r.device_id, r.zone, r.first, r.last);
    END LOOP;
END $$;

-- As before, and with a schedule in each device's zone and slices that are due later than the message: their due times, null for those that are due
-- with it. Nodes of the version before call it without.
DROP FUNCTION gateway.accept_message;
CREATE FUNCTION gateway.accept_message(
    p_tenant text, p_app text, p_vendor text, p_id uuid, p_sender text, p_content json, p_collapse text, p_lane smallint,
    p_accepted timestamptz, p_due timestamptz, p_due_day integer, p_expires timestamptz, p_fallback json, p_recipients bigint,
    p_media_id text, p_media_hash text, p_key text, p_body_hash text,
    p_slice_numbers integer[], p_slice_kinds text[], p_slice_ends integer[], p_targets uuid[], p_addresses text[],
    p_holder text, p_lease interval, p_node text,
    p_sup_targets uuid[], p_sup_identities uuid[], p_sup_devices uuid[], p_sup_addresses text[], p_sup_reasons text[],
    p_audience json DEFAULT NULL, p_due_local bigint DEFAULT NULL, p_slice_dues timestamptz[] DEFAULT NULL)
RETURNS TABLE (outcome text, message_id uuid, recipients bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_old gateway.idempotency;
    v_slices integer := cardinality(p_slice_numbers);
    v_suppressed integer := cardinality(p_sup_targets);
    v_from integer := 1;
    v_holder text;
    v_next timestamptz;
BEGIN
    IF p_key IS NOT NULL THEN
        INSERT INTO gateway.idempotency (tenant_id, app_id, vendor, key, body_hash, message_id, recipients, created_at)
            VALUES (p_tenant, p_app, p_vendor, p_key, p_body_hash, p_id, p_recipients, now())
            ON CONFLICT (tenant_id, app_id, vendor, key) DO NOTHING;
        IF NOT FOUND THEN
            SELECT * INTO v_old FROM gateway.idempotency y
                WHERE y.tenant_id = p_tenant AND y.app_id = p_app AND y.vendor = p_vendor AND y.key = p_key;
            IF v_old.body_hash = p_body_hash THEN
                RETURN QUERY SELECT 'repeated', v_old.message_id, v_old.recipients;
            ELSE
                RETURN QUERY SELECT 'mismatch', NULL::uuid, NULL::bigint;
            END IF;
            RETURN;
        END IF;
    END IF;

    INSERT INTO gateway.message
            (tenant_id, message_id, app_id, vendor, sender_id, state, lane, content, collapse_id, fallback, accepted_at,
            due_at, due_day, expires_at, recipients, open_slices, audience, due_local)
        VALUES (p_tenant, p_id, p_app, p_vendor, p_sender,
            CASE WHEN v_slices = 0 THEN 'done' WHEN p_due > p_accepted AND p_holder IS NULL THEN 'scheduled'
                WHEN 'expand' = ANY (p_slice_kinds) THEN 'expanding' ELSE 'sending' END,
            p_lane, p_content, p_collapse, p_fallback, p_accepted, p_due, p_due_day, p_expires, p_recipients, v_slices,
            p_audience, p_due_local);
    IF p_media_id IS NOT NULL THEN
        INSERT INTO gateway.message_media (tenant_id, message_id, media_id, hash)
            VALUES (p_tenant, p_id, p_media_id, p_media_hash);
    END IF;
    FOR k IN 1 .. v_slices LOOP
        -- What is due later waits for whoever claims it then.
        v_holder := CASE WHEN p_slice_dues[k] IS NULL THEN p_holder END;
        v_next := coalesce(p_slice_dues[k], greatest(p_due, now() + p_lease));
        INSERT INTO gateway.slice
                (tenant_id, message_id, no, lane, kind, due_day, targets, addresses, state, next_at, owner, epoch)
            VALUES (p_tenant, p_id, p_slice_numbers[k], p_lane, p_slice_kinds[k], p_due_day,
                p_targets[v_from:p_slice_ends[k]], p_addresses[v_from:p_slice_ends[k]],
                CASE WHEN v_holder IS NULL THEN 'ready' ELSE 'leased' END, v_next, v_holder,
                CASE WHEN v_holder IS NULL THEN 0 ELSE 1 END);
        v_from := p_slice_ends[k] + 1;
    END LOOP;
    IF v_slices > 0 THEN
        INSERT INTO gateway.lane (tenant_id, lane) VALUES (p_tenant, p_lane) ON CONFLICT DO NOTHING;
    END IF;
    IF v_suppressed > 0 THEN
        INSERT INTO gateway.delivery
                (tenant_id, due_day, message_id, target_id, app_id, vendor, identity_id, device_id, address, state, reason, sent_at)
            SELECT p_tenant, p_due_day, p_id, s.target, p_app, p_vendor, s.identity, s.device, s.address, 'suppressed',
                s.reason, p_accepted
            FROM unnest(p_sup_targets, p_sup_identities, p_sup_devices, p_sup_addresses, p_sup_reasons)
                AS s(target, identity, device, address, reason)
            ON CONFLICT DO NOTHING;
    END IF;
    -- Who is reached by expanding is counted by the pages; a count that the answer names before is an estimate.
    PERFORM gateway.add_counts(
        p_tenant, p_app, p_vendor, p_due, p_node,
        CASE WHEN 'expand' = ANY (p_slice_kinds) THEN 0 ELSE coalesce(p_recipients, 0) END, 0, 0, 0, 0, v_suppressed, 0, 0);
    -- The message's own event has no target.
    PERFORM gateway.append_events(
        p_tenant, p_app, p_vendor, p_sender, p_id, p_due_day,
        'accepted'::text || array_fill('suppressed'::text, ARRAY[v_suppressed]), NULL::uuid || p_sup_targets);
    RETURN QUERY SELECT 'inserted', p_id, p_recipients;
END $$;

-- As before. New: where zones and hours matter, targets are grouped by due time, each group into slices of its own; then a page of everyone is ten times as
-- long, because otherwise its groups would be small; of an audience not, whose pages already look at twenty times as many. Where they do not matter,
-- one look at the app is all that is paid.
-- The native dialect speaks to all dialects, to each device once.
CREATE OR REPLACE FUNCTION gateway.expand_slice(
    p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_page integer, p_slice_size integer)
RETURNS TABLE (outcome text, targets bigint, after uuid)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    s gateway.slice;
    m gateway.message;
    v_ids uuid[];
    v_count integer;
    v_first integer;
    v_slices integer;
    v_ended boolean := true;
    v_is_timed boolean := false;
    p record;
    v_app record;
    v_group record;
BEGIN
    SELECT * INTO s FROM gateway.slice
        WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no AND epoch = p_epoch AND owner = p_owner
            AND state = 'leased' FOR UPDATE;
    IF NOT FOUND THEN RETURN QUERY SELECT 'fenced', 0::bigint, NULL::uuid; RETURN; END IF;
    SELECT * INTO m FROM gateway.message WHERE tenant_id = p_tenant AND message_id = p_message FOR UPDATE;

    IF m.state = 'paused' THEN
        UPDATE gateway.slice SET state = 'ready', owner = NULL, epoch = epoch + 1, next_at = m.expires_at
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no;
        RETURN QUERY SELECT 'fenced', 0::bigint, NULL::uuid;
        RETURN;
    END IF;
    IF m.state IN ('scheduled', 'expanding', 'sending', 'dead') THEN
        SELECT x.defaults, x.uses_windows INTO v_app FROM gateway.app x WHERE x.tenant_id = p_tenant AND x.app_id = m.app_id;
        v_is_timed := m.due_local IS NOT NULL OR v_app.defaults->'quiet'->'lanes' @> to_jsonb(m.lane)
            OR v_app.uses_windows AND gateway.heeds_windows(v_app.defaults, m.lane);
        IF v_is_timed AND m.audience IS NULL THEN p_page := p_page * 10; END IF;
        IF m.audience IS NOT NULL THEN
            SELECT * INTO p FROM gateway.audience_page(
                p_tenant, m.app_id, m.vendor, m.audience, p_page, s.after_user, s.after_vendor, s.after);
            v_ids := p.o_ids;
            v_ended := p.o_ended;
            s.after_user := p.io_user;
            s.after_vendor := p.io_dialect;
            s.after := p.io_after;
        ELSIF m.vendor = 'native' THEN
            SELECT array_agg(a.identity_id ORDER BY a.identity_id) INTO v_ids FROM (
                -- A scalar subquery, not an anti-join: on a table without statistics yet the planner joined all identities with all.
                SELECT i.identity_id FROM gateway.identity i
                WHERE i.tenant_id = p_tenant AND i.app_id = m.app_id AND i.state = 'active'
                    AND i.identity_id > coalesce(s.after, '00000000-0000-0000-0000-000000000000'::uuid)
                    AND (i.device_id IS NULL OR i.identity_id = (
                        SELECT (array_agg(o.identity_id ORDER BY o.identity_id))[1] FROM gateway.identity o
                        WHERE o.tenant_id = p_tenant AND o.device_id = i.device_id AND o.state = 'active'))
                ORDER BY i.identity_id LIMIT p_page) a;
        ELSE
            SELECT array_agg(a.identity_id ORDER BY a.identity_id) INTO v_ids FROM (
                SELECT i.identity_id FROM gateway.identity i
                WHERE i.tenant_id = p_tenant AND i.app_id = m.app_id AND i.vendor = m.vendor AND i.state = 'active'
                    AND i.identity_id > coalesce(s.after, '00000000-0000-0000-0000-000000000000'::uuid)
                ORDER BY i.identity_id LIMIT p_page) a;
        END IF;
    END IF;
    v_count := coalesce(cardinality(v_ids), 0);
    IF m.audience IS NULL AND v_count > 0 THEN s.after := v_ids[v_count]; END IF;

    IF v_count = 0 AND v_ended THEN
        UPDATE gateway.slice SET state = 'done', owner = NULL
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no;
        UPDATE gateway.message SET open_slices = open_slices - 1, recipients = expanded,
                dead_slices = dead_slices - (s.dead_reason IS NOT NULL)::integer,
                state = CASE WHEN state NOT IN ('scheduled', 'expanding', 'sending', 'dead') THEN state
                    WHEN open_slices <= 1 THEN 'done'
                    WHEN dead_slices - (s.dead_reason IS NOT NULL)::integer >= open_slices - 1 THEN 'dead' ELSE 'sending' END
            WHERE tenant_id = p_tenant AND message_id = p_message;
        IF m.state IN ('scheduled', 'expanding', 'sending', 'dead') THEN
            RETURN QUERY SELECT 'finished', m.expanded, NULL::uuid;
        ELSE
            RETURN QUERY SELECT 'fenced', 0::bigint, NULL::uuid;
        END IF;
        RETURN;
    END IF;

    UPDATE gateway.slice SET after_user = s.after_user, after_vendor = s.after_vendor, after = s.after
        WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no;
    IF v_count = 0 THEN
        -- Nobody among those looked at: the cursor moves on, the transaction stays short.
        UPDATE gateway.message SET state = 'expanding' WHERE tenant_id = p_tenant AND message_id = p_message AND state = 'scheduled';
        RETURN QUERY SELECT 'page', 0::bigint, coalesce(s.after, '00000000-0000-0000-0000-000000000000'::uuid);
        RETURN;
    END IF;

    SELECT max(x.no) + 1 INTO v_first FROM gateway.slice x WHERE x.tenant_id = p_tenant AND x.message_id = p_message;
    v_slices := 0;
    IF v_is_timed THEN
        FOR v_group IN
            SELECT x.due, x.ids FROM gateway.group_by_due(
                p_tenant, m.lane, m.due_at, m.due_local, m.expires_at, v_app.defaults, v_ids) AS x
        LOOP
            FOR k IN 0 .. (cardinality(v_group.ids) - 1) / p_slice_size LOOP
                INSERT INTO gateway.slice (tenant_id, message_id, no, lane, kind, due_day, targets, state, next_at)
                    VALUES (p_tenant, p_message, v_first + v_slices, m.lane, 'deliver', m.due_day,
                        v_group.ids[k * p_slice_size + 1 : (k + 1) * p_slice_size], 'ready', v_group.due);
                v_slices := v_slices + 1;
            END LOOP;
        END LOOP;
    ELSE
        v_slices := (v_count + p_slice_size - 1) / p_slice_size;
        FOR k IN 0 .. v_slices - 1 LOOP
            INSERT INTO gateway.slice (tenant_id, message_id, no, lane, kind, due_day, targets, state, next_at)
                VALUES (p_tenant, p_message, v_first + k, m.lane, 'deliver', m.due_day,
                    v_ids[k * p_slice_size + 1 : (k + 1) * p_slice_size], 'ready', greatest(m.due_at, now()));
        END LOOP;
    END IF;
    UPDATE gateway.message SET expanded = expanded + v_count, open_slices = open_slices + v_slices, state = 'expanding'
        WHERE tenant_id = p_tenant AND message_id = p_message;
    PERFORM gateway.add_counts(p_tenant, m.app_id, m.vendor, m.due_at, p_owner, v_count, 0, 0, 0, 0, 0, 0, 0);
    -- Between two users the walk stands at no identity.
    RETURN QUERY SELECT 'page', v_count::bigint, coalesce(s.after, '00000000-0000-0000-0000-000000000000'::uuid);
END $$;

REVOKE ALL ON FUNCTION
    gateway.known_zone, gateway.opens_at, gateway.due_of, gateway.heeds_windows, gateway.group_by_due, gateway.set_clock,
    gateway.register_timed, gateway.import_clocks, gateway.accept_message FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    gateway.set_clock, gateway.register_timed, gateway.import_clocks, gateway.accept_message TO gateway_call;
GRANT EXECUTE ON FUNCTION
    gateway.known_zone, gateway.opens_at, gateway.due_of, gateway.heeds_windows, gateway.group_by_due, gateway.set_clock,
    gateway.register_timed, gateway.import_clocks, gateway.accept_message TO gateway_engine;
