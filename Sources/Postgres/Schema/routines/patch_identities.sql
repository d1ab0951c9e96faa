-- Changes a device's active identities; null fields stay. Writes an event only for a changed preference. p_assurance: the level that the caller proves.
CREATE OR REPLACE FUNCTION gateway.patch_identities(
    p_tenant text, p_device uuid, p_accepts boolean, p_user text, p_name text, p_phone text,
    p_assurance smallint DEFAULT 0)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint;
    v_now timestamptz := now();
    v record;
BEGIN
    WITH old AS (
        SELECT identity_id, accepts_push FROM gateway.identity
        WHERE tenant_id = p_tenant AND device_id = p_device AND state = 'active' ORDER BY identity_id FOR UPDATE),
    r AS (
        UPDATE gateway.identity i SET accepts_push = coalesce(p_accepts, i.accepts_push), user_id = coalesce(p_user, i.user_id),
            name = coalesce(p_name, i.name), phone = coalesce(p_phone, i.phone),
            assurance = CASE WHEN p_user IS NULL AND p_phone IS NULL THEN i.assurance
                ELSE gateway.level_after(i.assurance, i.user_id, i.phone, p_user, coalesce(p_phone, i.phone), p_assurance) END,
            user_since = CASE WHEN p_user IS NOT NULL AND p_user IS DISTINCT FROM i.user_id THEN v_now ELSE i.user_since END
        FROM old WHERE i.tenant_id = p_tenant AND i.identity_id = old.identity_id
        RETURNING i.identity_id, i.app_id, i.vendor, i.accepts_push, i.accepts_push <> old.accepts_push AS is_news)
    SELECT count(*) AS total, array_agg(identity_id) FILTER (WHERE is_news) AS ids, array_agg(app_id) FILTER (WHERE is_news) AS apps,
            array_agg(vendor) FILTER (WHERE is_news) AS vendors
        INTO v FROM r;
    v_count := v.total;
    IF v.ids IS NOT NULL THEN
        PERFORM gateway.append_changes(
            p_tenant, array_fill('preference_changed'::text, ARRAY[cardinality(v.ids)]), v.apps, v.vendors, v.ids,
            array_fill(p_device, ARRAY[cardinality(v.ids)]),
            array_fill(json_build_object('acceptsPush', p_accepts), ARRAY[cardinality(v.ids)]));
    END IF;
    RETURN v_count;
END $$;

REVOKE ALL ON FUNCTION gateway.patch_identities FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.patch_identities TO gateway_call, gateway_engine;
