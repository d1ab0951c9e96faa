/// Devices, identities, senders and verifications.
enum RegistrationSQL {
    static let register = StoreSQL.function("register_noted", 16)
    /// The same for many, as a `Fold` puts it.
    static let registerMany = StoreSQL.function("register_many", 15)
    static let registerTagged = StoreSQL.function("register_tagged", 17)
    static let registerTimed = StoreSQL.function("register_timed", 20)
    static let updateToken = StoreSQL.function("update_token", 7, columns: "update_token AS count")
    static let unregister = StoreSQL.function("unregister_identities", 5, columns: "unregister_identities AS count")

    static let expect = StoreSQL.function("expect_identity", 5, columns: "expect_identity AS count")

    static let identity = StoreSQL.tenant(
        """
        SELECT i.identity_id, i.device_id, i.state, i.phone, coalesce(d.platform, 'ios') AS platform
        FROM gateway.identity i
        LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
        WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.key = $4
        """
    )

    private static func listed(_ condition: String) -> StoreSQL {
        StoreSQL.tenant(
            """
            SELECT i.key, i.state, i.user_id, i.attributes, d.token, d.token_state
            FROM gateway.identity i
            JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
            WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.key >= $4 AND i.state = 'active'
                AND d.token_state = 'active' \(condition)
            ORDER BY i.key LIMIT $5
            """
        )
    }

    static let listedAll = listed("")
    static let listedByToken = listed("AND d.app_id = $2 AND d.token_digest = md5($6) AND d.token = $6")
    static let listedByTag = listed(
        """
        AND i.identity_id IN (SELECT t.identity_id FROM gateway.identity_tag t
            WHERE t.tenant_id = $1 AND t.app_id = $2 AND t.vendor = $3 AND t.tag = ANY ($6))
        """
    )

    static let registerSender = StoreSQL.tenant(
        """
        INSERT INTO gateway.sender (tenant_id, app_id, vendor, name, sender_id) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (tenant_id, app_id, vendor, name) DO UPDATE SET name = excluded.name
        RETURNING sender_id, enrolment_key, callback_url
        """
    )

    static let sender = StoreSQL.tenant(
        """
        SELECT sender_id, enrolment_key, callback_url FROM gateway.sender
        WHERE tenant_id = $1 AND app_id = $2 AND vendor = $3 AND sender_id = $4
        """
    )

    static let enrol = StoreSQL.tenant(
        """
        UPDATE gateway.sender SET enrolment_key = coalesce(enrolment_key, $5), enrolment_name = coalesce($6, enrolment_name),
            address = coalesce($7, address)
        WHERE tenant_id = $1 AND app_id = $2 AND vendor = $3 AND sender_id = $4
        RETURNING sender_id, enrolment_key, callback_url
        """
    )

    static let setCallback = StoreSQL.function("set_callback", 5, columns: "set_callback AS count")
    static let putVerification = StoreSQL.function("put_verification", 8, columns: "put_verification AS permitted")
    static let checkVerification = StoreSQL.function(
        "check_verification",
        8,
        columns: "check_verification AS permitted"
    )

    static let all = [
        register, registerMany, registerTagged, registerTimed, updateToken, unregister, identity, registerSender,
        sender, enrol,
        setCallback,
        putVerification,
        checkVerification, expect, listedAll, listedByToken, listedByTag,
    ]
}
