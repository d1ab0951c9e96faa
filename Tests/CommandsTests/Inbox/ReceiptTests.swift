import Commands
import DatabaseSupport
import DeliveryEngine
import EngineStore
import Model
import Store
import TestKit
import Testing

@Suite struct ReceiptTests {
    private func sent(_ world: CommandWorld) async throws -> MessageID {
        await world.device("k1", phone: "01011111111")
        let result = await world.submit(.text(to: "01011111111"))
        let lease = try #require(result.handover.first)
        var done = lease
        done.markDone(0)
        let row = DeliveryResult(
            index: 0,
            target: lease.targets[0],
            identity: IdentityID(lease.targets[0].rawValue),
            address: .phone("01011111111"),
            state: .sent,
            at: world.clock.now()
        )
        let progress = SliceProgress(
            lease: done,
            app: "shop",
            vendor: .rationalOwl,
            results: [row],
            disposition: .finished
        )
        _ = try await world.stores.delivery.record(progress, by: world.node)
        return lease.key.message
    }

    private func deliveries(_ world: CommandWorld, _ message: MessageID) async throws -> [DeliverySnapshot] {
        try await world.stores.queries.deliveries(of: message, in: world.tenant, limit: 10).map(\.snapshot)
    }

    private func report(
        _ world: CommandWorld,
        _ kind: ReceiptKind,
        _ message: String,
        key: VendorDeviceKey? = "k1",
        at: Timestamp? = nil
    ) async -> Reply? {
        await world.reply(.receipt(.report(kind, message: message, reporter: Reporter(key: key), at: at)))
    }

    // docs/contracts/rationalowl.md#5.5: unknown ids are orphans, answered like a success.
    @Test(arguments: ["", "not-an-id", "3f0c2c1e-0a55-4f6e-9a3c-5d2b9a1e7c11"])
    func aReceiptOfAnUnknownMessageIsAnOrphan(_ message: String) async throws {
        #expect(try await report(CommandWorld.make(), .read, message) == .receipt(.orphan))
    }

    @Test func theFirstReceiptWinsAndReadImpliesReceived() async throws {
        let world = try await CommandWorld.make()
        let message = try await sent(world)
        #expect(await report(world, .read, message.description) == .receipt(.recorded))
        #expect(await report(world, .read, message.description) == .receipt(.repeated))
        #expect(await report(world, .received, message.description) == .receipt(.repeated))
        let row = try #require(try await deliveries(world, message).first)
        #expect(row.state == .read)
        #expect(row.receivedAt == row.readAt)
    }

    @Test func anotherDevicesReceiptAndOneWithoutKeyAreOrphans() async throws {
        let world = try await CommandWorld.make()
        let message = try await sent(world)
        await world.device("k2", digit: "b")
        #expect(await report(world, .read, message.description, key: "k2") == .receipt(.orphan))
        #expect(await report(world, .read, message.description, key: nil) == .receipt(.orphan))
        #expect(try await deliveries(world, message).map(\.state) == [.sent])
    }

    // A key, a number or a name that cannot be stored is unknown, and its receipt is counted like those of other unknown ones.
    @Test func aReceiptThatNamesNothingIsCounted() async throws {
        let world = try await CommandWorld.make()
        await world.device("k1", phone: "01011111111")
        for message in ["", "m\u{0}"] { #expect(await report(world, .read, message) == .receipt(.orphan)) }
        for key in [nil, "k\u{0}"] as [VendorDeviceKey?] {
            #expect(await report(world, .read, "m", key: key) == .receipt(.orphan))
        }
        func number(_ number: String, _ caller: DeviceCaller) async -> Reply? {
            await world.reply(.receipt(.reportNumber(.read, number: number, caller: caller)))
        }
        #expect(await number("", DeviceCaller(key: "k1")) == .refused(.unknownMessage))
        #expect(await number("1", DeviceCaller()) == .refused(.unknownDevice))
        func acknowledge(_ reference: String, _ holder: BadgeHolder) async -> Reply? {
            await world.reply(.receipt(.acknowledge(.read, reference: reference, holder, .set(5))))
        }
        let unknown = Reply.receipt(.acknowledged(isKnown: false, badge: 0))
        #expect(await acknowledge("", BadgeHolder(key: "k1")) == unknown)
        #expect(await acknowledge("1", BadgeHolder()) == unknown)
        let today = try await world.stores.now().day
        let range = today - 1...today + 1
        let days = try await world.stores.queries.deviceFigures(of: range, apps: ["shop"], in: world.tenant)
        let orphans = (days ?? []).reduce(into: [String: Int64]()) { sums, day in
            sums.merge(day.figures.orphans) { $0 + $1 }
        }
        #expect(orphans == ["unknownMessage": 4, "unknownDevice": 4])
    }

    @Test func aDevicesTimeInTheFutureIsIgnored() async throws {
        let world = try await CommandWorld.make()
        let message = try await sent(world)
        let future = world.clock.now() + .seconds(3600)
        _ = await report(world, .received, message.description, at: future)
        #expect(try await deliveries(world, message).first?.receivedAt == world.clock.now())
    }

    // docs/contracts/rationalowl.md#5.6: the phone in the call is a hint and never widens access.
    @Test func deliveryInfoIsForTheRecipientOnly() async throws {
        let world = try await CommandWorld.make()
        let message = try await sent(world)
        await world.device("k2", digit: "b")
        let own = await world.reply(.inbox(.deliveryInfo(message: message.description, reporter: Reporter(key: "k1"))))
        guard case .inbox(.deliveryInfo(let snapshot, platform: .ios))? = own else {
            Issue.record("\(String(describing: own))")
            return
        }
        #expect(snapshot.state == .sent)
        let thief = Reporter(key: "k2", phone: "01011111111")
        let other = await world.reply(.inbox(.deliveryInfo(message: message.description, reporter: thief)))
        #expect(other == .refused(.unknownMessage))
    }

    @Test func anAppThatBecomesActiveGetsMessagesWithoutAReceipt() async throws {
        let world = try await CommandWorld.make()
        let message = try await sent(world)
        let active = Command.inbox(.appState(key: "k1", isActive: true))
        guard case .inbox(.undelivered(let entries))? = await world.reply(active) else {
            Issue.record("no list")
            return
        }
        #expect(entries.map(\.notification.message) == [message])
        #expect(await world.reply(.inbox(.appState(key: "k1", isActive: false))) == .inbox(.undelivered([])))
        _ = await report(world, .received, message.description)
        #expect(await world.reply(active) == .inbox(.undelivered([])))
        #expect(await world.reply(.inbox(.appState(key: "kx", isActive: true))) == .refused(.unknownDevice))
    }

    @Test func undeliveredMessagesAreForgottenAfterThreeDays() async throws {
        let world = try await CommandWorld.make()
        _ = try await sent(world)
        world.clock.advance(by: .seconds(3 * 86_400 + 1))
        #expect(await world.reply(.inbox(.appState(key: "k1", isActive: true))) == .inbox(.undelivered([])))
    }
}
