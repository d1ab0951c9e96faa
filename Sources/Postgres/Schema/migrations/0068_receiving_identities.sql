-- When an identity was last seen, so that a send to all dialects goes to the identity of a device that the app uses now. Expansions take the dialects that an
-- app prefers, and sends of a vendor reach all dialects where the app says so.
-- Oldest program: 39
-- Routines: bd08845247814a2a
ALTER TABLE gateway.identity ADD COLUMN seen_at timestamptz;
DROP FUNCTION IF EXISTS gateway.expand_slice;
DROP FUNCTION IF EXISTS gateway.expand_paced;
DROP FUNCTION IF EXISTS gateway.expand_variants;
DROP FUNCTION IF EXISTS gateway.audience_page;
DROP FUNCTION IF EXISTS gateway.identity_page;
DROP FUNCTION IF EXISTS gateway.next_candidates;
DROP FUNCTION IF EXISTS gateway.meant;
DROP FUNCTION IF EXISTS gateway.first_of_devices;
