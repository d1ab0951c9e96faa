-- Creates or replaces a campaign. Returns true if it is new, and null without a change if p_limit others exist already.
CREATE OR REPLACE FUNCTION gateway.put_campaign(
    p_tenant text, p_app text, p_vendor text, p_id text, p_name text, p_body text, p_limit bigint, p_actor text)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_is_new boolean := false;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'campaign', p_app || chr(31) || p_vendor);
    UPDATE gateway.campaign SET name = p_name, body = p_body::json, updated_at = now()
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND campaign_id = p_id;
    IF NOT FOUND THEN
        IF (SELECT count(*) FROM gateway.campaign c
            WHERE c.tenant_id = p_tenant AND c.app_id = p_app AND c.vendor = p_vendor) >= p_limit THEN
            RETURN NULL;
        END IF;
        INSERT INTO gateway.campaign (tenant_id, app_id, vendor, campaign_id, name, body, created_at, updated_at)
            VALUES (p_tenant, p_app, p_vendor, p_id, p_name, p_body::json, now(), now());
        v_is_new := true;
    END IF;
    IF p_actor IS NOT NULL THEN
        PERFORM gateway.write_audit(p_tenant, p_actor, ARRAY['put'], ARRAY['campaign ' || p_id], ARRAY[NULL]::text[]);
    END IF;
    RETURN v_is_new;
END $$;

REVOKE ALL ON FUNCTION gateway.put_campaign FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.put_campaign TO gateway_call, gateway_engine;
