-- Receipts that change no delivery are counted by app, day and reason (`note_orphan`, new; `record_receipt`, `settle_receipts`, `acknowledge`, `report_number`,
-- `fold_counts`).
-- Oldest program: 39
-- Routines: f49c74a850a08549

-- Set for a row that counts orphan receipts and no delivery (`note_orphan`), whose quarter is -1: the reason, how many there were, and the day of the app's
-- time zone on which they arrived, since 1970.
ALTER TABLE gateway.counter_delta ADD COLUMN orphan text;
ALTER TABLE gateway.counter_delta ADD COLUMN orphans integer;
ALTER TABLE gateway.counter_delta ADD COLUMN orphan_day integer;

-- Orphan receipts, which change no delivery: by the day of the app's time zone on which they arrived, and the reason (`note_orphan`).
CREATE TABLE gateway.orphan_receipt (
    tenant_id text NOT NULL,
    -- Days since 1970.
    day integer NOT NULL,
    app_id text NOT NULL,
    reason text NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (tenant_id, day, app_id, reason)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.orphan_receipt');
ALTER TABLE gateway.orphan_receipt ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.orphan_receipt USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT ON gateway.orphan_receipt TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.orphan_receipt TO gateway_engine;
DROP FUNCTION IF EXISTS gateway.record_receipt;
