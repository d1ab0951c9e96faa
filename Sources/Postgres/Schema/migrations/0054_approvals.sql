-- Messages that wait for the approval of someone other than their sender.
-- Oldest program: 39
-- Routines: 32879738c2615819

ALTER TABLE gateway.message ADD COLUMN awaits_approval boolean NOT NULL DEFAULT false;
ALTER TABLE gateway.message ADD COLUMN submitted_by text;
DROP FUNCTION IF EXISTS gateway.accept_message;
DROP FUNCTION IF EXISTS gateway.control_message;
