import Commands
import DatabaseSupport
import EngineStore
import Foundation
import Model
import Store
import Testing

/// Users of whom the tenant's back end expects a registration.
@Suite struct ExpectationTests {
    @Test func theFirstDeviceOfAnExpectedUserIsVouched() async throws {
        let world = try await CommandWorld.make()
        #expect(try await world.expect(["kim"]) == .expected(1))
        let first = try await world.register("k1", user: "kim", token: "a")
        let second = try await world.register("k2", user: "kim", token: "b")
        #expect(try await world.level(first) == .vouched)
        #expect(try await world.level(second) == .claimed, "the expectation is used up")
        #expect(try await world.expectedUsers().isEmpty)
        let events = try await world.events("vouched")
        #expect(events.map { $0.data?["by"] } == ["expectation"])
        #expect(events.map(\.subject.identity) == [first.identity])
        let audit = try await world.stores.audit.entries(in: world.tenant, after: 0, limit: 10)
        #expect(audit.map(\.action).contains("expect_user"))
    }

    @Test func aStrangerWithoutTheExpectedPhoneOrTokenStaysAClaim() async throws {
        let world = try await CommandWorld.make()
        let token = CommandWorld.token("a")
        _ = try await world.expect([], [ExpectedUser(user: "kim", phone: "0101", token: token, endsAt: world.soon)])
        let strangers: [(VendorDeviceKey, String?, String)] = [
            ("k1", nil, "a"), ("k2", "0102", "a"), ("k3", "0101", "b"),
        ]
        for (key, phone, digit) in strangers {
            let stranger = try await world.register(key, user: "kim", phone: phone, token: digit)
            #expect(try await world.level(stranger) == .claimed, "\(key)")
        }
        let other = try await world.register("k4", user: "lee", phone: "0101", token: "a")
        #expect(try await world.level(other) == .claimed, "another user")
        let owner = try await world.register("k5", user: "kim", phone: "0101", token: "a")
        #expect(try await world.level(owner) == .vouched)
    }

    // Otherwise an expected user could take the messages to another person's number.
    @Test func anExpectationOfTheUserAloneConfirmsNoPhone() async throws {
        let world = try await CommandWorld.make()
        _ = try await world.expect([], [ExpectedUser(user: "kim", endsAt: world.soon)])
        let claimed = try await world.register("k1", user: "kim", phone: "0101", token: "a")
        #expect(try await world.level(claimed) == .claimed)
        let vouched = try await world.register("k2", user: "kim", phone: nil, token: "b")
        #expect(try await world.level(vouched) == .vouched)
    }

    @Test func anExpectationThatEndedHasNoEffect() async throws {
        let world = try await CommandWorld.make()
        let ended = ExpectedUser(user: "kim", endsAt: Timestamp(milliseconds: 1_000_000))
        #expect(try await world.put([ended], limit: 9) == .put(1))
        let device = try await world.register("k1", user: "kim", token: "a")
        #expect(try await world.level(device) == .claimed)
    }

    @Test func aVouchedDeviceLeavesTheExpectationToTheNextOne() async throws {
        let world = try await CommandWorld.make()
        _ = try await world.expect(["kim"])
        let first = try await world.register("k1", user: "kim", token: "a")
        _ = try await world.expect(["kim"])
        _ = try await world.register("k1", user: "kim", token: "a")
        #expect(try await world.expectedUsers() == ["kim"])
        let second = try await world.register("k2", user: "kim", token: "b")
        #expect(try await world.level(second) == .vouched)
        // Another token under a known name is a claim, unless the user is expected.
        _ = try await world.expect(["kim"])
        _ = try await world.register("k1", user: "kim", token: "c")
        #expect(try await world.level(first) == .vouched)
        _ = try await world.register("k1", user: "kim", token: "d")
        #expect(try await world.level(first) == .claimed)
    }

    // Vendors that register a device first, and its user afterwards.
    @Test(arguments: [false, true])
    func aDeviceThatIsAssignedAnExpectedUserIsVouched(namesToken: Bool) async throws {
        let world = try await CommandWorld.make()
        let device = try await world.register("k1", token: "a")
        let token = namesToken ? CommandWorld.token("a") : nil
        _ = try await world.expect([], [ExpectedUser(user: "kim", token: token, endsAt: world.soon)])
        let other = try await world.register("k2", token: "b")
        if namesToken {
            _ = await world.registration(.assign(key: "k2", .set("kim")))
            #expect(try await world.level(other) == .claimed)
        }
        _ = await world.registration(.assign(key: "k1", .set("kim")))
        #expect(try await world.level(device) == .vouched)
        #expect(try await world.events("vouched").map(\.subject.identity) == [device.identity])
        _ = await world.registration(.assign(key: "k1", .set("lee")))
        #expect(try await world.level(device) == .claimed)
    }

    @Test func expectationsAreBounded() async throws {
        let world = try await CommandWorld.make()
        let users = (0..<101).map { UserID("u\($0)") }
        for wrong in [[], users, ["kim", "kim"], [UserID(String(repeating: "x", count: 129))]] {
            guard case .invalid("users", _) = try await world.expect(wrong) else {
                Issue.record("accepted \(wrong.count) users")
                continue
            }
        }
        let late = ExpectedUser(user: "kim", endsAt: Timestamp(milliseconds: world.soon.milliseconds + 32 * 86_400_000))
        let past = ExpectedUser(user: "kim", endsAt: Timestamp(milliseconds: 0))
        for wrong in [late, past] {
            guard case .invalid("users", _) = try await world.expect([], [wrong]) else {
                Issue.record("accepted \(wrong)")
                continue
            }
        }
        #expect(try await world.expect(["kim"], of: "unknown") == .unknownApp)
        func put(_ users: [UserID]) async throws -> PutExpectedUsers.Outcome {
            try await world.put(users.map { ExpectedUser(user: $0, endsAt: world.soon) }, limit: 2)
        }
        #expect(try await put(["a", "b"]) == .put(2))
        #expect(try await put(["b", "c"]) == .tooMany)
        #expect(try await put(["a", "b"]) == .put(2), "the same users again")
        #expect(try await world.expectedUsers() == ["a", "b"])
        #expect(try await world.handler.run(world.drop("a"), in: world.tenant))
        #expect(try await !world.handler.run(world.drop("a"), in: world.tenant))
        #expect(try await put(["c"]) == .put(1))
    }

    @Test(arguments: [ErasureRules.Reach.everywhere, .dialect(AppScope(app: "shop", vendor: .braze))])
    func anErasureAlsoErasesAnExpectation(reach: ErasureRules.Reach) async throws {
        let world = try await CommandWorld.make()
        _ = try await world.expect(["kim", "lee"])
        func names() async throws -> [String] {
            try await world.stores.audit.entries(in: world.tenant, after: 0, limit: 20).map(\.subject)
        }
        #expect(try await names().contains("user kim"))
        _ = try await world.handler.run(ErasureRules.erase(["kim"], reach, by: "test"), in: world.tenant)
        #expect(try await world.expectedUsers() == ["lee"])
        #expect(try await !names().contains("user kim"), "the audit does not name the person")
        #expect(try await names().contains("user lee"))
        // Its expectation has gone already.
        _ = try await world.handler.run(world.drop("lee"), in: world.tenant)
        _ = try await world.handler.run(ErasureRules.erase(["lee"], reach, by: "test"), in: world.tenant)
        #expect(try await !names().contains("user lee"))
    }
}

extension CommandWorld {
    fileprivate static func token(_ digit: String) -> DeviceToken {
        DeviceToken(stored: String(repeating: digit, count: 64))
    }

    /// In an hour, on the database's clock and the world's.
    fileprivate var soon: Timestamp {
        let now = max(handler.now.milliseconds, Int64(Date().timeIntervalSince1970 * 1000))
        return Timestamp(milliseconds: now + 3_600_000)
    }

    fileprivate func expect(
        _ users: [UserID],
        _ more: [ExpectedUser] = [],
        of app: AppID = "shop"
    ) async throws -> ExpectationRules.Outcome {
        let expected = users.map { ExpectedUser(user: $0, endsAt: soon) } + more
        let request = ExpectationRules.expect(expected, of: app, at: handler.now, by: .key("test"))
        return try await handler.run(request, in: tenant)
    }

    fileprivate func put(_ users: [ExpectedUser], limit: Int) async throws -> PutExpectedUsers.Outcome {
        let operation = PutExpectedUsers("shop", users, limit: limit, by: .key("test"))
        return try await handler.run(StoreRequest(operation) { $0 }, in: tenant)
    }

    fileprivate func drop(_ user: UserID) -> StoreRequest<Bool> {
        ExpectationRules.drop(user, of: "shop", by: .key("test"))
    }

    fileprivate func expectedUsers() async throws -> [UserID] {
        try await stores.queries.expectedUsers(of: "shop", in: tenant, after: nil, limit: 10).map(\.user)
    }

    fileprivate func register(
        _ key: VendorDeviceKey,
        user: UserID? = nil,
        phone: String? = nil,
        token digit: String
    ) async throws -> Registered {
        let registration = DeviceRegistration(
            key: key,
            platform: .ios,
            token: Self.token(digit),
            user: user,
            phone: phone
        )
        let reply = await handler.perform([.registration(.register(registration))], in: call).replies[0]
        guard case .registration(.registered(let registered)) = reply else { throw StoreError(.failed, "\(reply)") }
        return registered
    }

    fileprivate func level(_ registered: Registered) async throws -> Assurance? {
        // A later registration may have taken the device over.
        let request = StoreRequest(FindIdentityEntry(registered.identity)) { $0?.assurance }
        return try await handler.run(request, in: tenant)
    }

    fileprivate func events(_ kind: String) async throws -> [EventRecord] {
        let filter = EventFilter(kinds: [kind])
        return try await stores.queries.events(in: tenant, after: 0, limit: 100, filter: filter).events
    }
}
