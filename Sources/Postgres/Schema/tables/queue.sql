-- The queue: the slices of messages, by lane. docs/schema.md, "The queue", describes how it works.

-- The lanes in which each tenant has or had work. Nodes discover work along this table.
CREATE TABLE gateway.lane (
    tenant_id text NOT NULL,
    lane smallint NOT NULL,
    is_paused boolean NOT NULL DEFAULT false,
    PRIMARY KEY (tenant_id, lane)
);
SELECT gateway.colocate('gateway.lane');
ALTER TABLE gateway.lane ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.lane USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT ON gateway.lane TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.lane TO gateway_engine;

-- About 500 targets of a message (kind 'deliver'), or the expansion of its audience (kind 'expand').
CREATE TABLE gateway.slice (
    tenant_id text NOT NULL,
    message_id uuid NOT NULL,
    no integer NOT NULL,
    lane smallint NOT NULL,
    kind text NOT NULL CHECK (kind IN ('deliver', 'expand')),
    due_day integer NOT NULL,
    -- A target that left the slice (`split_slice`) has the id 0 and is done.
    targets uuid[] NOT NULL DEFAULT '{}',
    -- How the caller named each target; parallel to targets, or empty.
    addresses text[] NOT NULL DEFAULT '{}',
    -- One bit per target, least significant first.
    done bytea NOT NULL DEFAULT '\x',
    -- Where the expansion continues.
    after uuid,
    state text NOT NULL CHECK (state IN ('ready', 'leased', 'done')),
    -- The only time the queue reads: the due time while ready, the end of the lease while leased.
    next_at timestamptz NOT NULL,
    owner text,
    -- Increases with every claim and every return. An outcome written under an older epoch is refused.
    epoch bigint NOT NULL DEFAULT 0,
    attempts smallint NOT NULL DEFAULT 0,
    -- The credential the slice waits for. When the credential works again, the wait ends.
    held_by text,
    -- Number of consecutive leases that expired without any report from their owner. A slice that crashes nodes must not be passed on for ever.
    lapses smallint NOT NULL DEFAULT 0,
    -- The reason why the slice gave up; null: it has not given up.
    dead_reason text,
    -- Cursor of an expansion by users: within `after_user`, behind (after_vendor, after). `after` null: that user is finished.
    after_user text,
    after_vendor text,
    -- The due time of a slice that is parked because its message is paused.
    resume_at timestamptz,
    -- The first identity that the audience selected, where the slices of the message are in the order of these (everyone, tags). It is the first target, except
    -- on a device with several identities (`receiving_identities`). It stays if that target leaves the slice; a retry slice inherits it.
    first_target uuid,
    -- When the targets are due, if not with the message: at a local time, after hours without pushes, or throttled. Retries, pauses and a late expansion do not
    -- change it.
    due_at timestamptz,
    -- The version of the app's rules (`route_set`) by which its targets find their paths, from its first lease on (`route_slice`); null: it has not been read, or
    -- the app has no rules. A retry slice inherits it. A slice that is returned without a try has none.
    route_version integer,
    -- When the slice was first read under a lease, if its message is a duplicate (`guard_slice`). A retry slice inherits it.
    guarded_at timestamptz,
    PRIMARY KEY (tenant_id, message_id, no)
)
-- Of the four updates of a slice, those of a claim and of the end change an index. With 80, 45 of 100 updates are heap-only; 50 is the limit, and 100 gives 44.
-- The entries of finished slices remain in `slice_next` until vacuum: behind 100,000 of them a claim read 2,955 pages, and 20 after vacuum. By default, vacuum
-- starts when a fifth of all slices of 100 days are dead, and then leaves the indexes out if the dead rows are on few pages.
WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, vacuum_index_cleanup = on);
SELECT gateway.colocate('gateway.slice');
ALTER TABLE gateway.slice ADD FOREIGN KEY (tenant_id, message_id) REFERENCES gateway.message ON DELETE CASCADE;
CREATE INDEX slice_next ON gateway.slice (tenant_id, lane, next_at) WHERE state IN ('ready', 'leased');
-- For the search that runs several times per second: it contains no slice that is leased from the start.
CREATE INDEX slice_ready ON gateway.slice (tenant_id, lane, next_at) WHERE state = 'ready';
-- Whether a message still has open slices.
CREATE INDEX slice_open ON gateway.slice (tenant_id, message_id, no) WHERE state <> 'done';
-- The slices of a message that are being sent: no more than the nodes send at a time, however many the message has.
CREATE INDEX slice_leased ON gateway.slice (tenant_id, message_id) WHERE state = 'leased';
-- Finds the slice of a target. Slices that are leased from the start never enter it.
CREATE INDEX slice_first ON gateway.slice (tenant_id, message_id, first_target) WHERE state = 'ready' AND first_target IS NOT NULL;
CREATE INDEX slice_held ON gateway.slice (tenant_id, held_by) WHERE held_by IS NOT NULL;
-- Random bytes do not compress.
ALTER TABLE gateway.slice ALTER COLUMN targets SET STORAGE EXTERNAL;
ALTER TABLE gateway.slice ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.slice USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE ON gateway.slice TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.slice TO gateway_engine;
