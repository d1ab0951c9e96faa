import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// The queue: leases, fencing, and outcomes that are written once (I2).
@Suite struct StoreDeliveryTests {
    private func slices(_ count: Int) -> [NewSlice] {
        (0..<count).map { NewSlice(number: Int32($0), work: .deliver, targets: [TargetID(rawValue: UUID())]) }
    }

    private func claim(_ fixture: StoreFixture, by node: NodeID, limit: Int = 100) async throws -> [SliceLease] {
        try await fixture.delivery.claim(
            tenant: fixture.acme,
            lane: .transactional,
            limit: limit,
            by: node,
            lease: .seconds(600)
        )
    }

    /// Ends every lease, as the passing of time would.
    private func expireLeases(_ fixture: StoreFixture) async throws {
        let admin = try await fixture.database.admin()
        _ = try await admin.query(
            "UPDATE gateway.slice SET next_at = now() - interval '1 second' WHERE tenant_id = $1 AND state = 'leased'",
            [.id(fixture.acme)]
        )
    }

    @Test func nodesThatClaimAtOnceNeverShareASlice() async throws {
        let fixture = try await StoreFixture.make()
        let message = try await fixture.message(slices: slices(60), leased: false, recipients: 60)
        try await fixture.accept(message)
        #expect(try await fixture.delivery.dueTenants(in: .transactional, limit: 10_000).contains(fixture.acme))
        #expect(try await !fixture.delivery.dueTenants(in: .bulk, limit: 10_000).contains(fixture.acme))
        let claimed = try await withThrowingTaskGroup(of: [SliceLease].self) { group in
            for node in 0..<4 {
                group.addTask {
                    var mine: [SliceLease] = []
                    for _ in 0..<6 { mine += try await claim(fixture, by: NodeID("n\(node)"), limit: 4) }
                    return mine
                }
            }
            return try await group.reduce(into: [SliceLease]()) { $0 += $1 }
        }
        #expect(claimed.count == 60)
        #expect(Set(claimed.map(\.key)).count == 60)
        #expect(claimed.allSatisfy { $0.epoch == 1 && $0.targets.count == 1 && $0.dueDay == message.times.dueAt.day })
    }

    @Test func anExpiredLeaseMayBeClaimedAndItsFormerHolderIsFenced() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        let (message, mine) = try await fixture.sending(to: [device.identity])
        #expect(try await claim(fixture, by: "node-2").isEmpty)
        try await expireLeases(fixture)
        let taken = try #require(try await claim(fixture, by: "node-2").first)
        #expect(taken.epoch == mine.epoch + 1)
        #expect(try await fixture.delivery.renew([mine, taken], by: fixture.node, lease: .seconds(600)).isEmpty)
        #expect(try await fixture.delivery.record(try await fixture.progress(mine, [0]), by: fixture.node) == .fenced)
        #expect(try await fixture.facts(message.id).funnel.sent == 0)
        #expect(try await fixture.counters().sent == 0)
        #expect(try await fixture.delivery.renew([taken], by: "node-2", lease: .seconds(600)) == [taken.key])
        #expect(
            try await fixture.delivery.record(try await fixture.progress(taken, [0]), by: "node-2") == .recorded(1)
        )
        #expect(try await fixture.facts(message.id).state == .done)
    }

    @Test func theSameFlushTwiceCountsOnce() async throws {
        let fixture = try await StoreFixture.make()
        let one = try await fixture.register("k1", token: "aa01")
        let two = try await fixture.register("k2", token: "aa02")
        let (message, lease) = try await fixture.sending(to: [one.identity, two.identity])
        let first = try await fixture.progress(lease, [0], disposition: .goOn)
        #expect(try await fixture.delivery.record(first, by: fixture.node) == .recorded(1))
        #expect(try await fixture.delivery.record(first, by: fixture.node) == .recorded(0))
        let last = try await fixture.progress(first.lease, [1], .failed)
        #expect(try await fixture.delivery.record(last, by: fixture.node) == .recorded(1))
        // The answer was lost and the call is repeated: it records nothing new, and no other node holds the slice.
        #expect(try await fixture.delivery.record(last, by: fixture.node) == .recorded(0))
        #expect(try await fixture.counters() == Funnel(recipients: 2, sent: 1, failed: 1))
        let facts = try await fixture.facts(message.id)
        #expect(facts.state == .done && facts.funnel == Funnel(recipients: 2, sent: 1, failed: 1))
        #expect(try await fixture.deliveryKinds() == ["sent", "failed"])
    }

    @Test func aReturnedSliceKeepsItsBitmapAndCountsItsAttempts() async throws {
        let fixture = try await StoreFixture.make()
        let one = try await fixture.register("k1", token: "aa01")
        let two = try await fixture.register("k2", token: "aa02")
        let (_, lease) = try await fixture.sending(to: [one.identity, two.identity], addresses: [.phone("010"), nil])
        var progress = try await fixture.progress(lease, [1], disposition: .again(after: .zero))
        #expect(try await fixture.delivery.record(progress, by: fixture.node) == .recorded(1))
        let again = try #require(try await claim(fixture, by: fixture.node).first)
        #expect(again.attempts == 1 && again.isDone(1) && !again.isDone(0))
        #expect(again.addresses == [.phone("010"), nil])
        let work = try #require(try await fixture.delivery.load(again))
        #expect(Set(work.targets.keys) == [0])
        progress = try await fixture.progress(again, [], disposition: .again(after: .zero))
        progress.countsAttempt = false
        _ = try await fixture.delivery.record(progress, by: fixture.node)
        #expect(try await claim(fixture, by: fixture.node).first?.attempts == 1)
    }

    @Test func anOutcomeOfALeaseThatWasGivenBackIsRefused() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        let (_, lease) = try await fixture.sending(to: [device.identity])
        try await fixture.delivery.release([lease], by: fixture.node)
        #expect(try await fixture.delivery.record(try await fixture.progress(lease, [0]), by: fixture.node) == .fenced)
        #expect(try await claim(fixture, by: "node-2").count == 1)
    }

    // Otherwise it could hold the second slice and wait for the first, while a command that pauses the message holds the first and waits for the second.
    @Test(arguments: [true, false])
    func leasesAreRenewedAndGivenBackInTheOrderOfTheirSlices(_ renews: Bool) async throws {
        let fixture = try await StoreFixture.alone()
        try await fixture.accept(try await fixture.message(slices: slices(2), leased: false, recipients: 2))
        let leases = try await claim(fixture, by: "n").sorted { $0.key.number < $1.key.number }
        try #require(leases.map(\.key.number) == [0, 1])
        // The row of the first slice is now behind that of the second.
        #expect(try await fixture.delivery.renew([leases[0]], by: "n", lease: .seconds(600)) == [leases[0].key])
        func locking(_ number: Int) -> String { "SELECT FROM gateway.slice WHERE no = \(number) FOR UPDATE" }
        let command = try await OpenTransaction(fixture.database, locking(0))
        let waiting = Task {
            guard renews else { return try await fixture.delivery.release(leases.reversed(), by: "n") }
            _ = try await fixture.delivery.renew(leases.reversed(), by: "n", lease: .seconds(600))
        }
        let admin = try await fixture.database.admin()
        let waits = """
            SELECT count(*) AS count FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'UPDATE gateway.slice s%'
            """
        try await eventually("the first slice is waited for") {
            try await admin.query(waits).only().int("count") == 1
        }
        // Fails if the second slice is locked.
        try await admin.script("BEGIN; \(locking(1)) NOWAIT; ROLLBACK")
        try await command.end()
        try await waiting.value
    }

    @Test func aLoadedSliceHasEverythingThatSendingNeeds() async throws {
        let fixture = try await StoreFixture.make()
        let one = try await fixture.register("k1", token: "aa01", phone: "010")
        let two = try await fixture.register("k2", phone: "011")
        let absent = IdentityID(UUID())
        let (message, lease) = try await fixture.sending(to: [one.identity, two.identity, absent])
        let work = try #require(try await fixture.delivery.load(lease))
        #expect(work.app == "shop" && work.state == .sending && work.notification.content == message.content)
        #expect(work.routes[.ios]?.topic == "com.example.shop")
        #expect(work.routes[.ios]?.credentials == [.production: "apple", .sandbox: "apple"])
        #expect(work.settings[.rationalOwl]?["compat"]?.string == "legacy")
        #expect(Set(work.targets.keys) == [0, 1])
        #expect(work.targets[0]?.destination.token?.text == "aa01" && work.targets[0]?.person.phone == "010")
        #expect(work.targets[1]?.destination.tokenState == TokenState.none && work.targets[1]?.destination.token == nil)
        let gone = SliceLease(
            key: SliceKey(tenant: fixture.acme, message: MessageID(UUID()), number: 0),
            epoch: 1,
            lane: .bulk,
            dueDay: 0,
            work: .deliver
        )
        #expect(try await fixture.delivery.load(gone) == nil)
    }

    /// A device receives one push per message (docs/schema.md#audiences).
    @Test func aDeviceReachedByAnotherSliceIsADuplicate() async throws {
        let fixture = try await StoreFixture.make()
        let one = try await fixture.register("k1", token: "aa01")
        let two = try await fixture.register("b1", token: "aa01", vendor: .braze)
        let parts = [one, two].enumerated().map { index, registered in
            NewSlice(
                number: Int32(index),
                work: .deliver,
                targets: [TargetID(registered.identity)],
                addresses: [.phone("01\(index)")]
            )
        }
        let message = try await fixture.message(slices: parts, leased: false, recipients: 2)
        try await fixture.accept(message)
        let leases = try await claim(fixture, by: fixture.node).sorted { $0.key.number < $1.key.number }
        #expect(try await fixture.delivery.load(leases[1])?.duplicates == [])
        var progress = try await fixture.progress(leases[0], [0])
        progress.results[0].device = one.device
        _ = try await fixture.delivery.record(progress, by: fixture.node)
        #expect(try await fixture.delivery.load(leases[1])?.duplicates == [0])
    }

    @Test func anAudienceIsExpandedPageByPage() async throws {
        let fixture = try await StoreFixture.make()
        for index in 0..<5 { try await fixture.register(VendorDeviceKey("k\(index)"), token: "aa0\(index)") }
        try await fixture.register("b1", token: "aa00", vendor: .braze)
        let slice = NewSlice(number: 0, work: .expand(after: nil))
        var message = try await fixture.message(slices: [slice], leased: true, recipients: 0)
        message.targets.recipients = nil
        try await fixture.accept(message)
        #expect(try await fixture.facts(message.id).state == .expanding)
        let lease = fixture.lease(of: message)
        var found = 0
        while true {
            let result = try await fixture.delivery.expand(lease, by: fixture.node, pageSize: 2)
            guard case .page(let count, _) = result else {
                #expect(result == .finished(recipients: 5))
                break
            }
            found += count
        }
        // The fifth target is on the last page.
        #expect(found == 4)
        let facts = try await fixture.facts(message.id)
        #expect(facts.recipients == 5 && facts.state == .sending)
        let leases = try await claim(fixture, by: fixture.node)
        #expect(Set(leases.flatMap(\.targets)).count == 5 && leases.count == 3)
        for lease in leases {
            let progress = try await fixture.progress(lease, Array(lease.targets.indices))
            _ = try await fixture.delivery.record(progress, by: fixture.node)
        }
        #expect(try await fixture.facts(message.id).state == .done)
        #expect(try await fixture.counters() == Funnel(recipients: 5, sent: 5))
        #expect(try await fixture.delivery.expand(lease, by: fixture.node, pageSize: 2) == .fenced)
    }

    @Test func theNativeDialectReachesEachDeviceOnce() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.register("k1", token: "aa01")
        try await fixture.register("b1", token: "aa01", vendor: .braze)
        try await fixture.register("k2", token: "aa02")
        let slice = NewSlice(number: 0, work: .expand(after: nil))
        let native = AppScope(app: "shop", vendor: .native)
        var message = try await fixture.message(slices: [slice], recipients: 0, scope: native)
        message.targets.recipients = nil
        try await fixture.accept(message)
        let lease = fixture.lease(of: message)
        let result = try await fixture.delivery.expand(lease, by: fixture.node, pageSize: 10)
        #expect(result == .finished(recipients: 2))
    }

    @Test func lastSlicesThatFinishConcurrentlyFinishTheMessage() async throws {
        let fixture = try await StoreFixture.make()
        let message = try await fixture.message(slices: slices(8), leased: false, recipients: 8)
        try await fixture.accept(message)
        let leases = try await claim(fixture, by: fixture.node)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lease in leases {
                let progress = try await fixture.progress(lease, [0])
                group.addTask { _ = try await fixture.delivery.record(progress, by: fixture.node) }
            }
            try await group.waitForAll()
        }
        #expect(try await fixture.facts(message.id).state == .done)
        let events = try await fixture.log()
        #expect(events.map(\.offset) == Array(1...Int64(events.count)))
        #expect(events.filter { $0.subject.target != nil }.count == 8)
    }

    /// A 410 invalidates a token only if the token was not registered again since the time in the response.
    @Test func aTokenThatWasRegisteredAgainSurvivesAnOlderReport() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        let token = try #require(DeviceToken(apns: "aa01"))
        func state() async throws -> TokenState? {
            try await fixture.devices.device(device.device, in: fixture.acme)?.tokenState
        }
        let registered = try #require(
            try await fixture.devices.device(device.device, in: fixture.acme)?.tokenRegisteredAt
        )
        func condemn(_ verdict: TokenVerdict, in tenant: TenantID? = nil) async throws {
            try await fixture.delivery.condemn([verdict], tenant: tenant ?? fixture.acme)
        }
        try await condemn(.dead(device.device, token, since: registered + .seconds(-1)))
        #expect(try await state() == .active)
        try await condemn(.dead(device.device, DeviceToken(stored: "bb"), since: nil))
        try await condemn(.dead(device.device, token, since: nil), in: fixture.other)
        #expect(try await state() == .active)
        try await condemn(.doubtful(device.device, token, reason: "BadDeviceToken"))
        #expect(try await state() == .quarantined)
        try await condemn(.dead(device.device, token, since: registered + .seconds(1)))
        #expect(try await state() == .invalid)
        try await fixture.register("k1", token: "aa01")
        #expect(try await state() == .active)
    }

    @Test func aRefusedCredentialIsRecordedUntilItWorks() async throws {
        let fixture = try await StoreFixture.make()
        let key = CredentialKey(tenant: fixture.acme, credential: "apple")
        let rejection = Rejection(scope: .credential, reason: "InvalidProviderToken", status: 403)
        try await fixture.delivery.noteCredential(key, refusal: rejection)
        func reasons() async throws -> [String] {
            try await fixture.status.status().stoppedCredentials.filter { $0.key == key }.map(\.reason)
        }
        #expect(try await reasons() == ["InvalidProviderToken"])
        try await fixture.delivery.noteCredential(key, refusal: nil)
        #expect(try await reasons().isEmpty)
    }

    @Test func aNodeIsSeenUntilItLeaves() async throws {
        let fixture = try await StoreFixture.make()
        let first = try await fixture.delivery.heartbeat("n9")
        #expect(try await fixture.delivery.heartbeat("n9") >= first)
        #expect(try await fixture.status.status().nodes.contains { $0.id == "n9" })
        try await fixture.delivery.leave("n9")
        #expect(try await !fixture.status.status().nodes.contains { $0.id == "n9" })
    }
}
