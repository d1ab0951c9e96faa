-- Removes calls that an upstream has answered, renews the leases of their queues and returns their next calls. The calls are given as parallel arrays, at
-- most one of each queue. Returns one row per call, in order, with the state: next (with the call), ended (the queue is deleted, or was given back because its
-- next call waits for another queue), or lost (another node has the queue, and nothing has changed).
--
-- Locks the queues in the order of their keys, before their calls. The next calls are looked up under these locks, when all calls of the set are removed: a call
-- does not wait for one that was answered together with the one before it. `unnest((SELECT …))` hides the size of a set from the planner, which then keeps
-- its plans.
CREATE OR REPLACE FUNCTION gateway.settle_forwards(
    p_tenant text, p_upstream text, p_node text, p_lease interval, p_keys bytea[], p_apps text[], p_epochs bigint[], p_numbers bigint[])
RETURNS TABLE (
    state text, ordinal bigint, no bigint, vendor text, kind text, call text, method text, path text, query text, content_type text, via text,
    body bytea)
LANGUAGE plpgsql SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    -- The places of the calls whose queues the node still has, and the states of all.
    v_held bigint[];
    v_states text[] := '{}';
BEGIN
    SELECT coalesce(array_agg(l.place), '{}') INTO v_held FROM (
        SELECT u.place
        FROM unnest((SELECT p_keys), (SELECT p_apps), (SELECT p_epochs)) WITH ORDINALITY AS u(ordering_key, app_id, epoch, place)
        JOIN gateway.outbox_queue q
            ON q.tenant_id = p_tenant AND q.ordering_key = u.ordering_key AND q.app_id = u.app_id AND q.upstream = p_upstream
        WHERE q.owner = p_node AND q.epoch = u.epoch
        ORDER BY u.ordering_key, u.app_id FOR UPDATE OF q) AS l;

    DELETE FROM gateway.outbox o
        USING unnest((SELECT p_keys), (SELECT p_apps), (SELECT p_numbers)) WITH ORDINALITY AS u(ordering_key, app_id, no, place)
        WHERE u.place = ANY (v_held) AND o.tenant_id = p_tenant AND o.ordering_key = u.ordering_key AND o.app_id = u.app_id
            AND o.upstream = p_upstream AND o.no = u.no;

    FOR state, ordinal, no, vendor, kind, call, method, path, query, content_type, via, body IN
        SELECT CASE WHEN u.place <> ALL (v_held) THEN 'lost' WHEN f.no IS NULL THEN 'ended' WHEN f.is_blocked THEN 'blocked' ELSE 'next' END,
            u.place, f.no, f.vendor, f.kind, f.call, f.method, f.path, f.query, f.content_type, f.via, f.body
        FROM unnest((SELECT p_keys), (SELECT p_apps)) WITH ORDINALITY AS u(ordering_key, app_id, place)
        LEFT JOIN LATERAL (
            SELECT o.no, o.vendor, o.kind, o.call, o.method, o.path, o.query, o.content_type, o.via, o.body, EXISTS (
                    SELECT FROM gateway.outbox e
                    WHERE e.tenant_id = p_tenant AND e.device_key = o.device_key AND e.called_at < o.called_at AND e.app_id = u.app_id
                        AND e.upstream = p_upstream AND e.vendor = o.vendor AND e.ordering_key <> u.ordering_key) AS is_blocked
            FROM gateway.outbox o
            WHERE o.tenant_id = p_tenant AND o.ordering_key = u.ordering_key AND o.app_id = u.app_id AND o.upstream = p_upstream
            ORDER BY o.no LIMIT 1) AS f ON u.place = ANY (v_held)
        ORDER BY u.place
    LOOP
        v_states := v_states || state;
        IF state = 'blocked' THEN
            RETURN QUERY SELECT 'ended', ordinal, NULL::bigint, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL::bytea;
        ELSE
            RETURN NEXT;
        END IF;
    END LOOP;

    IF 'ended' = ANY (v_states) THEN
        DELETE FROM gateway.outbox_queue q
            USING unnest((SELECT p_keys), (SELECT p_apps), (SELECT v_states)) AS u(ordering_key, app_id, state)
            WHERE u.state = 'ended' AND q.tenant_id = p_tenant AND q.ordering_key = u.ordering_key AND q.app_id = u.app_id
                AND q.upstream = p_upstream;
    END IF;
    IF 'blocked' = ANY (v_states) THEN
        UPDATE gateway.outbox_queue AS q
            SET next_at = now() + interval '1 second', owner = NULL, attempts = 0, failing_since = NULL, failure = NULL
            FROM unnest((SELECT p_keys), (SELECT p_apps), (SELECT v_states)) AS u(ordering_key, app_id, state)
            WHERE u.state = 'blocked' AND q.tenant_id = p_tenant AND q.ordering_key = u.ordering_key AND q.app_id = u.app_id
                AND q.upstream = p_upstream;
    END IF;
    IF 'next' = ANY (v_states) THEN
        UPDATE gateway.outbox_queue AS q SET next_at = now() + p_lease, attempts = 0, failing_since = NULL, failure = NULL
            FROM unnest((SELECT p_keys), (SELECT p_apps), (SELECT v_states)) AS u(ordering_key, app_id, state)
            WHERE u.state = 'next' AND q.tenant_id = p_tenant AND q.ordering_key = u.ordering_key AND q.app_id = u.app_id
                AND q.upstream = p_upstream;
    END IF;
END $$;

REVOKE ALL ON FUNCTION gateway.settle_forwards FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.settle_forwards TO gateway_engine;
