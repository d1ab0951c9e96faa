-- Devices, the identities that vendors' clients register for them, and phone verification.

-- One installation of an app, found by its push token.
CREATE TABLE gateway.device (
    tenant_id text NOT NULL,
    device_id uuid NOT NULL,
    app_id text NOT NULL,
    platform text NOT NULL,
    environment text NOT NULL,
    token text,
    -- An index row holds at most 2.7 kB and an FCM token may be longer, so the index has the digest. Queries compare the token as well.
    token_digest text GENERATED ALWAYS AS (md5(token)) STORED,
    token_state text NOT NULL DEFAULT 'none' CHECK (token_state IN ('none', 'active', 'invalid', 'quarantined')),
    token_reason text,
    -- A push service's report that a token is invalid is ignored if it is older than this.
    token_registered_at timestamptz,
    created_at timestamptz NOT NULL,
    seen_at timestamptz,
    -- IANA name of the device's time zone; null: the app's time zone applies.
    time_zone text,
    -- First and last minute of the day (0 to 1439, local time) at which the device may receive pushes; null: at any time.
    window_from smallint,
    window_to smallint,
    PRIMARY KEY (tenant_id, device_id)
) WITH (fillfactor = 90);
SELECT gateway.colocate('gateway.device');
ALTER TABLE gateway.device ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;
-- The environment is the last column: a caller that does not name one looks the token up in both.
CREATE UNIQUE INDEX device_token ON gateway.device (tenant_id, app_id, platform, token_digest, environment) WHERE token_digest IS NOT NULL;
-- The pages of an app's devices. The primary key is the order of those of all apps.
CREATE INDEX device_app ON gateway.device (tenant_id, app_id, device_id);
ALTER TABLE gateway.device ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.device USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.device TO gateway_call, gateway_engine;

-- The name of a device in one vendor's API, as the vendor's client registers it.
CREATE TABLE gateway.identity (
    tenant_id text NOT NULL,
    identity_id uuid NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    key text NOT NULL,
    device_id uuid,
    state text NOT NULL CHECK (state IN ('active', 'replaced', 'unregistered', 'removed')),
    user_id text,
    name text,
    phone text,
    raw_phone text,
    accepts_push boolean NOT NULL DEFAULT true,
    attributes json NOT NULL DEFAULT '{}',
    registered_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    -- The back end's name for the identity's user, where it differs from the user's id.
    alias text,
    -- When the registration ends, from the attribute "$endsAt" (seconds since 1970); null: it does not end. From then on sends treat the identity as
    -- unregistered, and retention unregisters it (`end_identities`). Other values of the attribute belong to the caller and are ignored.
    ends_at timestamptz GENERATED ALWAYS AS (
        CASE WHEN attributes->>'$endsAt' ~ '^[0-9]{1,12}$' THEN to_timestamp((attributes->>'$endsAt')::double precision) END) STORED,
    -- True: the device's system shows no pushes of the app, so no push is sent, independent of the user's own setting. This is a column, because every push
    -- reads it and the attributes may be 8 KiB and stored out of line.
    denies_push boolean GENERATED ALWAYS AS (attributes->>'deniesPush' = 'true') STORED,
    -- How well user and phone are known to be right: -1 pending (claimed, while another device has them and the binding requires confirmation), 0 claimed by
    -- the app, 1 possession (the device answered a push), 2 vouched (confirmed by the tenant's back end).
    assurance smallint NOT NULL DEFAULT 0 CONSTRAINT identity_assurance_check CHECK (assurance BETWEEN -1 AND 2),
    -- Since when the identity has its user and phone; null: since `created_at`.
    user_since timestamptz,
    -- The facts that the vendor's SDK reported: appVersion, os, osVersion, sdkVersion, model, locale. Null: none.
    client jsonb,
    -- The number of `client` in `client_version`; 0: it has no row there.
    client_number bigint,
    -- When it was last seen since `registered_at`, by a token or a receipt; null: not since. Kept only on devices with several identities (`note_sightings`).
    -- Index: none, so that the update stays heap-only.
    seen_at timestamptz,
    -- The key that it had before it took that of the app: an import derived it from the token. Rollouts by device know the identity by it. Null: it has its own
    -- key only. This is a column, because every routed push reads it; exports have it as the attribute "$rolloutKey".
    first_key text,
    PRIMARY KEY (tenant_id, identity_id)
) WITH (fillfactor = 90);
SELECT gateway.colocate('gateway.identity');
ALTER TABLE gateway.identity ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;
-- The vendor is the last column: the native API looks a key up over all vendors.
CREATE UNIQUE INDEX identity_key ON gateway.identity (tenant_id, app_id, key, vendor);
-- App and vendor are in each of the following indexes although they select little: before the first ANALYZE the planner takes the index that matches most
-- columns, and would read the whole app through `identity_audience`.
CREATE INDEX identity_device ON gateway.identity (tenant_id, device_id, app_id, vendor) WHERE device_id IS NOT NULL;
CREATE INDEX identity_phone ON gateway.identity (tenant_id, app_id, phone, vendor) WHERE phone IS NOT NULL;
-- Walks the identities of one user, which may be many: an app may give every installation the user "guest".
CREATE INDEX identity_user ON gateway.identity (tenant_id, app_id, user_id, vendor, identity_id) WHERE user_id IS NOT NULL;
CREATE INDEX identity_alias ON gateway.identity (tenant_id, app_id, alias, vendor) WHERE alias IS NOT NULL;
-- The keyset for expanding audiences. Not partial on the state, because without statistics the planner would assume that the index is small.
CREATE INDEX identity_audience ON gateway.identity (tenant_id, app_id, vendor, identity_id);
-- The few identities that a page of an audience must leave out.
CREATE INDEX identity_gone ON gateway.identity (tenant_id, app_id, identity_id) WHERE state <> 'active';
-- Whether a user or a phone has an identity of a higher level than a given one: one probe, also for a user with a million claimed identities.
CREATE INDEX identity_sure_user ON gateway.identity (tenant_id, app_id, user_id, assurance)
    WHERE user_id IS NOT NULL AND assurance > 0 AND state = 'active';
CREATE INDEX identity_sure_phone ON gateway.identity (tenant_id, app_id, phone, assurance)
    WHERE phone IS NOT NULL AND assurance > 0 AND state = 'active';
CREATE INDEX identity_end ON gateway.identity (tenant_id, ends_at) WHERE ends_at IS NOT NULL AND state = 'active';
ALTER TABLE gateway.identity ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.identity USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.identity TO gateway_call, gateway_engine;

-- The facts that SDKs reported, each combination once per app. Deliveries refer to it by number. At most 500 new rows per app and day; other combinations
-- have the number 0. Rows are kept, because deliveries and counts refer to them.
CREATE TABLE gateway.client_version (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    -- Derived from the facts (`client_number`).
    client bigint NOT NULL,
    -- The day on which it was reported first, UTC, since 1970.
    day integer NOT NULL,
    app_version text,
    os text,
    os_version text,
    sdk_version text,
    model text,
    locale text,
    PRIMARY KEY (tenant_id, app_id, client)
);
SELECT gateway.colocate('gateway.client_version');
ALTER TABLE gateway.client_version ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;
CREATE INDEX client_version_day ON gateway.client_version (tenant_id, app_id, day);
ALTER TABLE gateway.client_version ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.client_version USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT ON gateway.client_version TO gateway_call;
GRANT SELECT, INSERT, DELETE ON gateway.client_version TO gateway_engine;

-- The maintained number of active identities: sixteen rows per app and vendor, summed on read. With a single row, registrations would wait for each other.
CREATE TABLE gateway.identity_count (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    bucket smallint NOT NULL,
    active bigint NOT NULL,
    -- The identities that were registered on the UTC day `day`, without imported ones. Removals do not reduce it.
    day date,
    registered bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, app_id, vendor, bucket)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.identity_count');
ALTER TABLE gateway.identity_count ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.identity_count USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE ON gateway.identity_count TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.identity_count TO gateway_engine;

-- A token by which the push service starts or changes Live Activities of a device, in addition to the device's own.
CREATE TABLE gateway.activity_token (
    tenant_id text NOT NULL,
    device_id uuid NOT NULL,
    -- start: `name` is the Swift type of the activities that the token starts. running: `name` is what the app calls the activity.
    kind text NOT NULL CHECK (kind IN ('start', 'running')),
    name text NOT NULL,
    app_id text NOT NULL,
    token text NOT NULL,
    -- A push service's report that the token is invalid is ignored if it is older than this. Activities end within twelve hours, so that retention
    -- removes a running one's token after a day.
    registered_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, device_id, kind, name)
);
SELECT gateway.colocate('gateway.activity_token');
ALTER TABLE gateway.activity_token ADD FOREIGN KEY (tenant_id, device_id) REFERENCES gateway.device ON DELETE CASCADE;
CREATE INDEX activity_token_name ON gateway.activity_token (tenant_id, app_id, name, device_id) WHERE kind = 'running';
ALTER TABLE gateway.activity_token ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.activity_token USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.activity_token TO gateway_call, gateway_engine;

-- A nonce that was sent to a device in a silent push and is not answered yet (`answer_challenge`). A device has one at most.
CREATE TABLE gateway.challenge (
    tenant_id text NOT NULL,
    device_id uuid NOT NULL,
    -- SHA-256 of the nonce, and of the token that it was sent to.
    digest bytea NOT NULL,
    token_digest bytea NOT NULL,
    -- The identities whose level the answer raises.
    identities uuid[] NOT NULL,
    created_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, device_id)
);
SELECT gateway.colocate('gateway.challenge');
ALTER TABLE gateway.challenge ADD FOREIGN KEY (tenant_id, device_id) REFERENCES gateway.device ON DELETE CASCADE;
CREATE INDEX challenge_digest ON gateway.challenge (digest);
CREATE INDEX challenge_end ON gateway.challenge (tenant_id, ends_at);
ALTER TABLE gateway.challenge ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.challenge USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.challenge TO gateway_call;
GRANT SELECT, DELETE ON gateway.challenge TO gateway_engine;

-- One verification code per phone number that is not proven yet.
CREATE TABLE gateway.verification (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    phone text NOT NULL,
    -- Null after the code was used.
    code_hash text,
    sent_at timestamptz NOT NULL,
    tries integer NOT NULL DEFAULT 0,
    -- Start of the hour in which `sent_count` codes were sent.
    window_start timestamptz NOT NULL,
    sent_count integer NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor, phone)
);
SELECT gateway.colocate('gateway.verification');
ALTER TABLE gateway.verification ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.verification USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.verification TO gateway_call, gateway_engine;

-- A user whose device the tenant's back end expects to register. The first registration that fits is vouched and deletes the row (`meet_expectation`).
CREATE TABLE gateway.expected_user (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    user_id text NOT NULL,
    -- The phone number that the registration must have, digits; null: it must have none.
    phone text,
    -- SHA-256 of the push token that the registration must have; null: any.
    token_digest bytea,
    ends_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, app_id, user_id)
);
SELECT gateway.colocate('gateway.expected_user');
ALTER TABLE gateway.expected_user ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;
CREATE INDEX expected_user_end ON gateway.expected_user (tenant_id, ends_at);
ALTER TABLE gateway.expected_user ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.expected_user USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.expected_user TO gateway_call;
GRANT SELECT, DELETE ON gateway.expected_user TO gateway_engine;

-- An identity that was erased during the last day. A node that was sending to it at that moment reports the outcome afterwards, with what it had read before the
-- erasure; maintenance makes such deliveries anonymous (`erase_late`).
CREATE TABLE gateway.erased_identity (
    tenant_id text NOT NULL,
    identity_id uuid NOT NULL,
    erased_at timestamptz NOT NULL DEFAULT now(),
    -- When its deliveries are searched next.
    next_at timestamptz NOT NULL DEFAULT now() + interval '1 minute',
    PRIMARY KEY (tenant_id, identity_id)
);
SELECT gateway.colocate('gateway.erased_identity');
CREATE INDEX erased_identity_next ON gateway.erased_identity (tenant_id, next_at);
ALTER TABLE gateway.erased_identity ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.erased_identity USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT ON gateway.erased_identity TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.erased_identity TO gateway_engine;
