import DatabaseSupport
import Foundation
import Model
import TestKit
import Testing

@testable import PostgresClient
@testable import Store

/// Questions about the funnel: days of time zones, filters and groups.
@Suite struct StoreAnalyticsTests {
    static let zones = [
        "UTC", "Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Asia/Kathmandu", "Asia/Kolkata",
        "Australia/Lord_Howe", "America/Havana",
        "Pacific/Chatham", "Asia/Beirut", "America/St_Johns", "Africa/Casablanca",
    ]

    // Havana and Beirut change their clocks at midnight, Lord Howe by half an hour.
    @Test(arguments: zones)
    func daysAreThoseOfTheServersClock(_ name: String) async throws {
        let fixture = try await StoreFixture.make()
        let zone = try #require(TimeZoneName(name))
        let start = try #require(Timestamp(rfc3339: "2025-10-01T05:30:00Z"))
        let range = QuarterRange(start..<start + .seconds(400 * 86_400))
        let parts = try await fixture.queries.parts(of: range, by: .day, in: zone, for: fixture.acme)
        #expect((400...401).contains(parts.count))
        #expect(parts.first?.range.from == range.from && parts.last?.range.to == range.to)
        var days: [Int32: String] = [:]
        for part in parts { for quarter in part.range.from..<part.range.to { days[quarter] = part.day } }
        let rows = try await fixture.engine.run(
            Statement(
                "SELECT q AS quarter, (to_timestamp(q * 900.0) AT TIME ZONE $3)::date::text AS day FROM generate_series($1::integer, $2 - 1) q",
                [.int32(range.from), .int32(range.to), .text(name)]
            ),
            tenant: nil
        )
        #expect(rows.count == days.count)
        for row in rows { #expect(days[Int32(try row.int("quarter"))] == (try row.text("day")), "\(name)") }
    }

    // The event reader, the range of a question without times and the days of devices follow the gateway's own table of zones.
    @Test(arguments: zones)
    func theGatewaysClockChangesDaysWhenTheServersDoes(_ name: String) async throws {
        let fixture = try await StoreFixture.make()
        let admin = try await fixture.database.admin()
        let zone = try #require(TimeZoneName(name))
        let start = try #require(Timestamp(rfc3339: "2025-10-01T05:30:00Z"))
        let range = QuarterRange(start..<start + .seconds(400 * 86_400))
        func day(_ quarter: Int32) -> String {
            let time = QuarterRange(from: quarter, to: quarter + 1).start
            return (time + .seconds(zone.offset(at: time))).rfc3339Date
        }
        let rows = try await admin.query(
            """
            SELECT q AS quarter, x.day::text AS day, x.before::text AS before FROM generate_series($1::integer, $2::integer - 1) q
            CROSS JOIN LATERAL (
                SELECT (to_timestamp(q * 900.0) AT TIME ZONE $3::text)::date AS day,
                    (to_timestamp((q - 1) * 900.0) AT TIME ZONE $3::text)::date AS before) x
            WHERE x.day <> x.before
            """,
            [.int32(range.from), .int32(range.to), .text(name)]
        )
        #expect((399...401).contains(rows.count), "\(rows.count)")
        for row in rows {
            let quarter = Int32(try row.int("quarter"))
            #expect(day(quarter) == (try row.text("day")), "\(name), quarter \(quarter)")
            #expect(day(quarter - 1) == (try row.text("before")), "\(name), quarter \(quarter)")
        }
    }

    @Test(arguments: [
        ("2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z", 25), ("2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z", 23),
        ("2026-06-01T22:00:00Z", "2026-06-02T22:00:00Z", 24),
    ])
    func aDayHasItsOwnNumberOfHours(_ from: String, _ to: String, _ hours: Int) async throws {
        let fixture = try await StoreFixture.make()
        let zone = try #require(TimeZoneName("Europe/Berlin"))
        let range = QuarterRange(try #require(Timestamp(rfc3339: from))..<(try #require(Timestamp(rfc3339: to))))
        func parts(_ interval: FunnelInterval) async throws -> [FunnelPart] {
            try await fixture.queries.parts(of: range, by: interval, in: zone, for: fixture.acme)
        }
        let (days, each, quarters) = (try await parts(.day), try await parts(.hour), try await parts(.quarterHour))
        #expect(days.count == 1 && each.count == hours && quarters.count == hours * 4)
        #expect(each.allSatisfy { $0.range.to - $0.range.from == 4 })
        #expect(Set(quarters.map(\.day)) == Set(days.map(\.day)))
    }

    // One row is folded, the other is not.
    @Test func observedPushesAreCountedApart() async throws {
        let fixture = try await StoreFixture.make()
        let quarter = Int32(1_700_000_000 / 900)
        let columns =
            "(tenant_id, quarter, app_id, vendor, device_vendor, transport, accepted, rejected, expired, expired_tried)"
        for (table, transport) in [
            ("counter", "observed:upmc"), ("counter", "apns"), ("counter", "upstream:old"),
            ("counter_delta", "observed:upmc"),
        ] {
            let insert = Statement(
                "INSERT INTO gateway.\(table) \(columns) VALUES ($1, $2, 'shop', 'upmc', 'upmc', $3, 10, 2, 4, 1)",
                [.id(fixture.acme), .int32(quarter), .text(transport)]
            )
            _ = try await fixture.engine.run(insert, tenant: fixture.acme.rawValue)
        }
        let part = FunnelPart(range: QuarterRange(from: quarter, to: quarter + 1), day: "")
        func count(_ transports: [String]) async throws -> StageCounts {
            let filter = FunnelFilter(transports: transports)
            let rows = try await fixture.queries.funnel(of: [part], filter, by: [], in: fixture.acme)
            return try #require(rows).reduce(StageCounts()) { $0 + $1.counts }
        }
        let all = try await count([])
        #expect(all[.accepted] == 40 && all[.expiredTried] == 4)
        #expect(all[.observedSent] == 26 && all[.observedAccepted] == 20)
        let own = try await count(["apns", "upstream:old"])
        #expect(own[.accepted] == 20 && own[.observedSent] == 0 && own[.observedAccepted] == 0)
        let observed = try await count(["observed:upmc"])
        #expect(observed[.accepted] == 20 && observed[.observedSent] == 26 && observed[.observedAccepted] == 20)
    }

    // A message of the native API reaches devices of several vendors.
    @Test func aLossIsOneLineUnlessTheDialectsOfTheDevicesSplitIt() async throws {
        let fixture = try await StoreFixture.make()
        let quarter = Int32(1_700_000_000 / 900)
        let range = QuarterRange(from: quarter, to: quarter + 1)
        let insert = Statement(
            """
            INSERT INTO gateway.counter_reason (tenant_id, quarter, app_id, vendor, device_vendor, transport, stage, reason, count)
            VALUES ($1, $2, 'shop', 'native', 'upmc', 'apns', 'rejected', 'Unregistered', 3),
                ($1, $2, 'shop', 'native', 'ipns', 'apns', 'rejected', 'Unregistered', 4)
            """,
            [.id(fixture.acme), .int32(quarter)]
        )
        _ = try await fixture.engine.run(insert, tenant: fixture.acme.rawValue)
        func losses(_ groupings: Set<FunnelGrouping>) async throws -> [String] {
            let found = try await fixture.queries.losses(
                in: range,
                FunnelFilter(),
                by: groupings,
                stages: [.rejected],
                limit: 10,
                of: fixture.acme
            )
            return try #require(found).losses.map {
                "\($0.group.values.values.sorted().joined(separator: ",")) \($0.stage) \($0.reason) \($0.count)"
            }.sorted()
        }
        #expect(try await losses([]) == [" rejected Unregistered 7"])
        #expect(try await losses([.app]) == ["shop rejected Unregistered 7"])
        #expect(
            try await losses([.deviceVendor]) == ["ipns rejected Unregistered 4", "upmc rejected Unregistered 3"]
        )
    }

    // The largest losses are returned, and the sums of all.
    @Test func theSumsOfLossesAreExactAboveTheLimit() async throws {
        let fixture = try await StoreFixture.make()
        let quarter = Int32(1_700_000_000 / 900)
        let insert = Statement(
            """
            INSERT INTO gateway.counter_reason (tenant_id, quarter, app_id, vendor, device_vendor, transport, stage, reason, count)
            SELECT $1::text, $2::integer, 'shop', 'upmc', 'upmc', 'apns', s.stage, 'reason ' || n, n
            FROM generate_series(1, 9) AS n, unnest(ARRAY['rejected', 'unsendable', 'uncertain']) AS s(stage)
            """,
            [.id(fixture.acme), .int32(quarter)]
        )
        _ = try await fixture.engine.run(insert, tenant: fixture.acme.rawValue)
        let found = try #require(
            try await fixture.queries.losses(
                in: QuarterRange(from: quarter, to: quarter + 1),
                FunnelFilter(),
                by: [.app],
                stages: [.rejected, .unsendable],
                limit: 3,
                of: fixture.acme
            )
        )
        #expect(
            found.losses.map { "\($0.stage) \($0.reason) \($0.count)" } == [
                "rejected reason 9 9", "unsendable reason 9 9", "rejected reason 8 8",
            ]
        )
        #expect(found.explained.map { "\($0.stage) \($0.count)" }.sorted() == ["rejected 45", "unsendable 45"])
        #expect(found.explained.allSatisfy { $0.group == FunnelGroup([.app: "shop"]) && $0.reason.isEmpty })
    }

    // Targets are counted without a transport, and outcomes with one.
    @Test func theTargetsOfATransportAreItsOutcomes() {
        func row(_ transport: String, _ counts: [FunnelStage: Int64]) -> CountedDeliveries {
            CountedDeliveries(
                part: 0,
                group: FunnelGroup([.transport: transport]),
                deviceVendor: "upmc",
                counts: StageCounts(counts)
            )
        }
        let none = FunnelFilter.noTransport
        let rows = CountedDeliveries.byTransport([
            row(none, [.targets: 100, .suppressed: 7]), row("apns", [.accepted: 50, .rejected: 20, .received: 30]),
        ])
        #expect(
            Set(rows) == [
                row(none, [.targets: 30, .suppressed: 7]),
                row("apns", [.targets: 70, .accepted: 50, .rejected: 20, .received: 30]),
            ]
        )
        // All targets have an outcome: nothing is left without a transport.
        let settled = CountedDeliveries.byTransport([row(none, [.targets: 5]), row("apns", [.accepted: 5])])
        #expect(settled == [row("apns", [.targets: 5, .accepted: 5])])
    }
}
