import Commands
import Model
import Store
import Testing

/// Acts of the native API on devices and users.
@Suite struct DeviceActTests {
    // The second call has the same repeat key: it gets the first answer and changes nothing.
    @Test func aRepeatedChangeIsMadeOnce() async throws {
        let world = try await CommandWorld.make()
        let device = try await world.register("k1", user: "kim")
        let keep = Keep<DeviceFacts?>(IdempotencyKey(key: "once", bodyHash: "h")) { facts in
            facts.map { KeptAnswer(status: 200, body: Array(($0.identities.first?.name ?? "").utf8)) }
        }
        var outcomes: [Kept<DeviceFacts?>] = []
        for name in ["first", "second"] {
            let request = DeviceChangeRules.change(device, DevicePatch(name: name))
            outcomes.append(try await world.handler.run(request, in: world.tenant, keeping: keep))
        }
        guard case .done(let facts?) = outcomes[0] else { throw TestProblem() }
        #expect(facts.identities.map(\.name) == ["first"])
        #expect(outcomes[1] == .repeated(KeptAnswer(status: 200, body: Array("first".utf8))))
    }

    // A vendor erases a user of its own dialect; the native API erases the user of every dialect.
    @Test func anErasureReachesOneDialectOrAll() async throws {
        let world = try await CommandWorld.make()
        _ = try await world.register("k1", user: "kim")
        _ = try await world.register("k2", user: "kim", vendor: .ipns)
        func erase(_ reach: ErasureRules.Reach) async throws -> Int {
            try await world.handler.run(ErasureRules.erase(["kim"], reach, by: "test"), in: world.tenant)
        }
        #expect(try await erase(.dialect(AppScope(app: "shop", vendor: .braze))) == 0)
        #expect(try await erase(.dialect(world.scope)) == 1)
        #expect(try await erase(.everywhere) == 1)
        #expect(try await erase(.everywhere) == 0)
    }

    private struct TestProblem: Error {}
}

extension CommandWorld {
    fileprivate func register(_ key: VendorDeviceKey, user: UserID, vendor: Vendor = .rationalOwl) async throws
        -> DeviceID
    {
        let registration = DeviceRegistration(key: key, platform: .ios, user: user)
        var call = call
        call.vendor = vendor
        let reply = await handler.perform([.registration(.register(registration))], in: call).replies[0]
        guard case .registration(.registered(let registered)) = reply else { throw StoreError(.failed, "\(reply)") }
        return registered.device
    }
}
