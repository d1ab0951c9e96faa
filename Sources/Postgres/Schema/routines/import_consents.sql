-- Applies imported consents of a user, and returns 'changed', 'older' if a stored decision stayed against an imported one, or ''. p_consents: by subject, with
-- `state` and, where they are known, `at` and `source`. p_source: of those without one.
--
-- Of two decisions the newer counts. Where a time is missing, the withdrawal counts, so that an import never grants what was withdrawn later. A time in the
-- future does not count. A user has at most 100 subjects, as by calls: further ones are left out and count as 'older', grants before withdrawals.
CREATE OR REPLACE FUNCTION gateway.import_consents(
    p_tenant text, p_app text, p_vendor text, p_user text, p_consents json, p_source text)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_states jsonb;
    v_facts jsonb;
    v_old text;
    v_old_at timestamptz;
    v_at timestamptz;
    v_takes boolean;
    v_count bigint;
    v_is_changed boolean := false;
    v_is_older boolean := false;
    v_now timestamptz := now();
    r record;
BEGIN
    INSERT INTO gateway.user_profile (tenant_id, app_id, vendor, user_id, is_anonymous, attributes, revision, created_at, updated_at)
        VALUES (p_tenant, p_app, p_vendor, p_user, false, '{}', 1, v_now, v_now) ON CONFLICT DO NOTHING;
    SELECT p.consents::jsonb, p.consent_facts::jsonb INTO v_states, v_facts FROM gateway.user_profile p
        WHERE p.tenant_id = p_tenant AND p.app_id = p_app AND p.vendor = p_vendor AND p.user_id = p_user FOR UPDATE;
    SELECT count(*) INTO v_count FROM jsonb_object_keys(v_states);
    FOR r IN
        SELECT e.key AS subject, e.value->>'state' AS state, e.value->>'at' AS made, e.value->>'source' AS source
        FROM json_each(p_consents) AS e ORDER BY e.value->>'state' <> 'unsubscribed', e.key
    LOOP
        v_at := r.made::timestamptz;
        IF v_at > v_now THEN v_at := NULL; END IF;
        v_old := v_states->>r.subject;
        IF v_old IS NULL THEN
            IF v_count >= 100 THEN
                v_is_older := true;
                CONTINUE;
            END IF;
            v_count := v_count + 1;
        END IF;
        v_old_at := (v_facts->r.subject->>'at')::timestamptz;
        v_takes := CASE
            WHEN v_old IS NULL THEN true
            WHEN v_old = r.state THEN coalesce(v_at > v_old_at, false)
            WHEN v_at <> v_old_at THEN v_at > v_old_at
            ELSE r.state = 'unsubscribed' END;
        IF v_takes THEN
            v_states := v_states || jsonb_build_object(r.subject, r.state);
            v_facts := v_facts || jsonb_build_object(r.subject, jsonb_strip_nulls(jsonb_build_object(
                'at', to_char(v_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'source', coalesce(r.source, p_source))));
            v_is_changed := true;
        ELSIF v_old <> r.state THEN
            v_is_older := true;
        END IF;
    END LOOP;
    IF v_is_changed THEN
        UPDATE gateway.user_profile p SET consents = v_states::json, consent_facts = v_facts::json, revision = p.revision + 1, updated_at = v_now
            WHERE p.tenant_id = p_tenant AND p.app_id = p_app AND p.vendor = p_vendor AND p.user_id = p_user;
    END IF;
    RETURN CASE WHEN v_is_older THEN 'older' WHEN v_is_changed THEN 'changed' ELSE '' END;
END $$;

REVOKE ALL ON FUNCTION gateway.import_consents FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.import_consents TO gateway_call, gateway_engine;
