-- Messages that wait for the approval of someone other than their sender.
-- Oldest program: 39
-- Routines: 5a3ca7098c70b37d

ALTER TABLE gateway.message ADD COLUMN awaits_approval boolean NOT NULL DEFAULT false;
ALTER TABLE gateway.message ADD COLUMN submitted_by text;
DROP FUNCTION IF EXISTS gateway.accept_message;
DROP FUNCTION IF EXISTS gateway.control_message;
