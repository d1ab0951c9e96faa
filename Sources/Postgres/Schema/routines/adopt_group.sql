-- Stores a group that an upstream has created, under the upstream's name. Returns whether it is new, or null if the app does not exist. A title replaces a stored
-- one; an empty one keeps it. Ends the transaction with GW429 if the group is new and the app has as many as its quota permits.
CREATE OR REPLACE FUNCTION gateway.adopt_group(p_tenant text, p_app text, p_vendor text, p_group text, p_title text)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_new boolean := gateway.put_group(p_tenant, p_app, p_vendor, p_group);
BEGIN
    IF v_new IS NULL THEN RETURN NULL; END IF;
    IF p_title <> '' THEN
        UPDATE gateway.user_group g SET title = p_title
            WHERE g.tenant_id = p_tenant AND g.app_id = p_app AND g.vendor = p_vendor AND g.group_name = p_group
                AND g.title IS DISTINCT FROM p_title;
    END IF;
    -- Groups that the gateway creates have numbers that the upstream does not reach soon.
    IF p_group ~ '^[0-9]{1,15}$' THEN
        PERFORM gateway.raise_number(p_tenant, p_app, p_vendor, 'group', p_group::bigint + 500000, p_group::bigint + 1000000);
    END IF;
    RETURN v_new;
END $$;

REVOKE ALL ON FUNCTION gateway.adopt_group FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.adopt_group TO gateway_call, gateway_engine;
