-- Bookkeeping of the gateway nodes and of the schema. These tables have no tenant. On Citus they stay on the coordinator and are never joined with a
-- tenant's tables.

-- The migrations of this database (docs/schema.md). A database that began with the baseline has one row for each migration the baseline contains.
CREATE TABLE gateway.schema_version (
    version integer PRIMARY KEY,
    name text NOT NULL,
    -- SHA-256 of the migration file.
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now(),
    -- The oldest schema version a program may be built for to run on this schema.
    oldest_program integer,
    -- Index of the first step after the expand part that is not finished; null: the migration is complete.
    next_step integer,
    -- Where the backfill of that step continues: the primary key of the last row it changed.
    cursor text[]
);
GRANT SELECT ON gateway.schema_version TO gateway_engine;

-- The routine files of this database. A file whose checksum differs is run again.
CREATE TABLE gateway.schema_routine (
    name text PRIMARY KEY,
    -- SHA-256 of the routine file.
    checksum text NOT NULL
);
GRANT SELECT ON gateway.schema_routine TO gateway_engine;

CREATE TABLE gateway.node (
    node_id text PRIMARY KEY,
    started_at timestamptz NOT NULL DEFAULT now(),
    seen_at timestamptz NOT NULL DEFAULT now(),
    -- The ids of the master keys that the node has, that of the key it seals with first; null: it does not report them.
    master_keys text[]
);
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.node TO gateway_engine;

-- Leases of work that one node does for all nodes. The owner holds the lease until `held_until`.
CREATE TABLE gateway.singleton (
    name text PRIMARY KEY,
    owner text NOT NULL,
    held_until timestamptz NOT NULL
);
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.singleton TO gateway_engine;

-- One signed APNs provider token per team and key, shared by all nodes: Apple throttles providers that renew tokens too often.
CREATE TABLE gateway.provider_token (
    team_id text NOT NULL,
    key_id text NOT NULL,
    -- Digest of the private key. A tenant that names another tenant's team and key without having the key gets a row of its own.
    fingerprint bytea NOT NULL,
    sealed bytea NOT NULL,
    issued_at timestamptz NOT NULL,
    PRIMARY KEY (team_id, key_id, fingerprint)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.provider_token TO gateway_engine;

-- A single row: the id of the key that seals the secrets, and a value that only this key produces.
CREATE TABLE gateway.master_key (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    key_id text NOT NULL,
    check_value bytea NOT NULL,
    adopted_at timestamptz NOT NULL DEFAULT now(),
    -- The secret from which the secrets of senders and the key of the audit are derived, sealed with the key. Null: no key was replaced yet, and the secret is
    -- derived from the key.
    root bytea,
    -- The id of the key that will seal next; nodes whose keys come from a command fetch it. Null: none.
    wanted text
);
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.master_key TO gateway_engine;

-- A single row: the generation of all event logs, and the server, database and timeline that it belongs to. A restore or a failover to a standby may lose the
-- last events, whose offsets are then used again, so it begins another generation (`current_generation`).
CREATE TABLE gateway.log_generation (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    generation uuid NOT NULL,
    system_identifier bigint NOT NULL,
    database_oid bigint NOT NULL,
    timeline integer NOT NULL
);
