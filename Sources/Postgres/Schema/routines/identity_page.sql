-- The next page of an audience of everyone, or of a tag expression. The native API sends to all vendors' identities, but only once to each device: to the
-- first of its identities that match. So does a vendor's send with p_crosses; tags are those of its own dialect.
--
-- Walks the tags in p_audience's anchors; every match has at least one of them. So the cost depends on the number of identities with a rare tag and not on
-- the size of the app. Without anchors (`!a`, or everyone) it walks all identities.
CREATE OR REPLACE FUNCTION gateway.identity_page(
    p_tenant text, p_app text, p_vendor text, p_audience json, p_page integer, INOUT io_after uuid, OUT o_ids uuid[], OUT o_ended boolean,
    p_crosses boolean DEFAULT false)
LANGUAGE plpgsql AS $$
DECLARE
    v_vendors text[] := ARRAY[p_vendor];
    v_anchors text[];
    v_tags text[];
    v_cares bigint[];
    v_wants bigint[];
    v_judges boolean := false;
    -- Candidates looked at, and their limit: the rows of the slice and the message are locked meanwhile.
    v_seen integer := 0;
    v_most integer := least(20 * p_page, 20000);
    v_end uuid;
    v_ids uuid[];
BEGIN
    IF p_vendor = 'native' OR p_crosses AND p_audience IS NULL THEN
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
        -- If each term is a single wanted tag, these tags are the anchors, and every identity with one of them matches.
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
        IF p_vendor = 'native' OR p_crosses THEN
            v_ids := gateway.first_of_devices(
                p_tenant, p_app, v_tags, v_cares, v_wants, v_ids, CASE WHEN p_audience IS NULL THEN 'native' ELSE p_vendor END);
        END IF;
        o_ids := o_ids || v_ids;
        EXIT WHEN o_ended OR cardinality(o_ids) * 2 >= p_page OR v_seen >= v_most;
    END LOOP;
END $$;

REVOKE ALL ON FUNCTION gateway.identity_page FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.identity_page TO gateway_engine;
