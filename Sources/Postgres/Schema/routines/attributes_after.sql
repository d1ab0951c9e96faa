-- The attributes of an identity after a registration: those that it names (null: the old ones). An identity that took its key from an app keeps its first key
-- as `$rolloutKey`, for exports: rollouts read `identity.first_key`. p_first: the key that it loses now; null: none.
CREATE OR REPLACE FUNCTION gateway.attributes_after(p_old json, p_new json, p_first text) RETURNS json LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    v_base json := coalesce(p_new, p_old, '{}');
    v_key text := coalesce(p_old->>'$rolloutKey', p_first);
    v_rest text;
BEGIN
    IF v_key IS NULL OR (v_base->>'$rolloutKey') IS NOT NULL THEN RETURN v_base; END IF;
    -- The text is kept, because `expect_identity` compares the spelling.
    v_rest := ltrim(substr(ltrim(v_base::text), 2));
    RETURN ('{"$rolloutKey":' || to_json(v_key)::text || CASE WHEN left(v_rest, 1) = '}' THEN '' ELSE ',' END || v_rest)::json;
END $$;

REVOKE ALL ON FUNCTION gateway.attributes_after FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.attributes_after TO gateway_call, gateway_engine;
