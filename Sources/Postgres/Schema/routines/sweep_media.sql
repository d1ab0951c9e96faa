-- Deletes up to p_limit images that were stored longer than p_older ago and that no message shows, and returns how many rows it has examined. An image that a
-- message shows is examined again after a week, so that a round reads only the rows whose turn it is.
CREATE OR REPLACE FUNCTION gateway.sweep_media(p_tenant text, p_older interval, p_limit integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_hashes text[];
BEGIN
    -- Skips images that an acceptance has locked (`put_media`).
    v_hashes := ARRAY(
        SELECT b.hash FROM gateway.media b WHERE b.tenant_id = p_tenant AND b.created_at < now() - p_older
        ORDER BY b.created_at LIMIT p_limit FOR UPDATE SKIP LOCKED);
    -- A separate statement, so that it sees the messages of acceptances that have committed since the first one began. The locks keep out later ones.
    DELETE FROM gateway.media b WHERE b.tenant_id = p_tenant AND b.hash = ANY (v_hashes) AND NOT EXISTS (
        SELECT 1 FROM gateway.message_media l WHERE l.tenant_id = p_tenant AND l.hash = b.hash);
    UPDATE gateway.media SET created_at = now() - p_older + interval '7 days' WHERE tenant_id = p_tenant AND hash = ANY (v_hashes);
    RETURN cardinality(v_hashes);
END $$;

REVOKE ALL ON FUNCTION gateway.sweep_media FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.sweep_media TO gateway_engine;
