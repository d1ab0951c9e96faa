-- role gateway_engine
DELETE FROM gateway.account_attempt WHERE subject = $1;

-- role gateway_engine
DELETE FROM gateway.account_attempt WHERE subject IN (
    SELECT subject FROM gateway.account_attempt WHERE failed_at < now() - interval '2 days' ORDER BY failed_at LIMIT $1);

-- role gateway_engine
DELETE FROM gateway.account_invitation WHERE hash = $1 AND ends_at > now() RETURNING name, tenant, role, ends_at;

-- role gateway_engine
DELETE FROM gateway.account_invitation WHERE hash IN (
    SELECT hash FROM gateway.account_invitation WHERE ends_at < now() ORDER BY ends_at LIMIT $1);

-- role gateway_engine
DELETE FROM gateway.activity_token WHERE tenant_id = $1 AND (device_id, kind, name) IN (
    SELECT a.device_id, a.kind, a.name FROM gateway.activity_token a
    WHERE a.tenant_id = $1 AND a.kind = 'running' AND a.registered_at < now() - interval '1 day' LIMIT 5000);

-- role gateway_call
DELETE FROM gateway.activity_token WHERE tenant_id = $1 AND device_id = $2 AND kind = $3 AND name = $4;

-- role gateway_engine
DELETE FROM gateway.api_key WHERE tenant_id = $1 AND (name = $2 OR key_id::text = $2) RETURNING key_id, name;

-- role gateway_engine
DELETE FROM gateway.api_key WHERE tenant_id = $1 AND is_provisioned AND NOT name = ANY ($2) RETURNING name;

-- role gateway_engine
DELETE FROM gateway.api_key_day WHERE tenant_id = $1 AND (name, day) IN (
    SELECT d.name, d.day FROM gateway.api_key_day d
    WHERE d.tenant_id = $1 AND d.day < (now() AT TIME ZONE 'UTC')::date - 1 LIMIT 5000);

-- role gateway_engine
DELETE FROM gateway.binding b WHERE b.tenant_id = $1 AND NOT EXISTS (
    SELECT FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]) AS k(vendor, kind, value, host)
    WHERE k.vendor = b.vendor AND k.kind = b.kind AND k.value = b.value AND k.host = b.host)
RETURNING b.vendor, b.kind, b.value, b.host, b.app_id;

-- role gateway_engine
DELETE FROM gateway.binding b WHERE b.tenant_id = $1 AND b.origin = 'file' AND NOT EXISTS (
    SELECT FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]) AS k(vendor, kind, value, host)
    WHERE k.vendor = b.vendor AND k.kind = b.kind AND k.value = b.value AND k.host = b.host)
RETURNING b.vendor, b.kind, b.value, b.host, b.app_id;

-- role gateway_call
DELETE FROM gateway.capture c WHERE c.tenant_id = $1 AND c.capture_id = $2 RETURNING c.capture_id;

-- role gateway_engine
DELETE FROM gateway.capture c WHERE c.tenant_id = $1 AND c.ends_at < now() - $2::interval;

-- role gateway_engine
DELETE FROM gateway.challenge WHERE tenant_id = $1 AND device_id IN (
    SELECT c.device_id FROM gateway.challenge c
    WHERE c.tenant_id = $1 AND c.ends_at < now() ORDER BY c.ends_at LIMIT 5000) AND ends_at < now();

-- role gateway_engine
DELETE FROM gateway.console_session WHERE account_id = $1 AND session_id = $2;

-- role gateway_engine
DELETE FROM gateway.console_session WHERE hash = $1;

-- role gateway_engine
DELETE FROM gateway.console_session WHERE hash IN (
    SELECT hash FROM gateway.console_session WHERE ends_at < now() ORDER BY ends_at LIMIT $1);

-- role gateway_engine
DELETE FROM gateway.console_session WHERE hash IN (
    SELECT s.hash FROM gateway.console_session s WHERE s.account_id = $1 ORDER BY s.created_at DESC OFFSET $2);

-- role gateway_engine
DELETE FROM gateway.counter WHERE tenant_id = $1 AND quarter < $2 AND quarter <= (
    SELECT max(x.quarter) FROM (
        SELECT c.quarter FROM gateway.counter c WHERE c.tenant_id = $1 AND c.quarter < $2 ORDER BY c.quarter LIMIT 5000) x);

-- role gateway_engine
DELETE FROM gateway.counter_reason WHERE tenant_id = $1 AND quarter < $2 AND quarter <= (
    SELECT max(x.quarter) FROM (
        SELECT c.quarter FROM gateway.counter_reason c WHERE c.tenant_id = $1 AND c.quarter < $2 ORDER BY c.quarter LIMIT 5000) x);

-- role gateway_engine
DELETE FROM gateway.credential WHERE tenant_id = $1 AND NOT credential_id = ANY ($2) RETURNING credential_id;

-- role gateway_engine
DELETE FROM gateway.delivery d USING (
    SELECT o.due_day, o.message_id, o.target_id FROM gateway.delivery o
    WHERE o.tenant_id = $1 AND o.due_day < $2 ORDER BY o.due_day LIMIT 5000) o
WHERE d.tenant_id = $1 AND d.due_day < $2 AND d.due_day = o.due_day AND d.message_id = o.message_id
    AND d.target_id = o.target_id;

-- role gateway_engine
DELETE FROM gateway.device_change WHERE tenant_id = $1 AND (day, app_id) IN (
    SELECT c.day, c.app_id FROM gateway.device_change c
    WHERE c.tenant_id = $1 AND c.day < $2 ORDER BY c.day LIMIT 5000);

-- role gateway_engine
DELETE FROM gateway.device_sketch WHERE tenant_id = $1 AND (day, app_id, subject, stage) IN (
    SELECT s.day, s.app_id, s.subject, s.stage FROM gateway.device_sketch s
    WHERE s.tenant_id = $1 AND s.day < $2 ORDER BY s.day LIMIT 5000);

-- role gateway_engine
DELETE FROM gateway.event_position WHERE tenant_id = $1 AND last IN (
    SELECT q.last FROM gateway.event_position q
    WHERE q.tenant_id = $1 AND q.last < (SELECT p.last FROM gateway.event_position p WHERE p.tenant_id = $1 ORDER BY p.last DESC LIMIT 1) ORDER BY q.last LIMIT 50000);

-- role gateway_engine
DELETE FROM gateway.expected_user WHERE tenant_id = $1 AND (app_id, user_id) IN (
    SELECT e.app_id, e.user_id FROM gateway.expected_user e
    WHERE e.tenant_id = $1 AND e.ends_at < now() ORDER BY e.ends_at LIMIT 5000);

-- role gateway_engine
DELETE FROM gateway.expected_user WHERE tenant_id = $1 AND ends_at < now() AND (app_id, user_id) IN (
    SELECT e.app_id, e.user_id FROM gateway.expected_user e
    WHERE e.tenant_id = $1 AND e.ends_at < now() ORDER BY e.ends_at LIMIT 5000);

-- role gateway_engine
DELETE FROM gateway.idempotency WHERE tenant_id = $1 AND (app_id, vendor, key) IN (
    SELECT y.app_id, y.vendor, y.key FROM gateway.idempotency y
    WHERE y.tenant_id = $1 AND y.created_at < now() - $2::interval ORDER BY y.created_at LIMIT 5000);

-- role gateway_engine
DELETE FROM gateway.inbox_open WHERE tenant_id = $1 AND (identity_id, message_id) IN (
    SELECT o.identity_id, o.message_id FROM gateway.inbox_open o
    WHERE o.tenant_id = $1 AND o.due_day < $2 ORDER BY o.due_day LIMIT 5000);

-- role gateway_engine
DELETE FROM gateway.latency WHERE tenant_id = $1 AND (quarter, app_id, vendor, kind) IN (
    SELECT l.quarter, l.app_id, l.vendor, l.kind FROM gateway.latency l
    WHERE l.tenant_id = $1 AND l.quarter < $2 * 96 ORDER BY l.quarter LIMIT 5000);

-- role gateway_engine
DELETE FROM gateway.message WHERE tenant_id = $1 AND message_id IN (
    SELECT m.message_id FROM gateway.message m
    WHERE m.tenant_id = $1 AND m.message_id < $2 AND m.expires_at < now() AND m.due_at < now() - $3::interval
    ORDER BY m.message_id LIMIT 1000);

-- role gateway_engine
DELETE FROM gateway.node WHERE node_id = $1;

-- role gateway_engine
DELETE FROM gateway.node WHERE seen_at < now() - $1::interval;

-- role gateway_engine
DELETE FROM gateway.observed_figure WHERE tenant_id = $1 AND (app_id, figure, at) IN (
    SELECT f.app_id, f.figure, f.at FROM gateway.observed_figure f
    WHERE f.tenant_id = $1 AND f.at < now() - interval '8 days' ORDER BY f.at LIMIT 5000);

-- role gateway_engine
DELETE FROM gateway.orphan_receipt WHERE tenant_id = $1 AND (day, app_id, reason) IN (
    SELECT o.day, o.app_id, o.reason FROM gateway.orphan_receipt o
    WHERE o.tenant_id = $1 AND o.day < $2 ORDER BY o.day LIMIT 5000);

-- role gateway_engine
DELETE FROM gateway.outbox WHERE tenant_id = $1 AND (ordering_key, app_id, upstream, no) IN (
    SELECT x.ordering_key, x.app_id, x.upstream, x.no FROM gateway.outbox_upstream u
    CROSS JOIN LATERAL (
        SELECT o.ordering_key, o.app_id, o.upstream, o.no FROM gateway.outbox o
        WHERE o.tenant_id = $1 AND o.upstream = u.upstream AND o.called_at < now() - $2::interval
        ORDER BY o.called_at LIMIT 5000 FOR UPDATE SKIP LOCKED) AS x
    WHERE u.tenant_id = $1 LIMIT 5000);

-- role gateway_engine
DELETE FROM gateway.parity_count WHERE tenant_id = $1 AND (app_id, metric, hour, dialect) IN (
    SELECT c.app_id, c.metric, c.hour, c.dialect FROM gateway.parity_count c
    WHERE c.tenant_id = $1 AND c.hour < $2 * 24 ORDER BY c.hour LIMIT 5000);

-- role gateway_engine
DELETE FROM gateway.property_count WHERE tenant_id = $1 AND (day, app_id, property, value, variant) IN (
    SELECT c.day, c.app_id, c.property, c.value, c.variant FROM gateway.property_count c
    WHERE c.tenant_id = $1 AND c.day < $2 ORDER BY c.day LIMIT 5000);

-- role gateway_engine
DELETE FROM gateway.receipt_mark WHERE tenant_id = $1 AND (due_day, message_id, target_id) IN (
    SELECT r.due_day, r.message_id, r.target_id FROM gateway.receipt_mark r
    WHERE r.tenant_id = $1 AND r.due_day < $2 ORDER BY r.due_day LIMIT 5000);

-- role gateway_engine
DELETE FROM gateway.upstream_call WHERE tenant_id = $1 AND (message_id, slice_no, epoch, no) IN (
    SELECT c.message_id, c.slice_no, c.epoch, c.no FROM gateway.upstream_call c
    WHERE c.tenant_id = $1 AND c.message_id < $2 ORDER BY c.message_id LIMIT 5000);

-- role gateway_engine
DELETE FROM gateway.upstream_user WHERE tenant_id = $1 AND (message_id, upstream, user_key) IN (
    SELECT u.message_id, u.upstream, u.user_key FROM gateway.upstream_user u
    WHERE u.tenant_id = $1 AND u.message_id < $2 ORDER BY u.message_id LIMIT 5000);

-- role gateway_engine
DELETE FROM gateway.user_act WHERE tenant_id = $1 AND (app_id, vendor, user_id, digest) IN (
    SELECT a.app_id, a.vendor, a.user_id, a.digest FROM gateway.user_act a
    WHERE a.tenant_id = $1 AND a.noted_at < now() - $2::interval ORDER BY a.noted_at LIMIT 5000);

-- role gateway_call
DELETE FROM gateway.user_group WHERE tenant_id = $1 AND app_id = $2 AND vendor = $3 AND group_name = $4;

-- role gateway_engine
DELETE FROM gateway.user_tally WHERE tenant_id = $1 AND (app_id, vendor, user_id, kind, name) IN (
    SELECT t.app_id, t.vendor, t.user_id, t.kind, t.name FROM gateway.user_tally t
    WHERE t.tenant_id = $1 AND t.noted_at < now() - $2::interval ORDER BY t.noted_at LIMIT 5000);

-- role gateway_engine
DELETE FROM gateway.verification WHERE tenant_id = $1 AND (app_id, vendor, phone) IN (
    SELECT v.app_id, v.vendor, v.phone FROM gateway.verification v
    WHERE v.tenant_id = $1 AND v.sent_at < now() - interval '1 day' LIMIT 5000);

-- role gateway_call
DELETE FROM gateway.webhook WHERE tenant_id = $1 AND webhook_id = $2;

-- role gateway_engine
INSERT INTO gateway.account_attempt AS a (subject, failures, failed_at, blocked_until) VALUES ($1, 1, now(), now())
ON CONFLICT (subject) DO UPDATE SET failed_at = now(),
    failures = CASE WHEN a.failed_at < now() - interval '1 day' THEN 1 ELSE a.failures + 1 END,
    blocked_until = CASE WHEN a.failed_at < now() - interval '1 day' OR a.failures < $2 THEN now()
        ELSE now() + least(interval '1 hour', make_interval(secs => 30 * power(2, least(a.failures - $2, 20)))) END
WHERE a.blocked_until <= now()
RETURNING a.failures;

-- role gateway_call
INSERT INTO gateway.activity_token AS t (tenant_id, device_id, kind, name, app_id, token, registered_at)
SELECT $1, d.device_id, $3::text, $4::text, d.app_id, $5::text, $6::timestamptz FROM gateway.device d
WHERE d.tenant_id = $1 AND d.device_id = $2 AND $7 > (
    SELECT count(*) FROM gateway.activity_token o
    WHERE o.tenant_id = $1 AND o.device_id = $2 AND (o.kind <> $3 OR o.name <> $4))
ON CONFLICT (tenant_id, device_id, kind, name)
    DO UPDATE SET token = excluded.token, registered_at = excluded.registered_at;

-- role gateway_engine
INSERT INTO gateway.api_key (key_id, tenant_id, name, hash, scopes, expires_at, networks, recipients_per_day)
SELECT gen_random_uuid(), tenant_id, $2, $3::bytea, $4::text[], $5::timestamptz, $6::text[], $7::bigint FROM gateway.tenant WHERE tenant_id = $1
ON CONFLICT DO NOTHING RETURNING key_id, name;

-- role gateway_engine
INSERT INTO gateway.api_key AS k (tenant_id, key_id, name, hash, scopes, expires_at, is_provisioned, networks, previous_hash,
    recipients_per_day, secret_at)
SELECT $1, gen_random_uuid(), u.name, u.hash, string_to_array(u.scopes, ','), u.expires_at, true, string_to_array(u.networks, ','),
    nullif(u.previous_hash, ''), u.recipients_per_day, now()
FROM unnest($2::text[], $3::bytea[], $4::text[], $5::timestamptz[], $6::text[], $7::bytea[], $8::integer[])
    AS u(name, hash, scopes, expires_at, networks, previous_hash, recipients_per_day)
ON CONFLICT (tenant_id, name) DO UPDATE SET hash = excluded.hash, scopes = excluded.scopes,
    expires_at = excluded.expires_at, is_provisioned = true, networks = excluded.networks,
    previous_hash = excluded.previous_hash, previous_until = NULL, recipients_per_day = excluded.recipients_per_day,
    secret_at = CASE WHEN k.hash = excluded.hash THEN k.secret_at
        WHEN k.previous_hash = excluded.hash THEN coalesce(k.previous_at, k.created_at) ELSE excluded.secret_at END,
    previous_at = CASE WHEN k.hash = excluded.previous_hash THEN coalesce(k.secret_at, k.created_at) ELSE k.previous_at END
WHERE (k.hash, k.scopes, k.expires_at, k.is_provisioned, k.networks, k.previous_hash, k.recipients_per_day)
    IS DISTINCT FROM (excluded.hash, excluded.scopes, excluded.expires_at, true, excluded.networks, excluded.previous_hash,
    excluded.recipients_per_day)
RETURNING k.name;

-- role gateway_engine
INSERT INTO gateway.api_key_use AS u (tenant_id, key_id, last_used_at)
SELECT $1, k.key_id, k.at FROM unnest($2::uuid[], $3::timestamptz[]) AS k(key_id, at)
ON CONFLICT (tenant_id, key_id) DO UPDATE SET last_used_at = greatest(u.last_used_at, excluded.last_used_at);

-- role gateway_engine
INSERT INTO gateway.app AS a (tenant_id, app_id, platforms, defaults)
SELECT $1, u.app_id, u.platforms::jsonb, u.defaults::jsonb
FROM unnest($2::text[], $3::text[], $4::text[]) AS u(app_id, platforms, defaults)
ON CONFLICT (tenant_id, app_id) DO UPDATE SET platforms = excluded.platforms, defaults = excluded.defaults,
    retired_at = NULL
WHERE a.platforms <> excluded.platforms OR a.defaults <> excluded.defaults OR a.retired_at IS NOT NULL
RETURNING a.app_id;

-- role gateway_engine
INSERT INTO gateway.audit_checkpoint (tenant_id, position, hash, last_at, signer, signature)
SELECT $1, $2, $3, a.at, $4, $5 FROM gateway.audit a WHERE a.tenant_id = $1 AND a.position = $2 AND a.hash = $3
ON CONFLICT (tenant_id, position) DO NOTHING;

-- role gateway_engine
INSERT INTO gateway.audit_copy AS c (tenant_id, position) VALUES ($1, $2)
ON CONFLICT (tenant_id) DO UPDATE SET position = EXCLUDED.position WHERE c.position < EXCLUDED.position;

-- role gateway_engine
INSERT INTO gateway.binding AS b (tenant_id, vendor, kind, value, host, app_id, settings)
SELECT $1, k.vendor, k.kind, k.value, k.host, k.app_id, k.settings::json
FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
    AS k(vendor, kind, value, host, app_id, settings)
ON CONFLICT (vendor, kind, value, host) DO UPDATE SET app_id = excluded.app_id, settings = excluded.settings
WHERE b.tenant_id = excluded.tenant_id
    AND (b.app_id <> excluded.app_id OR b.settings::text <> excluded.settings::text)
RETURNING b.vendor, b.kind, b.value, b.host, b.app_id;

-- role gateway_call
INSERT INTO gateway.campaign_mark AS c (tenant_id, app_id, vendor, user_id, campaign, at)
SELECT $1, $2, $3, $4, $5, $6 WHERE EXISTS (
    SELECT FROM gateway.identity i WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.user_id = $4)
ON CONFLICT (tenant_id, app_id, vendor, user_id, campaign) DO UPDATE SET at = greatest(c.at, excluded.at);

-- role gateway_engine
INSERT INTO gateway.console_session (hash, account_id, session_id, proven_at, ends_at, address, browser)
SELECT $1, a.account_id, gen_random_uuid(), CASE WHEN $3::boolean THEN NULL ELSE now() END, now() + make_interval(secs => $4), $5, $6
FROM gateway.account a WHERE a.account_id = $2 AND a.password = $7 AND a.disabled_at IS NULL FOR SHARE
RETURNING session_id;

-- role gateway_engine
INSERT INTO gateway.console_session (hash, account_id, session_id, proven_at, ends_at, address, browser)
VALUES ($1, $2, gen_random_uuid(), CASE WHEN $3 THEN NULL ELSE now() END, now() + make_interval(secs => $4), $5, $6);

-- role gateway_engine
INSERT INTO gateway.counter_fold AS f (tenant_id, minute, kept_from)
SELECT $1, 0, x.day FROM (SELECT $2::integer AS day) x
WHERE NOT EXISTS (SELECT FROM gateway.counter_fold o WHERE o.tenant_id = $1 AND o.kept_from >= x.day)
ON CONFLICT (tenant_id) DO UPDATE SET kept_from = excluded.kept_from
WHERE f.kept_from IS NULL OR f.kept_from < excluded.kept_from;

-- role gateway_engine
INSERT INTO gateway.counter_fold AS f (tenant_id, minute, kept_from)
SELECT $1, 0, x.day FROM (SELECT floor(extract(epoch FROM now() - $2::interval) / 86400)::integer + 1 AS day) x
WHERE NOT EXISTS (SELECT FROM gateway.counter_fold o WHERE o.tenant_id = $1 AND o.kept_from >= x.day)
ON CONFLICT (tenant_id) DO UPDATE SET kept_from = excluded.kept_from
WHERE f.kept_from IS NULL OR f.kept_from < excluded.kept_from;

-- role gateway_engine
INSERT INTO gateway.credential AS c
    (tenant_id, credential_id, kind, team_id, key_id, endpoint, trust_roots, sealed, fingerprint, pushes_per_second,
    channel_endpoint)
SELECT $1, u.id, u.kind, u.team, u.key, u.endpoint, u.roots, u.sealed, u.fingerprint, u.rate, u.channels
FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bytea[], $9::bytea[],
    $10::integer[], $11::text[]) AS u(id, kind, team, key, endpoint, roots, sealed, fingerprint, rate, channels)
ON CONFLICT (tenant_id, credential_id) DO UPDATE SET kind = excluded.kind, team_id = excluded.team_id,
    key_id = excluded.key_id, endpoint = excluded.endpoint, trust_roots = excluded.trust_roots,
    sealed = excluded.sealed, fingerprint = excluded.fingerprint, pushes_per_second = excluded.pushes_per_second,
    channel_endpoint = excluded.channel_endpoint, version = c.version + 1, refusal = NULL, refused_at = NULL
WHERE (c.kind, c.team_id, c.key_id, c.endpoint, c.channel_endpoint, c.trust_roots, c.fingerprint, c.pushes_per_second)
    IS DISTINCT FROM (excluded.kind, excluded.team_id, excluded.key_id, excluded.endpoint, excluded.channel_endpoint,
    excluded.trust_roots, excluded.fingerprint, excluded.pushes_per_second)
RETURNING c.credential_id;

-- role gateway_engine
INSERT INTO gateway.event_reader (tenant_id, cursor, since, key)
SELECT $1, coalesce(b.before, h.last, 0), coalesce(b.at, now()), $2::bytea FROM (SELECT 1) o
LEFT JOIN LATERAL (SELECT p.last FROM gateway.event_position p WHERE p.tenant_id = $1 ORDER BY p.last DESC LIMIT 1) h ON true
LEFT JOIN LATERAL (
    SELECT b.last - b.count AS before, b.at FROM gateway.event_batch b WHERE b.tenant_id = $1 ORDER BY b.last LIMIT 1) b ON true
ON CONFLICT (tenant_id) DO NOTHING;

-- role gateway_call
INSERT INTO gateway.idempotency (tenant_id, app_id, vendor, key, body_hash, status, answer, created_at)
VALUES ($1, '', 'native', $2, $3, $4, $5, now());

-- role gateway_engine
INSERT INTO gateway.master_key (key_id, check_value) VALUES ($1, $2) ON CONFLICT DO NOTHING;

-- role gateway_call
INSERT INTO gateway.message_label (tenant_id, app_id, vendor, label, due_day, message_id)
SELECT $1, $2, $3, l.label, m.due_day, m.message_id
FROM unnest($5::text[]) AS l(label) JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = $4
ON CONFLICT DO NOTHING;

-- role gateway_call
INSERT INTO gateway.message_number AS n (tenant_id, app_id, vendor, last)
VALUES ($1, $2, $3, floor(extract(epoch FROM now()))::bigint * 10000 + $4::bigint - 1)
ON CONFLICT (tenant_id, app_id, vendor) DO UPDATE SET last = greatest(n.last + $4::bigint, excluded.last)
RETURNING last;

-- role gateway_call
INSERT INTO gateway.message_number AS n (tenant_id, app_id, vendor, last)
VALUES ($1, $2, $3, floor(extract(epoch FROM now()))::bigint * 10000 + 5000 + $4::bigint - 1)
ON CONFLICT (tenant_id, app_id, vendor) DO UPDATE SET last = greatest(n.last + $4::bigint, excluded.last)
RETURNING last;

-- role gateway_call
INSERT INTO gateway.message_variable (tenant_id, message_id, user_id, variables)
SELECT $1, $2, u.id, u.variables::json FROM unnest($3::text[], $4::text[]) AS u(id, variables)
ON CONFLICT DO NOTHING;

-- role gateway_engine
INSERT INTO gateway.node AS n (node_id, seen_at) VALUES ($1, now())
ON CONFLICT (node_id) DO UPDATE SET seen_at = excluded.seen_at
RETURNING n.seen_at;

-- role gateway_engine
INSERT INTO gateway.observed_figure AS f (tenant_id, app_id, figure, at, samples, differences)
SELECT $1, u.app_id, u.figure, u.at, u.samples, u.differences
FROM unnest($2::text[], $3::text[], $4::timestamptz[], $5::bigint[], $6::bigint[]) AS u(app_id, figure, at, samples, differences)
ON CONFLICT (tenant_id, app_id, figure, at) DO UPDATE
    SET samples = f.samples + excluded.samples, differences = f.differences + excluded.differences;

-- role gateway_call
INSERT INTO gateway.page (tenant_id, page_id, message_id, name, body, expires_at) VALUES ($1, $2, $3, $4, $5, $6);

-- role gateway_engine
INSERT INTO gateway.provider_token AS t (team_id, key_id, fingerprint, sealed, issued_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (team_id, key_id, fingerprint) DO UPDATE SET sealed = excluded.sealed, issued_at = excluded.issued_at
WHERE t.issued_at < $6;

-- role gateway_call
INSERT INTO gateway.schedule (tenant_id, app_id, vendor, schedule_id, message_id, request)
VALUES ($1, $2, $3, $4, $5, $6::json)
ON CONFLICT (tenant_id, app_id, vendor, schedule_id) DO UPDATE SET message_id = excluded.message_id, request = excluded.request;

-- role gateway_call
INSERT INTO gateway.sender (tenant_id, app_id, vendor, name, sender_id) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (tenant_id, app_id, vendor, name) DO UPDATE SET name = excluded.name
RETURNING sender_id, enrolment_key, callback_url;

-- role gateway_call
INSERT INTO gateway.sender AS s (tenant_id, app_id, vendor, name, sender_id, enrolment_key, address)
SELECT $1, $2, $3, CASE WHEN EXISTS (
        SELECT FROM gateway.sender x
        WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.vendor = $3 AND x.name = $4) THEN $5 ELSE $4 END, $5, $6, $7
ON CONFLICT (tenant_id, app_id, vendor, sender_id) DO UPDATE SET
    enrolment_key = coalesce(s.enrolment_key, excluded.enrolment_key), address = coalesce(excluded.address, s.address);

-- role gateway_call
INSERT INTO gateway.sender AS s (tenant_id, app_id, vendor, name, sender_id, is_proven) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (tenant_id, app_id, vendor, name) DO UPDATE SET is_proven = s.is_proven OR excluded.is_proven
WHERE excluded.is_proven OR NOT s.is_proven
RETURNING sender_id, enrolment_key, callback_url;

-- role gateway_engine
INSERT INTO gateway.singleton AS s (name, owner, held_until) VALUES ($1, $2, now() + $3::interval)
ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, held_until = excluded.held_until
WHERE s.held_until < now() OR s.owner = excluded.owner
RETURNING now() AS now;

-- role gateway_engine
INSERT INTO gateway.tenant (tenant_id) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING RETURNING tenant_id;

-- role gateway_call
INSERT INTO gateway.vendor_sequence AS s (tenant_id, app_id, vendor, name, last) VALUES ($1, $2, $3, 'group', $4)
ON CONFLICT (tenant_id, app_id, vendor, name) DO UPDATE SET last = excluded.last WHERE s.last < excluded.last;

-- role gateway_engine
LOCK TABLE gateway.counter_fold IN SHARE UPDATE EXCLUSIVE MODE;

-- role gateway_engine
SELECT $2::bigint AS place, i.identity_id, i.app_id, i.vendor, i.key, i.first_key, i.user_id, i.name, i.phone, i.assurance, i.client_number,
    i.accepts_push AND i.denies_push IS NOT TRUE AS accepts_push,
    CASE WHEN i.ends_at <= now() THEN 'unregistered' ELSE i.state END AS state,
    d.device_id, coalesce(d.platform, 'ios') AS platform, coalesce(d.environment, 'production') AS environment,
    d.token, coalesce(d.token_state, 'none') AS token_state, d.token_registered_at,
    d.time_zone, d.window_from, d.window_to
FROM gateway.identity i
LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
WHERE i.tenant_id = $1 AND i.identity_id = $3;

-- role gateway_engine
SELECT $2::bigint AS place, i.identity_id, i.app_id, i.vendor, i.key, i.user_id, i.name, i.phone,
    i.accepts_push AND i.denies_push IS NOT TRUE AS accepts_push,
    CASE WHEN i.ends_at <= now() THEN 'unregistered' ELSE i.state END AS state,
    d.device_id, coalesce(d.platform, 'ios') AS platform, coalesce(d.environment, 'production') AS environment,
    d.token, coalesce(d.token_state, 'none') AS token_state, d.token_registered_at,
    d.time_zone, d.window_from, d.window_to
FROM gateway.identity i
LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
WHERE i.tenant_id = $1 AND i.identity_id = $3;

-- role gateway_engine
SELECT $2::bigint AS place, i.identity_id, i.app_id, i.vendor, i.key, i.user_id, i.name, i.phone, i.assurance,
    i.accepts_push AND i.denies_push IS NOT TRUE AS accepts_push,
    CASE WHEN i.ends_at <= now() THEN 'unregistered' ELSE i.state END AS state,
    d.device_id, coalesce(d.platform, 'ios') AS platform, coalesce(d.environment, 'production') AS environment,
    d.token, coalesce(d.token_state, 'none') AS token_state, d.token_registered_at,
    d.time_zone, d.window_from, d.window_to
FROM gateway.identity i
LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
WHERE i.tenant_id = $1 AND i.identity_id = $3;

-- role gateway_engine
SELECT $2::bigint AS place, i.identity_id, i.app_id, i.vendor, i.key, i.user_id, i.name, i.phone, i.assurance, i.client_number,
    i.accepts_push AND i.denies_push IS NOT TRUE AS accepts_push,
    CASE WHEN i.ends_at <= now() THEN 'unregistered' ELSE i.state END AS state,
    d.device_id, coalesce(d.platform, 'ios') AS platform, coalesce(d.environment, 'production') AS environment,
    d.token, coalesce(d.token_state, 'none') AS token_state, d.token_registered_at,
    d.time_zone, d.window_from, d.window_to
FROM gateway.identity i
LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
WHERE i.tenant_id = $1 AND i.identity_id = $3;

-- role gateway_engine
SELECT 'key' AS kind, k.name FROM gateway.api_key k
WHERE k.tenant_id = $1 AND NOT k.is_provisioned AND k.name = ANY ($6::text[])
UNION ALL SELECT 'credential', c.credential_id FROM gateway.credential c
WHERE c.tenant_id = $1 AND c.origin <> 'file' AND c.credential_id = ANY ($7::text[])
UNION ALL SELECT 'app', a.app_id FROM gateway.app a
WHERE a.tenant_id = $1 AND a.origin <> 'file' AND a.retired_at IS NULL AND a.app_id = ANY ($8::text[])
UNION ALL SELECT 'binding', concat_ws(' ', b.vendor, b.kind, b.value) FROM gateway.binding b
JOIN unnest($2::text[], $3::text[], $4::text[], $5::text[]) AS u(vendor, kind, value, host)
    ON u.vendor = b.vendor AND u.kind = b.kind AND u.value = b.value AND u.host = b.host
WHERE b.tenant_id = $1 AND b.origin <> 'file'
LIMIT 1;

-- role gateway_engine
SELECT 'rules' AS outcome, r.version, r.format, r.base::text AS base_rules, r.overlay::text AS overlay_rules, r.upstreams::text AS upstreams
FROM gateway.message m
JOIN gateway.app a ON a.tenant_id = $1 AND a.app_id = m.app_id
JOIN gateway.route_set r ON r.tenant_id = $1 AND r.app_id = a.app_id AND r.version = a.route_version
WHERE m.tenant_id = $1 AND m.message_id = $2;

-- role gateway_engine
SELECT (SELECT count(*) FROM (SELECT FROM gateway.migration m WHERE m.tenant_id = $1 LIMIT $2) x) AS n, EXISTS (
    SELECT FROM gateway.app a WHERE a.tenant_id = $1 AND a.app_id = $3 AND a.retired_at IS NULL) AS has_app;

-- role gateway_call
SELECT (SELECT json_object_agg(r.vendor, r.ref)::text FROM gateway.message_ref r WHERE r.tenant_id = $1 AND r.message_id = m.message_id) AS numbers FROM gateway.message m WHERE m.tenant_id = $1 AND m.message_id = $2;

-- role gateway_engine
SELECT (SELECT key_id FROM gateway.master_key FOR SHARE) AS sealing_key
FROM (SELECT pg_advisory_xact_lock(hashtextextended('gateway.provisioning', 0)) OFFSET 0) AS locked;

-- role gateway_engine
SELECT (extract(epoch FROM now() - at) * 1000)::bigint AS age FROM gateway.audit
WHERE tenant_id = $1 AND position > $2 ORDER BY position LIMIT 1;

-- role gateway_call
SELECT * FROM gateway.accept_message(p_tenant => $1, p_app => $2, p_vendor => $3, p_id => $4, p_sender => $5, p_content => $6, p_collapse => $7, p_lane => $8, p_accepted => $9, p_due => $10, p_due_day => $11, p_expires => $12, p_fallback => $13, p_recipients => $14, p_media_id => $15, p_media_hash => $16, p_key => $17, p_body_hash => $18, p_holder => $19, p_lease => $20, p_node => $21, p_slice_numbers => $22, p_slice_kinds => $23, p_slice_ends => $24, p_targets => $25, p_addresses => $26, p_sup_targets => $27, p_sup_identities => $28, p_sup_devices => $29, p_sup_addresses => $30, p_sup_reasons => $31, p_audience => $32, p_due_local => $33, p_slice_dues => $34, p_awaits => $35, p_by => $36, p_share => $37, p_share_limit => $38, p_fingerprint => $39, p_window => $40);

-- role gateway_call
SELECT * FROM gateway.acknowledge($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12);

-- role gateway_call
SELECT * FROM gateway.api_key_standing($1);

-- role gateway_call
SELECT * FROM gateway.assign_user($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- role gateway_call
SELECT * FROM gateway.assign_user(p_tenant => $1, p_app => $2, p_vendor => $3, p_key => $4, p_change => $5, p_user => $6, p_name => $7, p_phone => $8, p_exclusive => $9, p_assurance => $10, p_moves => $11, p_at => $12);

-- role gateway_call
SELECT * FROM gateway.assign_users($1, $2, $3, $4, $5, $6, $7, $8);

-- role gateway_call
SELECT * FROM gateway.assign_users(p_tenant => $1, p_app => $2, p_vendor => $3, p_assurance => $4, p_moves => $5, p_keys => $6, p_changes => $7, p_users => $8, p_names => $9, p_phones => $10, p_at => $11);

-- role gateway_call
SELECT * FROM gateway.audit_about($1, $2, $3);

-- role gateway_engine
SELECT * FROM gateway.begin_upstream_call($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12);

-- role gateway_call
SELECT * FROM gateway.change_members($1, $2, $3, $4, $5, $6);

-- role gateway_engine
SELECT * FROM gateway.claim_forwards($1, $2, $3, $4::interval, $5);

-- role gateway_call
SELECT * FROM gateway.event_bounds($1);

-- role gateway_engine
SELECT * FROM gateway.expand_variants($1, $2, $3, $4, $5, $6, $7, $8);

-- role gateway_call
SELECT * FROM gateway.find_answer($1, $2, $3);

-- role gateway_call
SELECT * FROM gateway.find_preferences($1, $2, $3, $4, $5, $6);

-- role gateway_call
SELECT * FROM gateway.find_traces($1, $2, $3, $4);

-- role gateway_call
SELECT * FROM gateway.forward_calls(p_tenant => $1, p_apps => $2, p_vendors => $3, p_upstreams => $4, p_users => $5, p_keys => $6, p_others => $7, p_kinds => $8, p_calls => $9, p_methods => $10, p_paths => $11, p_queries => $12, p_content_types => $13, p_vias => $14, p_bodies => $15, p_outlives => $16);

-- role gateway_engine
SELECT * FROM gateway.guard_slice($1, $2, $3, $4, $5, $6, $7, $8);

-- role gateway_call
SELECT * FROM gateway.history_message($1, $2, $3, $4, $5, $6);

-- role gateway_call
SELECT * FROM gateway.history_message($1, $2, $3, $4, $5, $6, $7);

-- role gateway_call
SELECT * FROM gateway.history_page(p_tenant => $1, p_app => $2, p_vendor => $3, p_key => $4, p_token => $5, p_kind => $6, p_user => $7, p_number => $8, p_now => $9, p_today => $10, p_limit => $11, p_at => $12, p_node => $13);

-- role gateway_call
SELECT * FROM gateway.history_page(p_tenant => $1, p_app => $2, p_vendor => $3, p_key => $4, p_token => $5, p_kind => $6, p_user => $7, p_number => $8, p_now => $9, p_today => $10, p_limit => $11, p_at => $12, p_node => $13, p_whole => $14);

-- role gateway_call
SELECT * FROM gateway.poll_inbox($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- role gateway_call
SELECT * FROM gateway.put_template($1, $2, $3, $4, $5, $6, $7);

-- role gateway_call
SELECT * FROM gateway.register_many(p_tenant => $1, p_app => $2, p_vendor => $3, p_assurance => $4, p_moves => $5, p_keeps_owner => $6, p_keys => $7, p_identities => $8, p_devices => $9, p_platforms => $10, p_environments => $11, p_tokens => $12, p_users => $13, p_names => $14, p_phones => $15, p_raw_phones => $16, p_attributes => $17, p_at => $18, p_clients => $19);

-- role gateway_call
SELECT * FROM gateway.register_many(p_tenant => $1, p_app => $2, p_vendor => $3, p_assurance => $4, p_moves => $5, p_keys => $6, p_identities => $7, p_devices => $8, p_platforms => $9, p_environments => $10, p_tokens => $11, p_users => $12, p_names => $13, p_phones => $14, p_raw_phones => $15, p_attributes => $16, p_at => $17);

-- role gateway_call
SELECT * FROM gateway.register_many(p_tenant => $1, p_app => $2, p_vendor => $3, p_assurance => $4, p_moves => $5, p_keys => $6, p_identities => $7, p_devices => $8, p_platforms => $9, p_environments => $10, p_tokens => $11, p_users => $12, p_names => $13, p_phones => $14, p_raw_phones => $15, p_attributes => $16, p_at => $17, p_clients => $18);

-- role gateway_call
SELECT * FROM gateway.register_many(p_tenant => $1, p_app => $2, p_vendor => $3, p_keys => $4, p_identities => $5, p_devices => $6, p_platforms => $7, p_environments => $8, p_tokens => $9, p_users => $10, p_names => $11, p_phones => $12, p_raw_phones => $13, p_attributes => $14, p_at => $15);

-- role gateway_call
SELECT * FROM gateway.register_noted(p_tenant => $1, p_app => $2, p_vendor => $3, p_key => $4, p_identity => $5, p_device => $6, p_platform => $7, p_environment => $8, p_token => $9, p_user => $10, p_name => $11, p_phone => $12, p_raw_phone => $13, p_replaces_phone => $14, p_attributes => $15, p_at => $16);

-- role gateway_call
SELECT * FROM gateway.register_noted(p_tenant => $1, p_app => $2, p_vendor => $3, p_key => $4, p_identity => $5, p_device => $6, p_platform => $7, p_environment => $8, p_token => $9, p_user => $10, p_name => $11, p_phone => $12, p_raw_phone => $13, p_replaces_phone => $14, p_attributes => $15, p_at => $16, p_assurance => $17, p_moves => $18);

-- role gateway_call
SELECT * FROM gateway.register_noted(p_tenant => $1, p_app => $2, p_vendor => $3, p_key => $4, p_identity => $5, p_device => $6, p_platform => $7, p_environment => $8, p_token => $9, p_user => $10, p_name => $11, p_phone => $12, p_raw_phone => $13, p_replaces_phone => $14, p_attributes => $15, p_at => $16, p_assurance => $17, p_moves => $18, p_client => $19);

-- role gateway_call
SELECT * FROM gateway.register_noted(p_tenant => $1, p_app => $2, p_vendor => $3, p_key => $4, p_identity => $5, p_device => $6, p_platform => $7, p_environment => $8, p_token => $9, p_user => $10, p_name => $11, p_phone => $12, p_raw_phone => $13, p_replaces_phone => $14, p_attributes => $15, p_at => $16, p_assurance => $17, p_moves => $18, p_client => $19, p_keeps_owner => $20);

-- role gateway_call
SELECT * FROM gateway.register_tagged(p_tenant => $1, p_app => $2, p_vendor => $3, p_key => $4, p_identity => $5, p_device => $6, p_platform => $7, p_environment => $8, p_token => $9, p_user => $10, p_name => $11, p_phone => $12, p_raw_phone => $13, p_replaces_phone => $14, p_attributes => $15, p_at => $16, p_assurance => $17, p_moves => $18, p_client => $19, p_keeps_owner => $20, p_tags => $21);

-- role gateway_call
SELECT * FROM gateway.register_tagged(p_tenant => $1, p_app => $2, p_vendor => $3, p_key => $4, p_identity => $5, p_device => $6, p_platform => $7, p_environment => $8, p_token => $9, p_user => $10, p_name => $11, p_phone => $12, p_raw_phone => $13, p_replaces_phone => $14, p_attributes => $15, p_at => $16, p_assurance => $17, p_moves => $18, p_client => $19, p_tags => $20);

-- role gateway_call
SELECT * FROM gateway.register_tagged(p_tenant => $1, p_app => $2, p_vendor => $3, p_key => $4, p_identity => $5, p_device => $6, p_platform => $7, p_environment => $8, p_token => $9, p_user => $10, p_name => $11, p_phone => $12, p_raw_phone => $13, p_replaces_phone => $14, p_attributes => $15, p_at => $16, p_assurance => $17, p_moves => $18, p_tags => $19);

-- role gateway_call
SELECT * FROM gateway.register_tagged(p_tenant => $1, p_app => $2, p_vendor => $3, p_key => $4, p_identity => $5, p_device => $6, p_platform => $7, p_environment => $8, p_token => $9, p_user => $10, p_name => $11, p_phone => $12, p_raw_phone => $13, p_replaces_phone => $14, p_attributes => $15, p_at => $16, p_tags => $17);

-- role gateway_call
SELECT * FROM gateway.register_timed(p_tenant => $1, p_app => $2, p_vendor => $3, p_key => $4, p_identity => $5, p_device => $6, p_platform => $7, p_environment => $8, p_token => $9, p_user => $10, p_name => $11, p_phone => $12, p_raw_phone => $13, p_replaces_phone => $14, p_attributes => $15, p_at => $16, p_assurance => $17, p_moves => $18, p_client => $19, p_keeps_owner => $20, p_tags => $21, p_zone => $22, p_from => $23, p_to => $24);

-- role gateway_call
SELECT * FROM gateway.register_timed(p_tenant => $1, p_app => $2, p_vendor => $3, p_key => $4, p_identity => $5, p_device => $6, p_platform => $7, p_environment => $8, p_token => $9, p_user => $10, p_name => $11, p_phone => $12, p_raw_phone => $13, p_replaces_phone => $14, p_attributes => $15, p_at => $16, p_assurance => $17, p_moves => $18, p_client => $19, p_tags => $20, p_zone => $21, p_from => $22, p_to => $23);

-- role gateway_call
SELECT * FROM gateway.register_timed(p_tenant => $1, p_app => $2, p_vendor => $3, p_key => $4, p_identity => $5, p_device => $6, p_platform => $7, p_environment => $8, p_token => $9, p_user => $10, p_name => $11, p_phone => $12, p_raw_phone => $13, p_replaces_phone => $14, p_attributes => $15, p_at => $16, p_assurance => $17, p_moves => $18, p_tags => $19, p_zone => $20, p_from => $21, p_to => $22);

-- role gateway_call
SELECT * FROM gateway.register_timed(p_tenant => $1, p_app => $2, p_vendor => $3, p_key => $4, p_identity => $5, p_device => $6, p_platform => $7, p_environment => $8, p_token => $9, p_user => $10, p_name => $11, p_phone => $12, p_raw_phone => $13, p_replaces_phone => $14, p_attributes => $15, p_at => $16, p_tags => $17, p_zone => $18, p_from => $19, p_to => $20);

-- role gateway_call
SELECT * FROM gateway.replay_webhook($1, $2, $3);

-- role gateway_call
SELECT * FROM gateway.reported_delivery($1, $2, $3, $4, $5);

-- role gateway_call
SELECT * FROM gateway.reported_delivery($1, $2, $3, $4, $5, $6);

-- role gateway_call
SELECT * FROM gateway.resolve_addresses(p_tenant => $1, p_app => $2, p_vendor => $3, p_phone_places => $4, p_phones => $5, p_key_places => $6, p_keys => $7, p_user_places => $8, p_users => $9, p_device_places => $10, p_devices => $11, p_prefer => $12, p_all => $13, p_lane => $14);

-- role gateway_call
SELECT * FROM gateway.resolve_api_key($1);

-- role gateway_call
SELECT * FROM gateway.resolve_binding($1, $2, $3, $4);

-- role gateway_call
SELECT * FROM gateway.resolve_call($1, $2, $3, $4);

-- role gateway_engine
SELECT * FROM gateway.resolve_page($1);

-- role gateway_engine
SELECT * FROM gateway.route_slice($1, $2, $3, $4, $5);

-- role gateway_call
SELECT * FROM gateway.set_clock($1, $2, $3, $4, $5);

-- role gateway_engine
SELECT * FROM gateway.settle_forwards($1, $2, $3, $4::interval, $5, $6, $7, $8);

-- role gateway_call
SELECT * FROM gateway.start_challenge($1, $2, $3, $4, $5);

-- role gateway_engine
SELECT * FROM gateway.take_badges($1, $2, $3, $4, $5);

-- role gateway_call
SELECT * FROM gateway.targets_of_device($1, $2, $3, $4, $5, $6);

-- role gateway_call
SELECT * FROM gateway.waiting_messages($1, $2, $3, $4);

-- role gateway_call
SELECT 0::bigint AS place, r.* FROM (SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, d.time_zone, d.window_from, d.window_to
FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
WHERE i.tenant_id = $1 AND i.app_id = $2 AND ($3 = 'native' OR i.vendor = $3) AND i.state = 'active'
    AND i.key = $4
ORDER BY i.registered_at DESC, i.identity_id DESC LIMIT 1) AS r;

-- role gateway_call
SELECT 0::bigint AS place, r.* FROM (SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, d.time_zone, d.window_from, d.window_to
FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
WHERE i.tenant_id = $1 AND i.app_id = $2 AND ($3 = 'native' OR i.vendor = $3) AND i.state = 'active'
    AND i.phone = $4
ORDER BY i.registered_at DESC, i.identity_id DESC LIMIT 1) AS r;

-- role gateway_call
SELECT 0::bigint AS place, r.* FROM (SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, i.assurance,
    EXISTS (
        SELECT FROM gateway.identity h
        WHERE h.tenant_id = $1 AND h.app_id = $2 AND h.phone = i.phone
            AND h.assurance > i.assurance AND h.assurance > 0 AND h.state = 'active') AS is_outranked, i.vendor, greatest(i.registered_at, i.seen_at) AS last_seen,
    NOT i.accepts_push AS has_withdrawn, coalesce(i.ends_at <= now(), false) AS has_ended, d.time_zone, d.window_from, d.window_to
FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
WHERE i.tenant_id = $1 AND i.app_id = $2 AND ($3 = 'native' OR i.vendor = $3) AND i.state = 'active'
    AND i.phone = $4
ORDER BY CASE WHEN (SELECT a.defaults->>'mixedAssurance' = 'true' FROM gateway.app a WHERE a.tenant_id = $1 AND a.app_id = $2)
    THEN 0 ELSE i.assurance END DESC, i.registered_at DESC, i.identity_id DESC LIMIT 1) AS r;

-- role gateway_call
SELECT 0::bigint AS place, r.* FROM (SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, i.assurance,
    EXISTS (
        SELECT FROM gateway.identity h
        WHERE h.tenant_id = $1 AND h.app_id = $2 AND h.user_id = i.user_id
            AND h.assurance > i.assurance AND h.assurance > 0 AND h.state = 'active') AS is_outranked, i.vendor, greatest(i.registered_at, i.seen_at) AS last_seen,
    NOT i.accepts_push AS has_withdrawn, coalesce(i.ends_at <= now(), false) AS has_ended, d.time_zone, d.window_from, d.window_to
FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
WHERE i.tenant_id = $1 AND i.app_id = $2 AND ($3 = 'native' OR i.vendor = $3) AND i.state = 'active'
    AND i.user_id = $4
ORDER BY CASE WHEN (SELECT a.defaults->>'mixedAssurance' = 'true' FROM gateway.app a WHERE a.tenant_id = $1 AND a.app_id = $2)
    THEN 0 ELSE i.assurance END DESC, i.registered_at DESC, i.identity_id DESC LIMIT 1) AS r;

-- role gateway_call
SELECT 0::bigint AS place, r.* FROM (SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, i.assurance,
    false AS is_outranked, i.vendor, greatest(i.registered_at, i.seen_at) AS last_seen,
    NOT i.accepts_push AS has_withdrawn, coalesce(i.ends_at <= now(), false) AS has_ended, d.time_zone, d.window_from, d.window_to
FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
WHERE i.tenant_id = $1 AND i.app_id = $2 AND ($3 = 'native' OR i.vendor = $3) AND i.state = 'active'
    AND i.key = $4
ORDER BY i.registered_at DESC, i.identity_id DESC LIMIT 1) AS r;

-- role gateway_engine
SELECT 1 AS one FROM (SELECT pg_advisory_xact_lock(hashtextextended('gateway.account', 0)) OFFSET 0) AS locked;

-- role gateway_engine
SELECT 1 AS one FROM gateway.message WHERE tenant_id = $1 AND message_id = $2 FOR NO KEY UPDATE;

-- role gateway_call
SELECT 1 FROM gateway.admit_sender($1, $2, $3, $4);

-- role gateway_engine
SELECT ARRAY[team_id, key_id, encode(fingerprint, 'hex')] AS parts, sealed FROM gateway.provider_token
WHERE (team_id, key_id, fingerprint) > ($1, $2, decode($3, 'hex')) ORDER BY team_id, key_id, fingerprint LIMIT $4;

-- role gateway_engine
SELECT ARRAY[tenant_id, credential_id] AS parts, sealed FROM gateway.credential
WHERE tenant_id > $1 OR (tenant_id = $1 AND credential_id > $2) ORDER BY tenant_id, credential_id LIMIT $3;

-- role gateway_engine
SELECT ARRAY[tenant_id, webhook_id::text] AS parts, previous_sealed AS sealed FROM gateway.webhook
WHERE (tenant_id > $1 OR (tenant_id = $1 AND webhook_id > $2::text::uuid)) AND previous_sealed IS NOT NULL
ORDER BY tenant_id, webhook_id LIMIT $3;

-- role gateway_engine
SELECT ARRAY[tenant_id, webhook_id::text] AS parts, sealed FROM gateway.webhook
WHERE tenant_id > $1 OR (tenant_id = $1 AND webhook_id > $2::text::uuid) ORDER BY tenant_id, webhook_id LIMIT $3;

-- role gateway_engine
SELECT ARRAY[vendor, kind, value, host, tenant_id, app_id] AS parts, settings::text AS settings FROM gateway.binding
WHERE (vendor, kind, value, host) > ($1, $2, $3, $4) ORDER BY vendor, kind, value, host LIMIT $5;

-- role gateway_engine
SELECT DISTINCT a.actor FROM gateway.audit a WHERE a.tenant_id = $1 AND a.subject = $2 AND a.action IN ('create', 'rotate');

-- role gateway_engine
SELECT DISTINCT o.tenant_id FROM gateway.message_open o
WHERE NOT EXISTS (
    SELECT FROM gateway.slice s
    WHERE s.tenant_id = o.tenant_id AND s.message_id = o.message_id AND s.state <> 'done');

-- role gateway_engine
SELECT DISTINCT t.place FROM unnest($2::bigint[], $3::uuid[]) AS t(place, target)
JOIN gateway.identity i ON i.tenant_id = $1 AND i.identity_id = t.target
JOIN gateway.delivery d ON d.tenant_id = $1 AND d.device_id = i.device_id AND d.message_id = $4
    AND d.due_day = $5 AND d.target_id <> t.target AND d.state IN ('sent', 'received', 'read');

-- role gateway_engine
SELECT EXISTS (
    SELECT 1 FROM gateway.lane l CROSS JOIN LATERAL (
        SELECT 1 FROM gateway.slice s
        WHERE s.tenant_id = l.tenant_id AND s.lane = l.lane AND s.state = 'ready' AND s.next_at <= now() - $1::interval
        LIMIT 1) x
    WHERE NOT l.is_paused) AS are_waiting;

-- role gateway_engine
SELECT EXISTS (SELECT 1 FROM gateway.tenant t WHERE t.tenant_id = $1) AS found;

-- role gateway_engine
SELECT a.account_id, a.name, a.created_at, a.disabled_at, a.code_salt IS NOT NULL AS has_codes,
    coalesce((SELECT array_agg(r.tenant ORDER BY r.tenant) FROM gateway.account_role r
        WHERE r.account_id = a.account_id AND ($1::text IS NULL OR r.tenant = $1)), '{}') AS tenants,
    coalesce((SELECT array_agg(r.role ORDER BY r.tenant) FROM gateway.account_role r
        WHERE r.account_id = a.account_id AND ($1::text IS NULL OR r.tenant = $1)), '{}') AS roles,
    (SELECT max(s.seen_at) FROM gateway.console_session s WHERE s.account_id = a.account_id) AS seen_at
FROM gateway.account a
WHERE $1::text IS NULL OR EXISTS (
    SELECT FROM gateway.account_role r WHERE r.account_id = a.account_id AND r.tenant = $1)
ORDER BY a.name LIMIT 500;

-- role gateway_call
SELECT a.app_id, a.platforms, a.created_at, a.retired_at FROM gateway.app a
WHERE a.tenant_id = $1 AND a.app_id > $2 ORDER BY a.app_id LIMIT $3;

-- role gateway_engine
SELECT a.app_id, r.version, r.format, r.base::text AS base, r.overlay::text AS overlay, r.upstreams::text AS upstreams, r.origin, r.actor, r.made_at FROM gateway.app a
JOIN gateway.route_set r ON r.tenant_id = $1 AND r.app_id = a.app_id AND r.version = a.route_version
WHERE a.tenant_id = $1 AND a.retired_at IS NULL ORDER BY a.app_id;

-- role gateway_engine
SELECT a.app_id, r.version, r.format, r.base::text AS base, r.overlay::text AS overlay, r.upstreams::text AS upstreams, r.origin, r.actor, r.made_at FROM gateway.app a
LEFT JOIN gateway.route_set r ON r.tenant_id = $1 AND r.app_id = a.app_id AND r.version = a.route_version
WHERE a.tenant_id = $1 AND a.app_id = $2 AND a.retired_at IS NULL;

-- role gateway_call
SELECT a.platforms::text AS platforms, a.defaults::text AS defaults,
    (SELECT coalesce(sum(c.active), 0)::bigint FROM gateway.identity_count c
        WHERE c.tenant_id = $1 AND c.app_id = $2 AND ($3 = 'native' OR c.vendor = $3 OR a.defaults->>'crossDialectSends' = 'true')) AS identities,
    (SELECT coalesce(array_agg(DISTINCT c.vendor), '{}') FROM gateway.identity_count c
        WHERE c.tenant_id = $1 AND c.app_id = $2) AS dialects
FROM gateway.app a WHERE a.tenant_id = $1 AND a.app_id = $2 AND a.retired_at IS NULL;

-- role gateway_call
SELECT a.platforms::text AS platforms, a.defaults::text AS defaults,
    (SELECT coalesce(sum(c.active), 0)::bigint FROM gateway.identity_count c
        WHERE c.tenant_id = $1 AND c.app_id = $2 AND ($3 = 'native' OR c.vendor = $3 OR a.defaults->>'crossDialectSends' = 'true')) AS identities,
    (SELECT coalesce(array_agg(DISTINCT c.vendor), '{}') FROM gateway.identity_count c
        WHERE c.tenant_id = $1 AND c.app_id = $2) AS dialects,
    r.format AS route_format, r.base::text AS route_base, r.overlay::text AS route_overlay, r.upstreams::text AS route_upstreams
FROM gateway.app a
LEFT JOIN gateway.route_set r ON r.tenant_id = $1 AND r.app_id = a.app_id AND r.version = a.route_version
WHERE a.tenant_id = $1 AND a.app_id = $2 AND a.retired_at IS NULL;

-- role gateway_call
SELECT a.position, a.at, a.actor, a.action, coalesce(s.subject, a.subject) AS subject, a.data FROM gateway.audit a LEFT JOIN gateway.audit_subject s ON s.tenant_id = a.tenant_id AND s.pseudonym = a.subject WHERE a.tenant_id = $1 AND a.position > $2 ORDER BY a.position LIMIT $3;

-- role gateway_call
SELECT a.position, a.at, a.actor, a.action, coalesce(s.subject, a.subject) AS subject, a.data FROM gateway.audit a LEFT JOIN gateway.audit_subject s ON s.tenant_id = a.tenant_id AND s.pseudonym = a.subject WHERE a.tenant_id = $1 ORDER BY a.position DESC LIMIT $2;

-- role gateway_call
SELECT a.user_id, a.label, a.name FROM gateway.user_alias a
WHERE a.tenant_id = $1 AND a.app_id = $2 AND a.vendor = $3 AND a.user_id = ANY ($4)
ORDER BY a.user_id, a.label, a.name LIMIT $5;

-- role gateway_engine
SELECT account_id, name, password, code_salt, disabled_at IS NOT NULL AS is_disabled FROM gateway.account WHERE account_id = $1;

-- role gateway_engine
SELECT account_id, name, password, code_salt, disabled_at IS NOT NULL AS is_disabled FROM gateway.account WHERE name = $1;

-- role gateway_call
SELECT add_parity AS count FROM gateway.add_parity($1, $2, $3, $4, $5, $6, $7, $8);

-- role gateway_call
SELECT adopt_group AS is_new FROM gateway.adopt_group($1, $2, $3, $4, $5);

-- role gateway_call
SELECT answer_challenge AS count FROM gateway.answer_challenge($1, $2);

-- role gateway_engine
SELECT app_id, defaults::text AS defaults FROM gateway.app WHERE tenant_id = $1 AND app_id = ANY ($2::text[]);

-- role gateway_engine
SELECT app_id, platforms::text AS platforms, defaults::text AS defaults, retired_at IS NOT NULL AS is_retired
FROM gateway.app WHERE tenant_id = $1;

-- role gateway_engine
SELECT app_id, platforms::text AS platforms, defaults::text AS defaults, retired_at IS NOT NULL AS is_retired, origin
FROM gateway.app WHERE tenant_id = $1;

-- role gateway_call
SELECT b.bytes, b.content_type FROM gateway.message m
JOIN gateway.message_media l ON l.tenant_id = $1 AND l.message_id = m.message_id
JOIN gateway.media b ON b.tenant_id = $1 AND b.hash = l.hash
WHERE m.tenant_id = $1 AND m.message_id = $3 AND m.app_id = $2 AND l.media_id = $4;

-- role gateway_call
SELECT b.bytes, b.content_type FROM gateway.message_ref r
JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = r.message_id
JOIN gateway.message_media l ON l.tenant_id = $1 AND l.message_id = r.message_id
JOIN gateway.media b ON b.tenant_id = $1 AND b.hash = l.hash
WHERE r.tenant_id = $1 AND r.app_id = $2 AND r.vendor = $3 AND r.ref = $4 AND m.content->'data'->>'owner' = $5 LIMIT 1;

-- role gateway_engine
SELECT b.host, min(b.vendor) AS vendor, (array_agg(b.kind ORDER BY b.kind, b.value))[1] AS kind,
    (array_agg(b.value ORDER BY b.kind, b.value))[1] AS value
FROM gateway.binding b WHERE b.host <> '' GROUP BY b.host
HAVING count(DISTINCT (b.tenant_id, b.app_id, b.vendor)) = 1 ORDER BY b.host LIMIT $1;

-- role gateway_call
SELECT b.last, b.at FROM gateway.event_batch b WHERE b.tenant_id = $1 AND b.last > $2::bigint ORDER BY b.last LIMIT 1;

-- role gateway_engine
SELECT b.name FROM gateway.budget b WHERE b.tenant_id = $1 AND b.name = ANY ($2::text[]) AND b.spent_until > now();

-- role gateway_engine
SELECT b.tenant_id, b.app_id, b.vendor, b.value, b.host FROM gateway.binding b
WHERE b.tenant_id = ANY ($1::text[]) AND b.vendor = ANY ($2::text[]) LIMIT 10000;

-- role gateway_engine
SELECT b.vendor FROM gateway.binding b WHERE b.vendor = ANY ($1::text[]) GROUP BY b.vendor
HAVING min(b.tenant_id) = max(b.tenant_id) AND min(b.app_id) = max(b.app_id);

-- role gateway_engine
SELECT b.vendor, b.app_id, b.settings FROM gateway.message m
JOIN gateway.binding b ON b.tenant_id = $1 AND b.app_id = m.app_id
WHERE m.tenant_id = $1 AND m.message_id = $2;

-- role gateway_call
SELECT body_hash, status, answer FROM gateway.idempotency
WHERE tenant_id = $1 AND app_id = '' AND vendor = 'native' AND key = $2;

-- role gateway_call
SELECT c.campaign_id, c.name, c.body, c.created_at, c.updated_at FROM gateway.campaign c
WHERE c.tenant_id = $1 AND c.app_id = $2 AND c.vendor = $3 AND ($4::text IS NULL OR c.campaign_id COLLATE "C" > $4)
ORDER BY c.campaign_id COLLATE "C" LIMIT $5;

-- role gateway_call
SELECT c.campaign_id, c.name, c.body, c.created_at, c.updated_at FROM gateway.campaign c
WHERE c.tenant_id = $1 AND c.app_id = $2 AND c.vendor = $3 AND c.campaign_id = $4;

-- role gateway_call
SELECT c.capture_id, c.app_id, c.vendor, c.started_at, c.ends_at, c.ended_at, c.ended_by, c.started_by, c.keeps_texts, c.exchange_limit, c.body_limit, c.byte_limit, c.exchange_count, c.byte_count, c.ended_at IS NULL AND c.ends_at > now() AS is_running FROM gateway.capture c WHERE c.tenant_id = $1 AND c.capture_id = $2;

-- role gateway_call
SELECT c.capture_id, c.app_id, c.vendor, c.started_at, c.ends_at, c.ended_at, c.ended_by, c.started_by, c.keeps_texts, c.exchange_limit, c.body_limit, c.byte_limit, c.exchange_count, c.byte_count, c.ended_at IS NULL AND c.ends_at > now() AS is_running FROM gateway.capture c WHERE c.tenant_id = $1 ORDER BY c.started_at DESC, c.capture_id;

-- role gateway_engine
SELECT c.credential_id, a.app_id FROM gateway.credential c JOIN gateway.app a ON a.tenant_id = $1
WHERE c.tenant_id = $1 AND c.origin = 'file'
    AND (NOT c.credential_id = ANY ($2::text[]) OR c.credential_id = ANY ($3::text[]))
    AND a.origin <> 'file' AND a.retired_at IS NULL
    AND EXISTS (SELECT FROM jsonb_each(a.platforms) AS p, jsonb_each_text(p.value->'credentials') AS u
        WHERE u.value = c.credential_id)
LIMIT 1;

-- role gateway_engine
SELECT c.credential_id, a.app_id FROM gateway.credential c JOIN gateway.app a ON a.tenant_id = $1
WHERE c.tenant_id = $1 AND c.origin = 'file' AND NOT c.credential_id = ANY ($2::text[])
    AND a.origin <> 'file' AND a.retired_at IS NULL
    AND EXISTS (SELECT FROM jsonb_each(a.platforms) AS p, jsonb_each_text(p.value->'credentials') AS u
        WHERE u.value = c.credential_id)
LIMIT 1;

-- role gateway_engine
SELECT c.epoch, c.no, c.upstream, c.targets FROM gateway.upstream_call c
WHERE c.tenant_id = $1 AND c.message_id = $2 AND c.slice_no = $3 AND c.state = 'calling';

-- role gateway_engine
SELECT c.quarter FROM gateway.counter c
WHERE c.tenant_id = $1 AND c.quarter < $2
    AND c.quarter >= greatest((SELECT f.rolled FROM gateway.counter_fold f WHERE f.tenant_id = $1), 0)
ORDER BY c.quarter LIMIT 1;

-- role gateway_engine
SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'gateway.delivery'::regclass AND c.relname ~ '^delivery_w[0-9]+$'
ORDER BY length(c.relname), c.relname;

-- role gateway_engine
SELECT c.tenant_id, c.capture_id, c.app_id, c.vendor, c.keeps_texts, c.body_limit, c.ends_at FROM gateway.capture c
WHERE c.ended_at IS NULL AND c.ends_at > now() ORDER BY c.ends_at LIMIT 1000;

-- role gateway_engine
SELECT c.tenant_id, c.credential_id, c.kind, c.team_id, c.key_id, c.endpoint, c.channel_endpoint, c.trust_roots, c.sealed,
    c.fingerprint, c.version, c.refusal, c.refused_at, c.pushes_per_second, c.origin, c.stored_at,
    t.pushes_per_second AS tenant_pushes_per_second
FROM gateway.credential c JOIN gateway.tenant t ON t.tenant_id = c.tenant_id ORDER BY c.tenant_id, c.credential_id;

-- role gateway_engine
SELECT c.tenant_id, c.credential_id, c.kind, c.team_id, c.key_id, c.endpoint, c.channel_endpoint, c.trust_roots, c.sealed,
    c.fingerprint, c.version, c.refusal, c.refused_at, c.pushes_per_second, c.origin, c.stored_at,
    t.pushes_per_second AS tenant_pushes_per_second
FROM gateway.credential c JOIN gateway.tenant t ON t.tenant_id = c.tenant_id WHERE c.tenant_id = $1 AND c.credential_id = $2;

-- role gateway_engine
SELECT c.tenant_id, c.credential_id, c.kind, c.team_id, c.key_id, c.endpoint, c.channel_endpoint, c.trust_roots, c.sealed,
    c.fingerprint, c.version, c.refusal, c.refused_at, c.pushes_per_second, t.pushes_per_second AS tenant_pushes_per_second
FROM gateway.credential c JOIN gateway.tenant t ON t.tenant_id = c.tenant_id
ORDER BY c.tenant_id, c.credential_id;

-- role gateway_engine
SELECT c.tenant_id, c.credential_id, c.kind, c.team_id, c.key_id, c.endpoint, c.channel_endpoint, c.trust_roots, c.sealed,
    c.fingerprint, c.version, c.refusal, c.refused_at, c.pushes_per_second, t.pushes_per_second AS tenant_pushes_per_second
FROM gateway.credential c JOIN gateway.tenant t ON t.tenant_id = c.tenant_id ORDER BY c.tenant_id, c.credential_id;

-- role gateway_engine
SELECT ceil(extract(epoch FROM greatest(blocked_until - now(), interval '0')))::bigint AS seconds
FROM gateway.account_attempt WHERE subject = $1;

-- role gateway_call
SELECT check_verification AS permitted FROM gateway.check_verification($1, $2, $3, $4, $5, $6, $7, $8);

-- role gateway_engine
SELECT coalesce((SELECT a.position FROM gateway.audit a WHERE a.tenant_id = $1 ORDER BY a.position DESC LIMIT 1), 0) AS newest,
    coalesce((SELECT c.position FROM gateway.audit_copy c WHERE c.tenant_id = $1), 0) AS copied;

-- role gateway_engine
SELECT coalesce((SELECT p.last FROM gateway.event_position p WHERE p.tenant_id = $1 ORDER BY p.last DESC LIMIT 1), 0) AS head, (
    SELECT b.last - b.count FROM gateway.event_batch b WHERE b.tenant_id = $1 AND b.last > $2::bigint
    ORDER BY b.last LIMIT 1) AS before;

-- role gateway_engine
SELECT coalesce(floor(extract(epoch FROM now() - failing_since) * 1000), 0)::bigint AS failing, now() AS now
FROM gateway.sender WHERE tenant_id = $1 AND app_id = $2 AND vendor = $3 AND sender_id = $4;

-- role gateway_engine
SELECT coalesce(floor(extract(epoch FROM now() - failing_since) * 1000), 0)::bigint AS failing, now() AS now
FROM gateway.webhook WHERE tenant_id = $1 AND webhook_id = $2;

-- role gateway_engine
SELECT coalesce(max(h.last - w.cursor) FILTER (WHERE w.is_active), 0)::bigint AS lag,
    coalesce(extract(epoch FROM now() - min(coalesce(x.at, y.at)) FILTER (WHERE w.is_active)), 0)::float8 AS lag_seconds,
    count(*) FILTER (WHERE w.is_active AND w.failing_since IS NOT NULL) AS failing,
    coalesce(extract(epoch FROM now() - min(w.failing_since) FILTER (WHERE w.is_active)), 0)::float8 AS failing_seconds,
    count(*) FILTER (WHERE NOT w.is_active AND w.failure IS NOT NULL) AS stopped
FROM gateway.webhook w
LEFT JOIN LATERAL (SELECT p.last FROM gateway.event_position p WHERE p.tenant_id = w.tenant_id ORDER BY p.last DESC LIMIT 1) h ON true
LEFT JOIN LATERAL (
    SELECT o.at FROM gateway.event_single o WHERE o.tenant_id = w.tenant_id AND o.position > w.cursor
    ORDER BY o.position LIMIT 1) x ON true
LEFT JOIN LATERAL (
    SELECT b.at FROM gateway.event_batch b WHERE b.tenant_id = w.tenant_id AND b.last > w.cursor
    ORDER BY b.last LIMIT 1) y ON true;

-- role gateway_engine
SELECT coalesce(max(least(x.lag + y.lag, 1000)), 0)::bigint AS lag,
    coalesce(extract(epoch FROM now() - min(coalesce(x.at, y.at))), 0)::float8 AS lag_seconds,
    count(*) FILTER (WHERE s.failing_since IS NOT NULL) AS failing,
    coalesce(extract(epoch FROM now() - min(s.failing_since)), 0)::float8 AS failing_seconds, 0::bigint AS stopped
FROM gateway.sender s
CROSS JOIN LATERAL (
    SELECT count(*) AS lag, min(u.at) AS at FROM (
        SELECT o.at FROM gateway.event_single o
        WHERE o.tenant_id = s.tenant_id AND o.app_id = s.app_id AND o.vendor = s.vendor
            AND o.sender_id = s.sender_id AND o.position > s.cursor
        ORDER BY o.position LIMIT 1000) u) x
CROSS JOIN LATERAL (
    SELECT coalesce(sum(least(u.count, u.last - s.cursor)), 0) AS lag, min(u.at) AS at FROM (
        SELECT b.last, b.count, b.at FROM gateway.event_batch b
        WHERE b.tenant_id = s.tenant_id AND b.app_id = s.app_id AND b.vendor = s.vendor
            AND b.sender_id = s.sender_id AND b.last > s.cursor
        ORDER BY b.last LIMIT 1000) u) y
WHERE s.callback_url IS NOT NULL;

-- role gateway_engine
SELECT coalesce(sum(h.last - r.cursor), 0)::bigint AS events,
    coalesce(extract(epoch FROM now() - min(x.at)), 0)::float8 AS seconds, coalesce(sum(r.lost), 0)::bigint AS lost
FROM gateway.event_reader r
CROSS JOIN LATERAL (SELECT p.last FROM gateway.event_position p WHERE p.tenant_id = r.tenant_id ORDER BY p.last DESC LIMIT 1) h
LEFT JOIN LATERAL (
    SELECT b.at FROM gateway.event_batch b WHERE b.tenant_id = r.tenant_id AND b.last > r.cursor ORDER BY b.last LIMIT 1) x ON true;

-- role gateway_engine
SELECT condemn_tokens AS count FROM gateway.condemn_tokens($1, $2, $3, $4, $5, $6);

-- role gateway_call
SELECT control_message AS count,
    CASE WHEN control_message > 0 AND $6::text IS NOT NULL THEN
        gateway.write_audit($1, $6, ARRAY[$7::text], ARRAY['message ' || $4::uuid], ARRAY[NULL]::text[])
    END AS audited,
    gateway.note_controlled($1, $4, $5, control_message)
FROM gateway.control_message($1, $2, $3, $4, $5);

-- role gateway_call
SELECT control_message AS count,
    CASE WHEN control_message > 0 AND $6::text IS NOT NULL THEN
        gateway.write_audit($1, $6, ARRAY[$7::text], ARRAY['message ' || $4::uuid], ARRAY[NULL]::text[])
    END AS audited,
    gateway.note_controlled($1, $4, $5, control_message)
FROM gateway.control_message($1, $2, $3, $4, $5, $6);

-- role gateway_call
SELECT count(*) AS count FROM gateway.find_history(p_tenant => $1, p_app => $2, p_vendor => $3, p_key => $4, p_token => $5, p_reader => $6, p_kind => $7, p_user => $8, p_number => $9, p_now => $10, p_today => $11, p_read => $12, p_hidden => $13, p_looks => $14, p_limit => $15);

-- role gateway_call
SELECT count(*) AS count FROM gateway.find_history(p_tenant => $1, p_app => $2, p_vendor => $3, p_key => $4, p_token => $5, p_reader => $6, p_kind => $7, p_user => $8, p_number => $9, p_now => $10, p_today => $11, p_read => $12, p_hidden => $13, p_looks => $14, p_limit => $15, p_whole => $16);

-- role gateway_engine
SELECT count(*) AS count FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'gateway.delivery'::regclass AND c.relname ~ '^delivery_w[0-9]+$'
    AND (substr(c.relname, 11)::integer + 1) * 7 <= $1;

-- role gateway_engine
SELECT count(*) AS imports, coalesce(sum((x.data->>'optOuts')::bigint), 0)::bigint AS opt_outs FROM (
    SELECT a.at, a.data, a.action FROM gateway.audit a
    WHERE a.tenant_id = $1 AND a.subject = $2 ORDER BY a.position DESC LIMIT 1000) x
WHERE x.action = 'imported' AND x.at >= $3;

-- role gateway_engine
SELECT count(*) AS imports, coalesce(sum((x.data->>'optOuts')::bigint), 0)::bigint AS opt_outs,
    coalesce(sum(greatest((x.data->>'optOuts')::bigint, (x.data->>'consents')::bigint)), 0)::bigint AS consents
FROM (
    SELECT a.at, a.data, a.action FROM gateway.audit a
    WHERE a.tenant_id = $1 AND a.subject = $2 ORDER BY a.position DESC LIMIT 1000) x
WHERE x.action = 'imported' AND x.at >= $3;

-- role gateway_engine
SELECT count(*) AS keys FROM gateway.api_key WHERE tenant_id = $1 AND NOT is_provisioned;

-- role gateway_engine
SELECT count(*) AS n FROM (
    SELECT FROM gateway.identity i
    LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
    WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active'
        AND (d.device_id IS NULL OR d.platform <> 'ios' OR d.token_state <> 'active')
        AND greatest(i.registered_at, i.seen_at, d.seen_at) >= now() - interval '30 days'
    LIMIT $4) x;

-- role gateway_engine
SELECT count(*) AS nodes FROM gateway.node WHERE seen_at > now() - interval '20 seconds';

-- role gateway_engine
SELECT count(*) AS slices FROM gateway.slice WHERE state = 'ready' AND dead_reason IS NOT NULL;

-- role gateway_engine
SELECT count(*) AS stopped FROM gateway.credential WHERE refusal IS NOT NULL;

-- role gateway_call
SELECT count(*) FILTER (WHERE l.is_unread) AS unread FROM (
    SELECT d.read_at IS NULL AND d.state <> 'canceled' AND d.reason IS DISTINCT FROM 'duplicate'
        AND d.reason IS DISTINCT FROM 'assurance' AS is_unread
    FROM gateway.delivery d JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = d.message_id
    WHERE d.tenant_id = $1 AND d.device_id = $2
    ORDER BY d.message_id DESC LIMIT $3) AS l;

-- role gateway_call
SELECT count(*) FILTER (WHERE l.is_unread) AS unread FROM (
    SELECT d.read_at IS NULL AND d.state <> 'canceled' AND d.reason IS DISTINCT FROM 'duplicate' AS is_unread
    FROM gateway.delivery d JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = d.message_id
    WHERE d.tenant_id = $1 AND d.device_id = $2
    ORDER BY d.message_id DESC LIMIT $3) AS l;

-- role gateway_call
SELECT count(*) FILTER (WHERE p.is_new) AS created, count(*) FILTER (WHERE NOT p.is_new AND p.is_changed) AS changed,
    count(*) FILTER (WHERE NOT p.is_new AND NOT p.is_changed) AS unchanged
FROM (
    SELECT i.identity_id IS NULL AS is_new,
        i.state IS DISTINCT FROM 'active' OR coalesce(u.user_id IS DISTINCT FROM i.user_id AND u.user_id IS NOT NULL
            OR u.name IS DISTINCT FROM i.name AND u.name IS NOT NULL
            OR u.phone IS DISTINCT FROM i.phone AND u.phone IS NOT NULL
            OR u.token IS NOT NULL AND (u.token IS DISTINCT FROM d.token OR d.token_state <> 'active')
            OR u.zone IS DISTINCT FROM d.time_zone AND u.zone IS NOT NULL
            OR (u.first, u.last) IS DISTINCT FROM (coalesce(d.window_from, 0), coalesce(d.window_to, 1439))
                AND u.first IS NOT NULL
            OR gateway.client_after(i.client, u.client::jsonb) IS DISTINCT FROM i.client
            OR u.tags IS NOT NULL AND ARRAY(SELECT t FROM unnest(string_to_array(u.tags, ' ')) AS t ORDER BY t)
                <> ARRAY(SELECT t.tag FROM gateway.identity_tag t
                    WHERE t.tenant_id = $1 AND t.identity_id = i.identity_id ORDER BY t.tag), false) AS is_changed
    FROM unnest(
        $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::integer[], $11::integer[],
        $12::text[], $13::text[]) AS u(key, token, user_id, name, phone, zone, first, last, tags, client)
    LEFT JOIN gateway.identity i ON i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.key = u.key
    LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id) p;

-- role gateway_call
SELECT count(*) FILTER (WHERE p.is_new) AS created, count(*) FILTER (WHERE NOT p.is_new AND p.is_changed) AS changed,
    count(*) FILTER (WHERE NOT p.is_new AND NOT p.is_changed) AS unchanged
FROM (
    SELECT i.identity_id IS NULL AS is_new,
        i.state IS DISTINCT FROM 'active' OR coalesce(u.user_id IS DISTINCT FROM i.user_id AND u.user_id IS NOT NULL
            OR u.name IS DISTINCT FROM i.name AND u.name IS NOT NULL
            OR u.phone IS DISTINCT FROM i.phone AND u.phone IS NOT NULL
            OR u.token IS NOT NULL AND (u.token IS DISTINCT FROM d.token OR d.token_state <> 'active')
            OR u.zone IS DISTINCT FROM d.time_zone AND u.zone IS NOT NULL
            OR (u.first, u.last) IS DISTINCT FROM (coalesce(d.window_from, 0), coalesce(d.window_to, 1439))
                AND u.first IS NOT NULL
            OR u.tags IS NOT NULL AND ARRAY(SELECT t FROM unnest(string_to_array(u.tags, ' ')) AS t ORDER BY t)
                <> ARRAY(SELECT t.tag FROM gateway.identity_tag t
                    WHERE t.tenant_id = $1 AND t.identity_id = i.identity_id ORDER BY t.tag), false) AS is_changed
    FROM unnest(
        $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::integer[], $11::integer[],
        $12::text[]) AS u(key, token, user_id, name, phone, zone, first, last, tags)
    LEFT JOIN gateway.identity i ON i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.key = u.key
    LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id) p;

-- role gateway_call
SELECT count(*) FILTER (WHERE p.is_new) AS created, count(*) FILTER (WHERE NOT p.is_new AND p.is_older) AS older,
    count(*) FILTER (WHERE NOT p.is_new AND NOT p.is_older AND p.is_changed) AS changed,
    count(*) FILTER (WHERE NOT p.is_new AND NOT p.is_older AND NOT p.is_changed) AS unchanged
FROM (
    SELECT i.identity_id IS NULL AS is_new,
        coalesce($14::timestamptz IS NOT NULL AND (i.state <> 'active'
            OR greatest(i.registered_at, (to_json(i)->>'seen_at')::timestamptz, i.user_since) > $14
            OR u.token <> d.token AND d.token_registered_at > $14
            OR u.token = d.token AND d.token_state <> 'active'), false) AS is_older,
        i.state IS DISTINCT FROM 'active' OR coalesce(u.user_id IS DISTINCT FROM i.user_id AND u.user_id IS NOT NULL
            OR u.name IS DISTINCT FROM i.name AND u.name IS NOT NULL
            OR u.phone IS DISTINCT FROM i.phone AND u.phone IS NOT NULL
            OR u.token IS NOT NULL AND (u.token IS DISTINCT FROM d.token OR d.token_state <> 'active')
            OR u.zone IS DISTINCT FROM d.time_zone AND u.zone IS NOT NULL
            OR (u.first, u.last) IS DISTINCT FROM (coalesce(d.window_from, 0), coalesce(d.window_to, 1439))
                AND u.first IS NOT NULL
            OR gateway.client_after(i.client, u.client::jsonb) IS DISTINCT FROM i.client
            OR NOT u.accepts AND i.accepts_push
            OR u.tags IS NOT NULL AND ARRAY(SELECT t FROM unnest(string_to_array(u.tags, ' ')) AS t ORDER BY t)
                <> ARRAY(SELECT t.tag FROM gateway.identity_tag t
                    WHERE t.tenant_id = $1 AND t.identity_id = i.identity_id ORDER BY t.tag), false) AS is_changed
    FROM unnest(
        $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::integer[], $11::integer[],
        $12::text[], $13::text[], $15::boolean[], $16::text[])
        AS u(key, token, user_id, name, phone, zone, first, last, tags, client, accepts, platform)
    LEFT JOIN LATERAL (
        SELECT x.key FROM gateway.device y
        JOIN gateway.identity x ON x.tenant_id = $1 AND x.device_id = y.device_id AND x.app_id = $2 AND x.vendor = $3
            AND x.state = 'active'
        WHERE u.key LIKE 'token-%' AND y.tenant_id = $1 AND y.app_id = $2 AND y.platform = u.platform
            AND y.token_digest = md5(u.token) AND y.token = u.token
        ORDER BY y.token_registered_at DESC, x.identity_id LIMIT 1) AS h ON true
    CROSS JOIN LATERAL (SELECT coalesce(h.key, u.key) AS key OFFSET 0) AS k
    LEFT JOIN gateway.identity i ON i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.key = k.key
    LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id) p;

-- role gateway_call
SELECT count(sent_at) FILTER (WHERE state IN ('sent', 'received', 'read')) AS sent,
    count(*) FILTER (WHERE state IN ('received', 'read') AND sent_at IS NOT NULL) AS received,
    count(*) FILTER (WHERE state = 'read' AND sent_at IS NOT NULL) AS read, count(*) FILTER (WHERE state = 'failed') AS failed,
    count(*) FILTER (WHERE state = 'suppressed') AS suppressed,
    count(*) FILTER (WHERE state = 'expired') AS expired, count(*) FILTER (WHERE state = 'canceled') AS canceled
FROM gateway.delivery WHERE tenant_id = $1 AND due_day = $2 AND message_id = $3;

-- role gateway_engine
SELECT count, events FROM gateway.drop_events($1, $2, $3, 1000);

-- role gateway_call
SELECT count, ordinal FROM gateway.set_many_preferences($1, $2, $3, $4, $5);

-- role gateway_call
SELECT count_unreceived AS count FROM gateway.count_unreceived($1, $2, $3, $4, $5, $6, $7);

-- role gateway_call
SELECT create_group AS name FROM gateway.create_group($1, $2, $3, $4);

-- role gateway_call
SELECT create_webhook AS created FROM gateway.create_webhook($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- role gateway_call
SELECT create_webhook AS created FROM gateway.create_webhook($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);

-- role gateway_engine
SELECT credential_id, kind, team_id, key_id, endpoint, channel_endpoint, trust_roots, fingerprint, pushes_per_second
FROM gateway.credential WHERE tenant_id = $1;

-- role gateway_engine
SELECT credential_id, kind, team_id, key_id, endpoint, channel_endpoint, trust_roots, fingerprint, pushes_per_second, origin
FROM gateway.credential WHERE tenant_id = $1;

-- role gateway_call
SELECT d.device_id, d.app_id, d.platform, d.environment, d.token, d.token_state, d.token_registered_at, d.created_at, d.seen_at,
d.time_zone, d.window_from, d.window_to FROM (
    SELECT x.* FROM gateway.device x WHERE x.tenant_id = $1 AND x.device_id > $2 AND x.app_id = $6 ORDER BY x.device_id LIMIT $3) d
WHERE $4::text IS NULL OR EXISTS (
    SELECT FROM gateway.identity i
    WHERE i.tenant_id = $1 AND i.device_id = d.device_id AND i.app_id = d.app_id AND i.vendor = $4 AND i.state = 'active')
ORDER BY d.device_id LIMIT $5;

-- role gateway_call
SELECT d.device_id, d.app_id, d.platform, d.environment, d.token, d.token_state, d.token_registered_at, d.created_at, d.seen_at,
d.time_zone, d.window_from, d.window_to FROM (
    SELECT x.* FROM gateway.device x WHERE x.tenant_id = $1 AND x.device_id > $2 ORDER BY x.device_id LIMIT $3) d
WHERE $4::text IS NULL OR EXISTS (
    SELECT FROM gateway.identity i
    WHERE i.tenant_id = $1 AND i.device_id = d.device_id AND i.app_id = d.app_id AND i.vendor = $4 AND i.state = 'active')
ORDER BY d.device_id LIMIT $5;

-- role gateway_call
SELECT d.device_id, d.app_id, d.platform, d.environment, d.token, d.token_state, d.token_registered_at, d.created_at, d.seen_at,
d.time_zone, d.window_from, d.window_to FROM gateway.device d WHERE d.tenant_id = $1 AND d.device_id = $2;

-- role gateway_call
SELECT d.device_id, d.app_id, d.platform, d.environment, d.token, d.token_state, d.token_registered_at, d.created_at, d.seen_at,
d.time_zone, d.window_from, d.window_to FROM gateway.device d WHERE d.tenant_id = $1 AND d.device_id = ANY ($2);

-- role gateway_call
SELECT d.device_id, d.app_id, d.platform, d.environment, d.token, d.token_state, d.token_registered_at, d.created_at, d.seen_at,
d.time_zone, d.window_from, d.window_to, d.token_reason, a.platforms::text AS platforms, a.defaults::text AS defaults, a.retired_at,
    coalesce((SELECT l.is_paused FROM gateway.lane l WHERE l.tenant_id = $1 AND l.lane = $3), false) AS is_paused, now() AS asked_at
FROM gateway.device d JOIN gateway.app a ON a.tenant_id = $1 AND a.app_id = d.app_id
WHERE d.tenant_id = $1 AND d.device_id = $2;

-- role gateway_call
SELECT d.message_id, d.target_id FROM (SELECT x.* FROM gateway.delivery x
WHERE x.tenant_id = $1 AND x.due_day >= $2 AND x.due_day <= $3
    AND (x.due_day, x.message_id, x.target_id) > ($2, $4, $5) AND x.message_id < $6
ORDER BY x.due_day, x.message_id, x.target_id OFFSET $7::bigint - 1 LIMIT 1) d;

-- role gateway_call
SELECT d.message_id, d.target_id, d.identity_id, d.address, d.state, d.reason, d.sent_at, d.received_at, d.read_at, m.state = 'scheduled' AS is_reserved, m.fallback, d.device_id, d.user_id, d.transport, d.transport_id, d.is_certain, d.attempts, d.payload_bytes, d.reduced FROM (
    SELECT x.* FROM gateway.delivery x
    WHERE x.tenant_id = $1 AND x.due_day = (SELECT y.due_day FROM gateway.message y WHERE y.tenant_id = $1 AND y.message_id = $2)
        AND x.message_id = $2 AND x.target_id > $3
    ORDER BY x.target_id LIMIT $4) d
CROSS JOIN (SELECT y.state, y.fallback FROM gateway.message y WHERE y.tenant_id = $1 AND y.message_id = $2) m
WHERE $5::text IS NULL OR d.state = $5 ORDER BY d.target_id LIMIT $6;

-- role gateway_call
SELECT d.message_id, d.target_id, d.identity_id, d.address, d.state, d.reason, d.sent_at, d.received_at, d.read_at, m.state = 'scheduled' AS is_reserved, m.fallback, d.device_id, d.user_id, d.transport, d.transport_id, d.is_certain, d.attempts, d.payload_bytes, d.reduced FROM gateway.message m
JOIN gateway.delivery d ON d.tenant_id = $1 AND d.due_day = m.due_day AND d.message_id = m.message_id
WHERE m.tenant_id = $1 AND m.message_id = $2 AND d.target_id = $3;

-- role gateway_call
SELECT d.message_id, d.target_id, d.identity_id, d.address, d.state, d.reason, d.sent_at, d.received_at, d.read_at, m.state = 'scheduled' AS is_reserved, m.fallback, d.device_id, d.user_id, d.transport, d.transport_id, d.is_certain, d.attempts, d.payload_bytes, d.reduced, d.device_vendor, d.transport_ms FROM (
    SELECT x.* FROM gateway.delivery x
    WHERE x.tenant_id = $1 AND x.due_day = (SELECT y.due_day FROM gateway.message y WHERE y.tenant_id = $1 AND y.message_id = $2)
        AND x.message_id = $2 AND x.target_id > $3
    ORDER BY x.target_id LIMIT $4) d
CROSS JOIN (SELECT y.state, y.fallback FROM gateway.message y WHERE y.tenant_id = $1 AND y.message_id = $2) m
WHERE $5::text IS NULL OR d.state = $5 ORDER BY d.target_id LIMIT $6;

-- role gateway_call
SELECT d.message_id, d.target_id, d.identity_id, d.address, d.state, d.reason, d.sent_at, d.received_at, d.read_at, m.state = 'scheduled' AS is_reserved, m.fallback, d.device_id, d.user_id, d.transport, d.transport_id, d.is_certain, d.attempts, d.payload_bytes, d.reduced, d.device_vendor, d.transport_ms FROM gateway.delivery d
JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = d.message_id
WHERE d.tenant_id = $1 AND d.device_id = $2 AND NOT m.awaits_approval
ORDER BY d.message_id DESC LIMIT $3;

-- role gateway_call
SELECT d.message_id, d.target_id, d.identity_id, d.address, d.state, d.reason, d.sent_at, d.received_at, d.read_at, m.state = 'scheduled' AS is_reserved, m.fallback, d.device_id, d.user_id, d.transport, d.transport_id, d.is_certain, d.attempts, d.payload_bytes, d.reduced, d.device_vendor, d.transport_ms FROM gateway.message m
JOIN gateway.delivery d ON d.tenant_id = $1 AND d.due_day = m.due_day AND d.message_id = m.message_id
WHERE m.tenant_id = $1 AND m.message_id = $2 AND d.target_id = $3;

-- role gateway_call
SELECT d.message_id, d.target_id, d.identity_id, d.address, d.state, d.reason, d.sent_at, d.received_at, d.read_at, m.state = 'scheduled' AS is_reserved, m.fallback, d.device_id, d.user_id, d.transport, d.transport_id, d.is_certain, d.attempts, d.payload_bytes, d.reduced, d.device_vendor, d.transport_ms, d.app_id, d.vendor FROM (SELECT x.* FROM gateway.delivery x
WHERE x.tenant_id = $1 AND x.due_day >= $2 AND x.due_day <= $3
    AND (x.due_day, x.message_id, x.target_id) > ($2, $4, $5) AND x.message_id < $6
ORDER BY x.due_day, x.message_id, x.target_id LIMIT $7) d
CROSS JOIN (SELECT 'done' AS state, NULL::json AS fallback) m
WHERE ($8::text IS NULL OR d.app_id = $8) AND ($9::text IS NULL OR d.vendor = $9)
ORDER BY d.due_day, d.message_id, d.target_id LIMIT $10;

-- role gateway_call
SELECT d.message_id, d.target_id, d.identity_id, d.address, d.state, d.reason, d.sent_at, d.received_at, d.read_at, m.state = 'scheduled' AS is_reserved, m.fallback, m.app_id, m.vendor, m.content, m.due_at, m.expires_at, m.collapse_id, m.sender_id,
    (SELECT json_object_agg(r.vendor, r.ref)::text FROM gateway.message_ref r WHERE r.tenant_id = $1 AND r.message_id = m.message_id) AS numbers
FROM gateway.delivery d
JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = d.message_id
WHERE d.tenant_id = $1 AND d.device_id = $2 AND d.message_id < $3
ORDER BY d.message_id DESC LIMIT $4;

-- role gateway_call
SELECT d.message_id, d.target_id, d.identity_id, d.address, d.state, d.reason, d.sent_at, d.received_at, d.read_at, m.state = 'scheduled' AS is_reserved, m.fallback, m.app_id, m.vendor, m.content, m.due_at, m.expires_at, m.collapse_id, m.sender_id,
    (SELECT json_object_agg(r.vendor, r.ref)::text FROM gateway.message_ref r WHERE r.tenant_id = $1 AND r.message_id = m.message_id) AS numbers
FROM gateway.delivery d
JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = d.message_id
WHERE d.tenant_id = $1 AND d.device_id = $2 AND d.message_id < $3 AND NOT m.awaits_approval
ORDER BY d.message_id DESC LIMIT $4;

-- role gateway_engine
SELECT d.route_version FROM gateway.delivery d
WHERE d.tenant_id = $1 AND d.due_day = $2 AND d.message_id = $3 AND d.target_id = $4;

-- role gateway_call
SELECT device_id FROM gateway.activity_token
WHERE tenant_id = $1 AND app_id = $2 AND kind = 'running' AND name = $3 ORDER BY device_id LIMIT $4;

-- role gateway_engine
SELECT draw_budget AS count FROM gateway.draw_budget($1, $2, $3, $4, $5, $6);

-- role gateway_call
SELECT drop_expected_user AS count FROM gateway.drop_expected_user($1, $2, $3, $4);

-- role gateway_call
SELECT drop_schedule AS count FROM gateway.drop_schedule($1, $2, $3, $4);

-- role gateway_call
SELECT e.sequence, e.at, e.route, e.outcome, e.reason, e.method, e.path, e.query, e.headers::text AS headers, e.body, e.body_bytes,
    e.status, e.answer_type, e.answer, e.answer_bytes
FROM gateway.captured_exchange e WHERE e.tenant_id = $1 AND e.capture_id = $2 AND e.sequence > $3
ORDER BY e.sequence LIMIT $4;

-- role gateway_call
SELECT e.user_id, e.phone, e.token_digest IS NOT NULL AS has_token, e.ends_at, e.created_at FROM gateway.expected_user e
WHERE e.tenant_id = $1 AND e.app_id = $2 AND e.user_id > $3 ORDER BY e.user_id LIMIT $4;

-- role gateway_call
SELECT erase_devices AS count FROM gateway.erase_devices($1, $2, $3, $4);

-- role gateway_call
SELECT erase_user AS count FROM gateway.erase_user($1, $2, $3);

-- role gateway_call
SELECT erase_users AS count FROM gateway.erase_users($1, $2, $3, $4, $5);

-- role gateway_call
SELECT expect_identity AS count FROM gateway.expect_identity($1, $2, $3, $4, $5);

-- role gateway_engine
SELECT f.figure, sum(f.samples)::bigint AS samples, sum(f.differences)::bigint AS differences FROM gateway.observed_figure f
WHERE f.tenant_id = $1 AND f.app_id = $2 AND f.at >= $3 GROUP BY f.figure;

-- role gateway_engine
SELECT f.figure, sum(f.samples)::bigint AS samples, sum(f.differences)::bigint AS differences,
    coalesce(sum(f.samples) FILTER (WHERE f.at >= $4), 0)::bigint AS recent_samples,
    coalesce(sum(f.differences) FILTER (WHERE f.at >= $4), 0)::bigint AS recent_differences
FROM gateway.observed_figure f
WHERE f.tenant_id = $1 AND f.app_id = $2 AND f.at >= $3 GROUP BY f.figure;

-- role gateway_call
SELECT f.rolled FROM gateway.counter_fold f WHERE f.tenant_id = $1;

-- role gateway_engine
SELECT fold_counts AS count FROM gateway.fold_counts($1, $2);

-- role gateway_call
SELECT g.group_name, coalesce(g.title, '') AS title FROM gateway.user_group g
WHERE g.tenant_id = $1 AND g.app_id = $2 AND g.vendor = $3 AND ($4::text IS NULL OR g.group_name = $4)
ORDER BY length(g.group_name), g.group_name LIMIT $5;

-- role gateway_call
SELECT g.group_name, coalesce(g.title, '') AS title FROM gateway.user_group g
WHERE g.tenant_id = $1 AND g.app_id = $2 AND g.vendor = $3 AND g.group_name > $4 ORDER BY g.group_name LIMIT $5;

-- role gateway_call
SELECT g.group_name, coalesce(g.title, '') AS title, m.user_id,
    (SELECT i.name FROM gateway.identity i
        WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.user_id = m.user_id AND i.state = 'active'
        ORDER BY i.registered_at DESC LIMIT 1) AS name
FROM gateway.user_group g
LEFT JOIN gateway.group_member m ON m.tenant_id = $1 AND m.app_id = $2 AND m.vendor = $3
    AND m.group_name = g.group_name AND ($5::text IS NULL OR m.user_id = $5)
WHERE g.tenant_id = $1 AND g.app_id = $2 AND g.vendor = $3 AND g.group_name = $4
ORDER BY m.user_id LIMIT $6;

-- role gateway_call
SELECT g.group_name, g.created_at,
    (SELECT coalesce(sum(c.members), 0)::bigint FROM gateway.group_count c
        WHERE c.tenant_id = $1 AND c.app_id = $2 AND c.vendor = $3 AND c.group_name = g.group_name) AS members
FROM gateway.group_member m
JOIN gateway.user_group g ON g.tenant_id = $1 AND g.app_id = $2 AND g.vendor = $3 AND g.group_name = m.group_name
WHERE m.tenant_id = $1 AND m.app_id = $2 AND m.vendor = $3 AND m.user_id = $4
ORDER BY g.group_name LIMIT $5;

-- role gateway_call
SELECT g.group_name, g.created_at,
    (SELECT coalesce(sum(c.members), 0)::bigint FROM gateway.group_count c
        WHERE c.tenant_id = $1 AND c.app_id = $2 AND c.vendor = $3 AND c.group_name = g.group_name) AS members
FROM gateway.user_group g
WHERE g.tenant_id = $1 AND g.app_id = $2 AND g.vendor = $3 AND g.group_name = ANY ($4::text[]) ORDER BY g.group_name;

-- role gateway_call
SELECT g.group_name, g.created_at,
    (SELECT sum(c.members)::bigint FROM gateway.group_count c
        WHERE c.tenant_id = $1 AND c.app_id = $2 AND c.vendor = $3 AND c.group_name = g.group_name) AS members
FROM gateway.user_group g
WHERE g.tenant_id = $1 AND g.app_id = $2 AND g.vendor = $3 AND g.group_name > $4 ORDER BY g.group_name LIMIT $5;

-- role gateway_engine
SELECT gateway.analyze_devices();

-- role gateway_engine
SELECT gateway.analyze_grown() AS count;

-- role gateway_engine
SELECT gateway.attach_staged_weeks($1, $2) AS count;

-- role gateway_call
SELECT gateway.current_generation()::text AS generation;

-- role gateway_engine
SELECT gateway.current_generation()::text AS generation;

-- role gateway_engine
SELECT gateway.default_partition_rows() AS rows;

-- role gateway_engine
SELECT gateway.drop_audit($1, $2::interval, 5000) AS count;

-- role gateway_engine
SELECT gateway.drop_delivery_partitions($1) AS count;

-- role gateway_engine
SELECT gateway.drop_event_partitions($1, $2) AS count;

-- role gateway_engine
SELECT gateway.end_identities($1, 100) AS count;

-- role gateway_engine
SELECT gateway.erase_late($1, 100) AS count;

-- role gateway_engine
SELECT gateway.make_delivery_partitions($1, $2) AS count;

-- role gateway_engine
SELECT gateway.make_event_partitions($1, $2) AS count;

-- role gateway_call
SELECT gateway.observe_message(p_tenant => $1, p_app => $2, p_vendor => $3, p_id => $4, p_upstream => $5, p_refs => $6, p_number => $7, p_paid => $8, p_content => $9, p_collapse => $10, p_lane => $11, p_accepted => $12, p_due => $13, p_due_day => $14, p_due_local => $15, p_expires => $16, p_fallback => $17, p_recipients => $18, p_targets => $19, p_identities => $20, p_addresses => $21, p_fingerprint => $22, p_window => $23) AS outcome;

-- role gateway_engine
SELECT gateway.sweep_media($1, $2::interval, 100) AS count;

-- role gateway_engine
SELECT h.revision, h.at, h.status, h.step, h.note, h.actor, h.route_version FROM gateway.migration_history h
WHERE h.tenant_id = $1 AND h.migration_id = $2 ORDER BY h.revision DESC LIMIT $3;

-- role gateway_call
SELECT i.accepts_push, CASE WHEN i.identity_id IS NOT NULL THEN u.o END AS ordinal, i.user_id, i.alias, d.time_zone, d.window_from, d.window_to
FROM unnest($4::text[]) WITH ORDINALITY AS u(key, o)
LEFT JOIN LATERAL (
    SELECT x.identity_id, x.device_id, x.accepts_push, x.user_id, x.alias FROM gateway.identity x
    WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.vendor = $3 AND x.key = u.key AND x.state = 'active' OFFSET 0) i ON true
LEFT JOIN LATERAL (
    SELECT y.time_zone, y.window_from, y.window_to FROM gateway.device y
    WHERE y.tenant_id = $1 AND y.device_id = i.device_id OFFSET 0) d ON true
ORDER BY u.o;

-- role gateway_call
SELECT i.device_id, i.identity_id, i.vendor, i.key, i.state, i.user_id, i.name, i.phone, i.accepts_push, i.attributes,
    coalesce(i.client, '{}') AS client, i.registered_at, i.assurance, (SELECT coalesce(array_agg(t.tag ORDER BY t.tag), '{}') FROM gateway.identity_tag t
        WHERE t.tenant_id = $1 AND t.identity_id = i.identity_id) AS tags
FROM gateway.identity i WHERE i.tenant_id = $1 AND i.device_id = ANY ($2) ORDER BY i.device_id, i.vendor, i.identity_id;

-- role gateway_call
SELECT i.device_id, i.identity_id, i.vendor, i.key, i.state, i.user_id, i.name, i.phone, i.accepts_push, i.attributes,
    coalesce(i.client, '{}') AS client, i.registered_at, i.assurance, (SELECT coalesce(array_agg(t.tag ORDER BY t.tag), '{}') FROM gateway.identity_tag t
        WHERE t.tenant_id = $1 AND t.identity_id = i.identity_id) AS tags
FROM gateway.identity i WHERE i.tenant_id = $1 AND i.identity_id = $2;

-- role gateway_call
SELECT i.device_id, i.identity_id, i.vendor, i.key, i.state, i.user_id, i.name, i.phone, i.accepts_push, i.attributes,
    i.registered_at, (SELECT coalesce(array_agg(t.tag ORDER BY t.tag), '{}') FROM gateway.identity_tag t
        WHERE t.tenant_id = $1 AND t.identity_id = i.identity_id) AS tags
FROM gateway.identity i WHERE i.tenant_id = $1 AND i.device_id = ANY ($2) ORDER BY i.device_id, i.vendor, i.identity_id;

-- role gateway_call
SELECT i.device_id, i.identity_id, i.vendor, i.key, i.state, i.user_id, i.name, i.phone, i.accepts_push, i.attributes,
    i.registered_at, i.assurance, (SELECT coalesce(array_agg(t.tag ORDER BY t.tag), '{}') FROM gateway.identity_tag t
        WHERE t.tenant_id = $1 AND t.identity_id = i.identity_id) AS tags
FROM gateway.identity i WHERE i.tenant_id = $1 AND i.device_id = ANY ($2) ORDER BY i.device_id, i.vendor, i.identity_id;

-- role gateway_call
SELECT i.device_id, i.identity_id, i.vendor, i.key, i.state, i.user_id, i.name, i.phone, i.accepts_push, i.attributes,
    i.registered_at, i.assurance, (SELECT coalesce(array_agg(t.tag ORDER BY t.tag), '{}') FROM gateway.identity_tag t
        WHERE t.tenant_id = $1 AND t.identity_id = i.identity_id) AS tags
FROM gateway.identity i WHERE i.tenant_id = $1 AND i.identity_id = $2;

-- role gateway_call
SELECT i.identity_id, ARRAY(
        SELECT m.group_name FROM gateway.group_member m
        WHERE m.tenant_id = $1 AND m.user_id = i.user_id AND m.app_id = i.app_id AND m.vendor = i.vendor
    ) AS groups,
    ARRAY(
        SELECT t.tag FROM gateway.identity_tag t
        WHERE t.tenant_id = $1 AND t.identity_id = i.identity_id AND t.tag LIKE '$%' ORDER BY t.tag
    ) AS own_tags,
    b.count AS badge, coalesce(p.consents, '{}') AS consents, coalesce(p.consent_facts, '{}') AS consent_facts
FROM gateway.identity i
CROSS JOIN LATERAL (SELECT coalesce('user:' || i.user_id, 'key:' || i.key) AS holder OFFSET 0) AS h
LEFT JOIN gateway.badge b
    ON b.tenant_id = $1 AND b.app_id = i.app_id AND b.vendor = i.vendor AND b.holder = h.holder
LEFT JOIN gateway.user_profile p
    ON p.tenant_id = $1 AND p.app_id = i.app_id AND p.vendor = i.vendor AND p.user_id = i.user_id
WHERE i.tenant_id = $1 AND i.identity_id = ANY ($2);

-- role gateway_call
SELECT i.identity_id, ARRAY(
        SELECT m.group_name FROM gateway.group_member m
        WHERE m.tenant_id = $1 AND m.user_id = i.user_id AND m.app_id = i.app_id AND m.vendor = i.vendor
    ) AS groups,
    b.count AS badge, coalesce(p.consents, '{}') AS consents, coalesce(p.consent_facts, '{}') AS consent_facts
FROM gateway.identity i
CROSS JOIN LATERAL (SELECT coalesce('user:' || i.user_id, 'key:' || i.key) AS holder OFFSET 0) AS h
LEFT JOIN gateway.badge b
    ON b.tenant_id = $1 AND b.app_id = i.app_id AND b.vendor = i.vendor AND b.holder = h.holder
LEFT JOIN gateway.user_profile p
    ON p.tenant_id = $1 AND p.app_id = i.app_id AND p.vendor = i.vendor AND p.user_id = i.user_id
WHERE i.tenant_id = $1 AND i.identity_id = ANY ($2);

-- role gateway_call
SELECT i.identity_id, i.app_id, i.vendor, i.key, i.first_key, i.user_id, i.name, i.phone, i.assurance, i.client_number,
    i.accepts_push AND i.denies_push IS NOT TRUE AS accepts_push,
    CASE WHEN i.ends_at <= now() THEN 'unregistered' ELSE i.state END AS state,
    d.device_id, coalesce(d.platform, 'ios') AS platform, coalesce(d.environment, 'production') AS environment,
    d.token, coalesce(d.token_state, 'none') AS token_state, d.token_registered_at,
    d.time_zone, d.window_from, d.window_to, d.token_reason
FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
WHERE i.tenant_id = $1 AND i.identity_id = $2;

-- role gateway_call
SELECT i.identity_id, i.app_id, i.vendor, i.key, i.first_key, i.user_id, i.name, i.phone, i.assurance, i.client_number,
    i.accepts_push AND i.denies_push IS NOT TRUE AS accepts_push,
    CASE WHEN i.ends_at <= now() THEN 'unregistered' ELSE i.state END AS state,
    d.device_id, coalesce(d.platform, 'ios') AS platform, coalesce(d.environment, 'production') AS environment,
    d.token, coalesce(d.token_state, 'none') AS token_state, d.token_registered_at,
    d.time_zone, d.window_from, d.window_to, i.registered_at, i.user_since, i.ends_at, i.denies_push IS TRUE AS denies_push,
    coalesce(i.client, '{}') AS client,
    EXISTS (
        SELECT FROM gateway.identity h
        WHERE h.tenant_id = $1 AND h.app_id = i.app_id AND h.user_id = i.user_id
            AND h.assurance > i.assurance AND h.assurance > 0 AND h.state = 'active') OR EXISTS (
        SELECT FROM gateway.identity h
        WHERE h.tenant_id = $1 AND h.app_id = i.app_id AND h.phone = i.phone
            AND h.assurance > i.assurance AND h.assurance > 0 AND h.state = 'active') AS is_outranked,
    coalesce(p.opted_in, false) AS opted_in, coalesce(p.consents, '{}')::text AS consents
FROM gateway.identity i
LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
LEFT JOIN gateway.user_profile p
    ON p.tenant_id = $1 AND p.app_id = i.app_id AND p.vendor = i.vendor AND p.user_id = i.user_id
WHERE i.tenant_id = $1 AND i.device_id = $2
ORDER BY i.state = 'active' DESC, i.registered_at DESC, i.identity_id LIMIT $3;

-- role gateway_call
SELECT i.identity_id, i.app_id, i.vendor, i.key, i.user_id, i.name, i.phone, i.assurance,
    i.accepts_push AND i.denies_push IS NOT TRUE AS accepts_push,
    CASE WHEN i.ends_at <= now() THEN 'unregistered' ELSE i.state END AS state,
    d.device_id, coalesce(d.platform, 'ios') AS platform, coalesce(d.environment, 'production') AS environment,
    d.token, coalesce(d.token_state, 'none') AS token_state, d.token_registered_at,
    d.time_zone, d.window_from, d.window_to, d.token_reason
FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
WHERE i.tenant_id = $1 AND i.identity_id = $2;

-- role gateway_call
SELECT i.identity_id, i.app_id, i.vendor, i.key, i.user_id, i.name, i.phone, i.assurance, i.client_number,
    i.accepts_push AND i.denies_push IS NOT TRUE AS accepts_push,
    CASE WHEN i.ends_at <= now() THEN 'unregistered' ELSE i.state END AS state,
    d.device_id, coalesce(d.platform, 'ios') AS platform, coalesce(d.environment, 'production') AS environment,
    d.token, coalesce(d.token_state, 'none') AS token_state, d.token_registered_at,
    d.time_zone, d.window_from, d.window_to, d.token_reason
FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
WHERE i.tenant_id = $1 AND i.identity_id = $2;

-- role gateway_call
SELECT i.identity_id, i.app_id, i.vendor, i.key, i.user_id, i.name, i.phone, i.state,
    i.accepts_push AND i.denies_push IS NOT TRUE AS accepts_push, d.device_id,
    coalesce(d.platform, 'ios') AS platform, coalesce(d.environment, 'production') AS environment, d.token,
    coalesce(d.token_state, 'none') AS token_state, d.token_registered_at, d.token_reason,
    d.time_zone, d.window_from, d.window_to
FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
WHERE i.tenant_id = $1 AND i.identity_id = $2;

-- role gateway_call
SELECT i.identity_id, i.device_id, i.key, i.vendor FROM gateway.identity i
WHERE i.tenant_id = $1 AND i.app_id = $2 AND (i.key, i.vendor) > ($3, $4) AND i.state = 'active' AND i.device_id IS NOT NULL
ORDER BY i.key, i.vendor LIMIT $5;

-- role gateway_call
SELECT i.identity_id, i.device_id, i.key, i.vendor FROM gateway.identity i
WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.key > $4 AND i.vendor = $3 AND i.state = 'active' AND i.device_id IS NOT NULL
ORDER BY i.key LIMIT $5;

-- role gateway_call
SELECT i.identity_id, i.device_id, i.state, i.phone, coalesce(d.platform, 'ios') AS platform
FROM gateway.identity i
LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.key = $4;

-- role gateway_call
SELECT i.identity_id, i.key FROM gateway.identity i
WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.key > $4 AND i.vendor = $3 AND i.state = 'active' AND i.device_id IS NOT NULL
ORDER BY i.key LIMIT $5;

-- role gateway_call
SELECT i.key, i.state, i.user_id, i.attributes, d.token, d.token_state
FROM gateway.identity i
JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.key >= $4 AND i.state = 'active'
    AND d.token_state = 'active' 
ORDER BY i.key LIMIT $5;

-- role gateway_call
SELECT i.key, i.state, i.user_id, i.attributes, d.token, d.token_state
FROM gateway.identity i
JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.key >= $4 AND i.state = 'active'
    AND d.token_state = 'active' AND d.app_id = $2 AND d.platform IN ('ios', 'android') AND d.token_digest = md5($6) AND d.token = $6
ORDER BY i.key LIMIT $5;

-- role gateway_call
SELECT i.key, i.state, i.user_id, i.attributes, d.token, d.token_state
FROM gateway.identity i
JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.key >= $4 AND i.state = 'active'
    AND d.token_state = 'active' AND i.identity_id IN (SELECT t.identity_id FROM gateway.identity_tag t
    WHERE t.tenant_id = $1 AND t.app_id = $2 AND t.vendor = $3 AND t.tag = ANY ($6))
ORDER BY i.key LIMIT $5;

-- role gateway_call
SELECT i.state, u.o AS ordinal, i.user_id, i.attributes, d.token, coalesce(d.token_state, 'none') AS token_state
FROM unnest($4::text[]) WITH ORDINALITY AS u(key, o)
LEFT JOIN LATERAL (
    SELECT x.state, x.user_id, x.attributes, x.device_id FROM gateway.identity x
    WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.vendor = $3 AND x.key = u.key OFFSET 0) i ON true
LEFT JOIN LATERAL (
    SELECT y.token, y.token_state FROM gateway.device y
    WHERE y.tenant_id = $1 AND y.device_id = i.device_id OFFSET 0) d ON true
ORDER BY u.o;

-- role gateway_call
SELECT import_each AS count FROM gateway.import_each(p_tenant => $1, p_app => $2, p_vendor => $3, p_keys => $4, p_identities => $5, p_devices => $6, p_platforms => $7, p_environments => $8, p_tokens => $9, p_users => $10, p_names => $11, p_phones => $12, p_raw_phones => $13, p_attributes => $14, p_zones => $15, p_from => $16, p_to => $17, p_tags => $18, p_at => $19);

-- role gateway_call
SELECT import_each AS count FROM gateway.import_each(p_tenant => $1, p_app => $2, p_vendor => $3, p_keys => $4, p_identities => $5, p_devices => $6, p_platforms => $7, p_environments => $8, p_tokens => $9, p_users => $10, p_names => $11, p_phones => $12, p_raw_phones => $13, p_attributes => $14, p_zones => $15, p_from => $16, p_to => $17, p_tags => $18, p_at => $19, p_clients => $20);

-- role gateway_call
SELECT import_new AS known FROM gateway.import_new(p_tenant => $1, p_app => $2, p_vendor => $3, p_keys => $4, p_identities => $5, p_devices => $6, p_platforms => $7, p_environments => $8, p_tokens => $9, p_users => $10, p_names => $11, p_phones => $12, p_raw_phones => $13, p_attributes => $14, p_zones => $15, p_from => $16, p_to => $17, p_tags => $18, p_at => $19);

-- role gateway_call
SELECT import_new AS known FROM gateway.import_new(p_tenant => $1, p_app => $2, p_vendor => $3, p_keys => $4, p_identities => $5, p_devices => $6, p_platforms => $7, p_environments => $8, p_tokens => $9, p_users => $10, p_names => $11, p_phones => $12, p_raw_phones => $13, p_attributes => $14, p_zones => $15, p_from => $16, p_to => $17, p_tags => $18, p_at => $19, p_clients => $20);

-- role gateway_call
SELECT import_new AS known FROM gateway.import_new(p_tenant => $1, p_app => $2, p_vendor => $3, p_keys => $4, p_identities => $5, p_devices => $6, p_platforms => $7, p_environments => $8, p_tokens => $9, p_users => $10, p_names => $11, p_phones => $12, p_raw_phones => $13, p_attributes => $14, p_zones => $15, p_from => $16, p_to => $17, p_tags => $18, p_at => $19, p_clients => $20, p_registered => $21, p_as_of => $22, p_accepts => $23, p_groups => $24, p_badges => $25, p_consents => $26, p_source => $27);

-- role gateway_call
SELECT import_people AS outcomes FROM gateway.import_people($1, $2, $3, $4, $5, $6, $7);

-- role gateway_call
SELECT import_rows AS outcomes FROM gateway.import_rows(p_tenant => $1, p_app => $2, p_vendor => $3, p_keys => $4, p_identities => $5, p_devices => $6, p_platforms => $7, p_environments => $8, p_tokens => $9, p_users => $10, p_names => $11, p_phones => $12, p_raw_phones => $13, p_attributes => $14, p_zones => $15, p_from => $16, p_to => $17, p_tags => $18, p_at => $19, p_clients => $20, p_registered => $21, p_as_of => $22, p_accepts => $23, p_groups => $24, p_badges => $25, p_consents => $26, p_source => $27);

-- role gateway_call
SELECT import_unread AS outcomes FROM gateway.import_unread($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);

-- role gateway_engine
SELECT k.due_day, k.message_id, k.target_id, k.is_early, k.is_received, k.is_read
FROM unnest($2::integer[], $3::uuid[], $4::uuid[]) AS u(due_day, message, target)
CROSS JOIN LATERAL (
    SELECT r.* FROM gateway.receipt_mark r
    WHERE r.tenant_id = $1 AND r.due_day = u.due_day AND r.message_id = u.message AND r.target_id = u.target LIMIT 1) k
WHERE EXISTS (SELECT FROM gateway.receipt_mark x WHERE x.tenant_id = $1);

-- role gateway_call
SELECT k.key, i.first_key FROM unnest($4::text[]) AS k(key)
CROSS JOIN LATERAL (
    SELECT x.first_key FROM gateway.identity x
    WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.vendor = $3 AND x.key = k.key OFFSET 0) AS i
WHERE i.first_key IS NOT NULL;

-- role gateway_engine
SELECT k.key_id, k.tenant_id, k.name, k.scopes, k.created_at, k.expires_at, k.is_provisioned, u.last_used_at,
    k.networks, k.previous_hash IS NOT NULL AND (k.previous_until IS NULL OR k.previous_until > now()) AS has_previous, k.previous_until,
    coalesce(k.secret_at, k.created_at) AS secret_at,
    CASE WHEN k.previous_hash IS NOT NULL AND (k.previous_until IS NULL OR k.previous_until > now())
        THEN coalesce(k.previous_at, k.created_at) END AS previous_at,
    k.recipients_per_day, CASE WHEN k.recipients_per_day IS NOT NULL THEN coalesce(d.recipients, 0) END AS recipients_today
FROM gateway.api_key k
LEFT JOIN gateway.api_key_use u ON u.tenant_id = k.tenant_id AND u.key_id = k.key_id
LEFT JOIN gateway.api_key_day d ON d.tenant_id = k.tenant_id AND d.name = k.name AND d.day = (now() AT TIME ZONE 'UTC')::date WHERE $1::text IS NULL OR k.tenant_id = $1 ORDER BY k.tenant_id, k.name;

-- role gateway_engine
SELECT k.key_id, k.tenant_id, k.name, k.scopes, k.created_at, k.expires_at, k.is_provisioned, u.last_used_at,
    k.networks, k.previous_hash IS NOT NULL AND (k.previous_until IS NULL OR k.previous_until > now()) AS has_previous, k.previous_until,
    coalesce(k.secret_at, k.created_at) AS secret_at,
    CASE WHEN k.previous_hash IS NOT NULL AND (k.previous_until IS NULL OR k.previous_until > now())
        THEN coalesce(k.previous_at, k.created_at) END AS previous_at,
    k.recipients_per_day, CASE WHEN k.recipients_per_day IS NOT NULL THEN coalesce(d.recipients, 0) END AS recipients_today
FROM gateway.api_key k
LEFT JOIN gateway.api_key_use u ON u.tenant_id = k.tenant_id AND u.key_id = k.key_id
LEFT JOIN gateway.api_key_day d ON d.tenant_id = k.tenant_id AND d.name = k.name AND d.day = (now() AT TIME ZONE 'UTC')::date WHERE k.tenant_id = $1 AND k.name = $2;

-- role gateway_engine
SELECT k.place FROM unnest($2::text[], $3::text[], $4::text[], $5::text[])
    WITH ORDINALITY AS k(vendor, kind, value, host, place)
JOIN gateway.binding b ON b.vendor = k.vendor AND b.kind = k.kind AND b.value = k.value AND b.host = k.host
WHERE b.tenant_id <> $1 ORDER BY k.place;

-- role gateway_call
SELECT keep_users AS is_repeat FROM gateway.keep_users(p_tenant => $1, p_app => $2, p_vendor => $3, p_repeat => $4, p_users => $5, p_anonymous => $6, p_accepts => $7, p_opted => $8, p_attributes => $9, p_consents => $10, p_revisions => $11, p_labels => $12, p_names => $13, p_named => $14, p_actors => $15, p_digests => $16, p_kinds => $17, p_acts => $18, p_ats => $19, p_data => $20, p_from => $21, p_to => $22);

-- role gateway_call
SELECT keep_users AS is_repeat FROM gateway.keep_users(p_tenant => $1, p_app => $2, p_vendor => $3, p_repeat => $4, p_users => $5, p_anonymous => $6, p_accepts => $7, p_opted => $8, p_attributes => $9, p_consents => $10, p_said => $11, p_revisions => $12, p_labels => $13, p_names => $14, p_named => $15, p_actors => $16, p_digests => $17, p_kinds => $18, p_acts => $19, p_ats => $20, p_data => $21, p_from => $22, p_to => $23);

-- role gateway_engine
SELECT key_id, check_value FROM gateway.master_key;

-- role gateway_engine
SELECT key_id, check_value, root, wanted FROM gateway.master_key;

-- role gateway_call
SELECT kind, name, token, registered_at FROM gateway.activity_token
WHERE tenant_id = $1 AND device_id = $2 ORDER BY kind DESC, name;

-- role gateway_engine
SELECT kind, refusal, refused_at FROM gateway.credential WHERE tenant_id = $1 AND credential_id = $2;

-- role gateway_call
SELECT l.due_day, count(*) FILTER (WHERE d.state IN ('sent', 'received', 'read')) AS sent,
    count(*) FILTER (WHERE d.state = 'read') AS read, count(*) FILTER (WHERE d.state = 'failed') AS failed,
    count(DISTINCT coalesce(d.user_id, chr(31) || d.target_id::text)) FILTER (WHERE d.state IN ('sent', 'received', 'read')) AS users
FROM gateway.message_label l
JOIN gateway.delivery d ON d.tenant_id = $1 AND d.due_day = l.due_day AND d.message_id = l.message_id
    AND d.due_day BETWEEN $5 AND $6
WHERE l.tenant_id = $1 AND l.app_id = $2 AND l.vendor = $3 AND l.label = $4 AND l.due_day BETWEEN $5 AND $6
GROUP BY l.due_day ORDER BY l.due_day;

-- role gateway_call
SELECT l.kind, CASE WHEN $6 THEN l.app_id END AS app_id, CASE WHEN $7 THEN l.vendor END AS vendor, l.histogram
FROM gateway.latency l
WHERE l.tenant_id = $1 AND l.quarter >= $2 AND l.quarter < $3 AND ($4::text[] IS NULL OR l.app_id = ANY ($4))
    AND ($5::text[] IS NULL OR l.vendor = ANY ($5))
LIMIT $8;

-- role gateway_engine
SELECT l.lane, sum(x.slices)::bigint AS slices, coalesce(extract(epoch FROM now() - min(x.oldest)), 0)::float8 AS oldest
FROM gateway.lane l
CROSS JOIN LATERAL (
    SELECT count(*) AS slices, min(y.next_at) AS oldest FROM (
        SELECT s.next_at FROM gateway.slice s
        WHERE s.tenant_id = l.tenant_id AND s.lane = l.lane AND s.state IN ('ready', 'leased') AND s.next_at <= now()
        ORDER BY s.next_at LIMIT 1000) y) x
WHERE NOT l.is_paused GROUP BY l.lane;

-- role gateway_engine
SELECT l.quarter FROM gateway.latency l
WHERE l.tenant_id = $1 AND l.quarter < $2
    AND l.quarter >= greatest((SELECT f.latencies_rolled FROM gateway.counter_fold f WHERE f.tenant_id = $1), 0)
ORDER BY l.quarter LIMIT 1;

-- role gateway_engine
SELECT l.tenant_id, x.next_at FROM gateway.lane l
CROSS JOIN LATERAL (
    SELECT s.next_at FROM gateway.slice s
    WHERE s.tenant_id = l.tenant_id AND s.lane = l.lane AND s.state = 'ready' AND s.next_at <= now()
    ORDER BY s.next_at LIMIT 1) x
WHERE l.lane = $1 AND NOT l.is_paused ORDER BY x.next_at LIMIT $2;

-- role gateway_engine
SELECT l.tenant_id, x.next_at FROM gateway.lane l
CROSS JOIN LATERAL (
    SELECT s.next_at FROM gateway.slice s
    WHERE s.tenant_id = l.tenant_id AND s.lane = l.lane AND s.state IN ('ready', 'leased') AND s.next_at <= now()
    ORDER BY s.next_at LIMIT 1) x
WHERE l.lane = $1 AND NOT l.is_paused ORDER BY x.next_at LIMIT $2;

-- role gateway_engine
SELECT lane, count(*) AS slices, min(next_at) FILTER (WHERE state = 'ready') AS oldest FROM gateway.slice
WHERE state IN ('ready', 'leased') AND next_at <= now() + interval '1 minute' GROUP BY lane;

-- role gateway_call
SELECT m.message_id, CASE WHEN m.observed_from IS NOT NULL THEN 'observed' WHEN m.awaits_approval AND m.state = 'paused' THEN 'awaitingApproval' ELSE m.state END AS state, m.content, m.accepted_at, t.outcome, t.reason, t.count, t.first_at, t.last_at
FROM gateway.message m
LEFT JOIN LATERAL (
    SELECT d.state AS outcome, d.reason, count(*) AS count, min(d.sent_at) AS first_at, max(d.sent_at) AS last_at
    FROM gateway.delivery d
    WHERE d.tenant_id = $1 AND d.due_day = m.due_day AND d.message_id = m.message_id
    GROUP BY d.state, d.reason) t ON true
WHERE m.tenant_id = $1 AND m.message_id = $2 AND m.app_id = $3 AND m.vendor = $4
ORDER BY t.outcome, t.reason NULLS FIRST;

-- role gateway_call
SELECT m.message_id, m.app_id, m.vendor, m.content, m.due_at, m.due_local, m.expires_at, m.collapse_id, (SELECT json_object_agg(r.vendor, r.ref)::text FROM gateway.message_ref r WHERE r.tenant_id = $1 AND r.message_id = m.message_id) AS numbers, m.sender_id, CASE WHEN m.observed_from IS NOT NULL THEN 'observed' WHEN m.awaits_approval AND m.state = 'paused' THEN 'awaitingApproval' ELSE m.state END AS state, m.submitted_by, m.lane, m.fallback, m.accepted_at, m.due_day, m.recipients, m.is_counted FROM gateway.message m WHERE m.tenant_id = $1 AND m.message_id = $2;

-- role gateway_call
SELECT m.message_id, m.app_id, m.vendor, m.content, m.due_at, m.due_local, m.expires_at, m.collapse_id, (SELECT json_object_agg(r.vendor, r.ref)::text FROM gateway.message_ref r WHERE r.tenant_id = $1 AND r.message_id = m.message_id) AS numbers, m.sender_id, CASE WHEN m.observed_from IS NOT NULL THEN 'observed' WHEN m.awaits_approval AND m.state = 'paused' THEN 'awaitingApproval' ELSE m.state END AS state, m.submitted_by, m.lane, m.fallback, m.accepted_at, m.due_day, m.recipients, m.is_counted FROM gateway.message_ref r
JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = r.message_id
WHERE r.tenant_id = $1 AND r.ref = $2 ORDER BY m.message_id DESC LIMIT 1;

-- role gateway_call
SELECT m.message_id, m.app_id, m.vendor, m.content, m.due_at, m.due_local, m.expires_at, m.collapse_id, (SELECT json_object_agg(r.vendor, r.ref)::text FROM gateway.message_ref r WHERE r.tenant_id = $1 AND r.message_id = m.message_id) AS numbers, m.sender_id, d.received_at, d.read_at
FROM gateway.identity i
JOIN gateway.delivery d ON d.tenant_id = $1 AND d.identity_id = i.identity_id
JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = d.message_id
WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.key = $4
    AND d.due_day >= $5 AND d.state = 'sent' AND d.sent_at >= $6
ORDER BY m.due_at DESC, m.message_id DESC LIMIT $7;

-- role gateway_call
SELECT m.message_id, m.app_id, m.vendor, m.content, m.due_at, m.due_local, m.expires_at, m.collapse_id, (SELECT json_object_agg(r.vendor, r.ref)::text FROM gateway.message_ref r WHERE r.tenant_id = $1 AND r.message_id = m.message_id) AS numbers, m.sender_id, m.state, m.lane, m.fallback, m.accepted_at, m.due_day, m.recipients, m.is_counted FROM gateway.message m WHERE m.tenant_id = $1 AND m.message_id = $2;

-- role gateway_call
SELECT m.message_id, m.app_id, m.vendor, m.content, m.due_at, m.due_local, m.expires_at, m.collapse_id, (SELECT json_object_agg(r.vendor, r.ref)::text FROM gateway.message_ref r WHERE r.tenant_id = $1 AND r.message_id = m.message_id) AS numbers, m.sender_id, m.state, m.lane, m.fallback, m.accepted_at, m.due_day, m.recipients, m.is_counted FROM gateway.message_ref r
JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = r.message_id
WHERE r.tenant_id = $1 AND r.ref = $2 ORDER BY m.message_id DESC LIMIT 1;

-- role gateway_engine
SELECT m.message_id, m.app_id, m.vendor, m.content, m.due_at, m.due_local, m.expires_at, m.collapse_id, (SELECT json_object_agg(r.vendor, r.ref)::text FROM gateway.message_ref r WHERE r.tenant_id = $1 AND r.message_id = m.message_id) AS numbers, m.state, m.lane, m.fallback, a.platforms::text AS platforms,
    a.defaults::text AS defaults, a.shares_devices
FROM gateway.message m JOIN gateway.app a ON a.tenant_id = $1 AND a.app_id = m.app_id
WHERE m.tenant_id = $1 AND m.message_id = $2;

-- role gateway_engine
SELECT m.message_id, m.app_id, m.vendor, m.content, m.due_at, m.due_local, m.expires_at, m.collapse_id, (SELECT json_object_agg(r.vendor, r.ref)::text FROM gateway.message_ref r WHERE r.tenant_id = $1 AND r.message_id = m.message_id) AS numbers, m.state, m.lane, m.fallback, a.platforms::text AS platforms,
    a.defaults::text AS defaults, a.shares_devices, a.route_version IS NOT NULL OR a.retired_at IS NOT NULL AS is_routed,
    m.duplicate_of IS NOT NULL AS is_duplicate
FROM gateway.message m JOIN gateway.app a ON a.tenant_id = $1 AND a.app_id = m.app_id
WHERE m.tenant_id = $1 AND m.message_id = $2;

-- role gateway_call
SELECT m.message_id, m.state, m.content, m.accepted_at, t.outcome, t.reason, t.count, t.first_at, t.last_at
FROM gateway.message m
LEFT JOIN LATERAL (
    SELECT d.state AS outcome, d.reason, count(*) AS count, min(d.sent_at) AS first_at, max(d.sent_at) AS last_at
    FROM gateway.delivery d
    WHERE d.tenant_id = $1 AND d.due_day = m.due_day AND d.message_id = m.message_id
    GROUP BY d.state, d.reason) t ON true
WHERE m.tenant_id = $1 AND m.message_id = $2 AND m.app_id = $3 AND m.vendor = $4
ORDER BY t.outcome, t.reason NULLS FIRST;

-- role gateway_engine
SELECT m.migration_id FROM gateway.migration m WHERE m.tenant_id = $1 AND m.app_id = $2 AND m.is_active;

-- role gateway_engine
SELECT m.tenant_id, m.migration_id FROM gateway.migration m
WHERE m.is_active AND m.next_at <= now() ORDER BY m.next_at LIMIT 100;

-- role gateway_call
SELECT s.vendor, s.sender_id, s.name, s.enrolment_key IS NOT NULL AS is_enrolled, s.enrolment_name, s.address, s.is_proven,
    s.created_at, s.callback_url, s.attempts, s.failing_since, s.failure
FROM gateway.sender s WHERE s.tenant_id = $1 AND s.app_id = $2 AND (s.vendor, s.name) > ($3, $4)
ORDER BY s.vendor, s.name LIMIT $5;

-- role gateway_call
SELECT m.user_id FROM gateway.group_member m
WHERE m.tenant_id = $1 AND m.app_id = $2 AND m.vendor = $3 AND m.group_name = $4 AND m.user_id > $5
ORDER BY m.user_id LIMIT $6;

-- role gateway_call
SELECT m.user_id, f.name, f.phone, f.user_id IS NOT NULL AS is_registered
FROM (
    SELECT g.user_id FROM gateway.group_member g
    WHERE g.tenant_id = $1 AND g.app_id = $2 AND g.vendor = $3 AND g.group_name = $4 AND g.user_id > $5
    ORDER BY g.user_id LIMIT $6) m
LEFT JOIN LATERAL (
    SELECT x.user_id, x.name, x.phone FROM (
        SELECT i.user_id, i.name, i.phone, i.state, i.device_id, i.registered_at FROM gateway.identity i
        WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.user_id = m.user_id AND i.vendor = $3
        ORDER BY i.identity_id DESC LIMIT 10) x
    WHERE x.state = 'active' AND x.device_id IS NOT NULL
    ORDER BY x.registered_at DESC LIMIT 1) f ON true
ORDER BY m.user_id;

-- role gateway_call
SELECT metric, hour, dialect, sample FROM gateway.parity_samples($1, $2, $3, $4);

-- role gateway_call
SELECT metric, samples, differences FROM gateway.parity_measure($1, $2, $3);

-- role gateway_engine
SELECT move_due AS count FROM gateway.move_due($1, $2, $3, $4);

-- role gateway_engine
SELECT name, scopes, networks, expires_at, hash, previous_hash, recipients_per_day FROM gateway.api_key WHERE tenant_id = $1;

-- role gateway_engine
SELECT name, tenant, role, ends_at FROM gateway.account_invitation WHERE hash = $1 AND ends_at > now();

-- role gateway_engine
SELECT next_page, copied, horizon FROM gateway.stage_default_rows($1, $2, $3, $4);

-- role gateway_engine
SELECT node_id, master_keys FROM gateway.node WHERE seen_at > now() - interval '1 minute' ORDER BY node_id;

-- role gateway_engine
SELECT node_id, started_at, seen_at, now() AS now FROM gateway.node ORDER BY 1;

-- role gateway_call
SELECT number_message AS count FROM gateway.number_message($1, $2, $3, $4, $5, $6);

-- role gateway_call
SELECT o.identity_id, o.vendor, o.key, o.last_seen FROM (
    SELECT s.identity_id, s.vendor, s.key, greatest(s.registered_at, s.seen_at) AS last_seen
    FROM gateway.identity i JOIN gateway.identity s ON s.tenant_id = $1 AND s.device_id = i.device_id AND s.state = 'active'
    WHERE i.tenant_id = $1 AND i.identity_id = $2 LIMIT 16) AS o
ORDER BY o.last_seen DESC, o.identity_id DESC;

-- role gateway_call
SELECT ordinal, outcome FROM gateway.record_receipts($1, $2, $3, $4, $5, $6, $7, $8);

-- role gateway_call
SELECT ordinal, outcome FROM gateway.report_numbers($1, $2, $3, $4, $5, $6, $7, $8);

-- role gateway_engine
SELECT ordinal, outcome FROM gateway.report_numbers($1, $2, $3, $4, $5, $6, $7, $8);

-- role gateway_call
SELECT owner, is_paid FROM gateway.message_owner($1, $2, $3, $4);

-- role gateway_call
SELECT p.last FROM gateway.event_position p WHERE p.tenant_id = $1 ORDER BY p.last DESC LIMIT 1;

-- role gateway_engine
SELECT p.last FROM gateway.event_position p WHERE p.tenant_id = $1 ORDER BY p.last DESC LIMIT 1;

-- role gateway_call
SELECT p.user_id, p.is_anonymous, p.accepts_push, p.opted_in, p.attributes, p.consents, p.consent_facts,
    (SELECT coalesce(json_agg(json_build_array(a.label, a.name)), '[]') FROM (
        SELECT x.label, x.name FROM gateway.user_alias x
        WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.vendor = $3 AND x.user_id = p.user_id
        ORDER BY x.label, x.name LIMIT 1000) a)::text AS aliases
FROM gateway.user_profile p
WHERE p.tenant_id = $1 AND p.app_id = $2 AND p.vendor = $3 AND p.user_id > $4 ORDER BY p.user_id LIMIT $5;

-- role gateway_call
SELECT patch_identities AS count FROM gateway.patch_identities($1, $2, $3, $4, $5, $6);

-- role gateway_call
SELECT patch_identities AS count FROM gateway.patch_identities($1, $2, $3, $4, $5, $6, $7);

-- role gateway_engine
SELECT pg_advisory_xact_lock(hashtextextended('gateway.provisioning', 0));

-- role gateway_call
SELECT platforms, defaults::text AS defaults FROM gateway.app WHERE tenant_id = $1 AND app_id = $2;

-- role gateway_engine
SELECT platforms, defaults::text AS defaults FROM gateway.app WHERE tenant_id = $1 AND app_id = $2;

-- role gateway_call
SELECT position, (extract(epoch FROM at) * 1000000)::bigint AS micros, actor, action, subject, data::text AS data, hash
FROM gateway.audit WHERE tenant_id = $1 AND position > $2 ORDER BY position LIMIT $3;

-- role gateway_call
SELECT position, at, actor, action, subject, data FROM gateway.audit WHERE tenant_id = $1 AND position > $2 ORDER BY position LIMIT $3;

-- role gateway_call
SELECT position, at, actor, action, subject, data FROM gateway.audit WHERE tenant_id = $1 ORDER BY position DESC LIMIT $2;

-- role gateway_engine
SELECT position, hash, (extract(epoch FROM at) * 1000000)::bigint AS micros FROM gateway.audit
WHERE tenant_id = $1 ORDER BY position DESC LIMIT 1;

-- role gateway_call
SELECT position, hash, (extract(epoch FROM last_at) * 1000000)::bigint AS micros, signer, signature FROM gateway.audit_checkpoint
WHERE tenant_id = $1 AND position > $2 ORDER BY position LIMIT $3;

-- role gateway_engine
SELECT position, hash, (extract(epoch FROM last_at) * 1000000)::bigint AS micros, signer, signature FROM gateway.audit_checkpoint
WHERE tenant_id = $1 ORDER BY position DESC LIMIT 1;

-- role gateway_call
SELECT put_campaign AS is_new FROM gateway.put_campaign($1, $2, $3, $4, $5, $6, $7, $8);

-- role gateway_call
SELECT put_expected_users AS count FROM gateway.put_expected_users($1, $2, $3, $4, $5, $6, $7, $8);

-- role gateway_call
SELECT put_group AS is_new FROM gateway.put_group($1, $2, $3, $4);

-- role gateway_call
SELECT put_media AS stored FROM gateway.put_media($1, $2, $3, $4, $5);

-- role gateway_call
SELECT put_verification AS permitted FROM gateway.put_verification($1, $2, $3, $4, $5, $6, $7, $8);

-- role gateway_call
SELECT q.id, r.* FROM unnest($2::uuid[]) AS q(id)
CROSS JOIN LATERAL (
    SELECT i.key, i.user_id, d.platform, d.environment, d.time_zone FROM gateway.device d
    LEFT JOIN gateway.identity i ON i.tenant_id = $1 AND i.device_id = d.device_id
    WHERE d.tenant_id = $1 AND d.device_id = q.id ORDER BY i.state = 'active' DESC, i.identity_id LIMIT 1) AS r;

-- role gateway_call
SELECT q.id, r.* FROM unnest($2::uuid[]) AS q(id)
CROSS JOIN LATERAL (
    SELECT i.key, i.user_id, d.platform, d.environment, d.time_zone FROM gateway.identity i
    LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
    WHERE i.tenant_id = $1 AND i.identity_id = q.id LIMIT 1) AS r;

-- role gateway_call
SELECT q.id, r.* FROM unnest($2::uuid[]) AS q(id)
CROSS JOIN LATERAL (
    SELECT m.vendor, (
        SELECT json_object_agg(n.name, m.content->'data'->n.name) FROM unnest($3::text[]) AS n(name)
        WHERE m.content->'data'->n.name IS NOT NULL) AS data
    FROM gateway.message m
    WHERE m.tenant_id = $1 AND m.message_id = q.id LIMIT 1) AS r;

-- role gateway_engine
SELECT q.id, r.due_at, r.is_single FROM unnest($2::uuid[]) AS q(id)
CROSS JOIN LATERAL (
    SELECT m.due_at, m.due_local IS NULL AND m.pace_count IS NULL AS is_single FROM gateway.message m
    WHERE m.tenant_id = $1 AND m.message_id = q.id LIMIT 1) r;

-- role gateway_engine
SELECT q.id, r.due_at, r.is_single, r.campaign, r.variant FROM unnest($2::uuid[]) AS q(id)
CROSS JOIN LATERAL (
    SELECT m.due_at, m.due_local IS NULL AND m.pace_count IS NULL AS is_single, m.content->>'campaign' AS campaign,
        m.content->>'campaignVariant' AS variant
    FROM gateway.message m
    WHERE m.tenant_id = $1 AND m.message_id = q.id LIMIT 1) r;

-- role gateway_call
SELECT q.message_id, q.target_id, q.identity_id, q.address, 'queued' AS state, NULL::text AS reason, NULL::timestamptz AS sent_at,
    NULL::timestamptz AS received_at, NULL::timestamptz AS read_at, q.is_reserved, q.fallback, q.device_id, q.user_id,
    NULL::text AS transport, NULL::uuid AS transport_id, true AS is_certain, q.attempts, 0 AS payload_bytes,
    NULL::text AS reduced, NULL::text AS device_vendor, NULL::integer AS transport_ms, q.no, q.slice_state, q.next_at, q.held_by, q.dead_reason, q.is_paused, q.seen_at
FROM gateway.queued_delivery($1, $2, $3) q;

-- role gateway_call
SELECT q.message_id, q.target_id, q.identity_id, q.address, 'queued' AS state, NULL::text AS reason, NULL::timestamptz AS sent_at,
    NULL::timestamptz AS received_at, NULL::timestamptz AS read_at, q.is_reserved, q.fallback, q.device_id, q.user_id,
    NULL::text AS transport, NULL::uuid AS transport_id, true AS is_certain, q.attempts, 0 AS payload_bytes,
    NULL::text AS reduced, q.no, q.slice_state, q.next_at, q.held_by, q.dead_reason, q.is_paused, q.seen_at
FROM gateway.queued_delivery($1, $2, $3) q;

-- role gateway_call
SELECT q.place, i.user_id, i.key, i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, d.time_zone, d.window_from, d.window_to
FROM unnest($4::text[]) WITH ORDINALITY AS q(value, place)
CROSS JOIN LATERAL (
    SELECT x.* FROM gateway.device x
    WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.platform IN ('ios', 'android') AND x.token_digest = md5(q.value)
        AND x.token = q.value OFFSET 0) AS d
JOIN gateway.identity i ON i.tenant_id = $1 AND i.device_id = d.device_id AND i.app_id = $2 AND i.vendor = $3
    AND i.state = 'active'

LIMIT $5;

-- role gateway_call
SELECT q.place, i.user_id, i.key, i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, d.time_zone, d.window_from, d.window_to
FROM unnest($4::text[]) WITH ORDINALITY AS q(value, place)
CROSS JOIN LATERAL (
    SELECT x.* FROM gateway.device x
    WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.platform IN ('ios', 'android') AND x.token_digest = md5(q.value)
        AND x.token = q.value OFFSET 0) AS d
JOIN gateway.identity i ON i.tenant_id = $1 AND i.device_id = d.device_id AND i.app_id = $2 AND i.vendor = $3
    AND i.state = 'active'
WHERE EXISTS (
    SELECT FROM gateway.group_member m
    WHERE m.tenant_id = $1 AND m.app_id = $2 AND m.vendor = $3 AND m.group_name = ANY ($6) AND m.user_id = i.user_id)
LIMIT $5;

-- role gateway_call
SELECT q.place, i.user_id, i.key, i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, i.assurance,
    EXISTS (
        SELECT FROM gateway.identity h
        WHERE h.tenant_id = $1 AND h.app_id = $2 AND h.user_id = i.user_id
            AND h.assurance > i.assurance AND h.assurance > 0 AND h.state = 'active') AS is_outranked, i.vendor, greatest(i.registered_at, i.seen_at) AS last_seen,
    NOT i.accepts_push AS has_withdrawn, coalesce(i.ends_at <= now(), false) AS has_ended, d.time_zone, d.window_from, d.window_to
FROM unnest($4::text[]) WITH ORDINALITY AS q(value, place)
CROSS JOIN LATERAL (
    SELECT x.* FROM gateway.device x
    WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.platform IN ('ios', 'android') AND x.token_digest = md5(q.value)
        AND x.token = q.value OFFSET 0) AS d
JOIN gateway.identity i ON i.tenant_id = $1 AND i.device_id = d.device_id AND i.app_id = $2 AND i.vendor = $3
    AND i.state = 'active'

LIMIT $5;

-- role gateway_call
SELECT q.place, i.user_id, i.key, i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, i.assurance,
    EXISTS (
        SELECT FROM gateway.identity h
        WHERE h.tenant_id = $1 AND h.app_id = $2 AND h.user_id = i.user_id
            AND h.assurance > i.assurance AND h.assurance > 0 AND h.state = 'active') AS is_outranked, i.vendor, greatest(i.registered_at, i.seen_at) AS last_seen,
    NOT i.accepts_push AS has_withdrawn, coalesce(i.ends_at <= now(), false) AS has_ended, d.time_zone, d.window_from, d.window_to
FROM unnest($4::text[]) WITH ORDINALITY AS q(value, place)
CROSS JOIN LATERAL (
    SELECT x.* FROM gateway.device x
    WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.platform IN ('ios', 'android') AND x.token_digest = md5(q.value)
        AND x.token = q.value OFFSET 0) AS d
JOIN gateway.identity i ON i.tenant_id = $1 AND i.device_id = d.device_id AND i.app_id = $2 AND i.vendor = $3
    AND i.state = 'active'
WHERE EXISTS (
    SELECT FROM gateway.group_member m
    WHERE m.tenant_id = $1 AND m.app_id = $2 AND m.vendor = $3 AND m.group_name = ANY ($6) AND m.user_id = i.user_id)
LIMIT $5;

-- role gateway_call
SELECT q.place, q.value AS user_id, r.* FROM (
    SELECT u.value, u.place, left(u.value, 1) = chr(31) AS is_alias, split_part(u.value, chr(31), 2) AS label,
        split_part(u.value, chr(31), 3) AS name
    FROM unnest($4::text[]) WITH ORDINALITY AS u(value, place) OFFSET 0) AS q
LEFT JOIN LATERAL (
    SELECT x.user_id FROM gateway.user_alias x
    WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.vendor = $3 AND q.is_alias AND x.label = q.label AND x.name = q.name
    LIMIT 1) AS a ON true
CROSS JOIN LATERAL (SELECT coalesce(a.user_id, q.value) AS user_id OFFSET 0) AS w
CROSS JOIN LATERAL (
    SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, d.time_zone, d.window_from, d.window_to
    FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
    WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.user_id = w.user_id
    LIMIT $5) AS r
LIMIT $5;

-- role gateway_call
SELECT q.place, q.value AS user_id, r.* FROM (
    SELECT u.value, u.place, left(u.value, 1) = chr(31) AS is_alias, split_part(u.value, chr(31), 2) AS label,
        split_part(u.value, chr(31), 3) AS name
    FROM unnest($4::text[]) WITH ORDINALITY AS u(value, place) OFFSET 0) AS q
LEFT JOIN LATERAL (
    SELECT x.user_id FROM gateway.user_alias x
    WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.vendor = $3 AND q.is_alias AND x.label = q.label AND x.name = q.name
    LIMIT 1) AS a ON true
CROSS JOIN LATERAL (SELECT coalesce(a.user_id, q.value) AS user_id OFFSET 0) AS w
CROSS JOIN LATERAL (
    SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, i.assurance,
    EXISTS (
        SELECT FROM gateway.identity h
        WHERE h.tenant_id = $1 AND h.app_id = $2 AND h.user_id = i.user_id
            AND h.assurance > i.assurance AND h.assurance > 0 AND h.state = 'active') AS is_outranked, i.vendor, greatest(i.registered_at, i.seen_at) AS last_seen,
    NOT i.accepts_push AS has_withdrawn, coalesce(i.ends_at <= now(), false) AS has_ended, d.time_zone, d.window_from, d.window_to
    FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
    WHERE i.tenant_id = $1 AND i.app_id = $2 AND $3 <> '' AND i.state = 'active' AND i.user_id = w.user_id
    LIMIT $5) AS r
LIMIT $5;

-- role gateway_call
SELECT q.place, q.value AS user_id, r.* FROM (
    SELECT u.value, u.place, left(u.value, 1) = chr(31) AS is_alias, split_part(u.value, chr(31), 2) AS label,
        split_part(u.value, chr(31), 3) AS name
    FROM unnest($4::text[]) WITH ORDINALITY AS u(value, place) OFFSET 0) AS q
LEFT JOIN LATERAL (
    SELECT x.user_id FROM gateway.user_alias x
    WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.vendor = $3 AND q.is_alias AND x.label = q.label AND x.name = q.name
    LIMIT 1) AS a ON true
CROSS JOIN LATERAL (SELECT coalesce(a.user_id, q.value) AS user_id OFFSET 0) AS w
CROSS JOIN LATERAL (
    SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, i.assurance,
    EXISTS (
        SELECT FROM gateway.identity h
        WHERE h.tenant_id = $1 AND h.app_id = $2 AND h.user_id = i.user_id
            AND h.assurance > i.assurance AND h.assurance > 0 AND h.state = 'active') AS is_outranked, i.vendor, greatest(i.registered_at, i.seen_at) AS last_seen,
    NOT i.accepts_push AS has_withdrawn, coalesce(i.ends_at <= now(), false) AS has_ended, d.time_zone, d.window_from, d.window_to
    FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
    WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.user_id = w.user_id
    LIMIT $5) AS r
LIMIT $5;

-- role gateway_call
SELECT q.place, q.value AS user_id, r.* FROM unnest($4::text[]) WITH ORDINALITY AS q(value, place)
CROSS JOIN LATERAL (
    SELECT EXISTS (
        SELECT FROM gateway.identity i
        WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.alias = q.value
            OR i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.user_id = q.value
            AND i.alias IS NULL) AS is_alias) AS a

CROSS JOIN LATERAL (
    (SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, i.assurance,
    EXISTS (
        SELECT FROM gateway.identity h
        WHERE h.tenant_id = $1 AND h.app_id = $2 AND h.user_id = i.user_id
            AND h.assurance > i.assurance AND h.assurance > 0 AND h.state = 'active') AS is_outranked, i.vendor, greatest(i.registered_at, i.seen_at) AS last_seen,
    NOT i.accepts_push AS has_withdrawn, coalesce(i.ends_at <= now(), false) AS has_ended, d.time_zone, d.window_from, d.window_to
    FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
    WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.alias = q.value
    LIMIT $5)
    UNION ALL
    (SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, i.assurance,
    EXISTS (
        SELECT FROM gateway.identity h
        WHERE h.tenant_id = $1 AND h.app_id = $2 AND h.user_id = i.user_id
            AND h.assurance > i.assurance AND h.assurance > 0 AND h.state = 'active') AS is_outranked, i.vendor, greatest(i.registered_at, i.seen_at) AS last_seen,
    NOT i.accepts_push AS has_withdrawn, coalesce(i.ends_at <= now(), false) AS has_ended, d.time_zone, d.window_from, d.window_to
    FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
    WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.user_id = q.value
        AND (i.alias IS NULL OR i.alias <> q.value AND NOT a.is_alias)
    LIMIT $5)
    ) AS r
LIMIT $5;

-- role gateway_call
SELECT q.place, q.value AS user_id, r.* FROM unnest($4::text[]) WITH ORDINALITY AS q(value, place)
CROSS JOIN LATERAL (
    SELECT EXISTS (
        SELECT FROM gateway.identity i
        WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.alias = q.value
            OR i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.user_id = q.value
            AND i.alias IS NULL) AS is_alias) AS a
CROSS JOIN LATERAL (
    (SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, d.time_zone, d.window_from, d.window_to
    FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
    WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.alias = q.value
    LIMIT $5)
    UNION ALL
    (SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, d.time_zone, d.window_from, d.window_to
    FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
    WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.user_id = q.value
        AND (i.alias IS NULL OR i.alias <> q.value AND NOT a.is_alias)
    LIMIT $5)) AS r
LIMIT $5;

-- role gateway_call
SELECT q.place, q.value AS user_id, r.* FROM unnest($4::text[]) WITH ORDINALITY AS q(value, place)
CROSS JOIN LATERAL (
    SELECT EXISTS (
        SELECT FROM gateway.identity i
        WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.alias = q.value
            OR i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.user_id = q.value
            AND i.alias IS NULL) AS is_alias) AS a
CROSS JOIN LATERAL (
    SELECT coalesce((
        SELECT i.user_id FROM gateway.identity i
        WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.alias = q.value
            AND i.user_id IS NOT NULL LIMIT 1), q.value) AS user_id OFFSET 0) AS w
CROSS JOIN LATERAL (
    (SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, i.assurance,
    EXISTS (
        SELECT FROM gateway.identity h
        WHERE h.tenant_id = $1 AND h.app_id = $2 AND h.user_id = i.user_id
            AND h.assurance > i.assurance AND h.assurance > 0 AND h.state = 'active') AS is_outranked, i.vendor, greatest(i.registered_at, i.seen_at) AS last_seen,
    NOT i.accepts_push AS has_withdrawn, coalesce(i.ends_at <= now(), false) AS has_ended, d.time_zone, d.window_from, d.window_to
    FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
    WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.alias = q.value
    LIMIT $5)
    UNION ALL
    (SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, i.assurance,
    EXISTS (
        SELECT FROM gateway.identity h
        WHERE h.tenant_id = $1 AND h.app_id = $2 AND h.user_id = i.user_id
            AND h.assurance > i.assurance AND h.assurance > 0 AND h.state = 'active') AS is_outranked, i.vendor, greatest(i.registered_at, i.seen_at) AS last_seen,
    NOT i.accepts_push AS has_withdrawn, coalesce(i.ends_at <= now(), false) AS has_ended, d.time_zone, d.window_from, d.window_to
    FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
    WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.user_id = q.value
        AND (i.alias IS NULL OR i.alias <> q.value AND NOT a.is_alias)
    LIMIT $5)
    UNION ALL
(SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, i.assurance,
    EXISTS (
        SELECT FROM gateway.identity h
        WHERE h.tenant_id = $1 AND h.app_id = $2 AND h.user_id = i.user_id
            AND h.assurance > i.assurance AND h.assurance > 0 AND h.state = 'active') AS is_outranked, i.vendor, greatest(i.registered_at, i.seen_at) AS last_seen,
    NOT i.accepts_push AS has_withdrawn, coalesce(i.ends_at <= now(), false) AS has_ended, d.time_zone, d.window_from, d.window_to
FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor <> $3 AND i.state = 'active' AND i.user_id = w.user_id
LIMIT $5)) AS r
LIMIT $5;

-- role gateway_call
SELECT q.place, q.value AS user_id, r.* FROM unnest($4::text[]) WITH ORDINALITY AS q(value, place)
CROSS JOIN LATERAL (
    SELECT EXISTS (
        SELECT FROM gateway.identity i
        WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.alias = q.value
            OR i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.user_id = q.value
            AND i.alias IS NULL) AS is_alias) AS a
CROSS JOIN LATERAL (
    SELECT coalesce((
        SELECT i.user_id FROM gateway.identity i
        WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.alias = q.value
            AND i.user_id IS NOT NULL ORDER BY i.user_id LIMIT 1),
        CASE WHEN NOT EXISTS (
            SELECT FROM gateway.identity i
            WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.alias = q.value) THEN q.value END
        ) AS user_id OFFSET 0) AS w
CROSS JOIN LATERAL (
    (SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, i.assurance,
    EXISTS (
        SELECT FROM gateway.identity h
        WHERE h.tenant_id = $1 AND h.app_id = $2 AND h.user_id = i.user_id
            AND h.assurance > i.assurance AND h.assurance > 0 AND h.state = 'active') AS is_outranked, i.vendor, greatest(i.registered_at, i.seen_at) AS last_seen,
    NOT i.accepts_push AS has_withdrawn, coalesce(i.ends_at <= now(), false) AS has_ended, d.time_zone, d.window_from, d.window_to
    FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
    WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.alias = q.value
    LIMIT $5)
    UNION ALL
    (SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, i.assurance,
    EXISTS (
        SELECT FROM gateway.identity h
        WHERE h.tenant_id = $1 AND h.app_id = $2 AND h.user_id = i.user_id
            AND h.assurance > i.assurance AND h.assurance > 0 AND h.state = 'active') AS is_outranked, i.vendor, greatest(i.registered_at, i.seen_at) AS last_seen,
    NOT i.accepts_push AS has_withdrawn, coalesce(i.ends_at <= now(), false) AS has_ended, d.time_zone, d.window_from, d.window_to
    FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
    WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.user_id = q.value
        AND (i.alias IS NULL OR i.alias <> q.value AND NOT a.is_alias)
    LIMIT $5)
    UNION ALL
(SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, i.assurance,
    EXISTS (
        SELECT FROM gateway.identity h
        WHERE h.tenant_id = $1 AND h.app_id = $2 AND h.user_id = i.user_id
            AND h.assurance > i.assurance AND h.assurance > 0 AND h.state = 'active') AS is_outranked, i.vendor, greatest(i.registered_at, i.seen_at) AS last_seen,
    NOT i.accepts_push AS has_withdrawn, coalesce(i.ends_at <= now(), false) AS has_ended, d.time_zone, d.window_from, d.window_to
FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor <> $3 AND i.state = 'active' AND i.user_id = w.user_id
LIMIT $5)) AS r
LIMIT $5;

-- role gateway_call
SELECT q.place, q.value AS user_id, r.* FROM unnest($4::text[]) WITH ORDINALITY AS q(value, place)
CROSS JOIN LATERAL (
    SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, d.time_zone, d.window_from, d.window_to
    FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
    WHERE i.tenant_id = $1 AND i.app_id = $2 AND ($3 = 'native' OR i.vendor = $3) AND i.state = 'active'
        AND i.user_id = q.value
    LIMIT $5) AS r
LIMIT $5;

-- role gateway_call
SELECT q.place, q.value AS user_id, r.* FROM unnest($4::text[]) WITH ORDINALITY AS q(value, place)
CROSS JOIN LATERAL (
    SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, i.assurance,
    EXISTS (
        SELECT FROM gateway.identity h
        WHERE h.tenant_id = $1 AND h.app_id = $2 AND h.user_id = i.user_id
            AND h.assurance > i.assurance AND h.assurance > 0 AND h.state = 'active') AS is_outranked, i.vendor, greatest(i.registered_at, i.seen_at) AS last_seen,
    NOT i.accepts_push AS has_withdrawn, coalesce(i.ends_at <= now(), false) AS has_ended, d.time_zone, d.window_from, d.window_to
    FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
    WHERE i.tenant_id = $1 AND i.app_id = $2 AND $3 <> '' AND i.state = 'active'
        AND i.user_id = q.value
    LIMIT $5) AS r
LIMIT $5;

-- role gateway_call
SELECT q.place, q.value AS user_id, r.* FROM unnest($4::text[]) WITH ORDINALITY AS q(value, place)
CROSS JOIN LATERAL (
    SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, i.assurance,
    EXISTS (
        SELECT FROM gateway.identity h
        WHERE h.tenant_id = $1 AND h.app_id = $2 AND h.user_id = i.user_id
            AND h.assurance > i.assurance AND h.assurance > 0 AND h.state = 'active') AS is_outranked, i.vendor, greatest(i.registered_at, i.seen_at) AS last_seen,
    NOT i.accepts_push AS has_withdrawn, coalesce(i.ends_at <= now(), false) AS has_ended, d.time_zone, d.window_from, d.window_to
    FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
    WHERE i.tenant_id = $1 AND i.app_id = $2 AND ($3 = 'native' OR i.vendor = $3) AND i.state = 'active'
        AND i.user_id = q.value
    LIMIT $5) AS r
LIMIT $5;

-- role gateway_call
SELECT q.place, q.value AS user_id, r.* FROM unnest($4::text[]) WITH ORDINALITY AS q(value, place)
CROSS JOIN LATERAL (
    SELECT i.key, i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, d.time_zone, d.window_from, d.window_to
    FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
    WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.user_id = q.value
        AND ($6::text[] IS NULL OR d.token = ANY ($6))
    LIMIT $5) AS r
LIMIT $5;

-- role gateway_call
SELECT q.place, q.value AS user_id, r.* FROM unnest($4::text[]) WITH ORDINALITY AS q(value, place)
CROSS JOIN LATERAL (
    SELECT i.key, i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, i.assurance,
    EXISTS (
        SELECT FROM gateway.identity h
        WHERE h.tenant_id = $1 AND h.app_id = $2 AND h.user_id = i.user_id
            AND h.assurance > i.assurance AND h.assurance > 0 AND h.state = 'active') AS is_outranked, i.vendor, greatest(i.registered_at, i.seen_at) AS last_seen,
    NOT i.accepts_push AS has_withdrawn, coalesce(i.ends_at <= now(), false) AS has_ended, d.time_zone, d.window_from, d.window_to
    FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
    WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.user_id = q.value
        AND ($6::text[] IS NULL OR d.token = ANY ($6))
    LIMIT $5) AS r
LIMIT $5;

-- role gateway_call
SELECT q.place, r.* FROM unnest($4::bigint[], $5::text[]) AS q(place, value)
CROSS JOIN LATERAL (SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, d.time_zone, d.window_from, d.window_to
FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
WHERE i.tenant_id = $1 AND i.app_id = $2 AND ($3 = 'native' OR i.vendor = $3) AND i.state = 'active'
    AND i.phone = q.value
ORDER BY i.registered_at DESC, i.identity_id DESC LIMIT 1) AS r
UNION ALL
SELECT q.place, r.* FROM unnest($6::bigint[], $7::text[]) AS q(place, value)
CROSS JOIN LATERAL (SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, d.time_zone, d.window_from, d.window_to
FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
WHERE i.tenant_id = $1 AND i.app_id = $2 AND ($3 = 'native' OR i.vendor = $3) AND i.state = 'active'
    AND i.key = q.value
ORDER BY i.registered_at DESC, i.identity_id DESC LIMIT 1) AS r
UNION ALL
SELECT q.place, r.* FROM unnest($8::bigint[], $9::text[]) AS q(place, value)
CROSS JOIN LATERAL (SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, d.time_zone, d.window_from, d.window_to
FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
WHERE i.tenant_id = $1 AND i.app_id = $2 AND ($3 = 'native' OR i.vendor = $3) AND i.state = 'active'
    AND i.user_id = q.value
ORDER BY i.registered_at DESC, i.identity_id DESC LIMIT 1) AS r
UNION ALL
SELECT q.place, r.* FROM unnest($10::bigint[], $11::uuid[]) AS q(place, value)
CROSS JOIN LATERAL (SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, d.time_zone, d.window_from, d.window_to
FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
WHERE i.tenant_id = $1 AND i.app_id = $2 AND ($3 = 'native' OR i.vendor = $3) AND i.state = 'active'
    AND i.device_id = q.value
ORDER BY i.registered_at DESC, i.identity_id DESC LIMIT 1) AS r;

-- role gateway_call
SELECT q.place, r.* FROM unnest($4::bigint[], $5::text[]) AS q(place, value)
CROSS JOIN LATERAL (SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, i.assurance,
    EXISTS (
        SELECT FROM gateway.identity h
        WHERE h.tenant_id = $1 AND h.app_id = $2 AND h.phone = i.phone
            AND h.assurance > i.assurance AND h.assurance > 0 AND h.state = 'active') AS is_outranked, i.vendor, greatest(i.registered_at, i.seen_at) AS last_seen,
    NOT i.accepts_push AS has_withdrawn, coalesce(i.ends_at <= now(), false) AS has_ended, d.time_zone, d.window_from, d.window_to
FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
WHERE i.tenant_id = $1 AND i.app_id = $2 AND ($3 = 'native' OR i.vendor = $3) AND i.state = 'active'
    AND i.phone = q.value
ORDER BY CASE WHEN (SELECT a.defaults->>'mixedAssurance' = 'true' FROM gateway.app a WHERE a.tenant_id = $1 AND a.app_id = $2)
    THEN 0 ELSE i.assurance END DESC, i.registered_at DESC, i.identity_id DESC LIMIT 1) AS r
UNION ALL
SELECT q.place, r.* FROM unnest($8::bigint[], $9::text[]) AS q(place, value)
CROSS JOIN LATERAL (SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, i.assurance,
    EXISTS (
        SELECT FROM gateway.identity h
        WHERE h.tenant_id = $1 AND h.app_id = $2 AND h.user_id = i.user_id
            AND h.assurance > i.assurance AND h.assurance > 0 AND h.state = 'active') AS is_outranked, i.vendor, greatest(i.registered_at, i.seen_at) AS last_seen,
    NOT i.accepts_push AS has_withdrawn, coalesce(i.ends_at <= now(), false) AS has_ended, d.time_zone, d.window_from, d.window_to
FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
WHERE i.tenant_id = $1 AND i.app_id = $2 AND ($3 = 'native' OR i.vendor = $3) AND i.state = 'active'
    AND i.user_id = q.value
ORDER BY CASE WHEN (SELECT a.defaults->>'mixedAssurance' = 'true' FROM gateway.app a WHERE a.tenant_id = $1 AND a.app_id = $2)
    THEN 0 ELSE i.assurance END DESC, i.registered_at DESC, i.identity_id DESC LIMIT 1) AS r
UNION ALL
SELECT q.place, r.* FROM unnest($6::bigint[], $7::text[]) AS q(place, value)
CROSS JOIN LATERAL (SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, i.assurance,
    false AS is_outranked, i.vendor, greatest(i.registered_at, i.seen_at) AS last_seen,
    NOT i.accepts_push AS has_withdrawn, coalesce(i.ends_at <= now(), false) AS has_ended, d.time_zone, d.window_from, d.window_to
FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
WHERE i.tenant_id = $1 AND i.app_id = $2 AND ($3 = 'native' OR i.vendor = $3) AND i.state = 'active'
    AND i.key = q.value
ORDER BY i.registered_at DESC, i.identity_id DESC LIMIT 1) AS r
UNION ALL
SELECT q.place, r.* FROM unnest($10::bigint[], $11::uuid[]) AS q(place, value)
CROSS JOIN LATERAL (SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, i.assurance,
    false AS is_outranked, i.vendor, greatest(i.registered_at, i.seen_at) AS last_seen,
    NOT i.accepts_push AS has_withdrawn, coalesce(i.ends_at <= now(), false) AS has_ended, d.time_zone, d.window_from, d.window_to
FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
WHERE i.tenant_id = $1 AND i.app_id = $2 AND ($3 = 'native' OR i.vendor = $3) AND i.state = 'active'
    AND i.device_id = q.value
ORDER BY i.registered_at DESC, i.identity_id DESC LIMIT 1) AS r;

-- role gateway_call
SELECT q.place, w.user_id, coalesce(p.is_anonymous, false) AS is_anonymous,
    p.accepts_push, coalesce(p.opted_in, false) AS opted_in, p.attributes, p.consents, coalesce(p.revision, 0) AS revision
FROM unnest($4::text[], $5::text[], $6::text[]) WITH ORDINALITY AS q(user_id, label, name, place)
LEFT JOIN LATERAL (
    SELECT x.user_id FROM gateway.user_alias x
    WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.vendor = $3 AND x.label = q.label AND x.name = q.name OFFSET 0) AS a ON true
CROSS JOIN LATERAL (SELECT coalesce(a.user_id, q.user_id) AS user_id OFFSET 0) AS w
LEFT JOIN LATERAL (
    SELECT x.* FROM gateway.user_profile x
    WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.vendor = $3 AND x.user_id = w.user_id OFFSET 0) AS p ON true
LEFT JOIN LATERAL (
    SELECT x.user_id FROM gateway.identity x
    WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.vendor = $3 AND x.user_id = q.user_id AND x.state = 'active'
        AND p.user_id IS NULL LIMIT 1) AS i ON true
WHERE p.user_id IS NOT NULL OR i.user_id IS NOT NULL;

-- role gateway_call
SELECT q.token FROM unnest($4::text[]) AS q(token)
CROSS JOIN LATERAL (
    SELECT FROM gateway.device d JOIN gateway.identity i ON i.tenant_id = $1 AND i.device_id = d.device_id
    WHERE d.tenant_id = $1 AND d.app_id = $2 AND d.platform IN ('ios', 'android') AND d.token_digest = md5(q.token)
        AND d.token = q.token AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active'
        AND (i.ends_at IS NULL OR i.ends_at > now()) LIMIT 1) AS r;

-- role gateway_call
SELECT q.user_id, r.data, max(r.sent_at) AS last_at, bool_or(r.is_read) AS is_read
FROM unnest($4::text[]) AS q(user_id)
CROSS JOIN LATERAL (
    SELECT d.sent_at, d.read_at IS NOT NULL AS is_read, (
        SELECT json_object_agg(n.name, m.content->'data'->n.name ORDER BY n.place)::text
        FROM unnest($6::text[]) WITH ORDINALITY AS n(name, place)
        WHERE m.content->'data'->n.name IS NOT NULL) AS data
    FROM gateway.delivery d JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = d.message_id
    WHERE d.tenant_id = $1 AND d.app_id = $2 AND d.user_id = q.user_id AND d.state IN ('sent', 'received', 'read')
        AND d.sent_at IS NOT NULL AND m.vendor = $3
    ORDER BY d.message_id DESC LIMIT $5) AS r
WHERE r.data IS NOT NULL
GROUP BY q.user_id, r.data
ORDER BY q.user_id, last_at DESC, r.data;

-- role gateway_call
SELECT r.* FROM unnest($4::text[]) AS q(user_id)
CROSS JOIN LATERAL (
    SELECT i.user_id, i.key, d.platform, i.attributes,
        i.accepts_push AND i.denies_push IS NOT TRUE AS accepts_push,
        CASE WHEN d.token_state = 'active' THEN d.token END AS token
    FROM gateway.identity i JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
    WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.user_id = q.user_id AND i.state = 'active'
    ORDER BY i.key LIMIT $5) AS r
ORDER BY r.user_id, r.key;

-- role gateway_call
SELECT r.*, i.name FROM (
    SELECT array_agg(f.message_id) AS ids, array_agg(f.user_id) AS users, array_agg(f.received_at) AS received,
        array_agg(f.read_at) AS read
    FROM gateway.find_history(p_tenant => $1, p_app => $2, p_vendor => $3, p_key => $4, p_token => $5, p_reader => $6, p_kind => $7, p_user => $8, p_number => $9, p_now => $10, p_today => $11, p_read => $12, p_hidden => $13, p_looks => $14, p_limit => $15) f) w
CROSS JOIN gateway.reading_identity($1, $2, $3, $4, $5, $6) i
CROSS JOIN LATERAL gateway.read_messages($1, $2, w.ids, w.users, w.received, w.read) r;

-- role gateway_call
SELECT r.*, i.name FROM (
    SELECT array_agg(f.message_id) AS ids, array_agg(f.user_id) AS users, array_agg(f.received_at) AS received,
        array_agg(f.read_at) AS read
    FROM gateway.find_history(p_tenant => $1, p_app => $2, p_vendor => $3, p_key => $4, p_token => $5, p_reader => $6, p_kind => $7, p_user => $8, p_number => $9, p_now => $10, p_today => $11, p_read => $12, p_hidden => $13, p_looks => $14, p_limit => $15, p_whole => $16) f) w
CROSS JOIN gateway.reading_identity($1, $2, $3, $4, $5, $6) i
CROSS JOIN LATERAL gateway.read_messages($1, $2, w.ids, w.users, w.received, w.read) r;

-- role gateway_call
SELECT r.*, i.name FROM (
    SELECT array_agg(f.message_id) AS ids, array_agg(f.user_id) AS users, array_agg(f.received_at) AS received,
        array_agg(f.read_at) AS read
    FROM gateway.find_message($1, $2, $3, $4, $5, $6, $7, $8, $9) f) w
CROSS JOIN gateway.reading_identity($1, $2, $3, $4, $5, $6) i
CROSS JOIN LATERAL gateway.read_messages($1, $2, w.ids, w.users, w.received, w.read) r;

-- role gateway_call
SELECT r.*, i.name FROM (
    SELECT array_agg(f.message_id) AS ids, array_agg(f.user_id) AS users, array_agg(f.received_at) AS received,
        array_agg(f.read_at) AS read
    FROM gateway.find_message($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) f) w
CROSS JOIN gateway.reading_identity($1, $2, $3, $4, $5, $6) i
CROSS JOIN LATERAL gateway.read_messages($1, $2, w.ids, w.users, w.received, w.read) r;

-- role gateway_engine
SELECT r.app_id, r.version, r.format, r.base::text AS base, r.overlay::text AS overlay, r.upstreams::text AS upstreams, r.origin, r.actor, r.made_at FROM gateway.route_set r WHERE r.tenant_id = $1 AND r.app_id = $2 AND r.version = $3;

-- role gateway_engine
SELECT r.cursor FROM gateway.event_reader r WHERE r.tenant_id = $1 FOR UPDATE;

-- role gateway_call
SELECT r.format, r.base::text AS base, r.overlay::text AS overlay, r.upstreams::text AS upstreams FROM gateway.route_set r
WHERE r.tenant_id = $1 AND r.app_id = $2 AND r.version = $3;

-- role gateway_engine
SELECT r.tenant FROM gateway.account_role r JOIN gateway.account a ON a.account_id = r.account_id
WHERE a.name = $1 AND r.tenant <> '' ORDER BY r.tenant;

-- role gateway_engine
SELECT r.version, r.origin, r.actor, r.made_at FROM gateway.route_set r
WHERE r.tenant_id = $1 AND r.app_id = $2 AND r.version < $3 ORDER BY r.version DESC LIMIT $4;

-- role gateway_call
SELECT raise_number AS has_changed FROM gateway.raise_number($1, $2, $3, $4, $5, $6);

-- role gateway_call
SELECT record_exchange AS sequence FROM gateway.record_exchange(p_tenant => $1, p_capture => $2, p_at => $3, p_route => $4, p_outcome => $5, p_reason => $6, p_method => $7, p_path => $8, p_query => $9, p_headers => $10, p_body => $11, p_body_bytes => $12, p_status => $13, p_answer_type => $14, p_answer => $15, p_answer_bytes => $16);

-- role gateway_engine
SELECT record_outcomes AS count FROM gateway.record_outcomes(p_tenant => $1, p_message => $2, p_no => $3, p_epoch => $4, p_owner => $5, p_done => $6, p_disposition => $7, p_after => $8, p_counts => $9, p_held => $10, p_dead => $11, p_settles => $12, p_targets => $13, p_identities => $14, p_devices => $15, p_users => $16, p_addresses => $17, p_states => $18, p_reasons => $19, p_transports => $20, p_transport_ids => $21, p_certain => $22, p_attempts => $23, p_sent => $24, p_bytes => $25, p_reduced => $26, p_groups => $27, p_inbox => $28);

-- role gateway_engine
SELECT record_outcomes AS count FROM gateway.record_outcomes(p_tenant => $1, p_message => $2, p_no => $3, p_epoch => $4, p_owner => $5, p_done => $6, p_disposition => $7, p_after => $8, p_counts => $9, p_held => $10, p_dead => $11, p_settles => $12, p_targets => $13, p_identities => $14, p_devices => $15, p_users => $16, p_addresses => $17, p_states => $18, p_reasons => $19, p_transports => $20, p_transport_ids => $21, p_certain => $22, p_attempts => $23, p_sent => $24, p_bytes => $25, p_reduced => $26, p_groups => $27, p_inbox => $28, p_device_vendors => $29, p_latencies => $30);

-- role gateway_engine
SELECT record_outcomes AS count FROM gateway.record_outcomes(p_tenant => $1, p_message => $2, p_no => $3, p_epoch => $4, p_owner => $5, p_done => $6, p_disposition => $7, p_after => $8, p_counts => $9, p_held => $10, p_dead => $11, p_settles => $12, p_targets => $13, p_identities => $14, p_devices => $15, p_users => $16, p_addresses => $17, p_states => $18, p_reasons => $19, p_transports => $20, p_transport_ids => $21, p_certain => $22, p_attempts => $23, p_sent => $24, p_bytes => $25, p_reduced => $26, p_groups => $27, p_inbox => $28, p_device_vendors => $29, p_latencies => $30, p_clients => $31, p_local_hours => $32);

-- role gateway_engine
SELECT record_outcomes AS count FROM gateway.record_outcomes(p_tenant => $1, p_message => $2, p_no => $3, p_epoch => $4, p_owner => $5, p_done => $6, p_disposition => $7, p_after => $8, p_counts => $9, p_held => $10, p_dead => $11, p_settles => $12, p_targets => $13, p_identities => $14, p_devices => $15, p_users => $16, p_addresses => $17, p_states => $18, p_reasons => $19, p_transports => $20, p_transport_ids => $21, p_certain => $22, p_attempts => $23, p_sent => $24, p_bytes => $25, p_reduced => $26, p_groups => $27, p_inbox => $28, p_device_vendors => $29, p_latencies => $30, p_clients => $31, p_local_hours => $32, p_calls => $33);

-- role gateway_call
SELECT record_receipt AS outcome FROM gateway.record_receipt($1, $2, $3, $4, $5, $6, $7, $8);

-- role gateway_call
SELECT remove_campaign AS count FROM gateway.remove_campaign($1, $2, $3, $4, $5);

-- role gateway_call
SELECT remove_template AS revision FROM gateway.remove_template($1, $2, $3, $4, $5);

-- role gateway_call
SELECT report_number AS outcome FROM gateway.report_number($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- role gateway_engine
SELECT resume_forwards AS count FROM gateway.resume_forwards($1, $2);

-- role gateway_engine
SELECT retention::text AS retention, pushes_per_second FROM gateway.tenant WHERE tenant_id = $1;

-- role gateway_engine
SELECT return_route AS count FROM gateway.return_route($1, $2, $3, $4);

-- role gateway_engine
SELECT roll_up_counts AS quarter FROM gateway.roll_up_counts($1, $2, $3);

-- role gateway_call
SELECT s.dead_reason AS reason, count(*) AS slices,
    sum(cardinality(s.targets) - bit_count(s.done))::bigint AS targets
FROM gateway.message m JOIN gateway.slice s ON s.tenant_id = $1 AND s.message_id = m.message_id
WHERE m.tenant_id = $1 AND m.message_id = $2 AND m.dead_slices > 0 AND s.dead_reason IS NOT NULL AND s.state <> 'done'
GROUP BY s.dead_reason ORDER BY s.dead_reason;

-- role gateway_call
SELECT s.schedule_id, s.message_id, s.request, CASE WHEN m.observed_from IS NOT NULL THEN 'observed' WHEN m.awaits_approval AND m.state = 'paused' THEN 'scheduled' ELSE m.state END AS state, m.due_at, m.due_local IS NOT NULL AS is_local
FROM gateway.schedule s JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = s.message_id
WHERE s.tenant_id = $1 AND s.app_id = $2 AND s.vendor = $3 AND CASE WHEN m.observed_from IS NOT NULL THEN 'observed' WHEN m.awaits_approval AND m.state = 'paused' THEN 'scheduled' ELSE m.state END = 'scheduled' AND ($4::timestamptz IS NULL OR m.due_at <= $4)
ORDER BY m.due_at, s.schedule_id LIMIT $5;

-- role gateway_call
SELECT s.schedule_id, s.message_id, s.request, CASE WHEN m.observed_from IS NOT NULL THEN 'observed' WHEN m.awaits_approval AND m.state = 'paused' THEN 'scheduled' ELSE m.state END AS state, m.due_at, m.due_local IS NOT NULL AS is_local
FROM gateway.schedule s JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = s.message_id
WHERE s.tenant_id = $1 AND s.app_id = $2 AND s.vendor = $3 AND s.schedule_id = $4;

-- role gateway_call
SELECT s.schedule_id, s.message_id, s.request, m.state, m.due_at, m.due_local IS NOT NULL AS is_local
FROM gateway.schedule s JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = s.message_id
WHERE s.tenant_id = $1 AND s.app_id = $2 AND s.vendor = $3 AND m.state = 'scheduled' AND ($4::timestamptz IS NULL OR m.due_at <= $4)
ORDER BY m.due_at, s.schedule_id LIMIT $5;

-- role gateway_call
SELECT s.schedule_id, s.message_id, s.request, m.state, m.due_at, m.due_local IS NOT NULL AS is_local
FROM gateway.schedule s JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = s.message_id
WHERE s.tenant_id = $1 AND s.app_id = $2 AND s.vendor = $3 AND s.schedule_id = $4;

-- role gateway_engine
SELECT s.session_id, s.account_id, a.name, a.code_salt IS NOT NULL AS has_codes, s.proven_at IS NULL AS awaits_code,
    (s.proven_at > now() - interval '10 minutes') IS TRUE AS is_proven, s.seen_at < now() - interval '1 minute' AS is_stale,
    coalesce((SELECT array_agg(r.tenant ORDER BY r.tenant) FROM gateway.account_role r WHERE r.account_id = a.account_id), '{}')
        AS tenants,
    coalesce((SELECT array_agg(r.role ORDER BY r.tenant) FROM gateway.account_role r WHERE r.account_id = a.account_id), '{}')
        AS roles
FROM gateway.console_session s JOIN gateway.account a ON a.account_id = s.account_id
WHERE s.hash = $1 AND s.ends_at > now() AND s.seen_at > now() - interval '2 hours' AND a.disabled_at IS NULL;

-- role gateway_engine
SELECT s.tenant_id, s.app_id, s.vendor, s.sender_id FROM gateway.sender s
WHERE s.callback_url IS NOT NULL AND s.next_at <= now() AND (
    EXISTS (
        SELECT FROM gateway.event_batch b
        WHERE b.tenant_id = s.tenant_id AND b.app_id = s.app_id AND b.vendor = s.vendor
            AND b.sender_id = s.sender_id AND b.last > s.cursor)
    OR EXISTS (
        SELECT FROM gateway.event_single o
        WHERE o.tenant_id = s.tenant_id AND o.app_id = s.app_id AND o.vendor = s.vendor
            AND o.sender_id = s.sender_id AND o.position > s.cursor))
ORDER BY s.next_at LIMIT $1;

-- role gateway_engine
SELECT sealed, issued_at FROM gateway.provider_token WHERE team_id = $1 AND key_id = $2 AND fingerprint = $3;

-- role gateway_call
SELECT sender_id, enrolment_key, callback_url FROM gateway.sender
WHERE tenant_id = $1 AND app_id = $2 AND vendor = $3 AND sender_id = $4;

-- role gateway_engine
SELECT sent_before AS earlier FROM gateway.sent_before($1, $2, $3, $4);

-- role gateway_call
SELECT sequence_message AS number FROM gateway.sequence_message($1, $2, $3, $4);

-- role gateway_engine
SELECT session_id, created_at, seen_at, address, browser FROM gateway.console_session
WHERE account_id = $1 AND ends_at > now() AND seen_at > now() - interval '2 hours' AND proven_at IS NOT NULL
ORDER BY created_at DESC;

-- role gateway_call
SELECT set_badge AS badge FROM gateway.set_badge($1, $2, $3, $4, $5, $6, $7);

-- role gateway_call
SELECT set_callback AS count FROM gateway.set_callback($1, $2, $3, $4, $5);

-- role gateway_call
SELECT set_preferences AS count FROM gateway.set_preferences($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);

-- role gateway_engine
SELECT settle_message AS count FROM gateway.settle_message($1, $2);

-- role gateway_engine
SELECT settle_messages AS count FROM gateway.settle_messages($1, $2);

-- role gateway_engine
SELECT split_slice AS count FROM gateway.split_slice($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- role gateway_engine
SELECT split_slice AS count FROM gateway.split_slice($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);

-- role gateway_call
SELECT start_capture AS outcome FROM gateway.start_capture($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);

-- role gateway_call
SELECT t.app_id, t.name, t.content, t.revision, t.changed_by, t.changed_at FROM gateway.message_template t
WHERE t.tenant_id = $1 AND t.app_id = $2 AND ($3::text IS NULL OR t.name COLLATE "C" > $3)
ORDER BY t.name COLLATE "C" LIMIT $4;

-- role gateway_call
SELECT t.app_id, t.name, t.content, t.revision, t.changed_by, t.changed_at FROM gateway.message_template t
WHERE t.tenant_id = $1 AND t.app_id = $2 AND t.name = $3;

-- role gateway_engine
SELECT t.place FROM unnest($2::bigint[], $3::uuid[]) AS t(place, device)
CROSS JOIN LATERAL (
    SELECT count(*) AS sent FROM (
        SELECT 1 FROM gateway.delivery d
        WHERE d.tenant_id = $1 AND d.device_id = t.device AND d.due_day >= $5 AND d.app_id = $4
            AND d.state IN ('sent', 'received', 'read') AND d.sent_at > now() - $6::interval
        LIMIT $7) AS x) AS n
WHERE n.sent >= $7;

-- role gateway_engine
SELECT t.place FROM unnest($2::bigint[], $3::uuid[]) AS t(place, target)
CROSS JOIN LATERAL (
    SELECT i.device_id FROM gateway.identity i WHERE i.tenant_id = $1 AND i.identity_id = t.target OFFSET 0) AS i
CROSS JOIN LATERAL (
    SELECT s.identity_id FROM gateway.identity s
    WHERE s.tenant_id = $1 AND s.device_id = i.device_id OFFSET 0) AS s
CROSS JOIN LATERAL (
    SELECT d.sent_at FROM gateway.delivery d
    WHERE d.tenant_id = $1 AND d.due_day = $5 AND d.message_id = $4 AND d.target_id = s.identity_id
        AND d.state IN ('sent', 'received', 'read') OFFSET 0) AS d
WHERE s.identity_id <> t.target OR d.sent_at IS NOT NULL;

-- role gateway_engine
SELECT t.place FROM unnest($2::bigint[], $3::uuid[]) AS t(place, target)
JOIN gateway.identity i ON i.tenant_id = $1 AND i.identity_id = t.target
CROSS JOIN LATERAL (SELECT coalesce($4::text, i.vendor) AS vendor OFFSET 0) AS w
JOIN gateway.user_profile p
    ON p.tenant_id = $1 AND p.app_id = i.app_id AND p.vendor = w.vendor AND p.user_id = i.user_id
WHERE p.opted_in;

-- role gateway_engine
SELECT t.place, a.token, a.registered_at FROM unnest($2::bigint[], $3::uuid[]) AS t(place, device)
JOIN gateway.activity_token a
    ON a.tenant_id = $1 AND a.device_id = t.device AND a.kind = $4 AND a.name = $5;

-- role gateway_engine
SELECT t.place, bool_or(c.state IS NOT DISTINCT FROM 'answered') AS is_answered
FROM unnest($3::bigint[], $4::text[], $5::text[], $6::text[]) AS t(place, upstream, user_id, platform)
JOIN gateway.upstream_user x ON x.tenant_id = $1 AND x.message_id = $2 AND x.upstream = t.upstream
    AND x.user_key = sha256(convert_to($2::uuid::text || '/' || t.platform || '/' || t.user_id, 'UTF8'))
LEFT JOIN gateway.upstream_call c ON c.tenant_id = $1 AND c.message_id = $2 AND c.slice_no = x.slice_no AND c.epoch = x.epoch AND c.no = x.no
GROUP BY t.place;

-- role gateway_engine
SELECT t.place, i.identity_id, i.app_id, i.vendor, i.key, i.first_key, i.user_id, i.name, i.phone, i.assurance, i.client_number,
    i.accepts_push AND i.denies_push IS NOT TRUE AS accepts_push,
    CASE WHEN i.ends_at <= now() THEN 'unregistered' ELSE i.state END AS state,
    d.device_id, coalesce(d.platform, 'ios') AS platform, coalesce(d.environment, 'production') AS environment,
    d.token, coalesce(d.token_state, 'none') AS token_state, d.token_registered_at,
    d.time_zone, d.window_from, d.window_to
FROM unnest($2::bigint[], $3::uuid[]) AS t(place, target)
JOIN gateway.identity i ON i.tenant_id = $1 AND i.identity_id = t.target
LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id;

-- role gateway_engine
SELECT t.place, i.identity_id, i.app_id, i.vendor, i.key, i.user_id, i.name, i.phone,
    i.accepts_push AND i.denies_push IS NOT TRUE AS accepts_push,
    CASE WHEN i.ends_at <= now() THEN 'unregistered' ELSE i.state END AS state,
    d.device_id, coalesce(d.platform, 'ios') AS platform, coalesce(d.environment, 'production') AS environment,
    d.token, coalesce(d.token_state, 'none') AS token_state, d.token_registered_at,
    d.time_zone, d.window_from, d.window_to
FROM unnest($2::bigint[], $3::uuid[]) AS t(place, target)
JOIN gateway.identity i ON i.tenant_id = $1 AND i.identity_id = t.target
LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id;

-- role gateway_engine
SELECT t.place, i.identity_id, i.app_id, i.vendor, i.key, i.user_id, i.name, i.phone, i.assurance,
    i.accepts_push AND i.denies_push IS NOT TRUE AS accepts_push,
    CASE WHEN i.ends_at <= now() THEN 'unregistered' ELSE i.state END AS state,
    d.device_id, coalesce(d.platform, 'ios') AS platform, coalesce(d.environment, 'production') AS environment,
    d.token, coalesce(d.token_state, 'none') AS token_state, d.token_registered_at,
    d.time_zone, d.window_from, d.window_to
FROM unnest($2::bigint[], $3::uuid[]) AS t(place, target)
JOIN gateway.identity i ON i.tenant_id = $1 AND i.identity_id = t.target
LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id;

-- role gateway_engine
SELECT t.place, i.identity_id, i.app_id, i.vendor, i.key, i.user_id, i.name, i.phone, i.assurance, i.client_number,
    i.accepts_push AND i.denies_push IS NOT TRUE AS accepts_push,
    CASE WHEN i.ends_at <= now() THEN 'unregistered' ELSE i.state END AS state,
    d.device_id, coalesce(d.platform, 'ios') AS platform, coalesce(d.environment, 'production') AS environment,
    d.token, coalesce(d.token_state, 'none') AS token_state, d.token_registered_at,
    d.time_zone, d.window_from, d.window_to
FROM unnest($2::bigint[], $3::uuid[]) AS t(place, target)
JOIN gateway.identity i ON i.tenant_id = $1 AND i.identity_id = t.target
LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id;

-- role gateway_engine
SELECT t.place, v.name AS variant, i.attributes::text AS attributes, i.identity_id, i.app_id, i.vendor, i.key, i.first_key, i.user_id, i.name, i.phone, i.assurance, i.client_number,
    i.accepts_push AND i.denies_push IS NOT TRUE AS accepts_push,
    CASE WHEN i.ends_at <= now() THEN 'unregistered' ELSE i.state END AS state,
    d.device_id, coalesce(d.platform, 'ios') AS platform, coalesce(d.environment, 'production') AS environment,
    d.token, coalesce(d.token_state, 'none') AS token_state, d.token_registered_at,
    d.time_zone, d.window_from, d.window_to
FROM unnest($2::bigint[], $3::uuid[]) AS t(place, target)
JOIN gateway.variant v ON v.tenant_id = $1 AND v.target_id = t.target
JOIN gateway.identity i ON i.tenant_id = $1 AND i.identity_id = v.identity_id
LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id;

-- role gateway_engine
SELECT t.place, v.name AS variant, i.attributes::text AS attributes, i.identity_id, i.app_id, i.vendor, i.key, i.user_id, i.name, i.phone,
    i.accepts_push AND i.denies_push IS NOT TRUE AS accepts_push,
    CASE WHEN i.ends_at <= now() THEN 'unregistered' ELSE i.state END AS state,
    d.device_id, coalesce(d.platform, 'ios') AS platform, coalesce(d.environment, 'production') AS environment,
    d.token, coalesce(d.token_state, 'none') AS token_state, d.token_registered_at,
    d.time_zone, d.window_from, d.window_to
FROM unnest($2::bigint[], $3::uuid[]) AS t(place, target)
JOIN gateway.variant v ON v.tenant_id = $1 AND v.target_id = t.target
JOIN gateway.identity i ON i.tenant_id = $1 AND i.identity_id = v.identity_id
LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id;

-- role gateway_engine
SELECT t.place, v.name AS variant, i.attributes::text AS attributes, i.identity_id, i.app_id, i.vendor, i.key, i.user_id, i.name, i.phone, i.assurance,
    i.accepts_push AND i.denies_push IS NOT TRUE AS accepts_push,
    CASE WHEN i.ends_at <= now() THEN 'unregistered' ELSE i.state END AS state,
    d.device_id, coalesce(d.platform, 'ios') AS platform, coalesce(d.environment, 'production') AS environment,
    d.token, coalesce(d.token_state, 'none') AS token_state, d.token_registered_at,
    d.time_zone, d.window_from, d.window_to
FROM unnest($2::bigint[], $3::uuid[]) AS t(place, target)
JOIN gateway.variant v ON v.tenant_id = $1 AND v.target_id = t.target
JOIN gateway.identity i ON i.tenant_id = $1 AND i.identity_id = v.identity_id
LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id;

-- role gateway_engine
SELECT t.place, v.name AS variant, i.attributes::text AS attributes, i.identity_id, i.app_id, i.vendor, i.key, i.user_id, i.name, i.phone, i.assurance, i.client_number,
    i.accepts_push AND i.denies_push IS NOT TRUE AS accepts_push,
    CASE WHEN i.ends_at <= now() THEN 'unregistered' ELSE i.state END AS state,
    d.device_id, coalesce(d.platform, 'ios') AS platform, coalesce(d.environment, 'production') AS environment,
    d.token, coalesce(d.token_state, 'none') AS token_state, d.token_registered_at,
    d.time_zone, d.window_from, d.window_to
FROM unnest($2::bigint[], $3::uuid[]) AS t(place, target)
JOIN gateway.variant v ON v.tenant_id = $1 AND v.target_id = t.target
JOIN gateway.identity i ON i.tenant_id = $1 AND i.identity_id = v.identity_id
LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id;

-- role gateway_engine
SELECT t.place, v.variables, p.attributes FROM unnest($3::bigint[], $4::uuid[]) AS t(place, target)
JOIN gateway.identity i ON i.tenant_id = $1 AND i.identity_id = t.target
CROSS JOIN LATERAL (SELECT coalesce($5::text, i.vendor) AS vendor OFFSET 0) AS w
LEFT JOIN gateway.message_variable v ON v.tenant_id = $1 AND v.message_id = $2 AND v.user_id = i.user_id
LEFT JOIN gateway.user_profile p
    ON p.tenant_id = $1 AND p.app_id = i.app_id AND p.vendor = w.vendor AND p.user_id = i.user_id
WHERE v.user_id IS NOT NULL OR p.user_id IS NOT NULL;

-- role gateway_engine
SELECT t.place, x.tag FROM unnest($2::bigint[], $3::uuid[]) AS t(place, identity)
JOIN gateway.identity_tag x ON x.tenant_id = $1 AND x.identity_id = t.identity AND x.tag = ANY ($4);

-- role gateway_call
SELECT t.reference, c.message_id, m.app_id FROM unnest($3::text[]) AS t(reference)
CROSS JOIN LATERAL (
    SELECT u.message_id FROM gateway.upstream_call u
    WHERE u.tenant_id = $1 AND u.upstream = $2 AND u.reference = t.reference LIMIT 1) AS c
JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = c.message_id;

-- role gateway_engine
SELECT t.retention::text AS retention, coalesce(f.rolled, 0) AS rolled, coalesce(f.kept_from, 0) AS kept_from,
    clock_timestamp() AS now
FROM gateway.tenant t
LEFT JOIN gateway.counter_fold f ON f.tenant_id = t.tenant_id
WHERE t.tenant_id = $1;

-- role gateway_engine
SELECT t.tenant_id FROM (SELECT DISTINCT a.tenant_id FROM gateway.app a) t
LEFT JOIN gateway.counter_fold f ON f.tenant_id = t.tenant_id
CROSS JOIN LATERAL (
    SELECT 1 FROM gateway.counter c WHERE c.tenant_id = t.tenant_id AND c.quarter >= greatest(f.rolled, 0) AND c.quarter < $1 LIMIT 1) x;

-- role gateway_engine
SELECT t.tenant_id FROM (SELECT DISTINCT a.tenant_id FROM gateway.app a) t
LEFT JOIN gateway.counter_fold f ON f.tenant_id = t.tenant_id
CROSS JOIN LATERAL (
    SELECT 1 FROM gateway.counter_delta d WHERE d.tenant_id = t.tenant_id AND d.minute >= greatest(f.minute, 0) LIMIT 1) x;

-- role gateway_engine
SELECT t.tenant_id FROM (SELECT DISTINCT a.tenant_id FROM gateway.app a) t
LEFT JOIN gateway.counter_fold f ON f.tenant_id = t.tenant_id
CROSS JOIN LATERAL (
    SELECT 1 FROM gateway.latency l
    WHERE l.tenant_id = t.tenant_id AND l.quarter >= greatest(f.latencies_rolled, 0) AND l.quarter < $1 LIMIT 1) x;

-- role gateway_engine
SELECT t.tenant_id, r.tenant_id IS NULL AS is_new FROM (SELECT DISTINCT a.tenant_id FROM gateway.app a) t
LEFT JOIN gateway.event_reader r ON r.tenant_id = t.tenant_id
CROSS JOIN LATERAL (SELECT p.last FROM gateway.event_position p WHERE p.tenant_id = t.tenant_id ORDER BY p.last DESC LIMIT 1) h
WHERE h.last > coalesce(r.cursor, 0) AND (r.next_at IS NULL OR r.next_at <= now())
ORDER BY r.next_at NULLS FIRST, t.tenant_id LIMIT $1;

-- role gateway_engine
SELECT t.tenant_id, t.retention::text AS retention, coalesce(f.rolled, 0) AS rolled, coalesce(f.kept_from, 0) AS kept_from
FROM gateway.tenant t
LEFT JOIN gateway.counter_fold f ON f.tenant_id = t.tenant_id
WHERE $1::text IS NULL OR t.tenant_id = $1 ORDER BY t.tenant_id;

-- role gateway_call
SELECT t.user_id, t.kind, t.name, t.count, t.first_at, t.last_at FROM unnest($4::text[]) AS q(user_id)
CROSS JOIN LATERAL (
    SELECT t.* FROM gateway.user_tally t
    WHERE t.tenant_id = $1 AND t.app_id = $2 AND t.vendor = $3 AND t.user_id = q.user_id
    ORDER BY t.last_at DESC, t.kind, t.name LIMIT $5) AS t
ORDER BY t.user_id, t.kind, t.name;

-- role gateway_call
SELECT tag_device AS count FROM gateway.tag_device($1, $2, $3);

-- role gateway_engine
SELECT tenant FROM gateway.account_role WHERE account_id = $1 AND tenant <> '' ORDER BY tenant;

-- role gateway_call
SELECT tenant_id FROM gateway.resolve_challenge($1);

-- role gateway_engine
SELECT tenant_id FROM gateway.tenant ORDER BY tenant_id;

-- role gateway_engine
SELECT tenant_id, credential_id, refusal, refused_at FROM gateway.credential WHERE refusal IS NOT NULL
ORDER BY refused_at;

-- role gateway_engine
SELECT tenant_id, migration_id, app_id, upstream, plan::text AS plan, state::text AS state, revision, is_active, created_at FROM gateway.migration
WHERE tenant_id = $1 AND ($2::text IS NULL OR app_id = $2) AND migration_id > $3 ORDER BY migration_id LIMIT $4;

-- role gateway_engine
SELECT tenant_id, migration_id, app_id, upstream, plan::text AS plan, state::text AS state, revision, is_active, created_at FROM gateway.migration WHERE tenant_id = $1 AND migration_id = $2;

-- role gateway_engine
SELECT tenant_id, platforms::text AS platforms FROM gateway.app WHERE retired_at IS NULL ORDER BY tenant_id, app_id;

-- role gateway_engine
SELECT tenant_id, platforms::text AS platforms FROM gateway.app WHERE tenant_id = $1 AND retired_at IS NULL ORDER BY app_id;

-- role gateway_engine
SELECT tenant_id, retention::text AS retention FROM gateway.tenant ORDER BY tenant_id;

-- role gateway_engine
SELECT u.id FROM unnest($2::text[], $3::bigint[]) AS u(id, version) WHERE NOT EXISTS (
    SELECT FROM gateway.credential c WHERE c.tenant_id = $1 AND c.credential_id = u.id AND c.version = u.version);

-- role gateway_engine
SELECT u.is_full, CASE WHEN n.counted < 1000 THEN n.counted ELSE greatest(u.waiting, n.counted) END AS waiting, coalesce((
    SELECT greatest(0, extract(epoch FROM now() - o.called_at)) FROM gateway.outbox o
    WHERE o.tenant_id = $1 AND o.upstream = $2 ORDER BY o.called_at LIMIT 1), 0)::double precision AS oldest
FROM gateway.outbox_upstream u CROSS JOIN (
    SELECT count(*) AS counted FROM (
        SELECT FROM gateway.outbox o WHERE o.tenant_id = $1 AND o.upstream = $2 LIMIT 1000) x) n
WHERE u.tenant_id = $1 AND u.upstream = $2;

-- role gateway_call
SELECT u.key, m.message_id, m.content, m.collapse_id, m.due_at, m.expires_at, v.variables,
    (SELECT r.ref FROM gateway.message_ref r
        WHERE r.tenant_id = $1 AND r.message_id = m.message_id AND r.app_id = m.app_id AND r.vendor = $4
        ORDER BY r.ref LIMIT 1) AS number
FROM unnest($2::uuid[], $3::text[]) WITH ORDINALITY AS u(id, key, place)
CROSS JOIN LATERAL (
    SELECT x.message_id FROM gateway.inbox_open x
    WHERE x.tenant_id = $1 AND x.identity_id = u.id ORDER BY x.message_id DESC LIMIT 100) AS o
JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = o.message_id
JOIN gateway.identity i ON i.tenant_id = $1 AND i.identity_id = u.id
LEFT JOIN gateway.message_variable v
    ON v.tenant_id = $1 AND v.message_id = m.message_id AND v.user_id = i.user_id
ORDER BY u.place, o.message_id;

-- role gateway_engine
SELECT u.place FROM unnest($2::text[], $3::bytea[]) WITH ORDINALITY AS u(name, hash, place)
JOIN gateway.api_key k ON k.hash = u.hash WHERE NOT (k.tenant_id = $1 AND k.name = u.name) ORDER BY u.place;

-- role gateway_call
SELECT u.place, i.identity_id,
    coalesce(u.token IS NOT NULL AND (u.token IS DISTINCT FROM d.token OR d.token_state <> 'active'), true) AS token_differs,
    u.user_id IS NOT NULL AND u.user_id IS DISTINCT FROM i.user_id AS user_differs,
    u.accepts IS NOT NULL AND u.accepts IS DISTINCT FROM i.accepts_push AS push_differs,
    coalesce(u.registered > i.registered_at, false) AS is_newer
FROM unnest($4::text[], $5::text[], $6::text[], $7::boolean[], $8::timestamptz[], $9::text[]) WITH ORDINALITY
    AS u(key, token, user_id, accepts, registered, platform, place)
LEFT JOIN LATERAL (
    SELECT x.key FROM gateway.device y
    JOIN gateway.identity x ON x.tenant_id = $1 AND x.device_id = y.device_id AND x.app_id = $2 AND x.vendor = $3
        AND x.state = 'active'
    WHERE u.key LIKE 'token-%' AND y.tenant_id = $1 AND y.app_id = $2 AND y.platform = u.platform
        AND y.token_digest = md5(u.token) AND y.token = u.token
    ORDER BY y.token_registered_at DESC, x.identity_id LIMIT 1) AS h ON true
CROSS JOIN LATERAL (SELECT coalesce(h.key, u.key) AS key OFFSET 0) AS k
JOIN gateway.identity i ON i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.key = k.key AND i.state = 'active'
LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id;

-- role gateway_engine
SELECT u.tenant_id, u.upstream FROM gateway.outbox_upstream u;

-- role gateway_engine
SELECT u.tenant_id, u.upstream FROM gateway.outbox_upstream u
WHERE EXISTS (
        SELECT FROM gateway.outbox_queue q
        WHERE q.tenant_id = u.tenant_id AND q.upstream = u.upstream AND q.is_urgent = true AND q.next_at <= now())
    OR EXISTS (
        SELECT FROM gateway.outbox_queue o
        WHERE o.tenant_id = u.tenant_id AND o.upstream = u.upstream AND o.is_urgent = false AND o.next_at <= now());

-- role gateway_call
SELECT u.user_id, (SELECT count(*) FROM gateway.identity i WHERE i.tenant_id = $1 AND i.app_id = $2
    AND i.user_id = u.user_id AND i.vendor = $3 AND i.state = 'active' AND i.device_id IS NOT NULL) AS devices
FROM (
    (SELECT DISTINCT i.user_id FROM gateway.identity i WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3
        AND i.user_id IS NOT NULL AND i.user_id > $4 ORDER BY i.user_id LIMIT $5)
    UNION
    (SELECT p.user_id FROM gateway.user_profile p WHERE p.tenant_id = $1 AND p.app_id = $2 AND p.vendor = $3
        AND p.user_id > $4 ORDER BY p.user_id LIMIT $5)) AS u
ORDER BY u.user_id LIMIT $5;

-- role gateway_call
SELECT unregister_identities AS count FROM gateway.unregister_identities($1, $2, $3, $4, $5);

-- role gateway_call
SELECT update_token AS count FROM gateway.update_token($1, $2, $3, $4, $5, $6, $7);

-- role gateway_engine
SELECT upstream FROM gateway.called_upstreams($1, $2);

-- role gateway_engine
SELECT vendor, app_id, settings FROM gateway.binding WHERE tenant_id = $1 AND app_id = $2;

-- role gateway_engine
SELECT vendor, app_id, settings FROM gateway.binding WHERE tenant_id = $1 AND app_id = $2 AND vendor = $3 LIMIT 1;

-- role gateway_engine
SELECT vendor, kind, value, host, app_id, settings::text AS settings FROM gateway.binding WHERE tenant_id = $1;

-- role gateway_engine
SELECT vendor, kind, value, host, app_id, settings::text AS settings, origin FROM gateway.binding WHERE tenant_id = $1;

-- role gateway_call
SELECT vouch_identity AS count FROM gateway.vouch_identity($1, $2, $3, $4);

-- role gateway_engine
SELECT w.tenant_id, w.webhook_id FROM gateway.webhook w
WHERE w.is_active AND w.next_at <= now() AND (SELECT p.last FROM gateway.event_position p WHERE p.tenant_id = w.tenant_id ORDER BY p.last DESC LIMIT 1) > w.cursor
ORDER BY w.next_at LIMIT $1;

-- role gateway_engine
SELECT waiting, oldest, is_full FROM gateway.survey_outbox($1, $2, $3, $4::interval);

-- role gateway_call
SELECT webhook_id, url, app_id, kinds, key_id, is_active, delivery_order, created_at, cursor, attempts, failure FROM gateway.webhook WHERE tenant_id = $1 AND webhook_id = $2;

-- role gateway_call
SELECT webhook_id, url, app_id, kinds, key_id, is_active, delivery_order, created_at, cursor, attempts, failure FROM gateway.webhook WHERE tenant_id = $1 ORDER BY created_at, webhook_id;

-- role gateway_engine
SELECT week, rows FROM gateway.default_partition_weeks();

-- role gateway_call
SELECT withdraw_schedule AS count FROM gateway.withdraw_schedule($1, $2, $3, $4, $5);

-- role gateway_call
SELECT write_audit AS position FROM gateway.write_audit($1, $2, $3, $4, $5);

-- role gateway_call
SELECT x.at, x.data FROM (
    SELECT a.at, a.data, a.action, a.position FROM gateway.audit a
    WHERE a.tenant_id = $1 AND a.subject = $2 ORDER BY a.position DESC LIMIT 1000) x
WHERE x.action = 'compare' AND x.at > now() - $3::interval ORDER BY x.position DESC LIMIT 1;

-- role gateway_call
SELECT x.target_id FROM gateway.delivery x
WHERE x.tenant_id = $1 AND x.due_day = (SELECT y.due_day FROM gateway.message y WHERE y.tenant_id = $1 AND y.message_id = $2)
    AND x.message_id = $2 AND x.target_id > $3
ORDER BY x.target_id OFFSET $4::bigint - 1 LIMIT 1;

-- role gateway_engine
SELECT y.tenant_id, y.app_id, y.vendor, y.sender_id, y.url FROM (
SELECT x.*, row_number() OVER (PARTITION BY x.tenant_id ORDER BY x.place, x.next_at) AS turn FROM (
SELECT s.tenant_id, s.app_id, s.vendor, s.sender_id, s.callback_url AS url, s.next_at,
    row_number() OVER (
    PARTITION BY s.tenant_id, lower(substring(s.callback_url from '://([^/?#]*)'))
    ORDER BY s.next_at) AS place
FROM gateway.sender s
WHERE s.callback_url IS NOT NULL AND s.next_at <= now() AND (
    EXISTS (
        SELECT FROM gateway.event_batch b
        WHERE b.tenant_id = s.tenant_id AND b.app_id = s.app_id AND b.vendor = s.vendor
            AND b.sender_id = s.sender_id AND b.last > s.cursor)
    OR EXISTS (
        SELECT FROM gateway.event_single o
        WHERE o.tenant_id = s.tenant_id AND o.app_id = s.app_id AND o.vendor = s.vendor
            AND o.sender_id = s.sender_id AND o.position > s.cursor))) x
WHERE x.place <= $2) y
WHERE y.turn <= $2 ORDER BY y.turn, y.next_at LIMIT $1;

-- role gateway_engine
SELECT y.tenant_id, y.webhook_id, y.url FROM (
    SELECT x.*, row_number() OVER (PARTITION BY x.tenant_id ORDER BY x.place, x.next_at) AS turn FROM (
        SELECT w.tenant_id, w.webhook_id, w.url, w.next_at, row_number() OVER (
    PARTITION BY w.tenant_id, lower(substring(w.url from '://([^/?#]*)'))
    ORDER BY w.next_at) AS place
        FROM gateway.webhook w
        WHERE w.is_active AND w.next_at <= now() AND (SELECT p.last FROM gateway.event_position p WHERE p.tenant_id = w.tenant_id ORDER BY p.last DESC LIMIT 1) > w.cursor) x
    WHERE x.place <= $2) y
WHERE y.turn <= $2 ORDER BY y.turn, y.next_at LIMIT $1;

-- role gateway_engine
UPDATE gateway.account SET code_salt = $2::bytea, code_step = $3 WHERE account_id = $1;

-- role gateway_engine
UPDATE gateway.account SET code_step = $2 WHERE account_id = $1 AND code_step < $2 AND code_salt IS NOT NULL;

-- role gateway_engine
UPDATE gateway.account SET disabled_at = NULL WHERE name = $1 AND disabled_at IS NOT NULL RETURNING account_id;

-- role gateway_engine
UPDATE gateway.account SET disabled_at = now() WHERE name = $1 AND disabled_at IS NULL RETURNING account_id;

-- role gateway_engine
UPDATE gateway.account_attempt SET failures = greatest(failures - 1, 0), blocked_until = now() WHERE subject = $1;

-- role gateway_engine
UPDATE gateway.api_key SET previous_hash = hash, previous_until = now() + make_interval(secs => $4::double precision),
    previous_at = coalesce(secret_at, created_at), hash = $3::bytea, secret_at = now()
WHERE tenant_id = $1 AND (name = $2 OR key_id::text = $2) AND NOT is_provisioned RETURNING key_id, name;

-- role gateway_engine
UPDATE gateway.app SET retired_at = now(), platforms = '{}'
WHERE tenant_id = $1 AND NOT app_id = ANY ($2) AND retired_at IS NULL RETURNING app_id;

-- role gateway_engine
UPDATE gateway.binding SET settings = $7::text::json
WHERE tenant_id = $1 AND vendor = $2 AND kind = $3 AND value = $4 AND host = $5 AND settings::text = $6;

-- role gateway_call
UPDATE gateway.capture c SET ended_at = now(), ended_by = 'stopped'
WHERE c.tenant_id = $1 AND c.capture_id = $2 AND c.ended_at IS NULL AND c.ends_at > now() RETURNING c.capture_id;

-- role gateway_engine
UPDATE gateway.console_session SET proven_at = now() WHERE hash = $1 AND proven_at IS NOT NULL;

-- role gateway_engine
UPDATE gateway.console_session SET seen_at = now() WHERE hash = $1;

-- role gateway_engine
UPDATE gateway.credential SET refusal = $3, refused_at = least(refused_at, now())
WHERE tenant_id = $1 AND credential_id = $2 AND refusal IS DISTINCT FROM $3;

-- role gateway_engine
UPDATE gateway.credential SET refusal = NULL, refused_at = NULL
WHERE tenant_id = $1 AND credential_id = $2 AND refusal IS NOT NULL;

-- role gateway_engine
UPDATE gateway.credential SET sealed = $4 WHERE tenant_id = $1 AND credential_id = $2 AND sealed = $3;

-- role gateway_engine
UPDATE gateway.device d SET environment = $4
WHERE d.tenant_id = $1 AND d.device_id = $2 AND d.token = $3 AND d.token_state = 'active' AND NOT EXISTS (
    SELECT FROM gateway.device o WHERE o.tenant_id = $1 AND o.app_id = d.app_id AND o.platform = d.platform
        AND o.token_digest = d.token_digest AND o.environment = $4);

-- role gateway_call
UPDATE gateway.device d SET seen_at = greatest(d.seen_at, $5) FROM gateway.identity i
WHERE d.tenant_id = $1 AND i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.key = $4
    AND i.state = 'active' AND d.device_id = i.device_id;

-- role gateway_engine
UPDATE gateway.event_reader SET cursor = $4, lost = lost + $5, owner = NULL, next_at = now()
WHERE tenant_id = $1 AND owner = $2 AND epoch = $3 AND cursor < $4
RETURNING cursor;

-- role gateway_engine
UPDATE gateway.event_reader SET owner = $2, epoch = epoch + 1, next_at = now() + $3::interval
WHERE tenant_id = $1 AND next_at <= now() RETURNING cursor, epoch, key;

-- role gateway_engine
UPDATE gateway.event_reader SET owner = NULL, next_at = now() WHERE tenant_id = $1 AND owner = $2 AND epoch = $3;

-- role gateway_engine
UPDATE gateway.event_reader r SET cursor = $4, lost = lost + $5, owner = NULL, next_at = now(),
    since = CASE WHEN $5::bigint = 0 THEN since ELSE coalesce((
        SELECT b.at FROM gateway.event_batch b WHERE b.tenant_id = $1 AND b.last > r.cursor ORDER BY b.last LIMIT 1), since) END
WHERE tenant_id = $1 AND owner = $2 AND epoch = $3 AND cursor < $4
RETURNING cursor;

-- role gateway_engine
UPDATE gateway.master_key SET key_id = $2, check_value = $3, root = $4, wanted = NULL, adopted_at = now() WHERE key_id = $1
RETURNING key_id;

-- role gateway_engine
UPDATE gateway.master_key SET wanted = $1 WHERE wanted IS DISTINCT FROM $1;

-- role gateway_call
UPDATE gateway.message SET pace_count = $3, pace_seconds = $4 WHERE tenant_id = $1 AND message_id = $2;

-- role gateway_engine
UPDATE gateway.migration SET owner = $3, next_at = now() + $4::interval
WHERE tenant_id = $1 AND migration_id = $2 AND is_active AND next_at <= now()
RETURNING tenant_id, migration_id, app_id, upstream, plan::text AS plan, state::text AS state, revision, is_active, created_at, next_at;

-- role gateway_engine
UPDATE gateway.migration SET owner = NULL, next_at = now() + $4::interval
WHERE tenant_id = $1 AND migration_id = $2 AND owner = $3;

-- role gateway_engine
UPDATE gateway.migration SET state = $3::json, revision = $4 + 1, is_active = $5, owner = NULL, next_at = now() + $6::interval
WHERE tenant_id = $1 AND migration_id = $2 AND revision = $4;

-- role gateway_engine
UPDATE gateway.node SET master_keys = $2 WHERE node_id = $1 AND master_keys IS DISTINCT FROM $2::text[];

-- role gateway_engine
UPDATE gateway.outbox_queue SET attempts = attempts + 1, failing_since = least(failing_since, now()), failure = $7,
    owner = NULL, next_at = now() + $8::interval
WHERE tenant_id = $1 AND ordering_key = $2 AND app_id = $3 AND upstream = $4 AND owner = $5 AND epoch = $6;

-- role gateway_engine
UPDATE gateway.outbox_queue SET failure = $7, owner = NULL, next_at = now() + $8::interval
WHERE tenant_id = $1 AND ordering_key = $2 AND app_id = $3 AND upstream = $4 AND owner = $5 AND epoch = $6;

-- role gateway_engine
UPDATE gateway.outbox_queue SET owner = NULL, next_at = now()
WHERE tenant_id = $1 AND ordering_key = $2 AND app_id = $3 AND upstream = $4 AND owner = $5 AND epoch = $6;

-- role gateway_engine
UPDATE gateway.provider_token SET sealed = $5
WHERE team_id = $1 AND key_id = $2 AND fingerprint = decode($3, 'hex') AND sealed = $4;

-- role gateway_engine
UPDATE gateway.sender SET cursor = greatest(cursor, $7), attempts = 0, failing_since = NULL, failure = NULL,
    owner = NULL, next_at = now()
WHERE tenant_id = $1 AND app_id = $2 AND vendor = $3 AND sender_id = $4 AND owner = $5 AND epoch = $6;

-- role gateway_engine
UPDATE gateway.sender SET cursor = greatest(cursor, $9),
    attempts = CASE WHEN $9 > cursor THEN 1 ELSE attempts + 1 END,
    failing_since = least(CASE WHEN $9 > cursor THEN NULL ELSE failing_since END, now()),
    failure = $7, owner = NULL, next_at = now() + $8::interval
WHERE tenant_id = $1 AND app_id = $2 AND vendor = $3 AND sender_id = $4 AND owner = $5 AND epoch = $6;

-- role gateway_call
UPDATE gateway.sender SET enrolment_key = coalesce(enrolment_key, $5), enrolment_name = coalesce($6, enrolment_name),
    address = coalesce($7, address)
WHERE tenant_id = $1 AND app_id = $2 AND vendor = $3 AND sender_id = $4
RETURNING sender_id, enrolment_key, callback_url;

-- role gateway_engine
UPDATE gateway.sender SET owner = $5, epoch = epoch + 1, next_at = now() + $6::interval
WHERE tenant_id = $1 AND app_id = $2 AND vendor = $3 AND sender_id = $4
    AND callback_url IS NOT NULL AND next_at <= now()
RETURNING callback_url, cursor, epoch, attempts;

-- role gateway_engine
UPDATE gateway.slice SET due_at = now() + $5::interval
WHERE tenant_id = $1 AND message_id = $2 AND no = $3 AND epoch = $4 AND state = 'leased';

-- role gateway_engine
UPDATE gateway.slice s SET next_at = now() + $6::interval
FROM (SELECT x.message_id, x.no FROM unnest($2::uuid[], $3::integer[], $4::bigint[]) AS u(message_id, no, epoch)
    JOIN gateway.slice x ON x.tenant_id = $1 AND x.message_id = u.message_id AND x.no = u.no
    WHERE x.epoch = u.epoch AND x.owner = $5 AND x.state = 'leased'
    ORDER BY x.message_id, x.no FOR NO KEY UPDATE OF x) AS k
WHERE s.tenant_id = $1 AND s.message_id = k.message_id AND s.no = k.no
RETURNING s.message_id, s.no;

-- role gateway_engine
UPDATE gateway.slice s SET state = 'ready', owner = NULL, epoch = s.epoch + 1, next_at = now(), lapses = 0
FROM unnest($2::uuid[], $3::integer[], $4::bigint[]) AS k(message_id, no, epoch)
WHERE s.tenant_id = $1 AND s.message_id = k.message_id AND s.no = k.no AND s.epoch = k.epoch
    AND s.owner = $5 AND s.state = 'leased';

-- role gateway_engine
UPDATE gateway.slice s SET state = 'ready', owner = NULL, epoch = s.epoch + 1, next_at = now(), lapses = 0,
    attempts = CASE WHEN s.lapses > 0 AND s.kind = 'deliver' THEN least(s.attempts + 1, 32767) ELSE s.attempts END,
    route_version = CASE WHEN s.attempts > 0 OR s.lapses > 0 OR bit_count(s.done) > 0 OR s.route_version IS NOT NULL AND (EXISTS (
        SELECT FROM gateway.upstream_call c
        WHERE c.tenant_id = $1 AND c.message_id = s.message_id AND c.slice_no = s.no)
        OR NOT EXISTS (
            SELECT FROM gateway.message m
            JOIN gateway.route_set r ON r.tenant_id = $1 AND r.app_id = m.app_id
                AND date_trunc('milliseconds', r.made_at) <= m.accepted_at
            WHERE m.tenant_id = $1 AND m.message_id = s.message_id)) THEN s.route_version END
FROM (SELECT x.message_id, x.no FROM unnest($2::uuid[], $3::integer[], $4::bigint[]) AS u(message_id, no, epoch)
    JOIN gateway.slice x ON x.tenant_id = $1 AND x.message_id = u.message_id AND x.no = u.no
    WHERE x.epoch = u.epoch AND x.owner = $5 AND x.state = 'leased'
    ORDER BY x.message_id, x.no FOR NO KEY UPDATE OF x) AS k
WHERE s.tenant_id = $1 AND s.message_id = k.message_id AND s.no = k.no;

-- role gateway_engine
UPDATE gateway.tenant SET pushes_per_second = $2
WHERE tenant_id = $1 AND pushes_per_second IS DISTINCT FROM $2 RETURNING tenant_id;

-- role gateway_engine
UPDATE gateway.tenant SET retention = $2::text::jsonb
WHERE tenant_id = $1 AND retention <> $2::text::jsonb RETURNING tenant_id;

-- role gateway_call
UPDATE gateway.user_group g SET title = $5
WHERE g.tenant_id = $1 AND g.app_id = $2 AND g.vendor = $3 AND g.group_name = $4 AND g.title IS NULL;

-- role gateway_engine
UPDATE gateway.webhook SET cursor = greatest(cursor, $5), attempts = 0, failing_since = NULL, failure = NULL,
    owner = NULL, next_at = now()
WHERE tenant_id = $1 AND webhook_id = $2 AND owner = $3 AND epoch = $4;

-- role gateway_engine
UPDATE gateway.webhook SET cursor = greatest(cursor, $7),
    attempts = CASE WHEN $7 > cursor THEN 1 ELSE attempts + 1 END,
    failing_since = least(CASE WHEN $7 > cursor THEN NULL ELSE failing_since END, now()),
    failure = $5, owner = NULL, next_at = now() + $6::interval
WHERE tenant_id = $1 AND webhook_id = $2 AND owner = $3 AND epoch = $4;

-- role gateway_engine
UPDATE gateway.webhook SET is_active = false, attempts = attempts + 1, failure = $5, owner = NULL
WHERE tenant_id = $1 AND webhook_id = $2 AND owner = $3 AND epoch = $4;

-- role gateway_engine
UPDATE gateway.webhook SET owner = $3, epoch = epoch + 1, next_at = now() + $4::interval
WHERE tenant_id = $1 AND webhook_id = $2 AND is_active AND next_at <= now()
RETURNING url, app_id, kinds, delivery_order, sealed, key_id, cursor, epoch, attempts;

-- role gateway_engine
UPDATE gateway.webhook SET owner = $3, epoch = epoch + 1, next_at = now() + $4::interval
WHERE tenant_id = $1 AND webhook_id = $2 AND is_active AND next_at <= now()
RETURNING url, app_id, kinds, delivery_order, sealed, key_id, cursor, epoch, attempts,
    previous_sealed, previous_key_id, previous_until;

-- role gateway_engine
UPDATE gateway.webhook SET previous_sealed = $4
WHERE tenant_id = $1 AND webhook_id = $2::text::uuid AND previous_sealed = $3;

-- role gateway_engine
UPDATE gateway.webhook SET previous_sealed = sealed, previous_key_id = key_id,
    previous_until = now() + make_interval(secs => $5::double precision), sealed = $3, key_id = $4
WHERE tenant_id = $1 AND webhook_id = $2;

-- role gateway_engine
UPDATE gateway.webhook SET sealed = $4 WHERE tenant_id = $1 AND webhook_id = $2::text::uuid AND sealed = $3;

-- role gateway_call
UPDATE gateway.webhook SET url = coalesce($3, url), kinds = coalesce($4::text[], kinds),
    is_active = coalesce($5, is_active), attempts = 0, failing_since = NULL, failure = NULL, next_at = now(),
    owner = NULL, epoch = epoch + 1
WHERE tenant_id = $1 AND webhook_id = $2;

-- role gateway_call
UPDATE gateway.webhook w SET url = coalesce($3, w.url), kinds = coalesce($4::text[], w.kinds),
    is_active = coalesce($5, w.is_active), attempts = 0, failing_since = NULL, failure = NULL, next_at = now(),
    owner = NULL, epoch = w.epoch + 1
FROM gateway.webhook o
WHERE w.tenant_id = $1 AND w.webhook_id = $2 AND o.tenant_id = $1 AND o.webhook_id = w.webhook_id
RETURNING o.url, o.kinds, o.is_active;

-- role gateway_call
WITH e AS (
    SELECT u.* FROM (
        (SELECT b.last - b.count + i AS position, b.at, b.kind, b.app_id, b.vendor, b.sender_id, CASE cardinality(b.messages) WHEN 1 THEN b.messages[1] ELSE b.messages[i] END AS message_id, CASE cardinality(b.targets) WHEN 1 THEN b.targets[1] ELSE b.targets[i] END AS target_id, CASE cardinality(b.due_days) WHEN 1 THEN b.due_days[1] ELSE b.due_days[i] END AS due_day, CASE cardinality(b.identities) WHEN 1 THEN b.identities[1] ELSE b.identities[i] END AS identity_id, CASE cardinality(b.devices) WHEN 1 THEN b.devices[1] ELSE b.devices[i] END AS device_id, CASE cardinality(b.data) WHEN 1 THEN b.data[1] ELSE b.data[i] END AS data, CASE cardinality(b.reasons) WHEN 1 THEN b.reasons[1] ELSE b.reasons[i] END AS reason
        FROM (
            SELECT * FROM gateway.event_batch b
            WHERE b.tenant_id = $1 AND b.last > $2::bigint AND b.last < $2::bigint + $3::bigint + 500
                AND ($4::text IS NULL OR b.app_id = $4) AND (cardinality($5::text[]) = 0 OR b.kind = ANY ($5::text[]))
                AND ($7::text IS NULL OR b.vendor = $7)
            ORDER BY b.last LIMIT $6) b
        CROSS JOIN LATERAL generate_series(
            greatest($2::bigint - b.last + b.count, 0)::integer + 1,
            least($2::bigint + $3::bigint - b.last + b.count, b.count)::integer) AS i
        ORDER BY b.last, i LIMIT $6)
        UNION ALL
        (SELECT s.position, s.at, s.kind, s.app_id, s.vendor, s.sender_id, s.message_id, s.target_id, s.due_day, s.identity_id, s.device_id, s.data, NULL::text AS reason FROM gateway.event_single s
        WHERE s.tenant_id = $1 AND s.position > $2::bigint AND s.position <= $2::bigint + $3::bigint
            AND ($4::text IS NULL OR s.app_id = $4) AND (cardinality($5::text[]) = 0 OR s.kind = ANY ($5::text[]))
            AND ($7::text IS NULL OR s.vendor = $7)
        ORDER BY s.position LIMIT $6)) u
    ORDER BY u.position LIMIT $6)
SELECT e.position, e.at, e.kind, e.app_id, e.vendor, e.sender_id, e.message_id, e.target_id, e.data,
    w.identity_id, coalesce(e.device_id, d.device_id) AS device_id,
    coalesce(d.address, 'key:' || i.key) AS address, d.user_id,
    CASE WHEN e.kind IN ('failed', 'suppressed', 'expired', 'canceled') THEN coalesce(e.reason, d.reason) END AS reason
FROM e
LEFT JOIN LATERAL (
    SELECT d.identity_id, d.device_id, d.address, d.user_id, d.reason FROM gateway.delivery d
    WHERE d.tenant_id = $1 AND d.due_day = e.due_day AND d.message_id = e.message_id AND d.target_id = e.target_id
    LIMIT 1) d ON true
CROSS JOIN LATERAL (SELECT coalesce(e.identity_id, d.identity_id) AS identity_id OFFSET 0) w
LEFT JOIN LATERAL (
    SELECT i.key FROM gateway.identity i WHERE i.tenant_id = $1 AND i.identity_id = w.identity_id LIMIT 1) i ON true
ORDER BY e.position;

-- role gateway_engine
WITH e AS (
    SELECT u.* FROM (
        (SELECT b.last - b.count + i AS position, b.at, b.kind, b.app_id, b.vendor, b.sender_id, CASE cardinality(b.messages) WHEN 1 THEN b.messages[1] ELSE b.messages[i] END AS message_id, CASE cardinality(b.targets) WHEN 1 THEN b.targets[1] ELSE b.targets[i] END AS target_id, CASE cardinality(b.due_days) WHEN 1 THEN b.due_days[1] ELSE b.due_days[i] END AS due_day, CASE cardinality(b.identities) WHEN 1 THEN b.identities[1] ELSE b.identities[i] END AS identity_id, CASE cardinality(b.devices) WHEN 1 THEN b.devices[1] ELSE b.devices[i] END AS device_id, CASE cardinality(b.data) WHEN 1 THEN b.data[1] ELSE b.data[i] END AS data, CASE cardinality(b.reasons) WHEN 1 THEN b.reasons[1] ELSE b.reasons[i] END AS reason
        FROM (
            SELECT * FROM gateway.event_batch b
            WHERE b.tenant_id = $1 AND b.last > $2::bigint AND b.last < $2::bigint + $3::bigint + 500
                AND ($4::text IS NULL OR b.app_id = $4) AND (cardinality($5::text[]) = 0 OR b.kind = ANY ($5::text[]))
                AND ($7::text IS NULL OR b.vendor = $7)
            ORDER BY b.last LIMIT $6) b
        CROSS JOIN LATERAL generate_series(
            greatest($2::bigint - b.last + b.count, 0)::integer + 1,
            least($2::bigint + $3::bigint - b.last + b.count, b.count)::integer) AS i
        ORDER BY b.last, i LIMIT $6)
        UNION ALL
        (SELECT s.position, s.at, s.kind, s.app_id, s.vendor, s.sender_id, s.message_id, s.target_id, s.due_day, s.identity_id, s.device_id, s.data, NULL::text AS reason FROM gateway.event_single s
        WHERE s.tenant_id = $1 AND s.position > $2::bigint AND s.position <= $2::bigint + $3::bigint
            AND ($4::text IS NULL OR s.app_id = $4) AND (cardinality($5::text[]) = 0 OR s.kind = ANY ($5::text[]))
            AND ($7::text IS NULL OR s.vendor = $7)
        ORDER BY s.position LIMIT $6)) u
    ORDER BY u.position LIMIT $6)
SELECT e.position, e.at, e.kind, e.app_id, e.vendor, e.sender_id, e.message_id, e.target_id, e.data,
    w.identity_id, coalesce(e.device_id, d.device_id) AS device_id,
    coalesce(d.address, 'key:' || i.key) AS address, d.user_id,
    CASE WHEN e.kind IN ('failed', 'suppressed', 'expired', 'canceled') THEN coalesce(e.reason, d.reason) END AS reason
FROM e
LEFT JOIN LATERAL (
    SELECT d.identity_id, d.device_id, d.address, d.user_id, d.reason FROM gateway.delivery d
    WHERE d.tenant_id = $1 AND d.due_day = e.due_day AND d.message_id = e.message_id AND d.target_id = e.target_id
    LIMIT 1) d ON true
CROSS JOIN LATERAL (SELECT coalesce(e.identity_id, d.identity_id) AS identity_id OFFSET 0) w
LEFT JOIN LATERAL (
    SELECT i.key FROM gateway.identity i WHERE i.tenant_id = $1 AND i.identity_id = w.identity_id LIMIT 1) i ON true
ORDER BY e.position;

-- role gateway_engine
WITH e AS (
    SELECT u.position, u.message_id, u.target_id, u.due_day FROM (
        (SELECT b.last - b.count + i AS position, b.at, b.kind, b.app_id, b.vendor, b.sender_id, CASE cardinality(b.messages) WHEN 1 THEN b.messages[1] ELSE b.messages[i] END AS message_id, CASE cardinality(b.targets) WHEN 1 THEN b.targets[1] ELSE b.targets[i] END AS target_id, CASE cardinality(b.due_days) WHEN 1 THEN b.due_days[1] ELSE b.due_days[i] END AS due_day, CASE cardinality(b.identities) WHEN 1 THEN b.identities[1] ELSE b.identities[i] END AS identity_id, CASE cardinality(b.devices) WHEN 1 THEN b.devices[1] ELSE b.devices[i] END AS device_id, CASE cardinality(b.data) WHEN 1 THEN b.data[1] ELSE b.data[i] END AS data, CASE cardinality(b.reasons) WHEN 1 THEN b.reasons[1] ELSE b.reasons[i] END AS reason
        FROM (
            SELECT * FROM gateway.event_batch b
            WHERE b.tenant_id = $1 AND b.app_id = $2 AND b.vendor = $3 AND b.sender_id = $4 AND b.last > $5::bigint
            ORDER BY b.last LIMIT $6) b
        CROSS JOIN LATERAL generate_series(greatest($5::bigint - b.last + b.count, 0)::integer + 1, b.count) AS i
        ORDER BY b.last, i LIMIT $6)
        UNION ALL
        (SELECT s.position, s.at, s.kind, s.app_id, s.vendor, s.sender_id, s.message_id, s.target_id, s.due_day, s.identity_id, s.device_id, s.data, NULL::text AS reason FROM gateway.event_single s
        WHERE s.tenant_id = $1 AND s.app_id = $2 AND s.vendor = $3 AND s.sender_id = $4 AND s.position > $5::bigint
        ORDER BY s.position LIMIT $6)) u
    ORDER BY u.position LIMIT $6)
SELECT e.position, d.message_id, d.target_id, d.identity_id, d.address, d.state, d.reason, d.sent_at, d.received_at, d.read_at, m.state = 'scheduled' AS is_reserved, m.fallback,
    coalesce(d.address, 'phone:' || i.phone, 'key:' || i.key) AS name FROM e
LEFT JOIN gateway.delivery d ON d.tenant_id = $1 AND d.due_day = e.due_day AND d.message_id = e.message_id
    AND d.target_id = e.target_id
LEFT JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = e.message_id
LEFT JOIN gateway.identity i ON i.tenant_id = $1 AND i.identity_id = d.identity_id
ORDER BY e.position;

-- role gateway_call
WITH f AS (SELECT greatest(max(x.minute), 0) AS minute FROM gateway.counter_fold x WHERE x.tenant_id = $1)
SELECT c.app_id, c.vendor, c.quarter / 96 AS day, sum(c.targets)::bigint AS recipients,
    sum(c.accepted + c.uncertain)::bigint AS sent, sum(c.received)::bigint AS received, sum(c.read)::bigint AS read,
    sum(c.rejected + c.unsendable)::bigint AS failed, sum(c.suppressed)::bigint AS suppressed,
    sum(c.expired)::bigint AS expired, sum(c.canceled)::bigint AS canceled
FROM (
    SELECT x.app_id, x.vendor, x.quarter, x.targets, x.accepted, x.uncertain, x.received, x.read, x.rejected,
        x.unsendable, x.suppressed, x.expired, x.canceled
    FROM gateway.counter x
    WHERE x.tenant_id = $1 AND ($2::text IS NULL OR x.app_id = $2) AND x.quarter >= $3 AND x.quarter < $4
    UNION ALL
    SELECT d.app_id, d.vendor, d.quarter, d.targets, d.accepted, d.uncertain, d.received, d.read, d.rejected,
        d.unsendable, d.suppressed, d.expired, d.canceled
    FROM f JOIN gateway.counter_delta d ON d.tenant_id = $1 AND d.minute >= f.minute
    WHERE ($2::text IS NULL OR d.app_id = $2) AND d.quarter >= $3 AND d.quarter < $4) c
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;

-- role gateway_call
WITH f AS (SELECT greatest(max(x.minute), 0) AS minute FROM gateway.counter_fold x WHERE x.tenant_id = $1)
SELECT c.day, c.app_id, json_object_agg(c.reason, c.count)::text AS orphans
FROM (
    SELECT x.day, x.app_id, x.reason, sum(x.count)::bigint AS count
    FROM (
        SELECT o.day, o.app_id, o.reason, o.count FROM gateway.orphan_receipt o
        WHERE o.tenant_id = $1 AND o.day >= $2 AND o.day <= $3 AND ($4::text[] IS NULL OR o.app_id = ANY ($4))
        UNION ALL
        SELECT d.orphan_day, d.app_id, d.orphan, d.orphans
        FROM f JOIN gateway.counter_delta d ON d.tenant_id = $1 AND d.minute >= f.minute
        WHERE d.orphan_day >= $2 AND d.orphan_day <= $3 AND ($4::text[] IS NULL OR d.app_id = ANY ($4))) x
    GROUP BY x.day, x.app_id, x.reason) c
GROUP BY c.day, c.app_id LIMIT $5;

-- role gateway_call
WITH f AS (SELECT greatest(max(x.minute), 0) AS minute FROM gateway.counter_fold x WHERE x.tenant_id = $1)
SELECT c.stage, c.reason, CASE WHEN $8 THEN c.app_id END AS app_id, CASE WHEN $9 THEN c.vendor END AS vendor, CASE WHEN $11 THEN c.device_vendor END AS device_vendor,
    CASE WHEN $10 THEN c.transport END AS transport,
    sum(c.count)::bigint AS count
FROM (
    SELECT x.app_id, x.vendor, x.device_vendor, x.transport, x.stage, x.reason, x.count
    FROM gateway.counter_reason x WHERE x.tenant_id = $1 AND x.quarter >= $2 AND x.quarter < $3 AND ($4::text[] IS NULL OR x.app_id = ANY ($4))
    AND ($5::text[] IS NULL OR x.vendor = ANY ($5)) AND ($6::text[] IS NULL OR x.device_vendor = ANY ($6))
    AND ($7::text[] IS NULL OR x.transport = ANY ($7))
    UNION ALL
    SELECT d.app_id, d.vendor, d.device_vendor, d.transport, split_part(r.key, ':', 1),
        substr(r.key, strpos(r.key, ':') + 1), r.value::bigint
    FROM f JOIN gateway.counter_delta d ON d.tenant_id = $1 AND d.minute >= f.minute
    CROSS JOIN LATERAL json_each_text(d.reasons) AS r(key, value)
    WHERE d.reasons IS NOT NULL AND d.quarter >= $2 AND d.quarter < $3 AND ($4::text[] IS NULL OR d.app_id = ANY ($4))
    AND ($5::text[] IS NULL OR d.vendor = ANY ($5)) AND ($6::text[] IS NULL OR d.device_vendor = ANY ($6))
    AND ($7::text[] IS NULL OR d.transport = ANY ($7))) c
GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(c.count) <> 0;

-- role gateway_call
WITH f AS (SELECT greatest(max(x.minute), 0) AS minute FROM gateway.counter_fold x WHERE x.tenant_id = $1)
SELECT coalesce(sum(c.accepted + c.uncertain), 0)::bigint AS sent, coalesce(sum(c.received), 0)::bigint AS received,
    coalesce(sum(c.read), 0)::bigint AS read, coalesce(sum(c.rejected + c.unsendable), 0)::bigint AS failed,
    coalesce(sum(c.suppressed), 0)::bigint AS suppressed, coalesce(sum(c.expired), 0)::bigint AS expired,
    coalesce(sum(c.canceled), 0)::bigint AS canceled
FROM (
    SELECT x.accepted, x.uncertain, x.received, x.read, x.rejected, x.unsendable, x.suppressed, x.expired, x.canceled
    FROM gateway.message_counter x WHERE x.tenant_id = $1 AND x.message_id = $2
    UNION ALL
    SELECT d.accepted, d.uncertain, d.received, d.read, d.rejected, d.unsendable, d.suppressed, d.expired, d.canceled
    FROM f JOIN gateway.counter_delta d ON d.tenant_id = $1 AND d.minute >= f.minute AND d.message_id = $2) c;

-- role gateway_call
WITH f AS (SELECT greatest(max(x.minute), 0) AS minute FROM gateway.counter_fold x WHERE x.tenant_id = $1)
SELECT width_bucket(c.quarter, $11::integer[]) AS part, CASE WHEN $8 THEN c.app_id END AS app_id, CASE WHEN $9 THEN c.vendor END AS vendor, c.device_vendor AS device_vendor,
    CASE WHEN $10 THEN c.transport END AS transport,
    c.device_vendor <> ALL ($13::text[]) OR c.device_vendor || '/' || c.app_id = ANY ($14::text[]) AS is_configured, sum(c.targets)::bigint AS targets, sum(c.suppressed)::bigint AS suppressed, sum(c.canceled)::bigint AS canceled, sum(c.expired)::bigint AS expired, sum(c.expired_tried)::bigint AS expired_tried, sum(c.unsendable)::bigint AS unsendable, sum(c.accepted)::bigint AS accepted, sum(c.uncertain)::bigint AS uncertain, sum(c.rejected)::bigint AS rejected, sum(c.received)::bigint AS received, sum(c.read)::bigint AS read
FROM (
    SELECT x.quarter, x.app_id, x.vendor, x.device_vendor, x.transport, x.targets, x.suppressed, x.canceled, x.expired, x.expired_tried, x.unsendable, x.accepted, x.uncertain, x.rejected, x.received, x.read
    FROM gateway.counter x WHERE x.tenant_id = $1 AND x.quarter >= $2 AND x.quarter < $3 AND ($4::text[] IS NULL OR x.app_id = ANY ($4))
    AND ($5::text[] IS NULL OR x.vendor = ANY ($5)) AND ($6::text[] IS NULL OR x.device_vendor = ANY ($6))
    AND ($7::text[] IS NULL OR x.transport = ANY ($7))
    UNION ALL
    SELECT d.quarter, d.app_id, d.vendor, d.device_vendor, d.transport, d.targets, d.suppressed, d.canceled, d.expired, d.expired_tried, d.unsendable, d.accepted, d.uncertain, d.rejected, d.received, d.read
    FROM f JOIN gateway.counter_delta d ON d.tenant_id = $1 AND d.minute >= f.minute WHERE d.quarter >= $2 AND d.quarter < $3 AND ($4::text[] IS NULL OR d.app_id = ANY ($4))
    AND ($5::text[] IS NULL OR d.vendor = ANY ($5)) AND ($6::text[] IS NULL OR d.device_vendor = ANY ($6))
    AND ($7::text[] IS NULL OR d.transport = ANY ($7))) c
GROUP BY 1, 2, 3, 4, 5, 6 LIMIT $12;

-- role gateway_call
WITH f AS (SELECT greatest(max(x.minute), 0) AS minute FROM gateway.counter_fold x WHERE x.tenant_id = $1)
SELECT width_bucket(c.quarter, $11::integer[]) AS part, CASE WHEN $8 THEN c.app_id END AS app_id, CASE WHEN $9 THEN c.vendor END AS vendor, c.device_vendor AS device_vendor,
    CASE WHEN $10 THEN c.transport END AS transport, sum(c.targets)::bigint AS targets, sum(c.suppressed)::bigint AS suppressed, sum(c.canceled)::bigint AS canceled, sum(c.expired)::bigint AS expired, sum(c.expired_tried)::bigint AS expired_tried, sum(c.unsendable)::bigint AS unsendable, sum(c.accepted)::bigint AS accepted, sum(c.uncertain)::bigint AS uncertain, sum(c.rejected)::bigint AS rejected, sum(c.received)::bigint AS received, sum(c.read)::bigint AS read
FROM (
    SELECT x.quarter, x.app_id, x.vendor, x.device_vendor, x.transport, x.targets, x.suppressed, x.canceled, x.expired, x.expired_tried, x.unsendable, x.accepted, x.uncertain, x.rejected, x.received, x.read
    FROM gateway.counter x WHERE x.tenant_id = $1 AND x.quarter >= $2 AND x.quarter < $3 AND ($4::text[] IS NULL OR x.app_id = ANY ($4))
    AND ($5::text[] IS NULL OR x.vendor = ANY ($5)) AND ($6::text[] IS NULL OR x.device_vendor = ANY ($6))
    AND ($7::text[] IS NULL OR x.transport = ANY ($7))
    UNION ALL
    SELECT d.quarter, d.app_id, d.vendor, d.device_vendor, d.transport, d.targets, d.suppressed, d.canceled, d.expired, d.expired_tried, d.unsendable, d.accepted, d.uncertain, d.rejected, d.received, d.read
    FROM f JOIN gateway.counter_delta d ON d.tenant_id = $1 AND d.minute >= f.minute WHERE d.quarter >= $2 AND d.quarter < $3 AND ($4::text[] IS NULL OR d.app_id = ANY ($4))
    AND ($5::text[] IS NULL OR d.vendor = ANY ($5)) AND ($6::text[] IS NULL OR d.device_vendor = ANY ($6))
    AND ($7::text[] IS NULL OR d.transport = ANY ($7))) c
GROUP BY 1, 2, 3, 4, 5 LIMIT $12;

-- role gateway_engine
WITH h AS (
    SELECT message_id, no FROM gateway.slice
    WHERE tenant_id = $1 AND held_by = $2 AND state = 'ready' AND next_at > now() FOR UPDATE SKIP LOCKED)
UPDATE gateway.slice s SET held_by = NULL, next_at = now()
FROM h WHERE s.tenant_id = $1 AND s.message_id = h.message_id AND s.no = h.no;

-- role gateway_engine
WITH m AS (
    SELECT x.message_id, x.is_counted, x.app_id, x.vendor, floor(extract(epoch FROM x.due_at) / 900)::integer AS quarter,
        CASE WHEN x.vendor = 'native' THEN '' ELSE x.vendor END AS device_vendor
    FROM gateway.message x WHERE x.tenant_id = $1 AND x.message_id >= $4 AND x.message_id < $5 AND x.due_day = $2),
d AS (
    SELECT m.message_id, m.is_counted, m.quarter, m.app_id, m.vendor, coalesce(d.device_vendor, m.device_vendor) AS device_vendor,
        coalesce(d.transport, '') AS transport,
        gateway.stage_of(d.state, d.transport, d.is_certain) AS stage, d.reason, d.attempts, d.received_at, d.read_at
    FROM gateway.delivery d JOIN m ON m.message_id = d.message_id
    WHERE d.tenant_id = $1 AND d.due_day = $2 AND d.sent_at IS NOT NULL),
e AS (
    SELECT CASE WHEN d.is_counted THEN d.message_id END AS message_id, d.quarter, d.app_id, d.vendor, d.device_vendor, d.transport,
        k.key, count(*) AS count
    FROM d CROSS JOIN LATERAL (
        SELECT d.stage AS key
        UNION ALL SELECT 'expired_tried' WHERE d.stage = 'expired' AND d.attempts > 0
        UNION ALL SELECT 'received' WHERE d.stage IN ('accepted', 'uncertain') AND d.received_at IS NOT NULL
        UNION ALL SELECT 'read' WHERE d.stage IN ('accepted', 'uncertain') AND d.read_at IS NOT NULL
        UNION ALL SELECT d.stage || ':' || d.reason
            WHERE d.reason IS NOT NULL AND d.stage IN ('suppressed', 'unsendable', 'rejected')) k
    GROUP BY 1, 2, 3, 4, 5, 6, 7),
t AS (
    SELECT NULL::uuid AS message_id, x.quarter, x.app_id, x.vendor, x.device_vendor, '' AS transport, 'targets' AS key,
        sum(x.count)::bigint AS count
    FROM (
        SELECT d.quarter, d.app_id, d.vendor, d.device_vendor, count(*) AS count FROM d GROUP BY 1, 2, 3, 4
        UNION ALL
        SELECT m.quarter, m.app_id, m.vendor, m.device_vendor, sum(cardinality(s.targets) - bit_count(s.done))::bigint
        FROM m JOIN gateway.slice s ON s.tenant_id = $1 AND s.message_id = m.message_id AND s.state <> 'done'
        GROUP BY 1, 2, 3, 4) x
    GROUP BY 1, 2, 3, 4, 5, 6, 7),
c AS (
    SELECT NULL::uuid AS message_id, x.quarter, x.app_id, x.vendor, x.device_vendor, x.transport, x.targets,
        x.suppressed, x.canceled, x.expired, x.unsendable, x.accepted, x.uncertain, x.rejected, x.expired_tried, x.received, x.read, NULL::json AS reasons
    FROM gateway.counter x WHERE x.tenant_id = $1 AND x.quarter >= $2 * 96 AND x.quarter < $2 * 96 + 96
    UNION ALL
    SELECT x.message_id, x.quarter, x.app_id, x.vendor, x.device_vendor, x.transport, x.targets,
        x.suppressed, x.canceled, x.expired, x.unsendable, x.accepted, x.uncertain, x.rejected, x.expired_tried, x.received, x.read, x.reasons
    FROM gateway.counter_delta x WHERE x.tenant_id = $1 AND x.quarter >= $2 * 96 AND x.quarter < $2 * 96 + 96),
n AS (
    -- All messages together.
    SELECT NULL::uuid AS message_id, e.quarter, e.app_id, e.vendor, e.device_vendor, e.transport, e.key, e.count FROM e
    UNION ALL SELECT * FROM t
    UNION ALL
    SELECT NULL, c.quarter, c.app_id, c.vendor, c.device_vendor, c.transport, s.key, -s.count
    FROM c CROSS JOIN LATERAL (VALUES ('targets', c.targets::bigint), ('suppressed', c.suppressed::bigint), ('canceled', c.canceled::bigint), ('expired', c.expired::bigint), ('unsendable', c.unsendable::bigint), ('accepted', c.accepted::bigint), ('uncertain', c.uncertain::bigint), ('rejected', c.rejected::bigint), ('expired_tried', c.expired_tried::bigint), ('received', c.received::bigint), ('read', c.read::bigint)) AS s(key, count)
    UNION ALL
    SELECT NULL, x.quarter, x.app_id, x.vendor, x.device_vendor, x.transport, x.stage || ':' || x.reason, -x.count
    FROM gateway.counter_reason x WHERE x.tenant_id = $1 AND x.quarter >= $2 * 96 AND x.quarter < $2 * 96 + 96
    UNION ALL
    SELECT NULL, c.quarter, c.app_id, c.vendor, c.device_vendor, c.transport, r.key, -r.value::bigint
    FROM c CROSS JOIN LATERAL json_each_text(c.reasons) AS r(key, value) WHERE c.reasons IS NOT NULL
    -- Messages with counts of their own, which have neither targets nor reasons there.
    UNION ALL
    SELECT e.message_id, e.quarter, e.app_id, e.vendor, e.device_vendor, e.transport, e.key, e.count
    FROM e WHERE e.message_id IS NOT NULL AND strpos(e.key, ':') = 0
    UNION ALL
    SELECT c.message_id, m.quarter, m.app_id, m.vendor, c.device_vendor, c.transport, s.key, -s.count
    FROM gateway.message_counter c JOIN m ON m.message_id = c.message_id
    CROSS JOIN LATERAL (VALUES ('suppressed', c.suppressed::bigint), ('canceled', c.canceled::bigint), ('expired', c.expired::bigint), ('unsendable', c.unsendable::bigint), ('accepted', c.accepted::bigint), ('uncertain', c.uncertain::bigint), ('rejected', c.rejected::bigint), ('expired_tried', c.expired_tried::bigint), ('received', c.received::bigint), ('read', c.read::bigint)) AS s(key, count) WHERE c.tenant_id = $1
    UNION ALL
    SELECT c.message_id, c.quarter, c.app_id, c.vendor, c.device_vendor, c.transport, s.key, -s.count
    FROM c CROSS JOIN LATERAL (VALUES ('suppressed', c.suppressed::bigint), ('canceled', c.canceled::bigint), ('expired', c.expired::bigint), ('unsendable', c.unsendable::bigint), ('accepted', c.accepted::bigint), ('uncertain', c.uncertain::bigint), ('rejected', c.rejected::bigint), ('expired_tried', c.expired_tried::bigint), ('received', c.received::bigint), ('read', c.read::bigint)) AS s(key, count) WHERE c.message_id IS NOT NULL),
diff AS (
    SELECT message_id, quarter, app_id, vendor, device_vendor, transport, key, sum(count)::bigint AS count
    FROM n GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING sum(count) <> 0)
SELECT message_id, quarter, app_id, vendor, device_vendor, transport, key, count FROM diff
ORDER BY message_id NULLS FIRST, quarter, app_id, vendor, device_vendor, transport, key LIMIT $3;

-- role gateway_engine
WITH m AS (
    SELECT x.message_id, x.is_counted, x.app_id, x.vendor, floor(extract(epoch FROM x.due_at) / 900)::integer AS quarter,
        CASE WHEN x.vendor = 'native' THEN '' ELSE x.vendor END AS device_vendor
    FROM gateway.message x WHERE x.tenant_id = $1 AND x.message_id >= $4 AND x.message_id < $5 AND x.due_day = $2),
d AS (
    SELECT m.message_id, m.is_counted, m.quarter, m.app_id, m.vendor, coalesce(d.device_vendor, m.device_vendor) AS device_vendor,
        coalesce(d.transport, '') AS transport,
        gateway.stage_of(d.state, d.transport, d.is_certain) AS stage, d.reason, d.attempts, d.received_at, d.read_at
    FROM gateway.delivery d JOIN m ON m.message_id = d.message_id
    WHERE d.tenant_id = $1 AND d.due_day = $2 AND d.sent_at IS NOT NULL),
e AS (
    SELECT CASE WHEN d.is_counted THEN d.message_id END AS message_id, d.quarter, d.app_id, d.vendor, d.device_vendor, d.transport,
        k.key, count(*) AS count
    FROM d CROSS JOIN LATERAL (
        SELECT d.stage AS key
        UNION ALL SELECT 'expired_tried' WHERE d.stage = 'expired' AND d.attempts > 0
        UNION ALL SELECT 'received' WHERE d.stage IN ('accepted', 'uncertain') AND d.received_at IS NOT NULL
        UNION ALL SELECT 'read' WHERE d.stage IN ('accepted', 'uncertain') AND d.read_at IS NOT NULL
        UNION ALL SELECT d.stage || ':' || d.reason
            WHERE d.reason IS NOT NULL AND d.stage IN ('suppressed', 'unsendable', 'rejected')) k
    GROUP BY 1, 2, 3, 4, 5, 6, 7),
t AS (
    SELECT NULL::uuid AS message_id, x.quarter, x.app_id, x.vendor, x.device_vendor, '' AS transport, 'targets' AS key,
        sum(x.count)::bigint AS count
    FROM (
        SELECT d.quarter, d.app_id, d.vendor, d.device_vendor, count(*) AS count FROM d GROUP BY 1, 2, 3, 4
        UNION ALL
        SELECT m.quarter, m.app_id, m.vendor, m.device_vendor, sum(cardinality(s.targets) - bit_count(s.done))::bigint
        FROM m JOIN gateway.slice s ON s.tenant_id = $1 AND s.message_id = m.message_id AND s.state <> 'done'
        GROUP BY 1, 2, 3, 4) x
    GROUP BY 1, 2, 3, 4, 5, 6, 7),
c AS (
    SELECT NULL::uuid AS message_id, x.quarter, x.app_id, x.vendor, x.device_vendor, x.transport, x.targets,
        x.suppressed, x.canceled, x.expired, x.unsendable, x.accepted, x.uncertain, x.rejected, x.expired_tried, x.received, x.read, NULL::json AS reasons
    FROM gateway.counter x WHERE x.tenant_id = $1 AND x.quarter >= $2 * 96 AND x.quarter < $2 * 96 + 96
    UNION ALL
    SELECT x.message_id, x.quarter, x.app_id, x.vendor, x.device_vendor, x.transport, x.targets,
        x.suppressed, x.canceled, x.expired, x.unsendable, x.accepted, x.uncertain, x.rejected, x.expired_tried, x.received, x.read, x.reasons
    FROM gateway.counter_delta x WHERE x.tenant_id = $1 AND x.quarter >= $2 * 96 AND x.quarter < $2 * 96 + 96),
n AS (
    -- All messages together.
    SELECT NULL::uuid AS message_id, e.quarter, e.app_id, e.vendor, e.device_vendor, e.transport, e.key, e.count FROM e
    UNION ALL SELECT * FROM t
    UNION ALL
    SELECT NULL, c.quarter, c.app_id, c.vendor, c.device_vendor, c.transport, s.key, -s.count
    FROM c CROSS JOIN LATERAL (VALUES ('targets', c.targets::bigint), ('suppressed', c.suppressed::bigint), ('canceled', c.canceled::bigint), ('expired', c.expired::bigint), ('unsendable', c.unsendable::bigint), ('accepted', c.accepted::bigint), ('uncertain', c.uncertain::bigint), ('rejected', c.rejected::bigint), ('expired_tried', c.expired_tried::bigint), ('received', c.received::bigint), ('read', c.read::bigint)) AS s(key, count)
    UNION ALL
    SELECT NULL, x.quarter, x.app_id, x.vendor, x.device_vendor, x.transport, x.stage || ':' || x.reason, -x.count
    FROM gateway.counter_reason x WHERE x.tenant_id = $1 AND x.quarter >= $2 * 96 AND x.quarter < $2 * 96 + 96
    UNION ALL
    SELECT NULL, c.quarter, c.app_id, c.vendor, c.device_vendor, c.transport, r.key, -r.value::bigint
    FROM c CROSS JOIN LATERAL json_each_text(c.reasons) AS r(key, value) WHERE c.reasons IS NOT NULL
    -- Messages with counts of their own, which have neither targets nor reasons there.
    UNION ALL
    SELECT e.message_id, e.quarter, e.app_id, e.vendor, e.device_vendor, e.transport, e.key, e.count
    FROM e WHERE e.message_id IS NOT NULL AND strpos(e.key, ':') = 0
    UNION ALL
    SELECT c.message_id, m.quarter, m.app_id, m.vendor, c.device_vendor, c.transport, s.key, -s.count
    FROM gateway.message_counter c JOIN m ON m.message_id = c.message_id
    CROSS JOIN LATERAL (VALUES ('suppressed', c.suppressed::bigint), ('canceled', c.canceled::bigint), ('expired', c.expired::bigint), ('unsendable', c.unsendable::bigint), ('accepted', c.accepted::bigint), ('uncertain', c.uncertain::bigint), ('rejected', c.rejected::bigint), ('expired_tried', c.expired_tried::bigint), ('received', c.received::bigint), ('read', c.read::bigint)) AS s(key, count) WHERE c.tenant_id = $1
    UNION ALL
    SELECT c.message_id, c.quarter, c.app_id, c.vendor, c.device_vendor, c.transport, s.key, -s.count
    FROM c CROSS JOIN LATERAL (VALUES ('suppressed', c.suppressed::bigint), ('canceled', c.canceled::bigint), ('expired', c.expired::bigint), ('unsendable', c.unsendable::bigint), ('accepted', c.accepted::bigint), ('uncertain', c.uncertain::bigint), ('rejected', c.rejected::bigint), ('expired_tried', c.expired_tried::bigint), ('received', c.received::bigint), ('read', c.read::bigint)) AS s(key, count) WHERE c.message_id IS NOT NULL),
diff AS (
    SELECT message_id, quarter, app_id, vendor, device_vendor, transport, key, sum(count)::bigint AS count
    FROM n GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING sum(count) <> 0),
w AS (
    SELECT message_id, quarter, app_id, vendor, device_vendor, transport, key, count FROM diff
    UNION ALL
    SELECT NULL, quarter, app_id, vendor, device_vendor, transport, key, -count FROM diff WHERE message_id IS NOT NULL),
v AS (
    SELECT message_id, quarter, app_id, vendor, device_vendor, transport, key, sum(count)::integer AS count
    FROM w GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING sum(count) <> 0),
i AS (
    INSERT INTO gateway.counter_delta
            (tenant_id, message_id, quarter, app_id, vendor, device_vendor, transport, targets, suppressed, canceled, expired, unsendable, accepted, uncertain, rejected, expired_tried, received, read, reasons)
        SELECT $1, message_id, quarter, app_id, vendor, device_vendor, transport,
            coalesce(sum(count) FILTER (WHERE key = 'targets'), 0), coalesce(sum(count) FILTER (WHERE key = 'suppressed'), 0), coalesce(sum(count) FILTER (WHERE key = 'canceled'), 0), coalesce(sum(count) FILTER (WHERE key = 'expired'), 0), coalesce(sum(count) FILTER (WHERE key = 'unsendable'), 0), coalesce(sum(count) FILTER (WHERE key = 'accepted'), 0), coalesce(sum(count) FILTER (WHERE key = 'uncertain'), 0), coalesce(sum(count) FILTER (WHERE key = 'rejected'), 0), coalesce(sum(count) FILTER (WHERE key = 'expired_tried'), 0), coalesce(sum(count) FILTER (WHERE key = 'received'), 0), coalesce(sum(count) FILTER (WHERE key = 'read'), 0),
            json_object_agg(key, count) FILTER (WHERE strpos(key, ':') > 0)
        FROM v GROUP BY message_id, quarter, app_id, vendor, device_vendor, transport RETURNING 1)
SELECT message_id, quarter, app_id, vendor, device_vendor, transport, key, count FROM diff
ORDER BY message_id NULLS FIRST, quarter, app_id, vendor, device_vendor, transport, key LIMIT $3;

-- role gateway_engine
WITH r AS (
    SELECT message_id, no, false AS has_lapsed FROM gateway.slice
    WHERE tenant_id = $1 AND lane = $2 AND state = 'ready' AND next_at <= now()
    ORDER BY next_at LIMIT $3 FOR UPDATE SKIP LOCKED),
l AS (
    SELECT message_id, no, true AS has_lapsed FROM gateway.slice
    WHERE tenant_id = $1 AND lane = $2 AND state = 'leased' AND next_at <= now() AND $6
    ORDER BY next_at LIMIT $3 - (SELECT count(*) FROM r) FOR UPDATE SKIP LOCKED),
c AS (SELECT * FROM r UNION ALL SELECT * FROM l)
UPDATE gateway.slice s SET state = 'leased', owner = $4, epoch = s.epoch + 1, held_by = NULL,
    next_at = now() + $5::interval, lapses = least(s.lapses + (s.state = 'leased')::integer, 32767)
FROM c WHERE s.tenant_id = $1 AND s.message_id = c.message_id AND s.no = c.no
RETURNING s.message_id, s.no, s.epoch, s.lane, s.due_day, s.kind, s.after, s.targets, s.addresses, s.done, s.attempts,
    s.lapses, c.has_lapsed;

-- role gateway_engine
WITH z AS MATERIALIZED (
    SELECT a.app_id, gateway.known_zone(a.defaults->>'timeZone', NULL) AS zone FROM gateway.app a WHERE a.tenant_id = $1)
SELECT l.quarter, l.app_id, l.vendor, l.kind, l.histogram, q.first
FROM gateway.latency l JOIN z ON z.app_id = l.app_id
CROSS JOIN LATERAL (SELECT gateway.first_quarter(l.quarter, z.zone) AS first) q
WHERE l.tenant_id = $1 AND l.quarter >= $2 AND l.quarter < $3 AND q.first <> l.quarter LIMIT $4;
