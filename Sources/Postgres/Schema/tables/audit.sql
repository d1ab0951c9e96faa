-- The audit log, and the answers kept for repeated calls.

-- One action with its actor and subject. Calls and the engine insert and read; only the owner, which cannot log in, may change or delete a row
-- (`drop_audit`).
CREATE TABLE gateway.audit (
    tenant_id text NOT NULL,
    audit_id uuid NOT NULL DEFAULT gen_random_uuid(),
    at timestamptz NOT NULL DEFAULT now(),
    actor text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    data json,
    -- Increases by one per row of a tenant, in the order of the commits.
    position bigint NOT NULL,
    PRIMARY KEY (tenant_id, audit_id)
);
SELECT gateway.colocate('gateway.audit');
CREATE INDEX audit_at ON gateway.audit (tenant_id, at DESC);
CREATE UNIQUE INDEX audit_position ON gateway.audit (tenant_id, position);
ALTER TABLE gateway.audit ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.audit USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT ON gateway.audit TO gateway_call, gateway_engine;

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
