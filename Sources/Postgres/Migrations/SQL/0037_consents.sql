-- What users consent to.

-- opted_in: the user asked for pushes. Consents: by subject, 'subscribed' or 'unsubscribed'.
ALTER TABLE gateway.user_profile
    ADD COLUMN opted_in boolean NOT NULL DEFAULT false,
    ADD COLUMN consents json NOT NULL DEFAULT '{}';

-- Until now only an attribute said it.
UPDATE gateway.user_profile SET opted_in = true WHERE vendor = 'braze' AND accepts_push AND attributes ->> 'push_subscribe' = 'opted_in';

-- As `put_users`, which the version before still calls, with what the users consent to: arrays parallel to `p_users`. Its rows are locked and at the
-- revision that was read by then.
CREATE FUNCTION gateway.keep_users(
    p_tenant text, p_app text, p_vendor text, p_repeat text,
    p_users text[], p_anonymous boolean[], p_accepts boolean[], p_attributes text[], p_revisions bigint[],
    p_labels text[], p_names text[], p_named text[],
    p_actors text[], p_digests text[], p_kinds text[], p_acts text[], p_ats timestamptz[], p_data text[],
    p_from text[], p_to text[],
    p_opted boolean[], p_consents text[])
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_said record;
BEGIN
    IF gateway.put_users(
        p_tenant, p_app, p_vendor, p_repeat, p_users, p_anonymous, p_accepts, p_attributes, p_revisions, p_labels, p_names, p_named,
        p_actors, p_digests, p_kinds, p_acts, p_ats, p_data, p_from, p_to) THEN
        RETURN true;
    END IF;
    -- Few calls change it, and the others write each row once. One by one: an index by user, as in 0034.
    FOR v_said IN SELECT u.user_id, u.opted, u.consents FROM unnest(p_users, p_opted, p_consents) AS u(user_id, opted, consents) LOOP
        UPDATE gateway.user_profile p SET opted_in = v_said.opted, consents = v_said.consents::json
            WHERE p.tenant_id = p_tenant AND p.app_id = p_app AND p.vendor = p_vendor AND p.user_id = v_said.user_id
                AND (p.opted_in <> v_said.opted OR p.consents::text <> v_said.consents);
    END LOOP;
    RETURN false;
END $$;

REVOKE ALL ON FUNCTION gateway.keep_users FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gateway.keep_users TO gateway_call, gateway_engine;

-- As in 0032; new: groups, and what the user said is told to the devices that come along. Groups in their order, as whoever erases users takes them.
CREATE OR REPLACE FUNCTION gateway.move_user(p_tenant text, p_app text, p_vendor text, p_from text, p_to text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_group text;
    v_accepts boolean;
BEGIN
    FOR v_group IN
        SELECT m.group_name FROM gateway.group_member m
        WHERE m.tenant_id = p_tenant AND m.app_id = p_app AND m.vendor = p_vendor AND m.user_id = p_from ORDER BY m.group_name
    LOOP
        PERFORM gateway.change_members(p_tenant, p_app, p_vendor, v_group, ARRAY[p_to], ARRAY[p_from]);
    END LOOP;
    SELECT p.accepts_push INTO v_accepts FROM gateway.user_profile p
        WHERE p.tenant_id = p_tenant AND p.app_id = p_app AND p.vendor = p_vendor AND p.user_id = p_to;
    UPDATE gateway.identity SET user_id = p_to, accepts_push = coalesce(v_accepts, accepts_push)
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND user_id = p_from;
    UPDATE gateway.user_alias SET user_id = p_to
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND user_id = p_from;
    INSERT INTO gateway.user_act (tenant_id, app_id, vendor, user_id, digest, kind, name, at, data, noted_at)
        SELECT p_tenant, a.app_id, a.vendor, p_to, a.digest, a.kind, a.name, a.at, a.data, a.noted_at FROM gateway.user_act a
        WHERE a.tenant_id = p_tenant AND a.app_id = p_app AND a.vendor = p_vendor AND a.user_id = p_from
        ON CONFLICT DO NOTHING;
    INSERT INTO gateway.user_tally AS t (tenant_id, app_id, vendor, user_id, kind, name, count, first_at, last_at, noted_at)
        SELECT p_tenant, o.app_id, o.vendor, p_to, o.kind, o.name, o.count, o.first_at, o.last_at, o.noted_at FROM gateway.user_tally o
        WHERE o.tenant_id = p_tenant AND o.app_id = p_app AND o.vendor = p_vendor AND o.user_id = p_from
        ON CONFLICT (tenant_id, app_id, vendor, user_id, kind, name) DO UPDATE SET count = t.count + excluded.count,
            first_at = least(t.first_at, excluded.first_at), last_at = greatest(t.last_at, excluded.last_at),
            noted_at = greatest(t.noted_at, excluded.noted_at);
    DELETE FROM gateway.user_profile WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND user_id = p_from;
END $$;
