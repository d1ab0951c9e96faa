-- Removes the waiting calls about persons and devices, given as parallel arrays of names (users, or keys of devices) with their app and dialect; null means
-- every app or every dialect. Calls that outlive an erasure stay. The queues stay too, and the next claim deletes those without calls.
--
-- Locks the queues before their calls, in the order of their keys, as `settle_forwards` and `forward_calls` do. Comes last in an erasure: a forwarded call waits for
-- its queue while it holds the event log, for which a call may wait that holds the audit.
CREATE OR REPLACE FUNCTION gateway.forget_forwarded(p_tenant text, p_apps text[], p_vendors text[], p_names text[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    n record;
    v_digests bytea[];
BEGIN
    v_digests := ARRAY(SELECT DISTINCT sha256(convert_to(u.name, 'UTF8')) FROM unnest(p_names) AS u(name) WHERE u.name IS NOT NULL);
    FOR n IN
        SELECT k.digest FROM unnest(v_digests) AS k(digest)
        UNION
        SELECT o.ordering_key FROM unnest(v_digests) AS k(digest) JOIN gateway.outbox o ON o.tenant_id = p_tenant AND o.device_key = k.digest
        ORDER BY 1
    LOOP
        PERFORM FROM gateway.outbox_queue q
            WHERE q.tenant_id = p_tenant AND q.ordering_key = n.digest ORDER BY q.app_id, q.upstream FOR UPDATE;
    END LOOP;
    FOR n IN
        SELECT DISTINCT sha256(convert_to(u.name, 'UTF8')) AS digest, u.app_id, u.vendor
        FROM unnest(p_apps, p_vendors, p_names) AS u(app_id, vendor, name) WHERE u.name IS NOT NULL ORDER BY 1, 2, 3
    LOOP
        DELETE FROM gateway.outbox o
            WHERE o.tenant_id = p_tenant AND o.ordering_key = n.digest AND (n.app_id IS NULL OR o.app_id = n.app_id)
                AND (n.vendor IS NULL OR o.vendor = n.vendor) AND NOT o.outlives;
        DELETE FROM gateway.outbox o
            WHERE o.tenant_id = p_tenant AND o.device_key = n.digest AND (n.app_id IS NULL OR o.app_id = n.app_id)
                AND (n.vendor IS NULL OR o.vendor = n.vendor) AND NOT o.outlives;
    END LOOP;
END $$;

REVOKE ALL ON FUNCTION gateway.forget_forwarded FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.forget_forwarded TO gateway_call, gateway_engine;
