-- Counts receipts that change no delivery, and returns the outcome of such a receipt. They count on the day of the app's time zone on which they arrive,
-- because most have no delivery whose time is known. p_reason:
--   repeated        the delivery has had this receipt, or a later one
--   otherDevice     no delivery of the message belongs to the device: it went to others, or its push has not left yet
--   notSent         the delivery to the device ended without a push
--   unknownMessage  the gateway does not know the message
--   unknownDevice   the gateway does not know the device
-- A message of days from which retention has removed messages or deliveries counts as `removed` instead of otherDevice and unknownMessage. p_message: the
-- message, if its id is known. p_count: 0 counts nothing. An app that the tenant does not have counts nothing either: a caller could invent any number of them.
CREATE OR REPLACE FUNCTION gateway.note_orphan(
    p_tenant text, p_app text, p_reason text, p_message uuid, p_count integer DEFAULT 1)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_reason text := p_reason;
    v_kept integer;
    v_zone text;
    v_day integer;
BEGIN
    IF p_count > 0 THEN
        SELECT a.defaults->>'timeZone' INTO v_zone FROM gateway.app a WHERE a.tenant_id = p_tenant AND a.app_id = p_app;
        IF FOUND THEN
            IF p_message IS NOT NULL AND p_reason IN ('otherDevice', 'unknownMessage') THEN
                SELECT f.kept_from INTO v_kept FROM gateway.counter_fold f WHERE f.tenant_id = p_tenant;
                IF p_message < gateway.first_message_id(to_timestamp(v_kept * 86400.0)) THEN v_reason := 'removed'; END IF;
            END IF;
            v_zone := gateway.known_zone(v_zone, NULL);
            v_day := (now() AT TIME ZONE v_zone)::date - date '1970-01-01';
            INSERT INTO gateway.counter_delta (tenant_id, quarter, app_id, vendor, device_vendor, orphan, orphans, orphan_day)
                VALUES (p_tenant, -1, p_app, '', '', v_reason, p_count, v_day);
        END IF;
    END IF;
    RETURN CASE WHEN p_reason = 'repeated' THEN 'repeated' ELSE 'orphan' END;
END $$;

REVOKE ALL ON FUNCTION gateway.note_orphan FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.note_orphan TO gateway_call, gateway_engine;
