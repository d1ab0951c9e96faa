-- Identities that end by themselves: an installation of a hub says until when it counts.
--
-- Such an identity says "$endsAt" in its attributes, in seconds since 1970, so that whatever writes those writes it. From then on it is loaded for a push
-- as one that has left, and retention lets it leave.

-- A caller's \u0000 is kept by json, and no text can have it: looking into such a document is an error. From now on none is written; these were.
UPDATE gateway.identity SET attributes = regexp_replace(attributes::text, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\ufffd', 'g')::json
    WHERE attributes::text LIKE '%u0000%';
UPDATE gateway.message SET content = regexp_replace(content::text, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\ufffd', 'g')::json
    WHERE content::text LIKE '%u0000%';

-- NULL: it does not end. What else stands there than a number of ours is its caller's own.
ALTER TABLE gateway.identity ADD COLUMN ends_at timestamptz GENERATED ALWAYS AS (
    CASE WHEN attributes->>'$endsAt' ~ '^[0-9]{1,12}$' THEN to_timestamp((attributes->>'$endsAt')::double precision) END) STORED;
CREATE INDEX identity_end ON gateway.identity (tenant_id, ends_at) WHERE ends_at IS NOT NULL AND state = 'active';

-- Lets at most p_limit identities leave whose time is over, as if each had left itself; returns how many did.
CREATE FUNCTION gateway.end_identities(p_tenant text, p_limit integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_ids uuid[];
    v_count bigint := 0;
    g record;
BEGIN
    v_ids := ARRAY(
        SELECT i.identity_id FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.state = 'active' AND i.ends_at <= now() ORDER BY i.ends_at LIMIT p_limit);
    -- In the order in which registrations take them: one that is on its way may say a later end.
    PERFORM gateway.lock_name(p_tenant, 'key', n.name) FROM (
        SELECT i.app_id || chr(31) || i.vendor || chr(31) || i.key AS name FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v_ids) ORDER BY 1) AS n;
    -- A statement of its own: it sees what the holders of the locks before us have committed.
    FOR g IN
        SELECT i.app_id, i.vendor, i.key FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v_ids) AND i.state = 'active' AND i.ends_at <= now()
        ORDER BY i.identity_id
    LOOP
        v_count := v_count + gateway.unregister_identities(p_tenant, g.app_id, g.vendor, g.key, NULL);
    END LOOP;
    RETURN v_count;
END $$;

REVOKE ALL ON FUNCTION gateway.end_identities FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gateway.end_identities TO gateway_engine;
