-- The expansion of any message, page by page (`expand_paced`). A message to variants gets one target per variant. Its pages and slices begin small, because
-- each slice is rewritten and an identity may have twenty variants. p_prefer: the dialects that are preferred on devices with several (`expand_slice`).
CREATE OR REPLACE FUNCTION gateway.expand_variants(
    p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_page integer, p_slice_size integer,
    p_prefer text[] DEFAULT NULL)
RETURNS TABLE (outcome text, targets bigint, after uuid) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    m record;
    v_last integer;
    e record;
    s record;
    v_targets uuid[];
    v_more integer := 0;
BEGIN
    -- The lock comes before the slices are numbered: `split_slice` adds slices too, and they must not be taken for new ones.
    SELECT (x.content->'variants')::jsonb AS choice, x.app_id, x.vendor, x.due_at, x.is_counted INTO m FROM gateway.message x
        WHERE x.tenant_id = p_tenant AND x.message_id = p_message FOR NO KEY UPDATE;
    IF m.choice IS NULL THEN
        RETURN QUERY SELECT x.outcome, x.targets, x.after
            FROM gateway.expand_paced(p_tenant, p_message, p_no, p_epoch, p_owner, p_page, p_slice_size, p_prefer) x;
        RETURN;
    END IF;
    SELECT max(x.no) INTO v_last FROM gateway.slice x WHERE x.tenant_id = p_tenant AND x.message_id = p_message;
    SELECT x.outcome, x.targets, x.after INTO e
        FROM gateway.expand_paced(p_tenant, p_message, p_no, p_epoch, p_owner, least(p_page, 500), greatest(1, p_slice_size / 20), p_prefer) x;
    FOR s IN
        SELECT x.no, x.targets FROM gateway.slice x
        WHERE x.tenant_id = p_tenant AND x.message_id = p_message AND x.no > v_last ORDER BY x.no
    LOOP
        v_targets := gateway.fan_out(p_tenant, s.targets, m.choice);
        v_more := v_more + cardinality(v_targets) - cardinality(s.targets);
        UPDATE gateway.slice SET targets = v_targets, state = CASE WHEN cardinality(v_targets) = 0 THEN 'done' ELSE 'ready' END
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = s.no;
    END LOOP;
    IF v_more <> 0 THEN
        UPDATE gateway.message SET expanded = expanded + v_more WHERE tenant_id = p_tenant AND message_id = p_message;
        PERFORM gateway.append_counts(
            p_tenant, m.app_id, m.vendor, m.due_at, CASE WHEN m.is_counted THEN p_message END, p_targets => v_more);
    END IF;
    RETURN QUERY SELECT e.outcome, e.targets, e.after;
END $$;

REVOKE ALL ON FUNCTION gateway.expand_variants FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.expand_variants TO gateway_engine;
