import Commands
import DatabaseSupport
import DeliveryEngine
import EngineStore
import Model
import Store
import TestKit
import Testing

@Suite struct SubmissionTests {
    private let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]

    // An address without a device is a target too, `suppressed(noDevice)`.
    @Test func aPhoneWithoutTheAppIsATargetWithoutADevice() async throws {
        let world = try await CommandWorld.make()
        let result = await world.submit(.text(to: "01099999999"))
        let message = try #require(try await world.message(result))
        #expect(message.slices.isEmpty)
        #expect(message.recipients == 1)
        #expect(message.suppressed.map(\.reason) == [.noDevice])
        #expect(message.suppressed.map(\.identity) == [nil])
        let target = world.identifiers.target(for: .phone("01099999999"), in: message.id)
        #expect(message.suppressed.map(\.target) == [target])
        #expect(result.handover.isEmpty)
        #expect(try await world.state(of: message.id) == .done)
    }

    // A device receives one push per message.
    @Test func targetsThatShareADeviceCauseOnePush() async throws {
        let world = try await CommandWorld.make()
        let registered = try #require(await world.device("k1", phone: "01011111111"))
        let byPhoneAndKey: [Addressee] = [Addressee(.phone("01011111111")), Addressee(.deviceKey("k1"))]
        let result = await world.submit(
            Submission(content: Content(body: "b"), audience: .listed(byPhoneAndKey))
        )
        let message = try #require(try await world.message(result))
        #expect(message.slices.flatMap(\.targets) == [TargetID(registered.identity)])
        #expect(message.suppressed.map(\.reason) == [.duplicate])
        #expect(message.suppressed.map(\.address) == [.deviceKey("k1")])
        #expect(message.recipients == 2)
    }

    @Test func twoIdentitiesOnOneDeviceAreOnePush() async throws {
        let world = try await CommandWorld.make()
        await world.device("k1", digit: "a")
        // The same token in another dialect: a second SDK in the same app.
        var braze = world.call
        braze.vendor = .braze
        let token = DeviceToken(stored: String(repeating: "a", count: 64))
        let second = DeviceRegistration(key: "k2", platform: .ios, token: token)
        // The second registration is later, whatever the clock's resolution is.
        try await Task.sleep(for: .milliseconds(2))
        let registered = await world.handler.perform([.registration(.register(second))], in: braze)
        guard case .registration(.registered(let latest))? = registered.replies.first else {
            Issue.record("\(registered.replies)")
            return
        }
        var native = world.call
        native.vendor = .native
        let submission = Submission(
            content: Content(body: "b"),
            audience: .listed([Addressee(.deviceKey("k1")), Addressee(.deviceKey("k2"))])
        )
        let result = await world.handler.perform([.submission(.submit(submission))], in: native)
        let message = try #require(try await world.message(result))
        // Both keys lead to the identity that was seen last. The second address has a row of its own, because the caller's reports count it.
        #expect(message.slices.flatMap(\.targets) == [TargetID(latest.identity)])
        #expect(message.suppressed.map(\.reason) == [.duplicate])
        #expect(message.suppressed.map(\.address) == [.deviceKey("k2")])
        #expect(message.suppressed.map(\.identity) == [nil])
    }

    @Test func theSameAddressTwiceIsOneTarget() async throws {
        let world = try await CommandWorld.make()
        await world.device("k1", phone: "01011111111")
        let message = try #require(try await world.message(world.submit(.text(to: "01011111111", "01011111111"))))
        #expect(message.recipients == 1)
        #expect(message.slices.flatMap(\.targets).count == 1)
        #expect(message.suppressed.isEmpty)
    }

    @Test func slicesHoldAtMostFiveHundredTargetsWithTheirAddresses() async throws {
        let world = try await CommandWorld.make()
        var list: [Addressee] = []
        var commands: [Command] = []
        for index in 0..<501 {
            let key = VendorDeviceKey("k\(index)")
            let token = DeviceToken(stored: String(index, radix: 16))
            commands.append(.registration(.register(DeviceRegistration(key: key, platform: .ios, token: token))))
            list.append(Addressee(.deviceKey(key)))
        }
        await world.performAll(commands)
        let result = await world.submit(Submission(content: Content(body: "b"), audience: .listed(list)))
        let message = try #require(try await world.message(result))
        #expect(message.slices.map(\.targets.count) == [500, 1])
        #expect(message.slices.map(\.number) == [0, 1])
        #expect(message.slices.flatMap(\.addresses) == list.map(\.address))
        #expect(result.handover.map(\.targets) == message.slices.map(\.targets))
    }

    // A node that accepts a message for immediate sending inserts its slices as leased by itself.
    @Test func dueSlicesAreReturnedWithTheirLeases() async throws {
        let world = try await CommandWorld.make()
        await world.device("k1", phone: "01011111111")
        let result = await world.submit(.text(to: "01011111111"))
        let id = try #require(world.messageID(result))
        let slices = try await world.stores.slices(of: id, in: world.tenant)
        #expect(result.handover.map(\.key) == slices.map(\.key) && slices.count == 1)
        #expect(result.handover.map(\.epoch) == slices.map(\.epoch) && slices.map(\.owner) == [world.node])
        let message = try #require(try await world.message(result))
        #expect(result.handover.map(\.targets) == message.slices.map(\.targets))
    }

    @Test func laterSlicesAreNotClaimed() async throws {
        let world = try await CommandWorld.make()
        await world.device("k1", phone: "01011111111")
        var submission = Submission.text(to: "01011111111")
        submission.timing.dueAt = world.clock.now() + .seconds(60)
        let result = await world.submit(submission)
        let message = try #require(try await world.message(result))
        #expect(!message.isClaimed)
        #expect(result.handover.isEmpty)
        #expect(try await world.state(of: message.id) == .scheduled)
        #expect(message.expiresAt == message.dueAt + .seconds(72 * 3600))
    }

    @Test(arguments: [true, false])
    func aNodeThatDrainsOrHasNoEngineClaimsNothing(_ hasNode: Bool) async throws {
        let world = try await CommandWorld.make(policy: CommandPolicy(handsOver: { false }), hasNode: hasNode)
        await world.device("k1", phone: "01011111111")
        let result = await world.submit(.text(to: "01011111111"))
        #expect(result.handover.isEmpty)
        #expect(try await world.message(result)?.isClaimed == false)
    }

    @Test func everyoneIsOneSliceToBeExpandedWithoutACount() async throws {
        let world = try await CommandWorld.make()
        let result = await world.submit(Submission(content: Content(body: "b"), audience: .everyone))
        let message = try #require(try await world.message(result))
        #expect(message.slices == [NewSlice(number: 0, work: .expand(after: nil))])
        #expect(result.replies == [.submission(.accepted(message.id, recipients: nil))])
        #expect(result.handover.map(\.work) == [.expand(after: nil)])
    }

    @Test func aVendorThatNeedsACountGetsTheMaintainedCount() async throws {
        let world = try await CommandWorld.make(policy: CommandPolicy(countedVendors: [.rationalOwl]))
        await world.device("k1")
        let result = await world.submit(Submission(content: Content(body: "b"), audience: .everyone))
        guard case .submission(.accepted(_, let recipients))? = result.replies.first else {
            Issue.record("\(result.replies)")
            return
        }
        #expect(recipients == 1)
    }

    @Test func onlyAnEnrolledSenderMaySend() async throws {
        let world = try await CommandWorld.make()
        var submission = Submission.text(to: "01011111111")
        submission.sender = "SVRnobody"
        #expect(await world.submit(submission).replies == [.refused(.unknownSender)])
        guard case .sender(.registered(let id))? = await world.sender(.register(name: "n")) else {
            Issue.record("no sender")
            return
        }
        submission.sender = id
        #expect(await world.submit(submission).replies == [.refused(.unknownSender)])
        _ = await world.sender(.enrol(id, name: nil, address: nil))
        #expect(world.messageID(await world.submit(submission)) != nil)
    }

    // docs/contracts/rationalowl.md#8.3: -231 only without credential and without fallback.
    @Test func withoutCredentialOnlyAFallbackIsAccepted() async throws {
        let world = try await CommandWorld.make(hasCredential: false)
        var submission = Submission.text(to: "01011111111")
        #expect(await world.submit(submission).replies == [.refused(.noCredential)])
        submission.fallback = ["s": 2, "t": 12]
        #expect(try await world.message(world.submit(submission))?.fallback == ["s": 2, "t": 12])
    }

    // docs/routing.md#upstream-sending: an upstream needs neither a token nor the app's credential, so that the rules decide when the message is sent.
    @Test func aDeviceWithoutATokenIsATargetWhereAnUpstreamMayPush() async throws {
        let world = try await CommandWorld.make(hasCredential: false)
        let registration = DeviceRegistration(key: "k1", platform: .ios, phone: "01011111111")
        _ = await world.registration(.register(registration))
        let draft = RouteDraft(
            app: "shop",
            after: nil,
            format: 1,
            base: ["deliveries": [["paths": ["old"]]]],
            overlay: [:],
            upstreams: ["old": ["vendor": "rationalowl"]]
        )
        let routes = PostgresRouteStore(engine: world.stores.engine)
        _ = try await routes.put(draft, checkedWith: [], in: world.tenant, by: .key("ops"))
        let message = try #require(try await world.message(world.submit(.text(to: "01011111111", "01022222222"))))
        #expect(message.slices.flatMap(\.targets).count == 1)
        #expect(message.suppressed.map(\.reason) == [.noDevice])
    }

    @Test func anUnknownAppIsRefused() async throws {
        let world = try await CommandWorld.make()
        var call = world.call
        call.app = "other"
        let result = await world.handler.perform([.submission(.submit(.text(to: "0101")))], in: call)
        #expect(result.replies == [.refused(.unknownBinding)])
    }

    @Test func invalidMessagesAreRefusedWithTheField() async throws {
        let world = try await CommandWorld.make()
        func reply(_ change: (inout Submission) -> Void) async -> Reply? {
            var submission = Submission.text(to: "01011111111")
            change(&submission)
            return await world.submit(submission).replies.first
        }
        let now = world.clock.now()
        #expect(await reply { $0.content.body = "" } == .refused(.invalid("body")))
        #expect(await reply { $0.content.body = "a\u{0}" } == .refused(.invalid("content")))
        #expect(await reply { $0.template = TemplateReference(id: "x") } == .refused(.unknownTemplate))
        #expect(
            await reply { $0.timing.dueAt = Timestamp(milliseconds: now.milliseconds - 1) }
                == .refused(.invalid("dueAt"))
        )
        #expect(await reply { $0.timing.dueAt = now + .seconds(366 * 86_400) } == .refused(.invalid("dueAt")))
        #expect(await reply { $0.timing.timeToLive = .seconds(-1) } == .refused(.invalid("timeToLive")))
        #expect(await reply { $0.audience = .listed([]) } == .refused(.invalid("audience")))
        #expect(await reply { $0.image = InlineImage(name: nil, bytes: [1, 2, 3]) } == .refused(.invalid("image")))
        #expect(await reply { $0.idempotencyKey = "" } == .refused(.invalid("idempotencyKey")))
        #expect(await reply { $0.fallback = .string("\u{0}") } == .refused(.invalid("fallback")))
        let many = (0...2000).map { Addressee(.phone(String($0))) }
        #expect(await reply { $0.audience = .listed(many) } == .refused(.tooMany("audience", limit: 2000)))
    }

    // docs/contracts/rationalowl.md#5.7: an image is fetched by an unguessable id.
    @Test func anImageIsStoredByItsHashAndFetchedByItsID() async throws {
        let world = try await CommandWorld.make()
        var submission = Submission.text(to: "01011111111")
        submission.image = InlineImage(name: "a.png", bytes: png)
        let message = try #require(try await world.message(world.submit(submission)))
        let media = try #require(message.content.media)
        #expect(media.id.count == 32)
        #expect(media.hash == world.identifiers.sha256(png))
        let fetched = await world.reply(.media(.fetch(message: message.id.description, media: media.id)))
        #expect(fetched == .media(.bytes(png, contentType: "image/png")))
        let other = await world.reply(.media(.fetch(message: message.id.description, media: media.hash)))
        #expect(other == .refused(.unknownMedia))
        #expect(await world.reply(.media(.fetch(message: "x", media: media.id))) == .refused(.unknownMedia))
    }

    @Test(
        arguments: [
            ([0xFF, 0xD8, 0xFF, 0xE0], "image/jpeg"), (Array("GIF89a".utf8), "image/gif"),
            (Array("RIFF....WEBP".utf8), "image/webp"),
        ] as [([UInt8], String)]
    )
    func theTypeOfStoredMediaIsFoundByItsFirstBytes(_ bytes: [UInt8], _ type: String) async throws {
        let world = try await CommandWorld.make()
        let hash = world.identifiers.sha256(bytes)
        #expect(await world.reply(.media(.store(bytes: bytes, hash: hash))) == .media(.stored(hash: hash)))
        #expect(await world.reply(.media(.store(bytes: bytes, hash: "00"))) == .refused(.invalid("hash")))
        var submission = Submission.text(to: "01011111111")
        submission.content.media = MediaReference(id: "", hash: hash)
        let message = try #require(try await world.message(world.submit(submission)))
        let id = try #require(message.content.media?.id)
        let fetched = await world.reply(.media(.fetch(message: message.id.description, media: id)))
        #expect(fetched == .media(.bytes(bytes, contentType: type)))
    }

    // A repeat gets the first answer, and nothing is sent twice.
    @Test func aRepeatedCallGetsTheFirstAnswerWithoutALease() async throws {
        let world = try await CommandWorld.make()
        await world.device("k1", phone: "01011111111")
        var submission = Submission.text(to: "01011111111")
        submission.idempotencyKey = "once"
        submission.bodyHash = "h"
        let first = await world.submit(submission)
        let again = await world.submit(submission)
        #expect(again.replies == first.replies)
        #expect(first.handover.count == 1)
        #expect(again.handover.isEmpty)
        submission.bodyHash = "other"
        #expect(await world.submit(submission).replies == [.refused(.idempotencyMismatch)])
    }

    @Test func cancelingStopsUnsentPushesOnce() async throws {
        let world = try await CommandWorld.make()
        await world.device("k1", phone: "01011111111")
        var submission = Submission.text(to: "01011111111")
        submission.timing.dueAt = world.clock.now() + .seconds(60)
        let id = try #require(world.messageID(await world.submit(submission)))
        let cancel = Command.submission(.control(.cancel, message: id.description))
        #expect(await world.reply(cancel) == .submission(.controlled(true)))
        #expect(await world.reply(cancel) == .submission(.controlled(false)))
        #expect(await world.reply(.submission(.control(.cancel, message: "no"))) == .refused(.unknownMessage))
    }
}
