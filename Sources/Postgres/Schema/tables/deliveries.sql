-- Deliveries, and the inboxes of devices that poll.

-- One message to one target, written once with its outcome. No index contains a column that a receipt changes: receipts stay heap-only updates.
--
-- Partitioned by weeks of the due day (`make_delivery_partitions`). The rights are on the parent only, because partitions carry no policy.
CREATE TABLE gateway.delivery (
    tenant_id text NOT NULL,
    due_day integer NOT NULL,
    message_id uuid NOT NULL,
    target_id uuid NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    identity_id uuid,
    device_id uuid,
    user_id text,
    address text,
    state text NOT NULL,
    reason text,
    transport text,
    transport_id uuid,
    is_certain boolean NOT NULL DEFAULT true,
    attempts smallint NOT NULL DEFAULT 0,
    payload_bytes integer NOT NULL DEFAULT 0,
    reduced text,
    -- Null only while a receipt has arrived and the outcome has not been written.
    sent_at timestamptz,
    received_at timestamptz,
    read_at timestamptz,
    -- The dialect of the device; null: that of the message, or unknown if the message is of the native API.
    device_vendor text,
    -- From the hand-over of the last attempt to the answer of the transport, in milliseconds; null: no answer.
    transport_ms integer,
    -- The facts that the device's SDK had reported at the hand-over (`client_version`); null: none, 0: they have no row there.
    client bigint,
    -- The hour of the week of the outcome in the device's time zone, 0 (Monday, 00:00) to 167; null: the zone is not known.
    local_hour smallint,
    -- When the push was due for the device (`slice.due_at`); null: with its message.
    due_at timestamptz,
    -- The version of the app's rules by which its slice was routed (`route_set`); null: the app had none.
    route_version integer,
    PRIMARY KEY (tenant_id, due_day, message_id, target_id)
) PARTITION BY RANGE (due_day);
CREATE INDEX delivery_identity ON gateway.delivery (tenant_id, identity_id, message_id DESC) WHERE identity_id IS NOT NULL;
CREATE INDEX delivery_device ON gateway.delivery (tenant_id, device_id, message_id DESC) WHERE device_id IS NOT NULL;
-- A history is in the order of message ids, and an id encodes the time at which its message is due. Therefore, walking backwards from the week in which a
-- page begins yields the page in its order, and a page far back costs as much as the first one.
CREATE INDEX delivery_user ON gateway.delivery (tenant_id, app_id, user_id, message_id DESC) WHERE user_id IS NOT NULL;
CREATE TABLE gateway.delivery_default PARTITION OF gateway.delivery DEFAULT WITH (fillfactor = 75);
SELECT gateway.colocate('gateway.delivery');
ALTER TABLE gateway.delivery ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.delivery USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE ON gateway.delivery TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.delivery TO gateway_engine;

-- Settled messages that a device has not received, for vendors whose devices poll an inbox. Separate from `delivery`, whose indexes must not contain
-- receipts, and smaller than the history.
CREATE TABLE gateway.inbox_open (
    tenant_id text NOT NULL,
    identity_id uuid NOT NULL,
    message_id uuid NOT NULL,
    due_day integer NOT NULL,
    PRIMARY KEY (tenant_id, identity_id, message_id)
);
SELECT gateway.colocate('gateway.inbox_open');
ALTER TABLE gateway.inbox_open ADD FOREIGN KEY (tenant_id, identity_id) REFERENCES gateway.identity ON DELETE CASCADE;
-- For retention.
CREATE INDEX inbox_open_day ON gateway.inbox_open (tenant_id, due_day);
ALTER TABLE gateway.inbox_open ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.inbox_open USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.inbox_open TO gateway_call, gateway_engine;
