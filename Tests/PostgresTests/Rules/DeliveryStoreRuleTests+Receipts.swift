import DatabaseSupport
import DeliveryEngine
import Model
import Testing

@testable import EngineStore
@testable import Store

/// Receipts of pushes whose outcome is not written and whose slice is not leased: it waits for another try.
extension DeliveryStoreRuleTests {
    private static let wait = Duration.seconds(15 * 60)

    private struct Phone {
        var key: VendorDeviceKey
        var identity: IdentityID
    }

    /// New devices of the app's own dialect.
    private func devices(_ count: Int, _ world: RuleWorld) async throws -> [Phone] {
        var devices: [Phone] = []
        for _ in 0..<count {
            let key = world.newKey()
            guard let made = try await world.register(key, token: world.newToken()) else { continue }
            devices.append(Phone(key: key, identity: made.identity))
        }
        return devices
    }

    /// A flush without outcomes that puts the slice back.
    private func putBack(_ lease: SliceLease, _ world: RuleWorld) async throws {
        var progress = world.progress(lease, .sent, .again(after: Self.wait))
        progress.results = []
        #expect(try await world.deliveries.record(progress, by: "n1") == .recorded(0), "put back")
    }

    private func report(_ key: VendorDeviceKey, _ message: MessageID, _ world: RuleWorld) async throws -> ReceiptReply {
        try await world.run(RecordReceipt(world.scope, message, Reporter(key: key), .received, at: world.now()))
    }

    private func state(
        _ key: VendorDeviceKey,
        _ message: MessageID,
        _ world: RuleWorld
    ) async throws -> DeliveryState? {
        try await world.run(FindDelivery(world.scope, message, Reporter(key: key))).snapshot?.state
    }

    @Test func aReceiptIsKeptWhileItsSliceWaitsForAnotherTry() async throws {
        let world = try await RuleWorld.make()
        let devices = try await devices(1, world)
        let message = world.message(to: devices.map(\.identity))
        _ = try await world.accept(message)
        guard let lease = try await world.claim(message.id, by: "n1").first else { return fail("no lease") }
        try await putBack(lease, world)
        #expect(try await report(devices[0].key, message.id, world) == .recorded, "while it waits")
        #expect(try await report(devices[0].key, message.id, world) == .repeated, "again")
        try await world.pass(Self.wait + .seconds(1))
        guard let next = try await world.claim(message.id, by: "n2").first else { return fail("no second lease") }
        let finished = world.progress(next, .sent, .finished)
        #expect(try await world.deliveries.record(finished, by: "n2") == .recorded(1), "the outcome")
        #expect(try await state(devices[0].key, message.id, world) == .received, "state")
    }

    @Test func aReceiptIsKeptWhileItsTargetWaitsInARetrySlice() async throws {
        let world = try await RuleWorld.make()
        let devices = try await devices(3, world)
        let message = world.message(to: devices.map(\.identity))
        _ = try await world.accept(message)
        guard var lease = try await world.claim(message.id, by: "n1").first else { return fail("no lease") }
        var progress = world.progress(lease, .sent, .again(after: Self.wait))
        lease.markDone(0)
        progress.lease = lease
        progress.results = Array(progress.results.prefix(1))
        progress.retries = [
            RetrySlice(indexes: [1], disposition: .again(after: Self.wait * 2), countsAttempt: true)
        ]
        #expect(try await world.deliveries.record(progress, by: "n1") == .recorded(1), "outcomes")
        for device in devices {
            #expect(try await report(device.key, message.id, world) == .recorded, "sent, split off, put back")
        }
    }

    // The node that took a lapsed slice over stopped before it read the slice.
    @Test func aReceiptIsKeptAfterALapsedSliceWasGivenBack() async throws {
        let world = try await RuleWorld.make()
        let devices = try await devices(1, world)
        let message = world.message(to: devices.map(\.identity))
        _ = try await world.accept(message)
        _ = try await world.claim(message.id, by: "n1")
        try await world.pass(RuleWorld.lease + .seconds(1))
        let leases = try await world.claim(message.id, by: "n2")
        #expect(leases.first?.followsLapse == true, "the lease lapsed")
        try await world.deliveries.release(leases, by: "n2")
        #expect(try await report(devices[0].key, message.id, world) == .recorded, "given back")
    }

    // The push may have left under the lease that lapsed, and the message was canceled under a later one.
    @Test func aReceiptCountsAfterALapsedSliceWasGivenBackAndCanceled() async throws {
        let world = try await RuleWorld.make()
        let devices = try await devices(1, world)
        let message = world.message(to: devices.map(\.identity))
        _ = try await world.accept(message)
        _ = try await world.claim(message.id, by: "n1")
        try await world.pass(RuleWorld.lease + .seconds(1))
        let leases = try await world.claim(message.id, by: "n2")
        try await world.deliveries.release(leases, by: "n2")
        #expect(try await world.control(message, .cancel) == 1, "cancels")
        guard let lease = try await world.claim(message.id, by: "n3").first else { return fail("no lease") }
        #expect(!lease.followsLapse && lease.attempts == 1, "what is known of the lapse")
        var progress = world.progress(lease, .canceled, .finished)
        for index in progress.results.indices {
            progress.results[index].attempt = DeliveryAttempt(count: lease.attempts)
        }
        #expect(try await world.deliveries.record(progress, by: "n3") == .recorded(1), "the outcome")
        #expect(try await report(devices[0].key, message.id, world) == .recorded, "the receipt")
    }

    @Test func aReaderIsFoundWhileTheSliceOfThePushWaits() async throws {
        let world = try await RuleWorld.make()
        let devices = try await devices(1, world)
        let message = world.message(to: devices.map(\.identity))
        _ = try await world.accept(message)
        func acknowledge() async throws -> ReceiptReply {
            let holder = BadgeHolder(key: devices[0].key)
            let statement = AcknowledgeMessage(world.scope, .id(message.id), holder, .read, nil, at: world.now())
            return try await world.run(statement).reply
        }
        #expect(try await acknowledge() == .orphan, "before the message could be sent")
        guard let lease = try await world.claim(message.id, by: "n1").first else { return fail("no lease") }
        try await putBack(lease, world)
        #expect(try await acknowledge() == .recorded, "while it waits")
        #expect(try await state(devices[0].key, message.id, world) == .read, "state")
    }

    @Test(arguments: [DeliveryState.expired, .canceled], [Int16(0), 1])
    func aReaderOfAMessageThatEndedCountsIfThereWasAnAttempt(_ end: DeliveryState, _ attempts: Int16) async throws {
        let world = try await RuleWorld.make()
        let devices = try await devices(1, world)
        let message = world.message(to: devices.map(\.identity))
        _ = try await world.accept(message)
        guard let lease = try await world.claim(message.id, by: "n1").first else { return fail("no lease") }
        var progress = world.progress(lease, end, .finished)
        for index in progress.results.indices {
            progress.results[index].attempt = DeliveryAttempt(count: attempts)
        }
        #expect(try await world.deliveries.record(progress, by: "n1") == .recorded(1), "the outcome")
        let holder = BadgeHolder(key: devices[0].key)
        let statement = AcknowledgeMessage(world.scope, .id(message.id), holder, .read, nil, at: world.now())
        let wanted: ReceiptReply = attempts > 0 ? .recorded : .orphan
        #expect(try await world.run(statement).reply == wanted, "the receipt")
    }

    /// Two devices of a user, in the order in which `acknowledge` searches them: the one that was registered last is the first.
    private func readers(_ world: RuleWorld) async throws -> [Phone] {
        var devices: [Phone] = []
        for age in [0, 60] {
            let key = world.newKey()
            let registration = DeviceRegistration(
                key: key,
                platform: .ios,
                environment: .production,
                token: world.newToken(),
                user: "hong"
            )
            let now = world.now()
            let statement = RegisterDevice(
                world.scope,
                key: key,
                registration,
                identity: IdentityID(rawValue: world.identifiers.uuid(at: now)),
                device: DeviceID(rawValue: world.identifiers.uuid(at: now)),
                at: now + .seconds(-age)
            )
            let made = try await world.run(statement)
            devices.append(Phone(key: key, identity: made.identity))
        }
        return devices
    }

    /// A message whose first target is suppressed. Its slice, in which the target keeps its place, gets the disposition `rest`.
    private func suppressFirst(
        of devices: [Phone],
        _ rest: SliceProgress.Disposition,
        _ world: RuleWorld
    ) async throws -> MessageID {
        let message = world.message(to: devices.map(\.identity))
        _ = try await world.accept(message)
        var lease = try #require(try await world.claim(message.id, by: "n1").first)
        var progress = world.progress(lease, .suppressed, rest)
        lease.markDone(0)
        progress.lease = lease
        progress.results = Array(progress.results.prefix(1))
        for index in progress.results.indices {
            progress.results[index].reason = "quietHours"
            progress.results[index].attempt = DeliveryAttempt()
        }
        #expect(try await world.deliveries.record(progress, by: "n1") == .recorded(1), "the first outcome")
        return message.id
    }

    private func read(_ message: MessageID, _ holder: BadgeHolder, _ world: RuleWorld) async throws -> Acknowledgement {
        try await world.run(AcknowledgeMessage(world.scope, .id(message), holder, .read, .keep, at: world.now()))
    }

    @Test(arguments: [SliceProgress.Disposition.goOn, .again(after: .seconds(900))])
    func aReaderWhoseTargetEndedWithoutAPushReadsNothing(_ rest: SliceProgress.Disposition) async throws {
        let world = try await RuleWorld.make()
        let devices = try await devices(2, world)
        let holder = BadgeHolder(key: devices[0].key)
        _ = try await world.badge(holder, 2)
        let message = try await suppressFirst(of: devices, rest, world)
        let answer = try await read(message, holder, world)
        #expect(answer == Acknowledgement(reply: .orphan, badge: 2), "the receipt and the badge")
    }

    @Test(arguments: [SliceProgress.Disposition.goOn, .again(after: .seconds(900))])
    func aUserReadsOnTheDeviceThatMayHaveThePush(_ rest: SliceProgress.Disposition) async throws {
        let world = try await RuleWorld.make()
        let devices = try await readers(world)
        let message = try await suppressFirst(of: devices, rest, world)
        let answer = try await read(message, BadgeHolder(user: "hong"), world)
        #expect(answer.reply == .recorded, "the receipt")
        #expect(try await state(devices[0].key, message, world) == .suppressed, "the first device")
        #expect(try await state(devices[1].key, message, world) == .read, "the second device")
    }

    @Test(arguments: [DeliveryState.expired, .canceled])
    func aUserReadsOnTheDeviceWhosePushWasAccepted(_ end: DeliveryState) async throws {
        let world = try await RuleWorld.make()
        let devices = try await readers(world)
        let message = world.message(to: devices.map(\.identity))
        _ = try await world.accept(message)
        guard let lease = try await world.claim(message.id, by: "n1").first else { return fail("no lease") }
        var progress = world.progress(lease, .sent, .finished)
        progress.results[0].state = end
        progress.results[0].attempt = DeliveryAttempt(count: 1)
        #expect(try await world.deliveries.record(progress, by: "n1") == .recorded(2), "the outcomes")
        let answer = try await read(message.id, BadgeHolder(user: "hong"), world)
        #expect(answer.reply == .recorded, "the receipt")
        #expect(try await state(devices[0].key, message.id, world) == end, "the first device")
        #expect(try await state(devices[1].key, message.id, world) == .read, "the second device")
    }

    /// The slice of the first device waits for another try.
    @Test func aUserReadsOnTheDeviceWhosePushIsBeingSent() async throws {
        let world = try await RuleWorld.make()
        let devices = try await readers(world)
        var message = world.message(to: devices.map(\.identity))
        message.targets.slices = devices.enumerated().map { number, device in
            NewSlice(number: Int32(number), work: .deliver, targets: [TargetID(device.identity)], addresses: [nil])
        }
        _ = try await world.accept(message)
        let leases = try await world.claim(message.id, by: "n1")
        guard leases.count == 2, let first = leases.first(where: { $0.key.number == 0 }) else {
            return fail("a slice is missing")
        }
        try await putBack(first, world)
        let answer = try await read(message.id, BadgeHolder(user: "hong"), world)
        #expect(answer.reply == .recorded, "the receipt")
        #expect(try await state(devices[0].key, message.id, world) != .read, "the first device")
        #expect(try await state(devices[1].key, message.id, world) == .read, "the second device")
    }

    /// Without its own delivery, a report by number would mark the message as read on the user's other device.
    @Test func aReportByNumberDoesNotGoToTheUsersOtherDeviceWhileItsOwnSliceWaits() async throws {
        let world = try await RuleWorld.make()
        let devices = [try await world.inboxDevice("hong"), try await world.inboxDevice("hong")]
        let number = try await world.run(DrawNumbers(world.inbox, count: 1)).first.text
        var message = world.message(
            to: devices.map(\.identity),
            claim: NewMessage.Claim(node: "n1", lease: RuleWorld.lease)
        )
        message.scope = world.inbox
        _ = try await world.commands.run(
            AcceptMessage(message),
            NumberMessage(message.id, [.ipns: number], targets: [], inboxes: [.ipns]),
            in: world.tenant
        )
        var lease = world.handover(message)
        var progress = world.progress(lease, .sent, .again(after: Self.wait))
        lease.markDone(0)
        progress.lease = lease
        progress.vendor = .ipns
        progress.results = Array(progress.results.prefix(1))
        for index in progress.results.indices {
            progress.results[index].user = "hong"
            progress.results[index].dialect = .ipns
        }
        #expect(try await world.deliveries.record(progress, by: "n1") == .recorded(1), "the first device's outcome")
        #expect(try await world.report(devices[1], number, .read) == .recorded, "the second device reads")
        func state(_ device: InboxDevice) async throws -> DeliveryState? {
            try await world.run(FindDelivery(world.inbox, message.id, Reporter(key: device.key))).snapshot?.state
        }
        #expect(try await state(devices[1]) == .read, "its own delivery")
        #expect(try await state(devices[0]) == .sent, "that of the other device")
    }

    /// More than 100 slices with higher numbers wait: the slice is found by its first target.
    @Test func aReceiptOfALargeAudienceIsKeptWhileItsSliceWaits() async throws {
        let world = try await RuleWorld.make()
        let devices = try await devices(160, world)
        let keys = Dictionary(devices.map { (TargetID($0.identity), $0.key) }) { first, _ in first }
        let message = world.message(to: [], work: .expand(after: nil))
        _ = try await world.accept(message)
        guard let expansion = try await world.claim(message.id, by: "n1").first else { return fail("no lease") }
        for _ in 0...devices.count {
            guard case .page = try await world.deliveries.expand(expansion, by: "n1", pageSize: 1) else { break }
        }
        let leases = try await world.claim(message.id, by: "n1")
        guard let lease = leases.min(by: { $0.key.number < $1.key.number }), let target = lease.targets.first,
            let key = keys[target]
        else { return fail("no slice") }
        #expect(lease.key.number < 60, "a slice with 100 newer ones")
        try await putBack(lease, world)
        #expect(try await report(key, message.id, world) == .recorded, "while it waits")
        let claimed = Set(leases.flatMap(\.targets))
        guard let waiting = devices.first(where: { !claimed.contains(TargetID($0.identity)) }) else {
            return fail("every slice was claimed")
        }
        #expect(try await report(waiting.key, message.id, world) == .orphan, "a slice that had no lease")
    }
}
