-- Writes the ends of calls to upstreams: [{"slice": 0, "epoch": 3, "no": 1, "reference": "m-1", "void": false}]. A void call has reached nobody and is
-- removed, so that another one may have its users. A repeated end changes nothing. Returns the number of ends.
CREATE OR REPLACE FUNCTION gateway.end_upstream_calls(p_tenant text, p_message uuid, p_calls json)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    c record;
    d record;
    v_count bigint := 0;
BEGIN
    FOR c IN
        SELECT (x->>'slice')::integer AS slice_no, (x->>'epoch')::bigint AS epoch, (x->>'no')::integer AS no, x->>'reference' AS reference,
            (x->>'void')::boolean AS is_void
        FROM json_array_elements(p_calls) AS x ORDER BY 1, 2, 3
    LOOP
        v_count := v_count + 1;
        IF c.is_void THEN
            DELETE FROM gateway.upstream_call u
                WHERE u.tenant_id = p_tenant AND u.message_id = p_message AND u.slice_no = c.slice_no AND u.epoch = c.epoch AND u.no = c.no
                RETURNING u.upstream, u.users INTO d;
            IF FOUND AND cardinality(d.users) > 0 THEN
                DELETE FROM gateway.upstream_user u
                    WHERE u.tenant_id = p_tenant AND u.message_id = p_message AND u.upstream = d.upstream AND u.user_key = ANY (d.users);
            END IF;
        ELSE
            UPDATE gateway.upstream_call u SET state = 'answered', reference = c.reference
                WHERE u.tenant_id = p_tenant AND u.message_id = p_message AND u.slice_no = c.slice_no AND u.epoch = c.epoch AND u.no = c.no
                    AND u.state = 'calling';
        END IF;
    END LOOP;
    RETURN v_count;
END $$;

REVOKE ALL ON FUNCTION gateway.end_upstream_calls FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.end_upstream_calls TO gateway_engine;
