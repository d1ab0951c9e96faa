-- Outcomes that arrive after the erasure of their device: `erased_identity`, `erase_late`.
-- Oldest program: 39
-- Routines: c5da7fed408c1f49
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
