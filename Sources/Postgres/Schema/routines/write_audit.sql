-- Writes one audit row per action, given as parallel arrays, and returns the last position. Call it as late as possible in the transaction of the actions
-- themselves. The lock is held until the commit, so a reader that has read a position never misses a lower one.
-- Each row contains a digest of itself and of the digest before it (`tables/audit.sql`). Subjects that identify a person are replaced by a pseudonym. The name of a user is
-- kept in another table until the user is erased, except by a row about a read: whoever asks for an erased user would bring the name back. A phone number, a device's
-- key and a token are not kept: who knows them can compute the pseudonym.
-- The data of each row names the call that `gateway.request` names in this transaction, unless it names one already.
CREATE OR REPLACE FUNCTION gateway.write_audit(p_tenant text, p_actor text, p_actions text[], p_subjects text[], p_data text[])
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_last bigint;
    v_hash bytea;
    v_subject text;
    v_data text;
    v_request text := nullif(current_setting('gateway.request', true), '');
    v_micros bigint := (extract(epoch FROM now()) * 1000000)::bigint;
    v_fields text[];
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'audit', '');
    SELECT a.position, a.hash INTO v_last, v_hash FROM gateway.audit a WHERE a.tenant_id = p_tenant ORDER BY a.position DESC LIMIT 1;
    v_last := coalesce(v_last, 0);
    FOR i IN 1 .. cardinality(p_actions) LOOP
        v_last := v_last + 1;
        v_subject := p_subjects[i];
        IF split_part(v_subject, ' ', 1) IN ('user', 'phone', 'device-key', 'token') THEN
            v_subject := gateway.audit_pseudonym(p_tenant, v_subject);
            IF v_subject LIKE 'user %' AND p_actions[i] <> 'read' THEN
                INSERT INTO gateway.audit_subject (tenant_id, pseudonym, subject) VALUES (p_tenant, v_subject, p_subjects[i])
                    ON CONFLICT (tenant_id, pseudonym) DO NOTHING;
            END IF;
        END IF;
        v_data := p_data[i];
        IF v_request IS NOT NULL AND v_data::json ->> 'request' IS NULL THEN
            v_data := coalesce(nullif(left(rtrim(v_data), -1), '{') || ', ', '{') || '"request": ' || to_json(v_request) || '}';
        END IF;
        v_fields := ARRAY[v_last::text, v_micros::text, p_actor, p_actions[i], v_subject, coalesce(v_data, '')];
        v_hash := sha256(coalesce(v_hash, ''::bytea) || convert_to(
            (SELECT string_agg(octet_length(f) || ':' || f, ',' ORDER BY o) FROM unnest(v_fields) WITH ORDINALITY AS u(f, o)), 'UTF8'));
        -- A position that is already taken raises an error; no row is ever dropped.
        INSERT INTO gateway.audit (tenant_id, audit_id, position, at, actor, action, subject, data, hash)
            VALUES (p_tenant, gen_random_uuid(), v_last, now(), p_actor, p_actions[i], v_subject, v_data::json, v_hash);
    END LOOP;
    RETURN v_last;
END $$;

REVOKE ALL ON FUNCTION gateway.write_audit FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.write_audit TO gateway_call, gateway_engine;
