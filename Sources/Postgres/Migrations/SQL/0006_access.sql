-- Who may do what. Row-level security is enabled and not forced: the owner, which nobody logs in as, migrates and moves shards;
-- gateway_engine bypasses it by role; gateway_call sees one tenant, and nothing without one.
DO $$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY[
        'app', 'credential', 'api_key_use', 'device', 'identity', 'identity_count', 'sender', 'verification', 'message',
        'message_ref', 'media', 'message_media', 'lane', 'slice', 'delivery', 'counter_hour', 'event_head', 'event',
        'idempotency', 'audit', 'tenant', 'binding', 'api_key']
    LOOP
        EXECUTE format('ALTER TABLE gateway.%I ENABLE ROW LEVEL SECURITY', v_table);
        EXECUTE format(
            'CREATE POLICY tenant_only ON gateway.%I USING (tenant_id = current_setting(''gateway.tenant'', true)) '
                'WITH CHECK (tenant_id = current_setting(''gateway.tenant'', true))', v_table);
    END LOOP;
END $$;

-- Calls. Nothing on tenant, binding, api_key, node, provider_token, master_key, credential: those are reached through functions or not at all.
-- On the partitioned parent only: partitions carry no policy.
GRANT SELECT ON gateway.app, gateway.identity_count, gateway.event_head, gateway.event, gateway.counter_hour TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.device, gateway.identity TO gateway_call;
GRANT INSERT, UPDATE ON gateway.identity_count, gateway.event_head, gateway.counter_hour TO gateway_call;
GRANT INSERT ON gateway.event TO gateway_call;
GRANT SELECT, INSERT, UPDATE ON gateway.sender, gateway.verification, gateway.message, gateway.slice, gateway.delivery TO gateway_call;
GRANT SELECT, INSERT ON gateway.message_ref, gateway.media, gateway.message_media, gateway.lane, gateway.idempotency, gateway.audit
    TO gateway_call;

GRANT SELECT, INSERT, UPDATE, DELETE ON
    gateway.tenant, gateway.binding, gateway.api_key, gateway.node, gateway.singleton, gateway.provider_token, gateway.master_key,
    gateway.app, gateway.credential, gateway.api_key_use, gateway.device, gateway.identity, gateway.identity_count,
    gateway.sender, gateway.verification, gateway.message, gateway.message_ref, gateway.media, gateway.message_media,
    gateway.lane, gateway.slice, gateway.delivery, gateway.counter_hour, gateway.event_head, gateway.event,
    gateway.idempotency, gateway.audit
    TO gateway_engine;

-- PostgreSQL lets everybody execute a new function; here each role gets its own.
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA gateway FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA gateway TO gateway_engine;
GRANT EXECUTE ON FUNCTION
    gateway.resolve_binding, gateway.resolve_api_key, gateway.lock_name, gateway.count_identities, gateway.drop_unused_tokens,
    gateway.replace_identities, gateway.place_token, gateway.register_identity, gateway.update_token,
    gateway.unregister_identities, gateway.set_callback, gateway.put_verification, gateway.check_verification,
    gateway.add_counts, gateway.append_events, gateway.accept_message, gateway.cancel_message, gateway.reported_target,
    gateway.record_receipt, gateway.reported_delivery, gateway.erase_devices, gateway.erase_user
    TO gateway_call;
