/// Campaigns, schedules and labels.
enum CampaignSQL {
    static let put = StoreSQL.function("put_campaign", 8, columns: "put_campaign AS is_new")
    static let remove = StoreSQL.function("remove_campaign", 5, columns: "remove_campaign AS count")
    static let withdraw = StoreSQL.function("withdraw_schedule", 5, columns: "withdraw_schedule AS count")
    static let drop = StoreSQL.function("drop_schedule", 4, columns: "drop_schedule AS count")

    private static let columns = "c.campaign_id, c.name, c.body, c.created_at, c.updated_at"

    static let find = StoreSQL.tenant(
        """
        SELECT \(columns) FROM gateway.campaign c
        WHERE c.tenant_id = $1 AND c.app_id = $2 AND c.vendor = $3 AND c.campaign_id = $4
        """
    )

    static let list = StoreSQL.tenant(
        """
        SELECT \(columns) FROM gateway.campaign c
        WHERE c.tenant_id = $1 AND c.app_id = $2 AND c.vendor = $3 AND ($4::text IS NULL OR c.campaign_id COLLATE "C" > $4)
        ORDER BY c.campaign_id COLLATE "C" LIMIT $5
        """
    )

    /// A new one, or another message under its name.
    static let keep = StoreSQL.tenant(
        """
        INSERT INTO gateway.schedule (tenant_id, app_id, vendor, schedule_id, message_id, request)
        VALUES ($1, $2, $3, $4, $5, $6::json)
        ON CONFLICT (tenant_id, app_id, vendor, schedule_id) DO UPDATE SET message_id = excluded.message_id, request = excluded.request
        """
    )

    private static let scheduleColumns = """
        s.schedule_id, s.message_id, s.request, m.state, m.due_at, m.due_local IS NOT NULL AS is_local
        FROM gateway.schedule s JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = s.message_id
        WHERE s.tenant_id = $1 AND s.app_id = $2 AND s.vendor = $3
        """

    static let schedule = StoreSQL.tenant("SELECT \(scheduleColumns) AND s.schedule_id = $4")

    static let schedules = StoreSQL.tenant(
        """
        SELECT \(scheduleColumns) AND m.state = 'scheduled' AND ($4::timestamptz IS NULL OR m.due_at <= $4)
        ORDER BY m.due_at, s.schedule_id LIMIT $5
        """
    )

    static let label = StoreSQL.tenant(
        """
        INSERT INTO gateway.message_label (tenant_id, app_id, vendor, label, due_day, message_id)
        SELECT $1, $2, $3, l.label, m.due_day, m.message_id
        FROM unnest($5::text[]) AS l(label) JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = $4
        ON CONFLICT DO NOTHING
        """
    )

    /// Of each day one partition.
    static let series = StoreSQL.tenant(
        """
        SELECT l.due_day, count(*) FILTER (WHERE d.state IN ('sent', 'received', 'read')) AS sent,
            count(*) FILTER (WHERE d.state = 'read') AS read, count(*) FILTER (WHERE d.state = 'failed') AS failed,
            count(DISTINCT coalesce(d.user_id, chr(31) || d.target_id::text)) FILTER (WHERE d.state IN ('sent', 'received', 'read')) AS users
        FROM gateway.message_label l
        JOIN gateway.delivery d ON d.tenant_id = $1 AND d.due_day = l.due_day AND d.message_id = l.message_id
            AND d.due_day BETWEEN $5 AND $6
        WHERE l.tenant_id = $1 AND l.app_id = $2 AND l.vendor = $3 AND l.label = $4 AND l.due_day BETWEEN $5 AND $6
        GROUP BY l.due_day ORDER BY l.due_day
        """
    )

    static let all = [put, remove, withdraw, keep, drop, find, list, schedule, schedules, label, series]
}
