-- Registrations of a known key that neither the device nor its user makes are refused in the transaction that registers (`expect_owner`).
-- Oldest program: 39
-- Routines: f9b4daa1871d44d2
DROP FUNCTION IF EXISTS gateway.register_many;
DROP FUNCTION IF EXISTS gateway.register_noted;
DROP FUNCTION IF EXISTS gateway.register_tagged;
DROP FUNCTION IF EXISTS gateway.register_timed;
