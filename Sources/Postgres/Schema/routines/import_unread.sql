-- Stores messages of another gateway that devices have not fetched, given as parallel arrays with one entry per device and message. Returns for each: new, known (the
-- device has the message), unknown (no such device), or taken (the number or the id belongs to another message, which stays). Such a message counts as sent by an
-- upstream without an id: nothing is left to send, and its receipts belong to this gateway.
CREATE OR REPLACE FUNCTION gateway.import_unread(
    p_tenant text, p_app text, p_vendor text, p_keys text[], p_messages uuid[], p_numbers text[], p_contents text[], p_collapses text[],
    p_dues timestamptz[], p_expires timestamptz[], p_variables text[])
RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    v_identities uuid[];
    v_users text[];
    v_devices uuid[];
    v_days integer[];
    v_outcomes text[];
BEGIN
    SELECT array_agg(i.identity_id ORDER BY u.place), array_agg(i.user_id ORDER BY u.place), array_agg(i.device_id ORDER BY u.place),
            array_agg(floor(extract(epoch FROM u.due) / 86400)::integer ORDER BY u.place),
            array_agg(CASE WHEN i.identity_id IS NULL THEN 'unknown' WHEN d.message_id IS NOT NULL THEN 'known'
                WHEN r.message_id IS NOT NULL AND r.message_id <> u.message THEN 'taken'
                WHEN m.message_id IS NOT NULL AND (m.app_id <> p_app OR m.due_at <> u.due) THEN 'taken' ELSE 'new' END ORDER BY u.place)
        INTO v_identities, v_users, v_devices, v_days, v_outcomes
        FROM unnest(p_keys, p_messages, p_numbers, p_dues) WITH ORDINALITY AS u(key, message, number, due, place)
        LEFT JOIN gateway.identity i
            ON i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.key = u.key AND i.state = 'active'
        LEFT JOIN gateway.message_ref r
            ON r.tenant_id = p_tenant AND r.app_id = p_app AND r.vendor = p_vendor AND r.ref = u.number
        LEFT JOIN gateway.message m ON m.tenant_id = p_tenant AND m.message_id = u.message
        LEFT JOIN gateway.delivery d
            ON d.tenant_id = p_tenant AND d.due_day = floor(extract(epoch FROM u.due) / 86400)::integer AND d.message_id = u.message
            AND d.target_id = i.identity_id;
    INSERT INTO gateway.message
            (tenant_id, message_id, app_id, vendor, state, lane, content, collapse_id, accepted_at, due_at, due_day, expires_at, observed_from)
        SELECT DISTINCT ON (u.message) p_tenant, u.message, p_app, p_vendor, 'done', 2, u.content::json, u.collapse, u.due, u.due, u.day,
            u.expires, 'import'
        FROM unnest(p_messages, p_contents, p_collapses, p_dues, p_expires, v_days, v_outcomes)
            AS u(message, content, collapse, due, expires, day, outcome)
        WHERE u.outcome = 'new' ORDER BY u.message
        ON CONFLICT (tenant_id, message_id) DO NOTHING;
    INSERT INTO gateway.message_ref (tenant_id, app_id, vendor, ref, message_id)
        SELECT DISTINCT ON (u.number) p_tenant, p_app, p_vendor, u.number, u.message
        FROM unnest(p_messages, p_numbers, v_outcomes) AS u(message, number, outcome)
        WHERE u.outcome = 'new' AND u.number IS NOT NULL ORDER BY u.number
        ON CONFLICT (tenant_id, app_id, vendor, ref) DO NOTHING;
    INSERT INTO gateway.message_variable (tenant_id, message_id, user_id, variables)
        SELECT DISTINCT ON (u.message, u.user_id) p_tenant, u.message, u.user_id, u.variables::json
        FROM unnest(p_messages, v_users, p_variables, v_outcomes) AS u(message, user_id, variables, outcome)
        WHERE u.outcome = 'new' AND u.user_id IS NOT NULL AND u.variables IS NOT NULL ORDER BY u.message, u.user_id
        ON CONFLICT (tenant_id, message_id, user_id) DO NOTHING;
    INSERT INTO gateway.delivery
            (tenant_id, due_day, message_id, target_id, app_id, vendor, identity_id, device_id, user_id, state, transport, sent_at)
        SELECT p_tenant, u.day, u.message, u.identity, p_app, p_vendor, u.identity, u.device, u.user_id, 'sent', 'observed:' || p_vendor, u.due
        FROM unnest(p_messages, v_identities, v_devices, v_users, v_days, p_dues, v_outcomes)
            AS u(message, identity, device, user_id, day, due, outcome)
        WHERE u.outcome = 'new' ORDER BY u.message, u.identity
        ON CONFLICT DO NOTHING;
    INSERT INTO gateway.inbox_open (tenant_id, identity_id, message_id, due_day)
        SELECT p_tenant, u.identity, u.message, u.day
        FROM unnest(p_messages, v_identities, v_days, v_outcomes) AS u(message, identity, day, outcome)
        WHERE u.outcome = 'new' ORDER BY u.message, u.identity
        ON CONFLICT DO NOTHING;
    -- As `count_observed`, for each quarter hour.
    INSERT INTO gateway.counter_delta (tenant_id, quarter, app_id, vendor, device_vendor, transport, targets, accepted)
        SELECT p_tenant, floor(extract(epoch FROM u.due) / 900)::integer, p_app, p_vendor, p_vendor, t.transport,
            CASE WHEN t.transport = '' THEN count(*) ELSE 0 END, CASE WHEN t.transport = '' THEN 0 ELSE count(*) END
        FROM unnest(p_dues, v_outcomes) AS u(due, outcome) CROSS JOIN unnest(ARRAY['', 'observed:' || p_vendor]) AS t(transport)
        WHERE u.outcome = 'new' GROUP BY 2, t.transport
        ON CONFLICT DO NOTHING;
    RETURN v_outcomes;
END $$;

REVOKE ALL ON FUNCTION gateway.import_unread FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.import_unread TO gateway_call;
