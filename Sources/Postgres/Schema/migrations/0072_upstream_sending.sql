-- Messages that leave through upstreams: the version of the rules of a slice, and the calls that no vendor recognizes when they are repeated.
-- Oldest program: 39
-- Routines: c26fb988f41f111c
ALTER TABLE gateway.slice ADD COLUMN route_version integer;
ALTER TABLE gateway.delivery ADD COLUMN route_version integer;
DROP FUNCTION IF EXISTS gateway.record_outcomes;

-- A call by which an upstream sends a message, committed before its first byte leaves (`begin_upstream_call`). Its end is written with the outcomes of its
-- targets. A node that takes the slice over settles the targets of a call without an end as sent without certainty.
CREATE TABLE gateway.upstream_call (
    tenant_id text NOT NULL,
    message_id uuid NOT NULL,
    slice_no integer NOT NULL,
    -- The lease of the slice under which it was made, and its number under that lease.
    epoch bigint NOT NULL,
    no integer NOT NULL,
    upstream text NOT NULL,
    targets uuid[] NOT NULL,
    -- The keys of `upstream_user` that the call holds; empty if the upstream addresses devices.
    users bytea[] NOT NULL DEFAULT '{}',
    state text NOT NULL CONSTRAINT upstream_call_state CHECK (state IN ('calling', 'answered')),
    -- The vendor's name of the message; null: it gave none.
    reference text,
    called_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, message_id, slice_no, epoch, no)
);
SELECT gateway.colocate('gateway.upstream_call');
ALTER TABLE gateway.upstream_call ADD FOREIGN KEY (tenant_id, message_id) REFERENCES gateway.message ON DELETE CASCADE;
-- For reports of vendors, which name the message.
CREATE INDEX upstream_call_reference ON gateway.upstream_call (tenant_id, upstream, reference) WHERE reference IS NOT NULL;
ALTER TABLE gateway.upstream_call ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.upstream_call USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT ON gateway.upstream_call TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.upstream_call TO gateway_engine;

-- The users to whom an upstream that addresses users has been asked to send a message: one call per message and user, whichever slices have the user's devices.
CREATE TABLE gateway.upstream_user (
    tenant_id text NOT NULL,
    message_id uuid NOT NULL,
    upstream text NOT NULL,
    -- SHA-256 of the message, the platform (empty: all) and the user.
    user_key bytea NOT NULL,
    -- The call that holds the user (`upstream_call`).
    slice_no integer NOT NULL,
    epoch bigint NOT NULL,
    no integer NOT NULL,
    PRIMARY KEY (tenant_id, message_id, upstream, user_key)
);
SELECT gateway.colocate('gateway.upstream_user');
ALTER TABLE gateway.upstream_user ADD FOREIGN KEY (tenant_id, message_id) REFERENCES gateway.message ON DELETE CASCADE;
ALTER TABLE gateway.upstream_user ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.upstream_user USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.upstream_user TO gateway_engine;
