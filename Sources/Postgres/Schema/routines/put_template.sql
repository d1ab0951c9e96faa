-- Creates a template, or changes it if its revision is p_expected (0: it must not exist). o_outcome: created, changed, mismatch, full (p_limit others exist already) or
-- missing (no such app); o_revision is the present revision, 0 without a template. A new template begins with the time in milliseconds, so that its revisions are above those of a
-- deleted one of its name.
CREATE OR REPLACE FUNCTION gateway.put_template(
    p_tenant text, p_app text, p_name text, p_content text, p_expected bigint, p_limit bigint, p_actor text,
    OUT o_outcome text, OUT o_revision bigint)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'template', p_app);
    SELECT t.revision INTO o_revision FROM gateway.message_template t
        WHERE t.tenant_id = p_tenant AND t.app_id = p_app AND t.name = p_name;
    o_revision := coalesce(o_revision, 0);
    IF o_revision <> p_expected THEN
        o_outcome := 'mismatch';
        RETURN;
    END IF;
    IF o_revision > 0 THEN
        o_outcome := 'changed';
        o_revision := o_revision + 1;
        UPDATE gateway.message_template SET content = p_content::json, revision = o_revision, changed_by = p_actor, changed_at = now()
            WHERE tenant_id = p_tenant AND app_id = p_app AND name = p_name;
    ELSE
        IF NOT EXISTS (SELECT FROM gateway.app a WHERE a.tenant_id = p_tenant AND a.app_id = p_app AND a.retired_at IS NULL) THEN
            o_outcome := 'missing';
            RETURN;
        END IF;
        IF (SELECT count(*) FROM gateway.message_template t WHERE t.tenant_id = p_tenant AND t.app_id = p_app) >= p_limit THEN
            o_outcome := 'full';
            RETURN;
        END IF;
        o_outcome := 'created';
        o_revision := floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;
        INSERT INTO gateway.message_template (tenant_id, app_id, name, content, revision, changed_by, changed_at)
            VALUES (p_tenant, p_app, p_name, p_content::json, o_revision, p_actor, now());
    END IF;
    PERFORM gateway.write_audit(
        p_tenant, p_actor, ARRAY['put'], ARRAY['template ' || p_app || '/' || p_name],
        ARRAY['{"revision": ' || o_revision || '}']);
END $$;

REVOKE ALL ON FUNCTION gateway.put_template FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.put_template TO gateway_call;
