package import PostgresClient

/// The text of a statement and the rows that it may touch. Every statement of the stores is one, so that tests can check each against its declaration.
package struct StoreSQL: Sendable {
    let text: String
    let reach: Statement.Reach

    private init(_ text: String, _ reach: Statement.Reach) {
        self.text = text
        self.reach = reach
    }

    package static func tenant(_ text: String) -> StoreSQL { StoreSQL(text, .tenant) }
    package static func global(_ text: String) -> StoreSQL { StoreSQL(text, .global) }

    /// The statement with its parameters.
    package func callAsFunction(_ parameters: PostgresValue...) -> Statement {
        Statement(text, parameters, reach: reach)
    }

    /// The statement with a list of parameters.
    package func with(_ parameters: [PostgresValue]) -> Statement {
        Statement(text, parameters, reach: reach)
    }

    /// A call of a function of the schema with `count` parameters, the first of which is the tenant. For more than twelve parameters, use a `Routine`.
    package static func function(_ name: String, _ count: Int, columns: String = "*") -> StoreSQL {
        let places = (1...max(1, count)).map { "$\($0)" }.joined(separator: ", ")
        return .tenant("SELECT \(columns) FROM gateway.\(name)(\(places))")
    }

    /// The columns that `SnapshotRow` reads, of `delivery d` and `message m`.
    package static let snapshotColumns = """
        d.message_id, d.target_id, d.identity_id, d.address, d.state, d.reason, d.sent_at, d.received_at, d.read_at, \
        m.state = 'scheduled' AS is_reserved, m.fallback
        """

    /// The columns that `NotificationRow` reads, of `message m`.
    package static let messageColumns =
        "m.message_id, m.app_id, m.vendor, m.content, m.due_at, m.due_local, m.expires_at, m.collapse_id, \(numbersColumn)"

    /// The numbers of `message m` in the dialects that number messages. `$1` is the tenant.
    package static let numbersColumn = """
        (SELECT json_object_agg(r.vendor, r.ref)::text FROM gateway.message_ref r \
        WHERE r.tenant_id = $1 AND r.message_id = m.message_id) AS numbers
        """

    /// The columns that `ClockRow` reads, of `device d`.
    package static let clockColumns = "d.time_zone, d.window_from, d.window_to"

    /// The columns that `TargetRow` reads, of `identity i` and `device d`. A registration that has ended is `unregistered`.
    package static let targetColumns = """
        i.identity_id, i.app_id, i.vendor, i.key, i.first_key, i.user_id, i.name, i.phone, i.assurance, i.client_number,
            i.accepts_push AND i.denies_push IS NOT TRUE AS accepts_push,
            CASE WHEN i.ends_at <= now() THEN 'unregistered' ELSE i.state END AS state,
            d.device_id, coalesce(d.platform, 'ios') AS platform, coalesce(d.environment, 'production') AS environment,
            d.token, coalesce(d.token_state, 'none') AS token_state, d.token_registered_at,
            \(clockColumns)
        """

    /// The messages of the app `app` that the device `device` was sent within `period`, at most `limit`. Only messages that were due since the day `since`
    /// count: without that limit, every partition would be read.
    package static func sentWithin(
        _ period: String,
        to device: String,
        of app: String,
        since: String,
        limit: String
    ) -> String {
        """
        SELECT 1 FROM gateway.delivery d
                WHERE d.tenant_id = $1 AND d.device_id = \(device) AND d.due_day >= \(since) AND d.app_id = \(app)
                    AND d.state IN ('sent', 'received', 'read') AND d.sent_at > now() - \(period)::interval
                LIMIT \(limit)
        """
    }
}
