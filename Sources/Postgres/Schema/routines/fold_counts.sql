-- Moves rows of `counter_delta` to `counter`, `counter_reason`, `orphan_receipt` and `message_counter`: whole minutes, oldest first, until p_limit rows are
-- reached. Returns the number of rows. One transaction folds at a time, so the rows that it updates are locked by no other.
--
-- A row's minute is that of its INSERT, and the limits of a session end its transaction within 90 s. So no further row can appear that is older than three
-- minutes, and the next call begins there.
CREATE OR REPLACE FUNCTION gateway.fold_counts(p_tenant text, p_limit integer) RETURNS bigint
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    v_first integer;
    v_last integer;
    v_now integer := floor(extract(epoch FROM clock_timestamp()) / 60)::integer;
    v_count bigint;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'counts', '');
    SELECT f.minute INTO v_first FROM gateway.counter_fold f WHERE f.tenant_id = p_tenant;
    v_first := coalesce(v_first, 0);
    SELECT d.minute INTO v_last FROM gateway.counter_delta d
        WHERE d.tenant_id = p_tenant AND d.minute >= v_first ORDER BY d.minute OFFSET p_limit LIMIT 1;
    WITH gone AS (
        DELETE FROM gateway.counter_delta d
        WHERE d.tenant_id = p_tenant AND d.minute >= v_first AND d.minute <= coalesce(v_last, 2147483647)
        RETURNING d.*),
    c AS (
        INSERT INTO gateway.counter AS c
                (tenant_id, quarter, app_id, vendor, device_vendor, transport, targets, suppressed, canceled, expired, expired_tried,
                unsendable, accepted, uncertain, rejected, received, read)
            SELECT p_tenant, d.quarter, d.app_id, d.vendor, d.device_vendor, d.transport, sum(d.targets), sum(d.suppressed),
                sum(d.canceled), sum(d.expired), sum(d.expired_tried), sum(d.unsendable), sum(d.accepted), sum(d.uncertain),
                sum(d.rejected), sum(d.received), sum(d.read)
            FROM gone d WHERE d.orphan IS NULL
            GROUP BY d.quarter, d.app_id, d.vendor, d.device_vendor, d.transport
            ON CONFLICT (tenant_id, quarter, app_id, vendor, device_vendor, transport) DO UPDATE SET
                targets = c.targets + excluded.targets, suppressed = c.suppressed + excluded.suppressed,
                canceled = c.canceled + excluded.canceled, expired = c.expired + excluded.expired,
                expired_tried = c.expired_tried + excluded.expired_tried, unsendable = c.unsendable + excluded.unsendable,
                accepted = c.accepted + excluded.accepted, uncertain = c.uncertain + excluded.uncertain,
                rejected = c.rejected + excluded.rejected, received = c.received + excluded.received, read = c.read + excluded.read),
    r AS (
        INSERT INTO gateway.counter_reason AS c
                (tenant_id, quarter, app_id, vendor, device_vendor, transport, stage, reason, count)
            SELECT p_tenant, d.quarter, d.app_id, d.vendor, d.device_vendor, d.transport, split_part(x.key, ':', 1),
                substr(x.key, strpos(x.key, ':') + 1), sum(x.value::bigint)
            FROM gone d CROSS JOIN LATERAL json_each_text(d.reasons) AS x(key, value)
            WHERE d.reasons IS NOT NULL
            GROUP BY d.quarter, d.app_id, d.vendor, d.device_vendor, d.transport, x.key
            ON CONFLICT (tenant_id, quarter, app_id, vendor, device_vendor, transport, stage, reason) DO UPDATE SET
                count = c.count + excluded.count),
    o AS (
        INSERT INTO gateway.orphan_receipt AS c (tenant_id, day, app_id, reason, count)
            SELECT p_tenant, d.orphan_day, d.app_id, d.orphan, sum(d.orphans)
            FROM gone d WHERE d.orphan IS NOT NULL
            GROUP BY d.orphan_day, d.app_id, d.orphan
            ON CONFLICT (tenant_id, day, app_id, reason) DO UPDATE SET count = c.count + excluded.count),
    m AS (
        -- Retention may have deleted the message since.
        INSERT INTO gateway.message_counter AS c
                (tenant_id, message_id, device_vendor, transport, targets, suppressed, canceled, expired, expired_tried, unsendable,
                accepted, uncertain, rejected, received, read)
            SELECT p_tenant, d.message_id, d.device_vendor, d.transport, sum(d.targets), sum(d.suppressed), sum(d.canceled),
                sum(d.expired), sum(d.expired_tried), sum(d.unsendable), sum(d.accepted), sum(d.uncertain), sum(d.rejected),
                sum(d.received), sum(d.read)
            FROM gone d JOIN gateway.message x ON x.tenant_id = p_tenant AND x.message_id = d.message_id
            GROUP BY d.message_id, d.device_vendor, d.transport
            ON CONFLICT (tenant_id, message_id, device_vendor, transport) DO UPDATE SET
                targets = c.targets + excluded.targets, suppressed = c.suppressed + excluded.suppressed,
                canceled = c.canceled + excluded.canceled, expired = c.expired + excluded.expired,
                expired_tried = c.expired_tried + excluded.expired_tried, unsendable = c.unsendable + excluded.unsendable,
                accepted = c.accepted + excluded.accepted, uncertain = c.uncertain + excluded.uncertain,
                rejected = c.rejected + excluded.rejected, received = c.received + excluded.received, read = c.read + excluded.read)
    SELECT count(*) INTO v_count FROM gone;
    v_first := greatest(v_first, least(v_last, v_now - 3));
    INSERT INTO gateway.counter_fold AS f (tenant_id, minute) VALUES (p_tenant, v_first)
        ON CONFLICT (tenant_id) DO UPDATE SET minute = excluded.minute WHERE f.minute < excluded.minute;
    RETURN v_count;
END $$;

REVOKE ALL ON FUNCTION gateway.fold_counts FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.fold_counts TO gateway_engine;
