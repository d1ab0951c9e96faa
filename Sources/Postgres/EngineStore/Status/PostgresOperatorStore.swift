package import Model
package import PostgresClient
import Store

/// The queue of one tenant, as far as it is cheap to count.
package struct TenantQueue: Sendable, Hashable {
    /// The slices of one lane.
    package struct LanePart: Sendable, Hashable {
        package var lane: Lane
        package var isPaused: Bool
        /// Slices that are due, or whose lease has ended.
        package var due: Int
        /// Slices that are not done: due, leased or waiting.
        package var open: Int
        /// When the first of those that are due became due.
        package var oldestDueAt: Timestamp?
    }

    /// The slices that wait for a credential.
    package struct Held: Sendable, Hashable {
        package var credential: CredentialID
        package var slices: Int
    }

    package var lanes: [LanePart]
    package var held: [Held]
    /// When this was read, by the database's clock.
    package var seenAt: Timestamp

    /// 1,000 slices are counted in each lane, and for all credentials together: half a million targets.
    package static let countLimit = 1000
}

/// A binding of an app, without its secrets.
package struct ListedBinding: Sendable, Hashable {
    package var vendor: Vendor
    package var kind: String
    /// The ends of the vendor's key, which may be a secret of that vendor.
    package var key: String
    package var host: String?
    /// By dotted name; secrets are masked.
    package var settings: JSONObject
    package var origin: ObjectOrigin

    /// 100 bindings per app: one per vendor, or some of them.
    package static let limit = 100
}

/// Reads what an operator of a tenant looks at: nodes, queue, credentials and bindings.
package struct PostgresOperatorStore: Sendable {
    private let engine: PostgresPool

    /// - Parameter engine: the pool of `gateway_engine`.
    package init(engine: PostgresPool) { self.engine = engine }

    private static let nodePage = StoreSQL.global(
        "SELECT node_id, started_at, seen_at FROM gateway.node WHERE node_id > $1 ORDER BY node_id LIMIT $2"
    )

    /// One probe per lane, of at most `$2` entries of an index.
    private static let laneCounts = StoreSQL.tenant(
        """
        SELECT l.lane, l.is_paused, d.slices AS due, d.oldest, o.slices AS open
        FROM gateway.lane l
        CROSS JOIN LATERAL (
            SELECT count(*) AS slices, min(y.next_at) AS oldest FROM (
                SELECT s.next_at FROM gateway.slice s
                WHERE s.tenant_id = $1 AND s.lane = l.lane AND s.state IN ('ready', 'leased') AND s.next_at <= now()
                ORDER BY s.next_at LIMIT $2) y) d
        CROSS JOIN LATERAL (
            SELECT count(*) AS slices FROM (
                SELECT 1 FROM gateway.slice s
                WHERE s.tenant_id = $1 AND s.lane = l.lane AND s.state IN ('ready', 'leased')
                ORDER BY s.next_at LIMIT $2) y) o
        WHERE l.tenant_id = $1 ORDER BY l.lane
        """
    )

    private static let heldCounts = StoreSQL.tenant(
        """
        SELECT y.held_by, count(*) AS slices FROM (
            SELECT s.held_by FROM gateway.slice s WHERE s.tenant_id = $1 AND s.held_by IS NOT NULL ORDER BY s.held_by LIMIT $2) y
        GROUP BY y.held_by ORDER BY y.held_by
        """
    )

    private static let bindingList = StoreSQL.tenant(
        """
        SELECT b.vendor, b.kind, b.value, b.host, b.app_id, b.settings::text AS settings, b.origin FROM gateway.binding b
        WHERE b.tenant_id = $1 AND b.app_id = $2 ORDER BY b.vendor, b.kind, b.value, b.host LIMIT $3
        """
    )

    /// Returns the running processes by id, beginning after `id`.
    ///
    /// - Throws: `StoreError`.
    package func nodes(after id: String?, limit: Int) async throws(StoreError) -> [NodeFacts] {
        try await asStore { () throws(PostgresError) in
            try await engine.run(Self.nodePage(.string(id ?? ""), .int(limit)), tenant: nil).rows {
                (row) throws(PostgresError) in
                NodeFacts(
                    id: try row.id("node_id"),
                    startedAt: try row.time("started_at"),
                    seenAt: try row.time("seen_at")
                )
            }
        }
    }

    /// Returns the queue of a tenant.
    ///
    /// - Throws: `StoreError`.
    package func queue(of tenant: TenantID) async throws(StoreError) -> TenantQueue {
        try await asStore { () throws(PostgresError) in
            let limit = PostgresValue.int(TenantQueue.countLimit)
            let results = try await engine.run(
                [Self.laneCounts(.id(tenant), limit), Self.heldCounts(.id(tenant), limit), StatusSQL.now()],
                tenant: nil
            )
            return TenantQueue(
                lanes: try results.result(0).rows { (row) throws(PostgresError) in
                    TenantQueue.LanePart(
                        lane: try row.lane("lane"),
                        isPaused: try row.bool("is_paused"),
                        due: try row.int("due"),
                        open: try row.int("open"),
                        oldestDueAt: try row.optionalTime("oldest")
                    )
                },
                held: try results.result(1).rows { (row) throws(PostgresError) in
                    TenantQueue.Held(credential: try row.id("held_by"), slices: try row.int("slices"))
                },
                seenAt: try results.result(2).only().time("now")
            )
        }
    }

    /// Bindings of the vendors `$2` of which the settings `$3`, in the same order, are lists with elements. At most 10,000: a tenant has 1,000 apps.
    private static let appsWithSettings = StoreSQL.global(
        """
        SELECT DISTINCT b.vendor || '/' || b.app_id AS name FROM gateway.binding b
        JOIN unnest($2::text[], $3::text[]) AS s(vendor, setting) ON s.vendor = b.vendor
        WHERE b.tenant_id = $1 AND CASE json_typeof(b.settings->s.setting)
            WHEN 'array' THEN json_array_length(b.settings->s.setting) > 0 ELSE false END
        LIMIT 10000
        """
    )

    /// The apps whose bindings have elements in these settings of their vendors, as `VENDOR/APP`.
    ///
    /// - Throws: `StoreError`.
    package func apps(
        withSettings settings: [Vendor: String],
        in tenant: TenantID
    ) async throws(StoreError) -> [String] {
        try await asStore { () throws(PostgresError) in
            let names = settings.sorted { $0.key.rawValue < $1.key.rawValue }
            let statement = Self.appsWithSettings(
                .id(tenant),
                .strings(names.map(\.key.rawValue)),
                .strings(names.map(\.value))
            )
            return try await engine.run(statement, tenant: nil).rows { (row) throws(PostgresError) in
                try row.text("name")
            }
        }
    }

    /// `$2`: whether of latencies, else of counts; `$3`: apps; null: all.
    private static let merged = StoreSQL.tenant(
        """
        SELECT CASE WHEN $2 THEN f.latencies_rolled ELSE f.rolled END AS rolled, ARRAY(
            SELECT DISTINCT gateway.known_zone(a.defaults->>'timeZone', NULL) FROM gateway.app a
            WHERE a.tenant_id = $1 AND ($3::text[] IS NULL OR a.app_id = ANY ($3))) AS zones
        FROM gateway.counter_fold f WHERE f.tenant_id = $1
        """
    )

    /// The end of the time whose counts, or latencies, are merged into days of their app's time zone, and the zones of these apps (empty: of all), each once.
    ///
    /// - Returns: nil if nothing is merged.
    /// - Throws: `StoreError`.
    package func mergedFigures(
        of tenant: TenantID,
        apps: [AppID] = [],
        latencies: Bool = false
    ) async throws(StoreError) -> (until: Timestamp, zones: [String])? {
        let apps: PostgresValue = apps.isEmpty ? .null : .strings(apps.map(\.rawValue))
        return try await asStore { () throws(PostgresError) -> (until: Timestamp, zones: [String])? in
            let statement = Self.merged(.id(tenant), .bool(latencies), apps)
            guard let row = try await engine.run(statement, tenant: nil).first,
                let quarter = try row.optionalInt("rolled")
            else { return nil }
            return (QuarterRange(from: Int32(clamping: quarter), to: .max).start, try row.texts("zones"))
        }
    }

    /// Returns the bindings of an app by vendor, at most `ListedBinding.limit`.
    ///
    /// - Throws: `StoreError`.
    package func bindings(of app: AppID, in tenant: TenantID) async throws(StoreError) -> [ListedBinding] {
        try await asStore { () throws(PostgresError) in
            let statement = Self.bindingList(.id(tenant), .id(app), .int(ListedBinding.limit))
            return try await engine.run(statement, tenant: nil).rows { (row) throws(PostgresError) in
                let host = try row.text("host")
                let key = try row.text("value")
                let settings = FormerSettings.withoutPeople(try row.object("settings"))
                let shown = SettingChanges(from: nil, to: settings, isSecret: FormerSettings.isKeyOfVendor).after
                return ListedBinding(
                    vendor: try row.id("vendor"),
                    kind: try row.text("kind"),
                    key: DeviceToken(stored: key).masked,
                    host: host.isEmpty ? nil : host,
                    // The settings of some vendors repeat the key.
                    settings: JSONObject(
                        shown.pairs.map { ($0.key, $0.value == .string(key) ? .string(SettingChanges.mask) : $0.value) }
                    ),
                    origin: try row.word("origin")
                )
            }
        }
    }
}
