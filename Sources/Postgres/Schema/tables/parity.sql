-- How well the gateway agrees with the upstreams whose calls it observes (docs/routing.md#parity).

-- The observations of one hour, and how many of them disagreed. The observers of the nodes add to the rows in groups, behind the answers (`add_parity`).
CREATE TABLE gateway.parity_count (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    -- `ParityMetric`.
    metric text NOT NULL,
    -- Hours since 1970.
    hour integer NOT NULL,
    -- The dialect of the calls.
    dialect text NOT NULL,
    samples bigint NOT NULL DEFAULT 0,
    differences bigint NOT NULL DEFAULT 0,
    -- The first differences of the hour, at most 20, masked as captures are.
    sample json[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant_id, app_id, metric, hour, dialect)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.parity_count');
-- For retention.
CREATE INDEX parity_count_hour ON gateway.parity_count (tenant_id, hour);
ALTER TABLE gateway.parity_count ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.parity_count USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE ON gateway.parity_count TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.parity_count TO gateway_engine;
