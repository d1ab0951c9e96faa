import DeliveryEngine
import EngineStore
import Model
import Testing

@testable import Store

/// Tokens of Live Activities in the store.
@Suite struct ActivityRuleTests {
    private static let start = ActivityReference(.start, "ScoreAttributes")
    private static let running = ActivityReference(.running, "match-7")

    private func device(_ world: RuleWorld) async throws -> Registered {
        try #require(try await world.register(world.newKey(), token: world.newToken()))
    }

    private func put(
        _ world: RuleWorld,
        _ device: DeviceID,
        _ activity: ActivityReference,
        _ token: DeviceToken,
        in tenant: TenantID? = nil,
        at: Timestamp? = nil,
        limit: Int = 64
    ) async throws -> Bool {
        let operation = PutActivityToken(device, activity, token, at: at ?? world.now(), limit: limit)
        return try await world.run(operation, in: tenant)
    }

    private func names(_ world: RuleWorld, _ device: DeviceID, in tenant: TenantID? = nil) async throws -> [String] {
        try await world.run(ListActivityTokens(device), in: tenant).map(\.activity.name)
    }

    @Test func aTokenIsReplacedListedAndForgotten() async throws {
        let world = try await RuleWorld.make()
        let device = try await device(world).device
        let (old, new) = (world.newToken(), world.newToken())
        #expect(try await put(world, device, Self.running, old))
        #expect(try await put(world, device, Self.start, old))
        #expect(try await put(world, device, Self.running, new))
        let tokens = try await world.run(ListActivityTokens(device))
        #expect(tokens.map(\.activity) == [Self.start, Self.running])
        #expect(tokens.map(\.token) == [old, new])
        #expect(try await world.run(FindActivityDevices(world.scope, running: "match-7", limit: 9)) == [device])
        #expect(try await world.run(FindActivityDevices(world.scope, running: "ScoreAttributes", limit: 9)) == [])
        #expect(try await world.run(RemoveActivityToken(device, Self.running)) == 1)
        #expect(try await world.run(RemoveActivityToken(device, Self.running)) == 0)
        #expect(try await names(world, device) == ["ScoreAttributes"])
    }

    // A device that is not there has none, and the limit holds for further tokens only.
    @Test func aDeviceHasAtMostTheLimit() async throws {
        let world = try await RuleWorld.make()
        let device = try await device(world).device
        let token = world.newToken()
        for name in ["a", "b"] {
            #expect(try await put(world, device, ActivityReference(.running, name), token, limit: 2))
        }
        #expect(try await put(world, device, Self.running, token, limit: 2) == false)
        #expect(try await put(world, device, ActivityReference(.running, "a"), world.newToken(), limit: 2))
        let unknown = DeviceID(rawValue: world.identifiers.uuid(at: world.now()))
        #expect(try await put(world, unknown, Self.running, token) == false)
    }

    // I6
    @Test func anotherTenantSeesAndChangesNothing() async throws {
        let world = try await RuleWorld.make()
        let device = try await device(world).device
        #expect(try await put(world, device, Self.running, world.newToken()))
        let other = world.otherTenant
        #expect(try await put(world, device, Self.running, world.newToken(), in: other) == false)
        #expect(try await names(world, device, in: other) == [])
        #expect(try await world.run(RemoveActivityToken(device, Self.running), in: other) == 0)
        #expect(try await world.run(FindActivityDevices(world.scope, running: "match-7", limit: 9), in: other) == [])
        #expect(try await names(world, device) == ["match-7"])
    }

    @Test func itIsErasedWithItsDevice() async throws {
        let world = try await RuleWorld.make()
        let device = try await device(world).device
        #expect(try await put(world, device, Self.running, world.newToken()))
        try await world.erase(.device(device))
        #expect(try await names(world, device) == [])
    }

    // The pushes of a Live Activity go to its tokens, whatever becomes of the device's own.
    @Test func aSliceIsLoadedWithTheActivitysTokens() async throws {
        let world = try await RuleWorld.make()
        let registered = [try await device(world), try await device(world)]
        let token = world.newToken()
        #expect(try await put(world, registered[0].device, Self.running, token))
        var message = world.message(to: registered.map(\.identity))
        message.content.activity = Self.running
        _ = try await world.accept(message)
        let lease = try #require(try await world.claim(message.id, by: "n1").first)
        let work = try #require(try await world.deliveries.load(lease))
        #expect(work.notification.content.activity == Self.running)
        let destinations = work.targets.sorted { $0.key < $1.key }.map(\.value.destination)
        #expect(destinations.map(\.token) == [token, nil])
        #expect(destinations.map(\.tokenState) == [.active, .none])
    }

    @Test func anInvalidTokenIsForgottenUnlessItWasReportedAgainSince() async throws {
        let world = try await RuleWorld.make()
        let device = try await device(world).device
        let token = world.newToken()
        let reported = world.now()
        #expect(try await put(world, device, Self.running, token, at: reported))
        let old = TokenVerdict.dead(device, token, since: reported + .seconds(-60))
        let doubtful = TokenVerdict.doubtful(device, token, reason: "BadDeviceToken")
        let others = TokenVerdict.dead(device, world.newToken(), since: nil)
        try await world.deliveries.condemn([old, doubtful, others], tenant: world.tenant)
        #expect(try await names(world, device) == ["match-7"])
        try await world.deliveries.condemn([.dead(device, token, since: reported)], tenant: world.tenant)
        #expect(try await names(world, device) == [])
        let facts = try await world.run(FindIdentity(world.scope, key: world.newKey()))
        #expect(facts == nil)
    }
}
