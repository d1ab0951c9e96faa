-- The event log beyond deliveries, and the webhooks that read it. Which change writes which kind (docs/webhooks.md has the same for readers):
--   accepted             accept_message
--   message_canceled message_paused message_resumed message_requeued     note_controlled, in the statement that steers it
--   sent failed suppressed expired canceled     record_slice; suppressed also accept_message
--   received read        record_receipt
--   registered replaced  register_noted; not by imports, which would bury every reader under one row per device
--   unregistered         unregister_identities
--   preference_changed   patch_identities
--   token_invalidated token_quarantined     condemn_tokens
-- A delivery's reason, identity and address are not copied: its row says them, and an erasure takes them from old events too.

-- An event is of a delivery, of a message (no target), of an identity or of a device (no message; no dialect: a token is everybody's).
ALTER TABLE gateway.event
    ALTER COLUMN vendor DROP NOT NULL, ALTER COLUMN message_id DROP NOT NULL, ALTER COLUMN target_id DROP NOT NULL,
    ALTER COLUMN due_day DROP NOT NULL, ADD COLUMN identity_id uuid, ADD COLUMN device_id uuid;

-- Subscriptions to a tenant's events, made by its API. The queue in it works as the one of `sender`.
CREATE TABLE gateway.webhook (
    tenant_id text NOT NULL,
    webhook_id uuid NOT NULL,
    url text NOT NULL,
    -- Null: every app.
    app_id text,
    -- Empty: every kind.
    kinds text[] NOT NULL DEFAULT '{}',
    -- What signs the calls, under the master key; and its name, which the calls tell.
    sealed bytea NOT NULL,
    key_id text NOT NULL,
    -- False: paused by its owner, or, with a failure, stopped because nobody took the calls.
    is_active boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- The tenant's event offset up to which it was told everything.
    cursor bigint NOT NULL,
    -- Failures in a row, and when the first of them was.
    attempts integer NOT NULL DEFAULT 0,
    failing_since timestamptz,
    failure text,
    -- The one time its queue looks at: next try while free, end of the lease while leased.
    next_at timestamptz NOT NULL DEFAULT now(),
    owner text,
    epoch bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, webhook_id)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.webhook');
ALTER TABLE gateway.webhook ADD FOREIGN KEY (tenant_id) REFERENCES gateway.tenant ON DELETE CASCADE;
CREATE INDEX webhook_next ON gateway.webhook (next_at) WHERE is_active;

ALTER TABLE gateway.webhook ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.webhook USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
-- Calls write the sealed key and never read it.
GRANT SELECT (tenant_id, webhook_id, url, app_id, kinds, key_id, is_active, created_at, cursor, attempts, failing_since, failure,
    next_at, owner, epoch) ON gateway.webhook TO gateway_call;
GRANT INSERT, UPDATE, DELETE ON gateway.webhook TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.webhook TO gateway_engine;

-- Appends one event per kind and target; a null target: of the message itself, which is nobody's tracking callback.
-- Last in its transaction: the head's row lock keeps offsets in commit order.
CREATE OR REPLACE FUNCTION gateway.append_events(
    p_tenant text, p_app text, p_vendor text, p_sender text, p_message uuid, p_due_day integer,
    p_kinds text[], p_targets uuid[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint := cardinality(p_kinds);
    v_last bigint;
BEGIN
    IF coalesce(v_count, 0) = 0 THEN RETURN; END IF;
    INSERT INTO gateway.event_head AS h (tenant_id, last) VALUES (p_tenant, v_count)
        ON CONFLICT (tenant_id) DO UPDATE SET last = h.last + excluded.last
        RETURNING h.last INTO v_last;
    -- RETURNING keeps Citus from making a COPY of it, as ON CONFLICT would, which costs a look and a log record per row more.
    WITH r AS (
        INSERT INTO gateway.event (tenant_id, position, at, kind, app_id, vendor, sender_id, message_id, target_id, due_day)
            SELECT p_tenant, v_last - v_count + u.o, now(), u.kind, p_app, p_vendor,
                CASE WHEN u.target IS NOT NULL THEN p_sender END, p_message, u.target, p_due_day
            FROM unnest(p_kinds, p_targets) WITH ORDINALITY AS u(kind, target, o)
            RETURNING 1)
    SELECT count(*) INTO v_count FROM r;
END $$;

-- The same for identities and devices: parallel arrays, one entry per event.
CREATE FUNCTION gateway.append_changes(
    p_tenant text, p_kinds text[], p_apps text[], p_vendors text[], p_identities uuid[], p_devices uuid[], p_data json[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint := cardinality(p_kinds);
    v_last bigint;
BEGIN
    IF coalesce(v_count, 0) = 0 THEN RETURN; END IF;
    INSERT INTO gateway.event_head AS h (tenant_id, last) VALUES (p_tenant, v_count)
        ON CONFLICT (tenant_id) DO UPDATE SET last = h.last + excluded.last
        RETURNING h.last INTO v_last;
    INSERT INTO gateway.event (tenant_id, position, at, kind, app_id, vendor, identity_id, device_id, data)
        SELECT p_tenant, v_last - v_count + u.o, now(), u.kind, u.app, u.vendor, u.identity, u.device, u.data
        FROM unnest(p_kinds, p_apps, p_vendors, p_identities, p_devices, p_data) WITH ORDINALITY
            AS u(kind, app, vendor, identity, device, data, o)
        ON CONFLICT DO NOTHING;
END $$;

-- `message_canceled` and its like, when control_message said that it changed something.
CREATE FUNCTION gateway.note_controlled(p_tenant text, p_message uuid, p_action text, p_count bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    m record;
BEGIN
    IF p_count = 0 THEN RETURN; END IF;
    SELECT app_id, vendor, due_day INTO m FROM gateway.message WHERE tenant_id = p_tenant AND message_id = p_message;
    PERFORM gateway.append_events(
        p_tenant, m.app_id, m.vendor, NULL, p_message, m.due_day,
        ARRAY[CASE p_action WHEN 'cancel' THEN 'message_canceled' WHEN 'pause' THEN 'message_paused'
            WHEN 'resume' THEN 'message_resumed' ELSE 'message_requeued' END], ARRAY[NULL]::uuid[]);
END $$;

-- register_identity with its events. An app that registers again as it was, as SDKs do at every start, is none.
CREATE FUNCTION gateway.register_noted(
    p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid,
    p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text,
    p_replaces_phone boolean, p_attributes json, p_at timestamptz)
RETURNS TABLE (identity_id uuid, device_id uuid, platform text, was_active boolean, replaced uuid[])
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    r record;
    v_kinds text[] := '{}';
    v_identities uuid[] := '{}';
    v_devices uuid[] := '{}';
BEGIN
    SELECT * INTO r FROM gateway.register_identity(
        p_tenant, p_app, p_vendor, p_key, p_identity, p_device, p_platform, p_environment, p_token, p_user, p_name, p_phone,
        p_raw_phone, p_replaces_phone, p_attributes, p_at);
    v_kinds := array_fill('replaced'::text, ARRAY[cardinality(r.replaced)]);
    v_identities := r.replaced;
    v_devices := array_fill(NULL::uuid, ARRAY[cardinality(r.replaced)]);
    IF NOT r.was_active THEN
        v_kinds := v_kinds || 'registered'::text;
        v_identities := v_identities || r.identity_id;
        v_devices := v_devices || r.device_id;
    END IF;
    PERFORM gateway.append_changes(
        p_tenant, v_kinds, array_fill(p_app, ARRAY[cardinality(v_kinds)]), array_fill(p_vendor, ARRAY[cardinality(v_kinds)]),
        v_identities, v_devices, NULL);
    RETURN QUERY SELECT r.identity_id, r.device_id, r.platform, r.was_active, r.replaced;
END $$;

-- A registration that brings tags, with its events.
CREATE OR REPLACE FUNCTION gateway.register_tagged(
    p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid,
    p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text,
    p_replaces_phone boolean, p_attributes json, p_at timestamptz, p_tags text[])
RETURNS TABLE (identity_id uuid, device_id uuid, platform text, was_active boolean, replaced uuid[])
LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    SELECT * INTO r FROM gateway.register_noted(
        p_tenant, p_app, p_vendor, p_key, p_identity, p_device, p_platform, p_environment, p_token, p_user, p_name, p_phone,
        p_raw_phone, p_replaces_phone, p_attributes, p_at);
    PERFORM gateway.set_tags(p_tenant, r.identity_id, p_tags);
    RETURN QUERY SELECT r.identity_id, r.device_id, r.platform, r.was_active, r.replaced;
END $$;

-- Active identities of a key, or of a phone, leave; their tokens too unless another dialect uses them.
CREATE OR REPLACE FUNCTION gateway.unregister_identities(p_tenant text, p_app text, p_vendor text, p_key text, p_phone text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_ids uuid[];
    v_devices uuid[];
    v_keys text[];
BEGIN
    IF p_key IS NOT NULL THEN
        WITH r AS (
            UPDATE gateway.identity SET state = 'unregistered'
            WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND key = p_key AND state = 'active'
            RETURNING identity_id, device_id, key)
        SELECT array_agg(identity_id), array_agg(device_id), array_agg(key) INTO v_ids, v_devices, v_keys FROM r;
    ELSE
        WITH r AS (
            UPDATE gateway.identity SET state = 'unregistered'
            WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND phone = p_phone AND state = 'active'
            RETURNING identity_id, device_id, key)
        SELECT array_agg(identity_id), array_agg(device_id), array_agg(key) INTO v_ids, v_devices, v_keys FROM r;
    END IF;
    IF v_keys IS NULL THEN RETURN 0; END IF;
    DELETE FROM gateway.identity_tag WHERE tenant_id = p_tenant AND identity_id = ANY (v_ids);
    PERFORM gateway.count_identities(p_tenant, p_app, p_vendor, v_keys, -1);
    PERFORM gateway.drop_unused_tokens(p_tenant, v_devices);
    PERFORM gateway.append_changes(
        p_tenant, array_fill('unregistered'::text, ARRAY[cardinality(v_ids)]), array_fill(p_app, ARRAY[cardinality(v_ids)]),
        array_fill(p_vendor, ARRAY[cardinality(v_ids)]), v_ids, v_devices, NULL);
    RETURN cardinality(v_keys);
END $$;

-- Changes a device's active identities; null fields stay. The event is of the preference alone.
CREATE FUNCTION gateway.patch_identities(
    p_tenant text, p_device uuid, p_accepts boolean, p_user text, p_name text, p_phone text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint;
    v record;
BEGIN
    WITH old AS (
        SELECT identity_id, accepts_push FROM gateway.identity
        WHERE tenant_id = p_tenant AND device_id = p_device AND state = 'active' ORDER BY identity_id FOR UPDATE),
    r AS (
        UPDATE gateway.identity i SET accepts_push = coalesce(p_accepts, i.accepts_push), user_id = coalesce(p_user, i.user_id),
            name = coalesce(p_name, i.name), phone = coalesce(p_phone, i.phone)
        FROM old WHERE i.tenant_id = p_tenant AND i.identity_id = old.identity_id
        RETURNING i.identity_id, i.app_id, i.vendor, i.accepts_push, i.accepts_push <> old.accepts_push AS is_news)
    SELECT count(*) AS total, array_agg(identity_id) FILTER (WHERE is_news) AS ids, array_agg(app_id) FILTER (WHERE is_news) AS apps,
            array_agg(vendor) FILTER (WHERE is_news) AS vendors
        INTO v FROM r;
    v_count := v.total;
    IF v.ids IS NOT NULL THEN
        PERFORM gateway.append_changes(
            p_tenant, array_fill('preference_changed'::text, ARRAY[cardinality(v.ids)]), v.apps, v.vendors, v.ids,
            array_fill(p_device, ARRAY[cardinality(v.ids)]),
            array_fill(json_build_object('acceptsPush', p_accepts), ARRAY[cardinality(v.ids)]));
    END IF;
    RETURN v_count;
END $$;

-- The transport's verdicts on tokens, parallel arrays; p_since null: no time was given.
CREATE OR REPLACE FUNCTION gateway.condemn_tokens(
    p_tenant text, p_devices uuid[], p_tokens text[], p_states text[], p_reasons text[], p_since timestamptz[])
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    c record;
BEGIN
    WITH r AS (
        UPDATE gateway.device d SET token_state = v.state, token_reason = v.reason
        FROM unnest(p_devices, p_tokens, p_states, p_reasons, p_since) AS v(device, token, state, reason, since)
        WHERE d.tenant_id = p_tenant AND d.device_id = v.device AND d.token = v.token
            AND (v.since IS NULL OR d.token_registered_at IS NULL OR d.token_registered_at <= v.since)
            AND (d.token_state = 'active' OR (d.token_state = 'quarantined' AND v.state = 'invalid'))
        RETURNING d.device_id, d.app_id,
            CASE WHEN d.token_state = 'invalid' THEN 'token_invalidated' ELSE 'token_quarantined' END AS kind,
            json_build_object('reason', d.token_reason) AS data)
    SELECT array_agg(kind) AS kinds, array_agg(app_id) AS apps, array_agg(device_id) AS devices, array_agg(data) AS data INTO c FROM r;
    IF c.devices IS NULL THEN RETURN 0; END IF;
    PERFORM gateway.append_changes(p_tenant, c.kinds, c.apps, NULL, NULL, c.devices, c.data);
    RETURN cardinality(c.devices);
END $$;

-- A new webhook hears of what happens from now on. False: the tenant has p_limit already.
CREATE FUNCTION gateway.create_webhook(
    p_tenant text, p_id uuid, p_url text, p_app text, p_kinds text[], p_sealed bytea, p_key_id text, p_active boolean, p_limit integer)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'webhooks', '');
    IF (SELECT count(*) FROM gateway.webhook w WHERE w.tenant_id = p_tenant) >= p_limit THEN RETURN false; END IF;
    INSERT INTO gateway.webhook (tenant_id, webhook_id, url, app_id, kinds, sealed, key_id, is_active, cursor)
        VALUES (p_tenant, p_id, p_url, p_app, p_kinds, p_sealed, p_key_id, p_active,
            coalesce((SELECT h.last FROM gateway.event_head h WHERE h.tenant_id = p_tenant), 0));
    RETURN true;
END $$;

-- Tells a webhook everything after p_from again. outcome: moved, unknown, outside (p_from is not between p_first and p_head).
-- Whoever calls for it right now loses the lease, so that its bookkeeping does not undo this.
CREATE FUNCTION gateway.replay_webhook(p_tenant text, p_id uuid, p_from bigint)
RETURNS TABLE (outcome text, first bigint, head bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_first bigint;
    v_head bigint;
BEGIN
    SELECT b.first, b.head INTO v_first, v_head FROM gateway.event_bounds(p_tenant) b;
    IF p_from < v_first OR p_from > v_head THEN
        RETURN QUERY SELECT 'outside', v_first, v_head;
        RETURN;
    END IF;
    UPDATE gateway.webhook SET cursor = p_from, attempts = 0, failing_since = NULL, failure = NULL, owner = NULL,
            epoch = epoch + 1, next_at = now()
        WHERE tenant_id = p_tenant AND webhook_id = p_id;
    RETURN QUERY SELECT CASE WHEN FOUND THEN 'moved' ELSE 'unknown' END, v_first, v_head;
END $$;

-- The offset before the oldest event that is kept, and the last one.
CREATE FUNCTION gateway.event_bounds(p_tenant text) RETURNS TABLE (first bigint, head bigint) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    v_head bigint;
    v_first bigint;
BEGIN
    SELECT h.last INTO v_head FROM gateway.event_head h WHERE h.tenant_id = p_tenant;
    SELECT min(e.position) - 1 INTO v_first FROM gateway.event e WHERE e.tenant_id = p_tenant;
    RETURN QUERY SELECT coalesce(v_first, v_head, 0), coalesce(v_head, 0);
END $$;

REVOKE ALL ON FUNCTION
    gateway.append_changes, gateway.note_controlled, gateway.register_noted, gateway.patch_identities, gateway.create_webhook,
    gateway.replay_webhook, gateway.event_bounds FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    gateway.append_changes, gateway.note_controlled, gateway.register_noted, gateway.patch_identities, gateway.create_webhook,
    gateway.replay_webhook, gateway.event_bounds TO gateway_call, gateway_engine;
