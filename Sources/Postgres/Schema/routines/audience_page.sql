-- The next page of an audience: at least half of p_page identities, unless the audience ends or few of the candidates match. A call looks at no more than
-- twenty times p_page candidates, because it holds the locks on the rows of the slice and the message; it returns the position it reached. p_crosses: a vendor's
-- send reaches the identities of all dialects.
CREATE OR REPLACE FUNCTION gateway.audience_page(
    p_tenant text, p_app text, p_vendor text, p_audience json, p_page integer,
    INOUT io_user text, INOUT io_dialect text, INOUT io_after uuid, OUT o_ids uuid[], OUT o_ended boolean,
    p_crosses boolean DEFAULT false)
LANGUAGE plpgsql AS $$
DECLARE
    n record;
BEGIN
    IF p_audience IS NULL OR p_audience->'tags' IS NOT NULL THEN
        SELECT * INTO n FROM gateway.identity_page(p_tenant, p_app, p_vendor, p_audience, p_page, io_after, p_crosses);
        io_after := n.io_after;
        o_ids := n.o_ids;
        o_ended := n.o_ended;
        RETURN;
    END IF;
    -- Users are looked up one by one.
    p_page := least(p_page, 500);
    o_ids := '{}';
    FOR k IN 1 .. 20 LOOP
        SELECT * INTO n FROM gateway.next_candidates(
            p_tenant, p_app, p_vendor, p_audience, p_page - cardinality(o_ids), io_user, io_dialect, io_after, p_crosses);
        io_user := n.io_user;
        io_dialect := n.io_dialect;
        io_after := n.io_after;
        o_ended := n.o_ended;
        o_ids := o_ids || gateway.meant(p_tenant, p_app, p_vendor, p_audience, n.o_ids, p_crosses);
        EXIT WHEN o_ended OR cardinality(o_ids) * 2 >= p_page;
    END LOOP;
END $$;

REVOKE ALL ON FUNCTION gateway.audience_page FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.audience_page TO gateway_engine;
