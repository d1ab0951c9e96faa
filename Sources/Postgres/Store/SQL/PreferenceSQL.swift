/// Groups of users.
enum PreferenceSQL {
    static let putGroup = StoreSQL.function("put_group", 4, columns: "put_group AS is_new")

    static let deleteGroup = StoreSQL.tenant(
        "DELETE FROM gateway.user_group WHERE tenant_id = $1 AND app_id = $2 AND vendor = $3 AND group_name = $4"
    )

    static let groups = StoreSQL.tenant(
        """
        SELECT g.group_name, g.created_at,
            (SELECT coalesce(sum(c.members), 0)::bigint FROM gateway.group_count c
                WHERE c.tenant_id = $1 AND c.app_id = $2 AND c.vendor = $3 AND c.group_name = g.group_name) AS members
        FROM gateway.user_group g
        WHERE g.tenant_id = $1 AND g.app_id = $2 AND g.vendor = $3 AND g.group_name = ANY ($4::text[]) ORDER BY g.group_name
        """
    )

    static let changeMembers = StoreSQL.function("change_members", 6)

    static let all = [putGroup, deleteGroup, groups, changeMembers]
}
