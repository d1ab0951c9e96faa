import DatabaseSupport
import Model
import Store
import TestKit
import Testing

@testable import Commands

/// Numbers of messages: their text, the blocks of a node, and submissions that draw them.
@Suite struct NumberTests {
    // docs/contracts/ipns.md#2.6: yyyyMMddHHmmss in Seoul and four digits.
    @Test func aNumberIsTheSecondInSeoulAndAPositionInIt() {
        // 2020-01-15 09:00:00 in Seoul.
        let second: Int64 = 1_579_046_400 * MessageNumber.perSecond
        #expect(MessageNumber(rawValue: second + 1234).text == "202001150900001234")
        // The 10,001st number borrows from the next second.
        #expect(MessageNumber(rawValue: second + 10_000).text == "202001150900010000")
    }

    @Test func aBlockIsGivenOutInOrderWithinItsSecondOnlyAndGrows() {
        let pool = NumberPool()
        let key = NumberPool.Key(tenant: "acme", scope: AppScope(app: "shop", vendor: .ipns))
        #expect(pool.take(key, at: 7) == .draw(1))
        pool.put(MessageNumbers(first: MessageNumber(rawValue: 70_000), count: 1), key, at: 7)
        #expect(pool.take(key, at: 7) == .draw(8))
        pool.put(MessageNumbers(first: MessageNumber(rawValue: 70_010), count: 3), key, at: 7)
        pool.put(MessageNumbers(first: MessageNumber(rawValue: 70_001), count: 2), key, at: 7)
        #expect(pool.take(key, at: 7) == .number(MessageNumber(rawValue: 70_002)))
        #expect(pool.take(key, at: 7) == .number(MessageNumber(rawValue: 70_011)))
        // The remaining numbers of a second are discarded with it.
        #expect(pool.take(key, at: 8) == .draw(1))
        let other = NumberPool.Key(tenant: "other", scope: key.scope)
        #expect(pool.take(other, at: 7) == .draw(1))
    }

    @Test func aReservedMessagesIDIsOfTheMomentItIsDue() async throws {
        let world = try await CommandWorld.make()
        await world.device("k1", phone: "01011111111")
        var submission = Submission.text(to: "01011111111")
        let due = world.clock.now() + .seconds(86_400)
        submission.timing.dueAt = due
        let message = try #require(try await world.message(world.submit(submission)))
        let (first, next) = (MessageID.first(at: due), MessageID.first(at: due + .milliseconds(1)))
        #expect(first.map { message.id >= $0 } == true && next.map { message.id < $0 } == true)
    }

    // docs/contracts/upmc.md#1.9.1, REQ_PSIDS: only those members of the group who have these tokens.
    @Test func aGroupMayBeLimitedToNamedTokens() async throws {
        let world = try await CommandWorld.make()
        let digits: [(UserID, String)] = [("hong", "a"), ("hong", "b"), ("kim", "c"), ("lee", "d")]
        let tokens = digits.map { DeviceToken(stored: String(repeating: $0.1, count: 64)) }
        for (user, digit) in digits {
            await world.device(VendorDeviceKey(digit), digit: digit)
            _ = await world.registration(.assign(key: VendorDeviceKey(digit), .set(user)))
        }
        guard case .group(.created(let group))? = await world.reply(.group(.create(title: "VIP")))
        else {
            Issue.record("no group")
            return
        }
        _ = await world.reply(.group(.changeMembers(group.name, GroupChange(add: ["hong", "kim"]))))
        func send(_ group: GroupName, _ tokens: [DeviceToken]) async -> Reply? {
            var submission = Submission(content: Content(body: "b"), audience: .groups([group]))
            submission.numbering = Numbering(tokens: tokens)
            return await world.submit(submission).replies.first
        }
        guard case .submission(.numbered(let sent))? = await send(group.name, [tokens[3], tokens[1], tokens[2]]) else {
            Issue.record("not sent")
            return
        }
        #expect(sent.targetCount == 2)
        #expect(sent.keys == ["b", "c"])
        #expect(sent.missing == [])
        let message = try #require(try await world.stores.message(sent.message, in: world.tenant))
        #expect(message.slices.flatMap(\.targets).count == 2)
        #expect(message.recipients == 2)
        #expect(await send(group.name, [tokens[3]]) == .refused(.noRecipients), "no member has it")
        #expect(await send("99", [tokens[1]]) == .refused(.unknownGroup("99")), "and no group is another answer")
    }

    @Test func unknownUsersMayBeLeftOut() async throws {
        let world = try await CommandWorld.make()
        await world.device("k1", phone: "01011111111")
        var submission = Submission.text("b", to: "01011111111", "01099999999")
        submission.omitsUnknown = true
        guard case .submission(.addressed(let sent))? = await world.submit(submission).replies.first else {
            Issue.record("no numbered answer")
            return
        }
        #expect(sent.recipients == 1 && sent.addressees == 1 && sent.unknown == [.phone("01099999999")])
        #expect(sent.number == nil)
        var nobody = Submission.text("b", to: "01099999999")
        nobody.omitsUnknown = true
        #expect(await world.submit(nobody).replies == [.refused(.unknownDevice)])
    }

    // MARK: Numbers next to those of an upstream (docs/routing.md#observed-messages)

    /// A world in which `hong` has a device.
    private func numberedWorld() async throws -> CommandWorld {
        let world = try await CommandWorld.make()
        await world.device("k1")
        _ = await world.registration(.assign(key: "k1", .set("hong")))
        return world
    }

    /// Sends a message to `hong`, and returns the number that the gateway gives it.
    private func number(_ world: CommandWorld) async -> String? {
        var submission = Submission(content: Content(body: "b"), audience: .users(["hong"]))
        submission.numbering = Numbering()
        guard case .submission(.numbered(let sent))? = await world.submit(submission).replies.first else { return nil }
        return sent.number
    }

    /// The upstream has sent a message under a name, which is its number if it counts its messages.
    private func observe(_ world: CommandWorld, _ reference: String, isNumber: Bool = true) async {
        let submission = Submission(content: Content(body: "b"), audience: .users(["hong"]))
        var message = ObservedMessage(submission, references: [reference], number: isNumber ? Int64(reference) : nil)
        message.upstream = "old"
        let reply = await world.reply(.submission(.observe(message)))
        guard case .submission(.observed(true, _))? = reply else {
            Issue.record("\(reference) is not stored: \(String(describing: reply))")
            return
        }
    }

    @Test func numbersStayAMillionAboveThoseOfTheUpstream() async throws {
        let world = try await numberedWorld()
        #expect(await number(world) == "1")
        await observe(world, "7")
        #expect(await number(world) == "1000008")
        // The upstream comes nearer than half a million: 1,000,008 is the last number.
        await observe(world, "500008")
        #expect(await number(world) == "1000009", "half a million above it is enough")
        await observe(world, "500010")
        #expect(await number(world) == "1500011")
        // Of an earlier message, whose answer is read late.
        await observe(world, "8")
        #expect(await number(world) == "1500012")
    }

    @Test func aBindingMayStateItsFirstNumber() async throws {
        var world = try await numberedWorld()
        world.settings[BindingSettings.numbersFrom] = 5_000_000
        #expect(await number(world) == "5000000")
        #expect(await number(world) == "5000001")
        world.settings[BindingSettings.numbersFrom] = 10
        #expect(await number(world) == "5000002", "numbers never become lower")
        await observe(world, "6000000")
        #expect(await number(world) == "7000001", "the upstream is above them")
        world.settings[BindingSettings.numbersFrom] = 0
        #expect(await number(world) == "7000002")
    }

    // An upstream's names need not be known as numbers, as after an update from a version that did not read them.
    @Test func aNumberThatTheUpstreamHasUsedIsLeftOut() async throws {
        let world = try await numberedWorld()
        await observe(world, "2", isNumber: false)
        #expect(await number(world) == "1")
        #expect(await number(world) == "1000003")
        #expect(await number(world) == "1000004")
    }
}
