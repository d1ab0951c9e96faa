-- Registrations cost less: `set_many_preferences` looks for each identity once, and `register_many` looks for shared devices only in apps that have some.
-- `shown_messages` reads the messages of a page by one statement.
--
-- Routines that call another one with more than twelve parameters name them (`append_changes`, `find_history`, `import_each`, `import_identities`, `import_rows`,
-- `keep_users`, `log_events`, `record_slice`, `register_noted`, `register_tagged`, `register_timed`). Their results are the same.
--
-- `claim_forwards` and `settle_forwards` (new) do the work of a set of forwarded calls with one statement of each kind. Older programs call `settle_forward`.
--
-- Credentials have the time at which their secret was stored.
-- Oldest program: 39
-- Routines: 3c72529527756900

DROP FUNCTION IF EXISTS gateway.next_forward;

ALTER TABLE gateway.credential ADD COLUMN stored_at timestamptz;
