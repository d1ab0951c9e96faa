-- A few rows in the large tables, for a database of version 38.

INSERT INTO gateway.tenant (tenant_id) VALUES ('acme');
INSERT INTO gateway.app (tenant_id, app_id) VALUES ('acme', 'shop');
INSERT INTO gateway.device (tenant_id, device_id, app_id, platform, environment, token, token_state, created_at)
    SELECT 'acme', md5(n::text)::uuid, 'shop', 'ios', 'production', 'token ' || n, 'active', now() FROM generate_series(1, 50) AS n;
INSERT INTO gateway.identity (tenant_id, identity_id, app_id, vendor, key, device_id, state, user_id, registered_at, created_at)
    SELECT 'acme', md5(n::text)::uuid, 'shop', 'rationalowl', 'key ' || n, md5(n::text)::uuid, 'active', 'user ' || n, now(), now()
    FROM generate_series(1, 50) AS n;
INSERT INTO gateway.identity_tag (tenant_id, app_id, vendor, tag, identity_id)
    SELECT 'acme', 'shop', 'rationalowl', 'news', md5(n::text)::uuid FROM generate_series(1, 50) AS n;
INSERT INTO gateway.message (tenant_id, message_id, app_id, vendor, state, lane, content, accepted_at, due_at, due_day, expires_at)
    SELECT 'acme', md5(n::text)::uuid, 'shop', 'rationalowl', 'done', 1, '{}', now(), now(), 20000, now() FROM generate_series(1, 50) AS n;
INSERT INTO gateway.slice (tenant_id, message_id, no, lane, kind, due_day, state, next_at)
    SELECT 'acme', md5(n::text)::uuid, 0, 1, 'deliver', 20000, 'done', now() FROM generate_series(1, 50) AS n;
INSERT INTO gateway.delivery (tenant_id, due_day, message_id, target_id, app_id, vendor, identity_id, state)
    SELECT 'acme', d, md5(n::text)::uuid, md5(n::text)::uuid, 'shop', 'rationalowl', md5(n::text)::uuid, 'sent'
    FROM generate_series(1, 50) AS n, unnest(ARRAY[0, 20000]) AS d;
INSERT INTO gateway.event (tenant_id, position, at, kind, app_id, vendor)
    SELECT 'acme', n, now(), 'sent', 'shop', 'rationalowl' FROM generate_series(1, 50) AS n;
INSERT INTO gateway.message_ref (tenant_id, app_id, vendor, ref, message_id)
    SELECT 'acme', 'shop', 'rationalowl', n::text, md5(n::text)::uuid FROM generate_series(1, 50) AS n;
INSERT INTO gateway.user_profile (tenant_id, app_id, vendor, user_id, is_anonymous, attributes, revision, created_at, updated_at)
    SELECT 'acme', 'shop', 'braze', 'user ' || n, false, '{}', 1, now(), now() FROM generate_series(1, 50) AS n;
INSERT INTO gateway.user_act (tenant_id, app_id, vendor, user_id, digest, kind, name, at, data, noted_at)
    SELECT 'acme', 'shop', 'braze', 'user ' || n, md5(n::text)::uuid, 'event', 'seen', now(), '{}', now() FROM generate_series(1, 50) AS n;
INSERT INTO gateway.audit (tenant_id, actor, action, subject, position)
    SELECT 'acme', 'test', 'test', 'test', n FROM generate_series(1, 50) AS n;
