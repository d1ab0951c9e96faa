import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import ObservationStore
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// Messages with the same text through different entry points (docs/routing.md#cross-vendor-duplicates).
@Suite struct StoreDuplicateTests {
    private static let text = NewMessage.DuplicateGuard(
        fingerprint: MessageFingerprint(bytes: [1, 2, 3, 4, 5, 6, 7, 8]),
        window: .seconds(600)
    )

    /// A message in a dialect that is due now or was, accepted and leased.
    private func accepted(
        _ fixture: StoreFixture,
        _ vendor: Vendor,
        to identities: [IdentityID],
        dueBefore age: Duration = .zero,
        text: NewMessage.DuplicateGuard? = StoreDuplicateTests.text
    ) async throws -> SliceLease {
        let message = try await message(fixture, vendor, to: identities, dueBefore: age, text: text)
        try await fixture.accept(message)
        return fixture.lease(of: message)
    }

    private func message(
        _ fixture: StoreFixture,
        _ vendor: Vendor,
        to identities: [IdentityID],
        dueBefore age: Duration = .zero,
        text: NewMessage.DuplicateGuard? = StoreDuplicateTests.text
    ) async throws -> NewMessage {
        let targets = identities.map { (TargetID($0), Address?.none) }
        var message = try await fixture.message(to: targets, scope: AppScope(app: "shop", vendor: vendor))
        message.times.dueAt = message.times.dueAt + (.zero - age)
        var random = SystemRandomNumberGenerator()
        message.id = MessageID(UUID.v7(at: message.times.dueAt, using: &random))
        message.duplicateGuard = text
        return message
    }

    /// Writes the outcomes of all targets of a lease.
    private func end(
        _ fixture: StoreFixture,
        _ lease: SliceLease,
        _ devices: [DeviceID?],
        _ state: DeliveryState = .sent,
        reason: String? = nil
    ) async throws {
        var progress = try await fixture.progress(lease, Array(lease.targets.indices), state)
        for index in progress.results.indices {
            progress.results[index].device = devices[index]
            if let reason { progress.results[index].reason = reason }
        }
        #expect(try await fixture.delivery.record(progress, by: fixture.node) == .recorded(lease.targets.count))
    }

    private func earlier(
        _ lease: SliceLease,
        _ fixture: StoreFixture,
        omitting omitted: Set<PostgresDeliveryStore.Omission> = []
    ) async throws -> EarlierMessages {
        let work = try #require(try await fixture.delivery.load(lease))
        try #require(work.isDuplicate)
        let store = PostgresDeliveryStore(engine: fixture.engine, omitting: omitted)
        guard case .found(let earlier) = try await store.earlier(than: lease, for: work.targets, by: fixture.node)
        else {
            Issue.record("another node holds the slice")
            return EarlierMessages()
        }
        return earlier
    }

    @Test func aDeviceThatWasSentTheEarlierMessageIsFound() async throws {
        let fixture = try await StoreFixture.make()
        let one = try await fixture.register("k1", token: "aa01")
        let two = try await fixture.register("k2", token: "aa02")
        let first = try await accepted(fixture, .braze, to: [one.identity])
        let second = try await accepted(fixture, .native, to: [one.identity, two.identity])
        #expect(try await earlier(second, fixture) == EarlierMessages(open: [0], waited: .zero))
        try await end(fixture, first, [one.device])
        let found = try await earlier(second, fixture)
        #expect(found.sent == [0] && found.open.isEmpty && !found.hasUnknown)
        // The time counts from the first look.
        #expect(found.waited > .zero)
        // The control: without the look it is pushed.
        #expect(try await earlier(second, fixture, omitting: [.duplicates]) == EarlierMessages())
        #expect(
            try await fixture.directory.sentBefore(
                second.key.message,
                to: one.device,
                or: one.identity,
                in: fixture.acme
            ) == first.key.message
        )
    }

    // Another one of the messages with this text, to another user, says nothing about this device.
    @Test func theDeviceDecidesAndNotTheNewestMessage() async throws {
        let fixture = try await StoreFixture.make()
        let one = try await fixture.register("k1", token: "aa01")
        let two = try await fixture.register("k2", token: "aa02")
        let first = try await accepted(fixture, .braze, to: [one.identity])
        try await end(fixture, first, [one.device])
        let newest = try await accepted(fixture, .braze, to: [two.identity])
        let later = try await accepted(fixture, .native, to: [one.identity, two.identity])
        let found = try await earlier(later, fixture)
        #expect(found.sent == [0] && found.open == [1])
        try await end(fixture, newest, [two.device], .failed)
        #expect(try await earlier(later, fixture).open.isEmpty)
        #expect(try await earlier(later, fixture).sent == [0])
    }

    @Test(arguments: [
        (DeliveryState.failed, "Unregistered", false), (.suppressed, "preference", false),
        (.suppressed, "sameUser", true), (.expired, "", false), (.sent, "", true),
        (.suppressed, "crossVendorDuplicate", false),
    ])
    func theOutcomeOfTheEarlierMessageDecides(
        _ state: DeliveryState,
        _ reason: String,
        _ isSent: Bool
    ) async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        let first = try await accepted(fixture, .braze, to: [device.identity])
        let second = try await accepted(fixture, .native, to: [device.identity])
        try await end(fixture, first, [device.device], state, reason: reason)
        let found = try await earlier(second, fixture)
        #expect(found.sent == (isSent ? [0] : []) && found.open.isEmpty)
    }

    @Test func equalMessagesThroughOneEntryPointAreDifferent() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        let first = try await accepted(fixture, .braze, to: [device.identity])
        try await end(fixture, first, [device.device])
        let second = try await accepted(fixture, .braze, to: [device.identity])
        #expect(try await fixture.delivery.load(second)?.isDuplicate == false)
        // Another text, and an app without the guard.
        let other = NewMessage.DuplicateGuard(fingerprint: MessageFingerprint(bytes: [8]), window: .seconds(600))
        for text in [other, nil] {
            let third = try await accepted(fixture, .native, to: [device.identity], text: text)
            #expect(try await fixture.delivery.load(third)?.isDuplicate == false)
        }
    }

    @Test(arguments: [(300, true), (610, false)])
    func onlyMessagesInsideTheWindowCount(_ age: Int, _ isDuplicate: Bool) async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        let first = try await accepted(fixture, .braze, to: [device.identity], dueBefore: .seconds(age))
        try await end(fixture, first, [device.device])
        let second = try await accepted(fixture, .native, to: [device.identity])
        #expect(try await fixture.delivery.load(second)?.isDuplicate == isDuplicate)
        if isDuplicate { #expect(try await earlier(second, fixture).sent == [0]) }
    }

    // Neither may wait for the other one.
    @Test func ofTwoMessagesThatAreAcceptedAtOnceOneIsTheEarlier() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        for round in UInt8(0)..<10 {
            let text = NewMessage.DuplicateGuard(fingerprint: MessageFingerprint(bytes: [round]), window: .seconds(600))
            let one = try await message(fixture, .braze, to: [device.identity], text: text)
            let two = try await message(fixture, .native, to: [device.identity], text: text)
            async let left = fixture.accept(one)
            async let right = fixture.accept(two)
            #expect(try await [left, right] == [.inserted, .inserted])
            let works = [
                try await fixture.delivery.load(fixture.lease(of: one)),
                try await fixture.delivery.load(fixture.lease(of: two)),
            ]
            #expect(works.count { $0?.isDuplicate == true } == 1)
            let later = works[0]?.isDuplicate == true ? one : two
            #expect(try await earlier(fixture.lease(of: later), fixture).open == [0])
        }
    }

    @Test func aMessageOfTheVendorIsAnEntryPointOfItsOwn() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        let target = ObserveMessage.Target(target: TargetID(device.identity), identity: device.identity, address: nil)
        #expect(try await observe(fixture, "m-1", [target]) == .new)
        let second = try await accepted(fixture, .rationalOwl, to: [device.identity])
        let found = try await earlier(second, fixture)
        #expect(found.sent == [0] && found.open.isEmpty && !found.hasUnknown)
    }

    @Test func theDevicesOfAnAudienceOfTheVendorAreNotKnown() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        #expect(try await observe(fixture, "m-1", nil) == .new)
        let second = try await accepted(fixture, .native, to: [device.identity])
        let found = try await earlier(second, fixture)
        #expect(found.hasUnknown && found.sent.isEmpty && found.open.isEmpty)
    }

    private func observe(
        _ fixture: StoreFixture,
        _ reference: String,
        _ targets: [ObserveMessage.Target]?
    ) async throws -> ObserveMessage.Outcome {
        let now = try await fixture.now()
        var random = SystemRandomNumberGenerator()
        var message = ObserveMessage.Message(
            id: MessageID(UUID.v7(at: now, using: &random)),
            scope: fixture.scope,
            upstream: "old",
            names: ObserveMessage.Names(references: [reference]),
            content: Content(title: "t", body: "b"),
            lane: .bulk,
            times: NewMessage.Times(acceptedAt: now, dueAt: now, expiresAt: now + .seconds(3600)),
            recipients: targets?.count,
            targets: targets ?? []
        )
        message.duplicateGuard = Self.text
        return try await fixture.ask(ObserveMessage(message))
    }

    // The time of the wait belongs to the targets, wherever they continue.
    @Test func aRetrySliceInheritsTheTime() async throws {
        let fixture = try await StoreFixture.make()
        let one = try await fixture.register("k1", token: "aa01")
        let two = try await fixture.register("k2", token: "aa02")
        _ = try await accepted(fixture, .braze, to: [one.identity, two.identity])
        let second = try await accepted(fixture, .native, to: [one.identity, two.identity])
        #expect(try await earlier(second, fixture).open == [0, 1])
        _ = try await fixture.database.admin().query(
            "UPDATE gateway.slice SET guarded_at = guarded_at - interval '1 minute' WHERE tenant_id = $1",
            [.id(fixture.acme)]
        )
        var progress = try await fixture.progress(second, [], disposition: .again(after: .zero))
        progress.retries = [RetrySlice(indexes: [1], disposition: .again(after: .zero), countsAttempt: false)]
        progress.countsAttempt = false
        #expect(try await fixture.delivery.record(progress, by: fixture.node) == .recorded(0))
        let leases = try await fixture.delivery.claim(
            tenant: fixture.acme,
            lane: .transactional,
            limit: 10,
            by: fixture.node,
            lease: .seconds(600)
        )
        let split = try #require(leases.first { $0.key.message == second.key.message && $0.key.number != 0 })
        #expect(try await earlier(split, fixture).waited >= .seconds(60))
    }

    @Test func aNodeThatLostTheSliceLearnsNothing() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        _ = try await accepted(fixture, .braze, to: [device.identity])
        let second = try await accepted(fixture, .native, to: [device.identity])
        let work = try #require(try await fixture.delivery.load(second))
        #expect(try await fixture.delivery.earlier(than: second, for: work.targets, by: "another") == .fenced)
    }
}
