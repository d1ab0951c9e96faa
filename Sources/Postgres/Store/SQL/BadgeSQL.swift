/// Badges, receipts by number, and whose a device is.
enum BadgeSQL {
    static let assign = StoreSQL.function("assign_user", 9)
    /// The same for many, as a `Fold` puts it.
    static let assignMany = StoreSQL.function("assign_users", 8)
    static let set = StoreSQL.function("set_badge", 7, columns: "set_badge AS badge")
    static let acknowledge = StoreSQL.function("acknowledge", 12)
    static let take = StoreSQL.function("take_badges", 5)

    static let standing = StoreSQL.tenant(
        """
        SELECT i.state, i.user_id, i.attributes, d.token, coalesce(d.token_state, 'none') AS token_state
        FROM gateway.identity i
        LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
        WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.key = $4
        """
    )

    static let visit = StoreSQL.tenant(
        """
        INSERT INTO gateway.campaign_mark AS c (tenant_id, app_id, vendor, user_id, campaign, at)
        SELECT $1, $2, $3, $4, $5, $6 WHERE EXISTS (
            SELECT FROM gateway.identity i WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.user_id = $4)
        ON CONFLICT (tenant_id, app_id, vendor, user_id, campaign) DO UPDATE SET at = greatest(c.at, excluded.at)
        """
    )

    static let all = [assign, assignMany, set, acknowledge, take, standing, visit]
}
