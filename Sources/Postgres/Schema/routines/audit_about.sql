-- The last rows of the audit about a subject, newest first. People are found by their pseudonyms (`write_audit`).
CREATE OR REPLACE FUNCTION gateway.audit_about(p_tenant text, p_subject text, p_limit bigint)
RETURNS TABLE ("position" bigint, at timestamptz, actor text, action text, subject text, data json) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_subject text := p_subject;
BEGIN
    IF split_part(p_subject, ' ', 1) IN ('user', 'phone', 'device-key', 'token') THEN
        v_subject := gateway.audit_pseudonym(p_tenant, p_subject);
    END IF;
    RETURN QUERY SELECT a.position, a.at, a.actor, a.action, coalesce(s.subject, a.subject), a.data FROM gateway.audit a
        LEFT JOIN gateway.audit_subject s ON s.tenant_id = p_tenant AND s.pseudonym = a.subject
        WHERE a.tenant_id = p_tenant AND a.subject = v_subject ORDER BY a.position DESC LIMIT p_limit;
END $$;

REVOKE ALL ON FUNCTION gateway.audit_about FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.audit_about TO gateway_call, gateway_engine;
