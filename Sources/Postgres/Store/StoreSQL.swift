/// A statement's text and over whose rows it goes. Every statement of the stores is one, so that a test can read them all.
struct StoreSQL: Sendable {
    enum Reach: Sendable {
        /// One tenant's rows: it names `tenant_id` for each tenant table in it.
        case tenant
        /// Reference tables, bookkeeping, or a look over all tenants by the engine's role.
        case global
    }

    let text: String
    let reach: Reach

    private init(_ text: String, _ reach: Reach) {
        self.text = text
        self.reach = reach
    }

    static func tenant(_ text: String) -> StoreSQL { StoreSQL(text, .tenant) }
    static func global(_ text: String) -> StoreSQL { StoreSQL(text, .global) }

    /// The statement with its parameters.
    func callAsFunction(_ parameters: PostgresValue...) -> Statement { Statement(text, parameters) }

    /// The statement with a list of parameters.
    func with(_ parameters: [PostgresValue]) -> Statement { Statement(text, parameters) }

    /// A call of a function of ours with `count` parameters, the first of which is the tenant.
    static func function(_ name: String, _ count: Int, columns: String = "*") -> StoreSQL {
        let places = (1...max(1, count)).map { "$\($0)" }.joined(separator: ", ")
        return .tenant("SELECT \(columns) FROM gateway.\(name)(\(places))")
    }

    /// What `SnapshotRow` reads, of `delivery d` and `message m`.
    static let snapshotColumns = """
        d.message_id, d.target_id, d.identity_id, d.address, d.state, d.reason, d.sent_at, d.received_at, d.read_at, \
        m.state = 'scheduled' AS is_reserved, m.fallback
        """

    /// What `NotificationRow` reads, of `message m`.
    static let messageColumns =
        "m.message_id, m.app_id, m.vendor, m.content, m.due_at, m.due_local, m.expires_at, m.collapse_id, \(numbersColumn)"

    /// What dialects that number messages call `message m`; `$1` is the tenant.
    static let numbersColumn = """
        (SELECT json_object_agg(r.vendor, r.ref)::text FROM gateway.message_ref r \
        WHERE r.tenant_id = $1 AND r.message_id = m.message_id) AS numbers
        """

    /// What `ClockRow` reads, of `device d`.
    static let clockColumns = "d.time_zone, d.window_from, d.window_to"

    /// Every statement of every store.
    static var all: [StoreSQL] {
        RegistrationSQL.all + PreferenceSQL.all + InboxSQL.all + SubmissionSQL.all + DeliverySQL.all + WebhookSQL.all
            + ProvisioningSQL.all + DirectorySQL.all + QuerySQL.all + EventSQL.all + SubscriptionSQL.all + DeviceSQL.all
            + StatusSQL.all + GaugeSQL.all + HistorySQL.all + NumberSQL.all + BadgeSQL.all + CatalogSQL.all
            + MaintenanceSQL.all + AuditSQL.all + AnswerSQL.all + CaptureSQL.all + UserSQL.all + CampaignSQL.all
            + ListSQL.all
    }
}
