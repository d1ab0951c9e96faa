-- Registrations of a known key that neither the device nor its user makes are refused in the transaction that registers (`expect_owner`).
-- Oldest program: 39
-- Routines: 09c49d9a27fdb3f9
DROP FUNCTION IF EXISTS gateway.register_many;
DROP FUNCTION IF EXISTS gateway.register_noted;
DROP FUNCTION IF EXISTS gateway.register_tagged;
DROP FUNCTION IF EXISTS gateway.register_timed;
