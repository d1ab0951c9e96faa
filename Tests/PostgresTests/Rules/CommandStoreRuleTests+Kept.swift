import Model
import Testing

@testable import Store

// Answers that are stored under a repeat key.
extension CommandStoreRuleTests {
    @Test func aRepeatKeyReturnsTheFirstAnswerOrAMismatchForAnotherBody() async throws {
        let world = try await RuleWorld.make()
        let (device, other) = (world.newKey(), world.newKey())
        let key = IdempotencyKey(key: world.identifiers.randomHex(byteCount: 8), bodyHash: "a")
        let answer = KeptAnswer(status: 201, body: [1, 2, 3])
        let first = try await world.registerOnce(device, key, answer)
        guard case .done(let registered) = first else { return fail("the first was not done: \(first)") }
        #expect(registered.key == device, "what the first registered")
        // Another operation under the same key and digest has no effect.
        let again = try await world.registerOnce(other, key, KeptAnswer(status: 200))
        #expect(again == .repeated(answer), "repeat")
        #expect(try await world.facts(other)?.state == nil, "what the repeat named")
        let changed = IdempotencyKey(key: key.key, bodyHash: "b")
        #expect(try await world.registerOnce(other, changed, answer) == .mismatch, "another body")
        #expect(try await world.facts(other)?.state == nil, "what the mismatch named")
    }

    @Test func anotherTenantsRepeatKeyIsAnotherKey() async throws {
        let world = try await RuleWorld.make()
        let key = IdempotencyKey(key: world.identifiers.randomHex(byteCount: 8), bodyHash: "a")
        let answer = KeptAnswer(status: 201)
        _ = try await world.registerOnce(world.newKey(), key, answer)
        let foreign = try await world.registerOnce(world.newKey(), key, answer, in: world.otherTenant)
        if case .done = foreign { return }
        Issue.record("the other tenant's first call: \(foreign)")
    }

    @Test func aWriteWithoutAnAnswerFreesItsKeyAndOneWithTooLongAnAnswerIsUndone() async throws {
        let world = try await RuleWorld.make()
        let (device, second) = (world.newKey(), world.newKey())
        let key = IdempotencyKey(key: world.identifiers.randomHex(byteCount: 8), bodyHash: "a")
        let long = KeptAnswer(status: 200, body: [UInt8](repeating: 0, count: KeptAnswer.limitBytes + 1))
        #expect(try await world.registerOnce(device, key, long) == .tooLarge, "too long an answer")
        #expect(try await world.facts(device)?.state == nil, "what it named")
        guard case .done = try await world.registerOnce(device, key, nil) else {
            return fail("no answer to store: not done")
        }
        guard case .done = try await world.registerOnce(second, key, KeptAnswer(status: 201)) else {
            return fail("the key was not free")
        }
        #expect(try await world.facts(second)?.state == .active, "what the key was used for")
    }
}

extension RuleWorld {
    /// One registration under a repeat key, answered with `answer`.
    func registerOnce(
        _ device: VendorDeviceKey,
        _ key: IdempotencyKey,
        _ answer: KeptAnswer?,
        in tenant: TenantID? = nil
    ) async throws -> Kept<Registered> {
        let operation = RegisterDevice(
            scope,
            key: device,
            DeviceRegistration(key: device, platform: .ios, token: newToken()),
            identity: IdentityID(rawValue: identifiers.uuid(at: now())),
            device: DeviceID(rawValue: identifiers.uuid(at: now())),
            at: now()
        )
        let request = StoreRequest(operation)
        return try await commands.run(request, in: tenant ?? self.tenant, keeping: Keep(key) { _ in answer })
    }
}
