import Commands
import DeliveryEngine
import Model
import TestKit
import Testing

@Suite struct ReceiptTests {
    private func sent(_ desk: Desk) async throws -> MessageID {
        await desk.device("k1", phone: "01011111111")
        let result = await desk.submit(.text(to: "01011111111"))
        let lease = try #require(result.handover.first)
        var done = lease
        done.markDone(0)
        let row = DeliveryResult(
            index: 0,
            target: lease.targets[0],
            identity: IdentityID(lease.targets[0].rawValue),
            address: .phone("01011111111"),
            state: .sent,
            at: desk.clock.now()
        )
        let progress = SliceProgress(
            lease: done,
            app: "shop",
            vendor: .rationalOwl,
            results: [row],
            disposition: .finished
        )
        _ = try await InMemoryDeliveryStore(desk.database).record(progress, by: "node")
        return lease.key.message
    }

    private func report(
        _ desk: Desk,
        _ kind: ReceiptKind,
        _ message: String,
        key: VendorDeviceKey? = "k1",
        at: Timestamp? = nil
    ) async -> Reply? {
        await desk.reply(.receipt(.report(kind, message: message, reporter: Reporter(key: key), at: at)))
    }

    // protocols/rationalowl.md §5.5: unknown ids are orphans, answered like a success.
    @Test(arguments: ["", "not-an-id", "3f0c2c1e-0a55-4f6e-9a3c-5d2b9a1e7c11"])
    func aReceiptOfAnUnknownMessageIsAnOrphan(_ message: String) async {
        #expect(await report(Desk(), .read, message) == .receipt(.orphan))
    }

    @Test func theFirstReceiptWinsAndReadImpliesReceived() async throws {
        let desk = Desk()
        let message = try await sent(desk)
        #expect(await report(desk, .read, message.description) == .receipt(.recorded))
        #expect(await report(desk, .read, message.description) == .receipt(.repeated))
        #expect(await report(desk, .received, message.description) == .receipt(.repeated))
        let row = try #require(desk.database.deliveries(Desk.tenant, message).first)
        #expect(row.state == .read)
        #expect(row.receivedAt == row.readAt)
    }

    @Test func anotherDevicesReceiptAndOneWithoutKeyAreOrphans() async throws {
        let desk = Desk()
        let message = try await sent(desk)
        await desk.device("k2", digit: "b")
        #expect(await report(desk, .read, message.description, key: "k2") == .receipt(.orphan))
        #expect(await report(desk, .read, message.description, key: nil) == .receipt(.orphan))
        #expect(desk.database.deliveries(Desk.tenant, message).map(\.state) == [.sent])
    }

    @Test func aDevicesTimeInTheFutureIsNotBelieved() async throws {
        let desk = Desk()
        let message = try await sent(desk)
        let future = desk.clock.now() + .seconds(3600)
        _ = await report(desk, .received, message.description, at: future)
        #expect(desk.database.deliveries(Desk.tenant, message).first?.receivedAt == desk.clock.now())
    }

    // protocols/rationalowl.md §5.6: the phone of the call is a hint and never widens access.
    @Test func deliveryInfoIsForTheAddresseeAlone() async throws {
        let desk = Desk()
        let message = try await sent(desk)
        await desk.device("k2", digit: "b")
        let own = await desk.reply(.inbox(.deliveryInfo(message: message.description, reporter: Reporter(key: "k1"))))
        guard case .inbox(.deliveryInfo(let snapshot, platform: .ios))? = own else {
            Issue.record("\(String(describing: own))")
            return
        }
        #expect(snapshot.state == .sent)
        let thief = Reporter(key: "k2", phone: "01011111111")
        let other = await desk.reply(.inbox(.deliveryInfo(message: message.description, reporter: thief)))
        #expect(other == .refused(.unknownMessage))
    }

    @Test func anAppThatBecomesActiveGetsWhatItHasNoReceiptFor() async throws {
        let desk = Desk()
        let message = try await sent(desk)
        let active = Command.inbox(.appState(key: "k1", isActive: true))
        guard case .inbox(.undelivered(let entries))? = await desk.reply(active) else {
            Issue.record("no list")
            return
        }
        #expect(entries.map(\.notification.message) == [message])
        #expect(await desk.reply(.inbox(.appState(key: "k1", isActive: false))) == .inbox(.undelivered([])))
        _ = await report(desk, .received, message.description)
        #expect(await desk.reply(active) == .inbox(.undelivered([])))
        #expect(await desk.reply(.inbox(.appState(key: "kx", isActive: true))) == .refused(.unknownDevice))
    }

    @Test func undeliveredMessagesAreForgottenAfterThreeDays() async throws {
        let desk = Desk()
        _ = try await sent(desk)
        desk.clock.advance(by: .seconds(3 * 86_400 + 1))
        #expect(await desk.reply(.inbox(.appState(key: "k1", isActive: true))) == .inbox(.undelivered([])))
    }
}
