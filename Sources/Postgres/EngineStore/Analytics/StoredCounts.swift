import Model
import PostgresClient
import Store

/// Adds counts by property to the stored ones. Values beyond `CountedValue.limit` of an app, day and property are added to the others.
struct StoredCounts: Sendable {
    /// An app, day and property.
    private struct Scope: Hashable {
        var day: EventAdditions.DayKey
        var property: CountedProperty

        init(_ key: PropertyKey) {
            day = key.day
            property = key.property
        }
    }

    private let tenant: TenantID
    private let counts: [(key: PropertyKey, value: ReachCounts)]
    private let scopes: [Scope]

    init(tenant: TenantID, _ counts: [PropertyKey: ReachCounts]) {
        self.tenant = tenant
        let sorted = counts.sorted { $0.key < $1.key }
        self.counts = sorted
        var scopes: [Scope] = []
        for (key, _) in sorted where scopes.last != Scope(key) { scopes.append(Scope(key)) }
        self.scopes = scopes
    }

    /// Two statements.
    var loading: [Statement] {
        [
            EventReaderSQL.knownCounts.with(
                [.id(tenant), .ints(Array(counts.indices))] + Self.keys(counts.map(\.key))
            ),
            EventReaderSQL.numberOfCounts.with([
                .id(tenant), .ints(Array(scopes.indices)), .int32s(scopes.map(\.day.day)),
                .strings(scopes.map(\.day.app.rawValue)), .strings(scopes.map(\.property.rawValue)),
            ]),
        ]
    }

    /// The statement that adds the counts; `loaded` are the results of `loading`.
    func writing(_ loaded: [ResultSet]) throws(PostgresError) -> [Statement] {
        guard !counts.isEmpty else { return [] }
        var known: Set<Int> = []
        for row in try loaded.result(0) { known.insert(try row.int("place")) }
        var room: [Scope: Int] = [:]
        for row in try loaded.result(1) {
            let place = try row.int("place")
            guard scopes.indices.contains(place) else { continue }
            room[scopes[place]] = CountedValue.limit - (try row.int("count"))
        }
        var sums: [PropertyKey: ReachCounts] = [:]
        for (place, count) in counts.enumerated() {
            var key = count.key
            let left = room[Scope(key), default: 0]
            // One place is kept for the others.
            if known.contains(place) || left > 1 {
                if !known.contains(place) { room[Scope(key)] = left - 1 }
            } else {
                key.value = .other(key.property)
            }
            sums[key] = sums[key, default: ReachCounts()] + count.value
        }
        let rows = sums.sorted { $0.key < $1.key }
        let values = rows.map(\.value)
        return [
            EventReaderSQL.addCounts.with(
                [.id(tenant)] + Self.keys(rows.map(\.key)) + [
                    .int64s(values.map(\.reached)), .int64s(values.map(\.received)), .int64s(values.map(\.read)),
                ]
            )
        ]
    }

    private static func keys(_ keys: [PropertyKey]) -> [PostgresValue] {
        [
            .int32s(keys.map(\.day.day)), .strings(keys.map(\.day.app.rawValue)),
            .strings(keys.map(\.property.rawValue)), .strings(keys.map(\.value.name)),
            .strings(keys.map(\.value.variant)),
        ]
    }
}
