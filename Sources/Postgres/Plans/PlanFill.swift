/// Fills a database with the rows of one large tenant, `plan`, so that plans and sizes are those of a large installation.
///
/// A device has an identity and a delivery of each of nine large messages. One device has also received thousands of small messages.
package struct PlanFill: Sendable {
    package var devices: Int
    package var deliveries: Int

    package init(devices: Int = 100_000, deliveries: Int = 1_000_000) {
        self.devices = devices
        self.deliveries = deliveries
    }

    /// Messages to one listed device each.
    private var smallMessages: Int { 4000 }

    /// The statements, in order. They run as superuser in a database with the schema.
    package var statements: [String] {
        let large = max(1, deliveries / devices)
        return [
            "SET synchronous_commit = off; SET work_mem = '256MB'; SET session_replication_role = replica",
            """
            CREATE FUNCTION pg_temp.id(p_kind text, p_n bigint) RETURNS uuid LANGUAGE sql IMMUTABLE AS
                $$ SELECT md5(p_kind || p_n)::uuid $$
            """,
            """
            INSERT INTO gateway.tenant (tenant_id) VALUES ('plan');
            INSERT INTO gateway.app (tenant_id, app_id) SELECT 'plan', a FROM unnest(ARRAY['shop', 'other']) a;
            INSERT INTO gateway.route_set (tenant_id, app_id, version, format, base, overlay, upstreams, origin, actor)
                SELECT 'plan', 'shop', v, 1, '{}', '{}', '{}', 'api', 'key:ops' FROM generate_series(1, 5000) v;
            INSERT INTO gateway.lane (tenant_id, lane) SELECT 'plan', l FROM generate_series(0, 3) l;
            INSERT INTO gateway.identity_count (tenant_id, app_id, vendor, bucket, active)
                SELECT 'plan', 'shop', v, b, \(devices) / 16 FROM unnest(ARRAY['native', 'ipns']) v, generate_series(0, 15) b
            """,
            """
            INSERT INTO gateway.device (tenant_id, device_id, app_id, platform, environment, token, token_state, created_at)
                SELECT 'plan', pg_temp.id('d', n), CASE n % 10 WHEN 0 THEN 'other' ELSE 'shop' END, 'ios', 'production', md5('t' || n), 'active', now()
                FROM generate_series(1, \(devices)) n
            """,
            """
            INSERT INTO gateway.identity
                (tenant_id, identity_id, app_id, vendor, key, device_id, state, user_id, name, phone, alias, attributes, registered_at, created_at)
                SELECT 'plan', pg_temp.id('i', n), CASE n % 10 WHEN 0 THEN 'other' ELSE 'shop' END, CASE n % 20 WHEN 0 THEN 'ipns' ELSE 'native' END, 'key-' || n, pg_temp.id('d', n),
                    CASE n % 25 WHEN 0 THEN 'unregistered' ELSE 'active' END, 'user-' || n / 2, 'name', '8210' || n / 2, 'alias-' || n / 2,
                    CASE n % 20 WHEN 1 THEN '{"$endsAt": 4000000000}' ELSE '{}' END::json, now(), now()
                FROM generate_series(1, \(devices)) n
            """,
            """
            INSERT INTO gateway.message
                (tenant_id, message_id, app_id, vendor, state, lane, content, accepted_at, due_at, due_day, expires_at, recipients, expanded,
                is_counted)
                SELECT 'plan', pg_temp.id('m', n), 'shop', 'native', CASE WHEN n = 1 THEN 'sending' ELSE 'done' END, 2, '{}', now(), now(),
                    floor(extract(epoch FROM now()) / 86400)::integer, now(), CASE WHEN n <= \(large) THEN \(devices) ELSE 20 END,
                    CASE WHEN n <= \(large) THEN \(devices) ELSE 0 END, n <= \(large)
                FROM generate_series(1, \(large + smallMessages)) n
            """,
            // Without the indexes, the rows take half the time.
            """
            CREATE TEMP TABLE plan_index AS SELECT indexname::text AS name, indexdef AS definition FROM pg_indexes
                WHERE schemaname = 'gateway' AND tablename = 'delivery' AND indexname <> 'delivery_pkey';
            DO $$ DECLARE n text; BEGIN
                FOR n IN SELECT name FROM plan_index LOOP EXECUTE format('DROP INDEX gateway.%I', n); END LOOP;
            END $$
            """,
            """
            INSERT INTO gateway.delivery
                (tenant_id, due_day, message_id, target_id, app_id, vendor, identity_id, device_id, user_id, state, transport, sent_at)
                SELECT 'plan', floor(extract(epoch FROM now()) / 86400)::integer, m.id, x.id, 'shop', 'native', x.id, x.device, x.user_id, 'sent',
                    'apns', now()
                FROM (SELECT pg_temp.id('m', n) AS id FROM generate_series(1, \(large)) n) m
                CROSS JOIN (
                    SELECT pg_temp.id('i', n) AS id, pg_temp.id('d', n) AS device, 'user-' || n / 2 AS user_id
                    FROM generate_series(1, \(devices)) n) x
                UNION ALL
                SELECT 'plan', floor(extract(epoch FROM now()) / 86400)::integer, pg_temp.id('m', n), pg_temp.id('i', 1), 'shop', 'native',
                    pg_temp.id('i', 1), pg_temp.id('d', 1), 'user-0', 'sent', 'apns', now()
                FROM generate_series(\(large + 1), \(large + smallMessages)) n
            """,
            """
            DO $$ DECLARE d text; BEGIN
                FOR d IN SELECT definition FROM plan_index LOOP EXECUTE replace(d, ' ON ONLY ', ' ON '); END LOOP;
            END $$
            """,
            """
            INSERT INTO gateway.slice (tenant_id, message_id, no, lane, kind, due_day, targets, state, next_at, owner, first_target, held_by)
                SELECT 'plan', pg_temp.id('m', CASE WHEN n <= 5000 THEN 1 ELSE n - 4900 END), n, 2, 'deliver',
                    floor(extract(epoch FROM now()) / 86400)::integer, ARRAY[pg_temp.id('i', n)],
                    CASE WHEN n > 5000 THEN 'done' WHEN n % 50 = 0 THEN 'leased' ELSE 'ready' END, now(),
                    CASE WHEN n % 50 = 0 THEN 'node' END, pg_temp.id('i', n), CASE WHEN n % 4 = 0 THEN 'apple' END
                FROM generate_series(1, 10000) n
            """,
        ] + inboxes + counters + audiences + users + rest
    }

    private var inboxes: [String] {
        [
            """
            INSERT INTO gateway.inbox_open (tenant_id, identity_id, message_id, due_day)
                SELECT 'plan', pg_temp.id('i', n % 5000), pg_temp.id('m', n % 4000), 20000 FROM generate_series(1, 50000) n ON CONFLICT DO NOTHING;
            INSERT INTO gateway.badge (tenant_id, app_id, vendor, holder, count)
                SELECT 'plan', 'shop', 'native', 'key:' || n, 1 FROM generate_series(1, 20000) n;
            INSERT INTO gateway.badge_mark (tenant_id, message_id, holder)
                SELECT 'plan', pg_temp.id('m', 1), 'key:' || n FROM generate_series(1, 20000) n;
            INSERT INTO gateway.activity_token (tenant_id, device_id, kind, name, app_id, token, registered_at)
                SELECT 'plan', pg_temp.id('d', n), 'running', 'game', 'shop', 'token', now() FROM generate_series(1, 5000) n;
            INSERT INTO gateway.expected_user (tenant_id, app_id, user_id, ends_at)
                SELECT 'plan', 'shop', n::text, now() + n * interval '1 minute' FROM generate_series(1, 20000) n;
            INSERT INTO gateway.verification (tenant_id, app_id, vendor, phone, sent_at, window_start, sent_count)
                SELECT 'plan', 'shop', 'native', n::text, now(), now(), 1 FROM generate_series(1, 5000) n;
            INSERT INTO gateway.erased_identity (tenant_id, identity_id, next_at)
                SELECT 'plan', pg_temp.id('e', n), now() + n * interval '1 minute' FROM generate_series(1, 20000) n
            """
        ]
    }

    private var counters: [String] {
        [
            """
            INSERT INTO gateway.counter_delta (tenant_id, minute, delta_id, quarter, app_id, vendor, device_vendor, message_id, targets)
                SELECT 'plan', 29000000 + n % 4, pg_temp.id('c', n), 1900000, 'shop', 'native', '', pg_temp.id('m', 1), 1
                FROM generate_series(1, 20000) n;
            INSERT INTO gateway.counter_fold (tenant_id, minute) VALUES ('plan', 29000000);
            INSERT INTO gateway.counter (tenant_id, quarter, app_id, vendor, device_vendor, transport)
                SELECT 'plan', 1900000 + n, 'shop', 'native', '', 'apns' FROM generate_series(1, 20000) n;
            INSERT INTO gateway.counter_reason (tenant_id, quarter, app_id, vendor, device_vendor, transport, stage, reason, count)
                SELECT 'plan', 1900000 + n, 'shop', 'native', '', 'apns', 'rejected', 'Unregistered', 1 FROM generate_series(1, 20000) n;
            INSERT INTO gateway.message_counter (tenant_id, message_id, device_vendor, transport)
                SELECT 'plan', pg_temp.id('m', n), '', 'apns' FROM generate_series(1, 4000) n;
            INSERT INTO gateway.event_batch (tenant_id, last, at, day, count, app_id, vendor, sender_id, kind, messages, due_days, targets)
                SELECT 'plan', n, now(), floor(extract(epoch FROM now()) / 86400)::integer, 1, 'shop', 'native',
                    CASE n % 2 WHEN 0 THEN 'sender' END, 'sent', ARRAY[pg_temp.id('m', 1)], ARRAY[20000], ARRAY[pg_temp.id('i', n)]
                FROM generate_series(1001, 30000) n;
            INSERT INTO gateway.event_position (tenant_id, last, day)
                SELECT 'plan', n, floor(extract(epoch FROM now()) / 86400)::integer FROM generate_series(1001, 30000) n;
            INSERT INTO gateway.event_single (tenant_id, position, at, kind, app_id, vendor, sender_id)
                SELECT 'plan', n, now(), 'sent', 'shop', 'native', 'sender' FROM generate_series(1, 5000) n
            """
        ]
    }

    private var audiences: [String] {
        [
            """
            INSERT INTO gateway.identity_tag (tenant_id, app_id, vendor, tag, identity_id)
                SELECT 'plan', 'shop', 'native', 'tag-' || t, pg_temp.id('i', n) FROM generate_series(1, 30000) n, generate_series(1, 4) t;
            INSERT INTO gateway.variant (tenant_id, target_id, identity_id, name)
                SELECT 'plan', pg_temp.id('v', n), pg_temp.id('i', n), 'name' FROM generate_series(1, 5000) n;
            INSERT INTO gateway.user_group (tenant_id, app_id, vendor, group_name, title)
                SELECT 'plan', 'shop', 'native', 'group-' || n, 'title' FROM generate_series(1, 5000) n;
            INSERT INTO gateway.group_member (tenant_id, app_id, vendor, group_name, user_id)
                SELECT 'plan', 'shop', 'native', 'group-' || CASE WHEN n < 20000 THEN 1 ELSE n % 5000 + 1 END, 'user-' || n
                FROM generate_series(1, 40000) n;
            INSERT INTO gateway.group_count (tenant_id, app_id, vendor, group_name, bucket, members)
                SELECT 'plan', 'shop', 'native', 'group-' || n, 0, 1 FROM generate_series(1, 5000) n
            """
        ]
    }

    private var users: [String] {
        [
            """
            INSERT INTO gateway.user_profile (tenant_id, app_id, vendor, user_id, is_anonymous, attributes, revision, created_at, updated_at)
                SELECT 'plan', 'shop', 'native', 'user-' || n, false, '{}', 1, now(), now() FROM generate_series(1, 30000) n;
            INSERT INTO gateway.user_alias (tenant_id, app_id, vendor, label, name, user_id)
                SELECT 'plan', 'shop', 'native', 'label', 'alias-' || n, 'user-' || n FROM generate_series(1, 30000) n;
            INSERT INTO gateway.user_act (tenant_id, app_id, vendor, user_id, digest, kind, name, at, data, noted_at)
                SELECT 'plan', 'shop', 'native', 'user-' || n % 1000, pg_temp.id('a', n), 'event', 'name', now(), '{}', now()
                FROM generate_series(1, 30000) n;
            INSERT INTO gateway.user_tally (tenant_id, app_id, vendor, user_id, kind, name, count, first_at, last_at, noted_at)
                SELECT 'plan', 'shop', 'native', 'user-' || n % 3000, 'event', 'name-' || n, 1, now(), now(), now()
                FROM generate_series(1, 30000) n;
            INSERT INTO gateway.campaign_mark (tenant_id, app_id, vendor, user_id, campaign, at)
                SELECT 'plan', 'shop', 'native', 'user-' || n, '', now() FROM generate_series(1, 20000) n
            """
        ]
    }

    private var rest: [String] {
        [
            """
            INSERT INTO gateway.message_open (tenant_id, message_id) SELECT 'plan', pg_temp.id('m', n) FROM generate_series(1, 3000) n;
            INSERT INTO gateway.upstream_call (tenant_id, message_id, slice_no, epoch, no, upstream, targets, users, state, reference)
                SELECT 'plan', pg_temp.id('m', n % 2000 + 1), n / 2000, 1, 1, 'old', ARRAY[pg_temp.id('i', n)], ARRAY[decode(md5(n::text), 'hex')], 'answered', n::text
                FROM generate_series(1, 20000) n;
            INSERT INTO gateway.upstream_user (tenant_id, message_id, upstream, user_key, slice_no, epoch, no)
                SELECT 'plan', pg_temp.id('m', n % 2000 + 1), 'old', decode(md5(n::text), 'hex'), n / 2000, 1, 1 FROM generate_series(1, 20000) n;
            INSERT INTO gateway.message_ref (tenant_id, app_id, vendor, ref, message_id)
                SELECT 'plan', 'shop', 'vendor-' || n % 5, n::text, pg_temp.id('m', n) FROM generate_series(1, 4000) n;
            INSERT INTO gateway.message_label (tenant_id, app_id, vendor, label, due_day, message_id)
                SELECT 'plan', 'shop', 'native', 'label', 20000, pg_temp.id('m', n) FROM generate_series(1, 4000) n;
            INSERT INTO gateway.message_variable (tenant_id, message_id, user_id, variables)
                SELECT 'plan', pg_temp.id('m', 1), 'user-' || n, '{}' FROM generate_series(1, 5000) n;
            INSERT INTO gateway.page (tenant_id, page_id, message_id, name, body, expires_at)
                SELECT 'plan', 'page-' || n, pg_temp.id('m', n), '', '', now() FROM generate_series(1, 4000) n;
            INSERT INTO gateway.media (tenant_id, hash, content_type, bytes, created_at)
                SELECT 'plan', 'hash-' || n, 'image/png', '', now() FROM generate_series(1, 4000) n;
            INSERT INTO gateway.message_media (tenant_id, message_id, media_id, hash)
                SELECT 'plan', pg_temp.id('m', n), 'media-' || n, 'hash-' || n FROM generate_series(1, 4000) n;
            INSERT INTO gateway.schedule (tenant_id, app_id, vendor, schedule_id, message_id, request)
                SELECT 'plan', 'shop', 'native', pg_temp.id('m', n), pg_temp.id('m', n), '{}' FROM generate_series(1, 4000) n;
            INSERT INTO gateway.campaign (tenant_id, app_id, vendor, campaign_id, name, body, created_at, updated_at)
                SELECT 'plan', 'shop', 'native', 'campaign-' || n, '', '{}', now(), now() FROM generate_series(1, 4000) n;
            INSERT INTO gateway.message_template (tenant_id, app_id, name, content, revision, changed_by, changed_at)
                SELECT 'plan', 'shop', 'template-' || n, '{}', 1, '', now() FROM generate_series(1, 4000) n;
            INSERT INTO gateway.idempotency (tenant_id, app_id, vendor, key, body_hash, created_at)
                SELECT 'plan', 'shop', 'native', 'key-' || n, '', now() FROM generate_series(1, 20000) n;
            INSERT INTO gateway.audit (tenant_id, audit_id, actor, action, subject, position, hash)
                SELECT 'plan', pg_temp.id('u', n), '', '', 'app ' || n % 1000, n, CASE WHEN n > 5000 THEN '\\x00'::bytea END
                FROM generate_series(1, 20000) n;
            INSERT INTO gateway.audit_subject (tenant_id, pseudonym, subject)
                SELECT 'plan', 'user ~' || n, 'user ' || n FROM generate_series(1, 20000) n;
            INSERT INTO gateway.audit_checkpoint (tenant_id, position, hash, last_at, signer, signature)
                SELECT 'plan', n, '\\x00', now(), '\\x00', '\\x00' FROM generate_series(5001, 20000) n;
            INSERT INTO gateway.sender (tenant_id, app_id, vendor, sender_id, name, callback_url)
                SELECT 'plan', 'shop', 'native', 'sender-' || n, 'name-' || n, 'https://example.com' FROM generate_series(1, 4000) n
            """,
            outbox, parity, migrations,
            "VACUUM ANALYZE",
        ]
    }

    /// The hours of five figures in 37 days.
    private var parity: String {
        """
        INSERT INTO gateway.parity_count (tenant_id, app_id, metric, hour, dialect, samples, differences)
            SELECT 'plan', 'shop', m, 490000 + n, 'ipns', 100, 1
            FROM unnest(ARRAY['observed', 'payload', 'reach', 'responses', 'unknown']) m, generate_series(1, 900) n
        """
    }

    /// Migrations that have ended, and a week of counts for the gates of one.
    private var migrations: String {
        """
        INSERT INTO gateway.migration (tenant_id, migration_id, app_id, upstream, plan, state)
            SELECT 'plan', 'migration-' || n, 'shop', 'old', '{}', '{"status": "completed"}' FROM generate_series(1, 1000) n;
        INSERT INTO gateway.migration_history (tenant_id, migration_id, revision, status, step, note, actor)
            SELECT 'plan', 'migration-' || n % 1000 + 1, n, 'completed', 0, '', 'gateway' FROM generate_series(1, 20000) n;
        INSERT INTO gateway.observed_figure (tenant_id, app_id, figure, at, samples, differences)
            SELECT 'plan', CASE n % 10 WHEN 0 THEN 'other' ELSE 'shop' END, 'observed', now() - n * interval '30 seconds', 1, 1
            FROM generate_series(1, 20000) n
        """
    }

    /// An upstream that does not answer, with three waiting calls of each of 10,000 users.
    private var outbox: String {
        """
        INSERT INTO gateway.outbox_upstream (tenant_id, upstream) SELECT 'plan', 'upstream-' || n FROM generate_series(1, 200) n;
        INSERT INTO gateway.outbox_queue (tenant_id, ordering_key, app_id, upstream, last, is_urgent, next_at, epoch)
            SELECT 'plan', sha256(n::text::bytea), 'shop', 'upstream-1', 3, n % 10 = 0, now() + n * interval '1 second', n
            FROM generate_series(1, 10000) n;
        INSERT INTO gateway.outbox
            (tenant_id, ordering_key, app_id, upstream, no, device_key, vendor, kind, call, method, path, body, called_at)
            SELECT 'plan', sha256((n % 10000)::text::bytea), 'shop', 'upstream-1', n / 10000, sha256(n::text::bytea), 'ipns', 'device',
                'appRegist', 'POST', '/', '', now() - n * interval '1 second'
            FROM generate_series(1, 30000) n
        """
    }
}
