import Commands
import DatabaseSupport
import EngineStore
import Model
import Store
import TestKit
import Testing

/// Levels of assurance: how an identity gets its level, and what a message reaches.
@Suite struct AssuranceTests {
    // MARK: The level of an identity

    @Test func anAppClaimsItsUserAndABackEndVouches() async throws {
        let world = try await CommandWorld.make()
        let claimed = try await world.enrol("k1", user: "kim")
        let vouched = try await world.enrol("k2", user: "kim", .vouched)
        #expect(try await world.level(claimed) == .claimed)
        #expect(try await world.level(vouched) == .vouched)
    }

    @Test func aVouchedIdentityStaysSoUntilItsAppNamesAnotherUser() async throws {
        let world = try await CommandWorld.make()
        let first = try await world.enrol("k1", user: "kim", .vouched)
        _ = try await world.enrol("k1", user: "kim")
        #expect(try await world.level(first) == .vouched)
        _ = try await world.enrol("k1", user: "lee")
        #expect(try await world.level(first) == .claimed)
    }

    @Test func anotherPhoneIsAClaim() async throws {
        let world = try await CommandWorld.make()
        let device = try await world.enrol("k1", phone: "01012345678", .vouched)
        _ = try await world.enrol("k1", phone: "01012345678")
        #expect(try await world.level(device) == .vouched)
        _ = try await world.enrol("k1", phone: "01087654321")
        #expect(try await world.level(device) == .claimed)
    }

    // The name of a device may be known to others.
    @Test func anotherTokenIsAClaim() async throws {
        let world = try await CommandWorld.make()
        let device = try await world.enrol("k1", user: "kim", .vouched)
        _ = try await world.enrol("k1", user: "kim", digit: "d")
        #expect(try await world.level(device) == .claimed)
        _ = try await world.enrol("k1", user: "kim", .vouched, digit: "e")
        #expect(try await world.level(device) == .vouched)
    }

    @Test func aBackEndThatChangesAUserVouchesForIt() async throws {
        let world = try await CommandWorld.make()
        let device = try await world.enrol("k1", user: "kim")
        func change(_ patch: DevicePatch) async throws -> Assurance? {
            let facts = try await world.handler.run(DeviceChangeRules.change(device.device, patch), in: world.tenant)
            return facts?.identities.first?.assurance
        }
        #expect(try await change(DevicePatch(acceptsPush: false)) == .claimed)
        #expect(try await change(DevicePatch(phone: "0101")) == .claimed, "the user stays a claim")
        #expect(try await change(DevicePatch(user: "kim")) == .vouched)
    }

    @Test func aVouchNamesTheUserItConfirms() async throws {
        let world = try await CommandWorld.make()
        let device = try await world.enrol("k1", user: "kim")
        func vouch(_ user: UserID?) async throws -> Assurance? {
            let request = DeviceChangeRules.vouch(device.identity, of: user, by: .key("test"))
            return try await world.handler.run(request, in: world.tenant)?.assurance
        }
        #expect(try await vouch("lee") == nil)
        #expect(try await world.level(device) == .claimed)
        #expect(try await vouch("kim") == .vouched)
        #expect(try await vouch(nil) == .vouched)
        let audit = try await world.stores.audit.entries(in: world.tenant, after: 0, limit: 10)
        #expect(audit.count { $0.action == "vouch_identity" } == 1, "a repeated vouch changes nothing")
    }

    @Test func aDeviceThatSignsOutIsAClaimAgain() async throws {
        let world = try await CommandWorld.make()
        let device = try await world.enrol("k1", user: "kim", .vouched)
        _ = await world.registration(.assign(key: "k1", .clear))
        #expect(try await world.level(device) == .claimed)
        _ = await world.registration(.assign(key: "k1", .set("kim")))
        #expect(try await world.level(device) == .claimed)
    }

    @Test func aClaimDoesNotReplaceAVouchedIdentityOfItsPhone() async throws {
        let world = try await CommandWorld.make()
        _ = try await world.enrol("owner", phone: "0101", .vouched, replacing: true)
        let stranger = try await world.enrol("stranger", phone: "0101", replacing: true)
        #expect(stranger.replaced.isEmpty)
        let back = try await world.enrol("owner-2", phone: "0101", .vouched, replacing: true)
        #expect(back.replaced.count == 2)
    }

    // MARK: The highest level of a user (finding C4)

    @Test(arguments: [false, true])
    func aMessageToAPersonReachesItsHighestLevel(isMixed: Bool) async throws {
        let world = try await CommandWorld.make(assurance: AssuranceRules(isMixed: isMixed))
        let owner = try await world.enrol("owner", user: "kim", phone: "0101", .vouched)
        let other = try await world.enrol("stranger", user: "kim", phone: "0101")
        // The stranger registered last, so that it is the newest.
        let messages = [
            await world.submit(.message(to: .users(["kim"]))),
            await world.submit(.message(to: .listed([Addressee(.user("kim"))]))),
            await world.submit(.message(to: .listed([Addressee(.phone("0101"))]))),
        ]
        for (result, isList) in zip(messages, [false, true, true]) {
            let targets = try await world.targets(result)
            let newest = isMixed ? other : owner
            let wanted = isList ? [newest] : isMixed ? [owner, other] : [owner]
            #expect(Set(targets) == Set(wanted.map { TargetID($0.identity) }))
        }
        let withheld = isMixed ? [] : [TargetID(other.identity)]
        #expect(try await world.suppressed(messages[0], .assurance) == withheld)
    }

    @Test func theHighestLevelCountsOverAllDialects() async throws {
        let world = try await CommandWorld.make()
        _ = try await world.enrol("native", user: "kim", .vouched, vendor: .native)
        let claimed = try await world.enrol("claimed", user: "kim")
        let sent = await world.submit(.message(to: .users(["kim"])))
        #expect(try await world.targets(sent).isEmpty)
        #expect(try await world.suppressed(sent, .assurance) == [TargetID(claimed.identity)])
        // A list of keys names a device and not a person.
        let named = await world.submit(.message(to: .listed([Addressee(.deviceKey("claimed"))])))
        #expect(try await world.targets(named) == [TargetID(claimed.identity)])
    }

    @Test func aClaimOnTheDeviceOfItsOwnerTakesNoPlaceFromIt() async throws {
        let world = try await CommandWorld.make()
        let digit = "c"
        _ = try await world.enrol("upmc", user: "kim", vendor: .upmc, digit: digit)
        let owner = try await world.enrol("native", user: "kim", .vouched, vendor: .native, digit: digit)
        let sent = await world.submit(.message(to: .users(["kim"])), as: .native)
        #expect(try await world.targets(sent) == [TargetID(owner.identity)])
    }

    // MARK: The level that a message needs

    @Test func aMessageReachesOnlyTheLevelThatItNeeds() async throws {
        let world = try await CommandWorld.make(assurance: AssuranceRules(lanes: [.transactional: .vouched]))
        let claimed = try await world.enrol("k1", user: "kim")
        var message = Submission.message(to: .users(["kim"]))
        #expect(try await world.targets(await world.submit(message)) == [TargetID(claimed.identity)], "another lane")
        message.lane = .transactional
        let sent = await world.submit(message)
        #expect(try await world.suppressed(sent, .assurance) == [TargetID(claimed.identity)])
        #expect(try await world.message(sent)?.content.minAssurance == .vouched)
        let funnel = try await world.stores.funnel(of: try #require(world.messageID(sent)), in: world.tenant)
        #expect(funnel?.suppressed == 1)
        message.minAssurance = .claimed
        #expect(
            try await world.targets(await world.submit(message)) == [TargetID(claimed.identity)],
            "the caller decides"
        )
    }

    // MARK: Moves

    @Test(arguments: UserMoves.allCases)
    func aUserThatMovesIsReported(moves: UserMoves) async throws {
        var world = try await CommandWorld.make()
        world.settings = ["userMoves": .string(moves.rawValue)]
        _ = try await world.enrol("first", user: "kim")
        let second = try await world.enrol("second", user: "kim")
        let events = try await world.events("moved")
        #expect(events.map(\.subject.identity) == (moves == .allow ? [] : [second.identity]))
        #expect(events.allSatisfy { $0.data?["of"] == "user" && $0.data?["pending"] == .bool(moves == .vouch) })
        #expect(try await world.level(second) == (moves == .vouch ? .pending : .claimed))
        let sent = await world.submit(.message(to: .users(["kim"])))
        #expect(try await world.targets(sent).contains(TargetID(second.identity)) == (moves != .vouch))
        // A repeated registration is not another move, and ends no waiting.
        _ = try await world.enrol("second", user: "kim")
        #expect(try await world.events("moved").count == events.count)
        #expect(try await world.level(second) == (moves == .vouch ? .pending : .claimed))
    }

    // C4: a message to a user reaches every dialect, so that a move to another one matters as much.
    @Test(arguments: UserMoves.allCases)
    func aUserThatMovesToAnotherDialectIsReported(moves: UserMoves) async throws {
        var world = try await CommandWorld.make()
        world.settings = ["userMoves": .string(moves.rawValue)]
        _ = try await world.enrol("first", user: "kim", phone: "0101", vendor: .upmc)
        let second = try await world.enrol("second", user: "kim", vendor: .ipns)
        let third = try await world.enrol("third", phone: "0101")
        let fourth = try await world.enrol("fourth", vendor: .rationalOwl)
        _ = await world.registration(.assign(key: "fourth", .set("kim")))
        let events = try await world.events("moved")
        #expect(
            events.map(\.subject.identity)
                == (moves == .allow ? [] : [second.identity, third.identity, fourth.identity])
        )
        #expect(events.allSatisfy { $0.data?["pending"] == .bool(moves == .vouch) })
        #expect(try await world.level(second) == (moves == .vouch ? .pending : .claimed))
        #expect(try await world.level(fourth) == (moves == .vouch ? .pending : .claimed))
        // One device may use two dialects: its user stays where it is.
        _ = try await world.enrol("old", user: "lee", vendor: .upmc, digit: "a")
        let new = try await world.enrol("new", user: "lee", vendor: .ipns, digit: "a")
        #expect(try await world.events("moved").count == events.count)
        #expect(try await world.level(new) == .claimed)
    }

    @Test func aMoveWaitsForTheBackEndOrForTheOtherDevice() async throws {
        var world = try await CommandWorld.make()
        world.settings = ["userMoves": "vouch"]
        _ = try await world.enrol("first", user: "kim")
        let second = try await world.enrol("second", user: "kim")
        let third = try await world.enrol("third", user: "kim")
        _ = try await world.handler.run(
            DeviceChangeRules.vouch(second.identity, of: "kim", by: .key("test")),
            in: world.tenant
        )
        #expect(try await world.level(second) == .vouched)
        for key in ["first", "second"] { _ = await world.registration(.unregister(.key(VendorDeviceKey(key)))) }
        _ = try await world.enrol("third", user: "kim")
        #expect(try await world.level(third) == .claimed)
    }

    @Test func aPhoneAndAnAssignedUserMoveToo() async throws {
        let world = try await CommandWorld.make()
        _ = try await world.enrol("first", user: "kim", phone: "0101")
        let second = try await world.enrol("second", phone: "0101", replacing: true)
        #expect(try await world.events("moved").map(\.data) == [["of": "phone", "pending": false]])
        _ = await world.registration(.assign(key: "second", .set("kim")))
        let events = try await world.events("moved")
        #expect(events.map { $0.data?["of"] } == ["phone", "user"])
        #expect(events.allSatisfy { $0.subject.identity == second.identity })
    }
}

extension CommandWorld {
    static func make(assurance: AssuranceRules) async throws -> CommandWorld {
        let world = try await make()
        try await world.stores.provision("acme") { $0.apps[0].assurance = assurance }
        return world
    }

    /// Registers a device with a token of its own, or that of `digit`.
    fileprivate func enrol(
        _ key: VendorDeviceKey,
        user: UserID? = nil,
        phone: String? = nil,
        _ assurance: Assurance = .claimed,
        vendor: Vendor = .rationalOwl,
        replacing: Bool = false,
        digit: String? = nil
    ) async throws -> Registered {
        let text = digit.map { String(repeating: $0, count: 64) } ?? identifiers.sha256(Array(key.rawValue.utf8))
        var registration = DeviceRegistration(
            key: key,
            platform: .ios,
            token: DeviceToken(stored: text),
            user: user,
            phone: phone,
            replacesSamePhone: replacing
        )
        registration.assurance = assurance
        var call = call
        call.vendor = vendor
        let reply = await handler.perform([.registration(.register(registration))], in: call).replies[0]
        guard case .registration(.registered(let registered)) = reply else { throw StoreError(.failed, "\(reply)") }
        return registered
    }

    fileprivate func level(_ registered: Registered) async throws -> Assurance? {
        let device = try await stores.devices.device(registered.device, in: tenant)
        return device?.identities.first { $0.id == registered.identity }?.assurance
    }

    fileprivate func submit(_ submission: Submission, as vendor: Vendor) async -> CallResult {
        var call = call
        call.vendor = vendor
        return await handler.perform([.submission(.submit(submission))], in: call)
    }

    /// The targets in the slices of a message.
    fileprivate func targets(_ result: CallResult) async throws -> [TargetID] {
        guard let message = try await message(result) else { throw StoreError(.failed, "\(result.replies)") }
        return message.slices.flatMap(\.targets)
    }

    fileprivate func suppressed(_ result: CallResult, _ reason: SuppressionReason) async throws -> [TargetID] {
        guard let message = try await message(result) else { throw StoreError(.failed, "\(result.replies)") }
        return message.suppressed.filter { $0.reason == reason }.map(\.target)
    }

    fileprivate func events(_ kind: String) async throws -> [EventRecord] {
        let filter = EventFilter(kinds: [kind])
        return try await stores.queries.events(in: tenant, after: 0, limit: 100, filter: filter).events
    }
}

extension Submission {
    fileprivate static func message(to audience: Audience) -> Submission {
        Submission(content: Content(body: "b"), audience: audience)
    }
}
