-- A sender that was registered by a proven caller, or by a provisioning file, is not given to others by its name.
-- Oldest program: 39
-- Routines: c583fb017f175422

ALTER TABLE gateway.sender ADD COLUMN is_proven boolean NOT NULL DEFAULT false;
