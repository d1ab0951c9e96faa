-- Lets the numbers under a name continue above p_to if the last one is below p_least. An upstream draws numbers of the same kind, and neither side may give out a
-- number of the other. Returns whether the last number has changed. Locks the row only if it changes.
CREATE OR REPLACE FUNCTION gateway.raise_number(p_tenant text, p_app text, p_vendor text, p_name text, p_least bigint, p_to bigint)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM gateway.vendor_sequence s
        WHERE s.tenant_id = p_tenant AND s.app_id = p_app AND s.vendor = p_vendor AND s.name = p_name AND s.last >= p_least;
    IF FOUND THEN RETURN false; END IF;
    INSERT INTO gateway.vendor_sequence AS s (tenant_id, app_id, vendor, name, last) VALUES (p_tenant, p_app, p_vendor, p_name, p_to)
        ON CONFLICT (tenant_id, app_id, vendor, name) DO UPDATE SET last = excluded.last WHERE s.last < p_least;
    RETURN FOUND;
END $$;

REVOKE ALL ON FUNCTION gateway.raise_number FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.raise_number TO gateway_call, gateway_engine;
