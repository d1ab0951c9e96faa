import DatabaseSupport
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
        #expect(errors == [nil, nil])
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
    }
}
