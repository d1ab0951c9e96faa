-- Messages, their numbers, media and per-user content.

CREATE TABLE gateway.message (
    tenant_id text NOT NULL,
    -- A UUIDv7 of the time at which the message is due, so that reading the key backwards returns the newest message first.
    message_id uuid NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    sender_id text,
    state text NOT NULL
        CHECK (state IN ('scheduled', 'expanding', 'sending', 'paused', 'done', 'canceled', 'expired', 'dead')),
    lane smallint NOT NULL,
    -- json, not jsonb: keeps the caller's order of keys and spelling of numbers.
    content json NOT NULL,
    collapse_id text,
    fallback json,
    accepted_at timestamptz NOT NULL,
    due_at timestamptz NOT NULL,
    -- The UTC day of due_at, counted from 1970. Every lookup of a delivery prunes partitions by it.
    due_day integer NOT NULL,
    expires_at timestamptz NOT NULL,
    -- Null until the audience is expanded; until then, `expanded` is the count.
    recipients bigint,
    expanded bigint NOT NULL DEFAULT 0,
    -- Not used: `slice_open` contains the open slices.
    open_slices integer NOT NULL DEFAULT 0,
    -- Greater than 0 if a slice has given up since the last requeue.
    dead_slices integer NOT NULL DEFAULT 0,
    -- The audience of a message that lists no targets: {"tags": […], "cares": […], "wants": […], "anchors": […]} (`AudienceCoding`), {"groups": […]} or
    -- {"users": […]}; null: everyone, or the listed targets.
    audience json,
    -- The local time at which the message is due in each device's time zone, in seconds since 1970-01-01T00:00 on that clock; null: it is due at `due_at`
    -- everywhere. When set, `due_at` is the time for the first zone (UTC+14) and `expires_at` counts from the last one (UTC-12).
    due_local bigint,
    -- Throttling: `pace_count` targets every `pace_seconds`; null: not throttled.
    pace_count integer,
    pace_seconds integer,
    -- Whether the message has counts of its own (`message_counter`).
    is_counted boolean NOT NULL DEFAULT false,
    -- When the message was paused; null: it is not paused.
    paused_at timestamptz,
    -- The beginning of the pace, later than `due_at` by the pauses; null: `due_at`.
    pace_from timestamptz,
    -- While `paused`: whether the message waits for the approval of someone other than its sender (`approve` of `control_message`).
    awaits_approval boolean NOT NULL DEFAULT false,
    -- The key that sent the message, as the audit names it; null: the vendor's call was admitted without a key of the gateway.
    submitted_by text,
    -- The upstream that sent the message, of which the gateway has seen the call and the answer; null: the gateway sends it.
    observed_from text,
    -- Only for messages of apps with `duplicateGuard`: a digest of the text, and the dialect with the side that sends it. Null: the message is compared with none.
    fingerprint bytea,
    entry_point text,
    -- When it was compared: of two messages with the same text, the one with the earlier time came first (`earlier_message`).
    compared_at timestamptz,
    -- The newest message with the same text that came before, through another entry point, and how far before this one such messages may be due. Null: there was
    -- none.
    duplicate_of uuid,
    duplicate_window interval,
    PRIMARY KEY (tenant_id, message_id)
) WITH (fillfactor = 80);
SELECT gateway.colocate('gateway.message');
ALTER TABLE gateway.message ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;
CREATE INDEX message_app ON gateway.message (tenant_id, app_id, message_id DESC);
CREATE INDEX message_fingerprint ON gateway.message (tenant_id, app_id, fingerprint, entry_point, message_id) WHERE fingerprint IS NOT NULL;
ALTER TABLE gateway.message ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.message USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE ON gateway.message TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.message TO gateway_engine;

-- Messages with several slices that may still be open. The node that finishes the last slice removes the row; a message that stays because that node has
-- crashed is found here (`settle_messages`).
CREATE TABLE gateway.message_open (
    tenant_id text NOT NULL,
    message_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, message_id)
);
SELECT gateway.colocate('gateway.message_open');
ALTER TABLE gateway.message_open ADD FOREIGN KEY (tenant_id, message_id) REFERENCES gateway.message ON DELETE CASCADE;
ALTER TABLE gateway.message_open ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.message_open USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, DELETE ON gateway.message_open TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.message_open TO gateway_engine;

-- The number that a vendor's API shows for a message, or an upstream's name of a message that it sent.
CREATE TABLE gateway.message_ref (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    ref text NOT NULL,
    message_id uuid NOT NULL,
    -- The upstream that has given the message this name; null: the gateway.
    owner text,
    -- Whether that upstream sends a paid message to a device that does not report this one.
    is_paid boolean NOT NULL DEFAULT false,
    PRIMARY KEY (tenant_id, app_id, vendor, ref)
);
SELECT gateway.colocate('gateway.message_ref');
ALTER TABLE gateway.message_ref ADD FOREIGN KEY (tenant_id, message_id) REFERENCES gateway.message ON DELETE CASCADE;
CREATE INDEX message_ref_message ON gateway.message_ref (tenant_id, message_id);
CREATE INDEX message_ref_ref ON gateway.message_ref (tenant_id, ref);
ALTER TABLE gateway.message_ref ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.message_ref USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT ON gateway.message_ref TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.message_ref TO gateway_engine;

-- The last message number drawn: seconds since 1970 times 10,000, plus the position within the second (`MessageNumber`).
CREATE TABLE gateway.message_number (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    last bigint NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.message_number');
ALTER TABLE gateway.message_number ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;
ALTER TABLE gateway.message_number ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.message_number USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE ON gateway.message_number TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.message_number TO gateway_engine;

-- The last number given out under a name, 'message' or 'group'.
CREATE TABLE gateway.vendor_sequence (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    name text NOT NULL,
    last bigint NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor, name)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.vendor_sequence');
ALTER TABLE gateway.vendor_sequence ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;
ALTER TABLE gateway.vendor_sequence ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.vendor_sequence USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE ON gateway.vendor_sequence TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.vendor_sequence TO gateway_engine;

CREATE TABLE gateway.media (
    tenant_id text NOT NULL,
    -- SHA-256 of the bytes, lower-case hex.
    hash text NOT NULL,
    content_type text NOT NULL,
    bytes bytea NOT NULL,
    -- Retention counts from here: the time at which the image was last stored (`put_media`), or a later one if a message was found to show it (`sweep_media`).
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, hash)
);
SELECT gateway.colocate('gateway.media');
-- For retention.
CREATE INDEX media_created ON gateway.media (tenant_id, created_at);
-- Images are compressed already.
ALTER TABLE gateway.media ALTER COLUMN bytes SET STORAGE EXTERNAL;
ALTER TABLE gateway.media ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.media USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE (created_at) ON gateway.media TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.media TO gateway_engine;

-- The media that a message shows, under an unguessable id.
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
ALTER TABLE gateway.message_media ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.message_media USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, DELETE ON gateway.message_media TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.message_media TO gateway_engine;

-- The values of a template's placeholders for one user: {"CNAME": "…", "VAR1": "…"}.
CREATE TABLE gateway.message_variable (
    tenant_id text NOT NULL,
    message_id uuid NOT NULL,
    user_id text NOT NULL,
    variables json NOT NULL,
    PRIMARY KEY (tenant_id, message_id, user_id)
);
SELECT gateway.colocate('gateway.message_variable');
ALTER TABLE gateway.message_variable ADD FOREIGN KEY (tenant_id, message_id) REFERENCES gateway.message ON DELETE CASCADE;
CREATE INDEX message_variable_user ON gateway.message_variable (tenant_id, user_id);
ALTER TABLE gateway.message_variable ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.message_variable USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, DELETE ON gateway.message_variable TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.message_variable TO gateway_engine;

-- Text that a push links to, under an unguessable id.
CREATE TABLE gateway.page (
    tenant_id text NOT NULL,
    page_id text NOT NULL,
    message_id uuid NOT NULL,
    name text NOT NULL,
    body text NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, page_id)
);
SELECT gateway.colocate('gateway.page');
ALTER TABLE gateway.page ADD FOREIGN KEY (tenant_id, message_id) REFERENCES gateway.message ON DELETE CASCADE;
CREATE INDEX page_page ON gateway.page (page_id);
ALTER TABLE gateway.page ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.page USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT INSERT, DELETE ON gateway.page TO gateway_call;
GRANT SELECT (tenant_id, message_id) ON gateway.page TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.page TO gateway_engine;

-- The labels under which a caller counts messages together.
CREATE TABLE gateway.message_label (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    label text NOT NULL,
    -- The message's due day, so that a series reads only the days it covers.
    due_day integer NOT NULL,
    message_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor, label, due_day, message_id)
);
SELECT gateway.colocate('gateway.message_label');
ALTER TABLE gateway.message_label ADD FOREIGN KEY (tenant_id, message_id) REFERENCES gateway.message ON DELETE CASCADE;
CREATE INDEX message_label_message ON gateway.message_label (tenant_id, message_id);
ALTER TABLE gateway.message_label ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.message_label USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.message_label TO gateway_call, gateway_engine;
