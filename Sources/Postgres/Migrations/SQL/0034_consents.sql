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
BEGIN
    IF gateway.put_users(
        p_tenant, p_app, p_vendor, p_repeat, p_users, p_anonymous, p_accepts, p_attributes, p_revisions, p_labels, p_names, p_named,
        p_actors, p_digests, p_kinds, p_acts, p_ats, p_data, p_from, p_to) THEN
        RETURN true;
    END IF;
    -- Few calls change it, and the others write each row once.
    UPDATE gateway.user_profile p SET opted_in = u.opted, consents = u.consents::json
        FROM unnest(p_users, p_opted, p_consents) AS u(user_id, opted, consents)
        WHERE p.tenant_id = p_tenant AND p.app_id = p_app AND p.vendor = p_vendor AND p.user_id = u.user_id
            AND (p.opted_in <> u.opted OR p.consents::text <> u.consents);
    RETURN false;
END $$;

REVOKE ALL ON FUNCTION gateway.keep_users FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gateway.keep_users TO gateway_call, gateway_engine;
