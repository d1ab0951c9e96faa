-- Routines in shapes that Citus accepts. Erasure removes names from the audit as the role of calls, and not as the owner: on Citus a transaction changes a tenant's
-- rows as one role. A row with a digest stays as it is: the policy hides it from updates.
-- Oldest program: 39
-- Routines: 0000000000000000

GRANT DELETE ON gateway.audit_subject TO gateway_call;
GRANT UPDATE (subject) ON gateway.audit TO gateway_call;
CREATE POLICY unchained_only ON gateway.audit AS RESTRICTIVE FOR UPDATE TO gateway_call USING (hash IS NULL) WITH CHECK (hash IS NULL);
