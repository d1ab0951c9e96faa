-- The identities that receive a send to every dialect. p_ids has one identity per device: the one by which the audience selected the device. The result has, in
-- the same places, the identity of that device whose dialect is first in p_prefer (unlisted dialects come last); of several the one that was seen last, by
-- registration, token or receipt; of several the one with the largest id.
--
-- It reads sightings only here. Whether a device is selected does not depend on them, so a sighting during an expansion neither skips a device nor selects it
-- twice.
--
-- An identity stays in its place if its user has withdrawn, unless p_all sends to those too. An identity of a lower level never replaces it, nor one that has
-- ended. p_same_user: neither does one of another user; without a user, one with another phone. At most 16 identities of a device are compared.
CREATE OR REPLACE FUNCTION gateway.receiving_identities(
    p_tenant text, p_app text, p_ids uuid[], p_prefer text[], p_same_user boolean, p_all boolean)
RETURNS uuid[] LANGUAGE plpgsql AS $$
BEGIN
    -- Read after p_ids: every identity that is visible there has set `shares_devices` before.
    PERFORM FROM gateway.app WHERE tenant_id = p_tenant AND app_id = p_app AND shares_devices;
    IF NOT FOUND THEN RETURN p_ids; END IF;
    -- Subqueries with OFFSET and LIMIT in place of joins, and no condition on the app, as in `meant`: without statistics the planner would read the whole app.
    -- One sort of all rows takes half the time of an ordered aggregate per device.
    RETURN ARRAY(
        SELECT DISTINCT ON (c.place) CASE WHEN o.identity_id IS NULL THEN c.id ELSE o.identity_id END
        FROM unnest(p_ids) WITH ORDINALITY AS c(id, place)
        LEFT JOIN LATERAL (
            SELECT x.device_id, x.user_id, x.phone, x.assurance, x.accepts_push FROM gateway.identity x
            WHERE x.tenant_id = p_tenant AND x.identity_id = c.id OFFSET 0) AS i ON true
        LEFT JOIN LATERAL (
            SELECT s.identity_id, array_position(p_prefer, s.vendor) AS place, greatest(s.registered_at, s.seen_at) AS seen
            FROM gateway.identity s
            WHERE s.tenant_id = p_tenant AND s.device_id = i.device_id AND s.state = 'active' AND s.assurance >= i.assurance
                AND (s.ends_at IS NULL OR s.ends_at > now()) AND (p_all OR i.accepts_push)
                AND (NOT p_same_user
                    OR s.user_id IS NOT DISTINCT FROM i.user_id AND (i.user_id IS NOT NULL OR s.phone IS NOT DISTINCT FROM i.phone))
            LIMIT 16) AS o ON true
        ORDER BY c.place, o.place, o.seen DESC, o.identity_id DESC);
END $$;

REVOKE ALL ON FUNCTION gateway.receiving_identities FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.receiving_identities TO gateway_call, gateway_engine;
