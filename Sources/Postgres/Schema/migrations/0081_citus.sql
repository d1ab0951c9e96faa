-- Routines in shapes that Citus accepts. Erasure removes names from the audit as the role of calls, and not as the owner: on Citus a transaction changes a tenant's
-- rows as one role. A row with a digest stays as it is: the policy hides it from updates. Each kind of statement has its policy, because workers of Citus make a
-- restrictive policy a permissive one.
-- Oldest program: 39
-- Routines: 97257a2b4720548f

GRANT DELETE ON gateway.audit_subject TO gateway_call;
GRANT UPDATE (subject) ON gateway.audit TO gateway_call;
DROP POLICY tenant_only ON gateway.audit;
CREATE POLICY tenant_only ON gateway.audit FOR SELECT USING (tenant_id = current_setting('gateway.tenant', true));
CREATE POLICY tenant_added ON gateway.audit FOR INSERT WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
CREATE POLICY unchained_only ON gateway.audit FOR UPDATE TO gateway_call
    USING (tenant_id = current_setting('gateway.tenant', true) AND hash IS NULL)
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true) AND hash IS NULL);
