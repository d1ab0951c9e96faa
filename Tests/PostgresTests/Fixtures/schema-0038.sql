-- The schema of version 38, the last one before the baseline, as pg_dump shows it without comments, and its rows in schema_version.
-- Never edited: a test makes a database of version 38 from it and converts that. Load it into a database with the gateway's roles and an empty schema gateway.

SET check_function_bodies = false;

CREATE FUNCTION gateway.accept_message(p_tenant text, p_app text, p_vendor text, p_id uuid, p_sender text, p_content json, p_collapse text, p_lane smallint, p_accepted timestamp with time zone, p_due timestamp with time zone, p_due_day integer, p_expires timestamp with time zone, p_fallback json, p_recipients bigint, p_media_id text, p_media_hash text, p_key text, p_body_hash text, p_slice_numbers integer[], p_slice_kinds text[], p_slice_ends integer[], p_targets uuid[], p_addresses text[], p_holder text, p_lease interval, p_node text, p_sup_targets uuid[], p_sup_identities uuid[], p_sup_devices uuid[], p_sup_addresses text[], p_sup_reasons text[], p_audience json DEFAULT NULL::json, p_due_local bigint DEFAULT NULL::bigint, p_slice_dues timestamp with time zone[] DEFAULT NULL::timestamp with time zone[]) RETURNS TABLE(outcome text, message_id uuid, recipients bigint)
    LANGUAGE plpgsql
    AS $$
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
    PERFORM gateway.add_counts(
        p_tenant, p_app, p_vendor, p_due, p_node,
        CASE WHEN 'expand' = ANY (p_slice_kinds) THEN 0 ELSE coalesce(p_recipients, 0) END, 0, 0, 0, 0, v_suppressed, 0, 0);
    PERFORM gateway.append_events(
        p_tenant, p_app, p_vendor, p_sender, p_id, p_due_day,
        'accepted'::text || array_fill('suppressed'::text, ARRAY[v_suppressed]), NULL::uuid || p_sup_targets);
    RETURN QUERY SELECT 'inserted', p_id, p_recipients;
END $$;

ALTER FUNCTION gateway.accept_message(p_tenant text, p_app text, p_vendor text, p_id uuid, p_sender text, p_content json, p_collapse text, p_lane smallint, p_accepted timestamp with time zone, p_due timestamp with time zone, p_due_day integer, p_expires timestamp with time zone, p_fallback json, p_recipients bigint, p_media_id text, p_media_hash text, p_key text, p_body_hash text, p_slice_numbers integer[], p_slice_kinds text[], p_slice_ends integer[], p_targets uuid[], p_addresses text[], p_holder text, p_lease interval, p_node text, p_sup_targets uuid[], p_sup_identities uuid[], p_sup_devices uuid[], p_sup_addresses text[], p_sup_reasons text[], p_audience json, p_due_local bigint, p_slice_dues timestamp with time zone[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.acknowledge(p_tenant text, p_app text, p_vendor text, p_ref text, p_message uuid, p_key text, p_token text, p_user text, p_kind text, p_badge integer, p_at timestamp with time zone, p_node text) RETURNS TABLE(outcome text, badge integer)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    v_ids uuid[] := gateway.reporting_identities(p_tenant, p_app, p_vendor, p_key, p_token, p_user);
    v_message uuid := p_message;
    v_day integer;
    d record;
    i record;
    v_target uuid;
    v_reporter uuid;
    v_holder text;
    v_first boolean := true;
    v_badge integer;
    v_outcome text := 'orphan';
BEGIN
    IF v_message IS NULL THEN
        SELECT r.message_id INTO v_message FROM gateway.message_ref r
            WHERE r.tenant_id = p_tenant AND r.app_id = p_app AND r.vendor = p_vendor AND r.ref = p_ref;
    END IF;
    SELECT x.due_day INTO v_day FROM gateway.message x
        WHERE x.tenant_id = p_tenant AND x.message_id = v_message AND x.app_id = p_app;
    IF v_day IS NOT NULL AND cardinality(v_ids) > 0 THEN
        SELECT x.target_id, x.read_at INTO d FROM gateway.delivery x
            WHERE x.tenant_id = p_tenant AND x.due_day = v_day AND x.message_id = v_message AND x.target_id = ANY (v_ids)
                AND (x.state IN ('sent', 'received', 'read') OR x.state IN ('failed', 'expired') AND x.transport IS NOT NULL)
            ORDER BY array_position(v_ids, x.target_id) LIMIT 1;
        v_target := d.target_id;
        v_first := d.read_at IS NULL;
        IF v_target IS NULL THEN
            SELECT u.target INTO v_target FROM gateway.slice s CROSS JOIN LATERAL unnest(s.targets) AS u(target)
                WHERE s.tenant_id = p_tenant AND s.message_id = v_message AND s.state = 'leased' AND u.target = ANY (v_ids)
                ORDER BY array_position(v_ids, u.target) LIMIT 1;
        END IF;
    END IF;
    v_reporter := coalesce(v_target, v_ids[1]);
    SELECT x.key, coalesce('user:' || x.user_id, 'key:' || x.key) AS holder INTO i FROM gateway.identity x
        WHERE x.tenant_id = p_tenant AND x.identity_id = v_reporter;
    v_holder := i.holder;

    IF v_holder IS NOT NULL AND p_badge IS NOT NULL THEN
        IF v_target IS NOT NULL THEN
            INSERT INTO gateway.badge_mark AS k (tenant_id, message_id, holder, is_read) VALUES (p_tenant, v_message, v_holder, true)
                ON CONFLICT (tenant_id, message_id, holder) DO UPDATE SET is_read = true WHERE NOT k.is_read;
            v_first := FOUND AND v_first;
        ELSE
            v_first := false;
        END IF;
        IF p_badge >= 0 THEN
            INSERT INTO gateway.badge (tenant_id, app_id, vendor, holder, count) VALUES (p_tenant, p_app, p_vendor, v_holder, p_badge)
                ON CONFLICT (tenant_id, app_id, vendor, holder) DO UPDATE SET count = excluded.count;
        ELSIF v_first THEN
            UPDATE gateway.badge b SET count = greatest(b.count - 1, 0)
                WHERE b.tenant_id = p_tenant AND b.app_id = p_app AND b.vendor = p_vendor AND b.holder = v_holder;
        END IF;
    END IF;
    IF v_holder IS NOT NULL THEN
        SELECT b.count INTO v_badge FROM gateway.badge b
            WHERE b.tenant_id = p_tenant AND b.app_id = p_app AND b.vendor = p_vendor AND b.holder = v_holder;
    END IF;
    IF v_target IS NOT NULL THEN
        v_outcome := gateway.record_receipt(p_tenant, p_app, p_vendor, v_message, i.key, p_kind, p_at, p_node);
    END IF;
    RETURN QUERY SELECT v_outcome, coalesce(v_badge, 0);
END $$;

ALTER FUNCTION gateway.acknowledge(p_tenant text, p_app text, p_vendor text, p_ref text, p_message uuid, p_key text, p_token text, p_user text, p_kind text, p_badge integer, p_at timestamp with time zone, p_node text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.add_counts(p_tenant text, p_app text, p_vendor text, p_due timestamp with time zone, p_node text, p_recipients bigint, p_sent bigint, p_received bigint, p_read bigint, p_failed bigint, p_suppressed bigint, p_expired bigint, p_canceled bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO gateway.counter_hour AS c
            (tenant_id, app_id, vendor, hour, node_id, recipients, sent, received, read, failed, suppressed, expired, canceled)
        VALUES (p_tenant, p_app, p_vendor, floor(extract(epoch FROM p_due) / 3600)::integer, p_node, p_recipients, p_sent,
            p_received, p_read, p_failed, p_suppressed, p_expired, p_canceled)
        ON CONFLICT (tenant_id, app_id, vendor, hour, node_id) DO UPDATE SET
            recipients = c.recipients + excluded.recipients, sent = c.sent + excluded.sent,
            received = c.received + excluded.received, read = c.read + excluded.read, failed = c.failed + excluded.failed,
            suppressed = c.suppressed + excluded.suppressed, expired = c.expired + excluded.expired,
            canceled = c.canceled + excluded.canceled;
END $$;

ALTER FUNCTION gateway.add_counts(p_tenant text, p_app text, p_vendor text, p_due timestamp with time zone, p_node text, p_recipients bigint, p_sent bigint, p_received bigint, p_read bigint, p_failed bigint, p_suppressed bigint, p_expired bigint, p_canceled bigint) OWNER TO gateway_owner;

CREATE FUNCTION gateway.analyze_devices() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    ANALYZE gateway.device;
    ANALYZE gateway.identity;
    ANALYZE gateway.identity_tag;
END $$;

ALTER FUNCTION gateway.analyze_devices() OWNER TO gateway_owner;

CREATE FUNCTION gateway.analyze_grown() RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    v_name text;
    v_count bigint := 0;
BEGIN
    FOR v_name IN
        SELECT c.relname FROM pg_class c JOIN pg_stat_all_tables s ON s.relid = c.oid
        WHERE c.relnamespace = 'gateway'::regnamespace AND c.relkind = 'r'
            AND s.n_live_tup >= 500 AND s.n_live_tup >= 10 * greatest(c.reltuples, 0)
        ORDER BY s.n_live_tup DESC LIMIT 10
    LOOP
        EXECUTE format('ANALYZE (SKIP_LOCKED) gateway.%I', v_name);
        v_count := v_count + 1;
    END LOOP;
    RETURN v_count;
END $$;

ALTER FUNCTION gateway.analyze_grown() OWNER TO gateway_owner;

CREATE FUNCTION gateway.append_changes(p_tenant text, p_kinds text[], p_apps text[], p_vendors text[], p_identities uuid[], p_devices uuid[], p_data json[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

ALTER FUNCTION gateway.append_changes(p_tenant text, p_kinds text[], p_apps text[], p_vendors text[], p_identities uuid[], p_devices uuid[], p_data json[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.append_events(p_tenant text, p_app text, p_vendor text, p_sender text, p_message uuid, p_due_day integer, p_kinds text[], p_targets uuid[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_count bigint := cardinality(p_kinds);
    v_last bigint;
BEGIN
    IF coalesce(v_count, 0) = 0 THEN RETURN; END IF;
    INSERT INTO gateway.event_head AS h (tenant_id, last) VALUES (p_tenant, v_count)
        ON CONFLICT (tenant_id) DO UPDATE SET last = h.last + excluded.last
        RETURNING h.last INTO v_last;
    IF v_count = 1 THEN
        INSERT INTO gateway.event (tenant_id, position, at, kind, app_id, vendor, sender_id, message_id, target_id, due_day)
            VALUES (p_tenant, v_last, now(), p_kinds[1], p_app, p_vendor, CASE WHEN p_targets[1] IS NOT NULL THEN p_sender END,
                p_message, p_targets[1], p_due_day);
        RETURN;
    END IF;
    WITH r AS (
        INSERT INTO gateway.event (tenant_id, position, at, kind, app_id, vendor, sender_id, message_id, target_id, due_day)
            SELECT p_tenant, v_last - v_count + u.o, now(), u.kind, p_app, p_vendor,
                CASE WHEN u.target IS NOT NULL THEN p_sender END, p_message, u.target, p_due_day
            FROM unnest(p_kinds, p_targets) WITH ORDINALITY AS u(kind, target, o)
            RETURNING 1)
    SELECT count(*) INTO v_count FROM r;
END $$;

ALTER FUNCTION gateway.append_events(p_tenant text, p_app text, p_vendor text, p_sender text, p_message uuid, p_due_day integer, p_kinds text[], p_targets uuid[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.assign_user(p_tenant text, p_app text, p_vendor text, p_key text, p_change text, p_user text, p_name text, p_phone text, p_exclusive boolean) RETURNS TABLE(user_id text, has_moved boolean)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    i record;
    v_moved boolean := false;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'key', p_app || chr(31) || p_vendor || chr(31) || p_key);
    SELECT x.identity_id, x.user_id, x.state INTO i FROM gateway.identity x
        WHERE x.tenant_id = p_tenant AND x.app_id = p_app AND x.vendor = p_vendor AND x.key = p_key;
    IF NOT FOUND OR i.state <> 'active' THEN RETURN; END IF;
    IF p_change = 'set' THEN
        v_moved := i.user_id IS DISTINCT FROM p_user AND EXISTS (
            SELECT FROM gateway.identity o
            WHERE o.tenant_id = p_tenant AND o.app_id = p_app AND o.vendor = p_vendor AND o.user_id = p_user
                AND o.identity_id <> i.identity_id);
        IF p_exclusive THEN
            PERFORM gateway.lock_name(p_tenant, 'user', p_app || chr(31) || p_vendor || chr(31) || p_user);
            UPDATE gateway.identity SET user_id = NULL, name = NULL
                WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND user_id = p_user
                    AND identity_id <> i.identity_id AND state = 'active';
        END IF;
        UPDATE gateway.identity SET user_id = p_user, name = coalesce(p_name, CASE WHEN user_id = p_user THEN name END),
                phone = coalesce(p_phone, phone)
            WHERE tenant_id = p_tenant AND identity_id = i.identity_id;
        RETURN QUERY SELECT p_user, v_moved;
    ELSIF p_change = 'clear' THEN
        UPDATE gateway.identity SET user_id = NULL, name = NULL WHERE tenant_id = p_tenant AND identity_id = i.identity_id;
        RETURN QUERY SELECT NULL::text, false;
    ELSE
        RETURN QUERY SELECT i.user_id, false;
    END IF;
END $$;

ALTER FUNCTION gateway.assign_user(p_tenant text, p_app text, p_vendor text, p_key text, p_change text, p_user text, p_name text, p_phone text, p_exclusive boolean) OWNER TO gateway_owner;

CREATE FUNCTION gateway.assign_users(p_tenant text, p_app text, p_vendor text, p_keys text[], p_changes text[], p_users text[], p_names text[], p_phones text[]) RETURNS TABLE(user_id text, ordinal bigint, has_moved boolean)
    LANGUAGE plpgsql
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
    v record;
    v_count bigint;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'key', n.name) FROM (
        SELECT p_app || chr(31) || p_vendor || chr(31) || u.key AS name FROM unnest(p_keys) AS u(key) ORDER BY 1) AS n;
    SELECT array_agg(i.identity_id ORDER BY u.o) AS ids,
            array_agg(CASE u.change WHEN 'set' THEN u.user_id WHEN 'keep' THEN i.user_id END ORDER BY u.o) AS users,
            array_agg(u.change = 'set' AND i.user_id IS DISTINCT FROM u.user_id AND (u.turn > 1 OR EXISTS (
                SELECT FROM gateway.identity o
                WHERE o.tenant_id = p_tenant AND o.app_id = p_app AND o.vendor = p_vendor AND o.user_id = u.user_id
                    AND o.identity_id <> i.identity_id OFFSET 0)) ORDER BY u.o) AS moved
        INTO v FROM (
            SELECT x.*, row_number() OVER (PARTITION BY x.change, x.user_id ORDER BY x.o) AS turn
            FROM unnest(p_keys, p_changes, p_users) WITH ORDINALITY AS x(key, change, user_id, o)) AS u
        LEFT JOIN LATERAL (
            SELECT x.identity_id, x.user_id FROM gateway.identity x
            WHERE x.tenant_id = p_tenant AND x.app_id = p_app AND x.vendor = p_vendor AND x.key = u.key AND x.state = 'active' OFFSET 0) AS i ON true;
    PERFORM FROM gateway.identity i WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v.ids) ORDER BY i.identity_id FOR UPDATE;
    WITH r AS (
        UPDATE gateway.identity i SET user_id = u.user_id, phone = coalesce(u.phone, i.phone),
                name = CASE WHEN u.change = 'set' THEN coalesce(u.name, CASE WHEN i.user_id = u.user_id THEN i.name END) END
            FROM unnest(v.ids, p_changes, v.users, p_names, p_phones) AS u(id, change, user_id, name, phone)
            WHERE u.change <> 'keep' AND i.tenant_id = p_tenant AND i.identity_id = u.id
                AND (i.user_id IS DISTINCT FROM u.user_id OR u.change = 'clear' AND i.name IS NOT NULL
                    OR u.name IS NOT NULL AND u.name IS DISTINCT FROM i.name OR u.phone IS NOT NULL AND u.phone IS DISTINCT FROM i.phone)
            RETURNING 1)
    SELECT count(*) INTO v_count FROM r;
    RETURN QUERY SELECT u.user_id, CASE WHEN u.id IS NOT NULL THEN u.o END, u.moved
        FROM unnest(v.ids, v.users, v.moved) WITH ORDINALITY AS u(id, user_id, moved, o) ORDER BY u.o;
END $$;

ALTER FUNCTION gateway.assign_users(p_tenant text, p_app text, p_vendor text, p_keys text[], p_changes text[], p_users text[], p_names text[], p_phones text[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.audience_page(p_tenant text, p_app text, p_vendor text, p_audience json, p_page integer, INOUT io_user text, INOUT io_dialect text, INOUT io_after uuid, OUT o_ids uuid[], OUT o_ended boolean) RETURNS record
    LANGUAGE plpgsql
    AS $$
DECLARE
    n record;
BEGIN
    IF p_audience IS NULL OR p_audience->'tags' IS NOT NULL THEN
        SELECT * INTO n FROM gateway.identity_page(p_tenant, p_app, p_vendor, p_audience, p_page, io_after);
        io_after := n.io_after;
        o_ids := n.o_ids;
        o_ended := n.o_ended;
        RETURN;
    END IF;
    p_page := least(p_page, 500);
    o_ids := '{}';
    FOR k IN 1 .. 20 LOOP
        SELECT * INTO n FROM gateway.next_candidates(
            p_tenant, p_app, p_vendor, p_audience, p_page - cardinality(o_ids), io_user, io_dialect, io_after);
        io_user := n.io_user;
        io_dialect := n.io_dialect;
        io_after := n.io_after;
        o_ended := n.o_ended;
        o_ids := o_ids || gateway.meant(p_tenant, p_app, p_vendor, p_audience, n.o_ids);
        EXIT WHEN o_ended OR cardinality(o_ids) * 2 >= p_page;
    END LOOP;
END $$;

ALTER FUNCTION gateway.audience_page(p_tenant text, p_app text, p_vendor text, p_audience json, p_page integer, INOUT io_user text, INOUT io_dialect text, INOUT io_after uuid, OUT o_ids uuid[], OUT o_ended boolean) OWNER TO gateway_owner;

CREATE FUNCTION gateway.bury_slice(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_reason text) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_expires timestamptz;
    v_is_new boolean;
BEGIN
    SELECT expires_at INTO v_expires FROM gateway.message WHERE tenant_id = p_tenant AND message_id = p_message FOR UPDATE;
    SELECT dead_reason IS NULL INTO v_is_new FROM gateway.slice
        WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no AND epoch = p_epoch AND state = 'ready' FOR UPDATE;
    IF NOT FOUND THEN RETURN 0; END IF;
    UPDATE gateway.slice SET dead_reason = p_reason, held_by = NULL, next_at = greatest(v_expires, now() + interval '1 hour')
        WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no AND epoch = p_epoch AND state = 'ready';
    IF NOT v_is_new THEN RETURN 0; END IF;
    UPDATE gateway.message SET dead_slices = dead_slices + 1,
            state = CASE WHEN state IN ('scheduled', 'sending') AND dead_slices + 1 >= open_slices THEN 'dead' ELSE state END
        WHERE tenant_id = p_tenant AND message_id = p_message;
    RETURN 1;
END $$;

ALTER FUNCTION gateway.bury_slice(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_reason text) OWNER TO gateway_owner;

CREATE TABLE gateway.identity (
    tenant_id text NOT NULL,
    identity_id uuid NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    key text NOT NULL,
    device_id uuid,
    state text NOT NULL,
    user_id text,
    name text,
    phone text,
    raw_phone text,
    accepts_push boolean DEFAULT true NOT NULL,
    attributes json DEFAULT '{}'::json NOT NULL,
    registered_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    alias text,
    ends_at timestamp with time zone GENERATED ALWAYS AS (
CASE
    WHEN ((attributes ->> '$endsAt'::text) ~ '^[0-9]{1,12}$'::text) THEN to_timestamp(((attributes ->> '$endsAt'::text))::double precision)
    ELSE NULL::timestamp with time zone
END) STORED,
    denies_push boolean GENERATED ALWAYS AS (((attributes ->> 'deniesPush'::text) = 'true'::text)) STORED,
    CONSTRAINT identity_state_check CHECK ((state = ANY (ARRAY['active'::text, 'replaced'::text, 'unregistered'::text, 'removed'::text])))
)
WITH (fillfactor='90');

ALTER TABLE gateway.identity OWNER TO gateway_owner;

CREATE FUNCTION gateway.calling_identity(p_tenant text, p_app text, p_vendor text, p_key text, p_token text) RETURNS gateway.identity
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
    i gateway.identity;
BEGIN
    IF p_key IS NOT NULL THEN
        SELECT x.* INTO i FROM gateway.identity x
            WHERE x.tenant_id = p_tenant AND x.app_id = p_app AND x.key = p_key AND x.vendor = p_vendor AND x.state = 'active';
        IF FOUND THEN RETURN i; END IF;
    END IF;
    IF p_token IS NOT NULL THEN
        SELECT x.* INTO i FROM gateway.device d
            JOIN gateway.identity x ON x.tenant_id = p_tenant AND x.device_id = d.device_id
            WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.platform IN ('ios', 'android')
                AND d.token_digest = md5(p_token) AND d.token = p_token
                AND x.app_id = p_app AND x.vendor = p_vendor AND x.state = 'active'
            ORDER BY x.registered_at DESC LIMIT 1;
    END IF;
    RETURN i;
END $$;

ALTER FUNCTION gateway.calling_identity(p_tenant text, p_app text, p_vendor text, p_key text, p_token text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.cancel_message(p_tenant text, p_app text, p_vendor text, p_message uuid) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE gateway.message SET state = 'canceled'
        WHERE tenant_id = p_tenant AND message_id = p_message AND app_id = p_app
            AND (vendor = p_vendor OR p_vendor = 'native') AND state IN ('scheduled', 'expanding', 'sending', 'paused');
    IF NOT FOUND THEN RETURN 0; END IF;
    UPDATE gateway.slice SET next_at = now()
        WHERE tenant_id = p_tenant AND message_id = p_message AND state = 'ready' AND next_at > now();
    RETURN 1;
END $$;

ALTER FUNCTION gateway.cancel_message(p_tenant text, p_app text, p_vendor text, p_message uuid) OWNER TO gateway_owner;

CREATE FUNCTION gateway.cancel_scheduled(p_tenant text, p_app text, p_vendor text, p_schedule uuid) RETURNS uuid
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_message uuid;
    v_state text;
    v_count bigint;
BEGIN
    SELECT s.message_id INTO v_message FROM gateway.schedule s
        WHERE s.tenant_id = p_tenant AND s.app_id = p_app AND s.vendor = p_vendor AND s.schedule_id = p_schedule FOR UPDATE;
    SELECT m.state INTO v_state FROM gateway.message m WHERE m.tenant_id = p_tenant AND m.message_id = v_message FOR UPDATE;
    IF v_state IS DISTINCT FROM 'scheduled' THEN RETURN NULL; END IF;
    v_count := gateway.control_message(p_tenant, p_app, p_vendor, v_message, 'cancel');
    PERFORM gateway.note_controlled(p_tenant, v_message, 'cancel', v_count);
    RETURN v_message;
END $$;

ALTER FUNCTION gateway.cancel_scheduled(p_tenant text, p_app text, p_vendor text, p_schedule uuid) OWNER TO gateway_owner;

CREATE FUNCTION gateway.change_members(p_tenant text, p_app text, p_vendor text, p_group text, p_add text[], p_remove text[]) RETURNS TABLE(added bigint, removed bigint)
    LANGUAGE plpgsql
    AS $$
DECLARE
    r record;
    v_added text[] := '{}';
    v_removed text[] := '{}';
BEGIN
    PERFORM FROM gateway.user_group
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND group_name = p_group FOR KEY SHARE;
    IF NOT FOUND THEN RETURN; END IF;
    FOR r IN
        SELECT x.name, bool_or(x.leaves) AS leaves, bool_or(NOT x.leaves) AS enters
        FROM (SELECT unnest(p_remove) AS name, true AS leaves UNION ALL SELECT unnest(p_add), false) AS x
        GROUP BY x.name ORDER BY x.name
    LOOP
        IF r.leaves THEN
            DELETE FROM gateway.group_member
                WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND group_name = p_group AND user_id = r.name;
            IF FOUND THEN v_removed := v_removed || r.name; END IF;
        END IF;
        IF r.enters THEN
            INSERT INTO gateway.group_member (tenant_id, app_id, vendor, group_name, user_id)
                VALUES (p_tenant, p_app, p_vendor, p_group, r.name) ON CONFLICT DO NOTHING;
            IF FOUND THEN v_added := v_added || r.name; END IF;
        END IF;
    END LOOP;
    INSERT INTO gateway.group_count AS c (tenant_id, app_id, vendor, group_name, bucket, members)
        SELECT p_tenant, p_app, p_vendor, p_group, (hashtext(d.user_id) & 15)::smallint, sum(d.delta)
        FROM (SELECT unnest(v_added) AS user_id, 1 AS delta UNION ALL SELECT unnest(v_removed), -1) AS d GROUP BY 5 ORDER BY 5
        ON CONFLICT (tenant_id, app_id, vendor, group_name, bucket) DO UPDATE SET members = c.members + excluded.members;
    RETURN QUERY SELECT cardinality(v_added)::bigint, cardinality(v_removed)::bigint;
END $$;

ALTER FUNCTION gateway.change_members(p_tenant text, p_app text, p_vendor text, p_group text, p_add text[], p_remove text[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.check_verification(p_tenant text, p_app text, p_vendor text, p_phone text, p_code_hash text, p_valid_for interval, p_maximum_tries integer, p_at timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
DECLARE
    v gateway.verification;
    v_matches boolean;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'verification', p_app || chr(31) || p_vendor || chr(31) || p_phone);
    SELECT * INTO v FROM gateway.verification
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND phone = p_phone;
    IF NOT FOUND OR v.code_hash IS NULL OR v.tries >= p_maximum_tries OR p_at > v.sent_at + p_valid_for THEN
        RETURN false;
    END IF;
    v_matches := v.code_hash = p_code_hash;
    UPDATE gateway.verification SET tries = tries + 1, code_hash = CASE WHEN v_matches THEN NULL ELSE code_hash END
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND phone = p_phone;
    RETURN v_matches;
END $$;

ALTER FUNCTION gateway.check_verification(p_tenant text, p_app text, p_vendor text, p_phone text, p_code_hash text, p_valid_for interval, p_maximum_tries integer, p_at timestamp with time zone) OWNER TO gateway_owner;

CREATE FUNCTION gateway.colocate(t regclass) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname = 'citus') THEN
        EXECUTE format('SELECT create_distributed_table(%L, %L, colocate_with => %L)', t::text, 'tenant_id', 'gateway.app');
    END IF;
END $$;

ALTER FUNCTION gateway.colocate(t regclass) OWNER TO gateway_owner;

CREATE FUNCTION gateway.condemn_tokens(p_tenant text, p_devices uuid[], p_tokens text[], p_states text[], p_reasons text[], p_since timestamp with time zone[]) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    c record;
BEGIN
    WITH r AS (
        UPDATE gateway.device d SET token_state = v.state, token_reason = v.reason
        FROM unnest(p_devices, p_tokens, p_states, p_reasons, p_since) AS v(device, token, state, reason, since)
        WHERE d.tenant_id = p_tenant AND d.device_id = v.device AND d.token = v.token
            AND (v.since IS NULL OR d.token_registered_at IS NULL OR d.token_registered_at <= v.since)
            AND (d.token_state = 'active' OR (d.token_state = 'quarantined' AND v.state = 'invalid'))
        RETURNING d.device_id, d.app_id,
            CASE WHEN d.token_state = 'invalid' THEN 'token_invalidated' ELSE 'token_quarantined' END AS kind,
            json_build_object('reason', d.token_reason) AS data)
    SELECT array_agg(kind) AS kinds, array_agg(app_id) AS apps, array_agg(device_id) AS devices, array_agg(data) AS data INTO c FROM r;
    IF c.devices IS NULL THEN RETURN 0; END IF;
    PERFORM gateway.append_changes(p_tenant, c.kinds, c.apps, NULL, NULL, c.devices, c.data);
    RETURN cardinality(c.devices);
END $$;

ALTER FUNCTION gateway.condemn_tokens(p_tenant text, p_devices uuid[], p_tokens text[], p_states text[], p_reasons text[], p_since timestamp with time zone[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.control_message(p_tenant text, p_app text, p_vendor text, p_message uuid, p_action text) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    m gateway.message;
    v_count bigint;
    v_is_early boolean;
    v_expands boolean;
BEGIN
    SELECT * INTO m FROM gateway.message
        WHERE tenant_id = p_tenant AND message_id = p_message AND app_id = p_app AND (vendor = p_vendor OR p_vendor = 'native')
        FOR UPDATE;
    IF NOT FOUND THEN RETURN 0; END IF;

    IF p_action = 'cancel' AND m.state IN ('scheduled', 'expanding', 'sending', 'paused', 'dead') THEN
        UPDATE gateway.message SET state = 'canceled' WHERE tenant_id = p_tenant AND message_id = p_message;
        UPDATE gateway.slice SET next_at = now()
            WHERE tenant_id = p_tenant AND message_id = p_message AND state = 'ready' AND next_at > now();
    ELSIF p_action = 'pause' AND m.state IN ('scheduled', 'expanding', 'sending') THEN
        UPDATE gateway.message SET state = 'paused' WHERE tenant_id = p_tenant AND message_id = p_message;
        UPDATE gateway.slice SET next_at = m.expires_at
            WHERE tenant_id = p_tenant AND message_id = p_message AND state = 'ready' AND dead_reason IS NULL;
    ELSIF p_action = 'resume' AND m.state = 'paused' THEN
        v_is_early := m.due_at > now();
        SELECT EXISTS (SELECT FROM gateway.slice
            WHERE tenant_id = p_tenant AND message_id = p_message AND kind = 'expand' AND state <> 'done') INTO v_expands;
        UPDATE gateway.slice SET next_at = greatest(m.due_at, now())
            WHERE tenant_id = p_tenant AND message_id = p_message AND state = 'ready' AND dead_reason IS NULL;
        UPDATE gateway.message SET
                state = CASE WHEN v_is_early THEN 'scheduled' WHEN v_expands THEN 'expanding'
                    WHEN m.dead_slices >= m.open_slices THEN 'dead' ELSE 'sending' END
            WHERE tenant_id = p_tenant AND message_id = p_message;
    ELSIF p_action = 'requeue' AND m.dead_slices > 0 AND m.state <> 'canceled' THEN
        UPDATE gateway.slice SET dead_reason = NULL, attempts = 0, lapses = 0,
                next_at = greatest(now(), CASE WHEN m.state = 'paused' THEN m.expires_at END)
            WHERE tenant_id = p_tenant AND message_id = p_message AND state = 'ready' AND dead_reason IS NOT NULL;
        GET DIAGNOSTICS v_count = ROW_COUNT;
        UPDATE gateway.message SET dead_slices = dead_slices - v_count,
                state = CASE WHEN state = 'dead' THEN 'sending' ELSE state END
            WHERE tenant_id = p_tenant AND message_id = p_message;
        RETURN least(v_count, 1);
    ELSE
        RETURN 0;
    END IF;
    RETURN 1;
END $$;

ALTER FUNCTION gateway.control_message(p_tenant text, p_app text, p_vendor text, p_message uuid, p_action text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.count_identities(p_tenant text, p_app text, p_vendor text, p_keys text[], p_delta integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO gateway.identity_count AS c (tenant_id, app_id, vendor, bucket, active)
        SELECT p_tenant, p_app, p_vendor, (hashtext(k) & 15)::smallint, p_delta * count(*)
        FROM unnest(p_keys) AS k GROUP BY 4 ORDER BY 4
        ON CONFLICT (tenant_id, app_id, vendor, bucket) DO UPDATE SET active = c.active + excluded.active;
END $$;

ALTER FUNCTION gateway.count_identities(p_tenant text, p_app text, p_vendor text, p_keys text[], p_delta integer) OWNER TO gateway_owner;

CREATE FUNCTION gateway.create_group(p_tenant text, p_app text, p_vendor text, p_title text) RETURNS text
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_name text;
BEGIN
    PERFORM FROM gateway.app WHERE tenant_id = p_tenant AND app_id = p_app AND retired_at IS NULL;
    IF NOT FOUND THEN RETURN NULL; END IF;
    v_name := gateway.next_number(p_tenant, p_app, p_vendor, 'group')::text;
    INSERT INTO gateway.user_group (tenant_id, app_id, vendor, group_name, title)
        VALUES (p_tenant, p_app, p_vendor, v_name, p_title) ON CONFLICT DO NOTHING;
    RETURN v_name;
END $$;

ALTER FUNCTION gateway.create_group(p_tenant text, p_app text, p_vendor text, p_title text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.create_webhook(p_tenant text, p_id uuid, p_url text, p_app text, p_kinds text[], p_sealed bytea, p_key_id text, p_active boolean, p_limit integer) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_last bigint;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'webhooks', '');
    IF (SELECT count(*) FROM gateway.webhook w WHERE w.tenant_id = p_tenant) >= p_limit THEN RETURN false; END IF;
    SELECT h.last INTO v_last FROM gateway.event_head h WHERE h.tenant_id = p_tenant;
    INSERT INTO gateway.webhook (tenant_id, webhook_id, url, app_id, kinds, sealed, key_id, is_active, cursor)
        VALUES (p_tenant, p_id, p_url, p_app, p_kinds, p_sealed, p_key_id, p_active, coalesce(v_last, 0));
    RETURN true;
END $$;

ALTER FUNCTION gateway.create_webhook(p_tenant text, p_id uuid, p_url text, p_app text, p_kinds text[], p_sealed bytea, p_key_id text, p_active boolean, p_limit integer) OWNER TO gateway_owner;

CREATE FUNCTION gateway.default_partition_rows() RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RETURN (SELECT count(*) FROM gateway.delivery_default);
END $$;

ALTER FUNCTION gateway.default_partition_rows() OWNER TO gateway_owner;

CREATE FUNCTION gateway.draw_budget(p_tenant text, p_names text[], p_rates integer[], p_want integer, p_ahead interval, p_saved interval) RETURNS integer
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_now timestamptz;
    v_count bigint := p_want;
    r record;
BEGIN
    INSERT INTO gateway.budget (tenant_id, name, spent_until)
        SELECT p_tenant, n.name, now() FROM unnest(p_names) AS n(name) ON CONFLICT (tenant_id, name) DO NOTHING;
    PERFORM FROM gateway.budget WHERE tenant_id = p_tenant AND name = ANY (p_names) ORDER BY name FOR UPDATE;
    v_now := clock_timestamp();
    FOR r IN
        SELECT b.spent_until, u.rate FROM unnest(p_names, p_rates) AS u(name, rate)
        JOIN gateway.budget b ON b.tenant_id = p_tenant AND b.name = u.name
    LOOP
        v_count := least(
            v_count,
            floor(extract(epoch FROM v_now + p_ahead - greatest(r.spent_until, v_now - p_saved)) * r.rate)::bigint);
    END LOOP;
    IF v_count <= 0 THEN RETURN 0; END IF;
    UPDATE gateway.budget b
        SET spent_until = greatest(b.spent_until, v_now - p_saved) + make_interval(secs => v_count::double precision / u.rate)
        FROM unnest(p_names, p_rates) AS u(name, rate)
        WHERE b.tenant_id = p_tenant AND b.name = u.name;
    RETURN v_count;
END $$;

ALTER FUNCTION gateway.draw_budget(p_tenant text, p_names text[], p_rates integer[], p_want integer, p_ahead interval, p_saved interval) OWNER TO gateway_owner;

CREATE FUNCTION gateway.drop_audit(p_tenant text, p_older interval, p_limit integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    v_count bigint;
BEGIN
    DELETE FROM gateway.audit WHERE tenant_id = p_tenant AND at < now() - greatest(p_older, interval '30 days')
        AND position < (SELECT max(a.position) FROM gateway.audit a WHERE a.tenant_id = p_tenant)
        AND position IN (
            SELECT a.position FROM gateway.audit a WHERE a.tenant_id = p_tenant ORDER BY a.position LIMIT p_limit);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;

ALTER FUNCTION gateway.drop_audit(p_tenant text, p_older interval, p_limit integer) OWNER TO gateway_owner;

CREATE FUNCTION gateway.drop_delivery_partitions(p_before_day integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '5s'
    AS $_$
DECLARE
    v_name text;
    v_dropped integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('gateway.delivery partitions', 0));
    FOR v_name IN
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'gateway.delivery'::regclass AND c.relname ~ '^delivery_w[0-9]+$'
            AND (substr(c.relname, 11)::integer + 1) * 7 <= p_before_day
    LOOP
        EXECUTE format('DROP TABLE gateway.%I', v_name);
        v_dropped := v_dropped + 1;
    END LOOP;
    RETURN v_dropped;
END $_$;

ALTER FUNCTION gateway.drop_delivery_partitions(p_before_day integer) OWNER TO gateway_owner;

CREATE FUNCTION gateway.drop_schedule(p_tenant text, p_app text, p_vendor text, p_schedule uuid) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF gateway.cancel_scheduled(p_tenant, p_app, p_vendor, p_schedule) IS NULL THEN RETURN 0; END IF;
    DELETE FROM gateway.schedule WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND schedule_id = p_schedule;
    RETURN 1;
END $$;

ALTER FUNCTION gateway.drop_schedule(p_tenant text, p_app text, p_vendor text, p_schedule uuid) OWNER TO gateway_owner;

CREATE FUNCTION gateway.drop_unused_tokens(p_tenant text, p_devices uuid[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE gateway.device d SET token = NULL, token_state = 'none', token_reason = NULL
        WHERE d.tenant_id = p_tenant AND d.device_id = ANY (p_devices) AND d.token IS NOT NULL
            AND NOT EXISTS (
                SELECT FROM gateway.identity i
                WHERE i.tenant_id = p_tenant AND i.device_id = d.device_id AND i.state = 'active');
END $$;

ALTER FUNCTION gateway.drop_unused_tokens(p_tenant text, p_devices uuid[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.due_of(p_now timestamp with time zone, p_due timestamp with time zone, p_local bigint, p_expires timestamp with time zone, p_zone text, p_quiet_zone text, p_quiet_from integer, p_quiet_to integer, p_from integer, p_to integer) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
    v_due timestamptz := greatest(p_due, (timestamp '1970-01-01' + p_local * interval '1 second') AT TIME ZONE p_zone);
    v_end timestamptz := least(p_expires, v_due + (p_expires - (to_timestamp(p_local) + interval '12 hours')));
    v_start timestamptz := greatest(p_now, v_due);
    v_open timestamptz := v_start;
    v_before timestamptz;
BEGIN
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

ALTER FUNCTION gateway.due_of(p_now timestamp with time zone, p_due timestamp with time zone, p_local bigint, p_expires timestamp with time zone, p_zone text, p_quiet_zone text, p_quiet_from integer, p_quiet_to integer, p_from integer, p_to integer) OWNER TO gateway_owner;

CREATE FUNCTION gateway.end_identities(p_tenant text, p_limit integer) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_ids uuid[];
    v_count bigint := 0;
    g record;
BEGIN
    v_ids := ARRAY(
        SELECT i.identity_id FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.state = 'active' AND i.ends_at <= now() ORDER BY i.ends_at LIMIT p_limit);
    PERFORM gateway.lock_name(p_tenant, 'key', n.name) FROM (
        SELECT i.app_id || chr(31) || i.vendor || chr(31) || i.key AS name FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v_ids) ORDER BY 1) AS n;
    FOR g IN
        SELECT i.app_id, i.vendor, i.key FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v_ids) AND i.state = 'active' AND i.ends_at <= now()
        ORDER BY i.identity_id
    LOOP
        v_count := v_count + gateway.unregister_identities(p_tenant, g.app_id, g.vendor, g.key, NULL);
    END LOOP;
    RETURN v_count;
END $$;

ALTER FUNCTION gateway.end_identities(p_tenant text, p_limit integer) OWNER TO gateway_owner;

CREATE FUNCTION gateway.erase_devices(p_tenant text, p_devices uuid[], p_actor text, p_subject text) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_count bigint := gateway.erase_rows(p_tenant, p_devices, '{}');
BEGIN
    IF v_count > 0 THEN
        PERFORM gateway.write_audit(
            p_tenant, p_actor, ARRAY['erase'], ARRAY[p_subject], ARRAY[json_build_object('devices', v_count)::text]);
    END IF;
    RETURN v_count;
END $$;

ALTER FUNCTION gateway.erase_devices(p_tenant text, p_devices uuid[], p_actor text, p_subject text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.erase_rows(p_tenant text, p_devices uuid[], p_identities uuid[]) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_count bigint;
    v_identities uuid[];
    v_phones text[];
    v_messages uuid[];
    g record;
BEGIN
    SELECT coalesce(array_agg(i.identity_id), '{}'), coalesce(array_agg(i.phone) FILTER (WHERE i.phone IS NOT NULL), '{}')
        INTO v_identities, v_phones FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND (i.device_id = ANY (p_devices) OR i.identity_id = ANY (p_identities));
    FOR g IN
        SELECT app_id, vendor, array_agg(key) AS keys FROM gateway.identity
        WHERE tenant_id = p_tenant AND identity_id = ANY (v_identities) AND state = 'active'
        GROUP BY app_id, vendor ORDER BY app_id, vendor
    LOOP
        PERFORM gateway.count_identities(p_tenant, g.app_id, g.vendor, g.keys, -1);
    END LOOP;
    WITH d AS (
        UPDATE gateway.delivery SET identity_id = NULL, device_id = NULL, user_id = NULL, address = NULL
        WHERE tenant_id = p_tenant AND (device_id = ANY (p_devices) OR identity_id = ANY (v_identities))
        RETURNING message_id)
    SELECT coalesce(array_agg(DISTINCT d.message_id), '{}') INTO v_messages FROM d;
    UPDATE gateway.slice s SET addresses = (
            SELECT array_agg(CASE WHEN u.target = ANY (v_identities) THEN '' ELSE u.address END ORDER BY u.o)
            FROM unnest(s.targets, s.addresses) WITH ORDINALITY AS u(target, address, o))
        WHERE s.tenant_id = p_tenant AND (s.message_id = ANY (v_messages) OR s.state IN ('ready', 'leased'))
            AND cardinality(s.addresses) > 0 AND s.targets && v_identities;
    DELETE FROM gateway.verification WHERE tenant_id = p_tenant AND phone = ANY (v_phones);
    FOR g IN
        SELECT i.app_id, i.vendor, array_agg('key:' || i.key ORDER BY i.key) AS holders FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v_identities) GROUP BY i.app_id, i.vendor ORDER BY i.app_id, i.vendor
    LOOP
        DELETE FROM gateway.badge_mark k USING gateway.message m
            WHERE k.tenant_id = p_tenant AND k.holder = ANY (g.holders)
                AND m.tenant_id = p_tenant AND m.message_id = k.message_id AND m.app_id = g.app_id AND m.vendor = g.vendor;
        DELETE FROM gateway.badge b
            WHERE b.tenant_id = p_tenant AND b.app_id = g.app_id AND b.vendor = g.vendor AND b.holder = ANY (g.holders);
    END LOOP;
    DELETE FROM gateway.identity WHERE tenant_id = p_tenant AND identity_id = ANY (v_identities);
    DELETE FROM gateway.device WHERE tenant_id = p_tenant AND device_id = ANY (p_devices);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;

ALTER FUNCTION gateway.erase_rows(p_tenant text, p_devices uuid[], p_identities uuid[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.erase_user(p_tenant text, p_user text, p_actor text) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_devices uuid[];
    v_identities uuid[];
    v_count bigint := 0;
    v_groups integer := 0;
    g record;
BEGIN
    FOR g IN
        SELECT m.app_id, m.vendor, m.group_name FROM gateway.group_member m
        WHERE m.tenant_id = p_tenant AND m.user_id = p_user ORDER BY m.app_id, m.vendor, m.group_name
    LOOP
        PERFORM gateway.change_members(p_tenant, g.app_id, g.vendor, g.group_name, '{}', ARRAY[p_user]);
        v_groups := v_groups + 1;
    END LOOP;
    SELECT array_agg(DISTINCT i.device_id), array_agg(i.identity_id) INTO v_devices, v_identities
        FROM gateway.app a JOIN gateway.identity i ON i.tenant_id = p_tenant AND i.app_id = a.app_id
        WHERE a.tenant_id = p_tenant AND i.user_id = p_user;
    IF v_identities IS NULL AND v_groups = 0 THEN RETURN 0; END IF;
    IF v_identities IS NOT NULL THEN
        v_count := gateway.erase_rows(p_tenant, array_remove(v_devices, NULL), v_identities);
    END IF;
    PERFORM gateway.write_audit(
        p_tenant, p_actor, ARRAY['erase'], ARRAY['user ' || p_user],
        ARRAY[json_build_object('devices', v_count, 'identities', coalesce(cardinality(v_identities), 0), 'groups', v_groups)::text]);
    RETURN coalesce(cardinality(v_identities), 0);
END $$;

ALTER FUNCTION gateway.erase_user(p_tenant text, p_user text, p_actor text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.erase_users(p_tenant text, p_app text, p_vendor text, p_users text[], p_actor text) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_identities uuid[];
    v_devices uuid[];
    v_known text[];
    g record;
BEGIN
    PERFORM FROM gateway.user_profile p
        WHERE p.tenant_id = p_tenant AND p.app_id = p_app AND p.vendor = p_vendor AND p.user_id = ANY (p_users)
        ORDER BY p.user_id FOR UPDATE;
    SELECT coalesce(array_agg(DISTINCT k.user_id), '{}') INTO v_known FROM (
        SELECT p.user_id FROM gateway.user_profile p
            WHERE p.tenant_id = p_tenant AND p.app_id = p_app AND p.vendor = p_vendor AND p.user_id = ANY (p_users)
        UNION ALL
        SELECT i.user_id FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.user_id = ANY (p_users)) AS k;
    IF cardinality(v_known) = 0 THEN RETURN 0; END IF;
    FOR g IN
        SELECT m.group_name, array_agg(m.user_id) AS users FROM gateway.group_member m
        WHERE m.tenant_id = p_tenant AND m.app_id = p_app AND m.vendor = p_vendor AND m.user_id = ANY (p_users)
        GROUP BY m.group_name ORDER BY m.group_name
    LOOP
        PERFORM gateway.change_members(p_tenant, p_app, p_vendor, g.group_name, '{}', g.users);
    END LOOP;
    SELECT coalesce(array_agg(i.identity_id), '{}') INTO v_identities FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.user_id = ANY (p_users);
    SELECT coalesce(array_agg(DISTINCT i.device_id), '{}') INTO v_devices FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v_identities) AND i.device_id IS NOT NULL AND NOT EXISTS (
            SELECT FROM gateway.identity o
            WHERE o.tenant_id = p_tenant AND o.device_id = i.device_id AND o.identity_id <> ALL (v_identities));
    IF cardinality(v_identities) > 0 THEN
        PERFORM gateway.erase_rows(p_tenant, v_devices, v_identities);
    END IF;
    DELETE FROM gateway.user_profile
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND user_id = ANY (p_users);
    DELETE FROM gateway.badge WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor
        AND holder = ANY (SELECT 'user:' || u FROM unnest(p_users) AS u);
    DELETE FROM gateway.campaign_mark
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND user_id = ANY (p_users);
    PERFORM gateway.write_audit(
        p_tenant, p_actor, array_agg('erase'::text), array_agg('user ' || u ORDER BY u), array_agg('{}'::text)) FROM unnest(v_known) AS u;
    RETURN cardinality(v_known);
END $$;

ALTER FUNCTION gateway.erase_users(p_tenant text, p_app text, p_vendor text, p_users text[], p_actor text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.event_bounds(p_tenant text) RETURNS TABLE(first bigint, head bigint)
    LANGUAGE plpgsql STABLE
    AS $$
#variable_conflict use_column
DECLARE
    v_head bigint;
    v_first bigint;
BEGIN
    SELECT h.last INTO v_head FROM gateway.event_head h WHERE h.tenant_id = p_tenant;
    SELECT min(e.position) - 1 INTO v_first FROM gateway.event e WHERE e.tenant_id = p_tenant;
    RETURN QUERY SELECT coalesce(v_first, v_head, 0), coalesce(v_head, 0);
END $$;

ALTER FUNCTION gateway.event_bounds(p_tenant text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.expand_paced(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_page integer, p_slice_size integer) RETURNS TABLE(outcome text, targets bigint, after uuid)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    m record;
    v_last integer;
    e record;
BEGIN
    SELECT x.pace_count, x.pace_seconds, x.expanded, x.due_at, x.expires_at INTO m FROM gateway.message x
        WHERE x.tenant_id = p_tenant AND x.message_id = p_message;
    IF m.pace_count IS NULL THEN
        RETURN QUERY SELECT x.outcome, x.targets, x.after
            FROM gateway.expand_slice(p_tenant, p_message, p_no, p_epoch, p_owner, p_page, p_slice_size) x;
        RETURN;
    END IF;
    SELECT max(s.no) INTO v_last FROM gateway.slice s WHERE s.tenant_id = p_tenant AND s.message_id = p_message;
    SELECT * INTO e FROM gateway.expand_slice(
        p_tenant, p_message, p_no, p_epoch, p_owner, p_page, least(p_slice_size, m.pace_count)) x;
    UPDATE gateway.slice s
        SET next_at = least(m.expires_at, greatest(
            s.next_at, m.due_at + m.pace_seconds * div(m.expanded + n.before, m.pace_count)::bigint * interval '1 second'))
        FROM (
            SELECT x.no, sum(cardinality(x.targets)) OVER (ORDER BY x.no) - cardinality(x.targets) AS before FROM gateway.slice x
            WHERE x.tenant_id = p_tenant AND x.message_id = p_message AND x.no > v_last) AS n
        WHERE s.tenant_id = p_tenant AND s.message_id = p_message AND s.no = n.no AND s.state = 'ready';
    RETURN QUERY SELECT e.outcome, e.targets, e.after;
END $$;

ALTER FUNCTION gateway.expand_paced(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_page integer, p_slice_size integer) OWNER TO gateway_owner;

CREATE FUNCTION gateway.expand_slice(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_page integer, p_slice_size integer) RETURNS TABLE(outcome text, targets bigint, after uuid)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    s gateway.slice;
    m gateway.message;
    v_ids uuid[];
    v_count integer;
    v_first integer;
    v_slices integer;
    v_ended boolean := true;
    v_finishes boolean;
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
        IF v_is_timed AND m.audience IS NULL THEN p_page := greatest(p_page, least(p_page * 10, 5000)); END IF;
        SELECT * INTO p FROM gateway.audience_page(
            p_tenant, m.app_id, m.vendor, m.audience, p_page, s.after_user, s.after_vendor, s.after);
        v_ids := p.o_ids;
        v_ended := p.o_ended;
        s.after_user := p.io_user;
        s.after_vendor := p.io_dialect;
        s.after := p.io_after;
    END IF;
    v_count := coalesce(cardinality(v_ids), 0);

    v_slices := 0;
    v_finishes := v_ended AND (v_count = 0 OR m.content->'variants' IS NULL);
    UPDATE gateway.slice SET after_user = s.after_user, after_vendor = s.after_vendor, after = s.after,
            state = CASE WHEN v_finishes THEN 'done' ELSE state END, owner = CASE WHEN v_finishes THEN NULL ELSE owner END
        WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no;
    IF v_count = 0 AND NOT v_finishes THEN
        UPDATE gateway.message SET state = 'expanding' WHERE tenant_id = p_tenant AND message_id = p_message AND state = 'scheduled';
        RETURN QUERY SELECT 'page', 0::bigint, coalesce(s.after, '00000000-0000-0000-0000-000000000000'::uuid);
        RETURN;
    END IF;
    IF v_count > 0 THEN
        SELECT max(x.no) + 1 INTO v_first FROM gateway.slice x WHERE x.tenant_id = p_tenant AND x.message_id = p_message;
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
        PERFORM gateway.add_counts(p_tenant, m.app_id, m.vendor, m.due_at, p_owner, v_count, 0, 0, 0, 0, 0, 0, 0);
    END IF;
    IF NOT v_finishes THEN
        UPDATE gateway.message SET expanded = expanded + v_count, open_slices = open_slices + v_slices, state = 'expanding'
            WHERE tenant_id = p_tenant AND message_id = p_message;
        RETURN QUERY SELECT 'page', v_count::bigint, coalesce(s.after, '00000000-0000-0000-0000-000000000000'::uuid);
        RETURN;
    END IF;
    UPDATE gateway.message SET expanded = expanded + v_count, recipients = expanded + v_count, open_slices = open_slices + v_slices - 1,
            dead_slices = dead_slices - (s.dead_reason IS NOT NULL)::integer,
            state = CASE WHEN state NOT IN ('scheduled', 'expanding', 'sending', 'dead') THEN state
                WHEN open_slices + v_slices <= 1 THEN 'done'
                WHEN dead_slices - (s.dead_reason IS NOT NULL)::integer >= open_slices + v_slices - 1 THEN 'dead' ELSE 'sending' END
        WHERE tenant_id = p_tenant AND message_id = p_message;
    IF m.state IN ('scheduled', 'expanding', 'sending', 'dead') THEN
        RETURN QUERY SELECT 'finished', m.expanded + v_count, NULL::uuid;
    ELSE
        RETURN QUERY SELECT 'fenced', 0::bigint, NULL::uuid;
    END IF;
END $$;

ALTER FUNCTION gateway.expand_slice(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_page integer, p_slice_size integer) OWNER TO gateway_owner;

CREATE FUNCTION gateway.expand_variants(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_page integer, p_slice_size integer) RETURNS TABLE(outcome text, targets bigint, after uuid)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    m record;
    v_last integer;
    e record;
    s record;
    v_targets uuid[];
    v_more integer := 0;
    v_empty integer := 0;
BEGIN
    SELECT (x.content->'variants')::jsonb AS choice, x.app_id, x.vendor, x.due_at INTO m FROM gateway.message x
        WHERE x.tenant_id = p_tenant AND x.message_id = p_message;
    IF m.choice IS NULL THEN
        RETURN QUERY SELECT x.outcome, x.targets, x.after
            FROM gateway.expand_paced(p_tenant, p_message, p_no, p_epoch, p_owner, p_page, p_slice_size) x;
        RETURN;
    END IF;
    SELECT max(x.no) INTO v_last FROM gateway.slice x WHERE x.tenant_id = p_tenant AND x.message_id = p_message;
    SELECT x.outcome, x.targets, x.after INTO e
        FROM gateway.expand_paced(p_tenant, p_message, p_no, p_epoch, p_owner, least(p_page, 500), greatest(1, p_slice_size / 20)) x;
    FOR s IN
        SELECT x.no, x.targets FROM gateway.slice x
        WHERE x.tenant_id = p_tenant AND x.message_id = p_message AND x.no > v_last ORDER BY x.no
    LOOP
        v_targets := gateway.fan_out(p_tenant, s.targets, m.choice);
        v_more := v_more + cardinality(v_targets) - cardinality(s.targets);
        v_empty := v_empty + (cardinality(v_targets) = 0)::integer;
        UPDATE gateway.slice SET targets = v_targets, state = CASE WHEN cardinality(v_targets) = 0 THEN 'done' ELSE 'ready' END
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = s.no;
    END LOOP;
    IF v_more <> 0 OR v_empty <> 0 THEN
        UPDATE gateway.message SET expanded = expanded + v_more, open_slices = open_slices - v_empty
            WHERE tenant_id = p_tenant AND message_id = p_message;
        PERFORM gateway.add_counts(p_tenant, m.app_id, m.vendor, m.due_at, p_owner, v_more, 0, 0, 0, 0, 0, 0, 0);
    END IF;
    RETURN QUERY SELECT e.outcome, e.targets, e.after;
END $$;

ALTER FUNCTION gateway.expand_variants(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_page integer, p_slice_size integer) OWNER TO gateway_owner;

CREATE FUNCTION gateway.expect_identity(p_tenant text, p_app text, p_vendor text, p_key text, p_attributes text) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_attributes text;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'key', p_app || chr(31) || p_vendor || chr(31) || p_key);
    SELECT i.attributes::text INTO v_attributes FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.key = p_key AND i.state = 'active';
    IF v_attributes IS DISTINCT FROM p_attributes THEN
        RAISE EXCEPTION 'the identity has changed' USING ERRCODE = 'GW409';
    END IF;
    RETURN 1;
END $$;

ALTER FUNCTION gateway.expect_identity(p_tenant text, p_app text, p_vendor text, p_key text, p_attributes text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.fan_out(p_tenant text, p_ids uuid[], p_choice jsonb) RETURNS uuid[]
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_tags text[] := ARRAY(SELECT jsonb_array_elements_text(p_choice->'tags'));
    v_cares bigint[] := ARRAY(SELECT x::bigint FROM jsonb_array_elements_text(p_choice->'cares') AS x);
    v_wants bigint[] := ARRAY(SELECT x::bigint FROM jsonb_array_elements_text(p_choice->'wants') AS x);
    v_targets uuid[] := '{}';
    v record;
BEGIN
    DELETE FROM gateway.variant o WHERE o.tenant_id = p_tenant AND o.identity_id = ANY (p_ids) AND NOT EXISTS (
        SELECT FROM gateway.identity i WHERE i.tenant_id = p_tenant AND i.identity_id = o.identity_id
            AND (i.attributes->'variants')::jsonb ? o.name);
    FOR v IN
        SELECT a.place, i.identity_id, e.key AS name, md5(i.identity_id::text || chr(31) || e.key)::uuid AS target_id
        FROM unnest(p_ids) WITH ORDINALITY AS a(identity_id, place)
        JOIN gateway.identity i ON i.tenant_id = p_tenant AND i.identity_id = a.identity_id
        CROSS JOIN LATERAL jsonb_each(
            CASE json_typeof(i.attributes->'variants') WHEN 'object' THEN (i.attributes->'variants')::jsonb ELSE '{}' END) AS e
        CROSS JOIN LATERAL (
            SELECT coalesce(bit_or(1::bigint << (n.place - 1)::integer), 0) AS bits
            FROM unnest(v_tags) WITH ORDINALITY AS n(tag, place)
            WHERE e.value ? n.tag OR EXISTS (
                SELECT FROM gateway.identity_tag t
                WHERE t.tenant_id = p_tenant AND t.identity_id = i.identity_id AND t.tag = n.tag)) AS b
        WHERE EXISTS (SELECT FROM unnest(v_cares, v_wants) AS c(cares, wants) WHERE b.bits & c.cares = c.wants)
        ORDER BY a.place, e.key
    LOOP
        INSERT INTO gateway.variant (tenant_id, target_id, identity_id, name)
            VALUES (p_tenant, v.target_id, v.identity_id, v.name) ON CONFLICT DO NOTHING;
        v_targets := v_targets || v.target_id;
    END LOOP;
    RETURN v_targets;
END $$;

ALTER FUNCTION gateway.fan_out(p_tenant text, p_ids uuid[], p_choice jsonb) OWNER TO gateway_owner;

CREATE FUNCTION gateway.find_answer(p_tenant text, p_key text, p_body_hash text) RETURNS TABLE(outcome text, status smallint, answer bytea)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    v gateway.idempotency;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'answer', p_key);
    SELECT * INTO v FROM gateway.idempotency y
        WHERE y.tenant_id = p_tenant AND y.app_id = '' AND y.vendor = 'native' AND y.key = p_key;
    IF NOT FOUND THEN
        RETURN QUERY SELECT 'new', NULL::smallint, NULL::bytea;
    ELSIF v.body_hash = p_body_hash THEN
        RETURN QUERY SELECT 'repeated', v.status, v.answer;
    ELSE
        RETURN QUERY SELECT 'mismatch', NULL::smallint, NULL::bytea;
    END IF;
END $$;

ALTER FUNCTION gateway.find_answer(p_tenant text, p_key text, p_body_hash text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.find_history(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_reader text, p_kind text, p_user text, p_number text, p_now uuid, p_today integer, p_read boolean, p_hidden text, p_looks integer, p_limit integer) RETURNS TABLE(message_id uuid, user_id text, received_at timestamp with time zone, read_at timestamp with time zone)
    LANGUAGE plpgsql STABLE
    AS $_$
#variable_conflict use_column
DECLARE
    i gateway.identity;
    v_before uuid := p_now;
    v_day integer := p_today;
    v_since integer;
    v_last bigint;
BEGIN
    i := gateway.reading_identity(p_tenant, p_app, p_vendor, p_key, p_token, p_reader);
    IF i.identity_id IS NULL THEN RETURN; END IF;
    IF p_kind = 'user' AND (i.user_id IS NULL OR p_user <> i.user_id) THEN RETURN; END IF;
    IF p_number IS NOT NULL THEN
        v_before := gateway.numbered_message(p_tenant, p_app, p_vendor, p_number);
        IF v_before IS NULL THEN
            SELECT s.last INTO v_last FROM gateway.vendor_sequence s
                WHERE s.tenant_id = p_tenant AND s.app_id = p_app AND s.vendor = p_vendor AND s.name = 'message';
            IF p_number !~ '^[0-9]{1,18}$' OR p_number::bigint <= coalesce(v_last, 0) THEN RETURN; END IF;
        END IF;
        v_before := least(v_before, p_now);
        SELECT m.due_day INTO v_day FROM gateway.message m WHERE m.tenant_id = p_tenant AND m.message_id = v_before;
        v_day := coalesce(least(v_day, p_today), p_today);
    END IF;
    SELECT floor(extract(epoch FROM CASE p_kind WHEN 'user' THEN a.created_at ELSE i.created_at END) / 86400)::integer - 1 INTO v_since
        FROM gateway.app a WHERE a.tenant_id = p_tenant AND a.app_id = p_app;
    RETURN QUERY SELECT l.message_id, l.user_id, l.received_at, l.read_at FROM gateway.look_history(
        p_tenant, p_app, p_vendor, i.identity_id, CASE p_kind WHEN 'user' THEN i.user_id END, v_since, v_day, v_before, p_read,
        p_hidden, p_looks, p_limit) l;
END $_$;

ALTER FUNCTION gateway.find_history(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_reader text, p_kind text, p_user text, p_number text, p_now uuid, p_today integer, p_read boolean, p_hidden text, p_looks integer, p_limit integer) OWNER TO gateway_owner;

CREATE FUNCTION gateway.find_message(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_reader text, p_user text, p_number text, p_hidden text) RETURNS TABLE(message_id uuid, user_id text, received_at timestamp with time zone, read_at timestamp with time zone)
    LANGUAGE plpgsql STABLE
    AS $$
#variable_conflict use_column
DECLARE
    i gateway.identity;
    m record;
    v record;
BEGIN
    i := gateway.reading_identity(p_tenant, p_app, p_vendor, p_key, p_token, p_reader);
    IF i.identity_id IS NULL OR i.user_id IS DISTINCT FROM p_user THEN RETURN; END IF;
    SELECT x.message_id, x.due_day INTO m FROM gateway.message x
        WHERE x.tenant_id = p_tenant AND x.message_id = gateway.numbered_message(p_tenant, p_app, p_vendor, p_number)
            AND (p_hidden IS NULL OR x.content -> 'data' ->> p_hidden IS DISTINCT FROM 'N');
    IF NOT FOUND THEN RETURN; END IF;
    SELECT min(d.received_at) AS received, min(d.read_at) AS read, count(*) AS rows INTO v
        FROM gateway.delivery d JOIN gateway.identity o ON o.tenant_id = p_tenant AND o.identity_id = d.identity_id
        WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.user_id = p_user AND o.vendor = p_vendor
            AND d.due_day = m.due_day AND d.message_id = m.message_id AND d.state <> 'canceled'
            AND d.reason IS DISTINCT FROM 'duplicate';
    IF v.rows = 0 THEN RETURN; END IF;
    RETURN QUERY SELECT m.message_id, p_user, v.received, v.read;
END $$;

ALTER FUNCTION gateway.find_message(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_reader text, p_user text, p_number text, p_hidden text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.first_of_devices(p_tenant text, p_app text, p_tags text[], p_cares bigint[], p_wants bigint[], p_ids uuid[]) RETURNS uuid[]
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_later uuid[];
BEGIN
    PERFORM FROM gateway.app WHERE tenant_id = p_tenant AND app_id = p_app AND shares_devices;
    IF NOT FOUND THEN RETURN p_ids; END IF;
    v_later := ARRAY(
        SELECT c.id FROM unnest(p_ids) AS c(id)
        CROSS JOIN LATERAL (
            SELECT i.device_id FROM gateway.identity i WHERE i.tenant_id = p_tenant AND i.identity_id = c.id OFFSET 0) AS i
        CROSS JOIN LATERAL (
            SELECT s.identity_id FROM gateway.identity s
            WHERE s.tenant_id = p_tenant AND s.device_id = i.device_id AND s.identity_id < c.id AND s.state = 'active' OFFSET 0) AS o
        WHERE p_tags IS NULL OR EXISTS (
            SELECT FROM (
                SELECT coalesce(bit_or(1::bigint << (array_position(p_tags, t.tag) - 1)), 0) AS bits FROM gateway.identity_tag t
                WHERE t.tenant_id = p_tenant AND t.identity_id = o.identity_id AND t.tag = ANY (p_tags)) AS h
            CROSS JOIN unnest(p_cares, p_wants) AS w(cares, wants) WHERE h.bits & w.cares = w.wants));
    IF cardinality(v_later) = 0 THEN RETURN p_ids; END IF;
    RETURN ARRAY(SELECT unnest(p_ids) EXCEPT SELECT unnest(v_later) ORDER BY 1);
END $$;

ALTER FUNCTION gateway.first_of_devices(p_tenant text, p_app text, p_tags text[], p_cares bigint[], p_wants bigint[], p_ids uuid[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.forget_user(p_tenant text, p_user text) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM gateway.badge WHERE tenant_id = p_tenant AND holder = 'user:' || p_user;
    DELETE FROM gateway.badge_mark WHERE tenant_id = p_tenant AND holder = 'user:' || p_user;
    DELETE FROM gateway.message_variable WHERE tenant_id = p_tenant AND user_id = p_user;
    DELETE FROM gateway.campaign_mark WHERE tenant_id = p_tenant AND user_id = p_user;
    DELETE FROM gateway.user_profile WHERE tenant_id = p_tenant AND user_id = p_user;
END $$;

ALTER FUNCTION gateway.forget_user(p_tenant text, p_user text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.group_by_due(p_tenant text, p_lane smallint, p_due timestamp with time zone, p_local bigint, p_expires timestamp with time zone, p_defaults jsonb, p_ids uuid[]) RETURNS TABLE(due timestamp with time zone, ids uuid[])
    LANGUAGE plpgsql
    AS $$
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

ALTER FUNCTION gateway.group_by_due(p_tenant text, p_lane smallint, p_due timestamp with time zone, p_local bigint, p_expires timestamp with time zone, p_defaults jsonb, p_ids uuid[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.heeds_windows(p_defaults jsonb, p_lane smallint) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE
    AS $$
BEGIN
    RETURN coalesce(p_defaults->'windows'->'lanes', '[1, 2, 3]') @> to_jsonb(p_lane);
END $$;

ALTER FUNCTION gateway.heeds_windows(p_defaults jsonb, p_lane smallint) OWNER TO gateway_owner;

CREATE FUNCTION gateway.history_message(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_number text) RETURNS TABLE(message_id uuid, app_id text, vendor text, content json, due_at timestamp with time zone, due_local bigint, expires_at timestamp with time zone, collapse_id text, numbers text, sender_id text, user_id text, received_at timestamp with time zone, read_at timestamp with time zone)
    LANGUAGE plpgsql STABLE
    AS $$
#variable_conflict use_column
DECLARE
    i gateway.identity;
    v_message uuid;
    v_day integer;
    v record;
BEGIN
    i := gateway.calling_identity(p_tenant, p_app, p_vendor, p_key, p_token);
    IF i.identity_id IS NULL THEN RETURN; END IF;
    v_message := gateway.numbered_message(p_tenant, p_app, p_vendor, p_number);
    SELECT m.due_day INTO v_day FROM gateway.message m WHERE m.tenant_id = p_tenant AND m.message_id = v_message;
    IF NOT FOUND THEN RETURN; END IF;
    SELECT d.user_id AS name, d.received_at AS received, d.read_at AS read INTO v FROM gateway.delivery d
        WHERE d.tenant_id = p_tenant AND d.due_day = v_day AND d.message_id = v_message AND d.target_id = i.identity_id
            AND d.state <> 'canceled';
    IF NOT FOUND THEN
        SELECT i.user_id AS name, min(d.received_at) AS received, min(d.read_at) AS read, count(*) AS rows INTO v
            FROM gateway.delivery d JOIN gateway.identity o ON o.tenant_id = p_tenant AND o.identity_id = d.identity_id
            WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.user_id = i.user_id AND o.vendor = p_vendor
                AND d.due_day = v_day AND d.message_id = v_message AND d.state <> 'canceled';
        IF v.rows = 0 THEN RETURN; END IF;
    END IF;
    RETURN QUERY SELECT s.* FROM gateway.shown_messages(
        p_tenant, ARRAY[v_message], ARRAY[v.name], ARRAY[v.received], ARRAY[v.read]) s;
END $$;

ALTER FUNCTION gateway.history_message(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_number text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.history_page(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_kind text, p_user text, p_number text, p_now uuid, p_today integer, p_limit integer, p_at timestamp with time zone, p_node text) RETURNS TABLE(message_id uuid, app_id text, vendor text, content json, due_at timestamp with time zone, due_local bigint, expires_at timestamp with time zone, collapse_id text, numbers text, sender_id text, user_id text, received_at timestamp with time zone, read_at timestamp with time zone)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    i gateway.identity;
    v_before uuid := p_now;
    v_day integer := p_today;
    v_since integer;
    v_new uuid[];
    v record;
BEGIN
    i := gateway.calling_identity(p_tenant, p_app, p_vendor, p_key, p_token);
    IF i.identity_id IS NULL THEN RETURN; END IF;
    IF p_kind = 'user' AND (i.user_id IS NULL OR p_user <> i.user_id) THEN RETURN; END IF;
    IF p_number IS NOT NULL THEN
        v_before := gateway.numbered_message(p_tenant, p_app, p_vendor, p_number);
        IF v_before IS NULL THEN
            SELECT r.message_id INTO v_before FROM gateway.message_ref r
                WHERE r.tenant_id = p_tenant AND r.app_id = p_app AND r.vendor = p_vendor AND r.ref > p_number
                ORDER BY r.ref LIMIT 1;
        END IF;
        v_before := least(v_before, p_now);
        SELECT m.due_day INTO v_day FROM gateway.message m WHERE m.tenant_id = p_tenant AND m.message_id = v_before;
        v_day := coalesce(least(v_day, p_today), p_today);
    END IF;
    SELECT floor(extract(epoch FROM CASE p_kind WHEN 'user' THEN a.created_at ELSE i.created_at END) / 86400)::integer - 1 INTO v_since
        FROM gateway.app a WHERE a.tenant_id = p_tenant AND a.app_id = p_app;
    SELECT array_agg(w.message_id) AS ids, array_agg(w.user_id) AS users, array_agg(w.received_at) AS received,
            array_agg(w.read_at) AS read, array_agg(w.message_id) FILTER (WHERE w.is_sent) AS fresh,
            array_agg(w.due_day) FILTER (WHERE w.is_sent) AS days
        INTO v FROM gateway.walk_history(
            p_tenant, p_app, p_vendor, i.identity_id, CASE p_kind WHEN 'user' THEN i.user_id END, v_since, v_day, v_before, p_limit) w;
    IF v.fresh IS NOT NULL THEN
        v_new := gateway.mark_deliveries(p_tenant, i.identity_id, v.fresh, v.days, 'received', p_at, p_node);
    END IF;
    RETURN QUERY SELECT s.message_id, s.app_id, s.vendor, s.content, s.due_at, s.due_local, s.expires_at, s.collapse_id, s.numbers,
            s.sender_id, s.user_id, CASE WHEN s.message_id = ANY (v_new) THEN least(s.received_at, p_at) ELSE s.received_at END,
            s.read_at
        FROM gateway.shown_messages(p_tenant, v.ids, v.users, v.received, v.read) s;
END $$;

ALTER FUNCTION gateway.history_page(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_kind text, p_user text, p_number text, p_now uuid, p_today integer, p_limit integer, p_at timestamp with time zone, p_node text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.identity_page(p_tenant text, p_app text, p_vendor text, p_audience json, p_page integer, INOUT io_after uuid, OUT o_ids uuid[], OUT o_ended boolean) RETURNS record
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_vendors text[] := ARRAY[p_vendor];
    v_anchors text[];
    v_tags text[];
    v_cares bigint[];
    v_wants bigint[];
    v_judges boolean := false;
    v_seen integer := 0;
    v_most integer := least(20 * p_page, 20000);
    v_end uuid;
    v_ids uuid[];
BEGIN
    IF p_vendor = 'native' THEN
        v_vendors := ARRAY(
            SELECT DISTINCT c.vendor FROM gateway.identity_count c WHERE c.tenant_id = p_tenant AND c.app_id = p_app);
    END IF;
    IF p_audience IS NOT NULL THEN
        v_tags := ARRAY(SELECT json_array_elements_text(p_audience->'tags'));
        v_cares := ARRAY(SELECT json_array_elements_text(p_audience->'cares')::bigint);
        v_wants := ARRAY(SELECT json_array_elements_text(p_audience->'wants')::bigint);
        IF json_typeof(p_audience->'anchors') = 'array' THEN
            v_anchors := ARRAY(SELECT json_array_elements_text(p_audience->'anchors'));
        END IF;
        v_judges := v_anchors IS NULL OR EXISTS (
            SELECT FROM unnest(v_cares, v_wants) AS c(cares, wants) WHERE c.cares <> c.wants OR c.cares & (c.cares - 1) <> 0);
    END IF;
    io_after := coalesce(io_after, '00000000-0000-0000-0000-000000000000');
    o_ids := '{}';
    LOOP
        v_end := gateway.window_end(p_tenant, p_app, v_vendors, v_anchors, io_after, p_page - cardinality(o_ids));
        o_ended := v_end IS NULL;
        v_end := coalesce(v_end, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
        v_ids := gateway.in_window(
            p_tenant, p_app, v_vendors, v_anchors, v_tags, CASE WHEN v_judges THEN v_cares END, v_wants, io_after, v_end, 4 * p_page);
        v_seen := v_seen + p_page - cardinality(o_ids);
        io_after := CASE WHEN o_ended THEN coalesce(v_ids[cardinality(v_ids)], io_after) ELSE v_end END;
        v_ids := gateway.without_gone(p_tenant, p_app, v_ids);
        IF p_vendor = 'native' THEN v_ids := gateway.first_of_devices(p_tenant, p_app, v_tags, v_cares, v_wants, v_ids); END IF;
        o_ids := o_ids || v_ids;
        EXIT WHEN o_ended OR cardinality(o_ids) * 2 >= p_page OR v_seen >= v_most;
    END LOOP;
END $$;

ALTER FUNCTION gateway.identity_page(p_tenant text, p_app text, p_vendor text, p_audience json, p_page integer, INOUT io_after uuid, OUT o_ids uuid[], OUT o_ended boolean) OWNER TO gateway_owner;

CREATE FUNCTION gateway.import_clocks(p_tenant text, p_app text, p_vendor text, p_keys text[], p_zones text[], p_from integer[], p_to integer[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

ALTER FUNCTION gateway.import_clocks(p_tenant text, p_app text, p_vendor text, p_keys text[], p_zones text[], p_from integer[], p_to integer[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.import_each(p_tenant text, p_app text, p_vendor text, p_keys text[], p_identities uuid[], p_devices uuid[], p_platforms text[], p_environments text[], p_tokens text[], p_users text[], p_names text[], p_phones text[], p_raw_phones text[], p_attributes text[], p_zones text[], p_from integer[], p_to integer[], p_tags text[], p_at timestamp with time zone) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_created bigint := 0;
    r record;
    g record;
BEGIN
    FOR r IN
        SELECT * FROM unnest(
            p_keys, p_identities, p_devices, p_platforms, p_environments, p_tokens, p_users, p_names, p_phones, p_raw_phones,
            p_attributes, p_zones, p_from, p_to, p_tags)
            WITH ORDINALITY AS u(
            key, identity, device, platform, environment, token, user_id, name, phone, raw_phone, attributes, zone, first, last, tags, o)
        ORDER BY o
    LOOP
        SELECT x.identity_id, x.device_id, x.was_active INTO g FROM gateway.register_identity(
            p_tenant, p_app, p_vendor, r.key, r.identity, r.device, r.platform, r.environment, r.token, r.user_id, r.name, r.phone,
            r.raw_phone, false, r.attributes::json, p_at + r.o * interval '1 microsecond') x;
        IF NOT g.was_active THEN v_created := v_created + 1; END IF;
        IF r.zone IS NOT NULL OR r.first IS NOT NULL THEN
            PERFORM gateway.set_clock(p_tenant, g.device_id, r.zone, r.first, r.last);
        END IF;
        IF r.tags IS NOT NULL THEN
            PERFORM gateway.set_tags(p_tenant, g.identity_id, string_to_array(r.tags, ' '));
        END IF;
    END LOOP;
    RETURN v_created;
END $$;

ALTER FUNCTION gateway.import_each(p_tenant text, p_app text, p_vendor text, p_keys text[], p_identities uuid[], p_devices uuid[], p_platforms text[], p_environments text[], p_tokens text[], p_users text[], p_names text[], p_phones text[], p_raw_phones text[], p_attributes text[], p_zones text[], p_from integer[], p_to integer[], p_tags text[], p_at timestamp with time zone) OWNER TO gateway_owner;

CREATE FUNCTION gateway.import_identities(p_tenant text, p_app text, p_vendor text, p_keys text[], p_identities uuid[], p_devices uuid[], p_platforms text[], p_environments text[], p_tokens text[], p_users text[], p_names text[], p_phones text[], p_raw_phones text[], p_attributes text[], p_at timestamp with time zone) RETURNS TABLE(created bigint, updated bigint)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    v_new integer[] := '{}';
    v_key text;
    v_token text;
    v_platform text;
    v_created bigint;
    v_was_active boolean;
    r record;
BEGIN
    FOR r IN
        SELECT f.place, f.key, f.platform, f.token FROM (
            SELECT u.o::integer AS place, u.key, u.platform, u.token,
                row_number() OVER (PARTITION BY u.key ORDER BY u.o) AS key_use,
                row_number() OVER (PARTITION BY u.platform, u.token ORDER BY u.o) AS token_use
            FROM unnest(p_keys, p_platforms, p_tokens) WITH ORDINALITY AS u(key, platform, token, o)) f
        WHERE f.key_use = 1 AND (f.token IS NULL OR f.token_use = 1) ORDER BY f.place
    LOOP
        v_key := r.key;
        v_token := r.token;
        v_platform := r.platform;
        PERFORM FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.key = v_key;
        CONTINUE WHEN FOUND;
        PERFORM FROM gateway.device d
            WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.platform = v_platform AND d.token_digest = md5(v_token);
        CONTINUE WHEN FOUND;
        v_new := v_new || r.place;
    END LOOP;
    BEGIN
        WITH r AS (
            INSERT INTO gateway.device
                (tenant_id, device_id, app_id, platform, environment, token, token_state, token_registered_at, created_at, seen_at)
            SELECT p_tenant, p_devices[n], p_app, p_platforms[n], coalesce(p_environments[n], 'production'), p_tokens[n],
                CASE WHEN p_tokens[n] IS NULL THEN 'none' ELSE 'active' END,
                CASE WHEN p_tokens[n] IS NULL THEN NULL ELSE p_at + n * interval '1 microsecond' END,
                p_at + n * interval '1 microsecond', p_at + n * interval '1 microsecond'
            FROM unnest(v_new) AS n
            RETURNING 1)
        SELECT count(*) INTO v_created FROM r;
        WITH r AS (
            INSERT INTO gateway.identity
                (tenant_id, identity_id, app_id, vendor, key, device_id, state, user_id, name, phone, raw_phone, attributes,
                registered_at, created_at)
            SELECT p_tenant, p_identities[n], p_app, p_vendor, p_keys[n], p_devices[n], 'active', p_users[n], p_names[n],
                p_phones[n], p_raw_phones[n], coalesce(p_attributes[n], '{}')::json, p_at + n * interval '1 microsecond',
                p_at + n * interval '1 microsecond'
            FROM unnest(v_new) AS n
            RETURNING 1)
        SELECT count(*) INTO v_created FROM r;
        PERFORM gateway.count_identities(
            p_tenant, p_app, p_vendor, (SELECT coalesce(array_agg(p_keys[n]), '{}') FROM unnest(v_new) AS n), 1);
    EXCEPTION WHEN unique_violation THEN
        v_new := '{}';
    END;
    v_created := cardinality(v_new);
    FOR r IN SELECT n FROM generate_series(1, cardinality(p_keys)) AS n WHERE NOT n = ANY (v_new) ORDER BY n LOOP
        SELECT g.was_active INTO v_was_active FROM gateway.register_identity(
            p_tenant, p_app, p_vendor, p_keys[r.n], p_identities[r.n], p_devices[r.n], p_platforms[r.n], p_environments[r.n],
            p_tokens[r.n], p_users[r.n], p_names[r.n], p_phones[r.n], p_raw_phones[r.n], false, p_attributes[r.n]::json,
            p_at + r.n * interval '1 microsecond') g;
        v_created := v_created + (NOT v_was_active)::integer;
    END LOOP;
    RETURN QUERY SELECT v_created, cardinality(p_keys) - v_created;
END $$;

ALTER FUNCTION gateway.import_identities(p_tenant text, p_app text, p_vendor text, p_keys text[], p_identities uuid[], p_devices uuid[], p_platforms text[], p_environments text[], p_tokens text[], p_users text[], p_names text[], p_phones text[], p_raw_phones text[], p_attributes text[], p_at timestamp with time zone) OWNER TO gateway_owner;

CREATE FUNCTION gateway.import_new(p_tenant text, p_app text, p_vendor text, p_keys text[], p_identities uuid[], p_devices uuid[], p_platforms text[], p_environments text[], p_tokens text[], p_users text[], p_names text[], p_phones text[], p_raw_phones text[], p_attributes text[], p_zones text[], p_from integer[], p_to integer[], p_tags text[], p_at timestamp with time zone) RETURNS boolean[]
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    v_known boolean[];
    v_new text[];
    v_count bigint;
BEGIN
    v_known := ARRAY(
        SELECT EXISTS (
                SELECT FROM gateway.identity i
                WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.key = u.key OFFSET 0)
            OR u.token IS NOT NULL AND EXISTS (
                SELECT FROM gateway.device d
                WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.platform = u.platform
                    AND d.token_digest = md5(u.token) OFFSET 0)
        FROM unnest(p_keys, p_platforms, p_tokens) WITH ORDINALITY AS u(key, platform, token, o) ORDER BY u.o);
    v_new := ARRAY(SELECT u.key FROM unnest(p_keys, v_known) AS u(key, known) WHERE NOT u.known);
    IF cardinality(v_new) = 0 THEN RETURN v_known; END IF;
    WITH r AS (
        INSERT INTO gateway.device
            (tenant_id, device_id, app_id, platform, environment, token, token_state, token_registered_at, created_at, seen_at,
            time_zone, window_from, window_to)
        SELECT p_tenant, u.id, p_app, u.platform, coalesce(u.environment, 'production'), u.token,
            CASE WHEN u.token IS NULL THEN 'none' ELSE 'active' END,
            CASE WHEN u.token IS NULL THEN NULL ELSE p_at + u.o * interval '1 microsecond' END,
            p_at + u.o * interval '1 microsecond', p_at + u.o * interval '1 microsecond', u.zone,
            CASE WHEN (u.last - u.first + 1440) % 1440 = 1439 THEN NULL ELSE u.first END,
            CASE WHEN (u.last - u.first + 1440) % 1440 = 1439 THEN NULL ELSE u.last END
        FROM unnest(p_devices, p_platforms, p_environments, p_tokens, p_zones, p_from, p_to, v_known)
            WITH ORDINALITY AS u(id, platform, environment, token, zone, first, last, known, o)
        WHERE NOT u.known
        RETURNING 1)
    SELECT count(*) INTO v_count FROM r;
    WITH r AS (
        INSERT INTO gateway.identity
            (tenant_id, identity_id, app_id, vendor, key, device_id, state, user_id, name, phone, raw_phone, attributes,
            registered_at, created_at)
        SELECT p_tenant, u.id, p_app, p_vendor, u.key, u.device, 'active', u.user_id, u.name, u.phone, u.raw_phone,
            coalesce(u.attributes, '{}')::json, p_at + u.o * interval '1 microsecond', p_at + u.o * interval '1 microsecond'
        FROM unnest(p_identities, p_keys, p_devices, p_users, p_names, p_phones, p_raw_phones, p_attributes, v_known)
            WITH ORDINALITY AS u(id, key, device, user_id, name, phone, raw_phone, attributes, known, o)
        WHERE NOT u.known
        RETURNING 1)
    SELECT count(*) INTO v_count FROM r;
    IF array_length(array_remove(p_tags, NULL), 1) > 0 THEN
        WITH r AS (
            INSERT INTO gateway.identity_tag (tenant_id, app_id, vendor, tag, identity_id)
            SELECT p_tenant, p_app, p_vendor, t.tag, u.id FROM unnest(p_identities, p_tags, v_known) AS u(id, tags, known)
            CROSS JOIN LATERAL unnest(string_to_array(u.tags, ' ')) AS t(tag)
            WHERE NOT u.known
            RETURNING 1)
        SELECT count(*) INTO v_count FROM r;
    END IF;
    IF EXISTS (
        SELECT FROM unnest(p_from, p_to, v_known) AS u(first, last, known)
        WHERE NOT u.known AND (u.last - u.first + 1440) % 1440 <> 1439)
    THEN
        UPDATE gateway.app SET uses_windows = true WHERE tenant_id = p_tenant AND app_id = p_app AND NOT uses_windows;
    END IF;
    PERFORM gateway.count_identities(p_tenant, p_app, p_vendor, v_new, 1);
    RETURN v_known;
EXCEPTION WHEN unique_violation THEN
    RETURN array_fill(true, ARRAY[cardinality(p_keys)]);
END $$;

ALTER FUNCTION gateway.import_new(p_tenant text, p_app text, p_vendor text, p_keys text[], p_identities uuid[], p_devices uuid[], p_platforms text[], p_environments text[], p_tokens text[], p_users text[], p_names text[], p_phones text[], p_raw_phones text[], p_attributes text[], p_zones text[], p_from integer[], p_to integer[], p_tags text[], p_at timestamp with time zone) OWNER TO gateway_owner;

CREATE FUNCTION gateway.in_window(p_tenant text, p_app text, p_vendors text[], p_anchors text[], p_tags text[], p_cares bigint[], p_wants bigint[], p_after uuid, p_end uuid, p_most integer) RETURNS uuid[]
    LANGUAGE plpgsql
    AS $_$
DECLARE
    v_many text[];
    v_meant text;
    v_ids uuid[];
BEGIN
    IF p_cares IS NULL AND p_anchors IS NULL THEN
        RETURN ARRAY(
            SELECT y.id FROM unnest(p_vendors) AS v(name) CROSS JOIN LATERAL (
                SELECT i.identity_id AS id FROM gateway.identity i
                WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = v.name AND i.identity_id > p_after AND i.identity_id <= p_end
                OFFSET 0) AS y
            ORDER BY y.id);
    ELSIF p_cares IS NULL THEN
        v_ids := ARRAY(
            SELECT y.id FROM unnest(p_vendors) AS v(name) CROSS JOIN unnest(p_anchors) AS a(tag) CROSS JOIN LATERAL (
                SELECT t.identity_id AS id FROM gateway.identity_tag t
                WHERE t.tenant_id = p_tenant AND t.app_id = p_app AND t.vendor = v.name AND t.tag = a.tag
                    AND t.identity_id > p_after AND t.identity_id <= p_end OFFSET 0) AS y
            ORDER BY y.id);
        RETURN CASE WHEN cardinality(p_anchors) = 1 THEN v_ids ELSE ARRAY(SELECT DISTINCT unnest(v_ids) ORDER BY 1) END;
    END IF;
    v_many := ARRAY(
        SELECT n.tag FROM unnest(p_tags) AS n(tag)
        WHERE n.tag <> ALL (coalesce(p_anchors, '{}')) AND p_most < (
            SELECT count(*) FROM (
                SELECT FROM unnest(p_vendors) AS v(name) CROSS JOIN LATERAL (
                    SELECT FROM gateway.identity_tag t
                    WHERE t.tenant_id = p_tenant AND t.app_id = p_app AND t.vendor = v.name AND t.tag = n.tag
                        AND t.identity_id > p_after AND t.identity_id <= p_end OFFSET 0) AS y
                LIMIT p_most + 1) AS x));
    SELECT string_agg(format('bit_or(e.bit) & %s = %s', c.cares, c.wants), ' OR ') INTO v_meant
        FROM unnest(p_cares, p_wants) AS c(cares, wants);
    EXECUTE $q$
        SELECT ARRAY(
            SELECT e.id FROM (
                SELECT y.id, 0::bigint AS bit FROM unnest($3) AS v(name) CROSS JOIN LATERAL (
                    SELECT i.identity_id AS id FROM gateway.identity i
                    WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = v.name AND i.identity_id > $7 AND i.identity_id <= $8 OFFSET 0) AS y
                WHERE $4 IS NULL
                UNION ALL
                SELECT y.id, 1::bigint << (n.place - 1)::integer
                FROM unnest($5) WITH ORDINALITY AS n(tag, place) CROSS JOIN unnest($3) AS v(name) CROSS JOIN LATERAL (
                    SELECT t.identity_id AS id FROM gateway.identity_tag t
                    WHERE t.tenant_id = $1 AND t.app_id = $2 AND t.vendor = v.name AND t.tag = n.tag
                        AND t.identity_id > $7 AND t.identity_id <= $8 OFFSET 0) AS y
                WHERE n.tag <> ALL ($6)
                UNION ALL
                SELECT c.id, 1::bigint << (n.place - 1)::integer
                FROM unnest($5) WITH ORDINALITY AS n(tag, place) CROSS JOIN LATERAL (
                    SELECT DISTINCT y.id FROM unnest($3) AS v(name) CROSS JOIN LATERAL (
                        SELECT i.identity_id AS id FROM gateway.identity i
                        WHERE $4 IS NULL AND i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = v.name
                            AND i.identity_id > $7 AND i.identity_id <= $8
                        UNION ALL
                        SELECT t.identity_id FROM unnest($4) AS a(tag) CROSS JOIN LATERAL (
                            SELECT o.identity_id FROM gateway.identity_tag o
                            WHERE o.tenant_id = $1 AND o.app_id = $2 AND o.vendor = v.name AND o.tag = a.tag
                                AND o.identity_id > $7 AND o.identity_id <= $8 OFFSET 0) AS t
                        OFFSET 0) AS y
                    OFFSET 0) AS c
                CROSS JOIN LATERAL (
                    SELECT FROM gateway.identity_tag t
                    WHERE t.tenant_id = $1 AND t.identity_id = c.id AND t.tag = n.tag OFFSET 0) AS h
                WHERE n.tag = ANY ($6)) AS e
            GROUP BY e.id HAVING $q$ || coalesce(v_meant, 'false') || $q$ ORDER BY e.id)$q$
        INTO v_ids USING p_tenant, p_app, p_vendors, p_anchors, p_tags, v_many, p_after, p_end;
    RETURN v_ids;
END $_$;

ALTER FUNCTION gateway.in_window(p_tenant text, p_app text, p_vendors text[], p_anchors text[], p_tags text[], p_cares bigint[], p_wants bigint[], p_after uuid, p_end uuid, p_most integer) OWNER TO gateway_owner;

CREATE FUNCTION gateway.keep_users(p_tenant text, p_app text, p_vendor text, p_repeat text, p_users text[], p_anonymous boolean[], p_accepts boolean[], p_attributes text[], p_revisions bigint[], p_labels text[], p_names text[], p_named text[], p_actors text[], p_digests text[], p_kinds text[], p_acts text[], p_ats timestamp with time zone[], p_data text[], p_from text[], p_to text[], p_opted boolean[], p_consents text[]) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_said record;
BEGIN
    IF gateway.put_users(
        p_tenant, p_app, p_vendor, p_repeat, p_users, p_anonymous, p_accepts, p_attributes, p_revisions, p_labels, p_names, p_named,
        p_actors, p_digests, p_kinds, p_acts, p_ats, p_data, p_from, p_to) THEN
        RETURN true;
    END IF;
    FOR v_said IN SELECT u.user_id, u.opted, u.consents FROM unnest(p_users, p_opted, p_consents) AS u(user_id, opted, consents) LOOP
        UPDATE gateway.user_profile p SET opted_in = v_said.opted, consents = v_said.consents::json
            WHERE p.tenant_id = p_tenant AND p.app_id = p_app AND p.vendor = p_vendor AND p.user_id = v_said.user_id
                AND (p.opted_in <> v_said.opted OR p.consents::text <> v_said.consents);
    END LOOP;
    RETURN false;
END $$;

ALTER FUNCTION gateway.keep_users(p_tenant text, p_app text, p_vendor text, p_repeat text, p_users text[], p_anonymous boolean[], p_accepts boolean[], p_attributes text[], p_revisions bigint[], p_labels text[], p_names text[], p_named text[], p_actors text[], p_digests text[], p_kinds text[], p_acts text[], p_ats timestamp with time zone[], p_data text[], p_from text[], p_to text[], p_opted boolean[], p_consents text[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.known_zone(p_zone text, p_default text) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $$
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

ALTER FUNCTION gateway.known_zone(p_zone text, p_default text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.lock_name(p_tenant text, p_kind text, p_name text) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM pg_catalog.pg_advisory_xact_lock(
        pg_catalog.hashtextextended(p_tenant || chr(31) || p_kind || chr(31) || p_name, 0));
END $$;

ALTER FUNCTION gateway.lock_name(p_tenant text, p_kind text, p_name text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.look_history(p_tenant text, p_app text, p_vendor text, p_identity uuid, p_user text, p_since integer, p_day integer, p_before uuid, p_read boolean, p_hidden text, p_looks integer, p_limit integer) RETURNS TABLE(message_id uuid, user_id text, received_at timestamp with time zone, read_at timestamp with time zone)
    LANGUAGE plpgsql STABLE
    AS $$
#variable_conflict use_column
DECLARE
    v_before uuid := p_before;
    v_day integer := p_day;
    v_left integer := p_limit;
    v_looks integer := greatest(p_looks, p_limit);
    v_step integer := p_limit;
    v_seen integer;
    w record;
BEGIN
    WHILE v_left > 0 AND v_step > 0 LOOP
        v_seen := 0;
        FOR w IN
            SELECT x.message_id, x.due_day, x.user_id, x.received_at, x.read_at FROM gateway.walk_history(
                p_tenant, p_app, p_vendor, p_identity, p_user, p_since, v_day, v_before, v_step) x
        LOOP
            v_seen := v_seen + 1;
            v_before := w.message_id;
            v_day := w.due_day;
            CONTINUE WHEN (w.read_at IS NOT NULL) <> p_read;
            PERFORM FROM gateway.message m
                WHERE m.tenant_id = p_tenant AND m.message_id = w.message_id
                    AND (p_hidden IS NULL OR m.content -> 'data' ->> p_hidden IS DISTINCT FROM 'N');
            CONTINUE WHEN NOT FOUND;
            message_id := w.message_id;
            user_id := w.user_id;
            received_at := w.received_at;
            read_at := w.read_at;
            RETURN NEXT;
            v_left := v_left - 1;
            EXIT WHEN v_left = 0;
        END LOOP;
        EXIT WHEN v_seen < v_step;
        v_looks := v_looks - v_step;
        v_step := least(v_step * 4, v_looks);
    END LOOP;
END $$;

ALTER FUNCTION gateway.look_history(p_tenant text, p_app text, p_vendor text, p_identity uuid, p_user text, p_since integer, p_day integer, p_before uuid, p_read boolean, p_hidden text, p_looks integer, p_limit integer) OWNER TO gateway_owner;

CREATE FUNCTION gateway.make_delivery_partitions(p_first_day integer, p_weeks integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '5s'
    AS $$
DECLARE
    v_week integer;
    v_name text;
    v_from integer;
    v_made integer := 0;
    v_waiting boolean;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('gateway.delivery partitions', 0));
    FOR v_week IN p_first_day / 7 .. p_first_day / 7 + least(p_weeks, 60) - 1 LOOP
        v_name := 'delivery_w' || v_week;
        v_from := v_week * 7;
        CONTINUE WHEN to_regclass('gateway.' || v_name) IS NOT NULL;
        SELECT EXISTS (SELECT FROM gateway.delivery_default WHERE due_day >= v_from AND due_day < v_from + 7) INTO v_waiting;
        IF v_waiting THEN
            LOCK TABLE gateway.delivery_default IN ACCESS EXCLUSIVE MODE;
            EXECUTE format('CREATE TABLE gateway.%I (LIKE gateway.delivery INCLUDING DEFAULTS) WITH (fillfactor = 75)', v_name);
            EXECUTE format(
                'WITH moved AS (DELETE FROM gateway.delivery_default WHERE due_day >= %s AND due_day < %s RETURNING *) '
                    'INSERT INTO gateway.%I SELECT * FROM moved',
                v_from, v_from + 7, v_name);
            EXECUTE format(
                'ALTER TABLE gateway.delivery ATTACH PARTITION gateway.%I FOR VALUES FROM (%s) TO (%s)',
                v_name, v_from, v_from + 7);
        ELSE
            EXECUTE format(
                'CREATE TABLE gateway.%I PARTITION OF gateway.delivery FOR VALUES FROM (%s) TO (%s) WITH (fillfactor = 75)',
                v_name, v_from, v_from + 7);
        END IF;
        v_made := v_made + 1;
    END LOOP;
    RETURN v_made;
END $$;

ALTER FUNCTION gateway.make_delivery_partitions(p_first_day integer, p_weeks integer) OWNER TO gateway_owner;

CREATE FUNCTION gateway.mark_deliveries(p_tenant text, p_identity uuid, p_messages uuid[], p_days integer[], p_kind text, p_at timestamp with time zone, p_node text) RETURNS uuid[]
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_marked uuid[] := '{}';
    v_first boolean[] := '{}';
    v_old record;
    m record;
BEGIN
    FOR k IN 1 .. cardinality(p_messages) LOOP
        SELECT d.state, d.received_at, d.read_at INTO v_old FROM gateway.delivery d
            WHERE d.tenant_id = p_tenant AND d.due_day = p_days[k] AND d.message_id = p_messages[k] AND d.target_id = p_identity
            FOR UPDATE;
        CONTINUE WHEN NOT FOUND OR v_old.read_at IS NOT NULL OR v_old.received_at IS NOT NULL AND p_kind = 'received';
        UPDATE gateway.delivery SET received_at = coalesce(received_at, p_at),
                read_at = CASE WHEN p_kind = 'read' THEN p_at ELSE read_at END,
                state = CASE WHEN state IN ('sent', 'received') THEN p_kind ELSE state END
            WHERE tenant_id = p_tenant AND due_day = p_days[k] AND message_id = p_messages[k] AND target_id = p_identity;
        v_marked := v_marked || p_messages[k];
        v_first := v_first || (v_old.received_at IS NULL);
    END LOOP;
    DELETE FROM gateway.inbox_open
        WHERE tenant_id = p_tenant AND identity_id = p_identity AND message_id = ANY (p_messages);
    FOR m IN
        SELECT x.app_id, x.vendor, min(x.due_at) AS due_at, count(*) AS messages,
            count(*) FILTER (WHERE u.is_first) AS received
        FROM unnest(v_marked, v_first) AS u(message, is_first)
        JOIN gateway.message x ON x.tenant_id = p_tenant AND x.message_id = u.message
        GROUP BY x.app_id, x.vendor, floor(extract(epoch FROM x.due_at) / 3600) ORDER BY x.app_id, x.vendor, 3
    LOOP
        PERFORM gateway.add_counts(
            p_tenant, m.app_id, m.vendor, m.due_at, p_node, 0, 0, m.received, CASE WHEN p_kind = 'read' THEN m.messages ELSE 0 END,
            0, 0, 0, 0);
    END LOOP;
    FOR k IN 1 .. cardinality(v_marked) LOOP
        SELECT x.app_id, x.vendor, x.sender_id, x.due_day INTO m FROM gateway.message x
            WHERE x.tenant_id = p_tenant AND x.message_id = v_marked[k];
        CONTINUE WHEN NOT FOUND;
        PERFORM gateway.append_events(
            p_tenant, m.app_id, m.vendor, m.sender_id, v_marked[k], m.due_day, ARRAY[p_kind], ARRAY[p_identity]);
    END LOOP;
    RETURN v_marked;
END $$;

ALTER FUNCTION gateway.mark_deliveries(p_tenant text, p_identity uuid, p_messages uuid[], p_days integer[], p_kind text, p_at timestamp with time zone, p_node text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.meant(p_tenant text, p_app text, p_vendor text, p_audience json, p_ids uuid[]) RETURNS uuid[]
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_groups text[];
    v_users text[];
    v_ids uuid[];
BEGIN
    IF p_audience->'groups' IS NOT NULL THEN
        v_groups := ARRAY(SELECT json_array_elements_text(p_audience->'groups'));
    ELSE
        v_users := ARRAY(SELECT json_array_elements_text(p_audience->'users'));
    END IF;
    SELECT array_agg(c.id ORDER BY c.place) INTO v_ids FROM unnest(p_ids) WITH ORDINALITY AS c(id, place)
    WHERE c.id = (
        SELECT (array_agg(o.identity_id ORDER BY o.identity_id))[1] FROM (
            SELECT i.identity_id, i.user_id FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND i.identity_id = c.id AND i.state = 'active'
            UNION ALL
            SELECT s.identity_id, s.user_id FROM gateway.identity i
            JOIN gateway.identity s ON s.tenant_id = p_tenant AND s.device_id = i.device_id AND s.identity_id <> i.identity_id
            WHERE p_vendor = 'native' AND i.tenant_id = p_tenant AND i.identity_id = c.id AND s.state = 'active'
            OFFSET 0) AS o
        WHERE (v_users IS NULL OR o.user_id = ANY (v_users))
            AND (v_groups IS NULL OR EXISTS (
                SELECT FROM gateway.group_member n
                WHERE n.tenant_id = p_tenant AND n.app_id = p_app AND n.vendor = p_vendor AND n.group_name = ANY (v_groups)
                    AND n.user_id = o.user_id)));
    RETURN coalesce(v_ids, '{}');
END $$;

ALTER FUNCTION gateway.meant(p_tenant text, p_app text, p_vendor text, p_audience json, p_ids uuid[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.message_numbers(p_tenant text, p_message uuid) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $$
BEGIN
    RETURN (SELECT json_object_agg(r.vendor, r.ref)::text FROM gateway.message_ref r
        WHERE r.tenant_id = p_tenant AND r.message_id = p_message);
END $$;

ALTER FUNCTION gateway.message_numbers(p_tenant text, p_message uuid) OWNER TO gateway_owner;

CREATE FUNCTION gateway.move_user(p_tenant text, p_app text, p_vendor text, p_from text, p_to text) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_group text;
    v_accepts boolean;
BEGIN
    FOR v_group IN
        SELECT m.group_name FROM gateway.group_member m
        WHERE m.tenant_id = p_tenant AND m.app_id = p_app AND m.vendor = p_vendor AND m.user_id = p_from ORDER BY m.group_name
    LOOP
        PERFORM gateway.change_members(p_tenant, p_app, p_vendor, v_group, ARRAY[p_to], ARRAY[p_from]);
    END LOOP;
    SELECT p.accepts_push INTO v_accepts FROM gateway.user_profile p
        WHERE p.tenant_id = p_tenant AND p.app_id = p_app AND p.vendor = p_vendor AND p.user_id = p_to;
    UPDATE gateway.identity SET user_id = p_to, accepts_push = coalesce(v_accepts, accepts_push)
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND user_id = p_from;
    UPDATE gateway.user_alias SET user_id = p_to
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND user_id = p_from;
    INSERT INTO gateway.user_act (tenant_id, app_id, vendor, user_id, digest, kind, name, at, data, noted_at)
        SELECT p_tenant, a.app_id, a.vendor, p_to, a.digest, a.kind, a.name, a.at, a.data, a.noted_at FROM gateway.user_act a
        WHERE a.tenant_id = p_tenant AND a.app_id = p_app AND a.vendor = p_vendor AND a.user_id = p_from
        ON CONFLICT DO NOTHING;
    INSERT INTO gateway.user_tally AS t (tenant_id, app_id, vendor, user_id, kind, name, count, first_at, last_at, noted_at)
        SELECT p_tenant, o.app_id, o.vendor, p_to, o.kind, o.name, o.count, o.first_at, o.last_at, o.noted_at FROM gateway.user_tally o
        WHERE o.tenant_id = p_tenant AND o.app_id = p_app AND o.vendor = p_vendor AND o.user_id = p_from
        ON CONFLICT (tenant_id, app_id, vendor, user_id, kind, name) DO UPDATE SET count = t.count + excluded.count,
            first_at = least(t.first_at, excluded.first_at), last_at = greatest(t.last_at, excluded.last_at),
            noted_at = greatest(t.noted_at, excluded.noted_at);
    DELETE FROM gateway.user_profile WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND user_id = p_from;
END $$;

ALTER FUNCTION gateway.move_user(p_tenant text, p_app text, p_vendor text, p_from text, p_to text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.next_candidates(p_tenant text, p_app text, p_vendor text, p_audience json, p_limit integer, INOUT io_user text, INOUT io_dialect text, INOUT io_after uuid, OUT o_ids uuid[], OUT o_ended boolean) RETURNS record
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_zero uuid := '00000000-0000-0000-0000-000000000000';
    v_names text[];
    v_users text[];
    v_user text;
    v_found uuid[];
    v_dialects text[];
BEGIN
    o_ids := '{}';
    IF p_audience->'groups' IS NOT NULL THEN
        v_names := ARRAY(SELECT json_array_elements_text(p_audience->'groups'));
        SELECT array_agg(w.user_id ORDER BY w.user_id) INTO v_users FROM (
            SELECT DISTINCT x.user_id FROM unnest(v_names) AS g(name)
            CROSS JOIN LATERAL (
                SELECT n.user_id FROM gateway.group_member n
                WHERE n.tenant_id = p_tenant AND n.app_id = p_app AND n.vendor = p_vendor AND n.group_name = g.name
                    AND n.user_id > coalesce(io_user, '')
                ORDER BY n.user_id LIMIT p_limit) AS x
            ORDER BY x.user_id LIMIT p_limit) AS w;
    ELSE
        SELECT array_agg(w.name ORDER BY w.name) INTO v_users FROM (
            SELECT DISTINCT u.name FROM json_array_elements_text(p_audience->'users') AS u(name)
            WHERE u.name > coalesce(io_user, '') ORDER BY u.name LIMIT p_limit) AS w;
    END IF;
    o_ended := coalesce(cardinality(v_users), 0) < p_limit;
    IF io_after IS NOT NULL THEN v_users := array_prepend(io_user, v_users); END IF;
    FOREACH v_user IN ARRAY coalesce(v_users, '{}') LOOP
        IF io_user IS DISTINCT FROM v_user OR io_after IS NULL THEN
            io_dialect := '';
            io_after := v_zero;
        END IF;
        io_user := v_user;
        SELECT array_agg(x.identity_id ORDER BY x.vendor, x.identity_id), array_agg(x.vendor ORDER BY x.vendor, x.identity_id)
            INTO v_found, v_dialects FROM (
            SELECT i.vendor, i.identity_id FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.user_id = v_user AND p_vendor IN ('native', i.vendor)
                AND (i.vendor, i.identity_id) > (io_dialect, io_after)
            ORDER BY i.vendor, i.identity_id LIMIT p_limit - cardinality(o_ids)) AS x;
        o_ids := o_ids || v_found;
        IF cardinality(o_ids) >= p_limit THEN
            io_dialect := v_dialects[cardinality(v_dialects)];
            io_after := v_found[cardinality(v_found)];
            o_ended := false;
            RETURN;
        END IF;
        io_dialect := NULL;
        io_after := NULL;
    END LOOP;
END $$;

ALTER FUNCTION gateway.next_candidates(p_tenant text, p_app text, p_vendor text, p_audience json, p_limit integer, INOUT io_user text, INOUT io_dialect text, INOUT io_after uuid, OUT o_ids uuid[], OUT o_ended boolean) OWNER TO gateway_owner;

CREATE FUNCTION gateway.next_number(p_tenant text, p_app text, p_vendor text, p_name text) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_last bigint;
BEGIN
    INSERT INTO gateway.vendor_sequence AS s (tenant_id, app_id, vendor, name, last) VALUES (p_tenant, p_app, p_vendor, p_name, 1)
        ON CONFLICT (tenant_id, app_id, vendor, name) DO UPDATE SET last = s.last + 1
        RETURNING s.last INTO v_last;
    RETURN v_last;
END $$;

ALTER FUNCTION gateway.next_number(p_tenant text, p_app text, p_vendor text, p_name text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.note_controlled(p_tenant text, p_message uuid, p_action text, p_count bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    m record;
BEGIN
    IF p_count = 0 THEN RETURN; END IF;
    SELECT app_id, vendor, due_day INTO m FROM gateway.message WHERE tenant_id = p_tenant AND message_id = p_message;
    PERFORM gateway.append_events(
        p_tenant, m.app_id, m.vendor, NULL, p_message, m.due_day,
        ARRAY[CASE p_action WHEN 'cancel' THEN 'message_canceled' WHEN 'pause' THEN 'message_paused'
            WHEN 'resume' THEN 'message_resumed' ELSE 'message_requeued' END], ARRAY[NULL]::uuid[]);
END $$;

ALTER FUNCTION gateway.note_controlled(p_tenant text, p_message uuid, p_action text, p_count bigint) OWNER TO gateway_owner;

CREATE FUNCTION gateway.note_sharing(p_tenant text, p_app text, p_identity uuid, p_device uuid) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF EXISTS (
        SELECT FROM gateway.identity o
        WHERE o.tenant_id = p_tenant AND o.device_id = p_device AND o.state = 'active' AND o.identity_id <> p_identity)
    THEN
        UPDATE gateway.app SET shares_devices = true WHERE tenant_id = p_tenant AND app_id = p_app AND NOT shares_devices;
    END IF;
END $$;

ALTER FUNCTION gateway.note_sharing(p_tenant text, p_app text, p_identity uuid, p_device uuid) OWNER TO gateway_owner;

CREATE FUNCTION gateway.number_message(p_tenant text, p_message uuid, p_vendors text[], p_numbers text[], p_targets uuid[], p_inboxes text[]) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    m record;
    v_targets uuid[];
BEGIN
    SELECT x.app_id, x.due_day INTO m FROM gateway.message x WHERE x.tenant_id = p_tenant AND x.message_id = p_message;
    IF NOT FOUND THEN RETURN 0; END IF;
    INSERT INTO gateway.message_ref (tenant_id, app_id, vendor, ref, message_id)
        SELECT p_tenant, m.app_id, u.vendor, u.number, p_message FROM unnest(p_vendors, p_numbers) AS u(vendor, number)
        ON CONFLICT DO NOTHING;
    IF cardinality(p_targets) > 0 THEN
        WITH r AS (
            UPDATE gateway.delivery d SET user_id = i.user_id FROM gateway.identity i
            WHERE d.tenant_id = p_tenant AND d.due_day = m.due_day AND d.message_id = p_message AND d.target_id = ANY (p_targets)
                AND i.tenant_id = p_tenant AND i.identity_id = d.identity_id AND i.vendor = ANY (p_inboxes)
            RETURNING d.target_id)
        SELECT array_agg(r.target_id) INTO v_targets FROM r;
        IF v_targets IS NOT NULL THEN PERFORM gateway.open_inbox(p_tenant, p_message, v_targets); END IF;
    END IF;
    RETURN 1;
END $$;

ALTER FUNCTION gateway.number_message(p_tenant text, p_message uuid, p_vendors text[], p_numbers text[], p_targets uuid[], p_inboxes text[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.numbered_message(p_tenant text, p_app text, p_vendor text, p_number text) RETURNS uuid
    LANGUAGE plpgsql STABLE
    AS $_$
DECLARE
    v_id uuid;
BEGIN
    SELECT r.message_id INTO v_id FROM gateway.message_ref r
        WHERE r.tenant_id = p_tenant AND r.app_id = p_app AND r.vendor = p_vendor AND r.ref = p_number;
    IF NOT FOUND AND p_number ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN
        SELECT m.message_id INTO v_id FROM gateway.message m
            WHERE m.tenant_id = p_tenant AND m.message_id = p_number::uuid AND m.app_id = p_app;
    END IF;
    RETURN v_id;
END $_$;

ALTER FUNCTION gateway.numbered_message(p_tenant text, p_app text, p_vendor text, p_number text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.open_inbox(p_tenant text, p_message uuid, p_targets uuid[]) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_day integer;
    v_count bigint;
BEGIN
    SELECT m.due_day INTO v_day FROM gateway.message m WHERE m.tenant_id = p_tenant AND m.message_id = p_message;
    INSERT INTO gateway.inbox_open (tenant_id, identity_id, message_id, due_day)
        SELECT p_tenant, x.identity_id, p_message, v_day FROM unnest(p_targets) AS u(target)
        CROSS JOIN LATERAL (
            SELECT d.identity_id FROM gateway.delivery d
            WHERE d.tenant_id = p_tenant AND d.due_day = v_day AND d.message_id = p_message AND d.target_id = u.target
                AND d.identity_id IS NOT NULL AND d.received_at IS NULL AND d.state <> 'canceled'
                AND d.reason IS DISTINCT FROM 'duplicate' OFFSET 0) AS x
        ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;

ALTER FUNCTION gateway.open_inbox(p_tenant text, p_message uuid, p_targets uuid[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.opens_at(p_at timestamp with time zone, p_zone text, p_from integer, p_to integer) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE
    AS $$
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

ALTER FUNCTION gateway.opens_at(p_at timestamp with time zone, p_zone text, p_from integer, p_to integer) OWNER TO gateway_owner;

CREATE FUNCTION gateway.patch_identities(p_tenant text, p_device uuid, p_accepts boolean, p_user text, p_name text, p_phone text) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_count bigint;
    v record;
BEGIN
    WITH old AS (
        SELECT identity_id, accepts_push FROM gateway.identity
        WHERE tenant_id = p_tenant AND device_id = p_device AND state = 'active' ORDER BY identity_id FOR UPDATE),
    r AS (
        UPDATE gateway.identity i SET accepts_push = coalesce(p_accepts, i.accepts_push), user_id = coalesce(p_user, i.user_id),
            name = coalesce(p_name, i.name), phone = coalesce(p_phone, i.phone)
        FROM old WHERE i.tenant_id = p_tenant AND i.identity_id = old.identity_id
        RETURNING i.identity_id, i.app_id, i.vendor, i.accepts_push, i.accepts_push <> old.accepts_push AS is_news)
    SELECT count(*) AS total, array_agg(identity_id) FILTER (WHERE is_news) AS ids, array_agg(app_id) FILTER (WHERE is_news) AS apps,
            array_agg(vendor) FILTER (WHERE is_news) AS vendors
        INTO v FROM r;
    v_count := v.total;
    IF v.ids IS NOT NULL THEN
        PERFORM gateway.append_changes(
            p_tenant, array_fill('preference_changed'::text, ARRAY[cardinality(v.ids)]), v.apps, v.vendors, v.ids,
            array_fill(p_device, ARRAY[cardinality(v.ids)]),
            array_fill(json_build_object('acceptsPush', p_accepts), ARRAY[cardinality(v.ids)]));
    END IF;
    RETURN v_count;
END $$;

ALTER FUNCTION gateway.patch_identities(p_tenant text, p_device uuid, p_accepts boolean, p_user text, p_name text, p_phone text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.place_token(p_tenant text, p_app text, p_vendor text, p_identity uuid, p_device uuid, p_new_device uuid, p_platform text, p_environment text, p_token text, p_at timestamp with time zone, OUT o_device uuid, OUT o_replaced uuid[]) RETURNS record
    LANGUAGE plpgsql
    AS $$
BEGIN
    o_device := gateway.seat_token(p_tenant, p_app, p_device, p_new_device, p_platform, p_environment, p_token, p_at);
    o_replaced := gateway.replace_identities(p_tenant, p_app, p_vendor, p_identity, o_device, NULL);
END $$;

ALTER FUNCTION gateway.place_token(p_tenant text, p_app text, p_vendor text, p_identity uuid, p_device uuid, p_new_device uuid, p_platform text, p_environment text, p_token text, p_at timestamp with time zone, OUT o_device uuid, OUT o_replaced uuid[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.poll_inbox(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_now uuid, p_limit integer, p_at timestamp with time zone, p_node text) RETURNS TABLE(message_id uuid, app_id text, vendor text, content json, due_at timestamp with time zone, due_local bigint, expires_at timestamp with time zone, collapse_id text, numbers text, sender_id text, user_id text, received_at timestamp with time zone, read_at timestamp with time zone)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    i gateway.identity;
    v_marked uuid[] := '{}';
    v record;
BEGIN
    i := gateway.calling_identity(p_tenant, p_app, p_vendor, p_key, p_token);
    IF i.identity_id IS NULL THEN RETURN; END IF;
    FOR step IN 1 .. 20 LOOP
        SELECT array_agg(o.message_id ORDER BY o.message_id) AS ids, array_agg(o.due_day ORDER BY o.message_id) AS days INTO v FROM (
            SELECT x.message_id, x.due_day FROM gateway.inbox_open x
            WHERE x.tenant_id = p_tenant AND x.identity_id = i.identity_id AND x.message_id < p_now
            ORDER BY x.message_id LIMIT p_limit - cardinality(v_marked) FOR UPDATE) o;
        EXIT WHEN v.ids IS NULL;
        v_marked := v_marked || gateway.mark_deliveries(p_tenant, i.identity_id, v.ids, v.days, 'received', p_at, p_node);
        EXIT WHEN cardinality(v_marked) >= p_limit;
    END LOOP;
    RETURN QUERY SELECT s.message_id, s.app_id, s.vendor, s.content, s.due_at, s.due_local, s.expires_at, s.collapse_id, s.numbers,
            s.sender_id, i.user_id, p_at, NULL::timestamptz
        FROM gateway.shown_messages(p_tenant, v_marked, NULL, NULL, NULL) s;
END $$;

ALTER FUNCTION gateway.poll_inbox(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_now uuid, p_limit integer, p_at timestamp with time zone, p_node text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.put_back_slice(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_held text, p_crowded interval) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    m record;
    v_due timestamptz;
BEGIN
    SELECT state, expires_at INTO m FROM gateway.message
        WHERE tenant_id = p_tenant AND message_id = p_message FOR NO KEY UPDATE;
    v_due := CASE m.state WHEN 'canceled' THEN now() WHEN 'paused' THEN m.expires_at END;
    IF p_held IS NOT NULL OR v_due IS NOT NULL THEN
        UPDATE gateway.slice SET held_by = p_held, next_at = coalesce(v_due, next_at)
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no AND epoch = p_epoch AND state = 'ready';
    END IF;
    IF p_crowded IS NOT NULL AND v_due IS NULL THEN
        UPDATE gateway.slice SET next_at = now() + p_crowded
            WHERE tenant_id = p_tenant AND message_id = p_message AND state = 'ready' AND kind = 'deliver' AND next_at <= now();
    END IF;
    RETURN 1;
END $$;

ALTER FUNCTION gateway.put_back_slice(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_held text, p_crowded interval) OWNER TO gateway_owner;

CREATE FUNCTION gateway.put_campaign(p_tenant text, p_app text, p_vendor text, p_id text, p_name text, p_body text, p_limit bigint, p_actor text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_is_new boolean := false;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'campaign', p_app || chr(31) || p_vendor);
    UPDATE gateway.campaign SET name = p_name, body = p_body::json, updated_at = now()
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND campaign_id = p_id;
    IF NOT FOUND THEN
        IF (SELECT count(*) FROM gateway.campaign c
            WHERE c.tenant_id = p_tenant AND c.app_id = p_app AND c.vendor = p_vendor) >= p_limit THEN
            RETURN NULL;
        END IF;
        INSERT INTO gateway.campaign (tenant_id, app_id, vendor, campaign_id, name, body, created_at, updated_at)
            VALUES (p_tenant, p_app, p_vendor, p_id, p_name, p_body::json, now(), now());
        v_is_new := true;
    END IF;
    IF p_actor IS NOT NULL THEN
        PERFORM gateway.write_audit(p_tenant, p_actor, ARRAY['put'], ARRAY['campaign ' || p_id], ARRAY[NULL]::text[]);
    END IF;
    RETURN v_is_new;
END $$;

ALTER FUNCTION gateway.put_campaign(p_tenant text, p_app text, p_vendor text, p_id text, p_name text, p_body text, p_limit bigint, p_actor text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.put_group(p_tenant text, p_app text, p_vendor text, p_group text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM FROM gateway.app WHERE tenant_id = p_tenant AND app_id = p_app AND retired_at IS NULL;
    IF NOT FOUND THEN RETURN NULL; END IF;
    INSERT INTO gateway.user_group (tenant_id, app_id, vendor, group_name) VALUES (p_tenant, p_app, p_vendor, p_group)
        ON CONFLICT DO NOTHING;
    RETURN FOUND;
END $$;

ALTER FUNCTION gateway.put_group(p_tenant text, p_app text, p_vendor text, p_group text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.put_users(p_tenant text, p_app text, p_vendor text, p_repeat text, p_users text[], p_anonymous boolean[], p_accepts boolean[], p_attributes text[], p_revisions bigint[], p_labels text[], p_names text[], p_named text[], p_actors text[], p_digests text[], p_kinds text[], p_acts text[], p_ats timestamp with time zone[], p_data text[], p_from text[], p_to text[]) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_user text;
    v_said record;
    v_count bigint;
BEGIN
    IF p_repeat IS NOT NULL THEN
        INSERT INTO gateway.idempotency (tenant_id, app_id, vendor, key, body_hash, created_at)
            VALUES (p_tenant, p_app, p_vendor, 'users' || chr(31) || p_repeat, p_repeat, now()) ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN RETURN true; END IF;
    END IF;
    FOR v_user IN SELECT DISTINCT u.user_id FROM unnest(p_users || p_actors || p_from || p_to) AS u(user_id) ORDER BY 1 LOOP
        PERFORM FROM gateway.user_profile p
            WHERE p.tenant_id = p_tenant AND p.app_id = p_app AND p.vendor = p_vendor AND p.user_id = v_user FOR UPDATE;
    END LOOP;
    INSERT INTO gateway.user_profile AS p
            (tenant_id, app_id, vendor, user_id, is_anonymous, accepts_push, attributes, revision, created_at, updated_at)
        SELECT p_tenant, p_app, p_vendor, u.user_id, u.is_anonymous, u.accepts, u.attributes::json, u.revision + 1, now(), now()
        FROM unnest(p_users, p_anonymous, p_accepts, p_attributes, p_revisions) AS u(user_id, is_anonymous, accepts, attributes, revision)
        LEFT JOIN LATERAL (
            SELECT x.revision FROM gateway.user_profile x
            WHERE x.tenant_id = p_tenant AND x.app_id = p_app AND x.vendor = p_vendor AND x.user_id = u.user_id OFFSET 0) AS o ON true
        WHERE u.revision = o.revision OR o.revision IS NULL AND u.revision = 0 ORDER BY u.user_id
        ON CONFLICT (tenant_id, app_id, vendor, user_id) DO UPDATE SET attributes = excluded.attributes,
            accepts_push = excluded.accepts_push, is_anonymous = excluded.is_anonymous, revision = excluded.revision,
            updated_at = excluded.updated_at
            WHERE p.revision = excluded.revision - 1;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count <> cardinality(p_users) THEN
        RAISE EXCEPTION 'a user changed meanwhile' USING ERRCODE = '40001';
    END IF;
    FOR v_said IN
        SELECT a.user_id, a.accepts FROM unnest(p_users, p_accepts) AS a(user_id, accepts) WHERE a.accepts IS NOT NULL ORDER BY a.user_id
    LOOP
        UPDATE gateway.identity i SET accepts_push = v_said.accepts
            WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.user_id = v_said.user_id
                AND i.accepts_push <> v_said.accepts;
    END LOOP;
    INSERT INTO gateway.user_alias (tenant_id, app_id, vendor, label, name, user_id)
        SELECT p_tenant, p_app, p_vendor, u.label, u.name, u.user_id
        FROM unnest(p_labels, p_names, p_named) AS u(label, name, user_id) ORDER BY u.label, u.name
        ON CONFLICT DO NOTHING;
    IF cardinality(p_from) > 0 THEN
        PERFORM gateway.move_user(p_tenant, p_app, p_vendor, u.a, u.b) FROM unnest(p_from, p_to) AS u(a, b);
    END IF;
    WITH fresh AS (
        INSERT INTO gateway.user_act (tenant_id, app_id, vendor, user_id, digest, kind, name, at, data, noted_at)
            SELECT p_tenant, p_app, p_vendor, u.user_id, u.digest::uuid, u.kind, u.name, u.at, u.data::json, now()
            FROM unnest(p_actors, p_digests, p_kinds, p_acts, p_ats, p_data) AS u(user_id, digest, kind, name, at, data)
            CROSS JOIN LATERAL (
                SELECT FROM gateway.user_profile p
                WHERE p.tenant_id = p_tenant AND p.app_id = p_app AND p.vendor = p_vendor AND p.user_id = u.user_id OFFSET 0) AS p
            ORDER BY u.user_id, u.digest
            ON CONFLICT DO NOTHING
            RETURNING user_id, kind, name, at)
    INSERT INTO gateway.user_tally AS t (tenant_id, app_id, vendor, user_id, kind, name, count, first_at, last_at, noted_at)
        SELECT p_tenant, p_app, p_vendor, f.user_id, f.kind, f.name, count(*), min(f.at), max(f.at), now()
        FROM fresh f GROUP BY f.user_id, f.kind, f.name ORDER BY f.user_id, f.kind, f.name
        ON CONFLICT (tenant_id, app_id, vendor, user_id, kind, name) DO UPDATE SET count = t.count + excluded.count,
            first_at = least(t.first_at, excluded.first_at), last_at = greatest(t.last_at, excluded.last_at),
            noted_at = excluded.noted_at;
    RETURN false;
END $$;

ALTER FUNCTION gateway.put_users(p_tenant text, p_app text, p_vendor text, p_repeat text, p_users text[], p_anonymous boolean[], p_accepts boolean[], p_attributes text[], p_revisions bigint[], p_labels text[], p_names text[], p_named text[], p_actors text[], p_digests text[], p_kinds text[], p_acts text[], p_ats timestamp with time zone[], p_data text[], p_from text[], p_to text[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.put_verification(p_tenant text, p_app text, p_vendor text, p_phone text, p_code_hash text, p_resend_after interval, p_per_hour integer, p_at timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
DECLARE
    v gateway.verification;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'verification', p_app || chr(31) || p_vendor || chr(31) || p_phone);
    SELECT * INTO v FROM gateway.verification
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND phone = p_phone;
    IF NOT FOUND THEN
        INSERT INTO gateway.verification (tenant_id, app_id, vendor, phone, code_hash, sent_at, window_start, sent_count)
            VALUES (p_tenant, p_app, p_vendor, p_phone, p_code_hash, p_at, p_at, 1);
        RETURN true;
    END IF;
    IF p_at < v.window_start + interval '1 hour' THEN
        IF p_at < v.sent_at + p_resend_after OR v.sent_count >= p_per_hour THEN RETURN false; END IF;
    ELSE
        v.window_start := p_at;
        v.sent_count := 0;
    END IF;
    UPDATE gateway.verification SET code_hash = p_code_hash, sent_at = p_at, tries = 0,
            window_start = v.window_start, sent_count = v.sent_count + 1
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND phone = p_phone;
    RETURN true;
END $$;

ALTER FUNCTION gateway.put_verification(p_tenant text, p_app text, p_vendor text, p_phone text, p_code_hash text, p_resend_after interval, p_per_hour integer, p_at timestamp with time zone) OWNER TO gateway_owner;

CREATE FUNCTION gateway.read_messages(p_tenant text, p_app text, p_messages uuid[], p_users text[], p_received timestamp with time zone[], p_read timestamp with time zone[]) RETURNS TABLE(message_id uuid, app_id text, vendor text, content json, due_at timestamp with time zone, due_local bigint, expires_at timestamp with time zone, collapse_id text, numbers text, sender_id text, user_id text, received_at timestamp with time zone, read_at timestamp with time zone, variables text, was_sent boolean)
    LANGUAGE plpgsql STABLE
    AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT s.message_id, s.app_id, s.vendor, s.content, s.due_at, s.due_local, s.expires_at, s.collapse_id, s.numbers,
            s.sender_id, s.user_id, s.received_at, s.read_at,
            (SELECT v.variables::text FROM gateway.message_variable v
                WHERE v.tenant_id = p_tenant AND v.message_id = s.message_id AND v.user_id = s.user_id),
            s.received_at IS NOT NULL OR s.read_at IS NOT NULL OR gateway.was_sent(p_tenant, p_app, s.user_id, s.message_id)
        FROM gateway.shown_messages(p_tenant, p_messages, p_users, p_received, p_read) s;
END $$;

ALTER FUNCTION gateway.read_messages(p_tenant text, p_app text, p_messages uuid[], p_users text[], p_received timestamp with time zone[], p_read timestamp with time zone[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.reading_identity(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_reader text) RETURNS gateway.identity
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
    i gateway.identity;
BEGIN
    IF p_key IS NOT NULL OR p_token IS NOT NULL THEN
        i := gateway.calling_identity(p_tenant, p_app, p_vendor, p_key, p_token);
    ELSE
        SELECT x.* INTO i FROM gateway.identity x
            WHERE x.tenant_id = p_tenant AND x.app_id = p_app AND x.user_id = p_reader AND x.vendor = p_vendor AND x.state = 'active'
            LIMIT 1;
    END IF;
    RETURN i;
END $$;

ALTER FUNCTION gateway.reading_identity(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_reader text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.record_exchange(p_tenant text, p_capture uuid, p_at timestamp with time zone, p_route text, p_outcome text, p_reason text, p_method text, p_path text, p_query text, p_headers json, p_body text, p_body_bytes bigint, p_status smallint, p_answer_type text, p_answer text, p_answer_bytes bigint) RETURNS integer
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_bytes integer := octet_length(concat(
        p_route, p_reason, p_method, p_path, p_query, p_headers::text, p_body, p_answer_type, p_answer));
    v_sequence integer;
    v_is_full boolean;
BEGIN
    UPDATE gateway.capture c SET exchange_count = c.exchange_count + 1, byte_count = c.byte_count + v_bytes
        WHERE c.tenant_id = p_tenant AND c.capture_id = p_capture AND c.ended_at IS NULL AND c.ends_at > now()
            AND c.exchange_count < c.exchange_limit AND c.byte_count + v_bytes <= c.byte_limit
        RETURNING c.exchange_count, c.exchange_count = c.exchange_limit INTO v_sequence, v_is_full;
    IF v_sequence IS NOT NULL THEN
        INSERT INTO gateway.captured_exchange (
                tenant_id, capture_id, sequence, at, route, outcome, reason, method, path, query, headers, body, body_bytes, status,
                answer_type, answer, answer_bytes)
            VALUES (
                p_tenant, p_capture, v_sequence, p_at, p_route, p_outcome, p_reason, p_method, p_path, p_query, p_headers, p_body,
                p_body_bytes, p_status, p_answer_type, p_answer, p_answer_bytes);
    END IF;
    IF v_sequence IS NULL OR v_is_full THEN
        UPDATE gateway.capture c SET ended_at = now(), ended_by = 'full'
            WHERE c.tenant_id = p_tenant AND c.capture_id = p_capture AND c.ended_at IS NULL AND c.ends_at > now();
    END IF;
    RETURN coalesce(v_sequence, 0);
END $$;

ALTER FUNCTION gateway.record_exchange(p_tenant text, p_capture uuid, p_at timestamp with time zone, p_route text, p_outcome text, p_reason text, p_method text, p_path text, p_query text, p_headers json, p_body text, p_body_bytes bigint, p_status smallint, p_answer_type text, p_answer text, p_answer_bytes bigint) OWNER TO gateway_owner;

CREATE FUNCTION gateway.record_receipt(p_tenant text, p_app text, p_vendor text, p_message uuid, p_key text, p_kind text, p_at timestamp with time zone, p_node text) RETURNS text
    LANGUAGE plpgsql
    AS $$
DECLARE
    i gateway.identity;
    m record;
    d record;
    v_target uuid;
    v_is_read boolean := p_kind = 'read';
    v_first boolean;
    v_failed integer := 0;
    v_expired integer := 0;
BEGIN
    SELECT * INTO i FROM gateway.identity
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND key = p_key;
    IF NOT FOUND THEN RETURN 'orphan'; END IF;
    SELECT vendor, sender_id, due_day, due_at, recipients INTO m FROM gateway.message
        WHERE tenant_id = p_tenant AND message_id = p_message AND app_id = p_app;
    IF NOT FOUND THEN RETURN 'orphan'; END IF;

    v_target := gateway.reported_target(p_tenant, p_message, m.due_day, m.recipients, i.identity_id, i.phone);
    IF v_target IS NULL THEN
        IF EXISTS (
            SELECT FROM gateway.slice s
            WHERE s.tenant_id = p_tenant AND s.message_id = p_message AND s.state = 'leased' AND i.identity_id = ANY (s.targets))
        THEN
            INSERT INTO gateway.delivery
                    (tenant_id, due_day, message_id, target_id, app_id, vendor, identity_id, device_id, user_id, state,
                    received_at, read_at)
                VALUES (p_tenant, m.due_day, p_message, i.identity_id, p_app, m.vendor, i.identity_id, i.device_id, i.user_id,
                    p_kind, p_at, CASE WHEN v_is_read THEN p_at END)
                ON CONFLICT DO NOTHING;
            IF FOUND THEN
                PERFORM gateway.add_counts(
                    p_tenant, p_app, m.vendor, m.due_at, p_node, 0, 0, 1, v_is_read::integer, 0, 0, 0, 0);
                PERFORM gateway.append_events(
                    p_tenant, p_app, m.vendor, m.sender_id, p_message, m.due_day, ARRAY[p_kind], ARRAY[i.identity_id]);
                RETURN 'recorded';
            END IF;
        END IF;
        v_target := gateway.reported_target(p_tenant, p_message, m.due_day, m.recipients, i.identity_id, i.phone);
        IF v_target IS NULL THEN RETURN 'orphan'; END IF;
    END IF;

    SELECT state, received_at, read_at, transport INTO d FROM gateway.delivery
        WHERE tenant_id = p_tenant AND due_day = m.due_day AND message_id = p_message AND target_id = v_target FOR UPDATE;
    IF d.state IN ('failed', 'expired') AND d.transport IS NOT NULL THEN
        v_failed := (d.state = 'failed')::integer;
        v_expired := (d.state = 'expired')::integer;
    ELSIF d.state NOT IN ('sent', 'received', 'read') THEN
        RETURN 'orphan';
    END IF;
    IF d.read_at IS NOT NULL OR (d.received_at IS NOT NULL AND NOT v_is_read) THEN RETURN 'repeated'; END IF;
    v_first := d.received_at IS NULL;
    UPDATE gateway.delivery SET state = p_kind, received_at = coalesce(received_at, p_at),
            read_at = CASE WHEN v_is_read THEN p_at END
        WHERE tenant_id = p_tenant AND due_day = m.due_day AND message_id = p_message AND target_id = v_target;
    PERFORM gateway.add_counts(
        p_tenant, p_app, m.vendor, m.due_at, p_node, 0, v_failed + v_expired, v_first::integer, v_is_read::integer,
        -v_failed, 0, -v_expired, 0);
    PERFORM gateway.append_events(
        p_tenant, p_app, m.vendor, m.sender_id, p_message, m.due_day, ARRAY[p_kind], ARRAY[v_target]);
    RETURN 'recorded';
END $$;

ALTER FUNCTION gateway.record_receipt(p_tenant text, p_app text, p_vendor text, p_message uuid, p_key text, p_kind text, p_at timestamp with time zone, p_node text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.record_receipts(p_tenant text, p_app text, p_vendor text, p_node text, p_messages uuid[], p_keys text[], p_kinds text[], p_at timestamp with time zone[]) RETURNS TABLE(ordinal integer, outcome text)
    LANGUAGE plpgsql
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
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

ALTER FUNCTION gateway.record_receipts(p_tenant text, p_app text, p_vendor text, p_node text, p_messages uuid[], p_keys text[], p_kinds text[], p_at timestamp with time zone[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.record_slice(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_done bytea, p_disposition text, p_after interval, p_counts boolean, p_targets uuid[], p_identities uuid[], p_devices uuid[], p_users text[], p_addresses text[], p_states text[], p_reasons text[], p_transports text[], p_transport_ids uuid[], p_certain boolean[], p_attempts smallint[], p_sent timestamp with time zone[], p_bytes integer[], p_reduced text[]) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    m record;
    s record;
    v_targets uuid[];
    v_states text[];
    v record;
    v_was_dead integer;
    v_count bigint;
BEGIN
    SELECT app_id, vendor, sender_id, due_day, due_at, expires_at, state,
            CASE WHEN state = 'paused' THEN expires_at END AS parked_until
        INTO m FROM gateway.message WHERE tenant_id = p_tenant AND message_id = p_message;
    SELECT x.epoch, x.owner, x.state, x.dead_reason INTO s FROM gateway.slice x
        WHERE x.tenant_id = p_tenant AND x.message_id = p_message AND x.no = p_no FOR UPDATE;
    IF s.epoch IS DISTINCT FROM p_epoch THEN RETURN -1; END IF;
    IF s.state <> 'leased' THEN RETURN 0; END IF;
    IF s.owner IS DISTINCT FROM p_owner THEN RETURN -1; END IF;
    v_was_dead := (s.dead_reason IS NOT NULL)::integer;
    IF p_disposition = 'finished' THEN
        UPDATE gateway.slice SET done = p_done, state = 'done', owner = NULL
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no;
    ELSIF p_disposition = 'again' THEN
        UPDATE gateway.slice SET done = p_done, state = 'ready', owner = NULL, lapses = 0,
                next_at = greatest(now() + p_after, m.parked_until),
                attempts = least(attempts + p_counts::integer, 32767)
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no;
    ELSE
        UPDATE gateway.slice SET done = p_done, lapses = 0
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no;
    END IF;

    IF cardinality(p_targets) = 1 THEN
        INSERT INTO gateway.delivery AS d
                (tenant_id, due_day, message_id, target_id, app_id, vendor, identity_id, device_id, user_id, address, state,
                reason, transport, transport_id, is_certain, attempts, payload_bytes, reduced, sent_at)
            VALUES (p_tenant, m.due_day, p_message, p_targets[1], m.app_id, m.vendor, p_identities[1], p_devices[1], p_users[1],
                p_addresses[1], p_states[1], p_reasons[1], p_transports[1], p_transport_ids[1], p_certain[1], p_attempts[1],
                p_bytes[1], p_reduced[1], p_sent[1])
            ON CONFLICT (tenant_id, due_day, message_id, target_id) DO UPDATE SET
                address = excluded.address, reason = excluded.reason, transport = excluded.transport,
                transport_id = excluded.transport_id, is_certain = excluded.is_certain, attempts = excluded.attempts,
                payload_bytes = excluded.payload_bytes, reduced = excluded.reduced, sent_at = excluded.sent_at
            WHERE d.sent_at IS NULL
            RETURNING ARRAY[d.target_id], ARRAY[CASE WHEN d.state IN ('received', 'read') THEN 'sent' ELSE d.state END]
            INTO v_targets, v_states;
    ELSE
        BEGIN
            WITH r AS (
                INSERT INTO gateway.delivery
                        (tenant_id, due_day, message_id, target_id, app_id, vendor, identity_id, device_id, user_id, address, state,
                        reason, transport, transport_id, is_certain, attempts, payload_bytes, reduced, sent_at)
                    SELECT p_tenant, m.due_day, p_message, u.target, m.app_id, m.vendor, u.identity, u.device, u.user_id, u.address,
                        u.state, u.reason, u.transport, u.transport_id, u.certain, u.attempts, u.bytes, u.reduced, u.sent
                    FROM unnest(p_targets, p_identities, p_devices, p_users, p_addresses, p_states, p_reasons, p_transports,
                            p_transport_ids, p_certain, p_attempts, p_bytes, p_reduced, p_sent)
                        AS u(target, identity, device, user_id, address, state, reason, transport, transport_id, certain, attempts,
                            bytes, reduced, sent)
                    RETURNING 1)
            SELECT count(*) INTO v_count FROM r;
            IF v_count > 0 THEN
                v_targets := p_targets;
                v_states := p_states;
            END IF;
        EXCEPTION WHEN unique_violation THEN
            WITH r AS (
                INSERT INTO gateway.delivery AS d
                        (tenant_id, due_day, message_id, target_id, app_id, vendor, identity_id, device_id, user_id, address, state,
                        reason, transport, transport_id, is_certain, attempts, payload_bytes, reduced, sent_at)
                    SELECT p_tenant, m.due_day, p_message, u.target, m.app_id, m.vendor, u.identity, u.device, u.user_id, u.address,
                        u.state, u.reason, u.transport, u.transport_id, u.certain, u.attempts, u.bytes, u.reduced, u.sent
                    FROM unnest(p_targets, p_identities, p_devices, p_users, p_addresses, p_states, p_reasons, p_transports,
                            p_transport_ids, p_certain, p_attempts, p_bytes, p_reduced, p_sent)
                        AS u(target, identity, device, user_id, address, state, reason, transport, transport_id, certain, attempts,
                            bytes, reduced, sent)
                    ON CONFLICT (tenant_id, due_day, message_id, target_id) DO UPDATE SET
                        address = excluded.address, reason = excluded.reason, transport = excluded.transport,
                        transport_id = excluded.transport_id, is_certain = excluded.is_certain, attempts = excluded.attempts,
                        payload_bytes = excluded.payload_bytes, reduced = excluded.reduced, sent_at = excluded.sent_at
                    WHERE d.sent_at IS NULL
                    RETURNING d.target_id, CASE WHEN d.state IN ('received', 'read') THEN 'sent' ELSE d.state END AS state)
            SELECT array_agg(r.target_id), array_agg(r.state) INTO v_targets, v_states FROM r;
        END;
    END IF;

    IF p_disposition = 'finished' THEN
        UPDATE gateway.message SET open_slices = open_slices - 1, dead_slices = dead_slices - v_was_dead,
                state = CASE WHEN state NOT IN ('scheduled', 'sending', 'paused', 'dead') THEN state
                    WHEN open_slices <= 1 THEN 'done' WHEN state = 'paused' THEN 'paused'
                    WHEN dead_slices - v_was_dead = open_slices - 1 THEN 'dead' ELSE 'sending' END
            WHERE tenant_id = p_tenant AND message_id = p_message;
    ELSIF m.state = 'scheduled' THEN
        UPDATE gateway.message SET state = 'sending'
            WHERE tenant_id = p_tenant AND message_id = p_message AND state = 'scheduled';
    END IF;
    IF v_targets IS NULL THEN RETURN 0; END IF;

    IF cardinality(v_states) = 1 THEN
        SELECT (v_states[1] = 'sent')::integer::bigint AS sent, (v_states[1] = 'failed')::integer::bigint AS failed,
                (v_states[1] = 'suppressed')::integer::bigint AS suppressed, (v_states[1] = 'expired')::integer::bigint AS expired,
                (v_states[1] = 'canceled')::integer::bigint AS canceled
            INTO v;
    ELSE
        SELECT count(*) FILTER (WHERE x = 'sent') AS sent, count(*) FILTER (WHERE x = 'failed') AS failed,
                count(*) FILTER (WHERE x = 'suppressed') AS suppressed, count(*) FILTER (WHERE x = 'expired') AS expired,
                count(*) FILTER (WHERE x = 'canceled') AS canceled
            INTO v FROM unnest(v_states) AS x;
    END IF;
    PERFORM gateway.add_counts(
        p_tenant, m.app_id, m.vendor, m.due_at, p_owner, 0, v.sent, 0, 0, v.failed, v.suppressed, v.expired, v.canceled);
    PERFORM gateway.append_events(p_tenant, m.app_id, m.vendor, m.sender_id, p_message, m.due_day, v_states, v_targets);
    RETURN cardinality(v_targets);
END $$;

ALTER FUNCTION gateway.record_slice(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_done bytea, p_disposition text, p_after interval, p_counts boolean, p_targets uuid[], p_identities uuid[], p_devices uuid[], p_users text[], p_addresses text[], p_states text[], p_reasons text[], p_transports text[], p_transport_ids uuid[], p_certain boolean[], p_attempts smallint[], p_sent timestamp with time zone[], p_bytes integer[], p_reduced text[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.register_identity(p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid, p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text, p_replaces_phone boolean, p_attributes json, p_at timestamp with time zone) RETURNS TABLE(identity_id uuid, device_id uuid, platform text, was_active boolean, replaced uuid[])
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    v_id uuid;
    v_old_device uuid;
    v_device uuid;
    v_state text;
    v_phone text;
    v_replaced uuid[] := '{}';
    v_platform text := p_platform;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'key', p_app || chr(31) || p_vendor || chr(31) || p_key);
    SELECT i.identity_id, i.device_id, i.state, i.phone INTO v_id, v_old_device, v_state, v_phone FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.key = p_key;
    v_device := v_old_device;
    IF v_state <> 'active' AND EXISTS (
        SELECT FROM gateway.identity o
        WHERE o.tenant_id = p_tenant AND o.device_id = v_old_device AND o.app_id = p_app AND o.vendor = p_vendor
            AND o.state = 'active')
    THEN
        v_device := NULL;
    END IF;

    IF p_token IS NOT NULL AND p_attributes->>'sharesDevice' = 'true' THEN
        IF EXISTS (
            SELECT FROM gateway.identity o
            WHERE o.tenant_id = p_tenant AND o.device_id = v_device AND o.app_id = p_app AND o.vendor = p_vendor
                AND o.state = 'active' AND o.identity_id <> v_id)
        THEN
            v_device := NULL;
        END IF;
        v_device := gateway.seat_token(p_tenant, p_app, v_device, p_device, p_platform, p_environment, p_token, p_at);
    ELSIF p_token IS NOT NULL THEN
        SELECT t.o_device, t.o_replaced INTO v_device, v_replaced
            FROM gateway.place_token(
                p_tenant, p_app, p_vendor, coalesce(v_id, p_identity), v_device, p_device,
                p_platform, p_environment, p_token, p_at) t;
    ELSIF v_device IS NULL THEN
        INSERT INTO gateway.device (tenant_id, device_id, app_id, platform, environment, created_at, seen_at)
            VALUES (p_tenant, p_device, p_app, p_platform, coalesce(p_environment, 'production'), p_at, p_at);
        v_device := p_device;
    ELSE
        UPDATE gateway.device d SET seen_at = greatest(d.seen_at, p_at),
                platform = CASE WHEN d.token IS NULL THEN p_platform ELSE d.platform END,
                environment = CASE WHEN d.token IS NULL THEN coalesce(p_environment, d.environment) ELSE d.environment END
            WHERE d.tenant_id = p_tenant AND d.device_id = v_device
            RETURNING d.platform INTO v_platform;
    END IF;

    IF v_id IS NULL THEN
        v_id := p_identity;
        INSERT INTO gateway.identity
                (tenant_id, identity_id, app_id, vendor, key, device_id, state, user_id, name, phone, raw_phone, attributes,
                registered_at, created_at)
            VALUES (p_tenant, v_id, p_app, p_vendor, p_key, v_device, 'active', p_user, p_name, p_phone, p_raw_phone,
                coalesce(p_attributes, '{}'), p_at, p_at);
    ELSE
        UPDATE gateway.identity i SET device_id = v_device, state = 'active', user_id = coalesce(p_user, i.user_id),
                name = coalesce(p_name, i.name), phone = coalesce(p_phone, i.phone),
                raw_phone = coalesce(p_raw_phone, i.raw_phone), attributes = coalesce(p_attributes, i.attributes),
                registered_at = p_at
            WHERE i.tenant_id = p_tenant AND i.identity_id = v_id;
    END IF;
    IF v_state IS DISTINCT FROM 'active' THEN
        PERFORM gateway.count_identities(p_tenant, p_app, p_vendor, ARRAY[p_key], 1);
    END IF;

    v_phone := coalesce(p_phone, v_phone);
    IF p_replaces_phone AND v_phone IS NOT NULL THEN
        PERFORM gateway.lock_name(p_tenant, 'phone', p_app || chr(31) || p_vendor || chr(31) || v_phone);
        v_replaced := v_replaced || gateway.replace_identities(p_tenant, p_app, p_vendor, v_id, NULL, v_phone);
    END IF;
    IF v_device <> p_device AND (v_device IS DISTINCT FROM v_old_device OR v_state <> 'active') THEN
        PERFORM gateway.note_sharing(p_tenant, p_app, v_id, v_device);
    END IF;
    IF v_old_device IS DISTINCT FROM v_device AND v_old_device IS NOT NULL THEN
        PERFORM gateway.drop_unused_tokens(p_tenant, ARRAY[v_old_device]);
    END IF;
    RETURN QUERY SELECT v_id, v_device, v_platform, coalesce(v_state = 'active', false), v_replaced;
END $$;

ALTER FUNCTION gateway.register_identity(p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid, p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text, p_replaces_phone boolean, p_attributes json, p_at timestamp with time zone) OWNER TO gateway_owner;

CREATE FUNCTION gateway.register_many(p_tenant text, p_app text, p_vendor text, p_keys text[], p_identities uuid[], p_devices uuid[], p_platforms text[], p_environments text[], p_tokens text[], p_users text[], p_names text[], p_phones text[], p_raw_phones text[], p_attributes text[], p_at timestamp with time zone[]) RETURNS TABLE(identity_id uuid, device_id uuid, platform text, was_active boolean, replaced uuid[])
    LANGUAGE plpgsql
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
    v record;
    v_new text[];
    v_count bigint;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'key', n.name) FROM (
        SELECT p_app || chr(31) || p_vendor || chr(31) || u.key AS name FROM unnest(p_keys) AS u(key) ORDER BY 1) AS n;
    PERFORM gateway.lock_name(p_tenant, 'token', n.name) FROM (
        SELECT DISTINCT p_app || chr(31) || u.platform || chr(31) || u.token AS name FROM unnest(p_platforms, p_tokens) AS u(platform, token)
        WHERE u.token IS NOT NULL ORDER BY 1) AS n;

    SELECT array_agg(w.way ORDER BY w.o) AS ways, array_agg(w.identity ORDER BY w.o) AS identities, array_agg(w.device ORDER BY w.o) AS devices
        INTO v FROM (
        SELECT u.o, i.identity_id AS identity, i.device_id AS device,
            CASE
                WHEN u.token IS NULL OR count(*) OVER (PARTITION BY u.platform, u.token) > 1 THEN NULL
                WHEN i.identity_id IS NULL THEN CASE WHEN t.holders IS NULL THEN 'new' END
                WHEN i.state <> 'active' OR EXISTS (
                    SELECT FROM gateway.identity o
                    WHERE o.tenant_id = p_tenant AND o.device_id = i.device_id AND o.app_id = p_app AND o.vendor = p_vendor
                        AND o.state = 'active' AND o.identity_id <> i.identity_id OFFSET 0) THEN NULL
                WHEN t.holders IS NULL OR t.holders = ARRAY[i.device_id] AND t.tokens = ARRAY[u.token] THEN 'kept'
            END AS way
        FROM unnest(p_keys, p_platforms, p_tokens) WITH ORDINALITY AS u(key, platform, token, o)
        LEFT JOIN LATERAL (
            SELECT x.identity_id, x.device_id, x.state FROM gateway.identity x
            WHERE x.tenant_id = p_tenant AND x.app_id = p_app AND x.vendor = p_vendor AND x.key = u.key OFFSET 0) AS i ON true
        LEFT JOIN LATERAL (
            SELECT array_agg(y.device_id) AS holders, array_agg(y.token) AS tokens FROM gateway.device y
            WHERE y.tenant_id = p_tenant AND y.app_id = p_app AND y.platform = u.platform AND y.token_digest = md5(u.token)) AS t ON true) AS w;

    IF 'kept' = ANY (v.ways) THEN
        PERFORM FROM gateway.device d
            WHERE d.tenant_id = p_tenant AND d.device_id IN (SELECT k.device FROM unnest(v.devices, v.ways) AS k(device, way) WHERE k.way = 'kept')
            ORDER BY d.device_id FOR UPDATE;
        WITH r AS (
            UPDATE gateway.device d SET token = u.token, platform = u.platform, environment = coalesce(u.environment, d.environment),
                    token_state = 'active', token_reason = NULL, seen_at = greatest(d.seen_at, u.at),
                    token_registered_at = CASE WHEN d.token = u.token THEN greatest(d.token_registered_at, u.at) ELSE u.at END
                FROM unnest(v.devices, v.ways, p_platforms, p_environments, p_tokens, p_at) AS u(device, way, platform, environment, token, at)
                WHERE u.way = 'kept' AND d.tenant_id = p_tenant AND d.device_id = u.device
                RETURNING 1)
        SELECT count(*) INTO v_count FROM r;
        WITH r AS (
            UPDATE gateway.identity i SET user_id = coalesce(u.user_id, i.user_id), name = coalesce(u.name, i.name),
                    phone = coalesce(u.phone, i.phone), raw_phone = coalesce(u.raw_phone, i.raw_phone),
                    attributes = coalesce(u.attributes::json, i.attributes), registered_at = u.at
                FROM unnest(v.identities, v.ways, p_users, p_names, p_phones, p_raw_phones, p_attributes, p_at)
                    AS u(identity, way, user_id, name, phone, raw_phone, attributes, at)
                WHERE u.way = 'kept' AND i.tenant_id = p_tenant AND i.identity_id = u.identity
                RETURNING 1)
        SELECT count(*) INTO v_count FROM r;
    END IF;

    v_new := ARRAY(SELECT u.key FROM unnest(p_keys, v.ways) AS u(key, way) WHERE u.way = 'new');
    IF cardinality(v_new) > 0 THEN
        WITH r AS (
            INSERT INTO gateway.device
                (tenant_id, device_id, app_id, platform, environment, token, token_state, token_registered_at, created_at, seen_at)
            SELECT p_tenant, u.device, p_app, u.platform, coalesce(u.environment, 'production'), u.token, 'active', u.at, u.at, u.at
            FROM unnest(p_devices, v.ways, p_platforms, p_environments, p_tokens, p_at) AS u(device, way, platform, environment, token, at)
            WHERE u.way = 'new'
            RETURNING 1)
        SELECT count(*) INTO v_count FROM r;
        WITH r AS (
            INSERT INTO gateway.identity
                (tenant_id, identity_id, app_id, vendor, key, device_id, state, user_id, name, phone, raw_phone, attributes,
                registered_at, created_at)
            SELECT p_tenant, u.identity, p_app, p_vendor, u.key, u.device, 'active', u.user_id, u.name, u.phone, u.raw_phone,
                coalesce(u.attributes, '{}')::json, u.at, u.at
            FROM unnest(p_identities, v.ways, p_keys, p_devices, p_users, p_names, p_phones, p_raw_phones, p_attributes, p_at)
                AS u(identity, way, key, device, user_id, name, phone, raw_phone, attributes, at)
            WHERE u.way = 'new'
            RETURNING 1)
        SELECT count(*) INTO v_count FROM r;
        PERFORM gateway.count_identities(p_tenant, p_app, p_vendor, v_new, 1);
        PERFORM gateway.append_changes(
            p_tenant, array_agg('registered'::text), array_agg(p_app), array_agg(p_vendor), array_agg(u.identity ORDER BY u.o),
            array_agg(u.device ORDER BY u.o), NULL)
            FROM unnest(p_identities, p_devices, v.ways) WITH ORDINALITY AS u(identity, device, way, o) WHERE u.way = 'new';
    END IF;

    RETURN QUERY
        SELECT CASE u.way WHEN 'new' THEN u.identity ELSE u.old_identity END,
            CASE u.way WHEN 'new' THEN u.device WHEN 'kept' THEN u.old_device END,
            u.platform, u.way = 'kept', '{}'::uuid[]
        FROM unnest(v.ways, p_identities, p_devices, v.identities, v.devices, p_platforms) WITH ORDINALITY
            AS u(way, identity, device, old_identity, old_device, platform, o) ORDER BY u.o;
END $$;

ALTER FUNCTION gateway.register_many(p_tenant text, p_app text, p_vendor text, p_keys text[], p_identities uuid[], p_devices uuid[], p_platforms text[], p_environments text[], p_tokens text[], p_users text[], p_names text[], p_phones text[], p_raw_phones text[], p_attributes text[], p_at timestamp with time zone[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.register_noted(p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid, p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text, p_replaces_phone boolean, p_attributes json, p_at timestamp with time zone) RETURNS TABLE(identity_id uuid, device_id uuid, platform text, was_active boolean, replaced uuid[])
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    r record;
    v_kinds text[] := '{}';
    v_identities uuid[] := '{}';
    v_devices uuid[] := '{}';
BEGIN
    SELECT * INTO r FROM gateway.register_identity(
        p_tenant, p_app, p_vendor, p_key, p_identity, p_device, p_platform, p_environment, p_token, p_user, p_name, p_phone,
        p_raw_phone, p_replaces_phone, p_attributes, p_at);
    v_kinds := array_fill('replaced'::text, ARRAY[cardinality(r.replaced)]);
    v_identities := r.replaced;
    v_devices := array_fill(NULL::uuid, ARRAY[cardinality(r.replaced)]);
    IF NOT r.was_active THEN
        v_kinds := v_kinds || 'registered'::text;
        v_identities := v_identities || r.identity_id;
        v_devices := v_devices || r.device_id;
    END IF;
    PERFORM gateway.append_changes(
        p_tenant, v_kinds, array_fill(p_app, ARRAY[cardinality(v_kinds)]), array_fill(p_vendor, ARRAY[cardinality(v_kinds)]),
        v_identities, v_devices, NULL);
    RETURN QUERY SELECT r.identity_id, r.device_id, r.platform, r.was_active, r.replaced;
END $$;

ALTER FUNCTION gateway.register_noted(p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid, p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text, p_replaces_phone boolean, p_attributes json, p_at timestamp with time zone) OWNER TO gateway_owner;

CREATE FUNCTION gateway.register_tagged(p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid, p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text, p_replaces_phone boolean, p_attributes json, p_at timestamp with time zone, p_tags text[]) RETURNS TABLE(identity_id uuid, device_id uuid, platform text, was_active boolean, replaced uuid[])
    LANGUAGE plpgsql
    AS $$
DECLARE
    r record;
BEGIN
    SELECT * INTO r FROM gateway.register_noted(
        p_tenant, p_app, p_vendor, p_key, p_identity, p_device, p_platform, p_environment, p_token, p_user, p_name, p_phone,
        p_raw_phone, p_replaces_phone, p_attributes, p_at);
    PERFORM gateway.set_tags(p_tenant, r.identity_id, p_tags);
    RETURN QUERY SELECT r.identity_id, r.device_id, r.platform, r.was_active, r.replaced;
END $$;

ALTER FUNCTION gateway.register_tagged(p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid, p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text, p_replaces_phone boolean, p_attributes json, p_at timestamp with time zone, p_tags text[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.register_timed(p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid, p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text, p_replaces_phone boolean, p_attributes json, p_at timestamp with time zone, p_tags text[], p_zone text, p_from integer, p_to integer) RETURNS TABLE(identity_id uuid, device_id uuid, platform text, was_active boolean, replaced uuid[])
    LANGUAGE plpgsql
    AS $$
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

ALTER FUNCTION gateway.register_timed(p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid, p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text, p_replaces_phone boolean, p_attributes json, p_at timestamp with time zone, p_tags text[], p_zone text, p_from integer, p_to integer) OWNER TO gateway_owner;

CREATE FUNCTION gateway.remove_campaign(p_tenant text, p_app text, p_vendor text, p_id text, p_actor text) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM gateway.campaign WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND campaign_id = p_id;
    IF NOT FOUND THEN RETURN 0; END IF;
    IF p_actor IS NOT NULL THEN
        PERFORM gateway.write_audit(p_tenant, p_actor, ARRAY['remove'], ARRAY['campaign ' || p_id], ARRAY[NULL]::text[]);
    END IF;
    RETURN 1;
END $$;

ALTER FUNCTION gateway.remove_campaign(p_tenant text, p_app text, p_vendor text, p_id text, p_actor text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.replace_identities(p_tenant text, p_app text, p_vendor text, p_identity uuid, p_device uuid, p_phone text) RETURNS uuid[]
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_ids uuid[];
    v_keys text[];
BEGIN
    IF p_device IS NOT NULL THEN
        WITH r AS (
            UPDATE gateway.identity SET state = 'replaced'
            WHERE tenant_id = p_tenant AND device_id = p_device AND app_id = p_app AND vendor = p_vendor
                AND state = 'active' AND identity_id <> p_identity AND attributes->>'sharesDevice' IS DISTINCT FROM 'true'
            RETURNING identity_id, key)
        SELECT array_agg(identity_id), array_agg(key) INTO v_ids, v_keys FROM r;
    ELSE
        WITH r AS (
            UPDATE gateway.identity SET state = 'replaced'
            WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND phone = p_phone
                AND state = 'active' AND identity_id <> p_identity
            RETURNING identity_id, key)
        SELECT array_agg(identity_id), array_agg(key) INTO v_ids, v_keys FROM r;
    END IF;
    IF v_ids IS NULL THEN RETURN '{}'; END IF;
    DELETE FROM gateway.identity_tag WHERE tenant_id = p_tenant AND identity_id = ANY (v_ids);
    PERFORM gateway.count_identities(p_tenant, p_app, p_vendor, v_keys, -1);
    RETURN v_ids;
END $$;

ALTER FUNCTION gateway.replace_identities(p_tenant text, p_app text, p_vendor text, p_identity uuid, p_device uuid, p_phone text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.replay_webhook(p_tenant text, p_id uuid, p_from bigint) RETURNS TABLE(outcome text, first bigint, head bigint)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    v_first bigint;
    v_head bigint;
BEGIN
    SELECT b.first, b.head INTO v_first, v_head FROM gateway.event_bounds(p_tenant) b;
    IF p_from < v_first OR p_from > v_head THEN
        RETURN QUERY SELECT 'outside', v_first, v_head;
        RETURN;
    END IF;
    UPDATE gateway.webhook SET cursor = p_from, attempts = 0, failing_since = NULL, failure = NULL, owner = NULL,
            epoch = epoch + 1, next_at = now()
        WHERE tenant_id = p_tenant AND webhook_id = p_id;
    RETURN QUERY SELECT CASE WHEN FOUND THEN 'moved' ELSE 'unknown' END, v_first, v_head;
END $$;

ALTER FUNCTION gateway.replay_webhook(p_tenant text, p_id uuid, p_from bigint) OWNER TO gateway_owner;

CREATE FUNCTION gateway.report_number(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_number text, p_kind text, p_at timestamp with time zone, p_node text) RETURNS text
    LANGUAGE plpgsql
    AS $$
DECLARE
    i gateway.identity;
    v_message uuid;
    v_day integer;
    v_outcome text;
    v_owner uuid;
BEGIN
    i := gateway.calling_identity(p_tenant, p_app, p_vendor, p_key, p_token);
    IF i.identity_id IS NULL THEN RETURN 'unknown_device'; END IF;
    v_message := gateway.numbered_message(p_tenant, p_app, p_vendor, p_number);
    SELECT m.due_day INTO v_day FROM gateway.message m WHERE m.tenant_id = p_tenant AND m.message_id = v_message;
    IF NOT FOUND THEN RETURN 'unknown_message'; END IF;
    v_outcome := gateway.record_receipt(p_tenant, p_app, p_vendor, v_message, i.key, p_kind, p_at, p_node);
    IF v_outcome <> 'orphan' THEN
        DELETE FROM gateway.inbox_open
            WHERE tenant_id = p_tenant AND identity_id = i.identity_id AND message_id = v_message;
        RETURN v_outcome;
    END IF;
    SELECT d.identity_id INTO v_owner FROM gateway.delivery d
        WHERE d.tenant_id = p_tenant AND d.due_day = v_day AND d.message_id = v_message AND d.target_id = i.identity_id
            AND d.state <> 'canceled';
    IF NOT FOUND THEN
        SELECT d.identity_id INTO v_owner
            FROM gateway.delivery d JOIN gateway.identity o ON o.tenant_id = p_tenant AND o.identity_id = d.identity_id
            WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.user_id = i.user_id AND o.vendor = p_vendor
                AND d.due_day = v_day AND d.message_id = v_message AND d.state <> 'canceled'
            ORDER BY d.identity_id LIMIT 1;
        IF NOT FOUND THEN RETURN 'unknown_message'; END IF;
    END IF;
    RETURN CASE WHEN cardinality(gateway.mark_deliveries(
        p_tenant, v_owner, ARRAY[v_message], ARRAY[v_day], p_kind, p_at, p_node)) > 0 THEN 'recorded' ELSE 'repeated' END;
END $$;

ALTER FUNCTION gateway.report_number(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_number text, p_kind text, p_at timestamp with time zone, p_node text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.report_numbers(p_tenant text, p_app text, p_vendor text, p_node text, p_keys text[], p_numbers text[], p_kinds text[], p_at timestamp with time zone[]) RETURNS TABLE(ordinal integer, outcome text)
    LANGUAGE plpgsql
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
DECLARE
    v record;
    v_outcomes text[];
BEGIN
    SELECT array_agg(i.identity_id ORDER BY u.o) AS identities, array_agg(m.message_id ORDER BY u.o) AS messages,
            array_agg(CASE WHEN i.identity_id IS NOT NULL THEN m.due_day END ORDER BY u.o) AS days
        INTO v FROM unnest(p_keys, p_numbers) WITH ORDINALITY AS u(key, number, o)
        LEFT JOIN gateway.identity i
            ON i.tenant_id = p_tenant AND i.app_id = p_app AND i.key = u.key AND i.vendor = p_vendor AND i.state = 'active'
        LEFT JOIN gateway.message_ref r
            ON r.tenant_id = p_tenant AND r.app_id = p_app AND r.vendor = p_vendor AND r.ref = u.number
        LEFT JOIN gateway.message m ON m.tenant_id = p_tenant AND m.message_id = r.message_id AND m.app_id = p_app;
    v_outcomes := gateway.settle_receipts(p_tenant, p_app, v.identities, v.messages, v.days, p_kinds, p_at, p_node);
    DELETE FROM gateway.inbox_open o USING unnest(v.identities, v.messages, v_outcomes) AS u(identity, message, result)
        WHERE o.tenant_id = p_tenant AND o.identity_id = u.identity AND o.message_id = u.message AND u.result IS NOT NULL;
    RETURN QUERY SELECT k, v_outcomes[k] FROM generate_subscripts(v_outcomes, 1) AS k ORDER BY k;
END $$;

ALTER FUNCTION gateway.report_numbers(p_tenant text, p_app text, p_vendor text, p_node text, p_keys text[], p_numbers text[], p_kinds text[], p_at timestamp with time zone[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.reported_delivery(p_tenant text, p_app text, p_vendor text, p_message uuid, p_key text) RETURNS TABLE(message_id uuid, target_id uuid, identity_id uuid, address text, state text, reason text, sent_at timestamp with time zone, received_at timestamp with time zone, read_at timestamp with time zone, is_reserved boolean, fallback json, platform text)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    i gateway.identity;
    m gateway.message;
    v_platform text;
    v_target uuid;
BEGIN
    SELECT * INTO i FROM gateway.identity x
        WHERE x.tenant_id = p_tenant AND x.app_id = p_app AND x.vendor = p_vendor AND x.key = p_key;
    IF NOT FOUND THEN RETURN; END IF;
    SELECT x.platform INTO v_platform FROM gateway.device x WHERE x.tenant_id = p_tenant AND x.device_id = i.device_id;
    SELECT * INTO m FROM gateway.message x WHERE x.tenant_id = p_tenant AND x.message_id = p_message AND x.app_id = p_app;
    IF m.message_id IS NOT NULL THEN
        v_target := gateway.reported_target(p_tenant, p_message, m.due_day, m.recipients, i.identity_id, i.phone);
        IF v_target IS NOT NULL THEN
            RETURN QUERY SELECT d.message_id, d.target_id, d.identity_id, d.address, d.state, d.reason, d.sent_at,
                    d.received_at, d.read_at, m.state = 'scheduled', m.fallback, v_platform
                FROM gateway.delivery d
                WHERE d.tenant_id = p_tenant AND d.due_day = m.due_day AND d.message_id = p_message AND d.target_id = v_target;
            RETURN;
        END IF;
        RETURN QUERY SELECT p_message, u.target, CASE WHEN u.target = i.identity_id THEN u.target END, nullif(u.address, ''),
                'queued', NULL::text, NULL::timestamptz, NULL::timestamptz, NULL::timestamptz, m.state = 'scheduled',
                m.fallback, v_platform
            FROM gateway.slice s CROSS JOIN LATERAL unnest(s.targets, s.addresses) AS u(target, address)
            WHERE s.tenant_id = p_tenant AND s.message_id = p_message AND s.state <> 'done'
                AND (u.target = i.identity_id OR u.address = 'phone:' || i.phone)
            ORDER BY u.target = i.identity_id DESC LIMIT 1;
        IF FOUND THEN RETURN; END IF;
    END IF;
    RETURN QUERY SELECT NULL::uuid, NULL::uuid, NULL::uuid, NULL::text, NULL::text, NULL::text, NULL::timestamptz,
        NULL::timestamptz, NULL::timestamptz, false, NULL::json, v_platform;
END $$;

ALTER FUNCTION gateway.reported_delivery(p_tenant text, p_app text, p_vendor text, p_message uuid, p_key text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.reported_target(p_tenant text, p_message uuid, p_due_day integer, p_recipients bigint, p_identity uuid, p_phone text) RETURNS uuid
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_target uuid;
BEGIN
    SELECT d.target_id INTO v_target FROM gateway.delivery d
        WHERE d.tenant_id = p_tenant AND d.due_day = p_due_day AND d.message_id = p_message AND d.target_id = p_identity;
    IF v_target IS NULL AND p_phone IS NOT NULL AND p_recipients <= 2000 THEN
        SELECT d.target_id INTO v_target FROM gateway.delivery d
            WHERE d.tenant_id = p_tenant AND d.due_day = p_due_day AND d.message_id = p_message
                AND d.address = 'phone:' || p_phone
            ORDER BY d.target_id LIMIT 1;
    END IF;
    RETURN v_target;
END $$;

ALTER FUNCTION gateway.reported_target(p_tenant text, p_message uuid, p_due_day integer, p_recipients bigint, p_identity uuid, p_phone text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.reporting_identities(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_user text) RETURNS uuid[]
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_ids uuid[];
BEGIN
    IF p_token IS NOT NULL THEN
        v_ids := ARRAY(
            SELECT i.identity_id FROM gateway.device d
            JOIN gateway.identity i ON i.tenant_id = p_tenant AND i.device_id = d.device_id AND i.app_id = p_app AND i.vendor = p_vendor
            WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.platform IN ('ios', 'android')
                AND d.token_digest = md5(p_token) AND d.token = p_token
            ORDER BY i.state = 'active' DESC, i.registered_at DESC LIMIT 50);
    END IF;
    IF coalesce(cardinality(v_ids), 0) = 0 AND p_key IS NOT NULL THEN
        v_ids := ARRAY(
            SELECT i.identity_id FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.key = p_key);
    END IF;
    IF coalesce(cardinality(v_ids), 0) = 0 AND p_user IS NOT NULL THEN
        v_ids := ARRAY(
            SELECT i.identity_id FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.user_id = p_user
            ORDER BY i.state = 'active' DESC, i.registered_at DESC LIMIT 50);
    END IF;
    RETURN coalesce(v_ids, '{}');
END $$;

ALTER FUNCTION gateway.reporting_identities(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_user text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.resolve_api_key(p_hash bytea) RETURNS TABLE(key_id uuid, tenant_id text, name text, scopes text[], expires_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RETURN QUERY
        SELECT k.key_id, k.tenant_id, k.name, k.scopes, k.expires_at FROM gateway.api_key k
        WHERE k.hash = p_hash AND (k.expires_at IS NULL OR k.expires_at > now());
END $$;

ALTER FUNCTION gateway.resolve_api_key(p_hash bytea) OWNER TO gateway_owner;

CREATE FUNCTION gateway.resolve_binding(p_vendor text, p_kind text, p_value text, p_host text) RETURNS TABLE(tenant_id text, app_id text, settings json)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RETURN QUERY
        SELECT b.tenant_id, b.app_id, b.settings FROM gateway.binding b
        WHERE b.vendor = p_vendor AND b.kind = p_kind AND b.value = p_value AND b.host IN ('', coalesce(p_host, ''))
        ORDER BY b.host DESC LIMIT 1;
END $$;

ALTER FUNCTION gateway.resolve_binding(p_vendor text, p_kind text, p_value text, p_host text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.resolve_page(p_id text) RETURNS TABLE(name text, body text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RETURN QUERY SELECT p.name, p.body FROM gateway.page p WHERE p.page_id = p_id AND p.expires_at > now() LIMIT 1;
END $$;

ALTER FUNCTION gateway.resolve_page(p_id text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.seat_token(p_tenant text, p_app text, p_device uuid, p_new_device uuid, p_platform text, p_environment text, p_token text, p_at timestamp with time zone, OUT o_device uuid) RETURNS uuid
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_environment text := p_environment;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'token', p_app || chr(31) || p_platform || chr(31) || p_token);
    SELECT d.device_id, d.environment INTO o_device, v_environment FROM gateway.device d
        WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.platform = p_platform AND d.token_digest = md5(p_token)
            AND d.token = p_token AND (p_environment IS NULL OR d.environment = p_environment)
        ORDER BY d.token_registered_at DESC LIMIT 1;
    IF o_device IS NOT NULL THEN
        UPDATE gateway.device SET token_state = 'active', token_reason = NULL,
                token_registered_at = greatest(token_registered_at, p_at), seen_at = greatest(seen_at, p_at)
            WHERE tenant_id = p_tenant AND device_id = o_device;
    ELSIF p_device IS NOT NULL THEN
        UPDATE gateway.device SET token = p_token, platform = p_platform, environment = coalesce(p_environment, environment),
                token_state = 'active', token_reason = NULL, token_registered_at = p_at, seen_at = greatest(seen_at, p_at)
            WHERE tenant_id = p_tenant AND device_id = p_device;
        o_device := p_device;
    ELSE
        INSERT INTO gateway.device
                (tenant_id, device_id, app_id, platform, environment, token, token_state, token_registered_at, created_at, seen_at)
            VALUES (p_tenant, p_new_device, p_app, p_platform, coalesce(p_environment, 'production'), p_token, 'active', p_at, p_at, p_at);
        o_device := p_new_device;
    END IF;
END $$;

ALTER FUNCTION gateway.seat_token(p_tenant text, p_app text, p_device uuid, p_new_device uuid, p_platform text, p_environment text, p_token text, p_at timestamp with time zone, OUT o_device uuid) OWNER TO gateway_owner;

CREATE FUNCTION gateway.sequence_message(p_tenant text, p_app text, p_vendor text, p_message uuid) RETURNS text
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_ref text;
BEGIN
    SELECT r.ref INTO v_ref FROM gateway.message_ref r
        WHERE r.tenant_id = p_tenant AND r.message_id = p_message AND r.app_id = p_app AND r.vendor = p_vendor ORDER BY r.ref LIMIT 1;
    IF v_ref IS NOT NULL THEN RETURN v_ref; END IF;
    PERFORM FROM gateway.message WHERE tenant_id = p_tenant AND message_id = p_message AND app_id = p_app;
    IF NOT FOUND THEN RETURN NULL; END IF;
    v_ref := gateway.next_number(p_tenant, p_app, p_vendor, 'message')::text;
    INSERT INTO gateway.message_ref (tenant_id, app_id, vendor, ref, message_id) VALUES (p_tenant, p_app, p_vendor, v_ref, p_message);
    RETURN v_ref;
END $$;

ALTER FUNCTION gateway.sequence_message(p_tenant text, p_app text, p_vendor text, p_message uuid) OWNER TO gateway_owner;

CREATE FUNCTION gateway.set_badge(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_user text, p_count integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_ids uuid[] := gateway.reporting_identities(p_tenant, p_app, p_vendor, p_key, p_token, p_user);
    v_holder text;
    v_count integer;
BEGIN
    SELECT coalesce('user:' || i.user_id, 'key:' || i.key) INTO v_holder FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.identity_id = v_ids[1];
    IF v_holder IS NULL THEN RETURN NULL; END IF;
    IF p_count IS NULL THEN
        SELECT b.count INTO v_count FROM gateway.badge b
            WHERE b.tenant_id = p_tenant AND b.app_id = p_app AND b.vendor = p_vendor AND b.holder = v_holder;
        RETURN coalesce(v_count, 0);
    END IF;
    INSERT INTO gateway.badge (tenant_id, app_id, vendor, holder, count) VALUES (p_tenant, p_app, p_vendor, v_holder, p_count)
        ON CONFLICT (tenant_id, app_id, vendor, holder) DO UPDATE SET count = excluded.count;
    RETURN p_count;
END $$;

ALTER FUNCTION gateway.set_badge(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_user text, p_count integer) OWNER TO gateway_owner;

CREATE FUNCTION gateway.set_callback(p_tenant text, p_app text, p_vendor text, p_sender text, p_url text) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_head bigint;
    v_count bigint;
BEGIN
    SELECT h.last INTO v_head FROM gateway.event_head h WHERE h.tenant_id = p_tenant;
    UPDATE gateway.sender SET callback_url = p_url,
            cursor = CASE WHEN callback_url IS NULL THEN coalesce(v_head, 0) ELSE cursor END,
            attempts = 0, failing_since = NULL, failure = NULL, next_at = now(), owner = NULL, epoch = epoch + 1
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND sender_id = p_sender;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;

ALTER FUNCTION gateway.set_callback(p_tenant text, p_app text, p_vendor text, p_sender text, p_url text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.set_clock(p_tenant text, p_device uuid, p_zone text, p_from integer, p_to integer) RETURNS text
    LANGUAGE plpgsql
    AS $$
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

ALTER FUNCTION gateway.set_clock(p_tenant text, p_device uuid, p_zone text, p_from integer, p_to integer) OWNER TO gateway_owner;

CREATE FUNCTION gateway.set_many_preferences(p_tenant text, p_app text, p_vendor text, p_accepts boolean, p_keys text[]) RETURNS TABLE(count bigint, ordinal bigint)
    LANGUAGE plpgsql
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
    v_ids uuid[];
    v_news uuid[];
    v_devices uuid[];
BEGIN
    v_ids := ARRAY(
        SELECT i.identity_id FROM unnest(p_keys) WITH ORDINALITY AS u(key, o)
        LEFT JOIN LATERAL (
            SELECT x.identity_id FROM gateway.identity x
            WHERE x.tenant_id = p_tenant AND x.app_id = p_app AND x.vendor = p_vendor AND x.key = u.key AND x.state = 'active' OFFSET 0) AS i ON true
        ORDER BY u.o);
    PERFORM FROM gateway.identity i WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v_ids) AND i.accepts_push <> p_accepts
        ORDER BY i.identity_id FOR UPDATE;
    IF FOUND THEN
        WITH r AS (
            UPDATE gateway.identity i SET accepts_push = p_accepts
                WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v_ids) AND i.accepts_push <> p_accepts
                RETURNING i.identity_id, i.device_id)
        SELECT array_agg(r.identity_id), array_agg(r.device_id) INTO v_news, v_devices FROM r;
        IF v_news IS NOT NULL THEN
            PERFORM gateway.append_changes(
                p_tenant, array_fill('preference_changed'::text, ARRAY[cardinality(v_news)]), array_fill(p_app, ARRAY[cardinality(v_news)]),
                array_fill(p_vendor, ARRAY[cardinality(v_news)]), v_news, v_devices,
                array_fill(json_build_object('acceptsPush', p_accepts), ARRAY[cardinality(v_news)]));
        END IF;
    END IF;
    RETURN QUERY SELECT (u.id IS NOT NULL)::integer::bigint, CASE WHEN u.id IS NOT NULL THEN u.o END
        FROM unnest(v_ids) WITH ORDINALITY AS u(id, o) ORDER BY u.o;
END $$;

ALTER FUNCTION gateway.set_many_preferences(p_tenant text, p_app text, p_vendor text, p_accepts boolean, p_keys text[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.set_preferences(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_accepts boolean, p_zone text, p_from integer, p_to integer, p_alias text) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    i gateway.identity;
    v_old boolean;
    d record;
BEGIN
    i := gateway.calling_identity(p_tenant, p_app, p_vendor, p_key, p_token);
    IF i.identity_id IS NULL THEN RETURN 0; END IF;
    SELECT x.accepts_push INTO v_old FROM gateway.identity x
        WHERE x.tenant_id = p_tenant AND x.identity_id = i.identity_id FOR UPDATE;
    IF p_accepts <> v_old OR p_alias IS DISTINCT FROM i.alias AND p_alias IS NOT NULL THEN
        UPDATE gateway.identity SET accepts_push = coalesce(p_accepts, accepts_push), alias = coalesce(p_alias, alias)
            WHERE tenant_id = p_tenant AND identity_id = i.identity_id;
    END IF;
    IF p_from IS NOT NULL OR p_to IS NOT NULL THEN
        SELECT x.window_from, x.window_to INTO d FROM gateway.device x
            WHERE x.tenant_id = p_tenant AND x.device_id = i.device_id FOR UPDATE;
        PERFORM gateway.set_clock(
            p_tenant, i.device_id, p_zone, coalesce(p_from, d.window_from, 0), coalesce(p_to, d.window_to, 1439));
    END IF;
    IF p_accepts <> v_old THEN
        PERFORM gateway.append_changes(
            p_tenant, ARRAY['preference_changed'], ARRAY[p_app], ARRAY[p_vendor], ARRAY[i.identity_id], ARRAY[i.device_id],
            ARRAY[json_build_object('acceptsPush', p_accepts)]);
    END IF;
    RETURN 1;
END $$;

ALTER FUNCTION gateway.set_preferences(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_accepts boolean, p_zone text, p_from integer, p_to integer, p_alias text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.set_tags(p_tenant text, p_identity uuid, p_tags text[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    i record;
BEGIN
    SELECT app_id, vendor INTO i FROM gateway.identity
        WHERE tenant_id = p_tenant AND identity_id = p_identity AND state = 'active' FOR NO KEY UPDATE;
    IF NOT FOUND THEN RETURN; END IF;
    DELETE FROM gateway.identity_tag
        WHERE tenant_id = p_tenant AND identity_id = p_identity AND NOT tag = ANY (p_tags);
    INSERT INTO gateway.identity_tag (tenant_id, app_id, vendor, tag, identity_id)
        SELECT p_tenant, i.app_id, i.vendor, t, p_identity FROM unnest(p_tags) AS t
        ON CONFLICT DO NOTHING;
END $$;

ALTER FUNCTION gateway.set_tags(p_tenant text, p_identity uuid, p_tags text[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.settle_receipts(p_tenant text, p_app text, p_identities uuid[], p_messages uuid[], p_days integer[], p_kinds text[], p_at timestamp with time zone[], p_node text) RETURNS text[]
    LANGUAGE plpgsql
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
DECLARE
    v_outcomes text[] := array_fill(NULL::text, ARRAY[coalesce(cardinality(p_messages), 0)]);
    v_first integer[] := '{}';
    v_later integer[] := '{}';
    v_found integer[];
    v_rest integer[];
    v_day integer;
    k integer;
    g record;
BEGIN
    FOR v_day IN SELECT DISTINCT x.day FROM unnest(p_days) AS x(day) WHERE x.day IS NOT NULL ORDER BY x.day LOOP
        SELECT array_agg(y.o ORDER BY y.message, y.identity) INTO v_rest FROM (
            SELECT DISTINCT ON (x.message, x.identity) x.o::integer AS o, x.message, x.identity
            FROM unnest(p_identities, p_messages, p_days) WITH ORDINALITY AS x(identity, message, day, o)
            WHERE x.day = v_day AND x.identity IS NOT NULL ORDER BY x.message, x.identity, x.o) y;

        WITH w AS (
            UPDATE gateway.delivery d SET state = p_kinds[u.o], received_at = p_at[u.o],
                    read_at = CASE WHEN p_kinds[u.o] = 'read' THEN p_at[u.o] END
                FROM unnest(v_rest) AS u(o)
                WHERE d.tenant_id = p_tenant AND d.due_day = v_day AND d.message_id = p_messages[u.o]
                    AND d.target_id = p_identities[u.o] AND d.state = 'sent'
                RETURNING u.o)
        SELECT array_agg(w.o) INTO v_found FROM w;
        IF v_found IS NOT NULL THEN
            v_first := v_first || v_found;
            FOREACH k IN ARRAY v_found LOOP v_outcomes[k] := 'recorded'; END LOOP;
        END IF;
        CONTINUE WHEN coalesce(cardinality(v_found), 0) = coalesce(cardinality(v_rest), 0);

        SELECT array_agg(u.o ORDER BY u.place) INTO v_rest FROM unnest(v_rest) WITH ORDINALITY AS u(o, place)
            WHERE v_outcomes[u.o] IS NULL;
        WITH w AS (
            UPDATE gateway.delivery d SET state = 'read', read_at = p_at[u.o]
                FROM unnest(v_rest) AS u(o)
                WHERE d.tenant_id = p_tenant AND d.due_day = v_day AND d.message_id = p_messages[u.o]
                    AND d.target_id = p_identities[u.o] AND d.state = 'received' AND p_kinds[u.o] = 'read'
                RETURNING u.o)
        SELECT array_agg(w.o) INTO v_found FROM w;
        IF v_found IS NOT NULL THEN
            v_later := v_later || v_found;
            FOREACH k IN ARRAY v_found LOOP v_outcomes[k] := 'recorded'; END LOOP;
        END IF;

        FOR k IN
            SELECT u.o FROM unnest(v_rest) AS u(o)
            JOIN gateway.delivery d ON d.tenant_id = p_tenant AND d.due_day = v_day AND d.message_id = p_messages[u.o]
                AND d.target_id = p_identities[u.o]
            WHERE v_outcomes[u.o] IS NULL AND (d.state = 'read' OR d.state = 'received' AND p_kinds[u.o] = 'received')
        LOOP v_outcomes[k] := 'repeated'; END LOOP;
    END LOOP;
    IF cardinality(v_first) + cardinality(v_later) = 0 THEN RETURN v_outcomes; END IF;

    FOR g IN
        SELECT m.vendor, min(m.due_at) AS due_at, count(*) FILTER (WHERE x.is_first) AS received,
            count(*) FILTER (WHERE p_kinds[x.o] = 'read') AS read
        FROM (SELECT f.o, true AS is_first FROM unnest(v_first) AS f(o) UNION ALL SELECT l.o, false FROM unnest(v_later) AS l(o)) x
        JOIN gateway.message m ON m.tenant_id = p_tenant AND m.message_id = p_messages[x.o]
        GROUP BY m.vendor, floor(extract(epoch FROM m.due_at) / 3600) ORDER BY m.vendor, 2
    LOOP
        PERFORM gateway.add_counts(p_tenant, p_app, g.vendor, g.due_at, p_node, 0, 0, g.received, g.read, 0, 0, 0, 0);
    END LOOP;
    FOR g IN
        SELECT m.vendor, m.sender_id, m.message_id, m.due_day, array_agg(p_kinds[x.o] ORDER BY x.o) AS kinds,
            array_agg(p_identities[x.o] ORDER BY x.o) AS targets
        FROM unnest(v_first || v_later) AS x(o)
        JOIN gateway.message m ON m.tenant_id = p_tenant AND m.message_id = p_messages[x.o]
        GROUP BY m.message_id, m.vendor, m.sender_id, m.due_day ORDER BY min(x.o)
    LOOP
        PERFORM gateway.append_events(p_tenant, p_app, g.vendor, g.sender_id, g.message_id, g.due_day, g.kinds, g.targets);
    END LOOP;
    RETURN v_outcomes;
END $$;

ALTER FUNCTION gateway.settle_receipts(p_tenant text, p_app text, p_identities uuid[], p_messages uuid[], p_days integer[], p_kinds text[], p_at timestamp with time zone[], p_node text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.shown_messages(p_tenant text, p_messages uuid[], p_users text[], p_received timestamp with time zone[], p_read timestamp with time zone[]) RETURNS TABLE(message_id uuid, app_id text, vendor text, content json, due_at timestamp with time zone, due_local bigint, expires_at timestamp with time zone, collapse_id text, numbers text, sender_id text, user_id text, received_at timestamp with time zone, read_at timestamp with time zone)
    LANGUAGE plpgsql STABLE
    AS $$
#variable_conflict use_column
DECLARE
    k integer;
BEGIN
    FOR k IN 1 .. coalesce(cardinality(p_messages), 0) LOOP
        RETURN QUERY SELECT m.message_id, m.app_id, m.vendor, m.content, m.due_at, m.due_local, m.expires_at, m.collapse_id,
                gateway.message_numbers(p_tenant, m.message_id), m.sender_id, p_users[k], p_received[k], p_read[k]
            FROM gateway.message m WHERE m.tenant_id = p_tenant AND m.message_id = p_messages[k];
    END LOOP;
END $$;

ALTER FUNCTION gateway.shown_messages(p_tenant text, p_messages uuid[], p_users text[], p_received timestamp with time zone[], p_read timestamp with time zone[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.start_capture(p_tenant text, p_capture uuid, p_app text, p_vendor text, p_actor text, p_seconds integer, p_exchanges integer, p_body integer, p_bytes integer, p_texts boolean, p_limit integer) RETURNS text
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'capture', '');
    IF NOT EXISTS (SELECT FROM gateway.app a WHERE a.tenant_id = p_tenant AND a.app_id = p_app AND a.retired_at IS NULL) THEN
        RETURN 'missing';
    END IF;
    IF EXISTS (
        SELECT FROM gateway.capture c WHERE c.tenant_id = p_tenant AND c.app_id = p_app AND c.vendor = p_vendor
            AND c.ended_at IS NULL AND c.ends_at > now()) THEN
        RETURN 'running';
    END IF;
    IF (SELECT count(*) FROM gateway.capture c WHERE c.tenant_id = p_tenant) >= p_limit THEN RETURN 'tooMany'; END IF;
    INSERT INTO gateway.capture (
            tenant_id, capture_id, app_id, vendor, started_at, ends_at, started_by, keeps_texts, exchange_limit, body_limit, byte_limit)
        VALUES (
            p_tenant, p_capture, p_app, p_vendor, now(), now() + p_seconds * interval '1 second', p_actor, p_texts, p_exchanges, p_body,
            p_bytes);
    RETURN 'started';
END $$;

ALTER FUNCTION gateway.start_capture(p_tenant text, p_capture uuid, p_app text, p_vendor text, p_actor text, p_seconds integer, p_exchanges integer, p_body integer, p_bytes integer, p_texts boolean, p_limit integer) OWNER TO gateway_owner;

CREATE FUNCTION gateway.tag_device(p_tenant text, p_device uuid, p_tags text[]) RETURNS bigint
    LANGUAGE plpgsql
    AS $_$
DECLARE
    v_ids uuid[];
    v_id uuid;
    v_own text[];
BEGIN
    SELECT array_agg(identity_id ORDER BY identity_id) INTO v_ids FROM gateway.identity
        WHERE tenant_id = p_tenant AND device_id = p_device AND state = 'active';
    FOREACH v_id IN ARRAY coalesce(v_ids, '{}') LOOP
        SELECT array_agg(t.tag) INTO v_own FROM gateway.identity_tag t
            WHERE t.tenant_id = p_tenant AND t.identity_id = v_id AND starts_with(t.tag, '$') AND EXISTS (
                SELECT FROM gateway.identity_tag o
                WHERE o.tenant_id = p_tenant AND o.identity_id = v_id AND starts_with(o.tag, '$Platform:'));
        PERFORM gateway.set_tags(p_tenant, v_id, p_tags || coalesce(v_own, '{}'));
    END LOOP;
    RETURN coalesce(cardinality(v_ids), 0);
END $_$;

ALTER FUNCTION gateway.tag_device(p_tenant text, p_device uuid, p_tags text[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.take_badges(p_tenant text, p_message uuid, p_step integer, p_places bigint[], p_targets uuid[]) RETURNS TABLE(place bigint, badge integer)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    m record;
    v_holders text[];
    v_new text[];
BEGIN
    SELECT x.app_id, x.vendor INTO m FROM gateway.message x WHERE x.tenant_id = p_tenant AND x.message_id = p_message;
    IF NOT FOUND THEN RETURN; END IF;
    v_holders := ARRAY(
        SELECT DISTINCT coalesce('user:' || i.user_id, 'key:' || i.key) AS holder FROM gateway.identity i
        JOIN gateway.device d ON d.tenant_id = p_tenant AND d.device_id = i.device_id
        WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (p_targets) AND i.vendor = m.vendor AND i.state = 'active'
            AND i.accepts_push AND d.token_state = 'active'
        ORDER BY holder);
    WITH r AS (
        INSERT INTO gateway.badge_mark (tenant_id, message_id, holder)
            SELECT p_tenant, p_message, h FROM unnest(v_holders) AS h ORDER BY h
            ON CONFLICT DO NOTHING RETURNING holder)
    SELECT array_agg(r.holder ORDER BY r.holder) INTO v_new FROM r;
    IF v_new IS NOT NULL THEN
        WITH r AS (
            INSERT INTO gateway.badge AS b (tenant_id, app_id, vendor, holder, count)
                SELECT p_tenant, m.app_id, m.vendor, h, p_step FROM unnest(v_new) AS h ORDER BY h
                ON CONFLICT (tenant_id, app_id, vendor, holder) DO UPDATE SET count = least(b.count + excluded.count, 1000000000)
                RETURNING b.holder, b.count)
        UPDATE gateway.badge_mark k SET badge = r.count FROM r
            WHERE k.tenant_id = p_tenant AND k.message_id = p_message AND k.holder = r.holder;
    END IF;
    RETURN QUERY SELECT t.place, k.badge FROM unnest(p_places, p_targets) AS t(place, target)
        JOIN gateway.identity i ON i.tenant_id = p_tenant AND i.identity_id = t.target
        CROSS JOIN LATERAL (SELECT coalesce('user:' || i.user_id, 'key:' || i.key) AS holder OFFSET 0) AS h
        JOIN gateway.badge_mark k ON k.tenant_id = p_tenant AND k.message_id = p_message AND k.holder = h.holder
        WHERE k.badge IS NOT NULL;
END $$;

ALTER FUNCTION gateway.take_badges(p_tenant text, p_message uuid, p_step integer, p_places bigint[], p_targets uuid[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.unregister_identities(p_tenant text, p_app text, p_vendor text, p_key text, p_phone text) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_ids uuid[];
    v_devices uuid[];
    v_keys text[];
BEGIN
    IF p_key IS NOT NULL THEN
        WITH r AS (
            UPDATE gateway.identity SET state = 'unregistered'
            WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND key = p_key AND state = 'active'
            RETURNING identity_id, device_id, key)
        SELECT array_agg(identity_id), array_agg(device_id), array_agg(key) INTO v_ids, v_devices, v_keys FROM r;
    ELSE
        WITH r AS (
            UPDATE gateway.identity SET state = 'unregistered'
            WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND phone = p_phone AND state = 'active'
            RETURNING identity_id, device_id, key)
        SELECT array_agg(identity_id), array_agg(device_id), array_agg(key) INTO v_ids, v_devices, v_keys FROM r;
    END IF;
    IF v_keys IS NULL THEN RETURN 0; END IF;
    DELETE FROM gateway.identity_tag WHERE tenant_id = p_tenant AND identity_id = ANY (v_ids);
    PERFORM gateway.count_identities(p_tenant, p_app, p_vendor, v_keys, -1);
    PERFORM gateway.drop_unused_tokens(p_tenant, v_devices);
    PERFORM gateway.append_changes(
        p_tenant, array_fill('unregistered'::text, ARRAY[cardinality(v_ids)]), array_fill(p_app, ARRAY[cardinality(v_ids)]),
        array_fill(p_vendor, ARRAY[cardinality(v_ids)]), v_ids, v_devices, NULL);
    RETURN cardinality(v_keys);
END $$;

ALTER FUNCTION gateway.unregister_identities(p_tenant text, p_app text, p_vendor text, p_key text, p_phone text) OWNER TO gateway_owner;

CREATE FUNCTION gateway.update_token(p_tenant text, p_app text, p_vendor text, p_key text, p_environment text, p_token text, p_at timestamp with time zone) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_id uuid;
    v_old uuid;
    v_new uuid;
    v_platform text;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'key', p_app || chr(31) || p_vendor || chr(31) || p_key);
    SELECT i.identity_id, i.device_id, d.platform INTO v_id, v_old, v_platform
        FROM gateway.identity i JOIN gateway.device d ON d.tenant_id = p_tenant AND d.device_id = i.device_id
        WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.key = p_key AND i.state = 'active';
    IF NOT FOUND THEN RETURN 0; END IF;
    SELECT t.o_device INTO v_new
        FROM gateway.place_token(p_tenant, p_app, p_vendor, v_id, v_old, v_old, v_platform, p_environment, p_token, p_at) t;
    IF v_new <> v_old THEN
        UPDATE gateway.identity SET device_id = v_new WHERE tenant_id = p_tenant AND identity_id = v_id;
        PERFORM gateway.drop_unused_tokens(p_tenant, ARRAY[v_old]);
        PERFORM gateway.note_sharing(p_tenant, p_app, v_id, v_new);
    END IF;
    RETURN 1;
END $$;

ALTER FUNCTION gateway.update_token(p_tenant text, p_app text, p_vendor text, p_key text, p_environment text, p_token text, p_at timestamp with time zone) OWNER TO gateway_owner;

CREATE FUNCTION gateway.walk_history(p_tenant text, p_app text, p_vendor text, p_identity uuid, p_user text, p_since integer, p_day integer, p_before uuid, p_limit integer) RETURNS TABLE(message_id uuid, due_day integer, user_id text, is_sent boolean, received_at timestamp with time zone, read_at timestamp with time zone)
    LANGUAGE plpgsql STABLE
    SET enable_sort TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashagg TO 'off'
    SET enable_hashjoin TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
    v_to integer := (p_day / 7 + 1) * 7;
    v_from integer;
    v_span integer := 7;
    v_left integer := p_limit;
    v_count integer;
BEGIN
    WHILE v_left > 0 AND v_to > p_since LOOP
        v_from := v_to - v_span;
        IF p_user IS NULL THEN
            RETURN QUERY SELECT d.message_id, d.due_day, d.user_id, d.state = 'sent', d.received_at, d.read_at
                FROM gateway.delivery d
                WHERE d.tenant_id = p_tenant AND d.identity_id = p_identity AND d.due_day >= v_from AND d.due_day < v_to
                    AND d.message_id < p_before AND d.state <> 'canceled' AND d.reason IS DISTINCT FROM 'duplicate'
                ORDER BY d.message_id DESC LIMIT v_left;
        ELSE
            RETURN QUERY SELECT d.message_id, d.due_day, p_user, bool_or(d.state = 'sent' AND d.identity_id = p_identity),
                    min(d.received_at), min(d.read_at)
                FROM gateway.delivery d JOIN gateway.identity i ON i.tenant_id = p_tenant AND i.identity_id = d.identity_id
                WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.user_id = p_user AND i.vendor = p_vendor
                    AND d.due_day >= v_from AND d.due_day < v_to AND d.message_id < p_before AND d.state <> 'canceled'
                    AND d.reason IS DISTINCT FROM 'duplicate'
                GROUP BY d.message_id, d.due_day ORDER BY d.message_id DESC LIMIT v_left;
        END IF;
        GET DIAGNOSTICS v_count = ROW_COUNT;
        v_left := v_left - v_count;
        v_to := v_from;
        v_span := least(v_span * 2, 448);
    END LOOP;
END $$;

ALTER FUNCTION gateway.walk_history(p_tenant text, p_app text, p_vendor text, p_identity uuid, p_user text, p_since integer, p_day integer, p_before uuid, p_limit integer) OWNER TO gateway_owner;

CREATE FUNCTION gateway.was_sent(p_tenant text, p_app text, p_user text, p_message uuid) RETURNS boolean
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
    v_day integer;
BEGIN
    SELECT m.due_day INTO v_day FROM gateway.message m WHERE m.tenant_id = p_tenant AND m.message_id = p_message;
    RETURN EXISTS (
        SELECT FROM gateway.delivery d
        WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.user_id = p_user AND d.message_id = p_message AND d.due_day = v_day
            AND d.state IN ('sent', 'received', 'read'));
END $$;

ALTER FUNCTION gateway.was_sent(p_tenant text, p_app text, p_user text, p_message uuid) OWNER TO gateway_owner;

CREATE FUNCTION gateway.window_end(p_tenant text, p_app text, p_vendors text[], p_tags text[], p_after uuid, p_limit integer) RETURNS uuid
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_walks integer := cardinality(p_vendors) * coalesce(cardinality(p_tags), 1);
    v_each integer := 1 + (p_limit - 1) / greatest(v_walks, 1);
BEGIN
    IF p_tags IS NULL THEN
        RETURN (
            SELECT y.id FROM unnest(p_vendors) AS v(name) CROSS JOIN LATERAL (
                SELECT i.identity_id AS id FROM gateway.identity i
                WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = v.name AND i.identity_id > p_after
                ORDER BY i.identity_id OFFSET v_each - 1 LIMIT 1) AS y
            ORDER BY y.id LIMIT 1);
    END IF;
    RETURN (
        SELECT y.id FROM unnest(p_vendors) AS v(name) CROSS JOIN unnest(p_tags) AS n(tag) CROSS JOIN LATERAL (
            SELECT t.identity_id AS id FROM gateway.identity_tag t
            WHERE t.tenant_id = p_tenant AND t.app_id = p_app AND t.vendor = v.name AND t.tag = n.tag AND t.identity_id > p_after
            ORDER BY t.identity_id OFFSET v_each - 1 LIMIT 1) AS y
        ORDER BY y.id LIMIT 1);
END $$;

ALTER FUNCTION gateway.window_end(p_tenant text, p_app text, p_vendors text[], p_tags text[], p_after uuid, p_limit integer) OWNER TO gateway_owner;

CREATE FUNCTION gateway.withdraw_schedule(p_tenant text, p_app text, p_vendor text, p_schedule uuid, p_message uuid) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF gateway.cancel_scheduled(p_tenant, p_app, p_vendor, p_schedule) IS DISTINCT FROM p_message THEN
        RAISE EXCEPTION 'the schedule has changed' USING ERRCODE = 'GW409';
    END IF;
    RETURN 1;
END $$;

ALTER FUNCTION gateway.withdraw_schedule(p_tenant text, p_app text, p_vendor text, p_schedule uuid, p_message uuid) OWNER TO gateway_owner;

CREATE FUNCTION gateway.without_gone(p_tenant text, p_app text, p_ids uuid[]) RETURNS uuid[]
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_most integer := 4 * cardinality(p_ids);
    v_gone uuid[];
BEGIN
    v_gone := ARRAY(
        SELECT i.identity_id FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.state <> 'active'
            AND i.identity_id >= p_ids[1] AND i.identity_id <= p_ids[cardinality(p_ids)] LIMIT v_most + 1);
    IF cardinality(v_gone) > v_most THEN
        v_gone := ARRAY(
            SELECT c.id FROM unnest(p_ids) AS c(id) CROSS JOIN LATERAL (
                SELECT FROM gateway.identity i
                WHERE i.tenant_id = p_tenant AND i.identity_id = c.id AND i.state <> 'active' OFFSET 0) AS y);
    END IF;
    IF cardinality(v_gone) = 0 THEN RETURN p_ids; END IF;
    RETURN ARRAY(SELECT unnest(p_ids) EXCEPT SELECT unnest(v_gone) ORDER BY 1);
END $$;

ALTER FUNCTION gateway.without_gone(p_tenant text, p_app text, p_ids uuid[]) OWNER TO gateway_owner;

CREATE FUNCTION gateway.write_audit(p_tenant text, p_actor text, p_actions text[], p_subjects text[], p_data text[]) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_last bigint;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'audit', '');
    SELECT coalesce(max(a.position), 0) INTO v_last FROM gateway.audit a WHERE a.tenant_id = p_tenant;
    WITH r AS (
        INSERT INTO gateway.audit (tenant_id, audit_id, position, at, actor, action, subject, data)
            SELECT p_tenant, gen_random_uuid(), v_last + u.o, now(), p_actor, u.action, u.subject, u.data::json
            FROM unnest(p_actions, p_subjects, p_data) WITH ORDINALITY AS u(action, subject, data, o)
            RETURNING position)
    SELECT max(r.position) INTO v_last FROM r;
    RETURN v_last;
END $$;

ALTER FUNCTION gateway.write_audit(p_tenant text, p_actor text, p_actions text[], p_subjects text[], p_data text[]) OWNER TO gateway_owner;

CREATE TABLE gateway.api_key (
    key_id uuid NOT NULL,
    tenant_id text NOT NULL,
    name text NOT NULL,
    hash bytea NOT NULL,
    scopes text[] DEFAULT '{}'::text[] NOT NULL,
    expires_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    is_provisioned boolean DEFAULT false NOT NULL
);

ALTER TABLE gateway.api_key OWNER TO gateway_owner;

CREATE TABLE gateway.api_key_use (
    tenant_id text NOT NULL,
    key_id uuid NOT NULL,
    last_used_at timestamp with time zone NOT NULL
);

ALTER TABLE gateway.api_key_use OWNER TO gateway_owner;

CREATE TABLE gateway.app (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    platforms jsonb DEFAULT '{}'::jsonb NOT NULL,
    defaults jsonb DEFAULT '{}'::jsonb NOT NULL,
    retired_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    uses_windows boolean DEFAULT false NOT NULL,
    shares_devices boolean DEFAULT false NOT NULL,
    CONSTRAINT app_app_id_check CHECK ((app_id <> ''::text))
);

ALTER TABLE gateway.app OWNER TO gateway_owner;

CREATE TABLE gateway.audit (
    tenant_id text NOT NULL,
    audit_id uuid DEFAULT gen_random_uuid() NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    data json,
    "position" bigint NOT NULL
);

ALTER TABLE gateway.audit OWNER TO gateway_owner;

CREATE TABLE gateway.badge (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    holder text NOT NULL,
    count integer NOT NULL,
    CONSTRAINT badge_count_check CHECK ((count >= 0))
)
WITH (fillfactor='50');

ALTER TABLE gateway.badge OWNER TO gateway_owner;

CREATE TABLE gateway.badge_mark (
    tenant_id text NOT NULL,
    message_id uuid NOT NULL,
    holder text NOT NULL,
    badge integer,
    is_read boolean DEFAULT false NOT NULL
)
WITH (fillfactor='75');

ALTER TABLE gateway.badge_mark OWNER TO gateway_owner;

CREATE TABLE gateway.binding (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    kind text NOT NULL,
    value text NOT NULL,
    host text DEFAULT ''::text NOT NULL,
    settings json DEFAULT '{}'::json NOT NULL
);

ALTER TABLE gateway.binding OWNER TO gateway_owner;

CREATE TABLE gateway.budget (
    tenant_id text NOT NULL,
    name text NOT NULL,
    spent_until timestamp with time zone NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE gateway.budget OWNER TO gateway_owner;

CREATE TABLE gateway.campaign (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    campaign_id text NOT NULL,
    name text NOT NULL,
    body json NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

ALTER TABLE gateway.campaign OWNER TO gateway_owner;

CREATE TABLE gateway.campaign_mark (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    user_id text NOT NULL,
    campaign text NOT NULL,
    at timestamp with time zone NOT NULL
);

ALTER TABLE gateway.campaign_mark OWNER TO gateway_owner;

CREATE TABLE gateway.capture (
    tenant_id text NOT NULL,
    capture_id uuid NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    ended_by text,
    started_by text NOT NULL,
    keeps_texts boolean NOT NULL,
    exchange_limit integer NOT NULL,
    body_limit integer NOT NULL,
    byte_limit integer NOT NULL,
    exchange_count integer DEFAULT 0 NOT NULL,
    byte_count integer DEFAULT 0 NOT NULL,
    CONSTRAINT capture_body_limit_check CHECK (((body_limit >= 1) AND (body_limit <= 65536))),
    CONSTRAINT capture_byte_limit_check CHECK (((byte_limit >= 1) AND (byte_limit <= 16777216))),
    CONSTRAINT capture_check CHECK ((ends_at <= (started_at + '24:00:00'::interval))),
    CONSTRAINT capture_check1 CHECK ((exchange_count <= exchange_limit)),
    CONSTRAINT capture_check2 CHECK ((byte_count <= byte_limit)),
    CONSTRAINT capture_ended_by_check CHECK ((ended_by = ANY (ARRAY['stopped'::text, 'full'::text]))),
    CONSTRAINT capture_exchange_limit_check CHECK (((exchange_limit >= 1) AND (exchange_limit <= 1000)))
)
WITH (fillfactor='50');

ALTER TABLE gateway.capture OWNER TO gateway_owner;

CREATE TABLE gateway.captured_exchange (
    tenant_id text NOT NULL,
    capture_id uuid NOT NULL,
    sequence integer NOT NULL,
    at timestamp with time zone NOT NULL,
    route text NOT NULL,
    outcome text NOT NULL,
    reason text,
    method text NOT NULL,
    path text NOT NULL,
    query text,
    headers json NOT NULL,
    body text NOT NULL,
    body_bytes bigint NOT NULL,
    status smallint NOT NULL,
    answer_type text,
    answer text NOT NULL,
    answer_bytes bigint NOT NULL,
    CONSTRAINT captured_exchange_outcome_check CHECK ((outcome = ANY (ARRAY['known'::text, 'refused'::text, 'unknown'::text])))
);

ALTER TABLE gateway.captured_exchange OWNER TO gateway_owner;

CREATE TABLE gateway.counter_hour (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    hour integer NOT NULL,
    node_id text NOT NULL,
    recipients bigint DEFAULT 0 NOT NULL,
    sent bigint DEFAULT 0 NOT NULL,
    received bigint DEFAULT 0 NOT NULL,
    read bigint DEFAULT 0 NOT NULL,
    failed bigint DEFAULT 0 NOT NULL,
    suppressed bigint DEFAULT 0 NOT NULL,
    expired bigint DEFAULT 0 NOT NULL,
    canceled bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE gateway.counter_hour OWNER TO gateway_owner;

CREATE TABLE gateway.credential (
    tenant_id text NOT NULL,
    credential_id text NOT NULL,
    kind text NOT NULL,
    team_id text,
    key_id text,
    endpoint text,
    trust_roots text,
    sealed bytea NOT NULL,
    fingerprint bytea NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    refusal text,
    refused_at timestamp with time zone,
    pushes_per_second integer,
    CONSTRAINT credential_credential_id_check CHECK ((credential_id <> ''::text)),
    CONSTRAINT credential_pushes_per_second_check CHECK ((pushes_per_second > 0))
);

ALTER TABLE gateway.credential OWNER TO gateway_owner;

CREATE TABLE gateway.delivery (
    tenant_id text NOT NULL,
    due_day integer NOT NULL,
    message_id uuid NOT NULL,
    target_id uuid NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    identity_id uuid,
    device_id uuid,
    user_id text,
    address text,
    state text NOT NULL,
    reason text,
    transport text,
    transport_id uuid,
    is_certain boolean DEFAULT true NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    payload_bytes integer DEFAULT 0 NOT NULL,
    reduced text,
    sent_at timestamp with time zone,
    received_at timestamp with time zone,
    read_at timestamp with time zone
)
PARTITION BY RANGE (due_day);

ALTER TABLE gateway.delivery OWNER TO gateway_owner;

CREATE TABLE gateway.delivery_default (
    tenant_id text NOT NULL,
    due_day integer NOT NULL,
    message_id uuid NOT NULL,
    target_id uuid NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    identity_id uuid,
    device_id uuid,
    user_id text,
    address text,
    state text NOT NULL,
    reason text,
    transport text,
    transport_id uuid,
    is_certain boolean DEFAULT true NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    payload_bytes integer DEFAULT 0 NOT NULL,
    reduced text,
    sent_at timestamp with time zone,
    received_at timestamp with time zone,
    read_at timestamp with time zone
);

ALTER TABLE gateway.delivery_default OWNER TO gateway_owner;

CREATE TABLE gateway.delivery_w2966 (
    tenant_id text NOT NULL,
    due_day integer NOT NULL,
    message_id uuid NOT NULL,
    target_id uuid NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    identity_id uuid,
    device_id uuid,
    user_id text,
    address text,
    state text NOT NULL,
    reason text,
    transport text,
    transport_id uuid,
    is_certain boolean DEFAULT true NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    payload_bytes integer DEFAULT 0 NOT NULL,
    reduced text,
    sent_at timestamp with time zone,
    received_at timestamp with time zone,
    read_at timestamp with time zone
)
WITH (fillfactor='75');

ALTER TABLE gateway.delivery_w2966 OWNER TO gateway_owner;

CREATE TABLE gateway.delivery_w2967 (
    tenant_id text NOT NULL,
    due_day integer NOT NULL,
    message_id uuid NOT NULL,
    target_id uuid NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    identity_id uuid,
    device_id uuid,
    user_id text,
    address text,
    state text NOT NULL,
    reason text,
    transport text,
    transport_id uuid,
    is_certain boolean DEFAULT true NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    payload_bytes integer DEFAULT 0 NOT NULL,
    reduced text,
    sent_at timestamp with time zone,
    received_at timestamp with time zone,
    read_at timestamp with time zone
)
WITH (fillfactor='75');

ALTER TABLE gateway.delivery_w2967 OWNER TO gateway_owner;

CREATE TABLE gateway.delivery_w2968 (
    tenant_id text NOT NULL,
    due_day integer NOT NULL,
    message_id uuid NOT NULL,
    target_id uuid NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    identity_id uuid,
    device_id uuid,
    user_id text,
    address text,
    state text NOT NULL,
    reason text,
    transport text,
    transport_id uuid,
    is_certain boolean DEFAULT true NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    payload_bytes integer DEFAULT 0 NOT NULL,
    reduced text,
    sent_at timestamp with time zone,
    received_at timestamp with time zone,
    read_at timestamp with time zone
)
WITH (fillfactor='75');

ALTER TABLE gateway.delivery_w2968 OWNER TO gateway_owner;

CREATE TABLE gateway.delivery_w2969 (
    tenant_id text NOT NULL,
    due_day integer NOT NULL,
    message_id uuid NOT NULL,
    target_id uuid NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    identity_id uuid,
    device_id uuid,
    user_id text,
    address text,
    state text NOT NULL,
    reason text,
    transport text,
    transport_id uuid,
    is_certain boolean DEFAULT true NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    payload_bytes integer DEFAULT 0 NOT NULL,
    reduced text,
    sent_at timestamp with time zone,
    received_at timestamp with time zone,
    read_at timestamp with time zone
)
WITH (fillfactor='75');

ALTER TABLE gateway.delivery_w2969 OWNER TO gateway_owner;

CREATE TABLE gateway.delivery_w2970 (
    tenant_id text NOT NULL,
    due_day integer NOT NULL,
    message_id uuid NOT NULL,
    target_id uuid NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    identity_id uuid,
    device_id uuid,
    user_id text,
    address text,
    state text NOT NULL,
    reason text,
    transport text,
    transport_id uuid,
    is_certain boolean DEFAULT true NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    payload_bytes integer DEFAULT 0 NOT NULL,
    reduced text,
    sent_at timestamp with time zone,
    received_at timestamp with time zone,
    read_at timestamp with time zone
)
WITH (fillfactor='75');

ALTER TABLE gateway.delivery_w2970 OWNER TO gateway_owner;

CREATE TABLE gateway.delivery_w2971 (
    tenant_id text NOT NULL,
    due_day integer NOT NULL,
    message_id uuid NOT NULL,
    target_id uuid NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    identity_id uuid,
    device_id uuid,
    user_id text,
    address text,
    state text NOT NULL,
    reason text,
    transport text,
    transport_id uuid,
    is_certain boolean DEFAULT true NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    payload_bytes integer DEFAULT 0 NOT NULL,
    reduced text,
    sent_at timestamp with time zone,
    received_at timestamp with time zone,
    read_at timestamp with time zone
)
WITH (fillfactor='75');

ALTER TABLE gateway.delivery_w2971 OWNER TO gateway_owner;

CREATE TABLE gateway.delivery_w2972 (
    tenant_id text NOT NULL,
    due_day integer NOT NULL,
    message_id uuid NOT NULL,
    target_id uuid NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    identity_id uuid,
    device_id uuid,
    user_id text,
    address text,
    state text NOT NULL,
    reason text,
    transport text,
    transport_id uuid,
    is_certain boolean DEFAULT true NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    payload_bytes integer DEFAULT 0 NOT NULL,
    reduced text,
    sent_at timestamp with time zone,
    received_at timestamp with time zone,
    read_at timestamp with time zone
)
WITH (fillfactor='75');

ALTER TABLE gateway.delivery_w2972 OWNER TO gateway_owner;

CREATE TABLE gateway.delivery_w2973 (
    tenant_id text NOT NULL,
    due_day integer NOT NULL,
    message_id uuid NOT NULL,
    target_id uuid NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    identity_id uuid,
    device_id uuid,
    user_id text,
    address text,
    state text NOT NULL,
    reason text,
    transport text,
    transport_id uuid,
    is_certain boolean DEFAULT true NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    payload_bytes integer DEFAULT 0 NOT NULL,
    reduced text,
    sent_at timestamp with time zone,
    received_at timestamp with time zone,
    read_at timestamp with time zone
)
WITH (fillfactor='75');

ALTER TABLE gateway.delivery_w2973 OWNER TO gateway_owner;

CREATE TABLE gateway.device (
    tenant_id text NOT NULL,
    device_id uuid NOT NULL,
    app_id text NOT NULL,
    platform text NOT NULL,
    environment text NOT NULL,
    token text,
    token_digest text GENERATED ALWAYS AS (md5(token)) STORED,
    token_state text DEFAULT 'none'::text NOT NULL,
    token_reason text,
    token_registered_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone,
    time_zone text,
    window_from smallint,
    window_to smallint,
    CONSTRAINT device_token_state_check CHECK ((token_state = ANY (ARRAY['none'::text, 'active'::text, 'invalid'::text, 'quarantined'::text])))
)
WITH (fillfactor='90');

ALTER TABLE gateway.device OWNER TO gateway_owner;

CREATE TABLE gateway.event (
    tenant_id text NOT NULL,
    "position" bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    app_id text NOT NULL,
    vendor text,
    sender_id text,
    message_id uuid,
    target_id uuid,
    due_day integer,
    data json,
    identity_id uuid,
    device_id uuid
);

ALTER TABLE gateway.event OWNER TO gateway_owner;

CREATE TABLE gateway.event_head (
    tenant_id text NOT NULL,
    last bigint NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE gateway.event_head OWNER TO gateway_owner;

CREATE TABLE gateway.group_count (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    group_name text NOT NULL,
    bucket smallint NOT NULL,
    members bigint NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE gateway.group_count OWNER TO gateway_owner;

CREATE TABLE gateway.group_member (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    group_name text NOT NULL,
    user_id text NOT NULL
);

ALTER TABLE gateway.group_member OWNER TO gateway_owner;

CREATE TABLE gateway.idempotency (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    key text NOT NULL,
    body_hash text NOT NULL,
    message_id uuid,
    recipients bigint,
    created_at timestamp with time zone NOT NULL,
    status smallint,
    answer bytea
);

ALTER TABLE gateway.idempotency OWNER TO gateway_owner;

CREATE TABLE gateway.identity_count (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    bucket smallint NOT NULL,
    active bigint NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE gateway.identity_count OWNER TO gateway_owner;

CREATE TABLE gateway.identity_tag (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    tag text NOT NULL,
    identity_id uuid NOT NULL
);

ALTER TABLE gateway.identity_tag OWNER TO gateway_owner;

CREATE TABLE gateway.inbox_open (
    tenant_id text NOT NULL,
    identity_id uuid NOT NULL,
    message_id uuid NOT NULL,
    due_day integer NOT NULL
);

ALTER TABLE gateway.inbox_open OWNER TO gateway_owner;

CREATE TABLE gateway.lane (
    tenant_id text NOT NULL,
    lane smallint NOT NULL,
    is_paused boolean DEFAULT false NOT NULL
);

ALTER TABLE gateway.lane OWNER TO gateway_owner;

CREATE TABLE gateway.master_key (
    is_only boolean DEFAULT true NOT NULL,
    key_id text NOT NULL,
    check_value bytea NOT NULL,
    adopted_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT master_key_is_only_check CHECK (is_only)
);

ALTER TABLE gateway.master_key OWNER TO gateway_owner;

CREATE TABLE gateway.media (
    tenant_id text NOT NULL,
    hash text NOT NULL,
    content_type text NOT NULL,
    bytes bytea NOT NULL,
    created_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY gateway.media ALTER COLUMN bytes SET STORAGE EXTERNAL;

ALTER TABLE gateway.media OWNER TO gateway_owner;

CREATE TABLE gateway.message (
    tenant_id text NOT NULL,
    message_id uuid NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    sender_id text,
    state text NOT NULL,
    lane smallint NOT NULL,
    content json NOT NULL,
    collapse_id text,
    fallback json,
    accepted_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone NOT NULL,
    due_day integer NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    recipients bigint,
    expanded bigint DEFAULT 0 NOT NULL,
    open_slices integer DEFAULT 0 NOT NULL,
    dead_slices integer DEFAULT 0 NOT NULL,
    audience json,
    due_local bigint,
    pace_count integer,
    pace_seconds integer,
    CONSTRAINT message_state_check CHECK ((state = ANY (ARRAY['scheduled'::text, 'expanding'::text, 'sending'::text, 'paused'::text, 'done'::text, 'canceled'::text, 'expired'::text, 'dead'::text])))
)
WITH (fillfactor='80');

ALTER TABLE gateway.message OWNER TO gateway_owner;

CREATE TABLE gateway.message_label (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    label text NOT NULL,
    due_day integer NOT NULL,
    message_id uuid NOT NULL
);

ALTER TABLE gateway.message_label OWNER TO gateway_owner;

CREATE TABLE gateway.message_media (
    tenant_id text NOT NULL,
    message_id uuid NOT NULL,
    media_id text NOT NULL,
    hash text NOT NULL
);

ALTER TABLE gateway.message_media OWNER TO gateway_owner;

CREATE TABLE gateway.message_number (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    last bigint NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE gateway.message_number OWNER TO gateway_owner;

CREATE TABLE gateway.message_ref (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    ref text NOT NULL,
    message_id uuid NOT NULL
);

ALTER TABLE gateway.message_ref OWNER TO gateway_owner;

CREATE TABLE gateway.message_variable (
    tenant_id text NOT NULL,
    message_id uuid NOT NULL,
    user_id text NOT NULL,
    variables json NOT NULL
);

ALTER TABLE gateway.message_variable OWNER TO gateway_owner;

CREATE TABLE gateway.node (
    node_id text NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE gateway.node OWNER TO gateway_owner;

CREATE TABLE gateway.page (
    tenant_id text NOT NULL,
    page_id text NOT NULL,
    message_id uuid NOT NULL,
    name text NOT NULL,
    body text NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

ALTER TABLE gateway.page OWNER TO gateway_owner;

CREATE TABLE gateway.provider_token (
    team_id text NOT NULL,
    key_id text NOT NULL,
    fingerprint bytea NOT NULL,
    sealed bytea NOT NULL,
    issued_at timestamp with time zone NOT NULL
);

ALTER TABLE gateway.provider_token OWNER TO gateway_owner;

CREATE TABLE gateway.schedule (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    schedule_id uuid NOT NULL,
    message_id uuid NOT NULL,
    request json NOT NULL
);

ALTER TABLE gateway.schedule OWNER TO gateway_owner;

CREATE TABLE gateway.schema_version (
    version integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE gateway.schema_version OWNER TO gateway_owner;

CREATE TABLE gateway.sender (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    sender_id text NOT NULL,
    name text NOT NULL,
    enrolment_key text,
    enrolment_name text,
    address text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    callback_url text,
    cursor bigint DEFAULT 0 NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    failing_since timestamp with time zone,
    failure text,
    next_at timestamp with time zone DEFAULT now() NOT NULL,
    owner text,
    epoch bigint DEFAULT 0 NOT NULL
);

ALTER TABLE gateway.sender OWNER TO gateway_owner;

CREATE TABLE gateway.singleton (
    name text NOT NULL,
    owner text NOT NULL,
    held_until timestamp with time zone NOT NULL
);

ALTER TABLE gateway.singleton OWNER TO gateway_owner;

CREATE TABLE gateway.slice (
    tenant_id text NOT NULL,
    message_id uuid NOT NULL,
    no integer NOT NULL,
    lane smallint NOT NULL,
    kind text NOT NULL,
    due_day integer NOT NULL,
    targets uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    addresses text[] DEFAULT '{}'::text[] NOT NULL,
    done bytea DEFAULT '\x'::bytea NOT NULL,
    after uuid,
    state text NOT NULL,
    next_at timestamp with time zone NOT NULL,
    owner text,
    epoch bigint DEFAULT 0 NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    held_by text,
    lapses smallint DEFAULT 0 NOT NULL,
    dead_reason text,
    after_user text,
    after_vendor text,
    CONSTRAINT slice_kind_check CHECK ((kind = ANY (ARRAY['deliver'::text, 'expand'::text]))),
    CONSTRAINT slice_state_check CHECK ((state = ANY (ARRAY['ready'::text, 'leased'::text, 'done'::text])))
)
WITH (fillfactor='80');
ALTER TABLE ONLY gateway.slice ALTER COLUMN targets SET STORAGE EXTERNAL;

ALTER TABLE gateway.slice OWNER TO gateway_owner;

CREATE TABLE gateway.tenant (
    tenant_id text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    retention jsonb DEFAULT '{}'::jsonb NOT NULL,
    pushes_per_second integer,
    CONSTRAINT tenant_pushes_per_second_check CHECK ((pushes_per_second > 0)),
    CONSTRAINT tenant_tenant_id_check CHECK ((tenant_id <> ''::text))
);

ALTER TABLE gateway.tenant OWNER TO gateway_owner;

CREATE TABLE gateway.user_act (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    user_id text NOT NULL,
    digest uuid NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    at timestamp with time zone NOT NULL,
    data json NOT NULL,
    noted_at timestamp with time zone NOT NULL
);

ALTER TABLE gateway.user_act OWNER TO gateway_owner;

CREATE TABLE gateway.user_alias (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    label text NOT NULL,
    name text NOT NULL,
    user_id text NOT NULL
);

ALTER TABLE gateway.user_alias OWNER TO gateway_owner;

CREATE TABLE gateway.user_group (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    group_name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    title text,
    CONSTRAINT user_group_group_name_check CHECK ((group_name <> ''::text))
);

ALTER TABLE gateway.user_group OWNER TO gateway_owner;

CREATE TABLE gateway.user_profile (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    user_id text NOT NULL,
    is_anonymous boolean NOT NULL,
    accepts_push boolean,
    attributes json NOT NULL,
    revision bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    opted_in boolean DEFAULT false NOT NULL,
    consents json DEFAULT '{}'::json NOT NULL
)
WITH (fillfactor='80');

ALTER TABLE gateway.user_profile OWNER TO gateway_owner;

CREATE TABLE gateway.user_tally (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    user_id text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    count bigint NOT NULL,
    first_at timestamp with time zone NOT NULL,
    last_at timestamp with time zone NOT NULL,
    noted_at timestamp with time zone NOT NULL
)
WITH (fillfactor='80');

ALTER TABLE gateway.user_tally OWNER TO gateway_owner;

CREATE TABLE gateway.variant (
    tenant_id text NOT NULL,
    target_id uuid NOT NULL,
    identity_id uuid NOT NULL,
    name text NOT NULL
);

ALTER TABLE gateway.variant OWNER TO gateway_owner;

CREATE TABLE gateway.vendor_sequence (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    name text NOT NULL,
    last bigint NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE gateway.vendor_sequence OWNER TO gateway_owner;

CREATE TABLE gateway.verification (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    phone text NOT NULL,
    code_hash text,
    sent_at timestamp with time zone NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    window_start timestamp with time zone NOT NULL,
    sent_count integer NOT NULL
);

ALTER TABLE gateway.verification OWNER TO gateway_owner;

CREATE TABLE gateway.webhook (
    tenant_id text NOT NULL,
    webhook_id uuid NOT NULL,
    url text NOT NULL,
    app_id text,
    kinds text[] DEFAULT '{}'::text[] NOT NULL,
    sealed bytea NOT NULL,
    key_id text NOT NULL,
    is_active boolean DEFAULT true NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    cursor bigint NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    failing_since timestamp with time zone,
    failure text,
    next_at timestamp with time zone DEFAULT now() NOT NULL,
    owner text,
    epoch bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE gateway.webhook OWNER TO gateway_owner;

ALTER TABLE ONLY gateway.delivery ATTACH PARTITION gateway.delivery_default DEFAULT;

ALTER TABLE ONLY gateway.delivery ATTACH PARTITION gateway.delivery_w2966 FOR VALUES FROM (20762) TO (20769);

ALTER TABLE ONLY gateway.delivery ATTACH PARTITION gateway.delivery_w2967 FOR VALUES FROM (20769) TO (20776);

ALTER TABLE ONLY gateway.delivery ATTACH PARTITION gateway.delivery_w2968 FOR VALUES FROM (20776) TO (20783);

ALTER TABLE ONLY gateway.delivery ATTACH PARTITION gateway.delivery_w2969 FOR VALUES FROM (20783) TO (20790);

ALTER TABLE ONLY gateway.delivery ATTACH PARTITION gateway.delivery_w2970 FOR VALUES FROM (20790) TO (20797);

ALTER TABLE ONLY gateway.delivery ATTACH PARTITION gateway.delivery_w2971 FOR VALUES FROM (20797) TO (20804);

ALTER TABLE ONLY gateway.delivery ATTACH PARTITION gateway.delivery_w2972 FOR VALUES FROM (20804) TO (20811);

ALTER TABLE ONLY gateway.delivery ATTACH PARTITION gateway.delivery_w2973 FOR VALUES FROM (20811) TO (20818);

ALTER TABLE ONLY gateway.api_key
    ADD CONSTRAINT api_key_hash_key UNIQUE (hash);

ALTER TABLE ONLY gateway.api_key
    ADD CONSTRAINT api_key_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY gateway.api_key
    ADD CONSTRAINT api_key_tenant_id_name_key UNIQUE (tenant_id, name);

ALTER TABLE ONLY gateway.api_key_use
    ADD CONSTRAINT api_key_use_pkey PRIMARY KEY (tenant_id, key_id);

ALTER TABLE ONLY gateway.app
    ADD CONSTRAINT app_pkey PRIMARY KEY (tenant_id, app_id);

ALTER TABLE ONLY gateway.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (tenant_id, audit_id);

ALTER TABLE ONLY gateway.badge_mark
    ADD CONSTRAINT badge_mark_pkey PRIMARY KEY (tenant_id, message_id, holder);

ALTER TABLE ONLY gateway.badge
    ADD CONSTRAINT badge_pkey PRIMARY KEY (tenant_id, app_id, vendor, holder);

ALTER TABLE ONLY gateway.binding
    ADD CONSTRAINT binding_pkey PRIMARY KEY (vendor, kind, value, host);

ALTER TABLE ONLY gateway.budget
    ADD CONSTRAINT budget_pkey PRIMARY KEY (tenant_id, name);

ALTER TABLE ONLY gateway.campaign_mark
    ADD CONSTRAINT campaign_mark_pkey PRIMARY KEY (tenant_id, app_id, vendor, user_id, campaign);

ALTER TABLE ONLY gateway.campaign
    ADD CONSTRAINT campaign_pkey PRIMARY KEY (tenant_id, app_id, vendor, campaign_id);

ALTER TABLE ONLY gateway.capture
    ADD CONSTRAINT capture_pkey PRIMARY KEY (tenant_id, capture_id);

ALTER TABLE ONLY gateway.captured_exchange
    ADD CONSTRAINT captured_exchange_pkey PRIMARY KEY (tenant_id, capture_id, sequence);

ALTER TABLE ONLY gateway.counter_hour
    ADD CONSTRAINT counter_hour_pkey PRIMARY KEY (tenant_id, app_id, vendor, hour, node_id);

ALTER TABLE ONLY gateway.credential
    ADD CONSTRAINT credential_pkey PRIMARY KEY (tenant_id, credential_id);

ALTER TABLE ONLY gateway.delivery
    ADD CONSTRAINT delivery_pkey PRIMARY KEY (tenant_id, due_day, message_id, target_id);

ALTER TABLE ONLY gateway.delivery_default
    ADD CONSTRAINT delivery_default_pkey PRIMARY KEY (tenant_id, due_day, message_id, target_id);

ALTER TABLE ONLY gateway.delivery_w2966
    ADD CONSTRAINT delivery_w2966_pkey PRIMARY KEY (tenant_id, due_day, message_id, target_id);

ALTER TABLE ONLY gateway.delivery_w2967
    ADD CONSTRAINT delivery_w2967_pkey PRIMARY KEY (tenant_id, due_day, message_id, target_id);

ALTER TABLE ONLY gateway.delivery_w2968
    ADD CONSTRAINT delivery_w2968_pkey PRIMARY KEY (tenant_id, due_day, message_id, target_id);

ALTER TABLE ONLY gateway.delivery_w2969
    ADD CONSTRAINT delivery_w2969_pkey PRIMARY KEY (tenant_id, due_day, message_id, target_id);

ALTER TABLE ONLY gateway.delivery_w2970
    ADD CONSTRAINT delivery_w2970_pkey PRIMARY KEY (tenant_id, due_day, message_id, target_id);

ALTER TABLE ONLY gateway.delivery_w2971
    ADD CONSTRAINT delivery_w2971_pkey PRIMARY KEY (tenant_id, due_day, message_id, target_id);

ALTER TABLE ONLY gateway.delivery_w2972
    ADD CONSTRAINT delivery_w2972_pkey PRIMARY KEY (tenant_id, due_day, message_id, target_id);

ALTER TABLE ONLY gateway.delivery_w2973
    ADD CONSTRAINT delivery_w2973_pkey PRIMARY KEY (tenant_id, due_day, message_id, target_id);

ALTER TABLE ONLY gateway.device
    ADD CONSTRAINT device_pkey PRIMARY KEY (tenant_id, device_id);

ALTER TABLE ONLY gateway.event_head
    ADD CONSTRAINT event_head_pkey PRIMARY KEY (tenant_id);

ALTER TABLE ONLY gateway.event
    ADD CONSTRAINT event_pkey PRIMARY KEY (tenant_id, "position");

ALTER TABLE ONLY gateway.group_count
    ADD CONSTRAINT group_count_pkey PRIMARY KEY (tenant_id, app_id, vendor, group_name, bucket);

ALTER TABLE ONLY gateway.group_member
    ADD CONSTRAINT group_member_pkey PRIMARY KEY (tenant_id, app_id, vendor, group_name, user_id);

ALTER TABLE ONLY gateway.idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (tenant_id, app_id, vendor, key);

ALTER TABLE ONLY gateway.identity_count
    ADD CONSTRAINT identity_count_pkey PRIMARY KEY (tenant_id, app_id, vendor, bucket);

ALTER TABLE ONLY gateway.identity
    ADD CONSTRAINT identity_pkey PRIMARY KEY (tenant_id, identity_id);

ALTER TABLE ONLY gateway.identity_tag
    ADD CONSTRAINT identity_tag_pkey PRIMARY KEY (tenant_id, app_id, vendor, tag, identity_id);

ALTER TABLE ONLY gateway.inbox_open
    ADD CONSTRAINT inbox_open_pkey PRIMARY KEY (tenant_id, identity_id, message_id);

ALTER TABLE ONLY gateway.lane
    ADD CONSTRAINT lane_pkey PRIMARY KEY (tenant_id, lane);

ALTER TABLE ONLY gateway.master_key
    ADD CONSTRAINT master_key_pkey PRIMARY KEY (is_only);

ALTER TABLE ONLY gateway.media
    ADD CONSTRAINT media_pkey PRIMARY KEY (tenant_id, hash);

ALTER TABLE ONLY gateway.message_label
    ADD CONSTRAINT message_label_pkey PRIMARY KEY (tenant_id, app_id, vendor, label, due_day, message_id);

ALTER TABLE ONLY gateway.message_media
    ADD CONSTRAINT message_media_pkey PRIMARY KEY (tenant_id, message_id, media_id);

ALTER TABLE ONLY gateway.message_number
    ADD CONSTRAINT message_number_pkey PRIMARY KEY (tenant_id, app_id, vendor);

ALTER TABLE ONLY gateway.message
    ADD CONSTRAINT message_pkey PRIMARY KEY (tenant_id, message_id);

ALTER TABLE ONLY gateway.message_ref
    ADD CONSTRAINT message_ref_pkey PRIMARY KEY (tenant_id, app_id, vendor, ref);

ALTER TABLE ONLY gateway.message_variable
    ADD CONSTRAINT message_variable_pkey PRIMARY KEY (tenant_id, message_id, user_id);

ALTER TABLE ONLY gateway.node
    ADD CONSTRAINT node_pkey PRIMARY KEY (node_id);

ALTER TABLE ONLY gateway.page
    ADD CONSTRAINT page_pkey PRIMARY KEY (tenant_id, page_id);

ALTER TABLE ONLY gateway.provider_token
    ADD CONSTRAINT provider_token_pkey PRIMARY KEY (team_id, key_id, fingerprint);

ALTER TABLE ONLY gateway.schedule
    ADD CONSTRAINT schedule_pkey PRIMARY KEY (tenant_id, app_id, vendor, schedule_id);

ALTER TABLE ONLY gateway.schema_version
    ADD CONSTRAINT schema_version_pkey PRIMARY KEY (version);

ALTER TABLE ONLY gateway.sender
    ADD CONSTRAINT sender_pkey PRIMARY KEY (tenant_id, app_id, vendor, sender_id);

ALTER TABLE ONLY gateway.singleton
    ADD CONSTRAINT singleton_pkey PRIMARY KEY (name);

ALTER TABLE ONLY gateway.slice
    ADD CONSTRAINT slice_pkey PRIMARY KEY (tenant_id, message_id, no);

ALTER TABLE ONLY gateway.tenant
    ADD CONSTRAINT tenant_pkey PRIMARY KEY (tenant_id);

ALTER TABLE ONLY gateway.user_act
    ADD CONSTRAINT user_act_pkey PRIMARY KEY (tenant_id, app_id, vendor, user_id, digest);

ALTER TABLE ONLY gateway.user_alias
    ADD CONSTRAINT user_alias_pkey PRIMARY KEY (tenant_id, app_id, vendor, label, name);

ALTER TABLE ONLY gateway.user_group
    ADD CONSTRAINT user_group_pkey PRIMARY KEY (tenant_id, app_id, vendor, group_name);

ALTER TABLE ONLY gateway.user_profile
    ADD CONSTRAINT user_profile_pkey PRIMARY KEY (tenant_id, app_id, vendor, user_id);

ALTER TABLE ONLY gateway.user_tally
    ADD CONSTRAINT user_tally_pkey PRIMARY KEY (tenant_id, app_id, vendor, user_id, kind, name);

ALTER TABLE ONLY gateway.variant
    ADD CONSTRAINT variant_pkey PRIMARY KEY (tenant_id, target_id);

ALTER TABLE ONLY gateway.vendor_sequence
    ADD CONSTRAINT vendor_sequence_pkey PRIMARY KEY (tenant_id, app_id, vendor, name);

ALTER TABLE ONLY gateway.verification
    ADD CONSTRAINT verification_pkey PRIMARY KEY (tenant_id, app_id, vendor, phone);

ALTER TABLE ONLY gateway.webhook
    ADD CONSTRAINT webhook_pkey PRIMARY KEY (tenant_id, webhook_id);

CREATE INDEX audit_at ON gateway.audit USING btree (tenant_id, at DESC);

CREATE UNIQUE INDEX audit_position ON gateway.audit USING btree (tenant_id, "position");

CREATE INDEX badge_mark_holder ON gateway.badge_mark USING btree (tenant_id, holder);

CREATE INDEX binding_app ON gateway.binding USING btree (tenant_id, app_id);

CREATE INDEX capture_running ON gateway.capture USING btree (ends_at) WHERE (ended_at IS NULL);

CREATE INDEX delivery_user ON ONLY gateway.delivery USING btree (tenant_id, app_id, user_id, message_id DESC) WHERE (user_id IS NOT NULL);

CREATE INDEX delivery_default_tenant_id_app_id_user_id_message_id_idx ON gateway.delivery_default USING btree (tenant_id, app_id, user_id, message_id DESC) WHERE (user_id IS NOT NULL);

CREATE INDEX delivery_device ON ONLY gateway.delivery USING btree (tenant_id, device_id, message_id DESC) WHERE (device_id IS NOT NULL);

CREATE INDEX delivery_default_tenant_id_device_id_message_id_idx ON gateway.delivery_default USING btree (tenant_id, device_id, message_id DESC) WHERE (device_id IS NOT NULL);

CREATE INDEX delivery_identity ON ONLY gateway.delivery USING btree (tenant_id, identity_id, message_id DESC) WHERE (identity_id IS NOT NULL);

CREATE INDEX delivery_default_tenant_id_identity_id_message_id_idx ON gateway.delivery_default USING btree (tenant_id, identity_id, message_id DESC) WHERE (identity_id IS NOT NULL);

CREATE INDEX delivery_w2966_tenant_id_app_id_user_id_message_id_idx ON gateway.delivery_w2966 USING btree (tenant_id, app_id, user_id, message_id DESC) WHERE (user_id IS NOT NULL);

CREATE INDEX delivery_w2966_tenant_id_device_id_message_id_idx ON gateway.delivery_w2966 USING btree (tenant_id, device_id, message_id DESC) WHERE (device_id IS NOT NULL);

CREATE INDEX delivery_w2966_tenant_id_identity_id_message_id_idx ON gateway.delivery_w2966 USING btree (tenant_id, identity_id, message_id DESC) WHERE (identity_id IS NOT NULL);

CREATE INDEX delivery_w2967_tenant_id_app_id_user_id_message_id_idx ON gateway.delivery_w2967 USING btree (tenant_id, app_id, user_id, message_id DESC) WHERE (user_id IS NOT NULL);

CREATE INDEX delivery_w2967_tenant_id_device_id_message_id_idx ON gateway.delivery_w2967 USING btree (tenant_id, device_id, message_id DESC) WHERE (device_id IS NOT NULL);

CREATE INDEX delivery_w2967_tenant_id_identity_id_message_id_idx ON gateway.delivery_w2967 USING btree (tenant_id, identity_id, message_id DESC) WHERE (identity_id IS NOT NULL);

CREATE INDEX delivery_w2968_tenant_id_app_id_user_id_message_id_idx ON gateway.delivery_w2968 USING btree (tenant_id, app_id, user_id, message_id DESC) WHERE (user_id IS NOT NULL);

CREATE INDEX delivery_w2968_tenant_id_device_id_message_id_idx ON gateway.delivery_w2968 USING btree (tenant_id, device_id, message_id DESC) WHERE (device_id IS NOT NULL);

CREATE INDEX delivery_w2968_tenant_id_identity_id_message_id_idx ON gateway.delivery_w2968 USING btree (tenant_id, identity_id, message_id DESC) WHERE (identity_id IS NOT NULL);

CREATE INDEX delivery_w2969_tenant_id_app_id_user_id_message_id_idx ON gateway.delivery_w2969 USING btree (tenant_id, app_id, user_id, message_id DESC) WHERE (user_id IS NOT NULL);

CREATE INDEX delivery_w2969_tenant_id_device_id_message_id_idx ON gateway.delivery_w2969 USING btree (tenant_id, device_id, message_id DESC) WHERE (device_id IS NOT NULL);

CREATE INDEX delivery_w2969_tenant_id_identity_id_message_id_idx ON gateway.delivery_w2969 USING btree (tenant_id, identity_id, message_id DESC) WHERE (identity_id IS NOT NULL);

CREATE INDEX delivery_w2970_tenant_id_app_id_user_id_message_id_idx ON gateway.delivery_w2970 USING btree (tenant_id, app_id, user_id, message_id DESC) WHERE (user_id IS NOT NULL);

CREATE INDEX delivery_w2970_tenant_id_device_id_message_id_idx ON gateway.delivery_w2970 USING btree (tenant_id, device_id, message_id DESC) WHERE (device_id IS NOT NULL);

CREATE INDEX delivery_w2970_tenant_id_identity_id_message_id_idx ON gateway.delivery_w2970 USING btree (tenant_id, identity_id, message_id DESC) WHERE (identity_id IS NOT NULL);

CREATE INDEX delivery_w2971_tenant_id_app_id_user_id_message_id_idx ON gateway.delivery_w2971 USING btree (tenant_id, app_id, user_id, message_id DESC) WHERE (user_id IS NOT NULL);

CREATE INDEX delivery_w2971_tenant_id_device_id_message_id_idx ON gateway.delivery_w2971 USING btree (tenant_id, device_id, message_id DESC) WHERE (device_id IS NOT NULL);

CREATE INDEX delivery_w2971_tenant_id_identity_id_message_id_idx ON gateway.delivery_w2971 USING btree (tenant_id, identity_id, message_id DESC) WHERE (identity_id IS NOT NULL);

CREATE INDEX delivery_w2972_tenant_id_app_id_user_id_message_id_idx ON gateway.delivery_w2972 USING btree (tenant_id, app_id, user_id, message_id DESC) WHERE (user_id IS NOT NULL);

CREATE INDEX delivery_w2972_tenant_id_device_id_message_id_idx ON gateway.delivery_w2972 USING btree (tenant_id, device_id, message_id DESC) WHERE (device_id IS NOT NULL);

CREATE INDEX delivery_w2972_tenant_id_identity_id_message_id_idx ON gateway.delivery_w2972 USING btree (tenant_id, identity_id, message_id DESC) WHERE (identity_id IS NOT NULL);

CREATE INDEX delivery_w2973_tenant_id_app_id_user_id_message_id_idx ON gateway.delivery_w2973 USING btree (tenant_id, app_id, user_id, message_id DESC) WHERE (user_id IS NOT NULL);

CREATE INDEX delivery_w2973_tenant_id_device_id_message_id_idx ON gateway.delivery_w2973 USING btree (tenant_id, device_id, message_id DESC) WHERE (device_id IS NOT NULL);

CREATE INDEX delivery_w2973_tenant_id_identity_id_message_id_idx ON gateway.delivery_w2973 USING btree (tenant_id, identity_id, message_id DESC) WHERE (identity_id IS NOT NULL);

CREATE UNIQUE INDEX device_token ON gateway.device USING btree (tenant_id, app_id, platform, token_digest, environment) WHERE (token_digest IS NOT NULL);

CREATE INDEX event_sender ON gateway.event USING btree (tenant_id, app_id, vendor, sender_id, "position") WHERE (sender_id IS NOT NULL);

CREATE INDEX group_member_user ON gateway.group_member USING btree (tenant_id, user_id);

CREATE INDEX idempotency_created ON gateway.idempotency USING btree (tenant_id, created_at);

CREATE INDEX identity_alias ON gateway.identity USING btree (tenant_id, app_id, alias, vendor) WHERE (alias IS NOT NULL);

CREATE INDEX identity_audience ON gateway.identity USING btree (tenant_id, app_id, vendor, identity_id);

CREATE INDEX identity_device ON gateway.identity USING btree (tenant_id, device_id, app_id, vendor) WHERE (device_id IS NOT NULL);

CREATE INDEX identity_end ON gateway.identity USING btree (tenant_id, ends_at) WHERE ((ends_at IS NOT NULL) AND (state = 'active'::text));

CREATE INDEX identity_gone ON gateway.identity USING btree (tenant_id, app_id, identity_id) WHERE (state <> 'active'::text);

CREATE UNIQUE INDEX identity_key ON gateway.identity USING btree (tenant_id, app_id, key, vendor);

CREATE INDEX identity_phone ON gateway.identity USING btree (tenant_id, app_id, phone, vendor) WHERE (phone IS NOT NULL);

CREATE INDEX identity_tag_identity ON gateway.identity_tag USING btree (tenant_id, identity_id, tag);

CREATE INDEX identity_user ON gateway.identity USING btree (tenant_id, app_id, user_id, vendor, identity_id) WHERE (user_id IS NOT NULL);

CREATE INDEX inbox_open_day ON gateway.inbox_open USING btree (tenant_id, due_day);

CREATE INDEX message_app ON gateway.message USING btree (tenant_id, app_id, message_id DESC);

CREATE INDEX message_label_message ON gateway.message_label USING btree (tenant_id, message_id);

CREATE INDEX message_media_hash ON gateway.message_media USING btree (tenant_id, hash);

CREATE INDEX message_ref_message ON gateway.message_ref USING btree (tenant_id, message_id);

CREATE INDEX message_ref_ref ON gateway.message_ref USING btree (tenant_id, ref);

CREATE INDEX message_variable_user ON gateway.message_variable USING btree (tenant_id, user_id);

CREATE INDEX page_page ON gateway.page USING btree (page_id);

CREATE INDEX schedule_message ON gateway.schedule USING btree (tenant_id, message_id);

CREATE UNIQUE INDEX sender_name ON gateway.sender USING btree (tenant_id, app_id, vendor, name);

CREATE INDEX sender_next ON gateway.sender USING btree (next_at) WHERE (callback_url IS NOT NULL);

CREATE INDEX slice_held ON gateway.slice USING btree (tenant_id, held_by) WHERE (held_by IS NOT NULL);

CREATE INDEX slice_next ON gateway.slice USING btree (tenant_id, lane, next_at) WHERE (state = ANY (ARRAY['ready'::text, 'leased'::text]));

CREATE INDEX user_act_noted ON gateway.user_act USING btree (tenant_id, noted_at);

CREATE INDEX user_alias_user ON gateway.user_alias USING btree (tenant_id, app_id, vendor, user_id);

CREATE INDEX user_profile_user ON gateway.user_profile USING btree (tenant_id, user_id);

CREATE INDEX user_tally_noted ON gateway.user_tally USING btree (tenant_id, noted_at);

CREATE INDEX variant_identity ON gateway.variant USING btree (tenant_id, identity_id, name);

CREATE INDEX webhook_next ON gateway.webhook USING btree (next_at) WHERE is_active;

ALTER INDEX gateway.delivery_pkey ATTACH PARTITION gateway.delivery_default_pkey;

ALTER INDEX gateway.delivery_user ATTACH PARTITION gateway.delivery_default_tenant_id_app_id_user_id_message_id_idx;

ALTER INDEX gateway.delivery_device ATTACH PARTITION gateway.delivery_default_tenant_id_device_id_message_id_idx;

ALTER INDEX gateway.delivery_identity ATTACH PARTITION gateway.delivery_default_tenant_id_identity_id_message_id_idx;

ALTER INDEX gateway.delivery_pkey ATTACH PARTITION gateway.delivery_w2966_pkey;

ALTER INDEX gateway.delivery_user ATTACH PARTITION gateway.delivery_w2966_tenant_id_app_id_user_id_message_id_idx;

ALTER INDEX gateway.delivery_device ATTACH PARTITION gateway.delivery_w2966_tenant_id_device_id_message_id_idx;

ALTER INDEX gateway.delivery_identity ATTACH PARTITION gateway.delivery_w2966_tenant_id_identity_id_message_id_idx;

ALTER INDEX gateway.delivery_pkey ATTACH PARTITION gateway.delivery_w2967_pkey;

ALTER INDEX gateway.delivery_user ATTACH PARTITION gateway.delivery_w2967_tenant_id_app_id_user_id_message_id_idx;

ALTER INDEX gateway.delivery_device ATTACH PARTITION gateway.delivery_w2967_tenant_id_device_id_message_id_idx;

ALTER INDEX gateway.delivery_identity ATTACH PARTITION gateway.delivery_w2967_tenant_id_identity_id_message_id_idx;

ALTER INDEX gateway.delivery_pkey ATTACH PARTITION gateway.delivery_w2968_pkey;

ALTER INDEX gateway.delivery_user ATTACH PARTITION gateway.delivery_w2968_tenant_id_app_id_user_id_message_id_idx;

ALTER INDEX gateway.delivery_device ATTACH PARTITION gateway.delivery_w2968_tenant_id_device_id_message_id_idx;

ALTER INDEX gateway.delivery_identity ATTACH PARTITION gateway.delivery_w2968_tenant_id_identity_id_message_id_idx;

ALTER INDEX gateway.delivery_pkey ATTACH PARTITION gateway.delivery_w2969_pkey;

ALTER INDEX gateway.delivery_user ATTACH PARTITION gateway.delivery_w2969_tenant_id_app_id_user_id_message_id_idx;

ALTER INDEX gateway.delivery_device ATTACH PARTITION gateway.delivery_w2969_tenant_id_device_id_message_id_idx;

ALTER INDEX gateway.delivery_identity ATTACH PARTITION gateway.delivery_w2969_tenant_id_identity_id_message_id_idx;

ALTER INDEX gateway.delivery_pkey ATTACH PARTITION gateway.delivery_w2970_pkey;

ALTER INDEX gateway.delivery_user ATTACH PARTITION gateway.delivery_w2970_tenant_id_app_id_user_id_message_id_idx;

ALTER INDEX gateway.delivery_device ATTACH PARTITION gateway.delivery_w2970_tenant_id_device_id_message_id_idx;

ALTER INDEX gateway.delivery_identity ATTACH PARTITION gateway.delivery_w2970_tenant_id_identity_id_message_id_idx;

ALTER INDEX gateway.delivery_pkey ATTACH PARTITION gateway.delivery_w2971_pkey;

ALTER INDEX gateway.delivery_user ATTACH PARTITION gateway.delivery_w2971_tenant_id_app_id_user_id_message_id_idx;

ALTER INDEX gateway.delivery_device ATTACH PARTITION gateway.delivery_w2971_tenant_id_device_id_message_id_idx;

ALTER INDEX gateway.delivery_identity ATTACH PARTITION gateway.delivery_w2971_tenant_id_identity_id_message_id_idx;

ALTER INDEX gateway.delivery_pkey ATTACH PARTITION gateway.delivery_w2972_pkey;

ALTER INDEX gateway.delivery_user ATTACH PARTITION gateway.delivery_w2972_tenant_id_app_id_user_id_message_id_idx;

ALTER INDEX gateway.delivery_device ATTACH PARTITION gateway.delivery_w2972_tenant_id_device_id_message_id_idx;

ALTER INDEX gateway.delivery_identity ATTACH PARTITION gateway.delivery_w2972_tenant_id_identity_id_message_id_idx;

ALTER INDEX gateway.delivery_pkey ATTACH PARTITION gateway.delivery_w2973_pkey;

ALTER INDEX gateway.delivery_user ATTACH PARTITION gateway.delivery_w2973_tenant_id_app_id_user_id_message_id_idx;

ALTER INDEX gateway.delivery_device ATTACH PARTITION gateway.delivery_w2973_tenant_id_device_id_message_id_idx;

ALTER INDEX gateway.delivery_identity ATTACH PARTITION gateway.delivery_w2973_tenant_id_identity_id_message_id_idx;

ALTER TABLE ONLY gateway.api_key
    ADD CONSTRAINT api_key_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES gateway.tenant(tenant_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.app
    ADD CONSTRAINT app_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES gateway.tenant(tenant_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.badge_mark
    ADD CONSTRAINT badge_mark_tenant_id_message_id_fkey FOREIGN KEY (tenant_id, message_id) REFERENCES gateway.message(tenant_id, message_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.badge
    ADD CONSTRAINT badge_tenant_id_app_id_fkey FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app(tenant_id, app_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.binding
    ADD CONSTRAINT binding_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES gateway.tenant(tenant_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.campaign_mark
    ADD CONSTRAINT campaign_mark_tenant_id_app_id_fkey FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app(tenant_id, app_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.campaign
    ADD CONSTRAINT campaign_tenant_id_app_id_fkey FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app(tenant_id, app_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.capture
    ADD CONSTRAINT capture_tenant_id_app_id_fkey FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app(tenant_id, app_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.captured_exchange
    ADD CONSTRAINT captured_exchange_tenant_id_capture_id_fkey FOREIGN KEY (tenant_id, capture_id) REFERENCES gateway.capture(tenant_id, capture_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.credential
    ADD CONSTRAINT credential_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES gateway.tenant(tenant_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.device
    ADD CONSTRAINT device_tenant_id_app_id_fkey FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app(tenant_id, app_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.group_count
    ADD CONSTRAINT group_count_tenant_id_app_id_vendor_group_name_fkey FOREIGN KEY (tenant_id, app_id, vendor, group_name) REFERENCES gateway.user_group(tenant_id, app_id, vendor, group_name) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.group_member
    ADD CONSTRAINT group_member_tenant_id_app_id_vendor_group_name_fkey FOREIGN KEY (tenant_id, app_id, vendor, group_name) REFERENCES gateway.user_group(tenant_id, app_id, vendor, group_name) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.identity_tag
    ADD CONSTRAINT identity_tag_tenant_id_identity_id_fkey FOREIGN KEY (tenant_id, identity_id) REFERENCES gateway.identity(tenant_id, identity_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.identity
    ADD CONSTRAINT identity_tenant_id_app_id_fkey FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app(tenant_id, app_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.inbox_open
    ADD CONSTRAINT inbox_open_tenant_id_identity_id_fkey FOREIGN KEY (tenant_id, identity_id) REFERENCES gateway.identity(tenant_id, identity_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.message_label
    ADD CONSTRAINT message_label_tenant_id_message_id_fkey FOREIGN KEY (tenant_id, message_id) REFERENCES gateway.message(tenant_id, message_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.message_media
    ADD CONSTRAINT message_media_tenant_id_message_id_fkey FOREIGN KEY (tenant_id, message_id) REFERENCES gateway.message(tenant_id, message_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.message_number
    ADD CONSTRAINT message_number_tenant_id_app_id_fkey FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app(tenant_id, app_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.message_ref
    ADD CONSTRAINT message_ref_tenant_id_message_id_fkey FOREIGN KEY (tenant_id, message_id) REFERENCES gateway.message(tenant_id, message_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.message
    ADD CONSTRAINT message_tenant_id_app_id_fkey FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app(tenant_id, app_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.message_variable
    ADD CONSTRAINT message_variable_tenant_id_message_id_fkey FOREIGN KEY (tenant_id, message_id) REFERENCES gateway.message(tenant_id, message_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.page
    ADD CONSTRAINT page_tenant_id_message_id_fkey FOREIGN KEY (tenant_id, message_id) REFERENCES gateway.message(tenant_id, message_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.schedule
    ADD CONSTRAINT schedule_tenant_id_message_id_fkey FOREIGN KEY (tenant_id, message_id) REFERENCES gateway.message(tenant_id, message_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.sender
    ADD CONSTRAINT sender_tenant_id_app_id_fkey FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app(tenant_id, app_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.slice
    ADD CONSTRAINT slice_tenant_id_message_id_fkey FOREIGN KEY (tenant_id, message_id) REFERENCES gateway.message(tenant_id, message_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.user_act
    ADD CONSTRAINT user_act_tenant_id_app_id_vendor_user_id_fkey FOREIGN KEY (tenant_id, app_id, vendor, user_id) REFERENCES gateway.user_profile(tenant_id, app_id, vendor, user_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.user_alias
    ADD CONSTRAINT user_alias_tenant_id_app_id_vendor_user_id_fkey FOREIGN KEY (tenant_id, app_id, vendor, user_id) REFERENCES gateway.user_profile(tenant_id, app_id, vendor, user_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.user_group
    ADD CONSTRAINT user_group_tenant_id_app_id_fkey FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app(tenant_id, app_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.user_profile
    ADD CONSTRAINT user_profile_tenant_id_app_id_fkey FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app(tenant_id, app_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.user_tally
    ADD CONSTRAINT user_tally_tenant_id_app_id_vendor_user_id_fkey FOREIGN KEY (tenant_id, app_id, vendor, user_id) REFERENCES gateway.user_profile(tenant_id, app_id, vendor, user_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.variant
    ADD CONSTRAINT variant_tenant_id_identity_id_fkey FOREIGN KEY (tenant_id, identity_id) REFERENCES gateway.identity(tenant_id, identity_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.vendor_sequence
    ADD CONSTRAINT vendor_sequence_tenant_id_app_id_fkey FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app(tenant_id, app_id) ON DELETE CASCADE;

ALTER TABLE ONLY gateway.webhook
    ADD CONSTRAINT webhook_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES gateway.tenant(tenant_id) ON DELETE CASCADE;

ALTER TABLE gateway.api_key ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.api_key_use ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.app ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.audit ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.badge ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.badge_mark ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.binding ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.budget ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.campaign ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.campaign_mark ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.capture ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.captured_exchange ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.counter_hour ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.credential ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.delivery ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.device ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.event ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.event_head ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.group_count ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.group_member ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.idempotency ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.identity ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.identity_count ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.identity_tag ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.inbox_open ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.lane ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.media ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.message ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.message_label ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.message_media ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.message_number ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.message_ref ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.message_variable ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.page ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.schedule ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.sender ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.slice ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.tenant ENABLE ROW LEVEL SECURITY;

CREATE POLICY tenant_only ON gateway.api_key USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.api_key_use USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.app USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.audit USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.badge USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.badge_mark USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.binding USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.budget USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.campaign USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.campaign_mark USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.capture USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.captured_exchange USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.counter_hour USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.credential USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.delivery USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.device USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.event USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.event_head USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.group_count USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.group_member USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.idempotency USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.identity USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.identity_count USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.identity_tag USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.inbox_open USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.lane USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.media USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.message USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.message_label USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.message_media USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.message_number USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.message_ref USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.message_variable USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.page USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.schedule USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.sender USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.slice USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.tenant USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.user_act USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.user_alias USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.user_group USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.user_profile USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.user_tally USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.variant USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.vendor_sequence USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.verification USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

CREATE POLICY tenant_only ON gateway.webhook USING ((tenant_id = current_setting('gateway.tenant'::text, true))) WITH CHECK ((tenant_id = current_setting('gateway.tenant'::text, true)));

ALTER TABLE gateway.user_act ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.user_alias ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.user_group ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.user_profile ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.user_tally ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.variant ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.vendor_sequence ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.verification ENABLE ROW LEVEL SECURITY;

ALTER TABLE gateway.webhook ENABLE ROW LEVEL SECURITY;

REVOKE ALL ON FUNCTION gateway.accept_message(p_tenant text, p_app text, p_vendor text, p_id uuid, p_sender text, p_content json, p_collapse text, p_lane smallint, p_accepted timestamp with time zone, p_due timestamp with time zone, p_due_day integer, p_expires timestamp with time zone, p_fallback json, p_recipients bigint, p_media_id text, p_media_hash text, p_key text, p_body_hash text, p_slice_numbers integer[], p_slice_kinds text[], p_slice_ends integer[], p_targets uuid[], p_addresses text[], p_holder text, p_lease interval, p_node text, p_sup_targets uuid[], p_sup_identities uuid[], p_sup_devices uuid[], p_sup_addresses text[], p_sup_reasons text[], p_audience json, p_due_local bigint, p_slice_dues timestamp with time zone[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.accept_message(p_tenant text, p_app text, p_vendor text, p_id uuid, p_sender text, p_content json, p_collapse text, p_lane smallint, p_accepted timestamp with time zone, p_due timestamp with time zone, p_due_day integer, p_expires timestamp with time zone, p_fallback json, p_recipients bigint, p_media_id text, p_media_hash text, p_key text, p_body_hash text, p_slice_numbers integer[], p_slice_kinds text[], p_slice_ends integer[], p_targets uuid[], p_addresses text[], p_holder text, p_lease interval, p_node text, p_sup_targets uuid[], p_sup_identities uuid[], p_sup_devices uuid[], p_sup_addresses text[], p_sup_reasons text[], p_audience json, p_due_local bigint, p_slice_dues timestamp with time zone[]) TO gateway_call;
GRANT ALL ON FUNCTION gateway.accept_message(p_tenant text, p_app text, p_vendor text, p_id uuid, p_sender text, p_content json, p_collapse text, p_lane smallint, p_accepted timestamp with time zone, p_due timestamp with time zone, p_due_day integer, p_expires timestamp with time zone, p_fallback json, p_recipients bigint, p_media_id text, p_media_hash text, p_key text, p_body_hash text, p_slice_numbers integer[], p_slice_kinds text[], p_slice_ends integer[], p_targets uuid[], p_addresses text[], p_holder text, p_lease interval, p_node text, p_sup_targets uuid[], p_sup_identities uuid[], p_sup_devices uuid[], p_sup_addresses text[], p_sup_reasons text[], p_audience json, p_due_local bigint, p_slice_dues timestamp with time zone[]) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.acknowledge(p_tenant text, p_app text, p_vendor text, p_ref text, p_message uuid, p_key text, p_token text, p_user text, p_kind text, p_badge integer, p_at timestamp with time zone, p_node text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.acknowledge(p_tenant text, p_app text, p_vendor text, p_ref text, p_message uuid, p_key text, p_token text, p_user text, p_kind text, p_badge integer, p_at timestamp with time zone, p_node text) TO gateway_call;
GRANT ALL ON FUNCTION gateway.acknowledge(p_tenant text, p_app text, p_vendor text, p_ref text, p_message uuid, p_key text, p_token text, p_user text, p_kind text, p_badge integer, p_at timestamp with time zone, p_node text) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.add_counts(p_tenant text, p_app text, p_vendor text, p_due timestamp with time zone, p_node text, p_recipients bigint, p_sent bigint, p_received bigint, p_read bigint, p_failed bigint, p_suppressed bigint, p_expired bigint, p_canceled bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.add_counts(p_tenant text, p_app text, p_vendor text, p_due timestamp with time zone, p_node text, p_recipients bigint, p_sent bigint, p_received bigint, p_read bigint, p_failed bigint, p_suppressed bigint, p_expired bigint, p_canceled bigint) TO gateway_engine;
GRANT ALL ON FUNCTION gateway.add_counts(p_tenant text, p_app text, p_vendor text, p_due timestamp with time zone, p_node text, p_recipients bigint, p_sent bigint, p_received bigint, p_read bigint, p_failed bigint, p_suppressed bigint, p_expired bigint, p_canceled bigint) TO gateway_call;

REVOKE ALL ON FUNCTION gateway.analyze_devices() FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.analyze_devices() TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.analyze_grown() FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.analyze_grown() TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.append_changes(p_tenant text, p_kinds text[], p_apps text[], p_vendors text[], p_identities uuid[], p_devices uuid[], p_data json[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.append_changes(p_tenant text, p_kinds text[], p_apps text[], p_vendors text[], p_identities uuid[], p_devices uuid[], p_data json[]) TO gateway_call;
GRANT ALL ON FUNCTION gateway.append_changes(p_tenant text, p_kinds text[], p_apps text[], p_vendors text[], p_identities uuid[], p_devices uuid[], p_data json[]) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.append_events(p_tenant text, p_app text, p_vendor text, p_sender text, p_message uuid, p_due_day integer, p_kinds text[], p_targets uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.append_events(p_tenant text, p_app text, p_vendor text, p_sender text, p_message uuid, p_due_day integer, p_kinds text[], p_targets uuid[]) TO gateway_engine;
GRANT ALL ON FUNCTION gateway.append_events(p_tenant text, p_app text, p_vendor text, p_sender text, p_message uuid, p_due_day integer, p_kinds text[], p_targets uuid[]) TO gateway_call;

REVOKE ALL ON FUNCTION gateway.assign_user(p_tenant text, p_app text, p_vendor text, p_key text, p_change text, p_user text, p_name text, p_phone text, p_exclusive boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.assign_user(p_tenant text, p_app text, p_vendor text, p_key text, p_change text, p_user text, p_name text, p_phone text, p_exclusive boolean) TO gateway_call;
GRANT ALL ON FUNCTION gateway.assign_user(p_tenant text, p_app text, p_vendor text, p_key text, p_change text, p_user text, p_name text, p_phone text, p_exclusive boolean) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.assign_users(p_tenant text, p_app text, p_vendor text, p_keys text[], p_changes text[], p_users text[], p_names text[], p_phones text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.assign_users(p_tenant text, p_app text, p_vendor text, p_keys text[], p_changes text[], p_users text[], p_names text[], p_phones text[]) TO gateway_call;

REVOKE ALL ON FUNCTION gateway.audience_page(p_tenant text, p_app text, p_vendor text, p_audience json, p_page integer, INOUT io_user text, INOUT io_dialect text, INOUT io_after uuid, OUT o_ids uuid[], OUT o_ended boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.audience_page(p_tenant text, p_app text, p_vendor text, p_audience json, p_page integer, INOUT io_user text, INOUT io_dialect text, INOUT io_after uuid, OUT o_ids uuid[], OUT o_ended boolean) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.bury_slice(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.bury_slice(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_reason text) TO gateway_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.identity TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.identity TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.calling_identity(p_tenant text, p_app text, p_vendor text, p_key text, p_token text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.calling_identity(p_tenant text, p_app text, p_vendor text, p_key text, p_token text) TO gateway_call;
GRANT ALL ON FUNCTION gateway.calling_identity(p_tenant text, p_app text, p_vendor text, p_key text, p_token text) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.cancel_message(p_tenant text, p_app text, p_vendor text, p_message uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.cancel_message(p_tenant text, p_app text, p_vendor text, p_message uuid) TO gateway_engine;
GRANT ALL ON FUNCTION gateway.cancel_message(p_tenant text, p_app text, p_vendor text, p_message uuid) TO gateway_call;

REVOKE ALL ON FUNCTION gateway.cancel_scheduled(p_tenant text, p_app text, p_vendor text, p_schedule uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.cancel_scheduled(p_tenant text, p_app text, p_vendor text, p_schedule uuid) TO gateway_call;
GRANT ALL ON FUNCTION gateway.cancel_scheduled(p_tenant text, p_app text, p_vendor text, p_schedule uuid) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.change_members(p_tenant text, p_app text, p_vendor text, p_group text, p_add text[], p_remove text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.change_members(p_tenant text, p_app text, p_vendor text, p_group text, p_add text[], p_remove text[]) TO gateway_call;
GRANT ALL ON FUNCTION gateway.change_members(p_tenant text, p_app text, p_vendor text, p_group text, p_add text[], p_remove text[]) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.check_verification(p_tenant text, p_app text, p_vendor text, p_phone text, p_code_hash text, p_valid_for interval, p_maximum_tries integer, p_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.check_verification(p_tenant text, p_app text, p_vendor text, p_phone text, p_code_hash text, p_valid_for interval, p_maximum_tries integer, p_at timestamp with time zone) TO gateway_engine;
GRANT ALL ON FUNCTION gateway.check_verification(p_tenant text, p_app text, p_vendor text, p_phone text, p_code_hash text, p_valid_for interval, p_maximum_tries integer, p_at timestamp with time zone) TO gateway_call;

REVOKE ALL ON FUNCTION gateway.colocate(t regclass) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.colocate(t regclass) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.condemn_tokens(p_tenant text, p_devices uuid[], p_tokens text[], p_states text[], p_reasons text[], p_since timestamp with time zone[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.condemn_tokens(p_tenant text, p_devices uuid[], p_tokens text[], p_states text[], p_reasons text[], p_since timestamp with time zone[]) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.control_message(p_tenant text, p_app text, p_vendor text, p_message uuid, p_action text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.control_message(p_tenant text, p_app text, p_vendor text, p_message uuid, p_action text) TO gateway_engine;
GRANT ALL ON FUNCTION gateway.control_message(p_tenant text, p_app text, p_vendor text, p_message uuid, p_action text) TO gateway_call;

REVOKE ALL ON FUNCTION gateway.count_identities(p_tenant text, p_app text, p_vendor text, p_keys text[], p_delta integer) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.count_identities(p_tenant text, p_app text, p_vendor text, p_keys text[], p_delta integer) TO gateway_engine;
GRANT ALL ON FUNCTION gateway.count_identities(p_tenant text, p_app text, p_vendor text, p_keys text[], p_delta integer) TO gateway_call;

REVOKE ALL ON FUNCTION gateway.create_group(p_tenant text, p_app text, p_vendor text, p_title text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.create_group(p_tenant text, p_app text, p_vendor text, p_title text) TO gateway_call;
GRANT ALL ON FUNCTION gateway.create_group(p_tenant text, p_app text, p_vendor text, p_title text) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.create_webhook(p_tenant text, p_id uuid, p_url text, p_app text, p_kinds text[], p_sealed bytea, p_key_id text, p_active boolean, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.create_webhook(p_tenant text, p_id uuid, p_url text, p_app text, p_kinds text[], p_sealed bytea, p_key_id text, p_active boolean, p_limit integer) TO gateway_call;
GRANT ALL ON FUNCTION gateway.create_webhook(p_tenant text, p_id uuid, p_url text, p_app text, p_kinds text[], p_sealed bytea, p_key_id text, p_active boolean, p_limit integer) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.default_partition_rows() FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.default_partition_rows() TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.draw_budget(p_tenant text, p_names text[], p_rates integer[], p_want integer, p_ahead interval, p_saved interval) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.draw_budget(p_tenant text, p_names text[], p_rates integer[], p_want integer, p_ahead interval, p_saved interval) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.drop_audit(p_tenant text, p_older interval, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.drop_audit(p_tenant text, p_older interval, p_limit integer) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.drop_delivery_partitions(p_before_day integer) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.drop_delivery_partitions(p_before_day integer) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.drop_schedule(p_tenant text, p_app text, p_vendor text, p_schedule uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.drop_schedule(p_tenant text, p_app text, p_vendor text, p_schedule uuid) TO gateway_call;
GRANT ALL ON FUNCTION gateway.drop_schedule(p_tenant text, p_app text, p_vendor text, p_schedule uuid) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.drop_unused_tokens(p_tenant text, p_devices uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.drop_unused_tokens(p_tenant text, p_devices uuid[]) TO gateway_engine;
GRANT ALL ON FUNCTION gateway.drop_unused_tokens(p_tenant text, p_devices uuid[]) TO gateway_call;

REVOKE ALL ON FUNCTION gateway.due_of(p_now timestamp with time zone, p_due timestamp with time zone, p_local bigint, p_expires timestamp with time zone, p_zone text, p_quiet_zone text, p_quiet_from integer, p_quiet_to integer, p_from integer, p_to integer) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.due_of(p_now timestamp with time zone, p_due timestamp with time zone, p_local bigint, p_expires timestamp with time zone, p_zone text, p_quiet_zone text, p_quiet_from integer, p_quiet_to integer, p_from integer, p_to integer) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.end_identities(p_tenant text, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.end_identities(p_tenant text, p_limit integer) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.erase_devices(p_tenant text, p_devices uuid[], p_actor text, p_subject text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.erase_devices(p_tenant text, p_devices uuid[], p_actor text, p_subject text) TO gateway_engine;
GRANT ALL ON FUNCTION gateway.erase_devices(p_tenant text, p_devices uuid[], p_actor text, p_subject text) TO gateway_call;

REVOKE ALL ON FUNCTION gateway.erase_rows(p_tenant text, p_devices uuid[], p_identities uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.erase_rows(p_tenant text, p_devices uuid[], p_identities uuid[]) TO gateway_call;
GRANT ALL ON FUNCTION gateway.erase_rows(p_tenant text, p_devices uuid[], p_identities uuid[]) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.erase_user(p_tenant text, p_user text, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.erase_user(p_tenant text, p_user text, p_actor text) TO gateway_engine;
GRANT ALL ON FUNCTION gateway.erase_user(p_tenant text, p_user text, p_actor text) TO gateway_call;

REVOKE ALL ON FUNCTION gateway.erase_users(p_tenant text, p_app text, p_vendor text, p_users text[], p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.erase_users(p_tenant text, p_app text, p_vendor text, p_users text[], p_actor text) TO gateway_call;
GRANT ALL ON FUNCTION gateway.erase_users(p_tenant text, p_app text, p_vendor text, p_users text[], p_actor text) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.event_bounds(p_tenant text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.event_bounds(p_tenant text) TO gateway_call;
GRANT ALL ON FUNCTION gateway.event_bounds(p_tenant text) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.expand_paced(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_page integer, p_slice_size integer) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.expand_paced(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_page integer, p_slice_size integer) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.expand_slice(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_page integer, p_slice_size integer) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.expand_slice(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_page integer, p_slice_size integer) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.expand_variants(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_page integer, p_slice_size integer) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.expand_variants(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_page integer, p_slice_size integer) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.expect_identity(p_tenant text, p_app text, p_vendor text, p_key text, p_attributes text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.expect_identity(p_tenant text, p_app text, p_vendor text, p_key text, p_attributes text) TO gateway_call;
GRANT ALL ON FUNCTION gateway.expect_identity(p_tenant text, p_app text, p_vendor text, p_key text, p_attributes text) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.fan_out(p_tenant text, p_ids uuid[], p_choice jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.fan_out(p_tenant text, p_ids uuid[], p_choice jsonb) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.find_answer(p_tenant text, p_key text, p_body_hash text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.find_answer(p_tenant text, p_key text, p_body_hash text) TO gateway_call;
GRANT ALL ON FUNCTION gateway.find_answer(p_tenant text, p_key text, p_body_hash text) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.find_history(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_reader text, p_kind text, p_user text, p_number text, p_now uuid, p_today integer, p_read boolean, p_hidden text, p_looks integer, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.find_history(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_reader text, p_kind text, p_user text, p_number text, p_now uuid, p_today integer, p_read boolean, p_hidden text, p_looks integer, p_limit integer) TO gateway_call;
GRANT ALL ON FUNCTION gateway.find_history(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_reader text, p_kind text, p_user text, p_number text, p_now uuid, p_today integer, p_read boolean, p_hidden text, p_looks integer, p_limit integer) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.find_message(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_reader text, p_user text, p_number text, p_hidden text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.find_message(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_reader text, p_user text, p_number text, p_hidden text) TO gateway_call;
GRANT ALL ON FUNCTION gateway.find_message(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_reader text, p_user text, p_number text, p_hidden text) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.first_of_devices(p_tenant text, p_app text, p_tags text[], p_cares bigint[], p_wants bigint[], p_ids uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.first_of_devices(p_tenant text, p_app text, p_tags text[], p_cares bigint[], p_wants bigint[], p_ids uuid[]) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.forget_user(p_tenant text, p_user text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.forget_user(p_tenant text, p_user text) TO gateway_call;
GRANT ALL ON FUNCTION gateway.forget_user(p_tenant text, p_user text) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.group_by_due(p_tenant text, p_lane smallint, p_due timestamp with time zone, p_local bigint, p_expires timestamp with time zone, p_defaults jsonb, p_ids uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.group_by_due(p_tenant text, p_lane smallint, p_due timestamp with time zone, p_local bigint, p_expires timestamp with time zone, p_defaults jsonb, p_ids uuid[]) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.heeds_windows(p_defaults jsonb, p_lane smallint) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.heeds_windows(p_defaults jsonb, p_lane smallint) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.history_message(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_number text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.history_message(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_number text) TO gateway_call;
GRANT ALL ON FUNCTION gateway.history_message(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_number text) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.history_page(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_kind text, p_user text, p_number text, p_now uuid, p_today integer, p_limit integer, p_at timestamp with time zone, p_node text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.history_page(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_kind text, p_user text, p_number text, p_now uuid, p_today integer, p_limit integer, p_at timestamp with time zone, p_node text) TO gateway_call;
GRANT ALL ON FUNCTION gateway.history_page(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_kind text, p_user text, p_number text, p_now uuid, p_today integer, p_limit integer, p_at timestamp with time zone, p_node text) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.identity_page(p_tenant text, p_app text, p_vendor text, p_audience json, p_page integer, INOUT io_after uuid, OUT o_ids uuid[], OUT o_ended boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.identity_page(p_tenant text, p_app text, p_vendor text, p_audience json, p_page integer, INOUT io_after uuid, OUT o_ids uuid[], OUT o_ended boolean) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.import_clocks(p_tenant text, p_app text, p_vendor text, p_keys text[], p_zones text[], p_from integer[], p_to integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.import_clocks(p_tenant text, p_app text, p_vendor text, p_keys text[], p_zones text[], p_from integer[], p_to integer[]) TO gateway_call;
GRANT ALL ON FUNCTION gateway.import_clocks(p_tenant text, p_app text, p_vendor text, p_keys text[], p_zones text[], p_from integer[], p_to integer[]) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.import_each(p_tenant text, p_app text, p_vendor text, p_keys text[], p_identities uuid[], p_devices uuid[], p_platforms text[], p_environments text[], p_tokens text[], p_users text[], p_names text[], p_phones text[], p_raw_phones text[], p_attributes text[], p_zones text[], p_from integer[], p_to integer[], p_tags text[], p_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.import_each(p_tenant text, p_app text, p_vendor text, p_keys text[], p_identities uuid[], p_devices uuid[], p_platforms text[], p_environments text[], p_tokens text[], p_users text[], p_names text[], p_phones text[], p_raw_phones text[], p_attributes text[], p_zones text[], p_from integer[], p_to integer[], p_tags text[], p_at timestamp with time zone) TO gateway_call;
GRANT ALL ON FUNCTION gateway.import_each(p_tenant text, p_app text, p_vendor text, p_keys text[], p_identities uuid[], p_devices uuid[], p_platforms text[], p_environments text[], p_tokens text[], p_users text[], p_names text[], p_phones text[], p_raw_phones text[], p_attributes text[], p_zones text[], p_from integer[], p_to integer[], p_tags text[], p_at timestamp with time zone) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.import_identities(p_tenant text, p_app text, p_vendor text, p_keys text[], p_identities uuid[], p_devices uuid[], p_platforms text[], p_environments text[], p_tokens text[], p_users text[], p_names text[], p_phones text[], p_raw_phones text[], p_attributes text[], p_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.import_identities(p_tenant text, p_app text, p_vendor text, p_keys text[], p_identities uuid[], p_devices uuid[], p_platforms text[], p_environments text[], p_tokens text[], p_users text[], p_names text[], p_phones text[], p_raw_phones text[], p_attributes text[], p_at timestamp with time zone) TO gateway_call;
GRANT ALL ON FUNCTION gateway.import_identities(p_tenant text, p_app text, p_vendor text, p_keys text[], p_identities uuid[], p_devices uuid[], p_platforms text[], p_environments text[], p_tokens text[], p_users text[], p_names text[], p_phones text[], p_raw_phones text[], p_attributes text[], p_at timestamp with time zone) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.import_new(p_tenant text, p_app text, p_vendor text, p_keys text[], p_identities uuid[], p_devices uuid[], p_platforms text[], p_environments text[], p_tokens text[], p_users text[], p_names text[], p_phones text[], p_raw_phones text[], p_attributes text[], p_zones text[], p_from integer[], p_to integer[], p_tags text[], p_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.import_new(p_tenant text, p_app text, p_vendor text, p_keys text[], p_identities uuid[], p_devices uuid[], p_platforms text[], p_environments text[], p_tokens text[], p_users text[], p_names text[], p_phones text[], p_raw_phones text[], p_attributes text[], p_zones text[], p_from integer[], p_to integer[], p_tags text[], p_at timestamp with time zone) TO gateway_call;
GRANT ALL ON FUNCTION gateway.import_new(p_tenant text, p_app text, p_vendor text, p_keys text[], p_identities uuid[], p_devices uuid[], p_platforms text[], p_environments text[], p_tokens text[], p_users text[], p_names text[], p_phones text[], p_raw_phones text[], p_attributes text[], p_zones text[], p_from integer[], p_to integer[], p_tags text[], p_at timestamp with time zone) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.in_window(p_tenant text, p_app text, p_vendors text[], p_anchors text[], p_tags text[], p_cares bigint[], p_wants bigint[], p_after uuid, p_end uuid, p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.in_window(p_tenant text, p_app text, p_vendors text[], p_anchors text[], p_tags text[], p_cares bigint[], p_wants bigint[], p_after uuid, p_end uuid, p_most integer) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.keep_users(p_tenant text, p_app text, p_vendor text, p_repeat text, p_users text[], p_anonymous boolean[], p_accepts boolean[], p_attributes text[], p_revisions bigint[], p_labels text[], p_names text[], p_named text[], p_actors text[], p_digests text[], p_kinds text[], p_acts text[], p_ats timestamp with time zone[], p_data text[], p_from text[], p_to text[], p_opted boolean[], p_consents text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.keep_users(p_tenant text, p_app text, p_vendor text, p_repeat text, p_users text[], p_anonymous boolean[], p_accepts boolean[], p_attributes text[], p_revisions bigint[], p_labels text[], p_names text[], p_named text[], p_actors text[], p_digests text[], p_kinds text[], p_acts text[], p_ats timestamp with time zone[], p_data text[], p_from text[], p_to text[], p_opted boolean[], p_consents text[]) TO gateway_call;
GRANT ALL ON FUNCTION gateway.keep_users(p_tenant text, p_app text, p_vendor text, p_repeat text, p_users text[], p_anonymous boolean[], p_accepts boolean[], p_attributes text[], p_revisions bigint[], p_labels text[], p_names text[], p_named text[], p_actors text[], p_digests text[], p_kinds text[], p_acts text[], p_ats timestamp with time zone[], p_data text[], p_from text[], p_to text[], p_opted boolean[], p_consents text[]) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.known_zone(p_zone text, p_default text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.known_zone(p_zone text, p_default text) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.lock_name(p_tenant text, p_kind text, p_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.lock_name(p_tenant text, p_kind text, p_name text) TO gateway_engine;
GRANT ALL ON FUNCTION gateway.lock_name(p_tenant text, p_kind text, p_name text) TO gateway_call;

REVOKE ALL ON FUNCTION gateway.look_history(p_tenant text, p_app text, p_vendor text, p_identity uuid, p_user text, p_since integer, p_day integer, p_before uuid, p_read boolean, p_hidden text, p_looks integer, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.look_history(p_tenant text, p_app text, p_vendor text, p_identity uuid, p_user text, p_since integer, p_day integer, p_before uuid, p_read boolean, p_hidden text, p_looks integer, p_limit integer) TO gateway_call;
GRANT ALL ON FUNCTION gateway.look_history(p_tenant text, p_app text, p_vendor text, p_identity uuid, p_user text, p_since integer, p_day integer, p_before uuid, p_read boolean, p_hidden text, p_looks integer, p_limit integer) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.make_delivery_partitions(p_first_day integer, p_weeks integer) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.make_delivery_partitions(p_first_day integer, p_weeks integer) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.mark_deliveries(p_tenant text, p_identity uuid, p_messages uuid[], p_days integer[], p_kind text, p_at timestamp with time zone, p_node text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.mark_deliveries(p_tenant text, p_identity uuid, p_messages uuid[], p_days integer[], p_kind text, p_at timestamp with time zone, p_node text) TO gateway_call;
GRANT ALL ON FUNCTION gateway.mark_deliveries(p_tenant text, p_identity uuid, p_messages uuid[], p_days integer[], p_kind text, p_at timestamp with time zone, p_node text) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.meant(p_tenant text, p_app text, p_vendor text, p_audience json, p_ids uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.meant(p_tenant text, p_app text, p_vendor text, p_audience json, p_ids uuid[]) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.message_numbers(p_tenant text, p_message uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.message_numbers(p_tenant text, p_message uuid) TO gateway_call;
GRANT ALL ON FUNCTION gateway.message_numbers(p_tenant text, p_message uuid) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.move_user(p_tenant text, p_app text, p_vendor text, p_from text, p_to text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.move_user(p_tenant text, p_app text, p_vendor text, p_from text, p_to text) TO gateway_call;
GRANT ALL ON FUNCTION gateway.move_user(p_tenant text, p_app text, p_vendor text, p_from text, p_to text) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.next_candidates(p_tenant text, p_app text, p_vendor text, p_audience json, p_limit integer, INOUT io_user text, INOUT io_dialect text, INOUT io_after uuid, OUT o_ids uuid[], OUT o_ended boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.next_candidates(p_tenant text, p_app text, p_vendor text, p_audience json, p_limit integer, INOUT io_user text, INOUT io_dialect text, INOUT io_after uuid, OUT o_ids uuid[], OUT o_ended boolean) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.next_number(p_tenant text, p_app text, p_vendor text, p_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.next_number(p_tenant text, p_app text, p_vendor text, p_name text) TO gateway_call;
GRANT ALL ON FUNCTION gateway.next_number(p_tenant text, p_app text, p_vendor text, p_name text) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.note_controlled(p_tenant text, p_message uuid, p_action text, p_count bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.note_controlled(p_tenant text, p_message uuid, p_action text, p_count bigint) TO gateway_call;
GRANT ALL ON FUNCTION gateway.note_controlled(p_tenant text, p_message uuid, p_action text, p_count bigint) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.note_sharing(p_tenant text, p_app text, p_identity uuid, p_device uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.note_sharing(p_tenant text, p_app text, p_identity uuid, p_device uuid) TO gateway_call;
GRANT ALL ON FUNCTION gateway.note_sharing(p_tenant text, p_app text, p_identity uuid, p_device uuid) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.number_message(p_tenant text, p_message uuid, p_vendors text[], p_numbers text[], p_targets uuid[], p_inboxes text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.number_message(p_tenant text, p_message uuid, p_vendors text[], p_numbers text[], p_targets uuid[], p_inboxes text[]) TO gateway_call;
GRANT ALL ON FUNCTION gateway.number_message(p_tenant text, p_message uuid, p_vendors text[], p_numbers text[], p_targets uuid[], p_inboxes text[]) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.numbered_message(p_tenant text, p_app text, p_vendor text, p_number text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.numbered_message(p_tenant text, p_app text, p_vendor text, p_number text) TO gateway_call;
GRANT ALL ON FUNCTION gateway.numbered_message(p_tenant text, p_app text, p_vendor text, p_number text) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.open_inbox(p_tenant text, p_message uuid, p_targets uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.open_inbox(p_tenant text, p_message uuid, p_targets uuid[]) TO gateway_call;
GRANT ALL ON FUNCTION gateway.open_inbox(p_tenant text, p_message uuid, p_targets uuid[]) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.opens_at(p_at timestamp with time zone, p_zone text, p_from integer, p_to integer) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.opens_at(p_at timestamp with time zone, p_zone text, p_from integer, p_to integer) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.patch_identities(p_tenant text, p_device uuid, p_accepts boolean, p_user text, p_name text, p_phone text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.patch_identities(p_tenant text, p_device uuid, p_accepts boolean, p_user text, p_name text, p_phone text) TO gateway_call;
GRANT ALL ON FUNCTION gateway.patch_identities(p_tenant text, p_device uuid, p_accepts boolean, p_user text, p_name text, p_phone text) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.place_token(p_tenant text, p_app text, p_vendor text, p_identity uuid, p_device uuid, p_new_device uuid, p_platform text, p_environment text, p_token text, p_at timestamp with time zone, OUT o_device uuid, OUT o_replaced uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.place_token(p_tenant text, p_app text, p_vendor text, p_identity uuid, p_device uuid, p_new_device uuid, p_platform text, p_environment text, p_token text, p_at timestamp with time zone, OUT o_device uuid, OUT o_replaced uuid[]) TO gateway_engine;
GRANT ALL ON FUNCTION gateway.place_token(p_tenant text, p_app text, p_vendor text, p_identity uuid, p_device uuid, p_new_device uuid, p_platform text, p_environment text, p_token text, p_at timestamp with time zone, OUT o_device uuid, OUT o_replaced uuid[]) TO gateway_call;

REVOKE ALL ON FUNCTION gateway.poll_inbox(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_now uuid, p_limit integer, p_at timestamp with time zone, p_node text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.poll_inbox(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_now uuid, p_limit integer, p_at timestamp with time zone, p_node text) TO gateway_call;
GRANT ALL ON FUNCTION gateway.poll_inbox(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_now uuid, p_limit integer, p_at timestamp with time zone, p_node text) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.put_back_slice(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_held text, p_crowded interval) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.put_back_slice(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_held text, p_crowded interval) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.put_campaign(p_tenant text, p_app text, p_vendor text, p_id text, p_name text, p_body text, p_limit bigint, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.put_campaign(p_tenant text, p_app text, p_vendor text, p_id text, p_name text, p_body text, p_limit bigint, p_actor text) TO gateway_call;
GRANT ALL ON FUNCTION gateway.put_campaign(p_tenant text, p_app text, p_vendor text, p_id text, p_name text, p_body text, p_limit bigint, p_actor text) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.put_group(p_tenant text, p_app text, p_vendor text, p_group text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.put_group(p_tenant text, p_app text, p_vendor text, p_group text) TO gateway_call;
GRANT ALL ON FUNCTION gateway.put_group(p_tenant text, p_app text, p_vendor text, p_group text) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.put_users(p_tenant text, p_app text, p_vendor text, p_repeat text, p_users text[], p_anonymous boolean[], p_accepts boolean[], p_attributes text[], p_revisions bigint[], p_labels text[], p_names text[], p_named text[], p_actors text[], p_digests text[], p_kinds text[], p_acts text[], p_ats timestamp with time zone[], p_data text[], p_from text[], p_to text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.put_users(p_tenant text, p_app text, p_vendor text, p_repeat text, p_users text[], p_anonymous boolean[], p_accepts boolean[], p_attributes text[], p_revisions bigint[], p_labels text[], p_names text[], p_named text[], p_actors text[], p_digests text[], p_kinds text[], p_acts text[], p_ats timestamp with time zone[], p_data text[], p_from text[], p_to text[]) TO gateway_call;
GRANT ALL ON FUNCTION gateway.put_users(p_tenant text, p_app text, p_vendor text, p_repeat text, p_users text[], p_anonymous boolean[], p_accepts boolean[], p_attributes text[], p_revisions bigint[], p_labels text[], p_names text[], p_named text[], p_actors text[], p_digests text[], p_kinds text[], p_acts text[], p_ats timestamp with time zone[], p_data text[], p_from text[], p_to text[]) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.put_verification(p_tenant text, p_app text, p_vendor text, p_phone text, p_code_hash text, p_resend_after interval, p_per_hour integer, p_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.put_verification(p_tenant text, p_app text, p_vendor text, p_phone text, p_code_hash text, p_resend_after interval, p_per_hour integer, p_at timestamp with time zone) TO gateway_engine;
GRANT ALL ON FUNCTION gateway.put_verification(p_tenant text, p_app text, p_vendor text, p_phone text, p_code_hash text, p_resend_after interval, p_per_hour integer, p_at timestamp with time zone) TO gateway_call;

REVOKE ALL ON FUNCTION gateway.read_messages(p_tenant text, p_app text, p_messages uuid[], p_users text[], p_received timestamp with time zone[], p_read timestamp with time zone[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.read_messages(p_tenant text, p_app text, p_messages uuid[], p_users text[], p_received timestamp with time zone[], p_read timestamp with time zone[]) TO gateway_call;
GRANT ALL ON FUNCTION gateway.read_messages(p_tenant text, p_app text, p_messages uuid[], p_users text[], p_received timestamp with time zone[], p_read timestamp with time zone[]) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.reading_identity(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_reader text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.reading_identity(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_reader text) TO gateway_call;
GRANT ALL ON FUNCTION gateway.reading_identity(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_reader text) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.record_exchange(p_tenant text, p_capture uuid, p_at timestamp with time zone, p_route text, p_outcome text, p_reason text, p_method text, p_path text, p_query text, p_headers json, p_body text, p_body_bytes bigint, p_status smallint, p_answer_type text, p_answer text, p_answer_bytes bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.record_exchange(p_tenant text, p_capture uuid, p_at timestamp with time zone, p_route text, p_outcome text, p_reason text, p_method text, p_path text, p_query text, p_headers json, p_body text, p_body_bytes bigint, p_status smallint, p_answer_type text, p_answer text, p_answer_bytes bigint) TO gateway_call;

REVOKE ALL ON FUNCTION gateway.record_receipt(p_tenant text, p_app text, p_vendor text, p_message uuid, p_key text, p_kind text, p_at timestamp with time zone, p_node text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.record_receipt(p_tenant text, p_app text, p_vendor text, p_message uuid, p_key text, p_kind text, p_at timestamp with time zone, p_node text) TO gateway_engine;
GRANT ALL ON FUNCTION gateway.record_receipt(p_tenant text, p_app text, p_vendor text, p_message uuid, p_key text, p_kind text, p_at timestamp with time zone, p_node text) TO gateway_call;

REVOKE ALL ON FUNCTION gateway.record_receipts(p_tenant text, p_app text, p_vendor text, p_node text, p_messages uuid[], p_keys text[], p_kinds text[], p_at timestamp with time zone[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.record_receipts(p_tenant text, p_app text, p_vendor text, p_node text, p_messages uuid[], p_keys text[], p_kinds text[], p_at timestamp with time zone[]) TO gateway_call;
GRANT ALL ON FUNCTION gateway.record_receipts(p_tenant text, p_app text, p_vendor text, p_node text, p_messages uuid[], p_keys text[], p_kinds text[], p_at timestamp with time zone[]) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.record_slice(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_done bytea, p_disposition text, p_after interval, p_counts boolean, p_targets uuid[], p_identities uuid[], p_devices uuid[], p_users text[], p_addresses text[], p_states text[], p_reasons text[], p_transports text[], p_transport_ids uuid[], p_certain boolean[], p_attempts smallint[], p_sent timestamp with time zone[], p_bytes integer[], p_reduced text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.record_slice(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_done bytea, p_disposition text, p_after interval, p_counts boolean, p_targets uuid[], p_identities uuid[], p_devices uuid[], p_users text[], p_addresses text[], p_states text[], p_reasons text[], p_transports text[], p_transport_ids uuid[], p_certain boolean[], p_attempts smallint[], p_sent timestamp with time zone[], p_bytes integer[], p_reduced text[]) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.register_identity(p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid, p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text, p_replaces_phone boolean, p_attributes json, p_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.register_identity(p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid, p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text, p_replaces_phone boolean, p_attributes json, p_at timestamp with time zone) TO gateway_engine;
GRANT ALL ON FUNCTION gateway.register_identity(p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid, p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text, p_replaces_phone boolean, p_attributes json, p_at timestamp with time zone) TO gateway_call;

REVOKE ALL ON FUNCTION gateway.register_many(p_tenant text, p_app text, p_vendor text, p_keys text[], p_identities uuid[], p_devices uuid[], p_platforms text[], p_environments text[], p_tokens text[], p_users text[], p_names text[], p_phones text[], p_raw_phones text[], p_attributes text[], p_at timestamp with time zone[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.register_many(p_tenant text, p_app text, p_vendor text, p_keys text[], p_identities uuid[], p_devices uuid[], p_platforms text[], p_environments text[], p_tokens text[], p_users text[], p_names text[], p_phones text[], p_raw_phones text[], p_attributes text[], p_at timestamp with time zone[]) TO gateway_call;

REVOKE ALL ON FUNCTION gateway.register_noted(p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid, p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text, p_replaces_phone boolean, p_attributes json, p_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.register_noted(p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid, p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text, p_replaces_phone boolean, p_attributes json, p_at timestamp with time zone) TO gateway_call;
GRANT ALL ON FUNCTION gateway.register_noted(p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid, p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text, p_replaces_phone boolean, p_attributes json, p_at timestamp with time zone) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.register_tagged(p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid, p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text, p_replaces_phone boolean, p_attributes json, p_at timestamp with time zone, p_tags text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.register_tagged(p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid, p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text, p_replaces_phone boolean, p_attributes json, p_at timestamp with time zone, p_tags text[]) TO gateway_call;
GRANT ALL ON FUNCTION gateway.register_tagged(p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid, p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text, p_replaces_phone boolean, p_attributes json, p_at timestamp with time zone, p_tags text[]) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.register_timed(p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid, p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text, p_replaces_phone boolean, p_attributes json, p_at timestamp with time zone, p_tags text[], p_zone text, p_from integer, p_to integer) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.register_timed(p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid, p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text, p_replaces_phone boolean, p_attributes json, p_at timestamp with time zone, p_tags text[], p_zone text, p_from integer, p_to integer) TO gateway_call;
GRANT ALL ON FUNCTION gateway.register_timed(p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid, p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text, p_replaces_phone boolean, p_attributes json, p_at timestamp with time zone, p_tags text[], p_zone text, p_from integer, p_to integer) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.remove_campaign(p_tenant text, p_app text, p_vendor text, p_id text, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.remove_campaign(p_tenant text, p_app text, p_vendor text, p_id text, p_actor text) TO gateway_call;
GRANT ALL ON FUNCTION gateway.remove_campaign(p_tenant text, p_app text, p_vendor text, p_id text, p_actor text) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.replace_identities(p_tenant text, p_app text, p_vendor text, p_identity uuid, p_device uuid, p_phone text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.replace_identities(p_tenant text, p_app text, p_vendor text, p_identity uuid, p_device uuid, p_phone text) TO gateway_engine;
GRANT ALL ON FUNCTION gateway.replace_identities(p_tenant text, p_app text, p_vendor text, p_identity uuid, p_device uuid, p_phone text) TO gateway_call;

REVOKE ALL ON FUNCTION gateway.replay_webhook(p_tenant text, p_id uuid, p_from bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.replay_webhook(p_tenant text, p_id uuid, p_from bigint) TO gateway_call;
GRANT ALL ON FUNCTION gateway.replay_webhook(p_tenant text, p_id uuid, p_from bigint) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.report_number(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_number text, p_kind text, p_at timestamp with time zone, p_node text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.report_number(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_number text, p_kind text, p_at timestamp with time zone, p_node text) TO gateway_call;
GRANT ALL ON FUNCTION gateway.report_number(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_number text, p_kind text, p_at timestamp with time zone, p_node text) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.report_numbers(p_tenant text, p_app text, p_vendor text, p_node text, p_keys text[], p_numbers text[], p_kinds text[], p_at timestamp with time zone[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.report_numbers(p_tenant text, p_app text, p_vendor text, p_node text, p_keys text[], p_numbers text[], p_kinds text[], p_at timestamp with time zone[]) TO gateway_call;
GRANT ALL ON FUNCTION gateway.report_numbers(p_tenant text, p_app text, p_vendor text, p_node text, p_keys text[], p_numbers text[], p_kinds text[], p_at timestamp with time zone[]) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.reported_delivery(p_tenant text, p_app text, p_vendor text, p_message uuid, p_key text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.reported_delivery(p_tenant text, p_app text, p_vendor text, p_message uuid, p_key text) TO gateway_engine;
GRANT ALL ON FUNCTION gateway.reported_delivery(p_tenant text, p_app text, p_vendor text, p_message uuid, p_key text) TO gateway_call;

REVOKE ALL ON FUNCTION gateway.reported_target(p_tenant text, p_message uuid, p_due_day integer, p_recipients bigint, p_identity uuid, p_phone text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.reported_target(p_tenant text, p_message uuid, p_due_day integer, p_recipients bigint, p_identity uuid, p_phone text) TO gateway_engine;
GRANT ALL ON FUNCTION gateway.reported_target(p_tenant text, p_message uuid, p_due_day integer, p_recipients bigint, p_identity uuid, p_phone text) TO gateway_call;

REVOKE ALL ON FUNCTION gateway.reporting_identities(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_user text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.reporting_identities(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_user text) TO gateway_call;
GRANT ALL ON FUNCTION gateway.reporting_identities(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_user text) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.resolve_api_key(p_hash bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.resolve_api_key(p_hash bytea) TO gateway_engine;
GRANT ALL ON FUNCTION gateway.resolve_api_key(p_hash bytea) TO gateway_call;

REVOKE ALL ON FUNCTION gateway.resolve_binding(p_vendor text, p_kind text, p_value text, p_host text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.resolve_binding(p_vendor text, p_kind text, p_value text, p_host text) TO gateway_engine;
GRANT ALL ON FUNCTION gateway.resolve_binding(p_vendor text, p_kind text, p_value text, p_host text) TO gateway_call;

REVOKE ALL ON FUNCTION gateway.resolve_page(p_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.resolve_page(p_id text) TO gateway_call;
GRANT ALL ON FUNCTION gateway.resolve_page(p_id text) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.seat_token(p_tenant text, p_app text, p_device uuid, p_new_device uuid, p_platform text, p_environment text, p_token text, p_at timestamp with time zone, OUT o_device uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.seat_token(p_tenant text, p_app text, p_device uuid, p_new_device uuid, p_platform text, p_environment text, p_token text, p_at timestamp with time zone, OUT o_device uuid) TO gateway_call;
GRANT ALL ON FUNCTION gateway.seat_token(p_tenant text, p_app text, p_device uuid, p_new_device uuid, p_platform text, p_environment text, p_token text, p_at timestamp with time zone, OUT o_device uuid) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.sequence_message(p_tenant text, p_app text, p_vendor text, p_message uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.sequence_message(p_tenant text, p_app text, p_vendor text, p_message uuid) TO gateway_call;
GRANT ALL ON FUNCTION gateway.sequence_message(p_tenant text, p_app text, p_vendor text, p_message uuid) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.set_badge(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_user text, p_count integer) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.set_badge(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_user text, p_count integer) TO gateway_call;
GRANT ALL ON FUNCTION gateway.set_badge(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_user text, p_count integer) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.set_callback(p_tenant text, p_app text, p_vendor text, p_sender text, p_url text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.set_callback(p_tenant text, p_app text, p_vendor text, p_sender text, p_url text) TO gateway_engine;
GRANT ALL ON FUNCTION gateway.set_callback(p_tenant text, p_app text, p_vendor text, p_sender text, p_url text) TO gateway_call;

REVOKE ALL ON FUNCTION gateway.set_clock(p_tenant text, p_device uuid, p_zone text, p_from integer, p_to integer) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.set_clock(p_tenant text, p_device uuid, p_zone text, p_from integer, p_to integer) TO gateway_call;
GRANT ALL ON FUNCTION gateway.set_clock(p_tenant text, p_device uuid, p_zone text, p_from integer, p_to integer) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.set_many_preferences(p_tenant text, p_app text, p_vendor text, p_accepts boolean, p_keys text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.set_many_preferences(p_tenant text, p_app text, p_vendor text, p_accepts boolean, p_keys text[]) TO gateway_call;

REVOKE ALL ON FUNCTION gateway.set_preferences(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_accepts boolean, p_zone text, p_from integer, p_to integer, p_alias text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.set_preferences(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_accepts boolean, p_zone text, p_from integer, p_to integer, p_alias text) TO gateway_call;
GRANT ALL ON FUNCTION gateway.set_preferences(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_accepts boolean, p_zone text, p_from integer, p_to integer, p_alias text) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.set_tags(p_tenant text, p_identity uuid, p_tags text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.set_tags(p_tenant text, p_identity uuid, p_tags text[]) TO gateway_call;
GRANT ALL ON FUNCTION gateway.set_tags(p_tenant text, p_identity uuid, p_tags text[]) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.settle_receipts(p_tenant text, p_app text, p_identities uuid[], p_messages uuid[], p_days integer[], p_kinds text[], p_at timestamp with time zone[], p_node text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.settle_receipts(p_tenant text, p_app text, p_identities uuid[], p_messages uuid[], p_days integer[], p_kinds text[], p_at timestamp with time zone[], p_node text) TO gateway_call;
GRANT ALL ON FUNCTION gateway.settle_receipts(p_tenant text, p_app text, p_identities uuid[], p_messages uuid[], p_days integer[], p_kinds text[], p_at timestamp with time zone[], p_node text) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.shown_messages(p_tenant text, p_messages uuid[], p_users text[], p_received timestamp with time zone[], p_read timestamp with time zone[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.shown_messages(p_tenant text, p_messages uuid[], p_users text[], p_received timestamp with time zone[], p_read timestamp with time zone[]) TO gateway_call;
GRANT ALL ON FUNCTION gateway.shown_messages(p_tenant text, p_messages uuid[], p_users text[], p_received timestamp with time zone[], p_read timestamp with time zone[]) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.start_capture(p_tenant text, p_capture uuid, p_app text, p_vendor text, p_actor text, p_seconds integer, p_exchanges integer, p_body integer, p_bytes integer, p_texts boolean, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.start_capture(p_tenant text, p_capture uuid, p_app text, p_vendor text, p_actor text, p_seconds integer, p_exchanges integer, p_body integer, p_bytes integer, p_texts boolean, p_limit integer) TO gateway_call;

REVOKE ALL ON FUNCTION gateway.tag_device(p_tenant text, p_device uuid, p_tags text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.tag_device(p_tenant text, p_device uuid, p_tags text[]) TO gateway_call;
GRANT ALL ON FUNCTION gateway.tag_device(p_tenant text, p_device uuid, p_tags text[]) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.take_badges(p_tenant text, p_message uuid, p_step integer, p_places bigint[], p_targets uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.take_badges(p_tenant text, p_message uuid, p_step integer, p_places bigint[], p_targets uuid[]) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.unregister_identities(p_tenant text, p_app text, p_vendor text, p_key text, p_phone text) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.unregister_identities(p_tenant text, p_app text, p_vendor text, p_key text, p_phone text) TO gateway_engine;
GRANT ALL ON FUNCTION gateway.unregister_identities(p_tenant text, p_app text, p_vendor text, p_key text, p_phone text) TO gateway_call;

REVOKE ALL ON FUNCTION gateway.update_token(p_tenant text, p_app text, p_vendor text, p_key text, p_environment text, p_token text, p_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.update_token(p_tenant text, p_app text, p_vendor text, p_key text, p_environment text, p_token text, p_at timestamp with time zone) TO gateway_engine;
GRANT ALL ON FUNCTION gateway.update_token(p_tenant text, p_app text, p_vendor text, p_key text, p_environment text, p_token text, p_at timestamp with time zone) TO gateway_call;

REVOKE ALL ON FUNCTION gateway.walk_history(p_tenant text, p_app text, p_vendor text, p_identity uuid, p_user text, p_since integer, p_day integer, p_before uuid, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.walk_history(p_tenant text, p_app text, p_vendor text, p_identity uuid, p_user text, p_since integer, p_day integer, p_before uuid, p_limit integer) TO gateway_call;
GRANT ALL ON FUNCTION gateway.walk_history(p_tenant text, p_app text, p_vendor text, p_identity uuid, p_user text, p_since integer, p_day integer, p_before uuid, p_limit integer) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.was_sent(p_tenant text, p_app text, p_user text, p_message uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.was_sent(p_tenant text, p_app text, p_user text, p_message uuid) TO gateway_call;
GRANT ALL ON FUNCTION gateway.was_sent(p_tenant text, p_app text, p_user text, p_message uuid) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.window_end(p_tenant text, p_app text, p_vendors text[], p_tags text[], p_after uuid, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.window_end(p_tenant text, p_app text, p_vendors text[], p_tags text[], p_after uuid, p_limit integer) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.withdraw_schedule(p_tenant text, p_app text, p_vendor text, p_schedule uuid, p_message uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.withdraw_schedule(p_tenant text, p_app text, p_vendor text, p_schedule uuid, p_message uuid) TO gateway_call;
GRANT ALL ON FUNCTION gateway.withdraw_schedule(p_tenant text, p_app text, p_vendor text, p_schedule uuid, p_message uuid) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.without_gone(p_tenant text, p_app text, p_ids uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.without_gone(p_tenant text, p_app text, p_ids uuid[]) TO gateway_engine;

REVOKE ALL ON FUNCTION gateway.write_audit(p_tenant text, p_actor text, p_actions text[], p_subjects text[], p_data text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION gateway.write_audit(p_tenant text, p_actor text, p_actions text[], p_subjects text[], p_data text[]) TO gateway_call;
GRANT ALL ON FUNCTION gateway.write_audit(p_tenant text, p_actor text, p_actions text[], p_subjects text[], p_data text[]) TO gateway_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.api_key TO gateway_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.api_key_use TO gateway_engine;

GRANT SELECT ON TABLE gateway.app TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.app TO gateway_engine;

GRANT UPDATE(uses_windows) ON TABLE gateway.app TO gateway_call;

GRANT UPDATE(shares_devices) ON TABLE gateway.app TO gateway_call;

GRANT SELECT,INSERT ON TABLE gateway.audit TO gateway_call;
GRANT SELECT,INSERT ON TABLE gateway.audit TO gateway_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.badge TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.badge TO gateway_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.badge_mark TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.badge_mark TO gateway_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.binding TO gateway_engine;

GRANT SELECT,INSERT,UPDATE ON TABLE gateway.budget TO gateway_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.campaign TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.campaign TO gateway_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.campaign_mark TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.campaign_mark TO gateway_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.capture TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.capture TO gateway_engine;

GRANT SELECT,INSERT ON TABLE gateway.captured_exchange TO gateway_call;
GRANT SELECT,DELETE ON TABLE gateway.captured_exchange TO gateway_engine;

GRANT SELECT,INSERT,UPDATE ON TABLE gateway.counter_hour TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.counter_hour TO gateway_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.credential TO gateway_engine;

GRANT SELECT,INSERT,UPDATE ON TABLE gateway.delivery TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.delivery TO gateway_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.device TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.device TO gateway_engine;

GRANT SELECT,INSERT ON TABLE gateway.event TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.event TO gateway_engine;

GRANT SELECT,INSERT,UPDATE ON TABLE gateway.event_head TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.event_head TO gateway_engine;

GRANT SELECT,INSERT,UPDATE ON TABLE gateway.group_count TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.group_count TO gateway_engine;

GRANT SELECT,INSERT,DELETE ON TABLE gateway.group_member TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.group_member TO gateway_engine;

GRANT SELECT,INSERT ON TABLE gateway.idempotency TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.idempotency TO gateway_engine;

GRANT SELECT,INSERT,UPDATE ON TABLE gateway.identity_count TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.identity_count TO gateway_engine;

GRANT SELECT,INSERT,DELETE ON TABLE gateway.identity_tag TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.identity_tag TO gateway_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.inbox_open TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.inbox_open TO gateway_engine;

GRANT SELECT,INSERT ON TABLE gateway.lane TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.lane TO gateway_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.master_key TO gateway_engine;

GRANT SELECT,INSERT ON TABLE gateway.media TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.media TO gateway_engine;

GRANT SELECT,INSERT,UPDATE ON TABLE gateway.message TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.message TO gateway_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.message_label TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.message_label TO gateway_engine;

GRANT SELECT,INSERT ON TABLE gateway.message_media TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.message_media TO gateway_engine;

GRANT SELECT,INSERT,UPDATE ON TABLE gateway.message_number TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.message_number TO gateway_engine;

GRANT SELECT,INSERT ON TABLE gateway.message_ref TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.message_ref TO gateway_engine;

GRANT SELECT,INSERT,DELETE ON TABLE gateway.message_variable TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.message_variable TO gateway_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.node TO gateway_engine;

GRANT INSERT ON TABLE gateway.page TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.page TO gateway_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.provider_token TO gateway_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.schedule TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.schedule TO gateway_engine;

GRANT SELECT ON TABLE gateway.schema_version TO gateway_engine;

GRANT SELECT,INSERT,UPDATE ON TABLE gateway.sender TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.sender TO gateway_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.singleton TO gateway_engine;

GRANT SELECT,INSERT,UPDATE ON TABLE gateway.slice TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.slice TO gateway_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.tenant TO gateway_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.user_act TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.user_act TO gateway_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.user_alias TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.user_alias TO gateway_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.user_group TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.user_group TO gateway_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.user_profile TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.user_profile TO gateway_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.user_tally TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.user_tally TO gateway_engine;

GRANT SELECT ON TABLE gateway.variant TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.variant TO gateway_engine;

GRANT SELECT,INSERT,UPDATE ON TABLE gateway.vendor_sequence TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.vendor_sequence TO gateway_engine;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.verification TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.verification TO gateway_engine;

GRANT INSERT,DELETE,UPDATE ON TABLE gateway.webhook TO gateway_call;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE gateway.webhook TO gateway_engine;

GRANT SELECT(tenant_id) ON TABLE gateway.webhook TO gateway_call;

GRANT SELECT(webhook_id) ON TABLE gateway.webhook TO gateway_call;

GRANT SELECT(url) ON TABLE gateway.webhook TO gateway_call;

GRANT SELECT(app_id) ON TABLE gateway.webhook TO gateway_call;

GRANT SELECT(kinds) ON TABLE gateway.webhook TO gateway_call;

GRANT SELECT(key_id) ON TABLE gateway.webhook TO gateway_call;

GRANT SELECT(is_active) ON TABLE gateway.webhook TO gateway_call;

GRANT SELECT(created_at) ON TABLE gateway.webhook TO gateway_call;

GRANT SELECT(cursor) ON TABLE gateway.webhook TO gateway_call;

GRANT SELECT(attempts) ON TABLE gateway.webhook TO gateway_call;

GRANT SELECT(failing_since) ON TABLE gateway.webhook TO gateway_call;

GRANT SELECT(failure) ON TABLE gateway.webhook TO gateway_call;

GRANT SELECT(next_at) ON TABLE gateway.webhook TO gateway_call;

GRANT SELECT(owner) ON TABLE gateway.webhook TO gateway_call;

GRANT SELECT(epoch) ON TABLE gateway.webhook TO gateway_call;



INSERT INTO gateway.schema_version (version, name, checksum) VALUES
(1, 'reference', 'a66942585aa334ad504e9b346a8af2b5b7c01b6f91fa038f97031e4864cf3e52'),
    (2, 'devices', '43c5430c38ad869be77724ff6c087a430a28b79df03a2d934c8108103a50fd32'),
    (3, 'messages', '4b42284d40f3902a156f3f36453b7633dce628406ac41ac0f33b34d607ee94fd'),
    (4, 'registration', '050ae021a3a098f343d8ca384df66be5ce5a9e62ac728823be3bff4d79140790'),
    (5, 'delivery', '920dee9b7fced5bccea5c8df6de7c63de0f08e60792a49111df838f9a2929a3c'),
    (6, 'access', 'da75af58720c0abbdfe266139da144824a1dfdeca22030cfd56b45bd457a8dfc'),
    (7, 'held', 'ee23b317178653c417a6ac973e667e11fb19bf1954380356b3d990405d81a1c6'),
    (8, 'import', '4f8430580b0a42eb9012c4addd97c87de52a0c610945b99807cc792c93f64b38'),
    (9, 'control', 'f6f9a6ee49b7afe1cf4500b968b0e8d2fb095f9c1a0a26b9fae6a289a5318c6a'),
    (10, 'audience', '05973f5ace70d718ac66e2391894a3596c6622d5a9bc7371435585944de746bb'),
    (11, 'events', 'e71ea4a38b9b90dad0353f1b28e6b81442c219e1b056abe5c9930cb068d7d442'),
    (12, 'audit', 'dd024c4b62a1360d29c32073f1e70923ce7bbf3193baf2934c7ef3780079c7c2'),
    (13, 'budget', 'b37a7070d4ebe5abdca4bdb89d6d8c23fca2d6d806efb39b9310feffc6cc7e7a'),
    (14, 'timing', '4289417893a629085f85a8f08f6dda459282d3ed082d7a958ecf7bd9b4ce2d97'),
    (15, 'spread', 'd154618a045dcede5fd8d96f71eb12b2f23fc2259133a68f7ea2e36810e7b27b'),
    (16, 'import', 'fd0409a2f6535ffed756995b45e8b4a3f1171b4b7e4e0089813b510af5e57b68'),
    (17, 'single', '18b051ccea6ad4bbfb05c59217cd7b4b6e1fce184f3ff932114ebdaa012f213d'),
    (18, 'inbox', '485fc2557ab746ba2615f5803d4cbc536a84c6904c0edaca9f78784470af69c7'),
    (19, 'badges', '65990d93d9e3f26a19fcd9a2ab70e1efb6831613f58f2d081fcf98db6d673bfa'),
    (20, 'receipts', 'fef8e287630b913352656c905984cd51b043e69183d566612d50d0807c0b25e8'),
    (21, 'unread', '6484e1780a299a4d560cbad06b1fdfd39e32c10724058a22823c4c7e5ec3ff86'),
    (22, 'capture', '56e4a223a76d066aaa9b39e674da9d0e9a752347419901c47ba20ab6019dd023'),
    (23, 'hubs', '1e457187f92da9ede05bb90a97f59d086896258c524db11765e633b327bd4074'),
    (24, 'put_back', '3ef137e6afb89e425f9dd52b5988c78f6a540620318e362d65fd2bb88ce0aa04'),
    (25, 'first_receipts', '83510b010aeddbd2affa46d9a0d92408e76a10bc4c7a990ec488271f8e2f6b0e'),
    (26, 'variants', 'ba0fb2ec986a5b274d867f61234a3797d26f355d15af0569950f7fc27fa3200e'),
    (27, 'sender_secret', '93ac82515f17de4ad0f31710fd63f1da3894ced4adba6e2a5308e79b879fbf42'),
    (28, 'sharing', 'e8267b1d43279a72cbce8e1d4d5b658b22e5691bd0acb163fe0beb30ea43b833'),
    (29, 'expansion', '8249c10f28d9c9aba49291b9e814e80c1d6b8ed923610f44dc3cd898f65443c6'),
    (30, 'erased_badges', '53fa6f9d3e868fb4da19d0d1bd463ad30e31faf0b5e49f331d29e085c97e36c7'),
    (31, 'registrations', 'fa3c2d8d89753c8def9643d4bf4d66ddaf89ea7fca287321a802d8c017b65627'),
    (32, 'users', 'b56724ca139741da7f2380bd622de1d5e5a1e2c814bce18cb7161bfecd4c3116'),
    (33, 'campaigns', '0a53b9ac53892938d27d6a63c7bf95b963e68c893108fb6a09a14621569a5672'),
    (34, 'lookups', '355cd6cd8530025d53b9000e103c00b41dc947d5dbbc2700b54a9871252d3ffb'),
    (35, 'ends', '064f495bfc4aa87ec12e58ffd7c1676bbbe5621e64591c605f7ccef2eed9aa69'),
    (36, 'denials', 'b2c2c350d0433119e87554751c44fef77e29abdbf991c1d43c95a4c5ab82039b'),
    (37, 'consents', 'a60ce5615c3d5896ab727b3cd9a8b546dc0dbec4fbc4b67cc2a2875878d4efbf'),
    (38, 'last_page', 'f1ebc81215a711213e133b93bc8422ede5978c7c4e02c6d3f844c68f9dd2f8bd');
