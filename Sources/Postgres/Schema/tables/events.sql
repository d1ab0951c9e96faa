-- The event log, and the webhooks and senders that read it.
--
-- These functions write the events (docs/webhooks.md describes each kind for readers):
--   accepted                                                          accept_message
--   message_canceled message_paused message_resumed message_requeued  note_controlled, in the statement that controls the message
--   sent failed suppressed expired canceled                           record_slice; suppressed also accept_message
--   received read                                                     record_receipt and the functions for several receipts
--   registered replaced                                               register_noted, register_many; not imports, which would write one row per device
--   unregistered                                                      unregister_identities
--   preference_changed                                                patch_identities, set_preferences, set_many_preferences
--   token_invalidated token_quarantined                               condemn_tokens
-- A delivery's reason, identity and address are not copied into the event. Readers join its row, so an erasure also removes them from old events.

-- The tenant's last event position. The transaction that writes events increments it in its last statement, so positions commit in order.
CREATE TABLE gateway.event_head (
    tenant_id text PRIMARY KEY,
    last bigint NOT NULL
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.event_head');
ALTER TABLE gateway.event_head ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.event_head USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE ON gateway.event_head TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.event_head TO gateway_engine;

-- An event of a delivery, of a message (no target), of an identity, or of a device (no message and no vendor: a token belongs to all vendors).
CREATE TABLE gateway.event (
    tenant_id text NOT NULL,
    position bigint NOT NULL,
    at timestamptz NOT NULL,
    kind text NOT NULL,
    app_id text NOT NULL,
    vendor text,
    sender_id text,
    message_id uuid,
    target_id uuid,
    due_day integer,
    data json,
    identity_id uuid,
    device_id uuid,
    PRIMARY KEY (tenant_id, position)
);
SELECT gateway.colocate('gateway.event');
CREATE INDEX event_sender ON gateway.event (tenant_id, app_id, vendor, sender_id, position) WHERE sender_id IS NOT NULL;
ALTER TABLE gateway.event ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.event USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT ON gateway.event TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.event TO gateway_engine;

-- A subscription to a tenant's events. Its queue columns work like those of `sender`.
CREATE TABLE gateway.webhook (
    tenant_id text NOT NULL,
    webhook_id uuid NOT NULL,
    url text NOT NULL,
    -- Null: every app.
    app_id text,
    -- Empty: every kind.
    kinds text[] NOT NULL DEFAULT '{}',
    -- The signing key, sealed with the master key, and the key id that the calls name.
    sealed bytea NOT NULL,
    key_id text NOT NULL,
    -- False: paused by its owner, or, with a `failure`, stopped because its calls kept failing.
    is_active boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- The event position up to which everything was delivered.
    cursor bigint NOT NULL,
    -- Number of consecutive failures, and the time of the first one.
    attempts integer NOT NULL DEFAULT 0,
    failing_since timestamptz,
    failure text,
    -- The only time its queue reads: the next try while free, the end of the lease while leased.
    next_at timestamptz NOT NULL DEFAULT now(),
    owner text,
    epoch bigint NOT NULL DEFAULT 0,
    -- log: one call at a time, in the order of the log. device: calls in parallel, in the order of the log for each device.
    delivery_order text NOT NULL DEFAULT 'log' CONSTRAINT webhook_order CHECK (delivery_order IN ('log', 'device')),
    PRIMARY KEY (tenant_id, webhook_id)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.webhook');
ALTER TABLE gateway.webhook ADD FOREIGN KEY (tenant_id) REFERENCES gateway.tenant ON DELETE CASCADE;
CREATE INDEX webhook_next ON gateway.webhook (next_at) WHERE is_active;
ALTER TABLE gateway.webhook ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.webhook USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT INSERT, UPDATE, DELETE ON gateway.webhook TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.webhook TO gateway_engine;
-- Calls write the sealed key and must not read it.
GRANT SELECT (tenant_id, webhook_id, url, app_id, kinds, key_id, is_active, created_at, cursor, attempts, failing_since, failure,
    next_at, owner, epoch, delivery_order) ON gateway.webhook TO gateway_call;

-- A back end that a vendor's API requires to register, and the callbacks it receives.
CREATE TABLE gateway.sender (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    sender_id text NOT NULL,
    name text NOT NULL,
    enrolment_key text,
    enrolment_name text,
    address text,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- The key that signs the calls is derived from the master key and the sender's names.
    callback_url text,
    -- The event position up to which everything was delivered.
    cursor bigint NOT NULL DEFAULT 0,
    -- Number of consecutive failures, and the time of the first one.
    attempts integer NOT NULL DEFAULT 0,
    failing_since timestamptz,
    failure text,
    -- The only time its queue reads: the next try while free, the end of the lease while leased.
    next_at timestamptz NOT NULL DEFAULT now(),
    owner text,
    epoch bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, app_id, vendor, sender_id)
);
SELECT gateway.colocate('gateway.sender');
ALTER TABLE gateway.sender ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;
CREATE UNIQUE INDEX sender_name ON gateway.sender (tenant_id, app_id, vendor, name);
CREATE INDEX sender_next ON gateway.sender (next_at) WHERE callback_url IS NOT NULL;
ALTER TABLE gateway.sender ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.sender USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE ON gateway.sender TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.sender TO gateway_engine;
