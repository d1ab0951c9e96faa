import DatabaseSupport
import Foundation
import Model
import TestKit
import Testing

@testable import DatabaseSchema
@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// Processes that count events and end at any moment: each event is counted once, however many of them there were.
///
/// This run is short; `scripts/soak reader` sets the number of restarts of a long one.
@Suite(.serialized, .timeLimit(.minutes(120)))
struct EventReaderRestartTests {
    static let restarts = size("READER_RESTARTS") ?? 60
    static let seed = UInt64(clamping: size("READER_SEED") ?? Int.random(in: 1...1_000_000))

    private static func size(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    /// How a process ends.
    private enum End: CaseIterable {
        /// Its sessions break in the middle of their work.
        case killed
        /// Its work is canceled.
        case canceled
        /// Another process takes its lease, and it continues.
        case overtaken
        /// It stops between two steps.
        case stopped
    }

    /// The sessions and the id of one process.
    private struct Reader: Sendable {
        let pool: PostgresPool
        let reader: PostgresEventReader

        init(_ fixture: StoreFixture, _ number: Int) {
            pool = fixture.database.pool(.engine, limits: .patient(maximumConnections: 2))
            reader = PostgresEventReader(engine: pool, node: NodeID("reader-\(number)"))
        }

        /// Counts until everything is counted, another process counts, or a step fails. Returns whether one failed.
        func count(_ tenant: TenantID, limit: Int) async -> Bool {
            var last: Int64 = -1
            do throws(StoreError) {
                while !Task.isCancelled, let progress = try await reader.step(tenant, limit: limit),
                    progress.cursor != last
                {
                    last = progress.cursor
                }
                return false
            } catch {
                return true
            }
        }
    }

    /// Ends the sessions of readers that are in the middle of their work. Nothing else uses the role meanwhile.
    private static let terminate = """
        SELECT count(pg_terminate_backend(pid)) AS count FROM pg_stat_activity
        WHERE datname = current_database() AND usename = 'gateway_engine' AND state <> 'idle'
        """

    /// A killed process keeps its lease for a minute, which the test does not wait for.
    private func endLease(_ admin: PostgresConnection) async throws {
        try await admin.script("UPDATE gateway.event_reader SET next_at = now() - interval '1 second'")
    }

    /// Runs one process until its end. Returns whether that interrupted a step.
    private func live(
        _ fixture: StoreFixture,
        _ admin: PostgresConnection,
        _ number: Int,
        _ end: End,
        _ random: inout SplitMix
    ) async throws -> Bool {
        try await endLease(admin)
        let (tenant, limit) = (fixture.acme, Int.random(in: 1...40, using: &random))
        let process = Reader(fixture, number)
        let work = Task { await process.count(tenant, limit: limit) }
        // The end is at any moment of a step: they take a few milliseconds.
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...30, using: &random)))
        switch end {
        case .killed: _ = try await admin.query(Self.terminate)
        case .canceled: work.cancel()
        case .overtaken:
            try await endLease(admin)
            let other = Reader(fixture, Self.restarts + number)
            _ = await other.count(tenant, limit: limit)
            await other.pool.close()
        case .stopped: break
        }
        let isInterrupted = await work.value
        await process.pool.close()
        return isInterrupted
    }

    @Test func sumsStayExactOverManyRestarts() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        let stage = StoreEventReaderTests()
        let devices = try await stage.devices(fixture, 20)
        var random = SplitMix(state: Self.seed)
        var interrupted = 0
        for number in 0..<Self.restarts {
            if number % 2 == 0 { try await stage.history(fixture, devices, &random) }
            let end = End.allCases[Int.random(in: 0..<End.allCases.count, using: &random)]
            if try await live(fixture, admin, number, end, &random) { interrupted += 1 }
            // A difference is found near its cause.
            guard (number + 1) % 100 == 0 else { continue }
            try await endLease(admin)
            try await stage.countAll(fixture)
            try await stage.expectExact(fixture, admin)
        }
        // Control: the ends do meet steps.
        #expect(interrupted > 0, "seed \(Self.seed): no step was interrupted")
        try await endLease(admin)
        try await stage.countAll(fixture)
        try await stage.expectExact(fixture, admin)
        let reader = try await admin.query("SELECT lost FROM gateway.event_reader WHERE tenant_id = 'acme'").only()
        #expect(try reader.int("lost") == 0, "seed \(Self.seed)")
        print("seed \(Self.seed): \(Self.restarts) restarts, \(interrupted) in the middle of a step")
    }
}
