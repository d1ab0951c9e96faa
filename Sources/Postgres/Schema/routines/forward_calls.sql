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
    v_outcomes text[] := '{}';
    v_places bigint[] := '{}';
    v_outcome text;
    v_is_full boolean;
    v_full text[] := '{}';
    v_left_out bigint[] := coalesce(nullif(current_setting('gateway.left_out', true), ''), '{}')::bigint[];
    v_same boolean;
    v_last bigint;
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
    FOR c IN
        SELECT u.*, sha256(convert_to(coalesce(u.user_name, u.stored, u.key, u.other, ''), 'UTF8')) AS ordering_key,
            sha256(convert_to(u.key, 'UTF8')) AS device_key
        FROM (
            SELECT a.*, CASE WHEN a.user_name IS NULL THEN (
                    SELECT i.user_id FROM gateway.identity i
                    WHERE i.tenant_id = p_tenant AND i.app_id = a.app_id AND i.vendor = a.vendor AND i.key = a.key) END AS stored
            FROM unnest(p_apps, p_vendors, p_upstreams, p_users, p_keys, p_others, p_kinds, p_calls, p_methods, p_paths, p_queries,
                    p_content_types, p_vias, p_bodies, p_outlives) WITH ORDINALITY
                AS a(app_id, vendor, upstream, user_name, key, other, kind, call, method, path, query, content_type, via, body, outlives,
                    place)) AS u
        ORDER BY ordering_key, u.app_id, u.upstream, u.place
    LOOP
        v_outcome := 'waiting';
        IF c.place = ANY (v_left_out) THEN
            v_outcome := NULL;
        ELSIF c.upstream = ANY (v_full) THEN
            v_outcome := 'full';
        ELSE
            v_now := clock_timestamp();
            INSERT INTO gateway.outbox_queue AS q (tenant_id, ordering_key, app_id, upstream, last, is_urgent, next_at, epoch)
                VALUES (p_tenant, c.ordering_key, c.app_id, c.upstream, 1, c.kind = 'receipt', v_now,
                    floor(extract(epoch FROM v_now) * 1000000)::bigint)
                ON CONFLICT (tenant_id, ordering_key, app_id, upstream) DO UPDATE
                    SET last = q.last + 1, is_urgent = q.is_urgent OR excluded.is_urgent
                RETURNING q.last INTO v_last;
            v_same := false;
            -- Before the first call of a queue, no other one waits in it.
            IF c.kind = 'device' AND v_last > 1 THEN
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
                v_outcome := 'merged';
            ELSE
                -- The time is taken behind the lock of the queue, so that it increases with the numbers.
                v_now := clock_timestamp();
                INSERT INTO gateway.outbox (tenant_id, ordering_key, app_id, upstream, no, device_key, vendor, kind, call, method, path, query,
                        content_type, via, body, outlives, called_at)
                    VALUES (p_tenant, c.ordering_key, c.app_id, c.upstream, v_last, c.device_key, c.vendor, c.kind, c.call, c.method, c.path,
                        c.query, c.content_type, c.via, c.body, c.outlives IS NOT NULL, v_now);
            END IF;
        END IF;
        v_outcomes := v_outcomes || v_outcome;
        v_places := v_places || c.place;
    END LOOP;
    RETURN QUERY SELECT r.outcome, CASE WHEN r.outcome IS NOT NULL THEN r.place END
        FROM unnest(v_outcomes, v_places) AS r(outcome, place) ORDER BY r.place;
END $$;

REVOKE ALL ON FUNCTION gateway.forward_calls FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.forward_calls TO gateway_call, gateway_engine;
