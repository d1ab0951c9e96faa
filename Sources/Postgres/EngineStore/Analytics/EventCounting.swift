import Model
import PostgresClient
import Store

/// Loads what a page of events refers to, and counts it.
struct EventCounting: Sendable {
    let tenant: TenantID
    let events: [LoggedEvent]
    let hash: KeyedHash

    /// The statements that load the messages, apps and marks of the events, in the order that `additions` expects.
    var references: [Statement] {
        guard !events.isEmpty else { return [] }
        let keys = Array(Set(events.compactMap(\.delivery?.key)))
        return [
            EventReaderSQL.messages(.id(tenant), .ids(Array(Set(keys.map(\.message))))),
            EventReaderSQL.apps(.id(tenant), .strings(Array(Set(events.map(\.app.rawValue))))),
            EventReaderSQL.marks(
                .id(tenant),
                .int32s(keys.map(\.dueDay)),
                .ids(keys.map(\.message)),
                .ids(keys.map(\.target))
            ),
        ]
    }

    func additions(_ results: [ResultSet]) throws(PostgresError) -> EventAdditions {
        var due: [MessageID: DueTime] = [:]
        for row in try results.result(0) {
            let campaign = try row.optionalText("campaign")
            let variant = try row.optionalText("variant") ?? ""
            due[try row.id("id")] = DueTime(
                at: try row.time("due_at"),
                isSingle: try row.bool("is_single"),
                campaign: campaign.map { CountedValue($0, variant: variant) }
            )
        }
        var zones: [AppID: TimeZoneName] = [:]
        for row in try results.result(1) {
            guard let zone = TimingCoding.read(try row.object("defaults")).timeZone, zone.isKnown else { continue }
            zones[try row.id("app_id")] = zone
        }
        var marks: [LoggedDelivery.Key: ReceiptMark] = [:]
        for row in try results.result(2) {
            let key = LoggedDelivery.Key(
                dueDay: Int32(clamping: try row.int("due_day")),
                message: try row.id("message_id"),
                target: try row.id("target_id")
            )
            marks[key] = ReceiptMark(
                isEarly: try row.bool("is_early"),
                isReceived: try row.bool("is_received"),
                isRead: try row.bool("is_read")
            )
        }
        return EventTally.count(events, due: due, zones: zones, marks: marks, hash: hash)
    }
}

/// Merges additions with the stored figures of the same keys, in the order of their keys.
struct StoredFigures: Sendable {
    private let tenant: TenantID
    private let latencies: [(key: EventAdditions.LatencyKey, value: LatencyHistogram)]
    private let sketches: [(key: EventAdditions.SketchKey, value: DistinctSketch)]
    private let changes: [(key: EventAdditions.DayKey, value: DeviceChanges)]
    private let marks: [(key: LoggedDelivery.Key, value: ReceiptMark)]
    private let removed: [LoggedDelivery.Key]
    private let counts: StoredCounts

    init(tenant: TenantID, additions: EventAdditions) {
        self.tenant = tenant
        latencies = additions.latencies.sorted { Self.order($0.key) < Self.order($1.key) }
        sketches = additions.sketches.sorted { Self.order($0.key) < Self.order($1.key) }
        changes = additions.changes.sorted { ($0.key.day, $0.key.app) < ($1.key.day, $1.key.app) }
        marks = additions.marks.compactMap { key, mark in mark.map { (key: key, value: $0) } }.sorted {
            $0.key < $1.key
        }
        removed = additions.marks.filter { $0.value == nil }.keys.sorted()
        counts = StoredCounts(tenant: tenant, additions.counts)
    }

    private static func order(_ key: EventAdditions.LatencyKey) -> (Int32, String, String, String) {
        (key.quarter, key.app.rawValue, key.vendor.rawValue, key.kind.rawValue)
    }

    private static func order(_ key: EventAdditions.SketchKey) -> (Int32, String, String, String) {
        (key.day.day, key.day.app.rawValue, key.subject.rawValue, key.stage.rawValue)
    }

    var loading: [Statement] {
        [
            EventReaderSQL.latencies.with([.id(tenant), .ints(Array(latencies.indices))] + latencyKeys),
            EventReaderSQL.sketches.with([.id(tenant), .ints(Array(sketches.indices))] + sketchKeys),
        ] + counts.loading
    }

    private var latencyKeys: [PostgresValue] {
        [
            .int32s(latencies.map(\.key.quarter)), .strings(latencies.map(\.key.app.rawValue)),
            .strings(latencies.map(\.key.vendor.rawValue)), .strings(latencies.map(\.key.kind.rawValue)),
        ]
    }

    private var sketchKeys: [PostgresValue] {
        [
            .int32s(sketches.map(\.key.day.day)), .strings(sketches.map(\.key.day.app.rawValue)),
            .strings(sketches.map(\.key.subject.rawValue)), .strings(sketches.map(\.key.stage.rawValue)),
        ]
    }

    /// The statements that store the sums; `loaded` are the results of `loading`.
    ///
    /// - Throws: for stored bytes that are malformed.
    func writing(_ loaded: [ResultSet]) throws(PostgresError) -> [Statement] {
        var (latencies, sketches) = (latencies.map(\.value), sketches.map(\.value))
        for row in try loaded.result(0) {
            let place = try row.int("place")
            guard let stored = LatencyHistogram(encoded: try row.bytes("histogram")), latencies.indices.contains(place)
            else { throw PostgresError(.other, reason: "a stored histogram is malformed") }
            latencies[place].merge(stored)
        }
        for row in try loaded.result(1) {
            let place = try row.int("place")
            guard let stored = DistinctSketch(encoded: try row.bytes("sketch")), sketches.indices.contains(place)
            else { throw PostgresError(.other, reason: "a stored sketch is malformed") }
            sketches[place].merge(stored)
        }
        var statements: [Statement] = []
        if !marks.isEmpty { statements.append(EventReaderSQL.storeMarks.with(markColumns)) }
        if !removed.isEmpty { statements.append(EventReaderSQL.removeMarks.with([.id(tenant)] + keys(removed))) }
        if !latencies.isEmpty {
            let values = PostgresValue.byteArrays(latencies.map(\.encoded))
            statements.append(EventReaderSQL.storeLatencies.with([.id(tenant)] + latencyKeys + [values]))
        }
        if !sketches.isEmpty {
            let values = PostgresValue.byteArrays(sketches.map(\.encoded))
            statements.append(EventReaderSQL.storeSketches.with([.id(tenant)] + sketchKeys + [values]))
        }
        if !changes.isEmpty { statements.append(EventReaderSQL.addChanges.with(changeColumns)) }
        return statements + (try counts.writing(Array(loaded.dropFirst(2))))
    }

    private var changeColumns: [PostgresValue] {
        [
            .id(tenant), .int32s(changes.map(\.key.day)), .strings(changes.map(\.key.app.rawValue)),
            .int64s(changes.map(\.value.gained)), .int64s(changes.map(\.value.lost)),
            .int64s(changes.map(\.value.invalidated)),
        ]
    }

    private var markColumns: [PostgresValue] {
        [.id(tenant)] + keys(marks.map(\.key)) + [
            .bools(marks.map(\.value.isEarly)), .bools(marks.map(\.value.isReceived)),
            .bools(marks.map(\.value.isRead)),
        ]
    }

    private func keys(_ keys: [LoggedDelivery.Key]) -> [PostgresValue] {
        [.int32s(keys.map(\.dueDay)), .ids(keys.map(\.message)), .ids(keys.map(\.target))]
    }
}
