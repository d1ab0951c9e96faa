-- The number of a client's facts in `client_version`, which is derived from them; 0 if the app has had 500 new ones today. Null: no facts.
--
-- A registration that finds its facts known writes nothing. A new row never waits: if another transaction is inserting it, that one does.
CREATE OR REPLACE FUNCTION gateway.client_number(p_tenant text, p_app text, p_client jsonb) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    -- 60 bits, positive.
    v_number bigint := ('x' || left(md5(p_client::text), 15))::bit(60)::bigint;
    v_day integer := (now() AT TIME ZONE 'UTC')::date - DATE '1970-01-01';
BEGIN
    IF v_number IS NULL THEN RETURN NULL; END IF;
    PERFORM FROM gateway.client_version c WHERE c.tenant_id = p_tenant AND c.app_id = p_app AND c.client = v_number;
    IF FOUND THEN RETURN v_number; END IF;
    -- Bounded, because an app decides what it reports: a wrong one, or an attacker, could report other facts each time.
    IF (SELECT count(*) FROM (
            SELECT 1 FROM gateway.client_version c
            WHERE c.tenant_id = p_tenant AND c.app_id = p_app AND c.day = v_day LIMIT 500) AS x) = 500 THEN
        RETURN 0;
    END IF;
    IF pg_try_advisory_xact_lock(hashtextextended(concat_ws(chr(31), 'client', p_tenant, p_app, v_number), 0)) THEN
        INSERT INTO gateway.client_version (tenant_id, app_id, client, day, app_version, os, os_version, sdk_version, model, locale)
            VALUES (p_tenant, p_app, v_number, v_day, p_client->>'appVersion', p_client->>'os', p_client->>'osVersion',
                p_client->>'sdkVersion', p_client->>'model', p_client->>'locale')
            ON CONFLICT DO NOTHING;
    END IF;
    RETURN v_number;
END $$;

REVOKE ALL ON FUNCTION gateway.client_number FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.client_number TO gateway_call, gateway_engine;
