-- The stage in which a delivery with an outcome is counted. Receipts do not change it, except that `record_receipt` makes a rejected, expired or
-- canceled delivery uncertain.
CREATE OR REPLACE FUNCTION gateway.stage_of(p_state text, p_transport text, p_certain boolean)
RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN CASE
        WHEN p_state IN ('sent', 'received', 'read') THEN CASE WHEN p_certain THEN 'accepted' ELSE 'uncertain' END
        WHEN p_state <> 'failed' THEN p_state
        WHEN p_transport IS NULL THEN 'unsendable'
        ELSE 'rejected' END;
END $$;

REVOKE ALL ON FUNCTION gateway.stage_of FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.stage_of TO gateway_call, gateway_engine;
