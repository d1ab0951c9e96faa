-- Adds p_delta per entry of p_keys to the maintained number of active identities, unless a quota of the app is used up (`admit_identities`). p_registers: added ones count
-- as registrations of this UTC day. All count in one bucket, that of the first entry (a key, or the id of
-- the identity that a registration writes): only the sum of the buckets is the number.
CREATE OR REPLACE FUNCTION gateway.count_identities(
    p_tenant text, p_app text, p_vendor text, p_keys text[], p_delta integer, p_registers boolean DEFAULT true)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_today date := (now() AT TIME ZONE 'UTC')::date;
    v_count integer := cardinality(p_keys);
    v_bucket smallint := (hashtext(p_keys[1]) & 15)::smallint;
BEGIN
    IF coalesce(v_count, 0) = 0 THEN RETURN; END IF;
    IF p_delta > 0 THEN PERFORM gateway.admit_identities(p_tenant, p_app, v_count, p_registers); END IF;
    INSERT INTO gateway.identity_count AS c (tenant_id, app_id, vendor, bucket, active, day, registered)
        VALUES (p_tenant, p_app, p_vendor, v_bucket, p_delta * v_count, v_today, CASE WHEN p_registers AND p_delta > 0 THEN v_count ELSE 0 END)
        ON CONFLICT (tenant_id, app_id, vendor, bucket) DO UPDATE SET active = c.active + excluded.active,
            -- A transaction that began before midnight does not reset the new day.
            day = greatest(c.day, excluded.day),
            registered = CASE WHEN c.day > excluded.day THEN c.registered WHEN c.day = excluded.day THEN c.registered + excluded.registered
                ELSE excluded.registered END;
END $$;

REVOKE ALL ON FUNCTION gateway.count_identities FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.count_identities TO gateway_call, gateway_engine;
