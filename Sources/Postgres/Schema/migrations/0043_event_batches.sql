-- The event log has one row per transaction and kind of event, and no row that every transaction updates. The existing rows stay in `event_single`, where
-- readers find them, until retention has removed them: converting them would rewrite the largest table of the schema, and dropping them would lose the events
-- that a webhook has not received. Programs of version 42 and older read views with the names and columns of the previous tables; they write events through
-- routines only, and their retention is ignored.
-- Oldest program: 39
-- Routines: b93ce64532f572fb

-- In the order of the writers, which take the head first.
LOCK TABLE gateway.event_head, gateway.event IN ACCESS EXCLUSIVE MODE;
ALTER TABLE gateway.event RENAME TO event_single;
ALTER INDEX gateway.event_pkey RENAME TO event_single_pkey;
ALTER INDEX gateway.event_sender RENAME TO event_single_sender;
REVOKE INSERT ON gateway.event_single FROM gateway_call, gateway_engine;
REVOKE UPDATE ON gateway.event_single FROM gateway_engine;

CREATE TABLE gateway.event_batch (
    tenant_id text NOT NULL,
    last bigint NOT NULL,
    at timestamptz NOT NULL,
    day integer NOT NULL,
    count integer NOT NULL,
    app_id text NOT NULL,
    vendor text,
    sender_id text,
    kind text NOT NULL,
    before text,
    messages uuid[],
    due_days integer[],
    targets uuid[],
    reasons text[],
    identities uuid[],
    devices uuid[],
    data json[],
    PRIMARY KEY (tenant_id, last, day)
) PARTITION BY RANGE (day);
SELECT gateway.colocate('gateway.event_batch');
CREATE INDEX event_batch_sender ON gateway.event_batch (tenant_id, app_id, vendor, sender_id, last) WHERE sender_id IS NOT NULL;
ALTER TABLE gateway.event_batch ALTER COLUMN messages SET STORAGE EXTERNAL, ALTER COLUMN targets SET STORAGE EXTERNAL,
    ALTER COLUMN identities SET STORAGE EXTERNAL, ALTER COLUMN devices SET STORAGE EXTERNAL;
ALTER TABLE gateway.event_batch ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.event_batch USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT ON gateway.event_batch TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.event_batch TO gateway_engine;
CREATE TABLE gateway.event_batch_default PARTITION OF gateway.event_batch DEFAULT WITH (toast_tuple_target = 8160);
-- As `make_event_partitions`, which does not exist yet.
DO $$
DECLARE
    v_today integer := floor(extract(epoch FROM now()) / 86400)::integer;
BEGIN
    FOR v_day IN v_today .. v_today + 7 LOOP
        EXECUTE format(
            'CREATE TABLE gateway.event_batch_d%s PARTITION OF gateway.event_batch FOR VALUES FROM (%s) TO (%s) '
                'WITH (toast_tuple_target = 8160)',
            v_day, v_day, v_day + 1);
    END LOOP;
END $$;

CREATE TABLE gateway.event_position (
    tenant_id text NOT NULL,
    last bigint NOT NULL,
    day integer NOT NULL,
    PRIMARY KEY (tenant_id, last)
);
SELECT gateway.colocate('gateway.event_position');
ALTER TABLE gateway.event_position ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.event_position USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT ON gateway.event_position TO gateway_call;
GRANT SELECT, INSERT, DELETE ON gateway.event_position TO gateway_engine;
INSERT INTO gateway.event_position (tenant_id, last, day)
    SELECT h.tenant_id, h.last, floor(extract(epoch FROM now()) / 86400)::integer FROM gateway.event_head h;
DROP TABLE gateway.event_head;

CREATE VIEW gateway.event WITH (security_invoker = true) AS
SELECT b.tenant_id, b.last - b.count + i AS position, b.at, b.kind, b.app_id, b.vendor, b.sender_id,
    CASE cardinality(b.messages) WHEN 1 THEN b.messages[1] ELSE b.messages[i] END AS message_id,
    CASE cardinality(b.targets) WHEN 1 THEN b.targets[1] ELSE b.targets[i] END AS target_id,
    CASE cardinality(b.due_days) WHEN 1 THEN b.due_days[1] ELSE b.due_days[i] END AS due_day,
    CASE cardinality(b.data) WHEN 1 THEN b.data[1] ELSE b.data[i] END AS data,
    CASE cardinality(b.identities) WHEN 1 THEN b.identities[1] ELSE b.identities[i] END AS identity_id,
    CASE cardinality(b.devices) WHEN 1 THEN b.devices[1] ELSE b.devices[i] END AS device_id
FROM gateway.event_batch b CROSS JOIN LATERAL generate_series(1, b.count) AS i
UNION ALL
SELECT s.tenant_id, s.position, s.at, s.kind, s.app_id, s.vendor, s.sender_id, s.message_id, s.target_id, s.due_day, s.data, s.identity_id,
    s.device_id
FROM gateway.event_single s;
GRANT SELECT ON gateway.event TO gateway_call, gateway_engine;
CREATE RULE keep_events AS ON DELETE TO gateway.event DO INSTEAD NOTHING;

CREATE VIEW gateway.event_head WITH (security_invoker = true) AS
SELECT p.tenant_id, max(p.last) AS last FROM gateway.event_position p GROUP BY p.tenant_id;
GRANT SELECT ON gateway.event_head TO gateway_call, gateway_engine;

CREATE TABLE gateway.log_generation (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    generation uuid NOT NULL,
    system_identifier bigint NOT NULL,
    database_oid bigint NOT NULL,
    timeline integer NOT NULL
);
