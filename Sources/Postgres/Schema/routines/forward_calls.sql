-- Adds calls to the queues of their upstreams, given as parallel arrays; runs in the transaction that has carried them out, behind the rows of the calls.
-- Returns one row per call, in order: waiting, merged (the newest waiting call of the queue registers the device in the same way, and no later call about the
-- device waits in another queue), or full (too many calls wait for the upstream).
--
-- A call that `register_many` has left out of its set, before in the same transaction, is left out here too: its row is null, and it runs alone.
--
-- p_outlives: not null if the call also concerns others than its own user and device, or removes something at the upstream (`forget_forwarded`).
--
-- The ordering key is the user that the call names, else the stored user of its device, else the device's key, else another name. Locks queues in the
-- order of their keys.
CREATE OR REPLACE FUNCTION gateway.forward_calls(
    p_tenant text, p_apps text[], p_vendors text[], p_upstreams text[], p_users text[], p_keys text[], p_others text[], p_kinds text[],
    p_calls text[], p_methods text[], p_paths text[], p_queries text[], p_content_types text[], p_vias text[], p_bodies bytea[], p_outlives text[])
RETURNS TABLE (outcome text, ordinal bigint)
LANGUAGE plpgsql SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    c record;
    -- The ordering keys of the calls, and whether they are added, in their order.
    v_given record;
    v_queues record;
    v_places record;
    v_outcomes text[];
    v_is_full boolean;
    v_full text[] := '{}';
    v_left_out bigint[] := coalesce(nullif(current_setting('gateway.left_out', true), ''), '{}')::bigint[];
    v_same boolean;
    v_count bigint;
    v_now timestamptz;
BEGIN
    FOR c IN SELECT DISTINCT u.upstream FROM unnest(p_upstreams) AS u(upstream) ORDER BY u.upstream LOOP
        SELECT s.is_full INTO v_is_full FROM gateway.outbox_upstream s WHERE s.tenant_id = p_tenant AND s.upstream = c.upstream;
        IF NOT FOUND THEN
            INSERT INTO gateway.outbox_upstream (tenant_id, upstream) VALUES (p_tenant, c.upstream)
                ON CONFLICT (tenant_id, upstream) DO NOTHING;
        ELSIF v_is_full THEN
            v_full := v_full || c.upstream;
        END IF;
    END LOOP;

    SELECT array_agg(sha256(convert_to(coalesce(u.user_name, u.stored, u.key, u.other, ''), 'UTF8')) ORDER BY u.place) AS keys,
            array_agg(CASE WHEN u.place = ANY (v_left_out) THEN NULL WHEN u.upstream = ANY (v_full) THEN 'full' ELSE 'waiting' END ORDER BY u.place)
                AS outcomes
        INTO v_given FROM (
            SELECT a.*, CASE WHEN a.user_name IS NULL THEN (
                    SELECT i.user_id FROM gateway.identity i
                    WHERE i.tenant_id = p_tenant AND i.app_id = a.app_id AND i.vendor = a.vendor AND i.key = a.key) END AS stored
            FROM unnest(p_apps, p_vendors, p_upstreams, p_users, p_keys, p_others) WITH ORDINALITY
                AS a(app_id, vendor, upstream, user_name, key, other, place)) AS u;
    v_outcomes := v_given.outcomes;

    -- All queues at once, each with a number for each of its calls.
    WITH r AS (
        INSERT INTO gateway.outbox_queue AS q (tenant_id, ordering_key, app_id, upstream, last, is_urgent, next_at, epoch)
        SELECT p_tenant, n.ordering_key, n.app_id, n.upstream, n.calls, n.is_urgent, clock_timestamp(),
            floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint
        FROM (
            SELECT u.ordering_key, u.app_id, u.upstream, count(*) AS calls, bool_or(u.kind = 'receipt') AS is_urgent
            FROM unnest(v_given.keys, p_apps, p_upstreams, p_kinds, v_outcomes) AS u(ordering_key, app_id, upstream, kind, outcome)
            WHERE u.outcome = 'waiting' GROUP BY u.ordering_key, u.app_id, u.upstream
            ORDER BY u.ordering_key, u.app_id, u.upstream) AS n
        ON CONFLICT (tenant_id, ordering_key, app_id, upstream) DO UPDATE
            SET last = q.last + excluded.last, is_urgent = q.is_urgent OR excluded.is_urgent
        RETURNING q.ordering_key, q.app_id, q.upstream, q.last)
    SELECT array_agg(r.ordering_key) AS keys, array_agg(r.app_id) AS apps, array_agg(r.upstream) AS upstreams, array_agg(r.last) AS lasts
        INTO v_queues FROM r;

    -- The numbers of the calls; null for one that is not added. `checked`: in its queue, a call about a device comes behind others, so that it may repeat the newest.
    SELECT array_agg(w.last - u.later ORDER BY u.place) AS numbers, array_agg(u.has_device AND w.last > 1 ORDER BY u.place) AS checked
        INTO v_places FROM (
            SELECT a.*, bool_or(a.kind = 'device') OVER (PARTITION BY a.ordering_key, a.app_id, a.upstream, a.outcome) AS has_device,
                row_number() OVER (PARTITION BY a.ordering_key, a.app_id, a.upstream, a.outcome ORDER BY a.place DESC) - 1 AS later
            FROM unnest(v_given.keys, p_apps, p_upstreams, p_kinds, v_outcomes) WITH ORDINALITY
                AS a(ordering_key, app_id, upstream, kind, outcome, place)) AS u
        LEFT JOIN unnest(v_queues.keys, v_queues.apps, v_queues.upstreams, v_queues.lasts) AS w(ordering_key, app_id, upstream, last)
            ON u.outcome = 'waiting' AND w.ordering_key = u.ordering_key AND w.app_id = u.app_id AND w.upstream = u.upstream;

    -- The time is taken behind the locks of the queues, so that it increases with the numbers. RETURNING keeps Citus from turning the INSERT into a COPY, which
    -- row-level security refuses.
    v_now := clock_timestamp();
    WITH r AS (
        INSERT INTO gateway.outbox (tenant_id, ordering_key, app_id, upstream, no, device_key, vendor, kind, call, method, path, query,
            content_type, via, body, outlives, called_at)
        SELECT p_tenant, u.ordering_key, u.app_id, u.upstream, u.no, sha256(convert_to(u.key, 'UTF8')), u.vendor, u.kind, u.call, u.method,
            u.path, u.query, u.content_type, u.via, u.body, u.outlives IS NOT NULL, v_now + u.place * interval '1 microsecond'
        FROM unnest(v_given.keys, p_apps, p_upstreams, v_places.numbers, v_places.checked, p_keys, p_vendors, p_kinds, p_calls, p_methods,
                p_paths, p_queries, p_content_types, p_vias, p_bodies, p_outlives) WITH ORDINALITY
            AS u(ordering_key, app_id, upstream, no, is_checked, key, vendor, kind, call, method, path, query, content_type, via, body,
                outlives, place)
        WHERE u.no IS NOT NULL AND NOT u.is_checked
        RETURNING 1)
    SELECT count(*) INTO v_count FROM r;

    IF true = ANY (v_places.checked) THEN
        FOR c IN
            SELECT u.*, sha256(convert_to(u.key, 'UTF8')) AS device_key
            FROM unnest(v_given.keys, p_apps, p_upstreams, v_places.numbers, v_places.checked, p_keys, p_vendors, p_kinds, p_calls, p_methods,
                    p_paths, p_queries, p_content_types, p_vias, p_bodies, p_outlives) WITH ORDINALITY
                AS u(ordering_key, app_id, upstream, no, is_checked, key, vendor, kind, call, method, path, query, content_type, via, body,
                    outlives, place)
            WHERE u.is_checked ORDER BY u.ordering_key, u.app_id, u.upstream, u.no
        LOOP
            v_same := false;
            -- Before the first call of a queue, no other one waits in it.
            IF c.kind = 'device' AND c.no > 1 THEN
                SELECT o.kind = c.kind AND o.call = c.call AND o.method = c.method AND o.path = c.path
                        AND o.query IS NOT DISTINCT FROM c.query AND o.content_type IS NOT DISTINCT FROM c.content_type AND o.body = c.body
                        AND NOT EXISTS (
                            SELECT FROM gateway.outbox e
                            WHERE e.tenant_id = p_tenant AND e.device_key = c.device_key AND e.called_at > o.called_at
                                AND e.app_id = c.app_id AND e.upstream = c.upstream AND e.vendor = c.vendor
                                AND e.ordering_key <> c.ordering_key)
                    INTO v_same FROM gateway.outbox o
                    WHERE o.tenant_id = p_tenant AND o.ordering_key = c.ordering_key AND o.app_id = c.app_id AND o.upstream = c.upstream
                    ORDER BY o.no DESC LIMIT 1 FOR UPDATE;
            END IF;
            IF v_same THEN
                v_outcomes[c.place::integer] := 'merged';
            ELSE
                v_now := clock_timestamp();
                INSERT INTO gateway.outbox (tenant_id, ordering_key, app_id, upstream, no, device_key, vendor, kind, call, method, path, query,
                        content_type, via, body, outlives, called_at)
                    VALUES (p_tenant, c.ordering_key, c.app_id, c.upstream, c.no, c.device_key, c.vendor, c.kind, c.call, c.method, c.path,
                        c.query, c.content_type, c.via, c.body, c.outlives IS NOT NULL, v_now);
            END IF;
        END LOOP;
    END IF;
    RETURN QUERY SELECT r.outcome, CASE WHEN r.outcome IS NOT NULL THEN r.place END
        FROM unnest(v_outcomes) WITH ORDINALITY AS r(outcome, place) ORDER BY r.place;
END $$;

REVOKE ALL ON FUNCTION gateway.forward_calls FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.forward_calls TO gateway_call, gateway_engine;
