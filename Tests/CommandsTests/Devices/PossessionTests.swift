import Commands
import DatabaseSupport
import EngineStore
import Foundation
import Model
import PostgresClient
import Store
import TestKit
import Testing

/// Devices that show, by the answer to a nonce, that they have their push token.
@Suite struct PossessionTests {
    private static let nonce = [UInt8](repeating: 7, count: 32)

    @Test func theAnswerRaisesAClaimOnce() async throws {
        let world = try await CommandWorld.make()
        let device = try await world.claim("k1", user: "kim", token: "a")
        let other = try await world.claim("k2", user: "kim", token: "b")
        #expect(try await world.challenge(device)?.token == CommandWorld.pushToken("a"))
        #expect(try await world.answer([1]) == false, "a wrong nonce")
        #expect(try await world.assurance(device) == .claimed)
        #expect(try await world.answer(Self.nonce))
        #expect(try await world.assurance(device) == .possession)
        #expect(try await world.assurance(other) == .claimed)
        #expect(try await world.answer(Self.nonce) == false, "a nonce is used once")
        let events = try await world.stores.queries.events(in: world.tenant, after: 0, limit: 100).events
        #expect(events.filter { $0.kind == "possession" }.map(\.subject.identity) == [device.identity])
        let audit = try await world.stores.audit.entries(in: world.tenant, after: 0, limit: 10)
        let proofs = audit.filter { $0.action == "prove_possession" }
        #expect(proofs.map(\.actor) == ["device"] && proofs.map(\.subject) == ["identity \(device.identity)"])
    }

    @Test func aNonceEndsAndIsReplaced() async throws {
        let world = try await CommandWorld.make()
        let device = try await world.claim("k1", user: "kim", token: "a")
        _ = try await world.challenge(device, at: world.clock.now() + .seconds(-601))
        #expect(try await world.answer(Self.nonce) == false, "ten minutes have passed")
        _ = try await world.challenge(device, [1, 2], at: world.clock.now() + .seconds(-11))
        // Each challenge is a push: another one follows after ten seconds.
        #expect(try await world.challenge(device)?.waitSeconds == nil)
        #expect((1...10).contains(try await world.challenge(device, [3])?.waitSeconds ?? 0))
        #expect(try await world.answer([1, 2]) == false, "another challenge replaced it")
        #expect(try await world.answer(Self.nonce))
        #expect(try await world.assurance(device) == .possession)
    }

    @Test func aChangedTokenVoidsTheNonce() async throws {
        let world = try await CommandWorld.make()
        let device = try await world.claim("k1", user: "kim", token: "a")
        _ = try await world.challenge(device)
        _ = try await world.claim("k1", user: "kim", token: "b")
        #expect(try await world.answer(Self.nonce) == false)
        _ = try await world.claim("k1", user: "kim", token: "a")
        #expect(try await world.answer(Self.nonce) == false, "it is used up")
        #expect(try await world.assurance(device) == .claimed)
    }

    @Test func anIdentityThatChangedItsUserMeanwhileStaysAClaim() async throws {
        let world = try await CommandWorld.make()
        let device = try await world.claim("k1", user: "kim", token: "a")
        let neighbour = try await world.claim("b1", user: "kim", token: "a", vendor: .braze)
        #expect(neighbour.device == device.device)
        _ = try await world.challenge(device, at: world.clock.now())
        world.clock.advance(by: .seconds(1))
        _ = try await world.claim("k1", user: "lee", token: "a")
        #expect(try await world.answer(Self.nonce))
        #expect(try await world.assurance(device) == .claimed)
        #expect(try await world.assurance(neighbour) == .possession)
    }

    @Test(arguments: [Assurance.vouched, .pending])
    func otherLevelsStay(_ level: Assurance) async throws {
        let world = try await CommandWorld.make()
        let device = try await world.claim("k1", user: "kim", token: "a")
        try await world.set(device, to: level)
        _ = try await world.challenge(device)
        #expect(try await world.answer(Self.nonce))
        #expect(try await world.assurance(device) == level)
    }

    // A level that was raised between the push and the answer is not lowered.
    @Test func aVouchBeforeTheAnswerStays() async throws {
        let world = try await CommandWorld.make()
        let device = try await world.claim("k1", user: "kim", token: "a")
        _ = try await world.challenge(device)
        try await world.set(device, to: .vouched)
        #expect(try await world.answer(Self.nonce))
        #expect(try await world.assurance(device) == .vouched)
    }

    @Test func anotherTokenEndsTheLevelOfAllIdentitiesOfTheDevice() async throws {
        let world = try await CommandWorld.make()
        for vendor in [Vendor.rationalOwl, .braze] {
            let device = try await world.claim(VendorDeviceKey("k-\(vendor)"), user: "kim", token: "a\(vendor)")
            let neighbour = try await world.claim(
                VendorDeviceKey("u-\(vendor)"),
                user: "kim",
                token: "a\(vendor)",
                vendor: .upmc
            )
            _ = try await world.challenge(device)
            #expect(try await world.answer(Self.nonce))
            #expect(try await world.assurance(neighbour) == .possession)
            if vendor == .braze {
                let update = RegistrationCommand.updateToken(
                    key: VendorDeviceKey("k-\(vendor)"),
                    token: CommandWorld.pushToken("c"),
                    environment: nil
                )
                #expect(await world.registration(update) != nil)
            } else {
                _ = try await world.claim(VendorDeviceKey("k-\(vendor)"), user: "kim", token: "b\(vendor)")
            }
            #expect(try await world.assurance(device) == .claimed, "\(vendor)")
            #expect(try await world.assurance(neighbour) == .claimed, "\(vendor)")
        }
    }

    @Test func aRepeatedRegistrationKeepsTheLevelAndAnotherUserEndsIt() async throws {
        let world = try await CommandWorld.make()
        let device = try await world.claim("k1", user: "kim", token: "a")
        _ = try await world.challenge(device)
        #expect(try await world.answer(Self.nonce))
        _ = try await world.claim("k1", user: "kim", token: "a")
        #expect(try await world.assurance(device) == .possession)
        _ = try await world.claim("k1", user: "lee", token: "a")
        #expect(try await world.assurance(device) == .claimed)
    }

    @Test func aDeviceWithoutATokenHasNoChallenge() async throws {
        let world = try await CommandWorld.make()
        let device = try await world.claim("k1", user: "kim", token: nil)
        let started = try await world.challenge(device)
        #expect(started != nil && started?.token == nil)
        #expect(try await world.answer(Self.nonce) == false)
        let unknown = PossessionRules.start(DeviceID(UUID()), digest: Self.nonce, at: world.clock.now())
        #expect(try await world.handler.run(unknown, in: world.tenant) == nil)
    }

    @Test func theTenantIsFoundByTheNonce() async throws {
        let world = try await CommandWorld.make()
        let device = try await world.claim("k1", user: "kim", token: "a")
        let nonce = Array(world.tenant.rawValue.utf8)
        _ = try await world.challenge(device, nonce, at: world.clock.now() + .seconds(-601))
        #expect(try await world.stores.directory.tenant(ofChallenge: nonce) == nil)
        _ = try await world.challenge(device, nonce)
        #expect(try await world.stores.directory.tenant(ofChallenge: nonce) == world.tenant)
    }
}

extension CommandWorld {
    fileprivate static func pushToken(_ text: String) -> DeviceToken {
        DeviceToken(stored: TestIdentifiers().sha256(Array(text.utf8)))
    }

    fileprivate func claim(
        _ key: VendorDeviceKey,
        user: UserID,
        token: String?,
        vendor: Vendor = .rationalOwl
    ) async throws -> Registered {
        var call = call
        call.vendor = vendor
        let registration = DeviceRegistration(
            key: key,
            platform: .ios,
            token: token.map(Self.pushToken),
            user: user
        )
        let reply = await handler.perform([.registration(.register(registration))], in: call).replies[0]
        guard case .registration(.registered(let registered)) = reply else { throw StoreError(.failed, "\(reply)") }
        return registered
    }

    fileprivate func challenge(
        _ device: Registered,
        _ digest: [UInt8] = [UInt8](repeating: 7, count: 32),
        at time: Timestamp? = nil
    ) async throws -> ChallengedDevice? {
        let request = PossessionRules.start(device.device, digest: digest, at: time ?? clock.now())
        return try await handler.run(request, in: tenant)
    }

    fileprivate func answer(_ digest: [UInt8]) async throws -> Bool {
        try await handler.run(PossessionRules.answer(digest: digest), in: tenant)
    }

    fileprivate func assurance(_ registered: Registered) async throws -> Assurance? {
        let device = try await stores.devices.device(registered.device, in: tenant)
        return device?.identities.first { $0.id == registered.identity }?.assurance
    }

    fileprivate func set(_ registered: Registered, to level: Assurance) async throws {
        let sql = """
            UPDATE gateway.identity SET assurance = \(level.rank)
            WHERE tenant_id = $1 AND identity_id = $2 RETURNING identity_id
            """
        _ = try await stores.engine.run(Statement(sql, [.id(tenant), .id(registered.identity)]), tenant: nil)
    }
}
