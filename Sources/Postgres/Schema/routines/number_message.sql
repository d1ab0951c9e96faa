-- Completes the acceptance of a message with numbers, in its transaction: stores the numbers, and opens the inboxes of targets that were settled
-- immediately, unless the message awaits an approval. Returns 0 if the message was not stored because its call is a repeat.
CREATE OR REPLACE FUNCTION gateway.number_message(
    p_tenant text, p_message uuid, p_vendors text[], p_numbers text[], p_targets uuid[], p_inboxes text[])
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    m record;
    v_targets uuid[];
BEGIN
    SELECT x.app_id, x.due_day, x.awaits_approval INTO m FROM gateway.message x WHERE x.tenant_id = p_tenant AND x.message_id = p_message;
    IF NOT FOUND THEN RETURN 0; END IF;
    INSERT INTO gateway.message_ref (tenant_id, app_id, vendor, ref, message_id)
        SELECT p_tenant, m.app_id, u.vendor, u.number, p_message FROM unnest(p_vendors, p_numbers) AS u(vendor, number)
        ON CONFLICT DO NOTHING;
    IF cardinality(p_targets) > 0 THEN
        WITH r AS (
            UPDATE gateway.delivery d SET user_id = i.user_id FROM gateway.identity i
            WHERE d.tenant_id = p_tenant AND d.due_day = m.due_day AND d.message_id = p_message AND d.target_id = ANY (p_targets)
                AND i.tenant_id = p_tenant AND i.identity_id = d.identity_id AND i.vendor = ANY (p_inboxes)
            RETURNING d.target_id)
        SELECT array_agg(r.target_id) INTO v_targets FROM r;
        IF v_targets IS NOT NULL AND NOT m.awaits_approval THEN PERFORM gateway.open_inbox(p_tenant, p_message, v_targets); END IF;
    END IF;
    RETURN 1;
END $$;

REVOKE ALL ON FUNCTION gateway.number_message FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.number_message TO gateway_call, gateway_engine;
