-- The next number under a name. The row stays locked until the commit.
CREATE OR REPLACE FUNCTION gateway.next_number(p_tenant text, p_app text, p_vendor text, p_name text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_last bigint;
BEGIN
    INSERT INTO gateway.vendor_sequence AS s (tenant_id, app_id, vendor, name, last) VALUES (p_tenant, p_app, p_vendor, p_name, 1)
        ON CONFLICT (tenant_id, app_id, vendor, name) DO UPDATE SET last = s.last + 1
        RETURNING s.last INTO v_last;
    RETURN v_last;
END $$;

REVOKE ALL ON FUNCTION gateway.next_number FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.next_number TO gateway_call, gateway_engine;
