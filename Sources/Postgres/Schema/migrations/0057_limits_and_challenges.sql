-- API keys with a limit of recipients per day; quotas of apps; challenges, by which devices show possession of their tokens.
-- Oldest program: 39
-- Routines: 8e88289e37bb0739

ALTER TABLE gateway.api_key ADD COLUMN recipients_per_day bigint CHECK (recipients_per_day > 0);

-- The recipients to whom an API key with a limit has sent on a UTC day (`accept_message`). Deleted by retention.
CREATE TABLE gateway.api_key_day (
    tenant_id text NOT NULL,
    -- The name of the key.
    name text NOT NULL,
    day date NOT NULL,
    recipients bigint NOT NULL,
    PRIMARY KEY (tenant_id, name, day)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.api_key_day');
ALTER TABLE gateway.api_key_day ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.api_key_day USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE ON gateway.api_key_day TO gateway_call;
GRANT SELECT, DELETE ON gateway.api_key_day TO gateway_engine;
DROP FUNCTION IF EXISTS gateway.accept_message;

ALTER TABLE gateway.identity_count ADD COLUMN day date;
ALTER TABLE gateway.identity_count ADD COLUMN registered bigint NOT NULL DEFAULT 0;
DROP FUNCTION IF EXISTS gateway.count_identities;

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
