-- Cross-vendor duplicates: messages with the same text that reach the gateway through different entry points (`earlier_message`, `sent_before`, `guard_slice`).
-- Oldest program: 39
-- Only for messages of apps with `duplicateGuard`: a digest of the text, and the dialect with the side that sends it. Null: the message is compared with none.
ALTER TABLE gateway.message ADD COLUMN fingerprint bytea;
ALTER TABLE gateway.message ADD COLUMN entry_point text;
-- When it was compared: of two messages with the same text, the one with the earlier time came first (`earlier_message`).
ALTER TABLE gateway.message ADD COLUMN compared_at timestamptz;
-- The newest message with the same text that came before, through another entry point, and how far before this one such messages may be due. Null: there was none.
ALTER TABLE gateway.message ADD COLUMN duplicate_of uuid;
ALTER TABLE gateway.message ADD COLUMN duplicate_window interval;
CREATE INDEX message_fingerprint ON gateway.message (tenant_id, app_id, fingerprint, entry_point, message_id) WHERE fingerprint IS NOT NULL;
-- When the slice was first read under a lease, if its message is a duplicate.
ALTER TABLE gateway.slice ADD COLUMN guarded_at timestamptz;
DROP FUNCTION IF EXISTS gateway.accept_message;
DROP FUNCTION IF EXISTS gateway.observe_message;
