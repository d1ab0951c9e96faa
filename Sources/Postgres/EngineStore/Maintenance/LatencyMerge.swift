import Model
import PostgresClient
import Store

/// Latencies of quarter hours that become those of days.
enum LatencySQL {
    /// The tenants with latencies before the quarter hour `$1` that are not merged into days yet, as in `EventReaderSQL.due`.
    static let unrolled = StoreSQL.global(
        """
        SELECT t.tenant_id FROM (SELECT DISTINCT a.tenant_id FROM gateway.app a) t
        LEFT JOIN gateway.counter_fold f ON f.tenant_id = t.tenant_id
        CROSS JOIN LATERAL (
            SELECT 1 FROM gateway.latency l
            WHERE l.tenant_id = t.tenant_id AND l.quarter >= greatest(f.latencies_rolled, 0) AND l.quarter < $1 LIMIT 1) x
        """
    )

    /// The first quarter hour with latencies that are not merged yet, before `$2`.
    static let next = StoreSQL.tenant(
        """
        SELECT l.quarter FROM gateway.latency l
        WHERE l.tenant_id = $1 AND l.quarter < $2
            AND l.quarter >= greatest((SELECT f.latencies_rolled FROM gateway.counter_fold f WHERE f.tenant_id = $1), 0)
        ORDER BY l.quarter LIMIT 1
        """
    )

    /// Notes that everything before `$2` is merged. A row with the minute 0 means the same as none.
    static let note = StoreSQL.tenant(
        """
        INSERT INTO gateway.counter_fold AS f (tenant_id, minute, latencies_rolled) SELECT $1, 0, $2::integer
        ON CONFLICT (tenant_id) DO UPDATE SET latencies_rolled = greatest(f.latencies_rolled, excluded.latencies_rolled)
        """
    )

    /// Waits for a step of the event reader, and makes the next one wait: it stores sums, and would overwrite what is merged meanwhile.
    static let lock = StoreSQL.tenant(
        "SELECT r.cursor FROM gateway.event_reader r WHERE r.tenant_id = $1 FOR UPDATE"
    )

    /// The histograms of quarter hours from `$2` on and before `$3` that are not the first of a day, with the first one. At most `$4`.
    static let unmerged = StoreSQL.tenant(
        """
        WITH z AS MATERIALIZED (
            SELECT a.app_id, gateway.known_zone(a.defaults->>'timeZone', NULL) AS zone FROM gateway.app a WHERE a.tenant_id = $1)
        SELECT l.quarter, l.app_id, l.vendor, l.kind, l.histogram, q.first
        FROM gateway.latency l JOIN z ON z.app_id = l.app_id
        CROSS JOIN LATERAL (SELECT gateway.first_quarter(l.quarter, z.zone) AS first) q
        WHERE l.tenant_id = $1 AND l.quarter >= $2 AND l.quarter < $3 AND q.first <> l.quarter LIMIT $4
        """
    )

    static let remove = StoreSQL.tenant(
        """
        DELETE FROM gateway.latency l USING unnest($2::integer[], $3::text[], $4::text[], $5::text[]) AS u(quarter, app, vendor, kind)
        WHERE l.tenant_id = $1 AND l.quarter = u.quarter AND l.app_id = u.app AND l.vendor = u.vendor AND l.kind = u.kind
        """
    )
}

/// Histograms of quarter hours, and the days that they become a part of.
struct MergedLatencies: Sendable {
    private struct Key: Hashable, Comparable, Sendable {
        var quarter: Int32
        var app: String
        var vendor: String
        var kind: String

        static func < (first: Key, second: Key) -> Bool {
            (first.quarter, first.app, first.vendor, first.kind)
                < (second.quarter, second.app, second.vendor, second.kind)
        }
    }

    private let tenant: PostgresValue
    private let removed: [Key]
    private let days: [(key: Key, sum: LatencySum)]

    /// - Parameters:
    ///   - tenant: whose latencies.
    ///   - rows: the result of `LatencySQL.unmerged`.
    /// - Throws: for stored bytes that are malformed.
    init(_ tenant: PostgresValue, _ rows: ResultSet) throws(PostgresError) {
        self.tenant = tenant
        var removed: [Key] = []
        var sums: [Key: LatencySum] = [:]
        for row in rows {
            var key = Key(
                quarter: Int32(clamping: try row.int("quarter")),
                app: try row.text("app_id"),
                vendor: try row.text("vendor"),
                kind: try row.text("kind")
            )
            removed.append(key)
            key.quarter = Int32(clamping: try row.int("first"))
            try Self.add(row, to: &sums[key, default: LatencySum()])
        }
        self.removed = removed.sorted()
        days = sums.map { (key: $0.key, sum: $0.value) }.sorted { $0.key < $1.key }
    }

    var isEmpty: Bool { removed.isEmpty }

    /// Loads what the days have already.
    var loading: Statement {
        EventReaderSQL.latencies.with([tenant, .ints(Array(days.indices))] + Self.columns(days.map(\.key)))
    }

    /// The statements that store the days and remove the quarter hours.
    ///
    /// - Throws: for stored bytes that are malformed.
    func writing(_ loaded: ResultSet) throws(PostgresError) -> [Statement] {
        var sums = days.map(\.sum)
        for row in loaded {
            let place = try row.int("place")
            guard sums.indices.contains(place) else { continue }
            try Self.add(row, to: &sums[place])
        }
        let histograms = PostgresValue.byteArrays(sums.map(\.histogram.encoded))
        return [
            EventReaderSQL.storeLatencies.with([tenant] + Self.columns(days.map(\.key)) + [histograms]),
            LatencySQL.remove.with([tenant] + Self.columns(removed)),
        ]
    }

    private static func add(_ row: Row, to sum: inout LatencySum) throws(PostgresError) {
        guard sum.add(encoded: try row.bytes("histogram")) else {
            throw PostgresError(.other, reason: "a stored histogram is malformed")
        }
    }

    private static func columns(_ keys: [Key]) -> [PostgresValue] {
        [
            .int32s(keys.map(\.quarter)), .strings(keys.map(\.app)), .strings(keys.map(\.vendor)),
            .strings(keys.map(\.kind)),
        ]
    }
}

extension PostgresCountKeeper {
    /// Merges the latencies of a tenant's next days. Late receipts that are counted in merged days stay in their quarter hours.
    ///
    /// - Returns: the number of days that it looked at.
    func mergeLatencies(of tenant: PostgresValue, before: Int32) async throws(PostgresError) -> Int {
        for step in 0..<Self.rollUpSteps {
            let next = LatencySQL.next(tenant, .int32(before))
            guard let row = try await engine.run(next, tenant: nil).first else { return step }
            let from = Int32(clamping: try row.int("quarter"))
            let to = min(from + Self.rollUpQuarters, before)
            while try await mergeSome(of: tenant, from, to) == latencyLimit {}
        }
        return Self.rollUpSteps
    }

    /// Merges at most `latencyLimit` histograms, and notes the end of the range with the last ones.
    private func mergeSome(of tenant: PostgresValue, _ from: Int32, _ to: Int32) async throws(PostgresError) -> Int {
        let limit = latencyLimit
        let unmerged = LatencySQL.unmerged(tenant, .int32(from), .int32(to), .int(limit))
        let transaction = Transaction(tenant: nil, [LatencySQL.lock(tenant), unmerged]) {
            (results) throws(PostgresError) in
            let rows = try results.result(1)
            let note = rows.count < limit ? [LatencySQL.note(tenant, .int32(to))] : []
            let merged = try MergedLatencies(tenant, rows)
            guard !merged.isEmpty else { return Step(note) }
            return Step([merged.loading]) { (results) throws(PostgresError) in
                Step(try merged.writing(try results.result(0)) + note)
            }
        }
        return try await engine.run(transaction).result(1).count
    }
}
