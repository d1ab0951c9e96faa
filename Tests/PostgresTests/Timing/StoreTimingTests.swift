import Commands
import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import TestKit
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// Time zones, windows and quiet hours in SQL: that the SQL and the Swift calculation agree, and behavior that only a
/// server shows.
@Suite struct StoreTimingTests {
    private static let zones = [
        "UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Asia/Kolkata", "Australia/Lord_Howe",
        "Pacific/Chatham", "Pacific/Kiritimati", "America/St_Johns", "Asia/Seoul", "Etc/GMT+12",
    ]

    /// Random rules and a random device, at a time in 2026 to 2028 that is usually near a clock change.
    private struct Situation {
        var rules: TimingRules
        var device: DeviceClock
        var now: Timestamp

        init(_ random: inout SplitMix) {
            func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: values.indices, using: &random)] }
            func zone() -> TimeZoneName? { TimeZoneName(stored: pick(StoreTimingTests.zones)) }
            // The last Sundays of March and October, the first of April, October and November, the second of March.
            let changes: [Int64] = [
                1_774_746_000, 1_792_890_000, 1_775_314_800, 1_791_042_600, 1_793_512_800, 1_772_953_200,
            ]
            let base = pick(changes) + Int64.random(in: -200_000...200_000, using: &random)
            now = Timestamp(milliseconds: base * 1000 + Int64.random(in: 0..<1000, using: &random))
            var app = AppTiming(timeZone: zone())
            let shown = LocalTime(now, in: app.zone(of: .unset)).minute
            // Half of all limits are close to the current local time, so that a difference of one minute is detected.
            func minute() -> Int {
                if Bool.random(using: &random) { return Int.random(in: 0..<1440, using: &random) }
                return (shown + 1440 + Int.random(in: -2...2, using: &random)) % 1440
            }
            if Bool.random(using: &random) {
                app.quietHours = AppTiming.QuietHours(
                    from: minute(),
                    to: minute(),
                    zone: Bool.random(using: &random) ? zone() : nil,
                    hold: pick([.delay, .delay, .suppress])
                )
            }
            app.windows.hold = pick([.delay, .delay, .suppress])
            device = DeviceClock(timeZone: Bool.random(using: &random) ? zone() : nil)
            if Bool.random(using: &random) { device.window = DailyWindow(from: minute(), to: minute()) }
            if device.window?.isWholeDay == true { device.window = nil }
            let due = now + .seconds(Int64.random(in: -100_000...100_000, using: &random))
            let local =
                Bool.random(using: &random)
                ? LocalTime(seconds: base + Int64.random(in: -100_000...100_000, using: &random)) : nil
            rules = TimingRules(
                app: app,
                lane: .bulk,
                dueAt: due,
                localDue: local,
                expiresAt: max(due, local?.latest ?? due) + .seconds(Int64.random(in: 60...300_000, using: &random))
            )
        }

        /// In the order of `gateway.due_of`.
        var parameters: [PostgresValue] {
            let quiet = rules.app.quietHours.flatMap { $0.hold == .delay ? $0 : nil }
            let window = rules.app.windows.hold == .delay ? device.window : nil
            let zone = rules.app.zone(of: device)
            func number(_ value: Int?) -> PostgresValue { .int32(value.map { Int32(clamping: $0) }) }
            return [
                .time(now), .time(rules.dueAt), .int64(rules.localDue?.seconds), .time(rules.expiresAt),
                .text(zone.text),
                .text((quiet?.zone ?? zone).text), number(quiet?.from), number(quiet?.to), number(window?.from),
                number(window?.to),
            ]
        }
    }

    @Test func theServerAndSwiftCalculateTheSameDueTime() async throws {
        let engine = try await DatabaseStores.shared().engine
        var random = SplitMix(state: 26)
        let situations = (0..<2000).map { _ in Situation(&random) }
        let sql = "SELECT gateway.due_of(\((1...10).map { "$\($0)" }.joined(separator: ", "))) AS due"
        var held = 0
        for batch in stride(from: 0, to: situations.count, by: 200) {
            let part = situations[batch..<batch + 200]
            let results = try await engine.run(part.map { Statement(sql, $0.parameters) }, tenant: nil)
            for (situation, result) in zip(part, results) {
                let seen = try result.only().time("due")
                let wanted = situation.rules.slot(situation.device, now: situation.now)
                try #require(seen == wanted, "\(situation)")
                if wanted > max(situation.now, situation.rules.due(situation.device)) { held += 1 }
            }
        }
        // The test must cover the relevant cases.
        #expect(held > 300)
    }

    // A zone that only the gateway's or only the server's table contains must not stop an expansion for ever.
    @Test func anUnknownZoneFallsBackToTheAppsThenToUTC() async throws {
        let engine = try await DatabaseStores.shared().engine
        for (zone, app, known) in [
            ("Mars/Base", "Asia/Seoul", "Asia/Seoul"), ("Mars/Base", "Mars/Base", "UTC"), (nil, nil, "UTC"),
            ("Europe/Berlin", "Asia/Seoul", "Europe/Berlin"), (nil, "Asia/Seoul", "Asia/Seoul"),
        ] as [(String?, String?, String)] {
            let statement = Statement("SELECT gateway.known_zone($1, $2) AS zone", [.text(zone), .text(app)])
            #expect(try await engine.run(statement, tenant: nil).only().text("zone") == known)
        }
    }

    @Test func provisionedHoursAreReadAsWritten() throws {
        let timing = AppTiming(
            timeZone: TimeZoneName("Asia/Seoul"),
            quietHours: AppTiming.QuietHours(
                from: 1320,
                to: 420,
                zone: TimeZoneName("Europe/Berlin"),
                lanes: [.urgent, .bulk],
                hold: .suppress
            ),
            windows: AppTiming.WindowRule(lanes: [], hold: .suppress),
            cap: AppTiming.FrequencyCap(count: 5, period: .seconds(86_400))
        )
        for timing in [timing, .none] {
            var defaults = JSONObject()
            TimingCoding.write(timing, into: &defaults)
            #expect(TimingCoding.read(defaults) == timing)
            if timing == .none { #expect(defaults.isEmpty) }
        }
    }

    @Test func devicesAreImportedAndPatchedWithTheirClocks() async throws {
        let fixture = try await StoreFixture.make()
        func row(_ key: String, _ zone: String?, _ window: String?) -> DeviceRegistration {
            DeviceRegistration(
                key: VendorDeviceKey(key),
                platform: .ios,
                clock: DeviceClock(
                    timeZone: zone.flatMap { TimeZoneName($0) },
                    window: window.flatMap { DailyWindow($0) }
                )
            )
        }
        let rows = [
            row("a", "Asia/Seoul", "0900-2100"), row("b", nil, nil), row("c", "Europe/Berlin", nil),
            row("c", "UTC", nil),
        ]
        let at = try await fixture.now()
        for round in 0..<2 {
            let preview = try await fixture.commands.run(ImportRules.preview(rows, fixture.scope), in: fixture.acme)
            let counts = (preview.created, preview.updated, preview.unchanged)
            // The two rows of one key cannot both be unchanged.
            #expect(round == 0 ? counts == (4, 0, 0) : counts == (0, 1, 3))
            _ = try await fixture.importDevices(rows, TestIdentifiers(), at: at)
        }
        let devices = try await fixture.devices.devices(in: fixture.acme, app: "shop", after: nil, limit: 10)
        let clocks = Dictionary(uniqueKeysWithValues: devices.map { ($0.identities.first?.key.rawValue, $0) })
        #expect(clocks["a"]?.clock.timeZone?.text == "Asia/Seoul")
        #expect(clocks["a"]?.clock.window?.description == "0900-2100")
        #expect(clocks["b"]?.clock == .unset)
        #expect(clocks["c"]?.clock.timeZone?.text == "UTC")
        let id = try #require(clocks["a"]?.id)
        let patch = DevicePatch(clock: DeviceClock(window: DailyWindow("0000-2359")))
        guard case .done(let patched) = try await fixture.patch(id, patch, in: fixture.acme) else {
            Issue.record("not patched")
            return
        }
        #expect(patched?.clock == DeviceClock(timeZone: TimeZoneName("Asia/Seoul")))
    }

    // The message is due in a year, which is longer than messages are kept. Retention counts from its due time, not
    // from its acceptance.
    @Test func aMessageThatWasScheduledLongBeforeIsKeptAfterItWasDue() async throws {
        let fixture = try await StoreFixture.alone()
        let now = try await fixture.now()
        let old = MessageID(rawValue: TestIdentifiers().uuid(at: now + .seconds(-300 * 86_400)))
        var ids: [MessageID] = []
        for (days, isKept) in [(Int64(-2), true), (-101, false)] {
            var message = try await fixture.message(leased: false)
            message.id = isKept ? old : MessageID(rawValue: TestIdentifiers().uuid(at: now + .seconds(-301 * 86_400)))
            message.times.dueAt = now + .seconds(days * 86_400)
            message.times.expiresAt = message.times.dueAt + .seconds(3600)
            message.targets.slices = []
            ids.append(message.id)
            _ = try await fixture.ask(AcceptMessage(message))
        }
        _ = try await PostgresMaintenance(engine: fixture.engine, node: "n").run()
        #expect(try await fixture.queries.message(ids[0].description, in: fixture.acme) != nil)
        #expect(try await fixture.queries.message(ids[1].description, in: fixture.acme) == nil)
    }

    // Half a year ahead, the week has no partition yet, so its rows wait in the default partition.
    @Test func aMessageHalfAYearAheadIsExpandedAndWritten() async throws {
        let fixture = try await StoreFixture.alone()
        let now = try await fixture.now()
        let key = VendorDeviceKey("far")
        let identity = IdentityID(rawValue: UUID())
        let registration = DeviceRegistration(
            key: key,
            platform: .ios,
            token: DeviceToken(stored: String(repeating: "a", count: 64)),
            clock: DeviceClock(timeZone: TimeZoneName("Asia/Kathmandu"))
        )
        _ = try await fixture.ask(
            RegisterDevice(
                fixture.scope,
                key: key,
                registration,
                identity: identity,
                device: DeviceID(rawValue: UUID()),
                at: now
            )
        )
        let local = LocalTime(seconds: (now.seconds / 86_400 + 180) * 86_400 + 9 * 3600)
        var message = try await fixture.message(leased: false)
        message.targets.slices = [NewSlice(number: 0, work: .expand(after: nil))]
        message.times.dueAt = local.earliest
        message.times.localDue = local
        message.times.expiresAt = local.latest + .seconds(3600)
        _ = try await fixture.ask(AcceptMessage(message))
        #expect(try await fixture.delivery.dueTenants(in: message.lane, limit: 10).isEmpty)
        let admin = try await fixture.database.admin()
        try await admin.script("UPDATE gateway.slice SET next_at = now()")
        func claim() async throws -> SliceLease? {
            try await fixture.delivery.claim(tenant: "acme", lane: message.lane, limit: 9, by: "n", lease: .seconds(60))
                .first
        }
        let expand = try #require(try await claim())
        while case .page = try await fixture.delivery.expand(expand, by: "n", pageSize: 500) {}
        let row = try await admin.query("SELECT next_at FROM gateway.slice WHERE kind = 'deliver'").only()
        #expect(try row.time("next_at") == local.moment(in: try #require(TimeZoneName("Asia/Kathmandu"))))
        try await admin.script("UPDATE gateway.slice SET next_at = now()")
        let slice = try #require(try await claim())
        #expect(slice.targets == [TargetID(identity)])
        let facts = try #require(try await fixture.delivery.load(slice))
        #expect(facts.localDue == local && facts.targets[0]?.clock.timeZone?.text == "Asia/Kathmandu")
        let shown = try await fixture.queries.message(message.id.description, in: fixture.acme)
        #expect(shown?.localDue == local)
        await admin.close()
    }

    // MARK: Due times of slices

    /// The slices of a message to everyone after its expansion, in order: the minutes until a slice becomes due, and the seconds from the message's due time to
    /// that of the slice; -1: it is due with the message.
    private func expanded(
        _ fixture: StoreFixture,
        dueIn delay: Duration,
        change: String? = nil
    ) async throws -> [(wait: Int, own: Int)] {
        var message = try await fixture.message(dueIn: delay, leased: false)
        message.targets.slices = [NewSlice(number: 0, work: .expand(after: nil))]
        message.times.expiresAt = message.times.acceptedAt + .seconds(6 * 3600)
        _ = try await fixture.ask(AcceptMessage(message))
        let admin = try await fixture.database.admin()
        if let change { try await admin.script("UPDATE gateway.message SET \(change)") }
        let leases = try await fixture.delivery.claim(
            tenant: "acme",
            lane: message.lane,
            limit: 9,
            by: "n",
            lease: .seconds(60)
        )
        let lease = try #require(leases.first { $0.key.message == message.id })
        while case .page = try await fixture.delivery.expand(lease, by: "n", pageSize: 500) {}
        let rows = try await admin.query(
            """
            SELECT round(extract(epoch FROM s.next_at - now()) / 60)::integer AS wait,
                coalesce(round(extract(epoch FROM s.due_at - m.due_at))::integer, -1) AS own
            FROM gateway.slice s JOIN gateway.message m ON m.message_id = s.message_id
            WHERE s.kind = 'deliver' AND s.message_id = $1 ORDER BY s.no
            """,
            [.uuid(message.id.rawValue)]
        )
        return try rows.map { (wait: try $0.int("wait"), own: try $0.int("own")) }
    }

    // Otherwise the latency would not show that the queue is slow, or would contain hours without pushes.
    @Test func aLateExpansionDoesNotChangeWhenItsTargetsWereDue() async throws {
        let fixture = try await StoreFixture.alone()
        try await fixture.register("late", token: "abcd")
        let minute = Int(try await fixture.now().seconds / 60 % 1440)
        // Quiet hours that began 90 minutes ago and ended half an hour ago.
        let hours = "\"from\": \((minute + 1350) % 1440), \"to\": \((minute + 1410) % 1440)"
        try await fixture.database.admin().script(
            """
            UPDATE gateway.app SET defaults = defaults || '{"quiet": {\(hours), "lanes": [0, 1, 2, 3], "hold": "delay"}}'
            WHERE tenant_id = 'acme' AND app_id = 'shop'
            """
        )
        let held = try await expanded(fixture, dueIn: .seconds(-3600))
        try #require(held.count == 1)
        // At the end of the quiet hours, whose minute has begun before the message was accepted.
        #expect(held[0].wait == 0 && held[0].own > 1600 && held[0].own <= 1800, "\(held)")
        let free = try await expanded(fixture, dueIn: .seconds(-1200))
        #expect(free.count == 1 && free.allSatisfy { $0.wait == 0 && $0.own == -1 }, "\(free)")
    }

    // A pause is not a part of the pace, and neither is a slow queue.
    @Test func aThrottledTargetIsDueByThePaceAlone() async throws {
        let fixture = try await StoreFixture.alone()
        for key in ["a", "b", "c"] { try await fixture.register(VendorDeviceKey(key), token: "abc\(key)") }
        let late = try await expanded(fixture, dueIn: .seconds(-3600), change: "pace_count = 1, pace_seconds = 600")
        #expect(late.map { $0.own } == [0, 600, 1200] && late.allSatisfy { $0.wait == 0 }, "\(late)")
        let paused = try await expanded(
            fixture,
            dueIn: .seconds(-3600),
            change: "pace_count = 1, pace_seconds = 600, pace_from = due_at + interval '2 hours'"
        )
        #expect(paused.map { $0.own } == [0, 600, 1200] && paused.allSatisfy { $0.wait > 50 }, "\(paused)")
    }

    // The answer to the flush was lost, and the node repeats it.
    @Test func aRepeatedFlushDoesNotMoveTheDueTime() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        let (message, lease) = try await fixture.sending(to: [IdentityID(UUID()), IdentityID(UUID())])
        var progress = try await fixture.progress(lease, [0], disposition: .again(after: .seconds(3600)))
        progress.movesDue = true
        func due() async throws -> Timestamp {
            let row = try await admin.query(
                "SELECT due_at, next_at FROM gateway.slice WHERE message_id = $1",
                [.uuid(message.id.rawValue)]
            ).only()
            #expect(try row.time("due_at") == (try row.time("next_at")))
            return try row.time("due_at")
        }
        _ = try await fixture.delivery.record(progress, by: fixture.node)
        let first = try await due()
        _ = try await fixture.delivery.record(progress, by: fixture.node)
        #expect(try await due() == first)
    }
}
