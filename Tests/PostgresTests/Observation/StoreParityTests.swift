import DatabaseSupport
import Model
import ObservationStore
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// The figures of the agreement with upstreams: added in groups, summed since an hour, and removed with the figures of analytics.
@Suite struct StoreParityTests {
    private static let hour: Int32 = 490_000
    private static let since = Timestamp(seconds: Int64(hour) * 3600 + 1800)

    private func row(
        _ metric: ParityMetric,
        _ samples: Int,
        _ differences: Int,
        hour: Int32 = StoreParityTests.hour,
        dialect: Vendor = "relay",
        shown: Int = 0
    ) -> AddParity.Row {
        AddParity.Row(
            app: "shop",
            metric: metric,
            hour: hour,
            dialect: dialect,
            samples: samples,
            differences: differences,
            shown: (0..<shown).map { ["no": .int($0)] }
        )
    }

    @Test func additionsOfAnHourAreSummed() async throws {
        let fixture = try await StoreFixture.make()
        let rows = [row(.responses, 10, 2), row(.reach, 5, 5), row(.responses, 1, 0, dialect: "other")]
        #expect(try await fixture.ask(AddParity(rows)) == 3)
        #expect(try await fixture.ask(AddParity([row(.responses, 30, 1)])) == 1)
        // An hour before, and another tenant, do not count.
        _ = try await fixture.ask(AddParity([row(.responses, 1000, 1000, hour: Self.hour - 1)]))
        _ = try await fixture.ask(AddParity([row(.responses, 1000, 1000)]), in: fixture.other)
        #expect(
            try await fixture.ask(MeasureParity("shop", since: Self.since)) == [
                ParityFigure(.reach, samples: 5, differences: 5),
                ParityFigure(.responses, samples: 41, differences: 3),
            ]
        )
        #expect(try await fixture.ask(MeasureParity("news", since: Self.since)) == [])
    }

    @Test func atMostTwentyDifferencesOfAnHourAreKept() async throws {
        let fixture = try await StoreFixture.make()
        for _ in 0..<3 { _ = try await fixture.ask(AddParity([row(.unknown, 10, 9, shown: 9)])) }
        _ = try await fixture.ask(AddParity([row(.unknown, 1, 1, hour: Self.hour + 1, shown: 1)]))
        let shown = try await fixture.ask(ShowParity("shop", since: Self.since))
        #expect(shown.count == ParitySample.limit)
        // The newest hour comes first.
        #expect(shown.first?.hour == Self.hour + 1)
        #expect(shown.first?.facts == ["no": 0])
        #expect(shown.allSatisfy { $0.metric == .unknown && $0.dialect == "relay" })
        // The answer has a limit of its own. The rows must not grow either, by many additions or by a large one.
        _ = try await fixture.ask(AddParity([row(.unknown, 30, 30, hour: Self.hour + 2, shown: 30)]))
        let stored = Statement(
            "SELECT cardinality(sample) AS n FROM gateway.parity_count WHERE tenant_id = $1 ORDER BY hour",
            [.id(fixture.acme)]
        )
        let counts = try await fixture.engine.run(stored, tenant: fixture.acme.rawValue)
            .rows { (row) throws(PostgresError) in try row.int("n") }
        #expect(counts == [ParitySample.limit, 1, ParitySample.limit])
    }

    @Test func oldHoursAreRemovedWithTheFiguresOfAnalytics() async throws {
        let fixture = try await StoreFixture.alone()
        let day = try await fixture.now().day
        let kept = try await fixture.now().seconds / 3600
        _ = try await fixture.ask(
            AddParity([row(.responses, 1, 0, hour: 24), row(.responses, 1, 0, hour: Int32(clamping: kept))])
        )
        let sweep = MaintenanceSQL.dropParity(.id(fixture.acme), .int32(day - 1))
        _ = try await fixture.engine.run(sweep, tenant: fixture.acme.rawValue)
        let left = try await fixture.ask(MeasureParity("shop", since: Timestamp(seconds: 0)))
        #expect(left == [ParityFigure(.responses, samples: 1, differences: 0)])
    }
}
