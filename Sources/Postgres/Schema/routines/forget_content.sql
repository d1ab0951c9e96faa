-- Empties the messages that were addressed to erased identities alone: content, page and images. `p_messages` are the messages with an erased delivery; of
-- the messages that are still being sent, those with an erased target are found here. Runs after the deliveries are anonymous: one that still names somebody
-- belongs to another addressee. The message stays for the counts.
CREATE OR REPLACE FUNCTION gateway.forget_content(p_tenant text, p_messages uuid[], p_identities uuid[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_messages uuid[];
BEGIN
    v_messages := ARRAY(
        SELECT m.message_id FROM gateway.message m
        WHERE m.tenant_id = p_tenant
            AND (m.message_id = ANY (p_messages) OR m.message_id = ANY (ARRAY(
                SELECT s.message_id FROM gateway.slice s
                WHERE s.tenant_id = p_tenant AND s.state IN ('ready', 'leased') AND s.targets && p_identities)))
            AND NOT EXISTS (
                SELECT FROM gateway.delivery d
                WHERE d.tenant_id = p_tenant AND d.due_day = m.due_day AND d.message_id = m.message_id
                    AND (d.identity_id IS NOT NULL OR d.user_id IS NOT NULL OR d.address IS NOT NULL))
            -- A slice without targets still searches for them.
            AND NOT EXISTS (
                SELECT FROM gateway.slice s
                WHERE s.tenant_id = p_tenant AND s.message_id = m.message_id AND s.state <> 'done'
                    AND (cardinality(s.targets) = 0 OR NOT s.targets <@ p_identities))
        ORDER BY m.message_id FOR UPDATE);
    IF cardinality(v_messages) = 0 THEN RETURN; END IF;
    UPDATE gateway.message SET content = '{}', fallback = NULL, collapse_id = NULL,
            audience = CASE WHEN state IN ('done', 'canceled', 'expired', 'dead') THEN NULL ELSE audience END
        WHERE tenant_id = p_tenant AND message_id = ANY (v_messages);
    DELETE FROM gateway.message_media WHERE tenant_id = p_tenant AND message_id = ANY (v_messages);
    DELETE FROM gateway.message_variable WHERE tenant_id = p_tenant AND message_id = ANY (v_messages);
    DELETE FROM gateway.page WHERE tenant_id = p_tenant AND message_id = ANY (v_messages);
END $$;

REVOKE ALL ON FUNCTION gateway.forget_content FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.forget_content TO gateway_call, gateway_engine;
