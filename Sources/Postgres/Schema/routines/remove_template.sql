-- Deletes a template if its revision is p_expected (null: any). Returns null for a deleted one, 0 if there is none, and otherwise its revision, without a change.
CREATE OR REPLACE FUNCTION gateway.remove_template(p_tenant text, p_app text, p_name text, p_expected bigint, p_actor text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_revision bigint;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'template', p_app);
    SELECT t.revision INTO v_revision FROM gateway.message_template t
        WHERE t.tenant_id = p_tenant AND t.app_id = p_app AND t.name = p_name;
    IF v_revision IS NULL THEN RETURN 0; END IF;
    IF v_revision <> coalesce(p_expected, v_revision) THEN RETURN v_revision; END IF;
    DELETE FROM gateway.message_template WHERE tenant_id = p_tenant AND app_id = p_app AND name = p_name;
    PERFORM gateway.write_audit(
        p_tenant, p_actor, ARRAY['remove'], ARRAY['template ' || p_app || '/' || p_name], ARRAY[NULL]::text[]);
    RETURN NULL;
END $$;

REVOKE ALL ON FUNCTION gateway.remove_template FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.remove_template TO gateway_call;
