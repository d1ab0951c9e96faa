-- Objects that were created through the API. A provisioning file neither changes nor removes them.
-- Oldest program: 39
-- Routines: 8bb6e2731fd4f011

ALTER TABLE gateway.app ADD COLUMN origin text NOT NULL DEFAULT 'file' CONSTRAINT app_origin CHECK (origin IN ('file', 'api'));
ALTER TABLE gateway.credential ADD COLUMN origin text NOT NULL DEFAULT 'file' CONSTRAINT credential_origin CHECK (origin IN ('file', 'api'));
ALTER TABLE gateway.binding ADD COLUMN origin text NOT NULL DEFAULT 'file' CONSTRAINT binding_origin CHECK (origin IN ('file', 'api'));
