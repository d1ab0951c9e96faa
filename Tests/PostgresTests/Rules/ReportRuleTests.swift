import DatabaseSupport
import DeliveryEngine
import Model
import Testing

@testable import Store

/// The rules of changes that depend on an earlier read, and of reports on messages.
@Suite struct ReportRuleTests {
    @Test func aRegistrationBasedOnAnOutdatedReadIsUndone() async throws {
        let world = try await RuleWorld.make()
        let key = world.newKey()
        let (first, second): (JSONObject, JSONObject) = (["b": 1, "a": "x\u{1}\"é"], ["a": 2])
        func write(_ attributes: JSONObject, expecting expected: JSONObject, user: UserID? = nil) async throws
            -> StoreError.Code?
        {
            var registration = DeviceRegistration(key: key, platform: .ios, attributes: attributes)
            registration.user = user
            let register = RegisterDevice(
                world.scope,
                key: key,
                registration,
                identity: IdentityID(rawValue: world.identifiers.uuid(at: world.now())),
                device: DeviceID(rawValue: world.identifiers.uuid(at: world.now())),
                at: world.now()
            )
            let condition = ExpectAttributes(world.scope, key: key, attributes: expected)
            do throws(StoreError) {
                _ = try await world.commands.run(condition, register, in: world.tenant)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(try await write(first, expecting: [:]) == .outdated, "not registered")
        #expect(try await world.standing(key) == nil, "nothing was done")
        _ = try await world.register(key, token: world.newToken())
        #expect(try await write(first, expecting: [:]) == nil, "as it was registered")
        #expect(try await world.standing(key)?.attributes == first, "what is read")
        #expect(try await world.standing(key)?.attributes.keys == first.keys, "in its order")
        #expect(try await write(second, expecting: ["b": 1], user: "late") == .outdated, "something else")
        #expect(try await world.standing(key)?.user == nil, "no effect of the call")
        #expect(try await write(second, expecting: first, user: "first") == nil, "what was read")
        #expect(try await write(first, expecting: first) == .outdated, "after a conflicting change")
        #expect(try await world.standing(key)?.attributes == second, "the first one's")
        _ = try await world.run(UnregisterDevices(world.scope, .key(key)))
        #expect(try await write(first, expecting: second) == .outdated, "an unregistered device")
    }

    @Test func aRegistrationStateReportsWhetherItsTokenIsValid() async throws {
        let world = try await RuleWorld.make()
        let (key, token) = (world.newKey(), world.newToken())
        _ = try await world.register(key)
        #expect(try await world.standing(key)?.tokenState == TokenState.none, "no token")
        _ = try await world.register(key, token: token)
        #expect(try await world.standing(key)?.tokenState == .active, "a token")
    }

    @Test func aReportCountsTheSettledDeliveriesOfItsScope() async throws {
        let world = try await RuleWorld.make()
        func report(_ message: MessageID, _ scope: AppScope, in tenant: TenantID? = nil) async throws
            -> MessageReport?
        {
            try await world.run(FindReport(scope, message), in: tenant)
        }
        var message = world.message(to: [])
        message.targets.slices = []
        for reason in [SuppressionReason.noDevice, .noDevice, .duplicate] {
            let target = TargetID(rawValue: world.identifiers.uuid(at: world.now()))
            message.targets.suppressed.append(
                SuppressedTarget(target: target, identity: nil, device: nil, address: nil, reason: reason)
            )
        }
        _ = try await world.accept(message)
        let found = try await report(message.id, world.scope)
        let tallies = [
            MessageReport.Tally(state: .suppressed, reason: "duplicate", count: 1),
            MessageReport.Tally(state: .suppressed, reason: "noDevice", count: 2),
        ]
        #expect(found?.tallies == tallies, "tallies")
        #expect(found?.state == .done, "state")
        #expect(found?.content.title == "t", "content")
        #expect(found?.acceptedAt == message.times.acceptedAt, "accepted")
        let open = world.message(to: [], claim: world.claim)
        _ = try await world.accept(open)
        #expect(try await report(open.id, world.scope)?.tallies == [], "nothing is settled")
        #expect(try await report(open.id, world.scope)?.firstAt == nil, "and nothing began")
        let other = AppScope(app: world.app, vendor: .upmc)
        #expect(try await report(message.id, other) == nil, "another dialect's")
        #expect(try await report(message.id, world.scope, in: world.otherTenant) == nil, "another tenant's")
    }
}
