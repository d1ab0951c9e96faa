-- Registrations of a known key that neither the device nor its user makes are refused in the transaction that registers (`expect_owner`).
-- Oldest program: 39
-- Routines: 95aefd8d8cbd745b
DROP FUNCTION IF EXISTS gateway.register_many;
DROP FUNCTION IF EXISTS gateway.register_noted;
DROP FUNCTION IF EXISTS gateway.register_tagged;
DROP FUNCTION IF EXISTS gateway.register_timed;
