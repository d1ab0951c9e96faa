-- `put_users`, followed by the users' consents in arrays parallel to p_users. When the consents are written, the profiles are locked and at the revision that
-- was read. p_said: the subjects that the call decides, as a JSON array for each user (`consents_noted`).
CREATE OR REPLACE FUNCTION gateway.keep_users(
    p_tenant text, p_app text, p_vendor text, p_repeat text,
    p_users text[], p_anonymous boolean[], p_accepts boolean[], p_attributes text[], p_revisions bigint[],
    p_labels text[], p_names text[], p_named text[],
    p_actors text[], p_digests text[], p_kinds text[], p_acts text[], p_ats timestamptz[], p_data text[],
    p_from text[], p_to text[],
    p_opted boolean[], p_consents text[], p_said text[] DEFAULT NULL)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_said record;
    v_old record;
    v_facts json;
    v_now timestamptz := now();
BEGIN
    IF gateway.put_users(
        p_tenant => p_tenant, p_app => p_app, p_vendor => p_vendor, p_repeat => p_repeat, p_users => p_users,
        p_anonymous => p_anonymous, p_accepts => p_accepts, p_attributes => p_attributes, p_revisions => p_revisions,
        p_labels => p_labels, p_names => p_names, p_named => p_named, p_actors => p_actors, p_digests => p_digests, p_kinds => p_kinds,
        p_acts => p_acts, p_ats => p_ats, p_data => p_data, p_from => p_from, p_to => p_to) THEN
        RETURN true;
    END IF;
    -- Few calls change consents, and the others write each row once. One user at a time, which uses the primary key whatever the statistics say.
    FOR v_said IN SELECT u.user_id, u.opted, u.consents, u.said FROM unnest(p_users, p_opted, p_consents, p_said) AS u(user_id, opted, consents, said) LOOP
        -- The facts are computed beforehand: Citus refuses an UPDATE whose function reads columns.
        SELECT p.consents, p.consent_facts INTO v_old FROM gateway.user_profile p
            WHERE p.tenant_id = p_tenant AND p.app_id = p_app AND p.vendor = p_vendor AND p.user_id = v_said.user_id;
        v_facts := gateway.consents_noted(v_old.consents, v_old.consent_facts, v_said.consents::json, v_said.said::json, v_now);
        UPDATE gateway.user_profile p SET opted_in = v_said.opted, consents = v_said.consents::json, consent_facts = v_facts
            WHERE p.tenant_id = p_tenant AND p.app_id = p_app AND p.vendor = p_vendor AND p.user_id = v_said.user_id
                AND (p.opted_in <> v_said.opted OR p.consents::text <> v_said.consents OR v_said.said <> '[]');
    END LOOP;
    RETURN false;
END $$;

REVOKE ALL ON FUNCTION gateway.keep_users FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.keep_users TO gateway_call, gateway_engine;
