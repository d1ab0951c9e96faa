import PostgresClient

/// The facts that decide whether a push reaches a device, for its diagnosis.
enum DiagnosisSQL {
    /// The device `$2` with its app, and whether the tenant's lane `$3` is paused.
    static let device = StoreSQL.tenant(
        """
        SELECT \(DeviceSQL.columns), d.token_reason, a.platforms::text AS platforms, a.defaults::text AS defaults, a.retired_at,
            coalesce((SELECT l.is_paused FROM gateway.lane l WHERE l.tenant_id = $1 AND l.lane = $3), false) AS is_paused, now() AS asked_at
        FROM gateway.device d JOIN gateway.app a ON a.tenant_id = $1 AND a.app_id = d.app_id
        WHERE d.tenant_id = $1 AND d.device_id = $2
        """
    )

    /// The identities of the device `$2`: the active ones first, then those registered last, at most `$3`.
    static let identities = StoreSQL.tenant(
        """
        SELECT \(StoreSQL.targetColumns), i.registered_at, i.user_since, i.ends_at, i.denies_push IS TRUE AS denies_push,
            coalesce(i.client, '{}') AS client,
            \(ResolvedTarget.isOutranked(.user, app: "i.app_id")) OR \(ResolvedTarget.isOutranked(.phone, app: "i.app_id")) AS is_outranked,
            coalesce(p.opted_in, false) AS opted_in, coalesce(p.consents, '{}')::text AS consents
        FROM gateway.identity i
        LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
        LEFT JOIN gateway.user_profile p
            ON p.tenant_id = $1 AND p.app_id = i.app_id AND p.vendor = i.vendor AND p.user_id = i.user_id
        WHERE i.tenant_id = $1 AND i.device_id = $2
        ORDER BY i.state = 'active' DESC, i.registered_at DESC, i.identity_id LIMIT $3
        """
    )

    /// The deliveries to the device `$2` that have an outcome, the latest due first, at most `$3`.
    static let deliveries = StoreSQL.tenant(
        """
        SELECT \(MessageSQL.deliveryColumns) FROM gateway.delivery d
        JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = d.message_id
        WHERE d.tenant_id = $1 AND d.device_id = $2 AND NOT m.awaits_approval
        ORDER BY d.message_id DESC LIMIT $3
        """
    )

    /// The messages that wait for the device `$2`: at most `$4`, among `$3` open messages of the tenant.
    static let waiting = StoreSQL.tenant("SELECT * FROM gateway.waiting_messages($1, $2, $3, $4)")

    /// The number of messages of the app `$3` that the device `$2` was sent within `$5`, at most `$6`; `$4` is the first due day.
    static let sent = StoreSQL.tenant(
        """
        SELECT count(*) AS sent FROM (
            \(StoreSQL.sentWithin("$5", to: "$2", of: "$3", since: "$4", limit: "$6"))) AS x
        """
    )
}
