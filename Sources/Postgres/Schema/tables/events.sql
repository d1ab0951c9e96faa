-- The event log, and the webhooks and senders that read it.
--
-- These functions write the events (docs/webhooks.md describes each kind for readers):
--   accepted approval_needed                                          accept_message
--   message_canceled message_paused message_resumed message_requeued message_approved
--                                                                     note_controlled, in the statement that controls the message
--   sent failed suppressed expired canceled                           record_slice; suppressed also accept_message
--   received read                                                     record_receipt and the functions for several receipts
--   registered replaced                                               register_noted, register_many; not imports, which would write one row per device
--   moved                                                             register_noted, register_many, assign_user, assign_users
--   vouched                                                           vouch_identity, register_noted, assign_user
--   possession                                                        answer_challenge
--   unregistered                                                      unregister_identities
--   preference_changed                                                patch_identities, set_preferences, set_many_preferences
--   token_invalidated token_quarantined                               condemn_tokens
--   routes_changed                                                    the transaction of `put_routes`
--   migration_changed                                                 the transaction that changes a migration (`PostgresMigrationStore`)
-- A delivery's identity, user and address are not copied into the event. Readers join its row, so an erasure also removes them from old events.

-- The events of one transaction that have the same app, vendor, sender, kind and previous state. They have the positions `last - count + 1` to `last`.
--
-- A column with an array has no value (none of the events has one), one element (the same for all of them) or `count` elements. An event belongs to a
-- delivery (with a target), to a message (without a target), to an identity, to a device (no message and no vendor: a token
-- belongs to all vendors), or to the app.
--
-- Rows are only inserted, and removed by retention. `write_events` determines the positions under a lock that is held until the commit, so they have no gaps
-- and are committed in order. `day` is the UTC day of `at`, in days since 1970; it never decreases from one position to the next.
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
    -- The state of the deliveries before the events. Null: unknown, or they had none.
    before text,
    messages uuid[],
    due_days integer[],
    targets uuid[],
    -- Null: the reason in the row of the delivery applies.
    reasons text[],
    identities uuid[],
    devices uuid[],
    data json[],
    PRIMARY KEY (tenant_id, last, day)
) PARTITION BY RANGE (day);
SELECT gateway.colocate('gateway.event_batch');
CREATE INDEX event_batch_sender ON gateway.event_batch (tenant_id, app_id, vendor, sender_id, last) WHERE sender_id IS NOT NULL;
-- A row of 480 targets stays on its page; ids cannot be compressed.
ALTER TABLE gateway.event_batch ALTER COLUMN messages SET STORAGE EXTERNAL, ALTER COLUMN targets SET STORAGE EXTERNAL,
    ALTER COLUMN identities SET STORAGE EXTERNAL, ALTER COLUMN devices SET STORAGE EXTERNAL;
ALTER TABLE gateway.event_batch ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.event_batch USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT ON gateway.event_batch TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.event_batch TO gateway_engine;
-- Events of days without a partition.
CREATE TABLE gateway.event_batch_default PARTITION OF gateway.event_batch DEFAULT WITH (toast_tuple_target = 8160);

-- The last positions of a tenant: each transaction that writes events inserts its last one. It is a table of its own because a search over all partitions
-- costs more than an insertion, and rows are inserted because versions of one updated row accumulate while an old snapshot exists. Maintenance removes all
-- rows but the newest, so positions continue after every event was removed.
CREATE TABLE gateway.event_position (
    tenant_id text NOT NULL,
    last bigint NOT NULL,
    -- The day of that event.
    day integer NOT NULL,
    PRIMARY KEY (tenant_id, last)
);
SELECT gateway.colocate('gateway.event_position');
ALTER TABLE gateway.event_position ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.event_position USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT ON gateway.event_position TO gateway_call;
GRANT SELECT, INSERT, DELETE ON gateway.event_position TO gateway_engine;

-- Events that programs of version 42 and older wrote, one row per event, with lower positions than all batches. Nothing inserts rows; retention removes them.
CREATE TABLE gateway.event_single (
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
SELECT gateway.colocate('gateway.event_single');
CREATE INDEX event_single_sender ON gateway.event_single (tenant_id, app_id, vendor, sender_id, position) WHERE sender_id IS NOT NULL;
ALTER TABLE gateway.event_single ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.event_single USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT ON gateway.event_single TO gateway_call;
GRANT SELECT, DELETE ON gateway.event_single TO gateway_engine;

-- For programs of version 42 and older: single events, and the last position of each tenant. A page of these programs reads the whole log of its tenant.
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
-- The retention of these programs deletes from the view. Their successors remove the events.
CREATE RULE keep_events AS ON DELETE TO gateway.event DO INSTEAD NOTHING;

CREATE VIEW gateway.event_head WITH (security_invoker = true) AS
SELECT p.tenant_id, max(p.last) AS last FROM gateway.event_position p GROUP BY p.tenant_id;
GRANT SELECT ON gateway.event_head TO gateway_call, gateway_engine;

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
    -- The secret before the last rotation, which signs next to the new one until `previous_until`.
    previous_sealed bytea,
    previous_key_id text,
    previous_until timestamptz,
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
    next_at, owner, epoch, delivery_order, previous_key_id, previous_until) ON gateway.webhook TO gateway_call;

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
    -- Whether a caller that proved that it may send registered it, or a provisioning file. Others do not get its id by its name.
    is_proven boolean NOT NULL DEFAULT false,
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
