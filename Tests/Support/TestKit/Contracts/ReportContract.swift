import Commands
import DeliveryEngine
import Model

/// The rules of what is read before it is changed, and of what became of messages.
enum ReportContract {
    /// Of `CommandStore`.
    static let commands = [
        ContractRule("what a registration builds on must still be so, else nothing of the call is done") { world in
            var findings = Findings()
            let key = world.newKey()
            let (first, second): (JSONObject, JSONObject) = (["b": 1, "a": "x\u{1}\"é"], ["a": 2])
            func write(_ attributes: JSONObject, expecting expected: JSONObject, user: UserID? = nil) async throws
                -> StoreError.Code?
            {
                var registration = DeviceRegistration(key: key, platform: .ios, attributes: attributes)
                registration.user = user
                let statements: [StoreStatement] = [
                    .expect(world.scope, key: key, attributes: expected),
                    .register(
                        world.scope,
                        key: key,
                        registration,
                        identity: IdentityID(rawValue: world.identifiers.uuid(at: world.now())),
                        device: DeviceID(rawValue: world.identifiers.uuid(at: world.now())),
                        at: world.now()
                    ),
                ]
                do throws(StoreError) {
                    _ = try await world.commands.run(statements, in: world.tenant)
                    return nil
                } catch {
                    return error.code
                }
            }
            findings.equal(try await write(first, expecting: [:]), .outdated, "nobody is there")
            findings.equal(try await world.standing(key), nil, "nothing was done")
            _ = try await world.register(key, token: world.newToken())
            findings.equal(try await write(first, expecting: [:]), nil, "as it was registered")
            findings.equal(try await world.standing(key)?.attributes, first, "what is read")
            findings.equal(try await world.standing(key)?.attributes.keys, first.keys, "in its order")
            findings.equal(try await write(second, expecting: ["b": 1], user: "late"), .outdated, "something else")
            findings.equal(try await world.standing(key)?.user, nil, "nothing of the call")
            findings.equal(try await write(second, expecting: first, user: "first"), nil, "what was read")
            findings.equal(try await write(first, expecting: first), .outdated, "who was overtaken")
            findings.equal(try await world.standing(key)?.attributes, second, "the first one's")
            _ = try await world.run(.unregister(world.scope, .key(key), at: world.now()))
            findings.equal(try await write(first, expecting: second), .outdated, "who has left")
            return findings.list
        },
        ContractRule("a standing says whether its token is good") { world in
            var findings = Findings()
            let (key, token) = (world.newKey(), world.newToken())
            _ = try await world.register(key)
            findings.equal(try await world.standing(key)?.tokenState, TokenState.none, "no token")
            _ = try await world.register(key, token: token)
            findings.equal(try await world.standing(key)?.tokenState, .active, "a token")
            return findings.list
        },
        ContractRule("a report counts what is settled, of the scope's own messages") { world in
            var findings = Findings()
            func report(_ message: MessageID, _ scope: AppScope, in tenant: TenantID? = nil) async throws
                -> MessageReport?
            {
                guard case .report(let report)? = try await world.run(.report(scope, message), in: tenant) else {
                    return nil
                }
                return report
            }
            var message = world.message(to: [])
            message.slices = []
            for reason in [SuppressionReason.noDevice, .noDevice, .duplicate] {
                let target = TargetID(rawValue: world.identifiers.uuid(at: world.now()))
                message.suppressed.append(
                    SuppressedTarget(target: target, identity: nil, device: nil, address: nil, reason: reason)
                )
            }
            _ = try await world.accept(message)
            let found = try await report(message.id, world.scope)
            let tallies = [
                MessageReport.Tally(state: .suppressed, reason: "duplicate", count: 1),
                MessageReport.Tally(state: .suppressed, reason: "noDevice", count: 2),
            ]
            findings.equal(found?.tallies, tallies, "tallies")
            findings.equal(found?.state, .done, "state")
            findings.equal(found?.content.title, "t", "content")
            findings.equal(found?.acceptedAt, message.acceptedAt, "accepted")
            let open = world.message(to: [], claim: world.claim)
            _ = try await world.accept(open)
            findings.equal(try await report(open.id, world.scope)?.tallies, [], "nothing is settled")
            findings.equal(try await report(open.id, world.scope)?.firstAt, nil, "and nothing began")
            let other = AppScope(app: world.app, vendor: .upmc)
            findings.equal(try await report(message.id, other), nil, "another dialect's")
            findings.equal(try await report(message.id, world.scope, in: world.otherTenant), nil, "another tenant's")
            return findings.list
        },
    ]
}
