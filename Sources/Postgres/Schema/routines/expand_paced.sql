-- `expand_slice` for messages with or without throttling. With throttling, new slices are short enough and become due one after the other.
--
-- A pause moves the pace, and a late expansion delays a slice; both leave `slice.due_at` as it would have been without them.
CREATE OR REPLACE FUNCTION gateway.expand_paced(
    p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_page integer, p_slice_size integer,
    p_prefer text[] DEFAULT NULL)
RETURNS TABLE (outcome text, targets bigint, after uuid) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    m record;
    v_last integer;
    e record;
    n record;
BEGIN
    SELECT x.pace_count, x.pace_seconds, x.expanded, x.due_at, coalesce(x.pace_from, x.due_at) AS pace_from, x.expires_at INTO m
        FROM gateway.message x WHERE x.tenant_id = p_tenant AND x.message_id = p_message;
    IF m.pace_count IS NULL THEN
        RETURN QUERY SELECT x.outcome, x.targets, x.after
            FROM gateway.expand_slice(p_tenant, p_message, p_no, p_epoch, p_owner, p_page, p_slice_size, p_prefer) x;
        RETURN;
    END IF;
    SELECT max(s.no) INTO v_last FROM gateway.slice s WHERE s.tenant_id = p_tenant AND s.message_id = p_message;
    SELECT * INTO e FROM gateway.expand_slice(
        p_tenant, p_message, p_no, p_epoch, p_owner, p_page, least(p_slice_size, m.pace_count), p_prefer) x;
    -- The times are computed beforehand: Citus refuses a time that an UPDATE computes from a column and an interval.
    SELECT array_agg(y.no) AS numbers, array_agg(least(m.expires_at, greatest(y.next_at, m.pace_from + y.wait))) AS nexts,
            array_agg(least(m.expires_at, greatest(y.due_at, m.due_at + y.wait))) AS dues
        INTO n FROM (
            SELECT x.no, x.next_at, x.due_at, m.pace_seconds * div(m.expanded
                + sum(cardinality(x.targets)) OVER (ORDER BY x.no) - cardinality(x.targets), m.pace_count)::bigint * interval '1 second' AS wait
            FROM gateway.slice x
            WHERE x.tenant_id = p_tenant AND x.message_id = p_message AND x.no > v_last) AS y;
    UPDATE gateway.slice s SET next_at = u.next_at, due_at = u.due_at FROM unnest(n.numbers, n.nexts, n.dues) AS u(no, next_at, due_at)
        WHERE s.tenant_id = p_tenant AND s.message_id = p_message AND s.no > v_last AND s.no = u.no AND s.state = 'ready';
    RETURN QUERY SELECT e.outcome, e.targets, e.after;
END $$;

REVOKE ALL ON FUNCTION gateway.expand_paced FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.expand_paced TO gateway_engine;
