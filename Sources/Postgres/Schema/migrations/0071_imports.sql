-- When users decided about their consents and who said so, for imports that never go back in time.
-- Oldest program: 39
-- Routines: 0000000000000000
ALTER TABLE gateway.user_profile ADD COLUMN consent_facts json NOT NULL DEFAULT '{}';
DROP FUNCTION IF EXISTS gateway.keep_users;
