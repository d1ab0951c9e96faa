-- Who did what, in an order that can be read on from and that nobody rewrites; answers kept for repeats; how long each tenant keeps what.

-- Positions grow by one per row of a tenant, in the order of their commits.
ALTER TABLE gateway.audit ADD COLUMN position bigint;
UPDATE gateway.audit a SET position = n.position
    FROM (SELECT tenant_id, audit_id, row_number() OVER (PARTITION BY tenant_id ORDER BY at, audit_id) AS position
        FROM gateway.audit) n
    WHERE n.tenant_id = a.tenant_id AND n.audit_id = a.audit_id;
ALTER TABLE gateway.audit ALTER COLUMN position SET NOT NULL;
CREATE UNIQUE INDEX audit_position ON gateway.audit (tenant_id, position);
-- Written and read; changed and deleted by the owner alone, as whom nobody logs in.
REVOKE UPDATE, DELETE ON gateway.audit FROM gateway_engine;

-- One row per act, parallel arrays; as late as possible in the transaction of the acts themselves. Returns the last position.
-- The lock is held until the commit: who has read a position never misses a lower one.
CREATE FUNCTION gateway.write_audit(p_tenant text, p_actor text, p_actions text[], p_subjects text[], p_data text[])
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_last bigint;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'audit', '');
    SELECT coalesce(max(a.position), 0) INTO v_last FROM gateway.audit a WHERE a.tenant_id = p_tenant;
    -- A position that is taken all the same is an error, never a row less.
    WITH r AS (
        INSERT INTO gateway.audit (tenant_id, audit_id, position, at, actor, action, subject, data)
            SELECT p_tenant, gen_random_uuid(), v_last + u.o, now(), p_actor, u.action, u.subject, u.data::json
            FROM unnest(p_actions, p_subjects, p_data) WITH ORDINALITY AS u(action, subject, data, o)
            RETURNING position)
    SELECT max(r.position) INTO v_last FROM r;
    RETURN v_last;
END $$;

-- Retention, and only that: 30 days stay whatever is asked, and the newest row always, so that positions are never used twice.
CREATE FUNCTION gateway.drop_audit(p_tenant text, p_older interval, p_limit integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_count bigint;
BEGIN
    DELETE FROM gateway.audit WHERE tenant_id = p_tenant AND at < now() - greatest(p_older, interval '30 days')
        AND position < (SELECT max(a.position) FROM gateway.audit a WHERE a.tenant_id = p_tenant)
        AND position IN (
            SELECT a.position FROM gateway.audit a WHERE a.tenant_id = p_tenant ORDER BY a.position LIMIT p_limit);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;

-- A key stands for a message, as before, or for the answer of another write: its status and body.
ALTER TABLE gateway.idempotency ALTER COLUMN message_id DROP NOT NULL;
ALTER TABLE gateway.idempotency ADD COLUMN status smallint;
ALTER TABLE gateway.idempotency ADD COLUMN answer bytea;
CREATE INDEX idempotency_created ON gateway.idempotency (tenant_id, created_at);

-- new (and the key is ours until the transaction ends), repeated with the first answer, or mismatch.
CREATE FUNCTION gateway.find_answer(p_tenant text, p_key text, p_body_hash text)
RETURNS TABLE (outcome text, status smallint, answer bytea) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v gateway.idempotency;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'answer', p_key);
    -- A statement of its own: it sees what the holder of the lock before us has committed.
    SELECT * INTO v FROM gateway.idempotency y
        WHERE y.tenant_id = p_tenant AND y.app_id = '' AND y.vendor = 'native' AND y.key = p_key;
    IF NOT FOUND THEN
        RETURN QUERY SELECT 'new', NULL::smallint, NULL::bytea;
    ELSIF v.body_hash = p_body_hash THEN
        RETURN QUERY SELECT 'repeated', v.status, v.answer;
    ELSE
        RETURN QUERY SELECT 'mismatch', NULL::smallint, NULL::bytea;
    END IF;
END $$;

-- {"deliveries": 2592000}: seconds; what is not named is as the gateway's own policy says.
ALTER TABLE gateway.tenant ADD COLUMN retention jsonb NOT NULL DEFAULT '{}';

-- Erases devices and identities and who they were: in deliveries, in the names that callers gave their targets, in codes that wait for a phone.
-- Returns how many devices there were.
CREATE FUNCTION gateway.erase_rows(p_tenant text, p_devices uuid[], p_identities uuid[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint;
    v_identities uuid[];
    v_phones text[];
    v_messages uuid[];
    g record;
BEGIN
    SELECT coalesce(array_agg(i.identity_id), '{}'), coalesce(array_agg(i.phone) FILTER (WHERE i.phone IS NOT NULL), '{}')
        INTO v_identities, v_phones FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND (i.device_id = ANY (p_devices) OR i.identity_id = ANY (p_identities));
    FOR g IN
        SELECT app_id, vendor, array_agg(key) AS keys FROM gateway.identity
        WHERE tenant_id = p_tenant AND identity_id = ANY (v_identities) AND state = 'active'
        GROUP BY app_id, vendor ORDER BY app_id, vendor
    LOOP
        PERFORM gateway.count_identities(p_tenant, g.app_id, g.vendor, g.keys, -1);
    END LOOP;
    WITH d AS (
        UPDATE gateway.delivery SET identity_id = NULL, device_id = NULL, user_id = NULL, address = NULL
        WHERE tenant_id = p_tenant AND (device_id = ANY (p_devices) OR identity_id = ANY (v_identities))
        RETURNING message_id)
    SELECT coalesce(array_agg(DISTINCT d.message_id), '{}') INTO v_messages FROM d;
    -- No index knows a target: of messages without a row for it, only those that are still being sent are looked through.
    UPDATE gateway.slice s SET addresses = (
            SELECT array_agg(CASE WHEN u.target = ANY (v_identities) THEN '' ELSE u.address END ORDER BY u.o)
            FROM unnest(s.targets, s.addresses) WITH ORDINALITY AS u(target, address, o))
        WHERE s.tenant_id = p_tenant AND (s.message_id = ANY (v_messages) OR s.state IN ('ready', 'leased'))
            AND cardinality(s.addresses) > 0 AND s.targets && v_identities;
    DELETE FROM gateway.verification WHERE tenant_id = p_tenant AND phone = ANY (v_phones);
    DELETE FROM gateway.identity WHERE tenant_id = p_tenant AND identity_id = ANY (v_identities);
    DELETE FROM gateway.device WHERE tenant_id = p_tenant AND device_id = ANY (p_devices);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;

-- Erases devices; returns how many there were. Writes the audit row.
CREATE OR REPLACE FUNCTION gateway.erase_devices(p_tenant text, p_devices uuid[], p_actor text, p_subject text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint := gateway.erase_rows(p_tenant, p_devices, '{}');
BEGIN
    IF v_count > 0 THEN
        PERFORM gateway.write_audit(
            p_tenant, p_actor, ARRAY['erase'], ARRAY[p_subject], ARRAY[json_build_object('devices', v_count)::text]);
    END IF;
    RETURN v_count;
END $$;

-- Erases a user: membership in groups, each identity, also one without a device, and every device; returns how many identities there were.
CREATE OR REPLACE FUNCTION gateway.erase_user(p_tenant text, p_user text, p_actor text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_devices uuid[];
    v_identities uuid[];
    v_count bigint := 0;
    v_groups integer := 0;
    g record;
BEGIN
    FOR g IN
        SELECT m.app_id, m.vendor, m.group_name FROM gateway.group_member m
        WHERE m.tenant_id = p_tenant AND m.user_id = p_user ORDER BY m.app_id, m.vendor, m.group_name
    LOOP
        PERFORM gateway.change_members(p_tenant, g.app_id, g.vendor, g.group_name, '{}', ARRAY[p_user]);
        v_groups := v_groups + 1;
    END LOOP;
    -- App by app, as the index goes: without the app it would read every identity of the tenant.
    SELECT array_agg(DISTINCT i.device_id), array_agg(i.identity_id) INTO v_devices, v_identities
        FROM gateway.app a JOIN gateway.identity i ON i.tenant_id = p_tenant AND i.app_id = a.app_id
        WHERE a.tenant_id = p_tenant AND i.user_id = p_user;
    IF v_identities IS NULL AND v_groups = 0 THEN RETURN 0; END IF;
    IF v_identities IS NOT NULL THEN
        v_count := gateway.erase_rows(p_tenant, array_remove(v_devices, NULL), v_identities);
    END IF;
    PERFORM gateway.write_audit(
        p_tenant, p_actor, ARRAY['erase'], ARRAY['user ' || p_user],
        ARRAY[json_build_object('devices', v_count, 'identities', coalesce(cardinality(v_identities), 0), 'groups', v_groups)::text]);
    RETURN coalesce(cardinality(v_identities), 0);
END $$;

GRANT DELETE ON gateway.verification TO gateway_call;
REVOKE ALL ON FUNCTION
    gateway.write_audit, gateway.drop_audit, gateway.find_answer, gateway.erase_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gateway.write_audit, gateway.find_answer, gateway.erase_rows TO gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.drop_audit TO gateway_engine;
