-- The rules by which a leased slice is routed. The first lease gives it the version that is in force then: so no target changes its path between two tries,
-- and slices that have not been read follow a new version. A slice that had a lease before the app's first rules follows none: its targets may have been tried
-- without them. outcome: none (the app has no rules), rules, or fenced (another node holds the slice).
CREATE OR REPLACE FUNCTION gateway.route_slice(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text)
RETURNS TABLE (outcome text, version integer, format integer, base_rules text, overlay_rules text, upstreams text)
LANGUAGE plpgsql AS $$
DECLARE
    s record;
    m record;
    v_version integer;
BEGIN
    SELECT x.epoch, x.owner, x.state, x.route_version INTO s FROM gateway.slice x
        WHERE x.tenant_id = p_tenant AND x.message_id = p_message AND x.no = p_no FOR UPDATE;
    IF s.epoch IS DISTINCT FROM p_epoch OR s.owner IS DISTINCT FROM p_owner OR s.state IS DISTINCT FROM 'leased' THEN
        RETURN QUERY SELECT 'fenced', NULL::integer, NULL::integer, NULL, NULL, NULL;
        RETURN;
    END IF;
    SELECT x.app_id, x.accepted_at INTO m FROM gateway.message x WHERE x.tenant_id = p_tenant AND x.message_id = p_message;
    v_version := s.route_version;
    -- Every lease but the first has a higher epoch than 1. Times of messages have milliseconds.
    IF v_version IS NULL AND (s.epoch <= 1 OR EXISTS (
            SELECT FROM gateway.route_set r
            WHERE r.tenant_id = p_tenant AND r.app_id = m.app_id AND date_trunc('milliseconds', r.made_at) <= m.accepted_at)) THEN
        SELECT a.route_version INTO v_version FROM gateway.app a WHERE a.tenant_id = p_tenant AND a.app_id = m.app_id;
        IF v_version IS NOT NULL THEN
            UPDATE gateway.slice x SET route_version = v_version
                WHERE x.tenant_id = p_tenant AND x.message_id = p_message AND x.no = p_no;
        END IF;
    END IF;
    RETURN QUERY SELECT 'rules', r.version, r.format, r.base::text, r.overlay::text, r.upstreams::text FROM gateway.route_set r
        WHERE r.tenant_id = p_tenant AND r.app_id = m.app_id AND r.version = v_version;
    IF NOT FOUND THEN RETURN QUERY SELECT 'none', NULL::integer, NULL::integer, NULL, NULL, NULL; END IF;
END $$;

REVOKE ALL ON FUNCTION gateway.route_slice FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.route_slice TO gateway_engine;
