-- Leases up to p_limit due queues of an upstream to a node, those with receipts first, and returns the first call of each. A queue without calls is
-- deleted, as after an erasure; one whose first call waits for another queue is looked at again after a second: an earlier call about its device waits there,
-- because the device has changed its user since.
--
-- The calls are looked up under the locks of their queues. `unnest((SELECT …))` hides the size of a set from the planner, which then keeps its plans.
CREATE OR REPLACE FUNCTION gateway.claim_forwards(p_tenant text, p_upstream text, p_node text, p_lease interval, p_limit bigint)
RETURNS TABLE (
    ordering_key bytea, app_id text, epoch bigint, attempts integer, no bigint, vendor text, kind text, call text, method text, path text,
    query text, content_type text, via text, body bytea)
LANGUAGE plpgsql SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    v_urgent boolean;
    v_left bigint := p_limit;
    -- The locked queues in the order in which they became due, with their next epochs, and what becomes of each.
    v_keys bytea[];
    v_apps text[];
    v_epochs bigint[];
    v_attempts integer[];
    v_states text[];
    v_state text;
BEGIN
    FOREACH v_urgent IN ARRAY ARRAY[true, false] LOOP
        EXIT WHEN v_left <= 0;
        SELECT array_agg(l.ordering_key), array_agg(l.app_id), array_agg(l.epoch + 1), array_agg(l.attempts)
            INTO v_keys, v_apps, v_epochs, v_attempts FROM (
                SELECT d.ordering_key, d.app_id, d.epoch, d.attempts FROM gateway.outbox_queue d
                WHERE d.tenant_id = p_tenant AND d.upstream = p_upstream AND d.is_urgent = v_urgent AND d.next_at <= now()
                ORDER BY d.next_at LIMIT v_left FOR UPDATE SKIP LOCKED) AS l;
        CONTINUE WHEN v_keys IS NULL;

        v_states := '{}';
        FOR ordering_key, app_id, epoch, attempts, no, vendor, kind, call, method, path, query, content_type, via, body, v_state IN
            SELECT u.ordering_key, u.app_id, u.epoch, u.attempts, f.no, f.vendor, f.kind, f.call, f.method, f.path, f.query, f.content_type,
                f.via, f.body, CASE WHEN f.no IS NULL THEN 'empty' WHEN f.is_blocked THEN 'blocked' ELSE 'leased' END
            FROM unnest((SELECT v_keys), (SELECT v_apps), (SELECT v_epochs), (SELECT v_attempts)) WITH ORDINALITY
                AS u(ordering_key, app_id, epoch, attempts, place)
            LEFT JOIN LATERAL (
                SELECT o.no, o.vendor, o.kind, o.call, o.method, o.path, o.query, o.content_type, o.via, o.body, EXISTS (
                        SELECT FROM gateway.outbox e
                        WHERE e.tenant_id = p_tenant AND e.device_key = o.device_key AND e.called_at < o.called_at AND e.app_id = u.app_id
                            AND e.upstream = p_upstream AND e.vendor = o.vendor AND e.ordering_key <> u.ordering_key) AS is_blocked
                FROM gateway.outbox o
                WHERE o.tenant_id = p_tenant AND o.ordering_key = u.ordering_key AND o.app_id = u.app_id AND o.upstream = p_upstream
                ORDER BY o.no LIMIT 1) AS f ON true
            ORDER BY u.place
        LOOP
            v_states := v_states || v_state;
            IF v_state = 'leased' THEN
                v_left := v_left - 1;
                RETURN NEXT;
            END IF;
        END LOOP;

        IF 'empty' = ANY (v_states) THEN
            DELETE FROM gateway.outbox_queue q
                USING unnest((SELECT v_keys), (SELECT v_apps), (SELECT v_states)) AS u(ordering_key, app_id, state)
                WHERE u.state = 'empty' AND q.tenant_id = p_tenant AND q.ordering_key = u.ordering_key AND q.app_id = u.app_id
                    AND q.upstream = p_upstream;
        END IF;
        IF 'blocked' = ANY (v_states) THEN
            UPDATE gateway.outbox_queue AS q SET next_at = now() + interval '1 second', owner = NULL
                FROM unnest((SELECT v_keys), (SELECT v_apps), (SELECT v_states)) AS u(ordering_key, app_id, state)
                WHERE u.state = 'blocked' AND q.tenant_id = p_tenant AND q.ordering_key = u.ordering_key AND q.app_id = u.app_id
                    AND q.upstream = p_upstream;
        END IF;
        IF 'leased' = ANY (v_states) THEN
            UPDATE gateway.outbox_queue AS q SET owner = p_node, epoch = q.epoch + 1, next_at = now() + p_lease
                FROM unnest((SELECT v_keys), (SELECT v_apps), (SELECT v_states)) AS u(ordering_key, app_id, state)
                WHERE u.state = 'leased' AND q.tenant_id = p_tenant AND q.ordering_key = u.ordering_key AND q.app_id = u.app_id
                    AND q.upstream = p_upstream;
        END IF;
    END LOOP;
END $$;

REVOKE ALL ON FUNCTION gateway.claim_forwards FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.claim_forwards TO gateway_engine;
