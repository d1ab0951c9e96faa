-- Expects registrations of users, given as parallel arrays without repeated users; an earlier expectation of a user is replaced. Writes a row of the audit per
-- user. Returns the number of users; -1: no such app; -2: the app would have more than p_limit expectations, and nothing was written.
CREATE OR REPLACE FUNCTION gateway.put_expected_users(
    p_tenant text, p_app text, p_users text[], p_phones text[], p_tokens text[], p_ends timestamptz[], p_limit bigint, p_actor text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_others bigint;
    v_count bigint;
BEGIN
    PERFORM FROM gateway.app a WHERE a.tenant_id = p_tenant AND a.app_id = p_app AND a.retired_at IS NULL;
    IF NOT FOUND THEN RETURN -1; END IF;
    -- One call at a time, so that several calls together stay within the limit.
    PERFORM gateway.lock_name(p_tenant, 'expected', p_app);
    SELECT count(*) INTO v_others FROM (
        SELECT FROM gateway.expected_user e
        WHERE e.tenant_id = p_tenant AND e.app_id = p_app AND e.user_id <> ALL (p_users) LIMIT p_limit) AS o;
    IF v_others + cardinality(p_users) > p_limit THEN RETURN -2; END IF;
    -- RETURNING keeps Citus from turning the INSERT into a COPY, which row-level security refuses.
    WITH r AS (
        INSERT INTO gateway.expected_user (tenant_id, app_id, user_id, phone, token_digest, ends_at)
        SELECT p_tenant, p_app, u.user_id, u.phone, sha256(convert_to(u.token, 'UTF8')), u.ends_at
        FROM unnest(p_users, p_phones, p_tokens, p_ends) AS u(user_id, phone, token, ends_at) ORDER BY u.user_id
        ON CONFLICT (tenant_id, app_id, user_id) DO UPDATE SET phone = excluded.phone, token_digest = excluded.token_digest,
            ends_at = excluded.ends_at, created_at = excluded.created_at
        RETURNING 1)
    SELECT count(*) INTO v_count FROM r;
    PERFORM gateway.write_audit(
        p_tenant, p_actor, array_agg('expect_user'::text), array_agg('user ' || u.user_id ORDER BY u.o),
        array_agg(json_build_object('app', p_app, 'endsAt', u.ends_at, 'phone', u.phone IS NOT NULL, 'token', u.token IS NOT NULL)::text ORDER BY u.o))
        FROM unnest(p_users, p_phones, p_tokens, p_ends) WITH ORDINALITY AS u(user_id, phone, token, ends_at, o);
    RETURN v_count;
END $$;

REVOKE ALL ON FUNCTION gateway.put_expected_users FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.put_expected_users TO gateway_call;
