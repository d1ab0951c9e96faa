-- The parts of audiences: tags, variants and groups.

-- A normalized tag (`Tag`) of an active identity. The primary key is the walk along one tag; the index finds the tags of one identity.
CREATE TABLE gateway.identity_tag (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    tag text NOT NULL,
    identity_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor, tag, identity_id)
);
SELECT gateway.colocate('gateway.identity_tag');
-- Erasing an identity removes its tags.
ALTER TABLE gateway.identity_tag ADD FOREIGN KEY (tenant_id, identity_id) REFERENCES gateway.identity ON DELETE CASCADE;
CREATE INDEX identity_tag_identity ON gateway.identity_tag (tenant_id, identity_id, tag);
ALTER TABLE gateway.identity_tag ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.identity_tag USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, DELETE ON gateway.identity_tag TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.identity_tag TO gateway_engine;

-- A target that is part of an identity, such as a template of an installation. The identity's attribute "variants" has the normalized tags of each variant
-- by name; a message whose content has "variants" is sent to variants.
--
-- A row leads from the target back to the identity. Expanding an audience creates it for each variant it targets, and removes the rows of variants that
-- are no longer registered.
CREATE TABLE gateway.variant (
    tenant_id text NOT NULL,
    target_id uuid NOT NULL,
    identity_id uuid NOT NULL,
    name text NOT NULL,
    PRIMARY KEY (tenant_id, target_id)
);
SELECT gateway.colocate('gateway.variant');
-- Erasing an identity removes its variants.
ALTER TABLE gateway.variant ADD FOREIGN KEY (tenant_id, identity_id) REFERENCES gateway.identity ON DELETE CASCADE;
CREATE INDEX variant_identity ON gateway.variant (tenant_id, identity_id, name);
ALTER TABLE gateway.variant ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.variant USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT ON gateway.variant TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.variant TO gateway_engine;

-- A named set of users of one vendor's API. Members are users, not devices: a member without a device is reached as soon as it has one.
CREATE TABLE gateway.user_group (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    group_name text NOT NULL CHECK (group_name <> ''),
    created_at timestamptz NOT NULL DEFAULT now(),
    -- The display name of a group whose name is a number.
    title text,
    PRIMARY KEY (tenant_id, app_id, vendor, group_name)
);
SELECT gateway.colocate('gateway.user_group');
ALTER TABLE gateway.user_group ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;
-- Calls need UPDATE to lock the row of a group.
ALTER TABLE gateway.user_group ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.user_group USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.user_group TO gateway_call, gateway_engine;

CREATE TABLE gateway.group_member (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    group_name text NOT NULL,
    user_id text NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor, group_name, user_id)
);
SELECT gateway.colocate('gateway.group_member');
ALTER TABLE gateway.group_member ADD FOREIGN KEY (tenant_id, app_id, vendor, group_name) REFERENCES gateway.user_group ON DELETE CASCADE;
CREATE INDEX group_member_user ON gateway.group_member (tenant_id, user_id);
ALTER TABLE gateway.group_member ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.group_member USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, DELETE ON gateway.group_member TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.group_member TO gateway_engine;

-- The number of users in a group, with a device or without: sixteen rows, summed on read, like `identity_count`.
CREATE TABLE gateway.group_count (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    group_name text NOT NULL,
    bucket smallint NOT NULL,
    members bigint NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor, group_name, bucket)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.group_count');
ALTER TABLE gateway.group_count ADD FOREIGN KEY (tenant_id, app_id, vendor, group_name) REFERENCES gateway.user_group ON DELETE CASCADE;
ALTER TABLE gateway.group_count ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.group_count USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE ON gateway.group_count TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.group_count TO gateway_engine;
