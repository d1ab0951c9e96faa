-- The facts that the SDK of an identity reports about the app and the system, the reference of a delivery to them, and counts by them.
-- Oldest program: 39
-- Routines: ed268c06e68a97ec

-- The facts that SDKs reported, each combination once per app. Deliveries refer to it by number. At most 500 new rows per app and day; other combinations
-- have the number 0. Rows are kept, because deliveries and counts refer to them.
CREATE TABLE gateway.client_version (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    -- Derived from the facts (`client_number`).
    client bigint NOT NULL,
    -- The day on which it was reported first, UTC, since 1970.
    day integer NOT NULL,
    app_version text,
    os text,
    os_version text,
    sdk_version text,
    model text,
    locale text,
    PRIMARY KEY (tenant_id, app_id, client)
);
SELECT gateway.colocate('gateway.client_version');
ALTER TABLE gateway.client_version ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;
CREATE INDEX client_version_day ON gateway.client_version (tenant_id, app_id, day);
ALTER TABLE gateway.client_version ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.client_version USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT ON gateway.client_version TO gateway_call;
GRANT SELECT, INSERT, DELETE ON gateway.client_version TO gateway_engine;

-- How many deliveries were reached, received and read, by a property of the delivery. At most 1,000 values per app, day and property; the deliveries with
-- others are counted together (`CountedValue.other`).
CREATE TABLE gateway.property_count (
    tenant_id text NOT NULL,
    -- The day of the app's time zone on which the messages were due, since 1970.
    day integer NOT NULL,
    app_id text NOT NULL,
    property text NOT NULL CONSTRAINT property_count_property CHECK (property IN ('client', 'campaign', 'hour')),
    -- client: the number in `client_version`, empty if nothing was reported; campaign: its name; hour: the hour of the week.
    value text NOT NULL,
    -- The variant of a campaign; empty: none.
    variant text NOT NULL,
    reached bigint NOT NULL DEFAULT 0,
    received bigint NOT NULL DEFAULT 0,
    read bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, day, app_id, property, value, variant)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.property_count');
ALTER TABLE gateway.property_count ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.property_count USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT ON gateway.property_count TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.property_count TO gateway_engine;

ALTER TABLE gateway.identity ADD COLUMN client jsonb;
ALTER TABLE gateway.identity ADD COLUMN client_number bigint;
ALTER TABLE gateway.delivery ADD COLUMN client bigint;
ALTER TABLE gateway.delivery ADD COLUMN local_hour smallint;
DROP FUNCTION IF EXISTS gateway.record_outcomes;
DROP FUNCTION IF EXISTS gateway.register_identity;
DROP FUNCTION IF EXISTS gateway.register_noted;
DROP FUNCTION IF EXISTS gateway.register_tagged;
DROP FUNCTION IF EXISTS gateway.register_timed;
DROP FUNCTION IF EXISTS gateway.register_many;
DROP FUNCTION IF EXISTS gateway.import_new;
DROP FUNCTION IF EXISTS gateway.import_each;
