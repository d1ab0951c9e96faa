-- Removes the waiting calls about persons and devices, given as parallel arrays of names (users, or keys of devices) with their app and dialect; null means
-- every app or every dialect. The queues stay, and the next claim deletes those without calls.
CREATE OR REPLACE FUNCTION gateway.forget_forwarded(p_tenant text, p_apps text[], p_vendors text[], p_names text[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    n record;
BEGIN
    FOR n IN
        SELECT DISTINCT sha256(convert_to(u.name, 'UTF8')) AS digest, u.app_id, u.vendor
        FROM unnest(p_apps, p_vendors, p_names) AS u(app_id, vendor, name) WHERE u.name IS NOT NULL ORDER BY 1, 2, 3
    LOOP
        DELETE FROM gateway.outbox o
            WHERE o.tenant_id = p_tenant AND o.ordering_key = n.digest AND (n.app_id IS NULL OR o.app_id = n.app_id)
                AND (n.vendor IS NULL OR o.vendor = n.vendor);
        DELETE FROM gateway.outbox o
            WHERE o.tenant_id = p_tenant AND o.device_key = n.digest AND (n.app_id IS NULL OR o.app_id = n.app_id)
                AND (n.vendor IS NULL OR o.vendor = n.vendor);
    END LOOP;
END $$;

REVOKE ALL ON FUNCTION gateway.forget_forwarded FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.forget_forwarded TO gateway_call, gateway_engine;
