import Commands
import Model

// Answers that are kept under a repeat key.
extension CommandStoreContract {
    static let kept = [
        ContractRule("the same repeat key acts once and gives the first answer, with another body a mismatch") {
            world in
            var findings = Findings()
            let (device, other) = (world.newKey(), world.newKey())
            let key = IdempotencyKey(key: world.identifiers.randomHex(byteCount: 8), bodyHash: "a")
            let answer = KeptAnswer(status: 201, body: [1, 2, 3])
            let first = try await world.registerOnce(device, key, answer)
            guard case .done(let answers) = first else { return ["the first was not done: \(first)"] }
            findings.equal(answers.count, 1, "answers of the first")
            // Another statement under the same key and digest: nothing of it happens.
            let again = try await world.registerOnce(other, key, KeptAnswer(status: 200))
            findings.equal(again, .repeated(answer), "repeat")
            findings.equal(try await world.facts(other)?.state, nil, "what the repeat named")
            let changed = IdempotencyKey(key: key.key, bodyHash: "b")
            findings.equal(try await world.registerOnce(other, changed, answer), .mismatch, "another body")
            findings.equal(try await world.facts(other)?.state, nil, "what the mismatch named")
            return findings.list
        },
        ContractRule("another tenant's repeat key is another key") { world in
            var findings = Findings()
            let key = IdempotencyKey(key: world.identifiers.randomHex(byteCount: 8), bodyHash: "a")
            let answer = KeptAnswer(status: 201)
            _ = try await world.registerOnce(world.newKey(), key, answer)
            let foreign = try await world.registerOnce(world.newKey(), key, answer, in: world.otherTenant)
            if case .done = foreign { return findings.list }
            findings.expect(false, "the other tenant's first call: \(foreign)")
            return findings.list
        },
        ContractRule("an act without an answer leaves its key free, one with too long an answer is undone") { world in
            var findings = Findings()
            let (device, second) = (world.newKey(), world.newKey())
            let key = IdempotencyKey(key: world.identifiers.randomHex(byteCount: 8), bodyHash: "a")
            let long = KeptAnswer(status: 200, body: [UInt8](repeating: 0, count: KeptAnswer.limitBytes + 1))
            findings.equal(try await world.registerOnce(device, key, long), .tooLarge, "too long an answer")
            findings.equal(try await world.facts(device)?.state, nil, "what it named")
            guard case .done = try await world.registerOnce(device, key, nil) else {
                return ["nothing to keep: not done"]
            }
            guard case .done = try await world.registerOnce(second, key, KeptAnswer(status: 201)) else {
                return ["the key was not free"]
            }
            findings.equal(try await world.facts(second)?.state, .active, "what the key was used for")
            return findings.list
        },
    ]
}

extension ContractWorld {
    /// One registration under a repeat key, answered with `answer`.
    func registerOnce(
        _ device: VendorDeviceKey,
        _ key: IdempotencyKey,
        _ answer: KeptAnswer?,
        in tenant: TenantID? = nil
    ) async throws -> Kept<[StoreAnswer]> {
        let statement = StoreStatement.register(
            scope,
            key: device,
            DeviceRegistration(key: device, platform: .ios, token: newToken()),
            identity: IdentityID(rawValue: identifiers.uuid(at: now())),
            device: DeviceID(rawValue: identifiers.uuid(at: now())),
            at: now()
        )
        return try await commands.run([statement], in: tenant ?? self.tenant, keeping: Keep(key) { _ in answer })
    }
}
