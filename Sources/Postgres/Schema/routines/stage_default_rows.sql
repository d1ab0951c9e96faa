-- Copies rows of whole weeks from the default partition into tables that are not attached yet, for weeks with more rows than one transaction may move. One call
-- reads p_pages pages from p_page on and returns the next page (null: the last was read), the number of rows copied, and the horizon of the next pass.
--
-- The first pass has p_horizon 0 and copies all rows. Each further pass copies those that were written since the pass before, whose first call returned p_horizon.
-- `attach_staged_weeks` ends with the last pass. Until then readers and writers use the default partition. Raises 55P03 if a long
-- transaction would prevent that end. Does nothing on Citus, where a page has no meaning.
CREATE OR REPLACE FUNCTION gateway.stage_default_rows(p_weeks integer[], p_horizon bigint, p_page integer, p_pages integer)
RETURNS TABLE (next_page integer, copied bigint, horizon bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '100ms' AS $$
DECLARE
    v_size bigint;
    v_count bigint;
    v_week integer;
BEGIN
    horizon := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
    copied := 0;
    IF EXISTS (SELECT 1 FROM pg_extension x WHERE x.extname = 'citus') THEN
        RETURN NEXT;
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('gateway.delivery partitions', 0));
    -- The copies would be made in vain.
    IF p_horizon = 0 AND p_page = 0 AND gateway.is_in_long_use(ARRAY['delivery', 'delivery_default']) THEN
        RAISE EXCEPTION 'a transaction uses the deliveries' USING ERRCODE = 'lock_not_available';
    END IF;
    v_size := pg_relation_size('gateway.delivery_default') / current_setting('block_size')::bigint;
    FOREACH v_week IN ARRAY p_weeks LOOP
        IF p_horizon = 0 AND p_page = 0 THEN
            EXECUTE format('DROP TABLE IF EXISTS gateway.%I', 'delivery_s' || v_week);
            -- Attaching reads no row of the table, because the constraint implies the bounds.
            EXECUTE format(
                'CREATE TABLE gateway.%I (LIKE gateway.delivery INCLUDING ALL, CONSTRAINT staged CHECK (due_day >= %s AND due_day < %s)) '
                    'WITH (fillfactor = 75)',
                'delivery_s' || v_week, v_week * 7, v_week * 7 + 7);
        END IF;
        -- A row that a pass finds twice, because it changed meanwhile, is copied again by the next one.
        IF p_horizon > 0 THEN
            EXECUTE format(
                'DELETE FROM gateway.%I s USING gateway.delivery_default d WHERE d.ctid >= $1 AND d.ctid < $2 AND age(d.xmin) <= age($3) '
                    'AND s.tenant_id = d.tenant_id AND s.due_day = d.due_day AND s.message_id = d.message_id AND s.target_id = d.target_id',
                'delivery_s' || v_week)
                USING format('(%s,0)', p_page)::tid, format('(%s,0)', p_page + p_pages)::tid, p_horizon::text::xid8::xid;
        END IF;
        EXECUTE format(
            'INSERT INTO gateway.%I SELECT d.* FROM gateway.delivery_default d WHERE d.ctid >= $1 AND d.ctid < $2 '
                'AND d.due_day >= %s AND d.due_day < %s AND ($3 IS NULL OR age(d.xmin) <= age($3)) ON CONFLICT DO NOTHING',
            'delivery_s' || v_week, v_week * 7, v_week * 7 + 7)
            USING format('(%s,0)', p_page)::tid, format('(%s,0)', p_page + p_pages)::tid,
                CASE WHEN p_horizon > 0 THEN p_horizon::text::xid8::xid END;
        GET DIAGNOSTICS v_count = ROW_COUNT;
        copied := copied + v_count;
    END LOOP;
    IF p_page + p_pages < v_size THEN next_page := p_page + p_pages; END IF;
    RETURN NEXT;
END $$;

REVOKE ALL ON FUNCTION gateway.stage_default_rows FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.stage_default_rows TO gateway_engine;
