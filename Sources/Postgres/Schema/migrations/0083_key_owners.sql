-- Registrations of a known key that neither the device nor its user makes are refused in the transaction that registers (`expect_owner`).
-- Oldest program: 39
-- Routines: 0c66e16183470786
DROP FUNCTION IF EXISTS gateway.register_many;
DROP FUNCTION IF EXISTS gateway.register_noted;
DROP FUNCTION IF EXISTS gateway.register_tagged;
DROP FUNCTION IF EXISTS gateway.register_timed;
