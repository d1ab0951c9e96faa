-- Ends the transaction with GW429 if p_new more identities exceed a quota of their app. Exact over all transactions, although few of them wait for each other:
--
-- While the quotas leave much room, each transaction reads the committed counts and holds the name `quota` in shared mode. The transactions in progress together
-- add at most `v_slack`, so that none can exceed a quota. Where less than twice that is left, they hold the name alone: one waits until the others have ended, and
-- then reads counts in which nothing is missing.
CREATE OR REPLACE FUNCTION gateway.admit_identities(p_tenant text, p_app text, p_new integer, p_registers boolean)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    -- 1,000 identities per transaction. A larger set holds the name alone.
    v_most constant integer := 1000;
    v_slack bigint := v_most * current_setting('max_connections')::bigint;
    -- The name that `lock_name` locks.
    v_name bigint := pg_catalog.hashtextextended(p_tenant || chr(31) || 'quota' || chr(31) || p_app, 0);
    r record;
BEGIN
    -- A transaction that registers rows one by one reads the counts once: to read its own rows again for each would take longer with each.
    IF current_setting('gateway.quota', true) = p_app THEN RETURN; END IF;
    SELECT * INTO r FROM gateway.room_of_identities(p_tenant, p_app, p_registers);
    IF p_new <= v_most AND r.room >= 2 * v_slack THEN
        IF NOT pg_catalog.pg_try_advisory_xact_lock_shared(v_name) THEN
            PERFORM pg_catalog.pg_advisory_xact_lock_shared(v_name);
            SELECT * INTO r FROM gateway.room_of_identities(p_tenant, p_app, p_registers);
            -- A transaction that holds the name in shared mode must not wait to hold it alone.
            IF r.room < v_slack THEN
                RAISE EXCEPTION 'the quota was reached meanwhile' USING ERRCODE = 'serialization_failure';
            END IF;
        END IF;
        PERFORM pg_catalog.set_config('gateway.quota', p_app, true);
        RETURN;
    END IF;
    PERFORM gateway.lock_name(p_tenant, 'quota', p_app);
    SELECT * INTO r FROM gateway.room_of_identities(p_tenant, p_app, p_registers);
    IF r.room < p_new THEN
        RAISE EXCEPTION 'a quota of the app is used up' USING ERRCODE = 'GW429', CONSTRAINT = r.quota;
    END IF;
END $$;

REVOKE ALL ON FUNCTION gateway.admit_identities FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.admit_identities TO gateway_call, gateway_engine;
