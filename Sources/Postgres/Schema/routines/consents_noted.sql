-- What is known about a user's consents after a call: when they were made, by subject. p_said: the subjects that the call decides, as a JSON array; null: the
-- call does not tell. A withdrawal that the call does not name is as new as the call, and a consent that it does not name has no time, because an imported
-- withdrawal may be newer than it (`import_consents`).
CREATE OR REPLACE FUNCTION gateway.consents_noted(p_old json, p_facts json, p_new json, p_said json, p_at timestamptz)
RETURNS json LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_facts jsonb := coalesce(p_facts, '{}')::jsonb;
    v_said text[] := ARRAY(SELECT s.subject FROM json_array_elements_text(coalesce(p_said, '[]')) AS s(subject));
    v_now jsonb := jsonb_build_object('at', to_char(p_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));
    r record;
BEGIN
    FOR r IN
        SELECT n.key AS subject, n.value AS state, o.value AS old FROM json_each_text(p_new) AS n
        LEFT JOIN json_each_text(p_old) AS o ON o.key = n.key
    LOOP
        IF r.subject = ANY (v_said) OR r.old IS DISTINCT FROM r.state AND r.state = 'unsubscribed' THEN
            v_facts := v_facts || jsonb_build_object(r.subject, v_now);
        ELSIF r.old IS DISTINCT FROM r.state THEN
            v_facts := v_facts - r.subject;
        END IF;
    END LOOP;
    RETURN v_facts::json;
END $$;

REVOKE ALL ON FUNCTION gateway.consents_noted FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.consents_noted TO gateway_call, gateway_engine;
