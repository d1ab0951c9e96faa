-- Targets that are a part of an identity: the templates of an installation, each of which a send by template may mean.
--
-- What an identity has is in its attributes: "variants", by name the folded tags of each. A message whose content says "variants" is for those.

-- A variant that some message meant, so that its target leads back to the identity. Made when an audience is expanded, gone with the variant then.
CREATE TABLE gateway.variant (
    tenant_id text NOT NULL,
    target_id uuid NOT NULL,
    identity_id uuid NOT NULL,
    name text NOT NULL,
    PRIMARY KEY (tenant_id, target_id)
);
SELECT gateway.colocate('gateway.variant');
-- An erased identity's variants go with it.
ALTER TABLE gateway.variant ADD FOREIGN KEY (tenant_id, identity_id) REFERENCES gateway.identity ON DELETE CASCADE;
CREATE INDEX variant_identity ON gateway.variant (tenant_id, identity_id, name);

ALTER TABLE gateway.variant ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.variant USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));

GRANT SELECT ON gateway.variant TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.variant TO gateway_engine;

-- The targets of those variants of p_ids that p_choice means, in the order of p_ids. p_choice: {"tags": […], "cares": […], "wants": […]}, as `TagTerms` has
-- them; a variant has its own tags and its identity's.
CREATE FUNCTION gateway.fan_out(p_tenant text, p_ids uuid[], p_choice jsonb) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    v_tags text[] := ARRAY(SELECT jsonb_array_elements_text(p_choice->'tags'));
    v_cares bigint[] := ARRAY(SELECT x::bigint FROM jsonb_array_elements_text(p_choice->'cares') AS x);
    v_wants bigint[] := ARRAY(SELECT x::bigint FROM jsonb_array_elements_text(p_choice->'wants') AS x);
    v_targets uuid[] := '{}';
    v record;
BEGIN
    -- What is no longer registered is not kept either: names are the caller's, and would grow without end.
    DELETE FROM gateway.variant o WHERE o.tenant_id = p_tenant AND o.identity_id = ANY (p_ids) AND NOT EXISTS (
        SELECT FROM gateway.identity i WHERE i.tenant_id = p_tenant AND i.identity_id = o.identity_id
            AND (i.attributes->'variants')::jsonb ? o.name);
    FOR v IN
        SELECT a.place, i.identity_id, e.key AS name, md5(i.identity_id::text || chr(31) || e.key)::uuid AS target_id
        FROM unnest(p_ids) WITH ORDINALITY AS a(identity_id, place)
        JOIN gateway.identity i ON i.tenant_id = p_tenant AND i.identity_id = a.identity_id
        CROSS JOIN LATERAL jsonb_each(
            CASE json_typeof(i.attributes->'variants') WHEN 'object' THEN (i.attributes->'variants')::jsonb ELSE '{}' END) AS e
        CROSS JOIN LATERAL (
            SELECT coalesce(bit_or(1::bigint << (n.place - 1)::integer), 0) AS bits
            FROM unnest(v_tags) WITH ORDINALITY AS n(tag, place)
            WHERE e.value ? n.tag OR EXISTS (
                SELECT FROM gateway.identity_tag t
                WHERE t.tenant_id = p_tenant AND t.identity_id = i.identity_id AND t.tag = n.tag)) AS b
        WHERE EXISTS (SELECT FROM unnest(v_cares, v_wants) AS c(cares, wants) WHERE b.bits & c.cares = c.wants)
        ORDER BY a.place, e.key
    LOOP
        INSERT INTO gateway.variant (tenant_id, target_id, identity_id, name)
            VALUES (p_tenant, v.target_id, v.identity_id, v.name) ON CONFLICT DO NOTHING;
        v_targets := v_targets || v.target_id;
    END LOOP;
    RETURN v_targets;
END $$;

-- An expansion, page by page. New: a message for variants has one target for each of them. Its slices begin small, because an identity may have twenty.
CREATE FUNCTION gateway.expand_variants(
    p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_page integer, p_slice_size integer)
RETURNS TABLE (outcome text, targets bigint, after uuid) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    m record;
    v_last integer;
    e record;
    s record;
    v_targets uuid[];
    v_more integer := 0;
    v_empty integer := 0;
BEGIN
    SELECT (x.content->'variants')::jsonb AS choice, x.app_id, x.vendor, x.due_at INTO m FROM gateway.message x
        WHERE x.tenant_id = p_tenant AND x.message_id = p_message;
    IF m.choice IS NULL THEN
        RETURN QUERY SELECT x.outcome, x.targets, x.after
            FROM gateway.expand_paced(p_tenant, p_message, p_no, p_epoch, p_owner, p_page, p_slice_size) x;
        RETURN;
    END IF;
    SELECT max(x.no) INTO v_last FROM gateway.slice x WHERE x.tenant_id = p_tenant AND x.message_id = p_message;
    SELECT x.outcome, x.targets, x.after INTO e
        FROM gateway.expand_paced(p_tenant, p_message, p_no, p_epoch, p_owner, p_page, greatest(1, p_slice_size / 20)) x;
    FOR s IN
        SELECT x.no, x.targets FROM gateway.slice x
        WHERE x.tenant_id = p_tenant AND x.message_id = p_message AND x.no > v_last ORDER BY x.no
    LOOP
        v_targets := gateway.fan_out(p_tenant, s.targets, m.choice);
        v_more := v_more + cardinality(v_targets) - cardinality(s.targets);
        v_empty := v_empty + (cardinality(v_targets) = 0)::integer;
        UPDATE gateway.slice SET targets = v_targets, state = CASE WHEN cardinality(v_targets) = 0 THEN 'done' ELSE 'ready' END
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = s.no;
    END LOOP;
    IF v_more <> 0 OR v_empty <> 0 THEN
        UPDATE gateway.message SET expanded = expanded + v_more, open_slices = open_slices - v_empty
            WHERE tenant_id = p_tenant AND message_id = p_message;
        PERFORM gateway.add_counts(p_tenant, m.app_id, m.vendor, m.due_at, p_owner, v_more, 0, 0, 0, 0, 0, 0, 0);
    END IF;
    RETURN QUERY SELECT e.outcome, e.targets, e.after;
END $$;

REVOKE ALL ON FUNCTION gateway.fan_out, gateway.expand_variants FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gateway.fan_out, gateway.expand_variants TO gateway_engine;
