-- Converts a database of version 38, whose routines and tables grew migration by migration, to the baseline. The tables keep their rows and their form; every
-- routine is replaced by the one in its file.
-- Oldest program: 39
-- Routines: 82d75cfebb5bb3da

ALTER TABLE gateway.schema_version ADD COLUMN oldest_program integer, ADD COLUMN next_step integer, ADD COLUMN cursor text[];

CREATE TABLE gateway.schema_routine (
    name text PRIMARY KEY,
    checksum text NOT NULL
);
GRANT SELECT ON gateway.schema_routine TO gateway_engine;
