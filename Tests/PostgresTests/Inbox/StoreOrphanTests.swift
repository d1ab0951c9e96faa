import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// Receipts that change no delivery are counted once, by app, day and reason (docs/metrics.md#orphan-receipts).
@Suite struct StoreOrphanTests {
    /// The call that reports: each finds its message and its device in its own way.
    enum Way: CaseIterable { case id, number, badge }

    /// A message that was sent to `k1`, one that was suppressed for it, and a device `k2` without deliveries.
    private func prepare(_ fixture: StoreFixture) async throws -> (sent: MessageID, suppressed: MessageID) {
        let device = try await fixture.register("k1", token: "aa01")
        try await fixture.register("k2", token: "aa02")
        let (sent, lease) = try await fixture.sending(to: [device.identity])
        _ = try await fixture.delivery.record(try await fixture.progress(lease, [0]), by: fixture.node)
        let (suppressed, held) = try await fixture.sending(to: [device.identity])
        var progress = try await fixture.progress(held, [0], .suppressed, transport: nil)
        progress.results[0].attempt.count = 0
        _ = try await fixture.delivery.record(progress, by: fixture.node)
        return (sent.id, suppressed.id)
    }

    /// A message that was sent to devices with the keys `k10`, `k11` and so on.
    private func sent(_ fixture: StoreFixture, _ keys: [VendorDeviceKey]) async throws -> MessageID {
        var identities: [IdentityID] = []
        for key in keys {
            identities.append(try await fixture.register(key, token: "aa\(key.rawValue.dropFirst())").identity)
        }
        let (message, lease) = try await fixture.sending(to: identities)
        let progress = try await fixture.progress(lease, Array(identities.indices))
        _ = try await fixture.delivery.record(progress, by: fixture.node)
        return message.id
    }

    /// Reports a read by one of the ways. Returns whether it was recorded.
    private func report(
        _ fixture: StoreFixture,
        _ way: Way,
        _ message: MessageID,
        _ key: VendorDeviceKey
    ) async throws -> Bool {
        let now = try await fixture.now()
        switch way {
        case .id: return try await fixture.receipt(message, key, .read) == .recorded
        case .number:
            let caller = DeviceCaller(key: key)
            let report = ReportNumber(fixture.scope, caller, number: message.description, .read, at: now)
            return try await fixture.ask(report) == .recorded
        case .badge:
            let receipt = AcknowledgeMessage(fixture.scope, .id(message), BadgeHolder(key: key), .read, nil, at: now)
            return try await fixture.ask(receipt).reply == .recorded
        }
    }

    /// The orphan receipts of `acme` by reason, over all days.
    private func orphans(_ fixture: StoreFixture) async throws -> [String: Int64] {
        let days = try await figures(fixture)
        return days.reduce(into: [:]) { $0.merge($1.figures.orphans) { $0 + $1 } }
    }

    private func figures(_ fixture: StoreFixture) async throws -> [DayFigures] {
        let today = try await fixture.now().day
        let range = today - 500...today + 2
        return try #require(try await fixture.queries.deviceFigures(of: range, apps: ["shop"], in: fixture.acme))
    }

    @Test(arguments: Way.allCases)
    func eachIsCountedByItsReason(_ way: Way) async throws {
        let fixture = try await StoreFixture.make()
        let (sent, suppressed) = try await prepare(fixture)
        #expect(try await report(fixture, way, sent, "k1"))
        #expect(try await orphans(fixture) == [:], "a first receipt")
        for _ in 0..<2 { #expect(try await !report(fixture, way, sent, "k1")) }
        #expect(try await !report(fixture, way, sent, "k2"))
        #expect(try await !report(fixture, way, sent, "nobody"))
        #expect(try await !report(fixture, way, MessageID(UUID()), "k1"))
        var expected: [String: Int64] = ["repeated": 2, "otherDevice": 1, "unknownDevice": 1, "unknownMessage": 1]
        #expect(try await orphans(fixture) == expected)
        // By its number, a message may be read that was not pushed.
        let isRead = try await report(fixture, way, suppressed, "k1")
        #expect(isRead == (way == .number))
        #expect(try await !report(fixture, way, suppressed, "k1"))
        if way == .number { expected["repeated"] = 3 } else { expected["notSent"] = 2 }
        #expect(try await orphans(fixture) == expected)
        // Nothing of it is a count of deliveries.
        #expect(try await fixture.counters() == Funnel(recipients: 2, sent: 1, received: 1, read: 1, suppressed: 1))
    }

    // The retention has begun to remove rows of the days before tomorrow.
    @Test(arguments: [Way.id, .badge])
    func aReceiptOfARemovedMessageHasItsOwnReason(_ way: Way) async throws {
        let fixture = try await StoreFixture.make()
        let (sent, _) = try await prepare(fixture)
        let admin = try await fixture.database.admin()
        let now = try await fixture.now()
        try await admin.script(
            """
            INSERT INTO gateway.counter_fold AS f (tenant_id, minute, kept_from)
                VALUES ('\(fixture.acme.rawValue)', 0, \(now.day + 1))
                ON CONFLICT (tenant_id) DO UPDATE SET kept_from = excluded.kept_from;
            """
        )
        var random = SystemRandomNumberGenerator()
        let gone = MessageID(UUID.v7(at: now + .seconds(-86_400), using: &random))
        let coming = MessageID(UUID.v7(at: now + .seconds(3 * 86_400), using: &random))
        for message in [gone, coming] { #expect(try await !report(fixture, way, message, "k1")) }
        #expect(try await !report(fixture, way, sent, "k2"))
        #expect(try await report(fixture, way, sent, "k1"), "it is not removed yet")
        #expect(try await !report(fixture, way, sent, "k1"))
        #expect(try await orphans(fixture) == ["removed": 2, "unknownMessage": 1, "repeated": 1])
    }

    @Test func aSetOfReceiptsCountsItsRepetitionsInOneRow() async throws {
        let fixture = try await StoreFixture.make()
        let keys = (10..<20).map { VendorDeviceKey("k\($0)") }
        let message = try await sent(fixture, keys)
        let now = try await fixture.now()
        func together(_ keys: [VendorDeviceKey]) async throws -> [String?] {
            let receipts = keys.map { RecordReceipt(fixture.scope, message, Reporter(key: $0), .read, at: now) }
            let rows = try await fixture.call.run(try fixture.joined(receipts), tenant: fixture.acme.rawValue)
            return try rows.map { row throws(PostgresError) in try row.optionalText("outcome") }
        }
        #expect(try await together(Array(keys.prefix(6))) == Array(repeating: "recorded", count: 6))
        #expect(try await orphans(fixture) == [:])
        // An unknown device runs alone, so the statement counts nothing for it.
        let outcomes = try await together(keys + ["nobody"])
        let expected: [String?] = keys.indices.map { $0 < 6 ? "repeated" : "recorded" }
        #expect(outcomes == expected + [nil])
        #expect(try await orphans(fixture) == ["repeated": 6])
        let admin = try await fixture.database.admin()
        let rows = try await admin.query(
            "SELECT count(*) AS count FROM gateway.counter_delta WHERE tenant_id = $1 AND orphan IS NOT NULL",
            [.text(fixture.acme.rawValue)]
        )
        #expect(try rows.only().int("count") == 1)
    }

    // Calls that arrive together are merged, and one whose second receipt cannot be decided in the set is carried out alone: its first one must count once.
    @Test func receiptsThatArriveTogetherAreCountedAsTheyAreAnswered() async throws {
        let fixture = try await StoreFixture.make()
        let keys = (10..<40).map { VendorDeviceKey("k\($0)") }
        let message = try await sent(fixture, keys)
        let now = try await fixture.now()
        let replies = try await withThrowingTaskGroup(of: [ReceiptReply].self) { group in
            for key in keys {
                let reporter = Reporter(key: key)
                let known = RecordReceipt(fixture.scope, message, reporter, .received, at: now)
                let unknown = RecordReceipt(fixture.scope, MessageID(UUID()), reporter, .received, at: now)
                for number in 0..<3 {
                    group.addTask {
                        if number == 2 { return [try await fixture.ask(known)] }
                        let (first, second) = try await fixture.commands.run(known, unknown, in: fixture.acme)
                        return [first, second]
                    }
                }
            }
            return try await group.reduce(into: [ReceiptReply]()) { $0 += $1 }
        }
        #expect(replies.count { $0 == .recorded } == 30)
        #expect(replies.count { $0 == .repeated } == 60 && replies.count { $0 == .orphan } == 60)
        #expect(try await orphans(fixture) == ["repeated": 60, "unknownMessage": 60])
        #expect(try await fixture.counters() == Funnel(recipients: 30, sent: 30, received: 30))
    }

    // The clocks of the two zones are 25 hours apart, so that they never show the same day. The server does not know the third one.
    @Test(arguments: ["Pacific/Kiritimati", "Pacific/Pago_Pago", "Nowhere/Unknown"])
    func theDayIsThatOfTheAppsClock(_ zone: String) async throws {
        let fixture = try await StoreFixture.make()
        let admin = try await fixture.database.admin()
        try await admin.script(
            """
            UPDATE gateway.app SET defaults = '{"timeZone": "\(zone)"}' WHERE tenant_id = '\(fixture.acme.rawValue)'
            """
        )
        func today() async throws -> Int32 {
            let clock = zone == "Nowhere/Unknown" ? "UTC" : zone
            let row = try await admin.query(
                "SELECT (now() AT TIME ZONE '\(clock)')::date - date '1970-01-01' AS day"
            ).only()
            return Int32(clamping: try row.int("day"))
        }
        let before = try await today()
        #expect(try await fixture.receipt(MessageID(UUID()), "nobody") == .orphan)
        let after = try await today()
        let found = try await figures(fixture).filter { !$0.figures.orphans.isEmpty }
        #expect(found.map(\.figures.orphans) == [["unknownDevice": 1]])
        #expect(found.allSatisfy { [before, after].contains($0.day) && $0.app == "shop" })
        // Calls of another tenant do not see it.
        let other = try await fixture.queries.deviceFigures(of: before - 1...after + 1, apps: [], in: fixture.other)
        #expect(other == [])
    }

    // A caller may name any app. Each name would add a row that no limit bounds, and the tenant's questions about devices would be refused for too many rows.
    @Test func appsThatTheTenantDoesNotHaveAreNotCounted() async throws {
        let fixture = try await StoreFixture.make()
        let unknown = AppScope(app: "invented", vendor: fixture.scope.vendor)
        let now = try await fixture.now()
        let message = MessageID(UUID())
        let named = RecordReceipt(unknown, message, Reporter(key: "k1"), .read, at: now)
        #expect(try await fixture.ask(named) == .orphan)
        let numbered = ReportNumber(unknown, DeviceCaller(key: "k1"), number: "1", .read, at: now)
        #expect(try await fixture.ask(numbered) == .unknownDevice)
        let badge = AcknowledgeMessage(unknown, .id(message), BadgeHolder(key: "k1"), .read, nil, at: now)
        #expect(try await fixture.ask(badge).reply == .orphan)
        #expect(try await fixture.receipt(message, "k1", .read) == .orphan, "the control: an app that exists")
        let found = try await fixture.queries.deviceFigures(of: now.day - 1...now.day + 1, apps: [], in: fixture.acme)
        #expect(found?.map(\.app) == ["shop"] && found?.first?.figures.orphans == ["unknownDevice": 1])
    }

    // A tenant that has never sent a message: its counts are folded too, and removed at the end of their retention.
    @Test func orphansAreFoldedAndRemoved() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        let keeper = PostgresCountKeeper(engine: fixture.engine, node: fixture.node)
        func count(_ table: String) async throws -> Int {
            try await admin.query("SELECT count(*) AS count FROM gateway.\(table)").only().int("count")
        }
        try await fixture.register("k1", token: "aa01")
        for round in 1...2 {
            for _ in 0..<3 { #expect(try await fixture.receipt(MessageID(UUID()), "nobody") == .orphan) }
            #expect(try await fixture.receipt(MessageID(UUID()), "k1") == .orphan)
            let open = try await orphans(fixture)
            #expect(open == ["unknownDevice": Int64(3 * round), "unknownMessage": Int64(round)])
            #expect(try await keeper.fold() == 4)
            #expect(try await orphans(fixture) == open)
            #expect(try await count("counter_delta") == 0)
        }
        #expect(try await count("counter") == 0, "they are no deliveries")
        try await admin.script("UPDATE gateway.orphan_receipt SET day = day - 401 WHERE reason = 'unknownDevice'")
        _ = try await PostgresMaintenance(engine: fixture.engine, node: fixture.node).run()
        #expect(try await orphans(fixture) == ["unknownMessage": 2])
    }
}
