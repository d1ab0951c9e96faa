-- Deletes a campaign and returns 1, or 0 if it does not exist.
CREATE OR REPLACE FUNCTION gateway.remove_campaign(p_tenant text, p_app text, p_vendor text, p_id text, p_actor text)
RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM gateway.campaign WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND campaign_id = p_id;
    IF NOT FOUND THEN RETURN 0; END IF;
    IF p_actor IS NOT NULL THEN
        PERFORM gateway.write_audit(p_tenant, p_actor, ARRAY['remove'], ARRAY['campaign ' || p_id], ARRAY[NULL]::text[]);
    END IF;
    RETURN 1;
END $$;

REVOKE ALL ON FUNCTION gateway.remove_campaign FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.remove_campaign TO gateway_call, gateway_engine;
