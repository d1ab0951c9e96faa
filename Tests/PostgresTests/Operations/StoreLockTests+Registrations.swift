import DatabaseSupport
import Foundation
import Model
import Testing

@testable import PostgresClient
@testable import Store

extension StoreLockTests {
    /// Locks the identity of a key.
    private func lock(on key: VendorDeviceKey, of fixture: StoreFixture) -> String {
        """
        SELECT FROM gateway.identity
        WHERE tenant_id = '\(fixture.acme)' AND vendor = '\(fixture.scope.vendor.rawValue)'
            AND key = '\(key.rawValue)' FOR UPDATE
        """
    }

    // Each takes the token of the other. Both devices, and then both identities, are locked in the order of their ids. The identities of another vendor
    // keep the tokens on their devices.
    @Test func twoRegistrationsThatSwapTheirTokens() async throws {
        let fixture = try await StoreFixture.make()
        for vendor in [fixture.scope.vendor, .ipns] {
            try await fixture.register("k1", token: "aa01", vendor: vendor)
            try await fixture.register("k2", token: "aa02", vendor: vendor)
        }
        let first = try await registration(fixture, "k1", of: "u1", token: "aa02", in: fixture.scope)
        let second = try await registration(fixture, "k2", of: "u1", token: "aa01", in: fixture.scope)
        let blocker = lock(on: "k2", of: fixture)
        let errors = try await race(fixture, behind: blocker, [act(fixture, first), act(fixture, second)])
        // The first one has replaced the identity that the second one found active.
        #expect(errors == [nil, .serializationFailure])
        _ = try await fixture.ask(second)
        try await expectExactCounts(fixture)
    }

    // The first one locks both devices, and leaves the one whose token the second one brings, so that the device loses it.
    @Test func aTokenThatLeavesItsDeviceMeanwhile() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.register("k1", token: "aa01", vendor: fixture.scope.vendor)
        try await fixture.register("k2", token: "aa02", vendor: fixture.scope.vendor)
        let first = try await registration(fixture, "k1", of: "u1", token: "aa02", in: fixture.scope)
        let second = try await registration(fixture, "k3", of: "u3", token: "aa01", in: fixture.scope)
        let blocker = lock(on: "k2", of: fixture)
        let errors = try await race(fixture, behind: blocker, [act(fixture, first), act(fixture, second)])
        #expect(errors == [nil, .serializationFailure])
    }

    // Both lock the device before the identity.
    @Test func aRegistrationAndAnUnregistration() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.register("k1", token: "aa01", vendor: fixture.scope.vendor)
        let register = try await registration(fixture, "k1", of: "u1", token: "aa01", in: fixture.scope)
        let unregister = UnregisterDevices(fixture.scope, .key("k1"))
        let device = "SELECT FROM gateway.device WHERE tenant_id = '\(fixture.acme)' FOR UPDATE"
        let errors = try await race(fixture, behind: device, [act(fixture, register), act(fixture, unregister)])
        #expect(errors == [nil, nil])
        try await expectExactCounts(fixture)
    }

    // The identity of another vendor keeps the token, so that only the state shows that the identity has ended.
    @Test func anUnregistrationAndARegistration() async throws {
        let fixture = try await StoreFixture.make()
        for vendor in [fixture.scope.vendor, .ipns] {
            try await fixture.register("k1", token: "aa01", vendor: vendor)
        }
        let unregister = UnregisterDevices(fixture.scope, .key("k1"))
        let register = try await registration(fixture, "k1", of: "u1", token: "aa01", in: fixture.scope)
        let errors = try await race(
            fixture,
            behind: lock(on: "k1", of: fixture),
            [act(fixture, unregister), act(fixture, register)]
        )
        #expect(errors == [nil, .serializationFailure])
        _ = try await fixture.ask(register)
        try await expectExactCounts(fixture)
    }

    // The new token would be given to the device that another identity has taken meanwhile.
    @Test func aTokenForAnIdentityThatIsReplacedMeanwhile() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.register("k1", token: "aa01", vendor: fixture.scope.vendor)
        let taking = try await registration(fixture, "k2", of: "u2", token: "aa01", in: fixture.scope)
        let token = try #require(DeviceToken(apns: "aa02"))
        let updating = UpdateToken(fixture.scope, key: "k1", token, nil, at: try await fixture.now())
        let errors = try await race(
            fixture,
            behind: lock(on: "k1", of: fixture),
            [act(fixture, taking), act(fixture, updating)]
        )
        #expect(errors == [nil, .serializationFailure])
        #expect(try await fixture.ask(updating) == 0)
        try await expectExactCounts(fixture)
    }

    // The second one has found its identity active, and waits for the name of the phone while the first one replaces that identity.
    @Test func twoRegistrationsOfOnePhone() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.register("k2", token: "aa02", phone: "010")
        func registration(_ key: VendorDeviceKey, token: String) async throws -> RegisterDevice {
            RegisterDevice(
                fixture.scope,
                key: key,
                DeviceRegistration(
                    key: key,
                    platform: .ios,
                    token: DeviceToken(apns: token),
                    phone: "010",
                    replacesSamePhone: true
                ),
                identity: IdentityID(UUID()),
                device: DeviceID(UUID()),
                at: try await fixture.now()
            )
        }
        let first = try await registration("k1", token: "aa01")
        let second = try await registration("k2", token: "aa02")
        let blocker = lock(on: "k2", of: fixture)
        let errors = try await race(fixture, behind: blocker, [act(fixture, first), act(fixture, second)])
        #expect(errors == [nil, .serializationFailure])
        #expect(try await expectExactCounts(fixture) == 1)
        let again = try await fixture.ask(second)
        #expect(!again.wasActive && again.replaced == [first.identity])
        #expect(try await expectExactCounts(fixture) == 1)
    }

    /// The maintained numbers of identities are those of the rows. Returns their sum.
    @discardableResult
    private func expectExactCounts(_ fixture: StoreFixture) async throws -> Int {
        let rows = try await fixture.database.admin().query(
            """
            SELECT (SELECT sum(c.active) FROM gateway.identity_count c WHERE c.tenant_id = $1)::bigint AS kept,
                (SELECT count(*) FROM gateway.identity i WHERE i.tenant_id = $1 AND i.state = 'active') AS counted
            """,
            [.id(fixture.acme)]
        ).only()
        let counted = try rows.int("counted")
        #expect(try rows.int("kept") == counted)
        return counted
    }
}
