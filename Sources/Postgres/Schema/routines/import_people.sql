-- Applies what imported rows say about their users, as parallel arrays: consents (`import_consents`), and groups, as a JSON array of names each. A user is added
-- to groups and never removed from one; a group that does not exist is created. Returns for each row 'changed', 'older' or ''. Users come first and groups
-- second, each in their order, so that two imports wait for each other and cannot deadlock.
CREATE OR REPLACE FUNCTION gateway.import_people(
    p_tenant text, p_app text, p_vendor text, p_users text[], p_groups text[], p_consents text[], p_source text)
RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    v_done text[] := array_fill(''::text, ARRAY[cardinality(p_users)]);
    v_place integer;
    v_group text;
    v_added bigint;
    r record;
BEGIN
    FOR r IN
        SELECT u.o AS place, u.user_id, u.said FROM unnest(p_users, p_consents) WITH ORDINALITY AS u(user_id, said, o)
        WHERE u.user_id IS NOT NULL AND u.said IS NOT NULL ORDER BY u.user_id, u.o
    LOOP
        v_place := r.place;
        v_done[v_place] := gateway.import_consents(p_tenant, p_app, p_vendor, r.user_id, r.said::json, p_source);
    END LOOP;
    FOR r IN
        SELECT u.o AS place, u.user_id, g.name AS group_name FROM unnest(p_users, p_groups) WITH ORDINALITY AS u(user_id, groups, o)
        CROSS JOIN LATERAL json_array_elements_text(u.groups::json) AS g(name)
        WHERE u.user_id IS NOT NULL AND NOT EXISTS (
            SELECT FROM gateway.group_member m
            WHERE m.tenant_id = p_tenant AND m.app_id = p_app AND m.vendor = p_vendor AND m.group_name = g.name AND m.user_id = u.user_id OFFSET 0)
        ORDER BY g.name, u.user_id, u.o
    LOOP
        IF r.group_name IS DISTINCT FROM v_group THEN
            v_group := r.group_name;
            PERFORM gateway.put_group(p_tenant, p_app, p_vendor, v_group);
        END IF;
        SELECT c.added INTO v_added FROM gateway.change_members(p_tenant, p_app, p_vendor, v_group, ARRAY[r.user_id], '{}') c;
        v_place := r.place;
        IF v_added > 0 AND v_done[v_place] = '' THEN v_done[v_place] := 'changed'; END IF;
    END LOOP;
    RETURN v_done;
END $$;

REVOKE ALL ON FUNCTION gateway.import_people FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.import_people TO gateway_call, gateway_engine;
