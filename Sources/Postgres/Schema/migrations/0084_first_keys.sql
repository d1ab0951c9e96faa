-- The key of an imported identity before it took that of the app, by which rollouts by device still know it (`register_identity`, `resolve_call`). Identities that
-- took their key before have changed their side already, so they stay where they are: there is nothing to fill in.
-- Oldest program: 39
-- Routines: 193291d04d96d0ff
ALTER TABLE gateway.identity ADD COLUMN first_key text;
ALTER TABLE gateway.app ADD COLUMN has_first_keys boolean NOT NULL DEFAULT false;
GRANT UPDATE (has_first_keys) ON gateway.app TO gateway_call;
DROP FUNCTION IF EXISTS gateway.resolve_call;
