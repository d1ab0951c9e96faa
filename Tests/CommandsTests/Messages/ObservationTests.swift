import Commands
import DatabaseSupport
import DeliveryEngine
import EngineStore
import Model
import Store
import TestKit
import Testing

/// Messages, groups and back ends of an upstream.
@Suite struct ObservationTests {
    private static let text = Content(body: "b")

    private func observe(
        _ world: CommandWorld,
        _ message: ObservedMessage,
        from upstream: CredentialID? = "old"
    ) async -> Reply? {
        var message = message
        message.upstream = upstream
        return await world.reply(.submission(.observe(message)))
    }

    /// Whether the message was new; nil: it was refused.
    private func isNew(_ reply: Reply?) -> Bool? {
        guard case .submission(.observed(let isNew, _)) = reply else { return nil }
        return isNew
    }

    private func message(_ world: CommandWorld, _ reference: String) async throws -> MessageFacts? {
        try await world.stores.queries.message(reference, in: world.tenant)
    }

    private func deliveries(_ world: CommandWorld, _ message: MessageID) async throws -> [DeliverySnapshot] {
        try await world.stores.queries.deliveries(of: message, in: world.tenant, limit: 10).map(\.snapshot)
    }

    private func receipt(
        _ world: CommandWorld,
        _ message: String,
        _ key: VendorDeviceKey = "k1",
        _ kind: ReceiptKind = .received
    ) async -> Reply? {
        await world.reply(.receipt(.report(kind, message: message, reporter: Reporter(key: key), at: nil)))
    }

    @Test func aMessageToNamedDevicesHasTheirDeliveries() async throws {
        let world = try await CommandWorld.make()
        let device = try #require(await world.device("k1"))
        let addressees = ["k1", "k9", "no"].map { Addressee(.deviceKey(VendorDeviceKey($0))) }
        let submission = Submission(content: Self.text, audience: .listed(addressees))
        let observed = ObservedMessage(submission, references: ["m-1"], unknown: [.deviceKey("no")])
        let first = await observe(world, observed)
        // One of the two that the upstream knows can be reached here.
        #expect(first == .submission(.observed(isNew: true, reach: ObservedReach(known: 2, reachable: 1))))
        let found = try #require(try await message(world, "m-1"))
        #expect(found.state == .observed)
        let rows = try await deliveries(world, found.id)
        #expect(rows.map(\.state) == [.sent, .sent])
        #expect(Set(rows.map(\.identity)) == [device.identity, nil])
        // A repetition is the same message.
        let second = await observe(world, observed)
        #expect(isNew(second) == false)
        // Nothing is left to send, and nothing can be controlled.
        let control = SubmissionCommand.control(.cancel, message: found.id.description)
        #expect(await world.reply(.submission(control)) == .submission(.controlled(false)))
    }

    @Test func receiptsFindAMessageByTheUpstreamsName() async throws {
        let world = try await CommandWorld.make()
        await world.device("k1")
        let names = ["m-2", "3f0c2c1e-0a55-4f6e-9a3c-5d2b9a1e7c11"]
        for name in names {
            let submission = Submission(content: Self.text, audience: .listed([Addressee(.deviceKey("k1"))]))
            _ = await observe(world, ObservedMessage(submission, references: [name]))
            #expect(await receipt(world, name) == .receipt(.recorded))
            #expect(await receipt(world, name, "k1", .read) == .receipt(.recorded))
            #expect(await receipt(world, name) == .receipt(.repeated))
            let id = try #require(try await message(world, name)).id
            #expect(try await deliveries(world, id).map(\.state) == [.read])
        }
        #expect(await receipt(world, "m-3") == .receipt(.orphan))
    }

    // The upstream alone knew whom it pushed to.
    @Test func aMessageToAnAudienceHasTheDeliveriesThatAreReported() async throws {
        let world = try await CommandWorld.make()
        await world.device("k1", digit: "a")
        await world.device("k2", digit: "b")
        let submission = Submission(content: Self.text, audience: .everyone)
        _ = await observe(world, ObservedMessage(submission, references: ["m-4"]))
        let id = try #require(try await message(world, "m-4")).id
        #expect(try await deliveries(world, id).isEmpty)
        #expect(await receipt(world, "m-4", "k2") == .receipt(.recorded))
        #expect(await receipt(world, "m-4", "k2") == .receipt(.repeated))
        #expect(await receipt(world, "m-4", "unknown") == .receipt(.orphan))
        #expect(try await deliveries(world, id).map(\.state) == [.received])
    }

    // The upstream's groups, and the devices of its tokens, may be others than those that are known here.
    @Test func aMessageToGroupsOrTokensHasTheDeliveriesThatAreReported() async throws {
        let world = try await CommandWorld.make()
        await world.device("k1", digit: "a")
        let token = try #require(DeviceToken(apns: String(repeating: "b", count: 64)))
        var tokens = Submission(content: Self.text, audience: .everyone)
        tokens.numbering = Numbering(tokens: [token])
        var groups = Submission(content: Self.text, audience: .groups(["31"]))
        groups.numbering = Numbering(tokens: [token])
        for (name, submission) in [("m-10", tokens), ("m-11", groups)] {
            let reply = await observe(world, ObservedMessage(submission, references: [name]))
            #expect(isNew(reply) == true)
            let id = try #require(try await message(world, name)).id
            #expect(try await deliveries(world, id).isEmpty)
            #expect(await receipt(world, name) == .receipt(.recorded))
            #expect(try await deliveries(world, id).map(\.state) == [.received])
        }
    }

    // A device may register here after the upstream has sent to it.
    @Test func aTargetThatWasNotKnownHasTheReceiptOfItsDevice() async throws {
        let world = try await CommandWorld.make()
        await world.device("k1", digit: "a")
        let addressees = ["k1", "k9"].map { Addressee(.deviceKey(VendorDeviceKey($0))) }
        let submission = Submission(content: Self.text, audience: .listed(addressees))
        _ = await observe(world, ObservedMessage(submission, references: ["m-12"]))
        await world.device("k8", digit: "b")
        await world.device("k9", digit: "c")
        #expect(await receipt(world, "m-12", "k9") == .receipt(.recorded))
        #expect(await receipt(world, "m-12", "k9") == .receipt(.repeated))
        // One that the call does not name has no delivery.
        #expect(await receipt(world, "m-12", "k8") == .receipt(.orphan))
        let id = try #require(try await message(world, "m-12")).id
        let states = try await deliveries(world, id).map(\.state.rawValue).sorted()
        #expect(states == ["received", "sent"])
    }

    // A receipt that belongs to no delivery leaves the badge unchanged.
    @Test func aReceiptByNumberOfATargetThatWasNotKnownChangesItsBadge() async throws {
        let world = try await CommandWorld.make()
        let submission = Submission(content: Self.text, audience: .listed([Addressee(.deviceKey("k9"))]))
        _ = await observe(world, ObservedMessage(submission, references: ["m-13"]))
        func read(_ key: VendorDeviceKey) async -> Reply? {
            let holder = BadgeHolder(key: key)
            return await world.reply(.receipt(.acknowledge(.read, reference: "m-13", holder, .keep)))
        }
        for (name, digit) in [("k8", "b"), ("k9", "c")] {
            let key = VendorDeviceKey(name)
            await world.device(key, digit: digit)
            #expect(await world.reply(.badge(.set(3, of: BadgeHolder(key: key)))) == .badge(.count(3)))
        }
        #expect(await read("k8") == .receipt(.acknowledged(isKnown: false, badge: 3)))
        for _ in 1...2 { #expect(await read("k9") == .receipt(.acknowledged(isKnown: true, badge: 2))) }
        let id = try #require(try await message(world, "m-13")).id
        #expect(try await deliveries(world, id).map(\.state) == [.read])
    }

    // It may still be changed or cancelled at the upstream.
    @Test func aMessageThatIsDueLaterHasNoDeliveriesYet() async throws {
        let world = try await CommandWorld.make()
        await world.device("k1")
        let submission = Submission(
            content: Self.text,
            audience: .listed([Addressee(.deviceKey("k1"))]),
            timing: SubmissionTiming(dueAt: world.clock.now() + .seconds(3600))
        )
        _ = await observe(world, ObservedMessage(submission, references: ["m-5"]))
        let id = try #require(try await message(world, "m-5")).id
        #expect(try await deliveries(world, id).isEmpty)
    }

    @Test func theOwnerOfAMessageIsKnown() async throws {
        let world = try await CommandWorld.make()
        await world.device("k1")
        let own = try #require(world.messageID(await world.submit(.text(to: "01011111111"))))
        let submission = Submission(content: Self.text, audience: .everyone)
        _ = await observe(world, ObservedMessage(submission, references: ["m-6"]))
        _ = await observe(world, ObservedMessage(submission, references: ["m-7"], hasPaidFallback: true), from: "new")
        func owner(_ reference: String) async throws -> MessageOwner {
            try await world.handler.owner(of: reference, in: world.scope, of: world.tenant)
        }
        #expect(try await owner(own.description) == .gateway)
        #expect(try await owner("m-6") == .upstream("old", hasPaidFallback: false))
        #expect(try await owner("m-7") == .upstream("new", hasPaidFallback: true))
        #expect(try await owner("m-8") == .unknown)
        #expect(try await owner(String(repeating: "x", count: 500)) == .unknown)
    }

    @Test func aMessageWithoutAnUpstreamOrWithContentThatCannotBeStoredIsRefused() async throws {
        let world = try await CommandWorld.make()
        let submission = Submission(content: Self.text, audience: .everyone)
        let observed = ObservedMessage(submission, references: ["m-9"])
        #expect(await observe(world, observed, from: nil) == .refused(.unsupported("observe")))
        let long = Submission(content: Content(body: String(repeating: "x", count: 100_000)), audience: .everyone)
        #expect(await observe(world, ObservedMessage(long, references: ["m-9"])) == .refused(.invalid("content")))
    }

    @Test func groupsAndBackEndsHaveTheUpstreamsNames() async throws {
        let world = try await CommandWorld.make()
        let group = TitledGroup(name: "31", title: "vip")
        #expect(await world.reply(.group(.adopt(group))) == .group(.put(isNew: true)))
        // An empty title keeps the stored one.
        #expect(await world.reply(.group(.adopt(TitledGroup(name: "31", title: "")))) == .group(.put(isNew: false)))
        #expect(await world.reply(.group(.list(nil))) == .group(.listed([group])))
        guard case .group(.created(let created))? = await world.reply(.group(.create(title: "own"))) else {
            Issue.record("not created")
            return
        }
        #expect((Int(created.name.rawValue) ?? 0) > 500_000)

        let sender = AdoptedSender(id: "SVR-1", name: "shop")
        for _ in 1...2 { #expect(await world.sender(.adopt(sender)) == .sender(.registered("SVR-1"))) }
        let enrolment = AdoptedSender(id: "SVR-1", enrolmentKey: "key-1")
        #expect(await world.sender(.adopt(enrolment)) == .sender(.registered("SVR-1")))
        let again = await world.sender(.enrol("SVR-1", name: nil, address: nil))
        #expect(again == .sender(.enrolled(key: "key-1", isNew: false)))
        // Another back end may have the name here.
        #expect(await world.sender(.adopt(AdoptedSender(id: "SVR-2", name: "shop"))) == .sender(.registered("SVR-2")))
    }

    // A rollout risks the targets that the upstream reaches and the gateway does not.
    @Test func theReachCountsNamedTargetsAndEveryone() async throws {
        let world = try await CommandWorld.make()
        await world.device("k1", digit: "a")
        await world.device("k2", digit: "b")
        let addressees = ["k1", "k2", "k9"].map { Addressee(.deviceKey(VendorDeviceKey($0))) }
        let named = Submission(content: Self.text, audience: .listed(addressees))
        let reply = await observe(world, ObservedMessage(named, references: ["m-20"]))
        #expect(reply == .submission(.observed(isNew: true, reach: ObservedReach(known: 3, reachable: 2))))
        let all = Submission(content: Self.text, audience: .everyone)
        let everyone = await observe(world, ObservedMessage(all, references: ["m-21"]))
        guard case .submission(.observed(_, let reach)) = everyone else {
            Issue.record("the message was not stored")
            return
        }
        #expect(reach == ObservedReach(known: 2, reachable: nil))
        // Groups of the upstream may have other members here.
        let groups = Submission(content: Self.text, audience: .groups(["31"]))
        let some = await observe(world, ObservedMessage(groups, references: ["m-22"]))
        #expect(some == .submission(.observed(isNew: true, reach: nil)))
    }
}
