-- Messages, the queue of their slices, what became of them, and who is to be told.

CREATE TABLE gateway.message (
    tenant_id text NOT NULL,
    -- A UUIDv7: newest first is the key backwards.
    message_id uuid NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    sender_id text,
    state text NOT NULL
        CHECK (state IN ('scheduled', 'expanding', 'sending', 'paused', 'done', 'canceled', 'expired', 'dead')),
    lane smallint NOT NULL,
    -- json, not jsonb: the order of keys and the spelling of numbers are the caller's.
    content json NOT NULL,
    collapse_id text,
    fallback json,
    accepted_at timestamptz NOT NULL,
    due_at timestamptz NOT NULL,
    -- UTC day of due_at, counted from 1970: every look-up of a delivery prunes by it.
    due_day integer NOT NULL,
    expires_at timestamptz NOT NULL,
    -- Null until an audience is expanded; `expanded` counts on the way.
    recipients bigint,
    expanded bigint NOT NULL DEFAULT 0,
    -- Slices that are not done. At 0 the message is done.
    open_slices integer NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, message_id)
) WITH (fillfactor = 80);
SELECT gateway.colocate('gateway.message');
ALTER TABLE gateway.message ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;
CREATE INDEX message_app ON gateway.message (tenant_id, app_id, message_id DESC);

-- A vendor's own message number.
CREATE TABLE gateway.message_ref (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    ref text NOT NULL,
    message_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor, ref)
);
SELECT gateway.colocate('gateway.message_ref');
ALTER TABLE gateway.message_ref ADD FOREIGN KEY (tenant_id, message_id) REFERENCES gateway.message ON DELETE CASCADE;
CREATE INDEX message_ref_message ON gateway.message_ref (tenant_id, message_id);
CREATE INDEX message_ref_ref ON gateway.message_ref (tenant_id, ref);

CREATE TABLE gateway.media (
    tenant_id text NOT NULL,
    -- SHA-256 of the bytes, lower-case hex.
    hash text NOT NULL,
    content_type text NOT NULL,
    bytes bytea NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, hash)
);
SELECT gateway.colocate('gateway.media');
-- Images are compressed already.
ALTER TABLE gateway.media ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- What a message shows, under an id that nobody guesses.
CREATE TABLE gateway.message_media (
    tenant_id text NOT NULL,
    message_id uuid NOT NULL,
    media_id text NOT NULL,
    hash text NOT NULL,
    PRIMARY KEY (tenant_id, message_id, media_id)
);
SELECT gateway.colocate('gateway.message_media');
ALTER TABLE gateway.message_media ADD FOREIGN KEY (tenant_id, message_id) REFERENCES gateway.message ON DELETE CASCADE;
CREATE INDEX message_media_hash ON gateway.message_media (tenant_id, hash);

-- Which tenants have, or had, work in which lane: what discovery walks along.
CREATE TABLE gateway.lane (
    tenant_id text NOT NULL,
    lane smallint NOT NULL,
    is_paused boolean NOT NULL DEFAULT false,
    PRIMARY KEY (tenant_id, lane)
);
SELECT gateway.colocate('gateway.lane');

CREATE TABLE gateway.slice (
    tenant_id text NOT NULL,
    message_id uuid NOT NULL,
    no integer NOT NULL,
    lane smallint NOT NULL,
    kind text NOT NULL CHECK (kind IN ('deliver', 'expand')),
    due_day integer NOT NULL,
    targets uuid[] NOT NULL DEFAULT '{}',
    -- How the caller named each target; parallel to targets, or empty.
    addresses text[] NOT NULL DEFAULT '{}',
    -- One bit per target, least significant first.
    done bytea NOT NULL DEFAULT '\x',
    -- Where the expansion goes on.
    after uuid,
    state text NOT NULL CHECK (state IN ('ready', 'leased', 'done')),
    -- The one time the queue looks at: due time while ready, lease deadline while leased.
    next_at timestamptz NOT NULL,
    owner text,
    -- Grows with every claim and every hand-back; an outcome written under an older one is refused.
    epoch bigint NOT NULL DEFAULT 0,
    attempts smallint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, message_id, no)
) WITH (fillfactor = 80);
SELECT gateway.colocate('gateway.slice');
ALTER TABLE gateway.slice ADD FOREIGN KEY (tenant_id, message_id) REFERENCES gateway.message ON DELETE CASCADE;
CREATE INDEX slice_next ON gateway.slice (tenant_id, lane, next_at) WHERE state IN ('ready', 'leased');
-- Random bytes do not compress.
ALTER TABLE gateway.slice ALTER COLUMN targets SET STORAGE EXTERNAL;

-- One message to one target, written once with its outcome. No index knows a column that a receipt changes.
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
    -- Null only while a receipt is here and its outcome is not.
    sent_at timestamptz,
    received_at timestamptz,
    read_at timestamptz,
    PRIMARY KEY (tenant_id, due_day, message_id, target_id)
) PARTITION BY RANGE (due_day);
CREATE INDEX delivery_identity ON gateway.delivery (tenant_id, identity_id, message_id DESC) WHERE identity_id IS NOT NULL;
CREATE INDEX delivery_device ON gateway.delivery (tenant_id, device_id, message_id DESC) WHERE device_id IS NOT NULL;
CREATE TABLE gateway.delivery_default PARTITION OF gateway.delivery DEFAULT;
SELECT gateway.colocate('gateway.delivery');

-- Counts by the hour a message was due, so that a day's stages can be compared. One row per node: nodes do not wait for each other.
CREATE TABLE gateway.counter_hour (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    -- Hours since 1970.
    hour integer NOT NULL,
    node_id text NOT NULL,
    recipients bigint NOT NULL DEFAULT 0,
    sent bigint NOT NULL DEFAULT 0,
    received bigint NOT NULL DEFAULT 0,
    read bigint NOT NULL DEFAULT 0,
    failed bigint NOT NULL DEFAULT 0,
    suppressed bigint NOT NULL DEFAULT 0,
    expired bigint NOT NULL DEFAULT 0,
    canceled bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, app_id, vendor, hour, node_id)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.counter_hour');

-- The tenant's event offset. Bumped by the last statement of the transaction that writes the events: offsets commit in order.
CREATE TABLE gateway.event_head (
    tenant_id text PRIMARY KEY,
    last bigint NOT NULL
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.event_head');

CREATE TABLE gateway.event (
    tenant_id text NOT NULL,
    position bigint NOT NULL,
    at timestamptz NOT NULL,
    -- A delivery's new state.
    kind text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    sender_id text,
    message_id uuid NOT NULL,
    target_id uuid NOT NULL,
    due_day integer NOT NULL,
    data json,
    PRIMARY KEY (tenant_id, position)
);
SELECT gateway.colocate('gateway.event');
CREATE INDEX event_sender ON gateway.event (tenant_id, app_id, vendor, sender_id, position) WHERE sender_id IS NOT NULL;

CREATE TABLE gateway.idempotency (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    key text NOT NULL,
    body_hash text NOT NULL,
    message_id uuid NOT NULL,
    recipients bigint,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor, key)
);
SELECT gateway.colocate('gateway.idempotency');

CREATE TABLE gateway.audit (
    tenant_id text NOT NULL,
    audit_id uuid NOT NULL DEFAULT gen_random_uuid(),
    at timestamptz NOT NULL DEFAULT now(),
    actor text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    data json,
    PRIMARY KEY (tenant_id, audit_id)
);
SELECT gateway.colocate('gateway.audit');
CREATE INDEX audit_at ON gateway.audit (tenant_id, at DESC);

-- Partitions of seven days from the week of p_first_day on; returns how many are new.
-- Rows that waited in the default partition move over. Runs as the owner, because only an owner may attach.
CREATE FUNCTION gateway.make_delivery_partitions(p_first_day integer, p_weeks integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
DECLARE
    v_week integer;
    v_name text;
    v_from integer;
    v_made integer := 0;
    v_waiting boolean;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('gateway.delivery partitions', 0));
    -- 60 weeks: each partition costs planning time in every statement that cannot prune.
    FOR v_week IN p_first_day / 7 .. p_first_day / 7 + least(p_weeks, 60) - 1 LOOP
        v_name := 'delivery_w' || v_week;
        v_from := v_week * 7;
        CONTINUE WHEN to_regclass('gateway.' || v_name) IS NOT NULL;
        SELECT EXISTS (SELECT FROM gateway.delivery_default WHERE due_day >= v_from AND due_day < v_from + 7) INTO v_waiting;
        IF v_waiting THEN
            LOCK TABLE gateway.delivery_default IN ACCESS EXCLUSIVE MODE;
            EXECUTE format('CREATE TABLE gateway.%I (LIKE gateway.delivery INCLUDING DEFAULTS) WITH (fillfactor = 75)', v_name);
            EXECUTE format(
                'WITH moved AS (DELETE FROM gateway.delivery_default WHERE due_day >= %s AND due_day < %s RETURNING *) '
                    'INSERT INTO gateway.%I SELECT * FROM moved',
                v_from, v_from + 7, v_name);
            EXECUTE format(
                'ALTER TABLE gateway.delivery ATTACH PARTITION gateway.%I FOR VALUES FROM (%s) TO (%s)',
                v_name, v_from, v_from + 7);
        ELSE
            -- 75: a receipt's new version of the row finds room beside the old one (HOT).
            EXECUTE format(
                'CREATE TABLE gateway.%I PARTITION OF gateway.delivery FOR VALUES FROM (%s) TO (%s) WITH (fillfactor = 75)',
                v_name, v_from, v_from + 7);
        END IF;
        v_made := v_made + 1;
    END LOOP;
    RETURN v_made;
END $$;

-- Drops the weeks that end before p_before_day, whole; returns how many.
CREATE FUNCTION gateway.drop_delivery_partitions(p_before_day integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
DECLARE
    v_name text;
    v_dropped integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('gateway.delivery partitions', 0));
    FOR v_name IN
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'gateway.delivery'::regclass AND c.relname ~ '^delivery_w[0-9]+$'
            AND (substr(c.relname, 11)::integer + 1) * 7 <= p_before_day
    LOOP
        EXECUTE format('DROP TABLE gateway.%I', v_name);
        v_dropped := v_dropped + 1;
    END LOOP;
    RETURN v_dropped;
END $$;

-- Rows that no week waited for: more than 0 is an alarm. Nobody but the owner may look into a partition.
CREATE FUNCTION gateway.default_partition_rows() RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (SELECT count(*) FROM gateway.delivery_default);
END $$;

-- From two weeks back, for deliveries of messages that were due a while ago.
SELECT gateway.make_delivery_partitions(floor(extract(epoch FROM now()) / 86400)::integer - 14, 8);
