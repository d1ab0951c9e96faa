import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import Synchronization
import TestKit
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// The event log: which events each change writes, which readers see them, and that a reader misses none.
@Suite struct StoreEventTests {
    private func news(_ fixture: StoreFixture, after offset: Int64) async throws -> [EventRecord] {
        try await fixture.queries.events(in: fixture.acme, after: offset, limit: 100).events
    }

    private func head(_ fixture: StoreFixture) async throws -> Int64 {
        try await fixture.queries.eventBounds(in: fixture.acme).head
    }

    @Test func aDeliverysEventHasTheRecipientAndReasonOfItsRow() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        let start = try await head(fixture)
        let (message, lease) = try await fixture.sending(to: [device.identity])
        let progress = try await fixture.progress(lease, [0], .failed)
        _ = try await fixture.delivery.record(progress, by: fixture.node)
        let events = try await news(fixture, after: start)
        #expect(events.map(\.kind) == ["accepted", "failed"])
        #expect(events.map(\.offset) == [start + 1, start + 2])
        let accepted = try #require(events.first)
        #expect(
            accepted.subject.message == message.id && accepted.subject.target == nil && accepted.subject.identity == nil
        )
        let failed = try #require(events.last)
        #expect(failed.subject.message == message.id && failed.subject.target == TargetID(device.identity))
        #expect(failed.subject.identity == device.identity && failed.reason == "BadDeviceToken")
        #expect(failed.subject.address == .deviceKey("k1") && failed.app == "shop" && failed.vendor == .rationalOwl)
        // An erased device is removed from old events too.
        #expect(try await fixture.erase(device.device, in: fixture.acme, by: .key("test")) == .done(true))
        let later = try #require(try await news(fixture, after: start).last)
        #expect(later.reason == "BadDeviceToken" && later.subject.address == nil)
    }

    /// The data of an export other than events: the user at the time of the push, the device in its current state,
    /// and the requested members of the message's data.
    @Test func anExportContainsTheRequestedFactsOfItsTenantOnly() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        var content = Content(title: "t", body: "b")
        content.data = ["campaign": ["name": "Winter"], "send": .null, "properties": ["wide": "x"]]
        let message = try await fixture.message(to: [(TargetID(device.identity), nil)], content: content)
        try await fixture.accept(message)
        var progress = try await fixture.progress(fixture.lease(of: message), [0])
        progress.results[0].device = device.device
        progress.results[0].user = "u-1"
        _ = try await fixture.delivery.record(progress, by: fixture.node)
        // The phone changes hands: its token gets another identity, and the first identity another user.
        try await fixture.register("k2", token: "aa01")
        let admin = try await fixture.database.admin()
        try await admin.script(
            "UPDATE gateway.identity SET user_id = 'u-9' WHERE tenant_id = '\(fixture.acme)' AND key = 'k1'"
        )
        let events = try await fixture.log()
        let sent = try #require(events.first { $0.kind == "sent" })
        #expect(sent.subject.user == "u-1" && sent.subject.device == device.device)
        let names = ["campaign", "send", "variation"]
        let facts = try await fixture.queries.eventFacts(of: events, data: names, in: fixture.acme)
        #expect(facts.identity(of: sent)?.key == "k1" && facts.identity(of: sent)?.user == "u-9")
        #expect(facts.device(of: sent)?.platform == .ios && facts.device(of: sent)?.key == "k2")
        #expect(facts.message(of: sent)?.origin == .rationalOwl)
        #expect(facts.message(of: sent)?.data["campaign"] == ["name": "Winter"])
        #expect(facts.message(of: sent)?.data["properties"] == nil)
        // A device without any identity still exists.
        try await admin.script("UPDATE gateway.identity SET device_id = NULL WHERE tenant_id = '\(fixture.acme)'")
        let bare = try await fixture.queries.eventFacts(of: events, data: names, in: fixture.acme)
        #expect(bare.device(of: sent)?.platform == .ios && bare.device(of: sent)?.key == nil)
        #expect(try await fixture.queries.eventFacts(of: events, data: names, in: fixture.other) == EventFacts())
        #expect(try await fixture.queries.eventFacts(of: [], data: [], in: fixture.acme) == EventFacts())
        // An erased device is removed from old events too.
        #expect(try await fixture.erase(device.device, in: fixture.acme, by: .key("test")) == .done(true))
        let later = try #require(try await fixture.log().first { $0.kind == "sent" })
        #expect(later.subject.user == nil)
    }

    @Test func aRepeatedSubmissionIsAcceptedOnce() async throws {
        let fixture = try await StoreFixture.make()
        for hash in ["a", "a", "b"] {
            let key = IdempotencyKey(key: "once", bodyHash: hash)
            try await fixture.accept(
                try await fixture.message(to: [(TargetID(rawValue: UUID()), nil)], idempotency: key)
            )
        }
        #expect(try await fixture.log().map(\.kind) == ["accepted"])
    }

    @Test func aPatchCausesAnEventOnlyForAChangedPreference() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        let start = try await head(fixture)
        for patch in [
            DevicePatch(acceptsPush: false), DevicePatch(acceptsPush: false), DevicePatch(name: "kim"),
            DevicePatch(acceptsPush: true),
        ] {
            #expect(try await fixture.patch(device.device, patch, in: fixture.acme) != .done(nil))
        }
        let events = try await news(fixture, after: start)
        #expect(events.map(\.kind) == ["preference_changed", "preference_changed"])
        #expect(events.map { $0.data?["acceptsPush"]?.bool } == [false, true])
        #expect(events.allSatisfy { $0.subject.identity == device.identity && $0.subject.device == device.device })
        #expect(try await fixture.devices.device(device.device, in: fixture.acme)?.identities.first?.name == "kim")
        let off = DevicePatch(acceptsPush: false)
        #expect(try await fixture.patch(device.device, off, in: fixture.other) == .done(nil))
        #expect(try await head(fixture) == start + 2)
    }

    @Test func anotherIdentityOnTheSameTokenReplacesTheOld() async throws {
        let fixture = try await StoreFixture.make()
        let old = try await fixture.register("k1", token: "aa01")
        let start = try await head(fixture)
        let new = try await fixture.register("k2", token: "aa01")
        let events = try await news(fixture, after: start)
        #expect(events.map(\.kind) == ["replaced", "registered", "moved"])
        #expect(events.map(\.subject.identity) == [old.identity, new.identity, new.identity])
        #expect(events.last?.data == ["of": "token", "pending": false])
    }

    /// The event has the push service's reason and the device, for every dialect on it; it has no identity and no
    /// vendor.
    @Test func anInvalidTokenCausesAnEventOfItsDevice() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        let token = try #require(DeviceToken(apns: "aa01"))
        let start = try await head(fixture)
        let verdict = TokenVerdict.doubtful(device.device, token, reason: "BadDeviceToken")
        try await fixture.delivery.condemn([verdict], tenant: fixture.acme)
        let event = try #require(try await news(fixture, after: start).first)
        #expect(event.kind == "token_quarantined" && event.subject.device == device.device && event.vendor == nil)
        #expect(event.data?["reason"]?.string == "BadDeviceToken")
    }

    @Test func aPageStopsAtItsLimitAndSkipsOtherEvents() async throws {
        let fixture = try await StoreFixture.make()
        for index in 0..<6 { try await fixture.register(VendorDeviceKey("k\(index)"), token: "aa0\(index)") }
        _ = try await fixture.ask(UnregisterDevices(fixture.scope, .key("k0")))
        var page = try await fixture.queries.events(in: fixture.acme, after: 0, limit: 4)
        #expect(page.events.map(\.offset) == [1, 2, 3, 4] && page.through == 4 && page.head == 7)
        let filter = EventFilter(app: "shop", kinds: ["unregistered"])
        page = try await fixture.queries.events(in: fixture.acme, after: 0, limit: 4, filter: filter)
        #expect(page.events.map(\.offset) == [7] && page.through == 7)
        page = try await fixture.queries.events(in: fixture.acme, after: 2, limit: 4, filter: EventFilter(app: "none"))
        #expect(page.events.isEmpty && page.through == 7)
        let owl = EventFilter(vendor: .rationalOwl)
        page = try await fixture.queries.events(in: fixture.acme, after: 0, limit: 9, filter: owl)
        #expect(page.events.count == 7)
        let upmc = EventFilter(vendor: .upmc)
        page = try await fixture.queries.events(in: fixture.acme, after: 0, limit: 9, filter: upmc)
        #expect(page.events.isEmpty && page.through == 7)
        page = try await fixture.queries.events(in: fixture.acme, after: .max, limit: 4)
        #expect(page.events.isEmpty)
        #expect(try await fixture.queries.eventBounds(in: fixture.other) == EventBounds(first: 0, head: 0))
    }

    // MARK: Retention

    @Test func undeliveredEventsStayUntilTheLimit() async throws {
        let fixture = try await StoreFixture.alone()
        try await fixture.register("k1", token: "aa01")
        let id = WebhookID(rawValue: UUID())
        let webhook = NewWebhook.example(id)
        #expect(try await fixture.subscriptions.create(webhook, in: fixture.acme, limit: 1))
        try await fixture.register("k2", token: "aa02")
        let admin = try await fixture.database.admin()
        try await admin.script(EventAge.older(by: 8))
        let keeper = PostgresMaintenance(engine: fixture.engine, node: fixture.node)
        // The first event is older than the webhook, so no subscriber waits for it.
        #expect(try await keeper.run().eventsRemoved == 1)
        #expect(try await keeper.run().eventsRemoved == 0)
        #expect(try await fixture.queries.eventBounds(in: fixture.acme) == EventBounds(first: 1, head: 2))
        let replay = try await fixture.subscriptions.replay(id, from: 0, in: fixture.acme)
        #expect(replay == .outside(EventBounds(first: 1, head: 2)))
        try await admin.script(EventAge.older(by: 7))
        #expect(try await keeper.run().eventsRemoved == 1)
        #expect(try await fixture.queries.eventBounds(in: fixture.acme) == EventBounds(first: 2, head: 2))
        // Offsets continue from the last one, also after an empty log.
        try await fixture.register("k3", token: "aa03")
        #expect(try await fixture.log().map(\.offset) == [3])
    }

    /// An old event behind a younger one is kept until that one is deleted: a reader must never find a gap.
    @Test func retentionLeavesNoGap() async throws {
        let fixture = try await StoreFixture.alone()
        for index in 0..<4 { try await fixture.register(VendorDeviceKey("k\(index)"), token: "aa0\(index)") }
        let admin = try await fixture.database.admin()
        try await admin.script(EventAge.older(by: 8, where: "last <> 2"))
        let keeper = PostgresMaintenance(engine: fixture.engine, node: fixture.node)
        #expect(try await keeper.run().eventsRemoved == 1)
        #expect(try await fixture.log().map(\.offset) == [2, 3, 4])
    }

    // MARK: Order

    /// Eight writers, each with its own transactions and with seeded waits before and after its event, and a reader that requests the events
    /// after its last offset until all writers have ended and further events stop arriving. Returns the offsets that the reader saw and the number of
    /// written events.
    private func tail(_ fixture: StoreFixture, seed: UInt64) async throws -> (seen: [Int64], written: Int) {
        let writers = 8
        let rounds = 30
        let writing = Countdown(writers)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<writers {
                var random = SplitMix(state: seed &* 1000 &+ UInt64(writer))
                let connection = try await fixture.database.admin()
                let scripts = (0..<rounds).map { _ in
                    let count = Int.random(in: 1...3, using: &random)
                    let before = Double(Int.random(in: 0...4, using: &random)) / 1000
                    let after = Double(Int.random(in: 0...4, using: &random)) / 1000
                    return """
                        BEGIN;
                        SELECT pg_sleep(\(before));
                        SELECT gateway.append_events('\(fixture.acme)', 'shop', 'rationalowl', NULL, gen_random_uuid(), 20000,
                            array_fill('sent'::text, ARRAY[\(count)]), array_fill(gen_random_uuid(), ARRAY[\(count)]));
                        SELECT pg_sleep(\(after));
                        COMMIT;
                        """
                }
                group.addTask {
                    defer { writing.end() }
                    for script in scripts { try await connection.script(script) }
                    await connection.close()
                }
            }
            var seen: [Int64] = []
            while true {
                let isLast = writing.isOver
                let page = try await fixture.queries.events(in: fixture.acme, after: seen.last ?? 0, limit: 50)
                seen += page.events.map(\.offset)
                if isLast, page.events.isEmpty { break }
            }
            try await group.waitForAll()
            let admin = try await fixture.database.admin()
            let written = try await admin.query(
                "SELECT count(*) AS n FROM gateway.event WHERE tenant_id = $1",
                [.id(fixture.acme)]
            ).only().int("n")
            return (seen, written)
        }
    }

    /// A reader at an offset never skips an event that commits late (docs/schema.md#events).
    @Test(.timeLimit(.minutes(10)), arguments: [1, 2] as [UInt64])
    func aTailingReaderMissesNoEventOfEightWriters(_ seed: UInt64) async throws {
        let fixture = try await StoreFixture.make()
        let (seen, written) = try await tail(fixture, seed: seed)
        #expect(written >= 8 * 30)
        #expect(seen == Array(1...Int64(written)))
    }

    /// The control: offsets from a sequence are drawn in one order and committed in another, so a reader misses the
    /// late one.
    @Test(.timeLimit(.minutes(10))) func offsetsOfASequenceWouldBeMissed() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        try await admin.script(
            """
            CREATE SEQUENCE gateway.loose;
            CREATE OR REPLACE FUNCTION gateway.append_events(
                p_tenant text, p_app text, p_vendor text, p_sender text, p_message uuid, p_due_day integer,
                p_kinds text[], p_targets uuid[])
            RETURNS void LANGUAGE plpgsql AS $$
            BEGIN
                INSERT INTO gateway.event_batch (tenant_id, last, count, at, day, kind, app_id, vendor, messages)
                    VALUES (p_tenant, nextval('gateway.loose'), 1, now(), 20000, p_kinds[1], p_app, p_vendor, ARRAY[p_message]);
            END $$;
            """
        )
        let write = """
            SELECT gateway.append_events('acme', 'shop', 'rationalowl', NULL, gen_random_uuid(), 20000, '{sent}', '{NULL}');
            """
        let slow = try await fixture.database.admin()
        // The slow transaction has its offset and cannot commit before the test releases the lock.
        try await admin.script("SELECT pg_advisory_lock(77)")
        async let late: Void = slow.script("BEGIN; \(write) SELECT pg_advisory_xact_lock(77); COMMIT")
        let waiting = """
            SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = 77
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            """
        try await eventually("the slow transaction waits for its commit") { try await !admin.query(waiting).isEmpty }
        try await admin.script(write)
        let seen = try await fixture.queries.events(in: fixture.acme, after: 0, limit: 50)
        #expect(seen.events.map(\.offset) == [2])
        try await admin.script("SELECT pg_advisory_unlock(77)")
        try await late
        let rest = try await fixture.queries.events(in: fixture.acme, after: 2, limit: 50)
        #expect(rest.events.isEmpty, "the first is never seen")
    }

    /// I6: no tenant reads another tenant's webhooks, and no API call reads a sealed secret, not even its own
    /// tenant's.
    @Test func onlyTheDispatcherReadsTheSealedSecret() async throws {
        let fixture = try await StoreFixture.make()
        let webhook = NewWebhook.example()
        #expect(try await fixture.subscriptions.create(webhook, in: fixture.acme, limit: 1))
        let secret = Statement("SELECT sealed FROM gateway.webhook")
        let error = await #expect(throws: PostgresError.self) {
            try await fixture.call.run(secret, tenant: fixture.acme.rawValue)
        }
        #expect(error?.code == .insufficientPrivilege)
        for (tenant, count) in [(fixture.acme, 1), (fixture.other, 0), (nil, 0)] as [(TenantID?, Int)] {
            let rows = try await fixture.call.run(
                Statement("SELECT url FROM gateway.webhook"),
                tenant: tenant?.rawValue
            )
            #expect(rows.count == count)
            let change = Statement("UPDATE gateway.webhook SET is_active = true")
            #expect(try await fixture.call.run(change, tenant: tenant?.rawValue).affectedRows == count)
        }
    }
}

/// Counts down to the end of all writers.
private final class Countdown: Sendable {
    private let left: Atomic<Int>

    init(_ count: Int) { left = Atomic(count) }

    var isOver: Bool { left.load(ordering: .sequentiallyConsistent) == 0 }
    func end() { left.subtract(1, ordering: .sequentiallyConsistent) }
}
