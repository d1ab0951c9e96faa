-- Stores an image under its hash and returns 1, or 0 if it is stored already. The row stays locked against the sweep (`sweep_media`) until the commit, so that a
-- message accepted in the same transaction finds its image. The lock is shared: messages with the same image do not wait for each other.
CREATE OR REPLACE FUNCTION gateway.put_media(p_tenant text, p_hash text, p_content_type text, p_bytes bytea, p_at timestamptz) RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
    LOOP
        INSERT INTO gateway.media (tenant_id, hash, content_type, bytes, created_at) VALUES (p_tenant, p_hash, p_content_type, p_bytes, p_at)
            ON CONFLICT (tenant_id, hash) DO NOTHING;
        IF FOUND THEN RETURN 1; END IF;
        -- An image that was uploaded again is kept as long as a new one. At most once a day, because the row may be in use by many messages.
        UPDATE gateway.media SET created_at = p_at
            WHERE tenant_id = p_tenant AND hash = p_hash AND created_at < p_at - interval '1 day';
        PERFORM 1 FROM gateway.media b WHERE b.tenant_id = p_tenant AND b.hash = p_hash FOR KEY SHARE;
        IF FOUND THEN RETURN 0; END IF;
        -- The sweep has deleted the row meanwhile.
    END LOOP;
END $$;

REVOKE ALL ON FUNCTION gateway.put_media FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.put_media TO gateway_call, gateway_engine;
