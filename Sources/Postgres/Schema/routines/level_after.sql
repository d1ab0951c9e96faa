-- The level of an identity after a change of its user or phone; null means unchanged. p_level is that of the caller: 2 if a proven caller makes the change. A
-- proven caller that does not name the user, or a claimed phone, confirms nothing about it.
CREATE OR REPLACE FUNCTION gateway.level_after(
    p_old smallint, p_old_user text, p_old_phone text, p_user text, p_phone text, p_level smallint)
RETURNS smallint LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN CASE
        WHEN p_level > 0 AND p_user IS NULL AND p_old_user IS NOT NULL THEN p_old
        WHEN p_level > 0 AND p_phone IS NULL AND p_old_phone IS NOT NULL AND p_old < 2 THEN
            CASE WHEN p_user IS DISTINCT FROM p_old_user THEN 0::smallint ELSE p_old END
        WHEN p_user <> p_old_user OR p_phone <> p_old_phone OR p_old_user IS NULL AND p_user IS NOT NULL
            OR p_old_phone IS NULL AND p_phone IS NOT NULL THEN p_level
        ELSE greatest(p_old, p_level) END;
END $$;

REVOKE ALL ON FUNCTION gateway.level_after FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.level_after TO gateway_call, gateway_engine;
