-- Merges counts of quarter hours into days of each app's time zone: the row of a day is that of its first quarter hour. Continues where the last call ended,
-- with the first p_quarters quarter hours that have counts, up to p_before. Returns the first quarter hour that is not merged yet.
--
-- Counts that are added to a merged day later stay in their quarter hour. Counts of an app that no longer exists stay as they are.
CREATE OR REPLACE FUNCTION gateway.roll_up_counts(p_tenant text, p_before integer, p_quarters integer) RETURNS integer
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    v_from integer;
    v_to integer;
BEGIN
    -- As `fold_counts`, which adds to the same rows.
    PERFORM gateway.lock_name(p_tenant, 'counts', '');
    SELECT f.rolled INTO v_from FROM gateway.counter_fold f WHERE f.tenant_id = p_tenant;
    SELECT c.quarter INTO v_from FROM gateway.counter c
        WHERE c.tenant_id = p_tenant AND c.quarter >= coalesce(v_from, 0) ORDER BY c.quarter LIMIT 1;
    v_from := least(coalesce(v_from, p_before), p_before);
    v_to := least(v_from + p_quarters, p_before);
    IF v_from < v_to THEN
        WITH q AS MATERIALIZED (
            SELECT z.app_id, g.quarter, gateway.first_quarter(g.quarter, z.zone) AS first FROM (
                SELECT a.app_id, gateway.known_zone(a.defaults->>'timeZone', NULL) AS zone FROM gateway.app a
                WHERE a.tenant_id = p_tenant) z
            CROSS JOIN generate_series(v_from, v_to - 1) AS g(quarter)),
        gone AS (
            DELETE FROM gateway.counter c USING q
            WHERE c.tenant_id = p_tenant AND c.quarter >= v_from AND c.quarter < v_to
                AND q.app_id = c.app_id AND q.quarter = c.quarter AND q.first <> c.quarter
            RETURNING q.first, c.*),
        c AS (
            INSERT INTO gateway.counter AS c
                    (tenant_id, quarter, app_id, vendor, device_vendor, transport, targets, suppressed, canceled, expired, expired_tried,
                    unsendable, accepted, uncertain, rejected, received, read)
                SELECT p_tenant, d.first, d.app_id, d.vendor, d.device_vendor, d.transport, sum(d.targets), sum(d.suppressed),
                    sum(d.canceled), sum(d.expired), sum(d.expired_tried), sum(d.unsendable), sum(d.accepted), sum(d.uncertain),
                    sum(d.rejected), sum(d.received), sum(d.read)
                FROM gone d GROUP BY d.first, d.app_id, d.vendor, d.device_vendor, d.transport
                ON CONFLICT (tenant_id, quarter, app_id, vendor, device_vendor, transport) DO UPDATE SET
                    targets = c.targets + excluded.targets, suppressed = c.suppressed + excluded.suppressed,
                    canceled = c.canceled + excluded.canceled, expired = c.expired + excluded.expired,
                    expired_tried = c.expired_tried + excluded.expired_tried, unsendable = c.unsendable + excluded.unsendable,
                    accepted = c.accepted + excluded.accepted, uncertain = c.uncertain + excluded.uncertain,
                    rejected = c.rejected + excluded.rejected, received = c.received + excluded.received, read = c.read + excluded.read),
        gone_reasons AS (
            DELETE FROM gateway.counter_reason c USING q
            WHERE c.tenant_id = p_tenant AND c.quarter >= v_from AND c.quarter < v_to
                AND q.app_id = c.app_id AND q.quarter = c.quarter AND q.first <> c.quarter
            RETURNING q.first, c.*)
        INSERT INTO gateway.counter_reason AS c
                (tenant_id, quarter, app_id, vendor, device_vendor, transport, stage, reason, count)
            SELECT p_tenant, d.first, d.app_id, d.vendor, d.device_vendor, d.transport, d.stage, d.reason, sum(d.count)
            FROM gone_reasons d GROUP BY d.first, d.app_id, d.vendor, d.device_vendor, d.transport, d.stage, d.reason
            ON CONFLICT (tenant_id, quarter, app_id, vendor, device_vendor, transport, stage, reason) DO UPDATE SET
                count = c.count + excluded.count;
    END IF;
    INSERT INTO gateway.counter_fold AS f (tenant_id, minute, rolled) VALUES (p_tenant, 0, v_to)
        ON CONFLICT (tenant_id) DO UPDATE SET rolled = greatest(f.rolled, excluded.rolled);
    RETURN v_to;
END $$;

REVOKE ALL ON FUNCTION gateway.roll_up_counts FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.roll_up_counts TO gateway_engine;
