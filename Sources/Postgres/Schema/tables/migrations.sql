-- Migrations of apps from their vendors, and the counts that their gates need.

-- A migration of an app from a vendor to the gateway (docs/migrating.md).
CREATE TABLE gateway.migration (
    tenant_id text NOT NULL,
    -- Its name, which is also the salt of its rollouts.
    migration_id text NOT NULL,
    app_id text NOT NULL,
    -- The credential of the vendor that the app leaves.
    upstream text NOT NULL,
    -- The file, as it was read.
    plan json NOT NULL,
    -- `MigrationState`, without its revision.
    state json NOT NULL,
    -- Raised with each change; a change states the revision that it has read.
    revision bigint NOT NULL DEFAULT 0,
    -- Whether it decides the overlay of the app: running, paused, halted or rolled out. At most one of an app does.
    is_active boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- The only time that its queue reads: the next evaluation while free, the end of the lease while a node evaluates it.
    next_at timestamptz NOT NULL DEFAULT now(),
    owner text,
    PRIMARY KEY (tenant_id, migration_id)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.migration');
ALTER TABLE gateway.migration ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;
CREATE UNIQUE INDEX migration_active ON gateway.migration (tenant_id, app_id) WHERE is_active;
CREATE INDEX migration_next ON gateway.migration (next_at) WHERE is_active;
ALTER TABLE gateway.migration ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.migration USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT ON gateway.migration TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.migration TO gateway_engine;

-- The changes of migrations, one row for each revision that changed more than the counts of failures. Rows are only inserted.
CREATE TABLE gateway.migration_history (
    tenant_id text NOT NULL,
    migration_id text NOT NULL,
    revision bigint NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    status text NOT NULL,
    -- From 0.
    step integer NOT NULL,
    note text NOT NULL,
    -- The author, as in `audit`.
    actor text NOT NULL,
    -- The version of the app's rules that it made; null: none.
    route_version integer,
    PRIMARY KEY (tenant_id, migration_id, revision)
);
SELECT gateway.colocate('gateway.migration_history');
ALTER TABLE gateway.migration_history ADD FOREIGN KEY (tenant_id, migration_id) REFERENCES gateway.migration ON DELETE CASCADE;
ALTER TABLE gateway.migration_history ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.migration_history USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT ON gateway.migration_history TO gateway_call;
GRANT SELECT, INSERT ON gateway.migration_history TO gateway_engine;

-- Counts of proxied and forwarded calls, which gates of migrations compare. Nodes add their counts every few seconds; retention removes rows after eight days.
CREATE TABLE gateway.observed_figure (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    figure text NOT NULL CONSTRAINT observed_figure_figure CHECK (
        figure IN ('observed', 'responses', 'reach', 'payload', 'unknown', 'senders')),
    -- The beginning of the interval in which the calls were counted.
    at timestamptz NOT NULL,
    samples bigint NOT NULL DEFAULT 0,
    -- The observations in which the two sides differ, as in `parity_count`.
    differences bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, app_id, figure, at)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.observed_figure');
CREATE INDEX observed_figure_at ON gateway.observed_figure (tenant_id, at);
ALTER TABLE gateway.observed_figure ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.observed_figure USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT ON gateway.observed_figure TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.observed_figure TO gateway_engine;
