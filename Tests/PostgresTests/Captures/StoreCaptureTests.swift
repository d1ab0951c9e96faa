import CaptureStore
import Commands
import DatabaseSupport
import Foundation
import Model
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// Captures: limited over all writers, visible to one tenant only, and deleted in time.
@Suite struct StoreCaptureTests {
    private func store(_ fixture: StoreFixture) -> PostgresCaptureStore {
        PostgresCaptureStore(call: fixture.call, engine: fixture.engine)
    }

    private func order(_ count: Int = 200, bytes: Int = 4 << 20, vendor: Vendor = .rationalOwl) -> CaptureOrder {
        CaptureOrder(app: "shop", vendor: vendor, limits: CaptureLimits(exchangeCount: count, totalBytes: bytes))
    }

    private func started(
        _ fixture: StoreFixture,
        _ order: CaptureOrder,
        in tenant: TenantID? = nil
    ) async throws -> UUID {
        let outcome = try await fixture.startCapture(order, in: tenant ?? fixture.acme)
        guard case .done(.started(let facts)) = outcome else { throw StoreError(.failed, "\(outcome)") }
        return facts.id
    }

    private func exchange(_ body: String = "b") -> CapturedExchange {
        CapturedExchange(
            at: Timestamp(seconds: 1_700_000_000),
            route: "installApp",
            outcome: .refused,
            reason: "missing",
            request: CapturedExchange.Request(
                method: "POST",
                path: "/pushApp/installApp",
                query: nil,
                headers: [["name": "Accept", "value": "*/*"]],
                body: body,
                bodyBytes: 5000
            ),
            answer: CapturedExchange.Answer(status: 200, contentType: "application/json", body: "{}", bodyBytes: 2)
        )
    }

    @Test func exchangesAreReadInPages() async throws {
        let fixture = try await StoreFixture.make()
        let store = store(fixture)
        let id = try await started(fixture, order())
        for number in 1...5 {
            #expect(try await store.record(exchange("body \(number)"), in: id, of: fixture.acme) == number)
        }
        let first = try await store.exchanges(of: id, in: fixture.acme, after: 0, limit: 2)
        let rest = try await store.exchanges(of: id, in: fixture.acme, after: 2, limit: 10)
        #expect((first + rest).map(\.sequence) == Array(1...5))
        var expected = exchange("body 3")
        expected.sequence = 3
        #expect(rest.first == expected)
        let facts = try #require(try await store.capture(id, in: fixture.acme))
        #expect(facts.exchangeCount == 5 && facts.isRunning && facts.startedBy == "key:test")
        #expect(facts.endsAt.milliseconds - facts.startedAt.milliseconds == 900_000)
        #expect(try await store.list(in: fixture.acme) == [facts])
    }

    @Test func concurrentWritersDoNotExceedTheCount() async throws {
        let fixture = try await StoreFixture.make()
        let store = store(fixture)
        let id = try await started(fixture, order(10))
        let acme = fixture.acme
        let exchange = exchange()
        let numbers = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<60 { group.addTask { try await store.record(exchange, in: id, of: acme) } }
            return try await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(numbers.filter { $0 > 0 }.sorted() == Array(1...10))
        let facts = try #require(try await store.capture(id, in: fixture.acme))
        #expect(facts.exchangeCount == 10 && !facts.isRunning && facts.endedBy == "full")
        #expect(try await store.exchanges(of: id, in: fixture.acme, after: 0, limit: 100).count == 10)
    }

    @Test func theFirstExchangeThatDoesNotFitEndsTheCapture() async throws {
        let fixture = try await StoreFixture.make()
        let store = store(fixture)
        let id = try await started(fixture, order(bytes: 3000))
        let large = exchange(String(repeating: "x", count: 1200))
        #expect(try await store.record(large, in: id, of: fixture.acme) == 1)
        #expect(try await store.record(large, in: id, of: fixture.acme) == 2)
        #expect(try await store.record(large, in: id, of: fixture.acme) == 0)
        #expect(try await store.record(exchange("s"), in: id, of: fixture.acme) == 0)
        let facts = try #require(try await store.capture(id, in: fixture.acme))
        #expect(facts.byteCount <= 3000 && facts.exchangeCount == 2 && facts.endedBy == "full")
    }

    @Test func anEndedCaptureRecordsNothing() async throws {
        let fixture = try await StoreFixture.alone()
        let store = store(fixture)
        let stopped = try await started(fixture, order())
        #expect(try await fixture.stopCapture(stopped, in: fixture.acme, by: .key("test")))
        #expect(try await fixture.stopCapture(stopped, in: fixture.acme, by: .key("test")) == false)
        #expect(try await store.record(exchange(), in: stopped, of: fixture.acme) == 0)
        let late = try await started(fixture, order())
        let admin = try await fixture.database.admin()
        try await admin.script(
            "UPDATE gateway.capture SET ends_at = now() - interval '1 second' WHERE ended_at IS NULL"
        )
        #expect(try await store.record(exchange(), in: late, of: fixture.acme) == 0)
        #expect(try await store.running().isEmpty)
    }

    @Test func aTenantHasOneCapturePerBindingAndTenInAll() async throws {
        let fixture = try await StoreFixture.make()
        let store = store(fixture)
        func start(_ order: CaptureOrder) async throws -> Kept<CaptureStart> {
            try await fixture.startCapture(order, in: fixture.acme)
        }
        _ = try await started(fixture, order())
        #expect(try await start(order()) == .done(.running))
        let admin = try await fixture.database.admin()
        try await admin.script(
            """
            INSERT INTO gateway.binding (tenant_id, app_id, vendor, kind, value)
            SELECT '\(fixture.acme)', 'shop', 'v' || n, 'app', 'key' FROM generate_series(1, 99) n
            """
        )
        #expect(try await start(CaptureOrder(app: "nothing", vendor: .ipns)) == .done(.missing))
        for number in 1..<CaptureLimits.capturesPerTenant {
            _ = try await started(fixture, order(vendor: Vendor("v\(number)")))
        }
        #expect(try await start(order(vendor: "v99")) == .done(.tooMany))
        #expect(try await store.list(in: fixture.acme).count == CaptureLimits.capturesPerTenant)
        #expect(try await store.hasBinding(order(), in: fixture.acme))
        #expect(try await store.hasBinding(order(vendor: .upmc), in: fixture.acme) == false)
    }

    // I6.
    @Test func anotherTenantSeesAndChangesNothing() async throws {
        let fixture = try await StoreFixture.make()
        let store = store(fixture)
        let id = try await started(fixture, order())
        _ = try await store.record(exchange(), in: id, of: fixture.acme)
        let other = fixture.other
        #expect(try await store.list(in: other).isEmpty)
        #expect(try await store.capture(id, in: other) == nil)
        #expect(try await store.exchanges(of: id, in: other, after: 0, limit: 10).isEmpty)
        #expect(try await store.record(exchange(), in: id, of: other) == 0)
        #expect(try await fixture.stopCapture(id, in: other, by: .key("thief")) == false)
        #expect(try await fixture.removeCapture(id, in: other, by: .key("thief")) == .done(false))
        // PostgreSQL itself protects the rows from a statement without a tenant condition.
        for table in ["capture", "captured_exchange"] {
            let count = Statement("SELECT count(*) AS n FROM gateway.\(table)")
            #expect(try await fixture.call.run(count, tenant: other.rawValue).only().int("n") == 0)
            #expect(try await fixture.call.run(count, tenant: fixture.acme.rawValue).only().int("n") == 1)
        }
        #expect(try await store.capture(id, in: fixture.acme)?.exchangeCount == 1)
    }

    @Test func nodesReadTheKeysOfRunningCaptures() async throws {
        let fixture = try await StoreFixture.alone()
        let store = store(fixture)
        #expect(try await store.running().isEmpty)
        let id = try await started(fixture, order())
        let running = try await store.running()
        #expect(running.map(\.id) == [id])
        #expect(running.first?.keys == [RunningCapture.Key(value: "account-of-acme")])
        // The other tenant has a binding of this dialect too.
        #expect(running.first?.isSole == false)
        let admin = try await fixture.database.admin()
        try await admin.script("DELETE FROM gateway.binding WHERE tenant_id = 'other'")
        #expect(try await store.running().first?.isSole == true)
    }

    @Test func capturesAreAudited() async throws {
        let fixture = try await StoreFixture.make()
        let before = try await fixture.audit.newest(1, in: fixture.acme).last?.position ?? 0
        let id = try await started(fixture, order())
        _ = try await fixture.stopCapture(id, in: fixture.acme, by: .key("test"))
        _ = try await fixture.removeCapture(id, in: fixture.acme, by: .command(user: 7))
        let entries = try await fixture.audit.entries(in: fixture.acme, after: before, limit: 10)
        let subject = "capture \(id.lowercased)"
        #expect(
            entries.map { "\($0.actor) \($0.action) \($0.subject)" } == [
                "key:test start \(subject)", "key:test stop \(subject)", "cli:7 remove \(subject)",
            ]
        )
        #expect(entries.first?.data?["vendor"] == "rationalowl")
    }

    private func keep(_ key: String, _ hash: String = "h") -> Keep<CaptureStart> {
        Keep(IdempotencyKey(key: key, bodyHash: hash)) { start in
            guard case .started(let facts) = start else { return nil }
            return KeptAnswer(status: 201, body: Array(facts.id.lowercased.utf8))
        }
    }

    // docs/errors.md#repeating-a-call
    @Test func aRepeatedStartReturnsTheFirstAnswer() async throws {
        let fixture = try await StoreFixture.make()
        let store = store(fixture)
        func start(_ keep: Keep<CaptureStart>) async throws -> Kept<CaptureStart> {
            try await fixture.startCapture(order(), in: fixture.acme, keeping: keep)
        }
        guard case .done(.started(let facts)) = try await start(keep("once")) else {
            Issue.record("not started")
            return
        }
        let first = Kept<CaptureStart>.repeated(KeptAnswer(status: 201, body: Array(facts.id.lowercased.utf8)))
        #expect(try await start(keep("once")) == first)
        #expect(try await start(keep("once", "other body")) == .mismatch)
        // A refused start is not stored: the key can be used again when a start is possible.
        #expect(try await start(keep("later")) == .done(.running))
        #expect(try await fixture.stopCapture(facts.id, in: fixture.acme, by: .key("test")))
        guard case .done(.started(let second)) = try await start(keep("later")) else {
            Issue.record("the refusal was kept")
            return
        }
        #expect(second.id != facts.id)
        let admin = try await fixture.database.admin()
        try await admin.script("DELETE FROM gateway.binding WHERE tenant_id = '\(fixture.acme)'")
        #expect(try await start(keep("once")) == first)
        #expect(try await start(keep("new")) == .done(.missing))
        #expect(try await store.list(in: fixture.acme).map(\.id) == [second.id, facts.id])
        let starts = try await fixture.audit.newest(100, in: fixture.acme).filter { $0.action == "start" }
        #expect(Set(starts.map(\.subject)) == ["capture \(facts.id.lowercased)", "capture \(second.id.lowercased)"])
        #expect(starts.count == 2)
    }

    @Test func aRepeatedRemovalIsAuditedOnce() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await started(fixture, order())
        let keep = Keep<Bool>(IdempotencyKey(key: "gone", bodyHash: "h")) { $0 ? KeptAnswer(status: 204) : nil }
        for expected in [Kept<Bool>.done(true), .repeated(KeptAnswer(status: 204))] {
            #expect(try await fixture.removeCapture(id, in: fixture.acme, by: .key("test"), keeping: keep) == expected)
        }
        let removals = try await fixture.audit.newest(100, in: fixture.acme).filter { $0.subject.hasPrefix("capture") }
        #expect(removals.filter { $0.action == "remove" }.count == 1)
    }

    @Test func aCaptureIsDeletedAWeekAfterItsEnd() async throws {
        let fixture = try await StoreFixture.alone()
        let store = store(fixture)
        let old = try await started(fixture, order())
        _ = try await store.record(exchange(), in: old, of: fixture.acme)
        let admin = try await fixture.database.admin()
        try await admin.script(
            "UPDATE gateway.capture SET started_at = now() - interval '8 days', ends_at = now() - interval '7 days 1 hour'"
        )
        let fresh = try await started(fixture, order())
        _ = try await store.record(exchange(), in: fresh, of: fixture.acme)
        let report = try await PostgresMaintenance(engine: fixture.engine, node: "node-1").run()
        #expect(report.capturesRemoved == 1)
        #expect(try await store.list(in: fixture.acme).map(\.id) == [fresh])
        let left = try await admin.query("SELECT count(*) AS n FROM gateway.captured_exchange")
        #expect(try left.only().int("n") == 1)
    }

    /// The control of the limits: the table itself refuses values that the function would not refuse.
    @Test func theTableItselfEnforcesTheLimits() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await started(fixture, order(1))
        let admin = try await fixture.database.admin()
        for change in [
            "exchange_count = 2", "byte_count = byte_limit + 1", "exchange_limit = 1001", "byte_limit = 16777217",
        ] {
            await #expect(throws: PostgresError.self, "\(change)") {
                try await admin.script("UPDATE gateway.capture SET \(change) WHERE capture_id = '\(id.lowercased)'")
            }
        }
    }
}
