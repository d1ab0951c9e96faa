-- Campaigns: what a back end sends by name. Schedules: messages that are due later, by the name that their caller knows. Labels: by what a caller counts
-- messages together.

CREATE TABLE gateway.campaign (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    campaign_id text NOT NULL,
    name text NOT NULL,
    -- In the dialect's own shape. json: order and spelling of the caller.
    body json NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor, campaign_id)
);
SELECT gateway.colocate('gateway.campaign');
ALTER TABLE gateway.campaign ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;

CREATE TABLE gateway.schedule (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    -- Of its first message.
    schedule_id uuid NOT NULL,
    message_id uuid NOT NULL,
    -- What the caller said, which a change changes a part of.
    request json NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor, schedule_id)
);
SELECT gateway.colocate('gateway.schedule');
-- It goes with its message.
ALTER TABLE gateway.schedule ADD FOREIGN KEY (tenant_id, message_id) REFERENCES gateway.message ON DELETE CASCADE;
CREATE INDEX schedule_message ON gateway.schedule (tenant_id, message_id);

CREATE TABLE gateway.message_label (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    label text NOT NULL,
    -- The message's, so that a series reads only its days.
    due_day integer NOT NULL,
    message_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor, label, due_day, message_id)
);
SELECT gateway.colocate('gateway.message_label');
ALTER TABLE gateway.message_label ADD FOREIGN KEY (tenant_id, message_id) REFERENCES gateway.message ON DELETE CASCADE;
CREATE INDEX message_label_message ON gateway.message_label (tenant_id, message_id);

DO $$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['campaign', 'schedule', 'message_label'] LOOP
        EXECUTE format('ALTER TABLE gateway.%I ENABLE ROW LEVEL SECURITY', v_table);
        EXECUTE format(
            'CREATE POLICY tenant_only ON gateway.%I USING (tenant_id = current_setting(''gateway.tenant'', true)) '
                'WITH CHECK (tenant_id = current_setting(''gateway.tenant'', true))', v_table);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.%I TO gateway_call, gateway_engine', v_table);
    END LOOP;
END $$;

-- Makes a campaign or writes it anew. True: it is new. Null: there are p_limit others, and nothing is done.
CREATE FUNCTION gateway.put_campaign(
    p_tenant text, p_app text, p_vendor text, p_id text, p_name text, p_body text, p_limit bigint, p_actor text)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_is_new boolean := false;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'campaign', p_app || chr(31) || p_vendor);
    UPDATE gateway.campaign SET name = p_name, body = p_body::json, updated_at = now()
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND campaign_id = p_id;
    IF NOT FOUND THEN
        IF (SELECT count(*) FROM gateway.campaign c
            WHERE c.tenant_id = p_tenant AND c.app_id = p_app AND c.vendor = p_vendor) >= p_limit THEN
            RETURN NULL;
        END IF;
        INSERT INTO gateway.campaign (tenant_id, app_id, vendor, campaign_id, name, body, created_at, updated_at)
            VALUES (p_tenant, p_app, p_vendor, p_id, p_name, p_body::json, now(), now());
        v_is_new := true;
    END IF;
    IF p_actor IS NOT NULL THEN
        PERFORM gateway.write_audit(p_tenant, p_actor, ARRAY['put'], ARRAY['campaign ' || p_id], ARRAY[NULL]::text[]);
    END IF;
    RETURN v_is_new;
END $$;

CREATE FUNCTION gateway.remove_campaign(p_tenant text, p_app text, p_vendor text, p_id text, p_actor text)
RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM gateway.campaign WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND campaign_id = p_id;
    IF NOT FOUND THEN RETURN 0; END IF;
    IF p_actor IS NOT NULL THEN
        PERFORM gateway.write_audit(p_tenant, p_actor, ARRAY['remove'], ARRAY['campaign ' || p_id], ARRAY[NULL]::text[]);
    END IF;
    RETURN 1;
END $$;

-- Cancels the message of a schedule that is still to come. Its id; null: there is none, or it is no longer to come.
CREATE FUNCTION gateway.cancel_scheduled(p_tenant text, p_app text, p_vendor text, p_schedule uuid)
RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    v_message uuid;
    v_state text;
    v_count bigint;
BEGIN
    SELECT s.message_id INTO v_message FROM gateway.schedule s
        WHERE s.tenant_id = p_tenant AND s.app_id = p_app AND s.vendor = p_vendor AND s.schedule_id = p_schedule FOR UPDATE;
    SELECT m.state INTO v_state FROM gateway.message m WHERE m.tenant_id = p_tenant AND m.message_id = v_message FOR UPDATE;
    IF v_state IS DISTINCT FROM 'scheduled' THEN RETURN NULL; END IF;
    v_count := gateway.control_message(p_tenant, p_app, p_vendor, v_message, 'cancel');
    PERFORM gateway.note_controlled(p_tenant, v_message, 'cancel', v_count);
    RETURN v_message;
END $$;

-- Cancels the message of a schedule that is to have another one: GW409 if it is no longer what was read, or no longer to come.
CREATE FUNCTION gateway.withdraw_schedule(p_tenant text, p_app text, p_vendor text, p_schedule uuid, p_message uuid)
RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    IF gateway.cancel_scheduled(p_tenant, p_app, p_vendor, p_schedule) IS DISTINCT FROM p_message THEN
        RAISE EXCEPTION 'the schedule has changed' USING ERRCODE = 'GW409';
    END IF;
    RETURN 1;
END $$;

CREATE FUNCTION gateway.drop_schedule(p_tenant text, p_app text, p_vendor text, p_schedule uuid) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    IF gateway.cancel_scheduled(p_tenant, p_app, p_vendor, p_schedule) IS NULL THEN RETURN 0; END IF;
    DELETE FROM gateway.schedule WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND schedule_id = p_schedule;
    RETURN 1;
END $$;

REVOKE ALL ON FUNCTION gateway.put_campaign, gateway.remove_campaign, gateway.cancel_scheduled, gateway.withdraw_schedule, gateway.drop_schedule
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gateway.put_campaign, gateway.remove_campaign, gateway.cancel_scheduled, gateway.withdraw_schedule, gateway.drop_schedule
    TO gateway_call, gateway_engine;
