-- `append_counts` counts canceled deliveries too, so that a receipt of one appends one row (`record_receipt`). One search for both kinds of receipts
-- (`tried_target`; `record_receipt`, `acknowledge`).
-- Oldest program: 39
-- Routines: 11bfd1486f173c4a
DROP FUNCTION IF EXISTS gateway.append_counts;
