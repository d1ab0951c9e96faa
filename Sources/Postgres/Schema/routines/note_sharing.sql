-- Sets the app's `shares_devices` if p_device has an active identity other than p_identity.
CREATE OR REPLACE FUNCTION gateway.note_sharing(p_tenant text, p_app text, p_identity uuid, p_device uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM gateway.identity o
        WHERE o.tenant_id = p_tenant AND o.device_id = p_device AND o.state = 'active' AND o.identity_id <> p_identity)
    THEN
        UPDATE gateway.app SET shares_devices = true WHERE tenant_id = p_tenant AND app_id = p_app AND NOT shares_devices;
    END IF;
END $$;

REVOKE ALL ON FUNCTION gateway.note_sharing FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.note_sharing TO gateway_call, gateway_engine;
