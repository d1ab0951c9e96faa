import Commands
import DatabaseSupport
import Model
import PostgresClient
import TestKit
import Testing

/// A call is forwarded with the transaction that completes it, and only if nothing is refused.
@Suite struct CallForwardingTests {
    private func forwarding(
        _ body: String,
        _ subject: ForwardedSubject = ForwardedSubject(device: "k1"),
        isComplete: (@Sendable ([Reply]) -> Bool)? = nil
    ) -> CallForwarding {
        CallForwarding(
            ForwardedCall(
                app: "shop",
                vendor: .rationalOwl,
                upstream: "old",
                kind: .device,
                name: "installApp",
                method: "POST",
                path: "/",
                body: Array(body.utf8)
            ),
            about: subject,
            isComplete: isComplete
        )
    }

    private func waiting(_ world: CommandWorld) async throws -> [String] {
        let rows = try await world.stores.database.admin().query(
            """
            SELECT convert_from(o.body, 'UTF8') AS body FROM gateway.outbox o WHERE o.tenant_id = $1
            ORDER BY o.called_at, o.no
            """,
            [.text(world.tenant.rawValue)]
        )
        return try rows.map { try $0.text("body") }
    }

    private var registration: Command {
        let token = DeviceToken(stored: String(repeating: "a", count: 64))
        return .registration(.register(DeviceRegistration(key: "k1", platform: .ios, token: token)))
    }

    @Test func aRegistrationIsForwarded() async throws {
        let world = try await CommandWorld.make()
        let result = await world.handler.perform([registration], in: world.call, forwarding: forwarding("1"))
        guard case .registration(.registered)? = result.replies.first else {
            Issue.record("not registered: \(result.replies)")
            return
        }
        #expect(try await waiting(world) == ["1"])
    }

    @Test func aRefusedCallIsNotForwarded() async throws {
        let world = try await CommandWorld.make()
        let token = try #require(DeviceToken(apns: "aa01"))
        let unknown = Command.registration(.updateToken(key: "nobody", token: token, environment: nil))
        var result = await world.handler.perform([unknown], in: world.call, forwarding: forwarding("1"))
        #expect(result.replies == [.refused(.unknownDevice)])
        // One refused command of several is enough.
        result = await world.handler.perform([registration, unknown], in: world.call, forwarding: forwarding("2"))
        #expect(result.replies.last == .refused(.unknownDevice))
        #expect(try await waiting(world).isEmpty)
    }

    @Test func aCallOfSeveralStepsIsForwardedWithTheLastOne() async throws {
        let world = try await CommandWorld.make()
        let standing = Command.registration(.standing(key: "k1"))
        let isLast: @Sendable ([Reply]) -> Bool = { replies in
            if case .registration(.registered)? = replies.first { true } else { false }
        }
        _ = await world.handler.perform([standing], in: world.call, forwarding: forwarding("1", isComplete: isLast))
        #expect(try await waiting(world).isEmpty)
        _ = await world.handler.perform([registration], in: world.call, forwarding: forwarding("2", isComplete: isLast))
        #expect(try await waiting(world) == ["2"])
    }

    @Test func aCallWithoutCommandsIsForwarded() async throws {
        let world = try await CommandWorld.make()
        let result = await world.handler.perform([], in: world.call, forwarding: forwarding("1"))
        #expect(result.replies.isEmpty)
        #expect(try await waiting(world) == ["1"])
    }

    @Test func aCallAboutUsersIsForwardedWithItsLastTransaction() async throws {
        let world = try await CommandWorld.make()
        let erase = Command.user(.erase([.id("u1")]))
        let result = await world.handler.perform(
            [registration, erase],
            in: world.call,
            forwarding: forwarding("1", ForwardedSubject(user: "u1"))
        )
        #expect(result.replies.last == .user(.erased(0)))
        #expect(try await waiting(world) == ["1"])
    }

    @Test func theSubjectIsTheFirstUserAndTheFirstDevice() throws {
        let token = try #require(DeviceToken(apns: "aa01"))
        #expect(ForwardedSubject([registration]).device == "k1")
        let acknowledged = Command.receipt(
            .acknowledge(.read, reference: "1", BadgeHolder(token: token, user: "u1"), nil)
        )
        #expect(ForwardedSubject([acknowledged]) == ForwardedSubject(user: "u1", other: token.text))
        #expect(ForwardedSubject([.user(.erase([.id("u2"), .id("u3")]))]).user == "u2")
        let members = Command.group(.changeMembers("g", GroupChange(add: ["u1", "u2"])))
        #expect(ForwardedSubject([members]) == ForwardedSubject(other: "g"))
        #expect(ForwardedSubject([]) == ForwardedSubject())
    }
}
