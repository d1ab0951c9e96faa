-- The audit log, and the answers kept for repeated calls.

-- One action with its actor and subject. Calls and the engine insert and read; only the owner may change or delete a row (`drop_audit`). Calls may also replace the
-- subject of a row without a digest (`forget_subjects`).
CREATE TABLE gateway.audit (
    tenant_id text NOT NULL,
    audit_id uuid NOT NULL DEFAULT gen_random_uuid(),
    at timestamptz NOT NULL DEFAULT now(),
    actor text NOT NULL,
    action text NOT NULL,
    -- The kind and name of the object. A person's name is a pseudonym of `audit_subject`.
    subject text NOT NULL,
    data json,
    -- Increases by one per row of a tenant, in the order of the commits.
    position bigint NOT NULL,
    -- SHA-256 over the digest of the row before (nothing, if that has none) and the fields position, time in microseconds since 1970, actor, action, subject and data
    -- ('' without), each as `length in bytes:text`, separated by commas. Null in rows of programs of version 49 and older.
    hash bytea,
    PRIMARY KEY (tenant_id, audit_id)
);
SELECT gateway.colocate('gateway.audit');
CREATE INDEX audit_at ON gateway.audit (tenant_id, at DESC);
CREATE UNIQUE INDEX audit_position ON gateway.audit (tenant_id, position);
ALTER TABLE gateway.audit ENABLE ROW LEVEL SECURITY;
-- Each kind of statement has its policy, because workers of Citus make a restrictive policy a permissive one.
CREATE POLICY tenant_only ON gateway.audit FOR SELECT USING (tenant_id = current_setting('gateway.tenant', true));
CREATE POLICY tenant_added ON gateway.audit FOR INSERT WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
CREATE POLICY unchained_only ON gateway.audit FOR UPDATE TO gateway_call
    USING (tenant_id = current_setting('gateway.tenant', true) AND hash IS NULL)
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true) AND hash IS NULL);
GRANT SELECT, INSERT ON gateway.audit TO gateway_call, gateway_engine;
CREATE INDEX audit_about ON gateway.audit (tenant_id, subject, position);
CREATE INDEX audit_unchained ON gateway.audit (tenant_id, subject) WHERE hash IS NULL;
GRANT UPDATE (subject) ON gateway.audit TO gateway_call;

-- The key of the pseudonyms of a tenant.
CREATE TABLE gateway.audit_key (
    tenant_id text PRIMARY KEY,
    key bytea NOT NULL
);
SELECT gateway.colocate('gateway.audit_key');
ALTER TABLE gateway.audit_key ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.audit_key USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT ON gateway.audit_key TO gateway_call, gateway_engine;

-- The person behind a pseudonym of the audit. Erasing the person deletes the row.
CREATE TABLE gateway.audit_subject (
    tenant_id text NOT NULL,
    pseudonym text NOT NULL,
    subject text NOT NULL,
    PRIMARY KEY (tenant_id, pseudonym)
);
SELECT gateway.colocate('gateway.audit_subject');
ALTER TABLE gateway.audit_subject ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.audit_subject USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT ON gateway.audit_subject TO gateway_call, gateway_engine;
GRANT DELETE ON gateway.audit_subject TO gateway_call;

-- A node's signature under the digest of an audit row: nothing up to this position was changed since.
CREATE TABLE gateway.audit_checkpoint (
    tenant_id text NOT NULL,
    position bigint NOT NULL,
    hash bytea NOT NULL,
    -- When the signed row was written.
    last_at timestamptz NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    -- The public key of the signature (Ed25519), and the signature.
    signer bytea NOT NULL,
    signature bytea NOT NULL,
    PRIMARY KEY (tenant_id, position)
);
SELECT gateway.colocate('gateway.audit_checkpoint');
ALTER TABLE gateway.audit_checkpoint ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.audit_checkpoint USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT ON gateway.audit_checkpoint TO gateway_call, gateway_engine;
GRANT INSERT ON gateway.audit_checkpoint TO gateway_engine;

-- How far the audit was copied: `position` to a file of a node (`audit.file`), `pushed` to a collector (`audit.syslog`).
CREATE TABLE gateway.audit_copy (
    tenant_id text PRIMARY KEY,
    position bigint NOT NULL DEFAULT 0,
    pushed bigint NOT NULL DEFAULT 0
);
SELECT gateway.colocate('gateway.audit_copy');
ALTER TABLE gateway.audit_copy ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.audit_copy USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE ON gateway.audit_copy TO gateway_engine;

-- An idempotency key with the answer of its first call: a message and its number of recipients, or the status and body of another write.
CREATE TABLE gateway.idempotency (
    tenant_id text NOT NULL,
    -- '' for everything except messages.
    app_id text NOT NULL,
    vendor text NOT NULL,
    key text NOT NULL,
    body_hash text NOT NULL,
    message_id uuid,
    recipients bigint,
    created_at timestamptz NOT NULL,
    status smallint,
    answer bytea,
    PRIMARY KEY (tenant_id, app_id, vendor, key)
);
SELECT gateway.colocate('gateway.idempotency');
CREATE INDEX idempotency_answered ON gateway.idempotency (tenant_id) WHERE answer IS NOT NULL;
CREATE INDEX idempotency_created ON gateway.idempotency (tenant_id, created_at);
ALTER TABLE gateway.idempotency ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.idempotency USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE (answer) ON gateway.idempotency TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.idempotency TO gateway_engine;
