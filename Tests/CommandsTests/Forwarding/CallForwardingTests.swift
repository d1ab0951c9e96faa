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

    /// The preferences of the device that the call registers are never refused, those of another one may be.
    @Test func aRegistrationWithPreferencesIsForwardedUnlessTheyAreRefused() async throws {
        let world = try await CommandWorld.make()
        func call(about key: VendorDeviceKey) -> [Command] {
            let caller = DeviceCaller(key: key)
            return [
                registration, .preference(.setPreferences(caller, PreferenceChange(acceptsPush: false))),
                .preference(.preferences(caller)),
            ]
        }
        var result = await world.handler.perform(call(about: "k1"), in: world.call, forwarding: forwarding("1"))
        guard case .preference(.preferences(let preferences))? = result.replies.last else {
            Issue.record("no preferences: \(result.replies)")
            return
        }
        #expect(!preferences.acceptsPush)
        #expect(try await waiting(world) == ["1"])
        result = await world.handler.perform(call(about: "nobody"), in: world.call, forwarding: forwarding("2"))
        #expect(result.replies.last == .refused(.unknownDevice))
        #expect(try await waiting(world) == ["1"])
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
        #expect(ForwardedSubject([members]) == ForwardedSubject(other: "g", outlivesErasure: true))
        #expect(ForwardedSubject([]) == ForwardedSubject())
    }

    /// Calls about the user who disappears arrive before.
    @Test func aMergeIsOrderedByTheUserWhoDisappears() {
        let alias = UserAlias(label: "mail", name: "a")
        let identify = Command.user(.identify([NamedUser(user: "u1", alias: alias)]))
        #expect(ForwardedSubject([identify]).user == UserName.alias(alias).text)
        let merge = Command.user(.merge([UserMerge(.id("u1"), into: .id("u2"))]))
        #expect(ForwardedSubject([merge]).user == "u1")
        let name = Command.user(.name([NamedUser(user: "u1", alias: alias)]))
        #expect(ForwardedSubject([name]).user == "u1")
    }

    /// Calls about several users, and those that remove something at the upstream, stay when their user is erased.
    @Test func callsAboutOthersAndRemovalsOutliveAnErasure() {
        func outlives(_ commands: [Command]) -> Bool { ForwardedSubject(commands).outlivesErasure }
        func patches(_ users: [UserName?]) -> Command {
            .user(.track(UserBatch(patches: users.map { UserPatch(user: $0) })))
        }
        let alias = UserAlias(label: "mail", name: "a")
        #expect(!outlives([registration]) && !outlives([patches([.id("u1"), .id("u1")])]) && !outlives([]))
        #expect(!outlives([.user(.name([NamedUser(user: "u1", alias: alias)]))]))
        #expect(!outlives([.group(.changeMembers("g", GroupChange(add: ["u1"])))]))
        #expect(outlives([patches([.id("u1"), .id("u2")])]))
        #expect(outlives([.user(.identify([NamedUser(user: "u1", alias: alias)]))]))
        #expect(outlives([.user(.merge([UserMerge(.id("u1"), into: .id("u2"))]))]))
        #expect(outlives([.user(.erase([.id("u1")]))]))
        #expect(outlives([.registration(.unregister(.key("k1")))]))
        #expect(outlives([.registration(.assign(key: "k1", .clear))]))
        #expect(!outlives([.registration(.assign(key: "k1", .set("u1")))]))
    }

    private func registering(_ key: VendorDeviceKey, token: Int?, user: UserID? = nil) -> Command {
        let token = token.map { DeviceToken(stored: String(repeating: "a", count: 60) + "\($0)") }
        return .registration(.register(DeviceRegistration(key: key, platform: .ios, token: token, user: user)))
    }

    /// A registration that cannot be part of a set is forwarded once, with its own transaction, and a refused one never. Each device keeps its order.
    @Test func registrationsThatMeetAreForwardedOnceEach() async throws {
        let world = try await CommandWorld.make()
        let numbers = 1...40
        for number in numbers where number % 4 == 1 {
            _ = await world.perform(registering(VendorDeviceKey("old\(number)"), token: number))
        }
        let refusedUser = UserID(String(repeating: "u", count: CommandLimits.nameBytes + 1))
        await withDiscardingTaskGroup { group in
            for number in numbers {
                let key = VendorDeviceKey("m\(number)")
                // One of four has no token and one takes that of another device, so that they run alone; the user of one cannot be stored.
                let command = registering(
                    key,
                    token: number % 4 == 0 ? nil : number,
                    user: number % 4 == 2 ? refusedUser : nil
                )
                let preferences = Command.preference(
                    .setPreferences(DeviceCaller(key: key), PreferenceChange(acceptsPush: true))
                )
                let commands = number % 3 == 0 ? [command] : [command, preferences]
                let orders = (1...3).map { forwarding("\(number).\($0)", ForwardedSubject(device: key)) }
                group.addTask {
                    for order in orders {
                        let result = await world.handler.perform(commands, in: world.call, forwarding: order)
                        let isRefused = result.replies.first == .refused(.invalid("user"))
                        #expect(isRefused == (number % 4 == 2), "\(number): \(result.replies)")
                    }
                }
            }
        }
        let bodies = try await waiting(world)
        #expect(bodies.count == 90)
        for number in numbers {
            let expected = number % 4 == 2 ? [] : (1...3).map { "\(number).\($0)" }
            #expect(bodies.filter { $0.hasPrefix("\(number).") } == expected)
        }
    }
}
