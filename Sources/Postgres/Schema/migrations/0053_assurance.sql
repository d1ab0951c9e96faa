-- Levels of assurance: how well the user of an identity is known to be right, and since when the identity has its user.
-- Oldest program: 39
-- Routines: 4e1bebdf936b07f0

ALTER TABLE gateway.identity ADD COLUMN assurance smallint NOT NULL DEFAULT 0;
ALTER TABLE gateway.identity ADD COLUMN user_since timestamptz;
ALTER TABLE gateway.identity ADD CONSTRAINT identity_assurance_check CHECK (assurance BETWEEN -1 AND 2) NOT VALID;
DROP FUNCTION IF EXISTS gateway.register_identity;
DROP FUNCTION IF EXISTS gateway.register_noted;
DROP FUNCTION IF EXISTS gateway.register_tagged;
DROP FUNCTION IF EXISTS gateway.register_timed;
DROP FUNCTION IF EXISTS gateway.register_many;
DROP FUNCTION IF EXISTS gateway.replace_identities;
DROP FUNCTION IF EXISTS gateway.assign_user;
DROP FUNCTION IF EXISTS gateway.assign_users;
DROP FUNCTION IF EXISTS gateway.patch_identities;
DROP FUNCTION IF EXISTS gateway.walk_history;
DROP FUNCTION IF EXISTS gateway.look_history;
DROP FUNCTION IF EXISTS gateway.find_history;
DROP FUNCTION IF EXISTS gateway.history_page;
DROP FUNCTION IF EXISTS gateway.history_message;
DROP FUNCTION IF EXISTS gateway.find_message;
DROP FUNCTION IF EXISTS gateway.reported_delivery;

--@ index
CREATE INDEX identity_sure_user ON gateway.identity (tenant_id, app_id, user_id, assurance)
    WHERE user_id IS NOT NULL AND assurance > 0 AND state = 'active';

--@ index
CREATE INDEX identity_sure_phone ON gateway.identity (tenant_id, app_id, phone, assurance)
    WHERE phone IS NOT NULL AND assurance > 0 AND state = 'active';

--@ transaction
ALTER TABLE gateway.identity VALIDATE CONSTRAINT identity_assurance_check;
