-- Records a call to an upstream before its first byte leaves. outcome: begun (the only row), fenced (another node holds the slice), taken (the user of this
-- target has the message by an answered call or by the push service), busy (a call without an end has the user of this target), withheld (the user of this
-- target has devices that may get the message otherwise). Nothing is recorded with the last four, and no row means busy with a call that has been removed
-- meanwhile. A repeated call answers begun.
--
-- p_users and p_platforms are parallel to p_targets where the upstream addresses users, and empty otherwise. p_exclusive: the targets whose users must have no
-- other device that may get the message, because the push service was the path before. p_replaced: ends of earlier tries of the same call, of which no byte
-- has left.
CREATE OR REPLACE FUNCTION gateway.begin_upstream_call(
    p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_call integer, p_upstream text, p_targets uuid[],
    p_users text[], p_platforms text[], p_exclusive uuid[], p_replaced json)
RETURNS TABLE (outcome text, target uuid)
LANGUAGE plpgsql AS $$
DECLARE
    s record;
    m record;
    v_vendor text;
    v_keys bytea[];
    v_count bigint;
BEGIN
    SELECT x.epoch, x.owner, x.state, x.route_version INTO s FROM gateway.slice x
        WHERE x.tenant_id = p_tenant AND x.message_id = p_message AND x.no = p_no FOR UPDATE;
    IF s.epoch IS DISTINCT FROM p_epoch OR s.owner IS DISTINCT FROM p_owner OR s.state IS DISTINCT FROM 'leased' THEN
        RETURN QUERY SELECT 'fenced', NULL::uuid;
        RETURN;
    END IF;
    IF EXISTS (
        SELECT FROM gateway.upstream_call c
        WHERE c.tenant_id = p_tenant AND c.message_id = p_message AND c.slice_no = p_no AND c.epoch = p_epoch AND c.no = p_call) THEN
        RETURN QUERY SELECT 'begun', NULL::uuid;
        RETURN;
    END IF;
    IF p_replaced IS NOT NULL THEN PERFORM gateway.end_upstream_calls(p_tenant, p_message, p_replaced); END IF;

    IF cardinality(p_users) > 0 THEN
        SELECT x.app_id, x.due_day INTO m FROM gateway.message x WHERE x.tenant_id = p_tenant AND x.message_id = p_message;
        SELECT r.upstreams->p_upstream->>'vendor' INTO v_vendor FROM gateway.route_set r
            WHERE r.tenant_id = p_tenant AND r.app_id = m.app_id AND r.version = s.route_version;
        -- A slice with other rules may have sent the message to a device of the user, which the upstream would push to again: one of its dialect, and of its
        -- platform where the upstream's send is limited to one.
        RETURN QUERY
            SELECT CASE WHEN u.target = ANY (p_exclusive) THEN 'withheld' ELSE 'taken' END, u.target
            FROM unnest(p_targets, p_users, p_platforms) AS u(target, user_id, platform)
            WHERE EXISTS (
                SELECT FROM gateway.delivery d
                LEFT JOIN gateway.identity i ON i.tenant_id = p_tenant AND i.identity_id = d.identity_id
                LEFT JOIN gateway.device v ON v.tenant_id = p_tenant AND v.device_id = d.device_id
                WHERE d.tenant_id = p_tenant AND d.due_day = m.due_day AND d.app_id = m.app_id AND d.user_id = u.user_id
                    AND d.message_id = p_message AND d.state IN ('sent', 'received', 'read')
                    AND (d.transport IS NULL OR d.transport NOT LIKE 'upstream:%')
                    AND (v_vendor IS NULL OR i.vendor IS NULL OR i.vendor = v_vendor)
                    AND (u.platform = '' OR v.platform IS NULL OR v.platform = u.platform))
            OR u.target = ANY (p_exclusive) AND EXISTS (
                SELECT FROM gateway.identity i JOIN gateway.device d ON d.tenant_id = p_tenant AND d.device_id = i.device_id
                WHERE i.tenant_id = p_tenant AND i.app_id = m.app_id AND i.user_id = u.user_id AND i.state = 'active'
                    AND d.token_state = 'active');
        IF FOUND THEN RETURN; END IF;
    END IF;

    SELECT coalesce(array_agg(DISTINCT sha256(convert_to(p_message::text || '/' || u.platform || '/' || u.user_id, 'UTF8'))), '{}') INTO v_keys
        FROM unnest(p_users, p_platforms) AS u(user_id, platform);
    BEGIN
        -- In the order of the keys: calls of two slices wait for each other in one direction.
        WITH r AS (
            INSERT INTO gateway.upstream_user (tenant_id, message_id, upstream, user_key, slice_no, epoch, no)
                SELECT p_tenant, p_message, p_upstream, k.user_key, p_no, p_epoch, p_call FROM unnest(v_keys) AS k(user_key) ORDER BY k.user_key
                RETURNING 1)
        SELECT count(*) INTO v_count FROM r;
    EXCEPTION WHEN unique_violation THEN
        RETURN QUERY
            SELECT CASE c.state WHEN 'answered' THEN 'taken' ELSE 'busy' END, u.target
            FROM unnest(p_targets, p_users, p_platforms) AS u(target, user_id, platform)
            JOIN gateway.upstream_user x ON x.tenant_id = p_tenant AND x.message_id = p_message AND x.upstream = p_upstream
                AND x.user_key = sha256(convert_to(p_message::text || '/' || u.platform || '/' || u.user_id, 'UTF8'))
            LEFT JOIN gateway.upstream_call c ON c.tenant_id = p_tenant AND c.message_id = p_message AND c.slice_no = x.slice_no
                AND c.epoch = x.epoch AND c.no = x.no;
        RETURN;
    END;
    INSERT INTO gateway.upstream_call (tenant_id, message_id, slice_no, epoch, no, upstream, targets, users, state)
        VALUES (p_tenant, p_message, p_no, p_epoch, p_call, p_upstream, p_targets, v_keys, 'calling');
    RETURN QUERY SELECT 'begun', NULL::uuid;
END $$;

REVOKE ALL ON FUNCTION gateway.begin_upstream_call FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.begin_upstream_call TO gateway_engine;
