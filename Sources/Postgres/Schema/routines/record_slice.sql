-- `record_outcomes` for programs of schema version 42, which call `put_back_slice` or `bury_slice` after it in the same transaction. A slice that they return
-- is recorded under the lock that these functions take.
CREATE OR REPLACE FUNCTION gateway.record_slice(
    p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_done bytea, p_disposition text,
    p_after interval, p_counts boolean,
    p_targets uuid[], p_identities uuid[], p_devices uuid[], p_users text[], p_addresses text[], p_states text[],
    p_reasons text[], p_transports text[], p_transport_ids uuid[], p_certain boolean[], p_attempts smallint[],
    p_sent timestamptz[], p_bytes integer[], p_reduced text[])
RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    IF p_disposition = 'again' THEN
        PERFORM FROM gateway.message WHERE tenant_id = p_tenant AND message_id = p_message FOR NO KEY UPDATE;
    END IF;
    RETURN gateway.record_outcomes(
        p_tenant => p_tenant, p_message => p_message, p_no => p_no, p_epoch => p_epoch, p_owner => p_owner, p_done => p_done,
        p_disposition => p_disposition, p_after => p_after, p_counts => p_counts, p_held => NULL, p_dead => NULL, p_settles => true,
        p_targets => p_targets, p_identities => p_identities, p_devices => p_devices, p_users => p_users, p_addresses => p_addresses,
        p_states => p_states, p_reasons => p_reasons, p_transports => p_transports, p_transport_ids => p_transport_ids,
        p_certain => p_certain, p_attempts => p_attempts, p_sent => p_sent, p_bytes => p_bytes, p_reduced => p_reduced,
        p_groups => NULL, p_inbox => NULL);
END $$;

REVOKE ALL ON FUNCTION gateway.record_slice FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.record_slice TO gateway_engine;
