-- The rows of the audit form a chain of digests over pseudonyms of people, with signed checkpoints. `write_audit` writes the digests; older rows have none.
-- Oldest program: 39
-- Routines: 9f7b2c34094280b3

ALTER TABLE gateway.audit ADD COLUMN hash bytea;

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

-- The last row of the audit that was appended to a file of a node (`audit.file`).
CREATE TABLE gateway.audit_copy (
    tenant_id text PRIMARY KEY,
    position bigint NOT NULL
);
SELECT gateway.colocate('gateway.audit_copy');
ALTER TABLE gateway.audit_copy ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.audit_copy USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE ON gateway.audit_copy TO gateway_engine;

--@ index
CREATE INDEX audit_unchained ON gateway.audit (tenant_id, subject) WHERE hash IS NULL;
