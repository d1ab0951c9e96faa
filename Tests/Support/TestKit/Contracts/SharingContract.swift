import Commands
import Model

/// The rules of identities of one dialect that share a device, and of lists of identities.
enum SharingContract {
    /// Of `CommandStore`.
    static let commands = [
        ContractRule("those who share a device take nobody's place, and nobody takes theirs") { world in
            var findings = Findings()
            let token = world.newToken()
            let (plain, first, second, later) = (world.newKey(), world.newKey(), world.newKey(), world.newKey())
            _ = try await world.register(plain, token: token)
            findings.equal(try await world.share(first, token)?.replaced, [], "replaced by the first")
            findings.equal(try await world.share(second, token)?.replaced, [], "replaced by the second")
            findings.equal(try await world.standing(plain)?.state, .active, "who was there before")
            let replaced = try await world.register(later, token: token)?.replaced.count
            findings.equal(replaced, 1, "replaced by one that does not share")
            for key in [first, second, later] {
                findings.equal(try await world.standing(key)?.state, .active, "\(key)")
            }
            let moved = world.newToken()
            _ = try await world.share(first, moved)
            findings.equal(try await world.standing(first)?.token, moved, "the new token of one")
            findings.equal(try await world.standing(second)?.token, token, "the others' token")
            _ = try await world.run(.unregister(world.scope, .key(second), at: world.now()))
            _ = try await world.run(.unregister(world.scope, .key(later), at: world.now()))
            findings.equal(try await world.standing(second)?.token, nil, "a token that nobody uses")
            return findings.list
        },
        ContractRule("lists show who can be reached, by token, by tag, page by page") { world in
            var findings = Findings()
            let keys = [world.newKey(), world.newKey(), world.newKey()].sorted { $0.rawValue < $1.rawValue }
            let token = world.newToken()
            _ = try await world.share(keys[0], token, tags: ["seoul"])
            _ = try await world.share(keys[1], token, tags: ["busan"], variantTags: ["seoul"])
            _ = try await world.share(keys[2], world.newToken())
            func list(_ filter: IdentityFilter, from: VendorDeviceKey? = nil, limit: Int = 10) async throws
                -> [VendorDeviceKey]
            {
                let asked = StoreStatement.identities(world.scope, filter, from: from, limit: limit)
                guard case .identities(let found)? = try await world.run(asked) else { return [] }
                return found.map(\.key)
            }
            let all = try await list(.all, limit: 1000).filter { keys.contains($0) }
            findings.equal(all, keys, "all")
            findings.equal(try await list(.all, from: keys[1], limit: 1), [keys[1]], "a page")
            findings.equal(try await list(.token(token)), [keys[0], keys[1]], "of a token")
            if let tag = Tag("Seoul") {
                let tagged = try await list(.tag(tag), limit: 1000).filter { keys.contains($0) }
                findings.equal(tagged, [keys[0], keys[1]], "with a tag")
            }
            let other = StoreStatement.identities(world.scope, .token(token), from: nil, limit: 10)
            findings.equal(try await world.run(other, in: world.otherTenant), .identities([]), "another tenant's")
            _ = try await world.run(.unregister(world.scope, .key(keys[0]), at: world.now()))
            findings.equal(try await list(.token(token)), [keys[1]], "after one has left")
            return findings.list
        },
    ]
}

extension ContractWorld {
    /// Registers one that ends by itself.
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

    /// Registers one that shares its device.
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
        let statement = StoreStatement.register(
            scope,
            key: key,
            registration,
            identity: IdentityID(rawValue: identifiers.uuid(at: now())),
            device: DeviceID(rawValue: identifiers.uuid(at: now())),
            at: now()
        )
        guard case .registered(let registered)? = try await run(statement) else { return nil }
        return registered
    }
}
