-- Imports that never go back in time: when users decided about their consents and who said so, the columns of imports and their times (`import_new`,
-- `import_rows`), and imported identities that take the key of their app (`register_identity`).
-- Oldest program: 39
-- Routines: bea447755a169373
ALTER TABLE gateway.user_profile ADD COLUMN consent_facts json NOT NULL DEFAULT '{}';
DROP FUNCTION IF EXISTS gateway.keep_users;
DROP FUNCTION IF EXISTS gateway.import_new;
