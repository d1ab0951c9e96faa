import Model
import Testing

@testable import Store

/// The rules of identities of one dialect that share a device, and of lists of identities.
@Suite struct SharingRuleTests {
    @Test func identitiesThatShareADeviceDoNotReplaceEachOther() async throws {
        let world = try await RuleWorld.make()
        let token = world.newToken()
        let (plain, first, second, later) = (world.newKey(), world.newKey(), world.newKey(), world.newKey())
        _ = try await world.register(plain, token: token)
        #expect(try await world.share(first, token)?.replaced == [], "replaced by the first")
        #expect(try await world.share(second, token)?.replaced == [], "replaced by the second")
        #expect(try await world.standing(plain)?.state == .active, "the earlier identity")
        let replaced = try await world.register(later, token: token)?.replaced.count
        #expect(replaced == 1, "replaced by one that does not share")
        for key in [first, second, later] {
            #expect(try await world.standing(key)?.state == .active, "\(key)")
        }
        let moved = world.newToken()
        _ = try await world.share(first, moved)
        #expect(try await world.standing(first)?.token == moved, "the new token of one")
        #expect(try await world.standing(second)?.token == token, "the others' token")
        _ = try await world.run(UnregisterDevices(world.scope, .key(second)))
        _ = try await world.run(UnregisterDevices(world.scope, .key(later)))
        #expect(try await world.standing(second)?.token == nil, "an unused token")
    }

    @Test func listsShowReachableIdentitiesByTokenAndTag() async throws {
        let world = try await RuleWorld.make()
        let keys = [world.newKey(), world.newKey(), world.newKey()].sorted { $0.rawValue < $1.rawValue }
        let token = world.newToken()
        _ = try await world.share(keys[0], token, tags: ["seoul"])
        _ = try await world.share(keys[1], token, tags: ["busan"], variantTags: ["seoul"])
        _ = try await world.share(keys[2], world.newToken())
        func list(_ filter: IdentityFilter, from: VendorDeviceKey? = nil, limit: Int = 10) async throws
            -> [VendorDeviceKey]
        {
            let asked = ListIdentities(world.scope, filter, from: from, limit: limit)
            let found = try await world.run(asked)
            return found.map(\.key)
        }
        let all = try await list(.all, limit: 1000).filter { keys.contains($0) }
        #expect(all == keys, "all")
        #expect(try await list(.all, from: keys[1], limit: 1) == [keys[1]], "a page")
        #expect(try await list(.token(token)) == [keys[0], keys[1]], "of a token")
        if let tag = Tag("Seoul") {
            let tagged = try await list(.tag(tag), limit: 1000).filter { keys.contains($0) }
            #expect(tagged == [keys[0], keys[1]], "with a tag")
        }
        let other = ListIdentities(world.scope, .token(token), from: nil, limit: 10)
        #expect(try await world.run(other, in: world.otherTenant) == [], "another tenant's")
        _ = try await world.run(UnregisterDevices(world.scope, .key(keys[0])))
        #expect(try await list(.token(token)) == [keys[1]], "after one has left")
    }
}

extension RuleWorld {
    /// Registers an identity with an end time.
    func register(_ key: VendorDeviceKey, endingAt end: JSON, token: DeviceToken? = nil) async throws -> Registered? {
        let registration = DeviceRegistration(
            key: key,
            platform: .ios,
            environment: .production,
            token: token ?? newToken(),
            attributes: JSONObject([("note", "a\u{0}b\\"), (DeviceRegistration.endAttribute, end)])
        )
        return try await register(key, registration)
    }

    /// Registers an identity that shares its device.
    func share(
        _ key: VendorDeviceKey,
        _ token: DeviceToken,
        tags: [String] = [],
        variantTags: [String] = []
    ) async throws -> Registered? {
        let variants = variantTags.compactMap { Tag($0).map { Tag.ofVariant($0) } }
        let registration = DeviceRegistration(
            key: key,
            platform: .ios,
            environment: .production,
            token: token,
            attributes: JSONObject([(DeviceRegistration.sharingAttribute, .bool(true))]),
            tags: tags.compactMap { Tag($0) } + variants
        )
        return try await register(key, registration)
    }

    private func register(_ key: VendorDeviceKey, _ registration: DeviceRegistration) async throws -> Registered? {
        let statement = RegisterDevice(
            scope,
            key: key,
            registration,
            identity: IdentityID(rawValue: identifiers.uuid(at: now())),
            device: DeviceID(rawValue: identifiers.uuid(at: now())),
            at: now()
        )
        return try await run(statement)
    }
}
