import DeliveryEngine
import Foundation
import Model
import Testing

@testable import EngineStore
@testable import Store

/// Receipts and history.
@Suite struct StoreReceiptTests {
    private func sent(_ fixture: StoreFixture) async throws -> (NewMessage, Registered) {
        let device = try await fixture.register("k1", token: "aa01", phone: "010")
        let (message, lease) = try await fixture.sending(to: [device.identity])
        _ = try await fixture.delivery.record(try await fixture.progress(lease, [0]), by: fixture.node)
        return (message, device)
    }

    private func snapshot(
        _ fixture: StoreFixture,
        _ message: MessageID,
        isWhole: Bool = false
    ) async throws -> DeliverySnapshot? {
        try await fixture.ask(FindDelivery(fixture.scope, message, Reporter(key: "k1"), isWhole: isWhole)).snapshot
    }

    @Test func theFirstReceiptWinsAndTheStateOnlyGoesForward() async throws {
        let fixture = try await StoreFixture.make()
        let (message, _) = try await sent(fixture)
        #expect(try await fixture.receipt(message.id, "k1", .received) == .recorded)
        let first = try await snapshot(fixture, message.id)
        #expect(try await fixture.receipt(message.id, "k1", .received) == .repeated)
        #expect(try await fixture.receipt(message.id, "k1", .read) == .recorded)
        #expect(try await fixture.receipt(message.id, "k1", .received) == .repeated)
        #expect(try await fixture.receipt(message.id, "k1", .read) == .repeated)
        let last = try #require(try await snapshot(fixture, message.id))
        #expect(last.state == .read && last.receivedAt == first?.receivedAt && last.readAt != nil)
        #expect(try await fixture.counters() == Funnel(recipients: 1, sent: 1, received: 1, read: 1))
        #expect(try await fixture.facts(message.id).funnel == Funnel(recipients: 1, sent: 1, received: 1, read: 1))
        #expect(try await fixture.deliveryKinds() == ["sent", "received", "read"])
    }

    @Test func readImpliesReceived() async throws {
        let fixture = try await StoreFixture.make()
        let (message, _) = try await sent(fixture)
        #expect(try await fixture.receipt(message.id, "k1", .read) == .recorded)
        let snapshot = try #require(try await snapshot(fixture, message.id))
        #expect(snapshot.receivedAt == snapshot.readAt && snapshot.readAt != nil)
        #expect(try await fixture.counters().received == 1)
    }

    @Test func receiptsAtOnceCountOnce() async throws {
        let fixture = try await StoreFixture.make()
        let (message, _) = try await sent(fixture)
        let replies = try await withThrowingTaskGroup(of: ReceiptReply.self) { group in
            for _ in 0..<10 { group.addTask { try await fixture.receipt(message.id, "k1", .read) } }
            return try await group.reduce(into: [ReceiptReply]()) { $0.append($1) }
        }
        #expect(replies.filter { $0 == .recorded }.count == 1)
        #expect(try await fixture.counters().read == 1)
    }

    @Test func aDeviceWithoutADeliveryReportsNothing() async throws {
        let fixture = try await StoreFixture.make()
        let (message, _) = try await sent(fixture)
        try await fixture.register("k2", token: "aa02", phone: "011")
        #expect(try await fixture.receipt(message.id, "k2", .read) == .orphan)
        #expect(try await fixture.receipt(message.id, "unknown", .read) == .orphan)
        #expect(try await fixture.receipt(MessageID(UUID()), "k1", .read) == .orphan)
        #expect(try await fixture.counters().read == 0)
    }

    /// A receipt may arrive before the outcome is written. The receipt is kept, and the outcome is still counted once
    /// (I2).
    @Test func aReceiptBeforeItsOutcomeIsKept() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        let (message, lease) = try await fixture.sending(to: [device.identity])
        #expect(try await fixture.receipt(message.id, "k1", .received) == .recorded)
        #expect(try await fixture.receipt(message.id, "k1", .received) == .repeated)
        let progress = try await fixture.progress(lease, [0])
        #expect(try await fixture.delivery.record(progress, by: fixture.node) == .recorded(1))
        let snapshot = try #require(try await snapshot(fixture, message.id))
        #expect(snapshot.state == .received && snapshot.sentAt != nil && snapshot.receivedAt != nil)
        #expect(try await fixture.counters() == Funnel(recipients: 1, sent: 1, received: 1))
        #expect(try await fixture.facts(message.id).funnel == Funnel(recipients: 1, sent: 1, received: 1))
    }

    @Test func receiptsAndFlushesAtOnceLoseNothing() async throws {
        let fixture = try await StoreFixture.make()
        var identities: [IdentityID] = []
        for index in 10..<40 {
            identities.append(try await fixture.register(VendorDeviceKey("k\(index)"), token: "aa\(index)").identity)
        }
        let (message, lease) = try await fixture.sending(to: identities)
        let replies = try await withThrowingTaskGroup(of: ReceiptReply?.self) { group in
            group.addTask {
                var lease = lease
                for index in lease.targets.indices {
                    let last = index == lease.targets.count - 1
                    let progress = try await fixture.progress(lease, [index], disposition: last ? .finished : .goOn)
                    _ = try await fixture.delivery.record(progress, by: fixture.node)
                    lease = progress.lease
                }
                return nil
            }
            for index in 10..<40 {
                group.addTask { try await fixture.receipt(message.id, VendorDeviceKey("k\(index)"), .read) }
            }
            return try await group.reduce(into: [ReceiptReply?]()) { $0.append($1) }
        }
        #expect(replies.compactMap { $0 }.allSatisfy { $0 == .recorded })
        let expected = Funnel(recipients: 30, sent: 30, received: 30, read: 30)
        #expect(try await fixture.counters() == expected)
        #expect(try await fixture.facts(message.id).funnel == expected)
    }

    @Test func aReceiptCorrectsAnIndeterminateFailure() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        let (message, lease) = try await fixture.sending(to: [device.identity])
        let progress = try await fixture.progress(lease, [0], .failed)
        _ = try await fixture.delivery.record(progress, by: fixture.node)
        #expect(try await fixture.counters() == Funnel(recipients: 1, failed: 1))
        #expect(try await fixture.receipt(message.id, "k1", .received) == .recorded)
        #expect(try await fixture.counters() == Funnel(recipients: 1, sent: 1, received: 1))
    }

    @Test func aPhonesNewDeviceSeesMessagesToThePhone() async throws {
        let fixture = try await StoreFixture.make()
        let target = TargetID(rawValue: UUID())
        let suppressed = SuppressedTarget(
            target: target,
            identity: nil,
            device: nil,
            address: .phone("010"),
            reason: .noDevice
        )
        let message = try await fixture.message(suppressed: [suppressed])
        try await fixture.accept(message)
        try await fixture.register("k1", phone: "010")
        // The phone is a claim, so that the message from before the registration needs `historyScope: all`.
        #expect(try await snapshot(fixture, message.id) == nil)
        let snapshot = try #require(try await snapshot(fixture, message.id, isWhole: true))
        #expect(snapshot.state == .suppressed && snapshot.reason == "noDevice" && snapshot.target == target)
        #expect(try await fixture.receipt(message.id, "k1", .read) == .orphan)
    }

    @Test func historyShowsMessagesWithoutAReceiptNewestFirst() async throws {
        let fixture = try await StoreFixture.make()
        let (first, device) = try await sent(fixture)
        let (second, lease) = try await fixture.sending(to: [device.identity], sender: "S1")
        _ = try await fixture.delivery.record(try await fixture.progress(lease, [0]), by: fixture.node)
        let now = try await fixture.now()
        func open(since: Timestamp, limit: Int = 10) async throws -> [MessageID] {
            let statement = ListUndelivered(fixture.scope, key: "k1", since: since, limit: limit)
            let entries = try await fixture.ask(statement)
            return entries.map(\.notification.message)
        }
        let yesterday = now + .seconds(-86400)
        #expect(try await open(since: yesterday) == [second.id, first.id])
        #expect(try await open(since: yesterday, limit: 1) == [second.id])
        #expect(try await open(since: now + .seconds(60)).isEmpty)
        _ = try await fixture.receipt(second.id, "k1", .received)
        #expect(try await open(since: yesterday) == [first.id])
        #expect(try await fixture.ask(NoteContact(fixture.scope, key: "k1", at: now)) == 1)
        let inbox = try await fixture.devices.inbox(of: device.device, in: fixture.acme, before: nil, limit: 10)
        #expect(inbox.isEmpty, "the fixture's outcomes name no device")
    }
}
