-- Users whose devices the tenant's back end expects to register; an event for each confirmed user.
-- Oldest program: 39
-- Routines: d7e5e2eb94215040

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
DROP FUNCTION IF EXISTS gateway.register_identity;
