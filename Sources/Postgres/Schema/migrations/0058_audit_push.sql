-- The position up to which the audit was sent to a collector, and an index of the rows about a subject. `write_audit` also replaces phone numbers, keys of devices and tokens by pseudonyms.
-- Oldest program: 39
-- Routines: eaa9aa7de5dade61

ALTER TABLE gateway.audit_copy ALTER COLUMN position SET DEFAULT 0;
ALTER TABLE gateway.audit_copy ADD COLUMN pushed bigint NOT NULL DEFAULT 0;

--@ index
CREATE INDEX audit_about ON gateway.audit (tenant_id, subject, position);
