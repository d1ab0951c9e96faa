import Foundation
import Model
import Testing

@testable import AudienceStore
@testable import Store

/// The members of a group with the facts of their registrations.
@Suite struct GroupMemberListTests {
    private let group: GroupName = "vip"

    private func list(
        _ fixture: StoreFixture,
        after: UserID? = nil,
        limit: Int = 10,
        in tenant: TenantID? = nil
    ) async throws -> [ListedMember] {
        try await fixture.ask(ListGroupMembers(fixture.scope, group, after: after, limit: limit), in: tenant)
    }

    private func register(
        _ key: VendorDeviceKey,
        _ fixture: StoreFixture,
        user: UserID,
        name: String,
        phone: String,
        vendor: Vendor = .rationalOwl
    ) async throws {
        let registration = DeviceRegistration(key: key, platform: .ios, user: user, name: name, phone: phone)
        let statement = RegisterDevice(
            AppScope(app: fixture.scope.app, vendor: vendor),
            key: key,
            registration,
            identity: IdentityID(UUID()),
            device: DeviceID(UUID()),
            at: try await fixture.now()
        )
        _ = try await fixture.ask(statement)
    }

    @Test func membersHaveTheFactsOfTheirOwnRegistrations() async throws {
        let fixture = try await StoreFixture.make()
        _ = try await fixture.ask(PutGroup(fixture.scope, group))
        _ = try await fixture.ask(ChangeMembers(fixture.scope, group, GroupChange(add: ["c", "a", "b", "d"])))
        try await register("k-a", fixture, user: "a", name: "Kim", phone: "01011112222")
        // Another vendor's, and one that has ended.
        try await register("k-b", fixture, user: "b", name: "Lee", phone: "01033334444", vendor: .upmc)
        try await register("k-c", fixture, user: "c", name: "Park", phone: "01055556666")
        _ = try await fixture.ask(UnregisterDevices(fixture.scope, .key("k-c")))
        // Nobody's member.
        try await register("k-e", fixture, user: "e", name: "Choi", phone: "01077778888")
        let kim = ListedMember(user: "a", name: "Kim", phone: "01011112222", isRegistered: true)
        func unknown(_ user: UserID) -> ListedMember {
            ListedMember(user: user, name: nil, phone: nil, isRegistered: false)
        }
        #expect(try await list(fixture) == [kim, unknown("b"), unknown("c"), unknown("d")])
        #expect(try await list(fixture, limit: 1) == [kim])
        #expect(try await list(fixture, after: "a", limit: 2) == [unknown("b"), unknown("c")])
        #expect(try await list(fixture, in: fixture.other).isEmpty, "another tenant's group of this name")
    }
}
