-- Removes a tenant's oldest events from before p_before_day, without gaps, at most p_limit batches. Stops at an event from p_pending_day on that a webhook has
-- not received, or the event reader has not counted. count: at least p_limit if more may be left.
CREATE OR REPLACE FUNCTION gateway.drop_events(p_tenant text, p_before_day integer, p_pending_day integer, p_limit integer)
RETURNS TABLE (count bigint, events bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_cursor bigint;
    v_end bigint;
    v_singles bigint;
    v_day integer;
    v record;
BEGIN
    SELECT min(w.cursor) INTO v_cursor FROM gateway.webhook w WHERE w.tenant_id = p_tenant;
    SELECT least(v_cursor, min(r.cursor)) INTO v_cursor FROM gateway.event_reader r WHERE r.tenant_id = p_tenant;
    v_cursor := coalesce(v_cursor, 9223372036854775807);

    SELECT coalesce(min(o.position) FILTER (WHERE o.at >= o.kept OR o.at >= o.pending AND o.position > v_cursor), max(o.position) + 1)
        INTO v_end
        FROM (
            SELECT s.position, s.at, to_timestamp(p_before_day * 86400::float8) AS kept, to_timestamp(p_pending_day * 86400::float8) AS pending
            FROM gateway.event_single s WHERE s.tenant_id = p_tenant ORDER BY s.position LIMIT 10 * p_limit) o;
    DELETE FROM gateway.event_single WHERE tenant_id = p_tenant AND position < v_end;
    GET DIAGNOSTICS v_singles = ROW_COUNT;
    IF v_singles > 0 THEN
        RETURN QUERY SELECT greatest(v_singles, p_limit), v_singles;
        RETURN;
    END IF;

    SELECT b.day INTO v_day FROM gateway.event_batch b WHERE b.tenant_id = p_tenant ORDER BY b.last LIMIT 1;
    IF v_day IS NULL OR v_day >= p_before_day THEN
        RETURN QUERY SELECT 0::bigint, 0::bigint;
        RETURN;
    END IF;
    SELECT coalesce(min(o.last) FILTER (WHERE o.day >= p_before_day OR o.day >= p_pending_day AND o.last > v_cursor), max(o.last) + 1)
        INTO v_end
        FROM (
            SELECT b.last, b.day FROM gateway.event_batch b WHERE b.tenant_id = p_tenant ORDER BY b.last LIMIT p_limit) o;
    WITH r AS (
        DELETE FROM gateway.event_batch b WHERE b.tenant_id = p_tenant AND b.last < v_end AND b.day < p_before_day RETURNING b.count)
    SELECT count(*) AS batches, coalesce(sum(r.count), 0) AS events INTO v FROM r;
    RETURN QUERY SELECT v.batches, v.events::bigint;
END $$;

REVOKE ALL ON FUNCTION gateway.drop_events FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.drop_events TO gateway_engine;
