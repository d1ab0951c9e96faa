-- `append_counts` counts canceled deliveries too, so that a receipt of one appends one row (`record_receipt`). One search for both kinds of receipts
-- (`tried_target`; `record_receipt`, `acknowledge`).
-- Oldest program: 39
-- Routines: 47c713678c4288af
DROP FUNCTION IF EXISTS gateway.append_counts;
