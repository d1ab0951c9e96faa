-- Appends one event per kind and target, given as parallel arrays, of one message; see `log_events`.
CREATE OR REPLACE FUNCTION gateway.append_events(
    p_tenant text, p_app text, p_vendor text, p_sender text, p_message uuid, p_due_day integer,
    p_kinds text[], p_targets uuid[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM gateway.log_events(p_tenant, p_app, p_vendor, p_sender, p_kinds, ARRAY[p_message], ARRAY[p_due_day], p_targets, NULL, NULL);
END $$;

REVOKE ALL ON FUNCTION gateway.append_events FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.append_events TO gateway_call, gateway_engine;
