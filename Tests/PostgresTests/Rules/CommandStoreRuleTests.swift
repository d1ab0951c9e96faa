import DatabaseSupport
import Model
import ObservationStore
import Testing

@testable import Store

/// The rules of registrations, senders, submissions and receipts.
@Suite struct CommandStoreRuleTests {
    @Test func aFirstRegistrationIsNewAndItsRepeatIsNot() async throws {
        let world = try await RuleWorld.make()
        let key = world.newKey()
        let first = try await world.register(key, token: world.newToken())
        let again = try await world.register(key)
        #expect(first?.wasActive == false, "first registration wasActive")
        #expect(again?.wasActive == true, "second registration wasActive")
        #expect(again?.identity == first?.identity, "identity of the repeat")
        #expect(again?.device == first?.device, "device of the repeat")
    }

    @Test func theNewestRegistrationOwnsItsTokenAndReplacesTheOlderIdentity() async throws {
        let world = try await RuleWorld.make()
        let token = world.newToken()
        let (old, new) = (world.newKey(), world.newKey())
        let first = try await world.register(old, token: token)
        let second = try await world.register(new, token: token)
        #expect(second?.replaced == first.map { [$0.identity] }, "replaced")
        #expect(second?.device == first?.device, "the device of the token")
        #expect(try await world.facts(old)?.state == .replaced, "the older identity")
        #expect(try await world.facts(new)?.state == .active, "the newer identity")
    }

    @Test func theSamePhoneOnANewKeyReplacesTheOldIdentityOnlyOnRequest() async throws {
        let world = try await RuleWorld.make()
        let (old, new, third) = (world.newKey(), world.newKey(), world.newKey())
        _ = try await world.register(old, token: world.newToken(), phone: "01011112222")
        _ = try await world.register(new, token: world.newToken(), phone: "01011112222")
        #expect(try await world.facts(old)?.state == .active, "without the option: the old identity")
        let last = try await world.register(
            third,
            token: world.newToken(),
            phone: "01011112222",
            replacesSamePhone: true
        )
        #expect(try await world.facts(old)?.state == .replaced, "with the option: the old identity")
        let found = try await world.resolve(.phone("01011112222"))
        #expect(found?.identity == last?.identity, "the identity of the phone")
    }

    @Test func unregisteringDropsAnUnsharedTokenAndRegisteringAgainIsNew() async throws {
        let world = try await RuleWorld.make()
        let key = world.newKey()
        _ = try await world.register(key, token: world.newToken())
        let count = try await world.run(UnregisterDevices(world.scope, .key(key)))
        #expect(count == 1, "first unregister")
        let repeated = try await world.run(UnregisterDevices(world.scope, .key(key)))
        #expect(repeated == 0, "second unregister")
        #expect(try await world.facts(key)?.state == .unregistered, "state")
        #expect(try await world.resolve(.deviceKey(key)) == nil, "an unregistered key still answers")
        #expect(try await world.register(key)?.wasActive == false, "wasActive after leaving")
        #expect(try await world.resolve(.deviceKey(key))?.isReachable == false, "reachable without token")
    }

    @Test func aTokenUpdateChangesAKnownIdentityOnly() async throws {
        let world = try await RuleWorld.make()
        let key = world.newKey()
        _ = try await world.register(key)
        #expect(try await world.resolve(.deviceKey(key))?.isReachable == false, "before")
        let token = world.newToken()
        let known = try await world.run(
            UpdateToken(world.scope, key: key, token, .production, at: world.now())
        )
        let unknown = try await world.run(
            UpdateToken(world.scope, key: world.newKey(), token, .production, at: world.now())
        )
        #expect(known == 1, "known key")
        #expect(unknown == 0, "unknown key")
        #expect(try await world.resolve(.deviceKey(key))?.isReachable == true, "after")
    }

    @Test func anotherTenantsRowsDoNotExist() async throws {
        let world = try await RuleWorld.make()
        let key = world.newKey()
        _ = try await world.register(key, token: world.newToken(), phone: "01077778888")
        let other = world.otherTenant
        #expect(try await world.facts(key, in: other) == nil, "a foreign identity is seen")
        #expect(try await world.resolve(.phone("01077778888"), in: other) == nil, "a foreign phone is found")
        let count = try await world.run(UnregisterDevices(world.scope, .key(key)), in: other)
        #expect(count == 0, "a foreign unregister")
        #expect(try await world.facts(key)?.state == .active, "the identity after it")
    }

    @Test func aSenderKeepsItsIdAndItsFirstEnrolmentWins() async throws {
        let world = try await RuleWorld.make()
        let name = world.identifiers.randomHex(byteCount: 8)
        let first = SenderID("SVR-" + name)
        let made = try await world.run(RegisterSender(world.scope, name: name, id: first))
        let again = try await world.run(RegisterSender(world.scope, name: name, id: SenderID("SVR-other-" + name)))
        #expect([made?.id, again?.id] == [first, first], "sender ids")
        let enrolled = try await world.run(
            EnrolSender(world.scope, first, key: "k1", name: nil, address: nil)
        )
        let repeated = try await world.run(
            EnrolSender(world.scope, first, key: "k2", name: nil, address: nil)
        )
        guard let one = enrolled, let two = repeated else {
            return fail("enrolment failed")
        }
        #expect([one.enrolmentKey, two.enrolmentKey] == ["k1", "k1"], "keys")
        #expect([one.isNew, two.isNew] == [true, false], "isNew")
        let unknown = try await world.run(
            EnrolSender(world.scope, "nobody", key: "k", name: nil, address: nil)
        )
        #expect(unknown == nil, "unknown sender")
        #expect(
            try await world.run(SetCallback(world.scope, "nobody", url: "https://a.example/")) == 0,
            "callback of an unknown sender"
        )
    }

    @Test func aMatchingCodeIsUsedUpAndCodesAreSentAtIntervals() async throws {
        let world = try await RuleWorld.make()
        let limits = VerificationLimits()
        func put() async throws -> Bool {
            try await world.run(
                PutVerification(world.scope, phone: "0101", codeHash: "h", limits: limits, at: world.now())
            )
        }
        func check(_ hash: String) async throws -> Bool {
            try await world.run(
                CheckVerification(world.scope, phone: "0101", codeHash: hash, limits: limits, at: world.now())
            )
        }
        let sent = [try await put(), try await put()]
        #expect(sent == [true, false], "the first code, and a second within 30 s")
        let checked = [try await check("wrong"), try await check("h"), try await check("h")]
        #expect(checked == [false, true, false], "a wrong code, the right one, the same again")
    }

    @Test func anIdempotencyKeyReturnsTheFirstAnswerOrAMismatchForAnotherBody() async throws {
        let world = try await RuleWorld.make()
        let key = IdempotencyKey(key: world.identifiers.randomHex(byteCount: 8), bodyHash: "a")
        let identity = try await world.register(world.newKey(), token: world.newToken())?.identity
        let targets = [identity].compactMap(\.self)
        let first = world.message(to: targets, key: key)
        #expect(try await world.accept(first) == .inserted, "first")
        let again = try await world.accept(world.message(to: targets, key: key))
        #expect(again == .repeated(first.id, recipients: 1), "repeat")
        let other = IdempotencyKey(key: key.key, bodyHash: "b")
        #expect(try await world.accept(world.message(to: targets, key: other)) == .mismatch, "other body")
    }

    @Test func anImageBelongsToItsMessageAndItsTenant() async throws {
        let world = try await RuleWorld.make()
        let bytes: [UInt8] = [0xFF, 0xD8, 0xFF, 1, 2, 3]
        let hash = world.identifiers.sha256(bytes)
        let reference = MediaReference(id: world.identifiers.randomHex(byteCount: 16), hash: hash)
        var message = world.message(to: [])
        message.targets.slices = []
        message.content.media = reference
        let put = PutMedia(hash: hash, contentType: "image/jpeg", bytes: bytes, at: world.now())
        _ = try await world.commands.run(put, AcceptMessage(message), in: world.tenant)
        let found = StoredMedia(bytes: bytes, contentType: "image/jpeg")
        #expect(try await world.run(FindMedia(world.scope, message.id, media: reference.id)) == found, "the image")
        #expect(try await world.run(FindMedia(world.scope, message.id, media: "00")) == nil, "another image id")
        #expect(
            try await world.run(FindMedia(world.scope, message.id, media: reference.id), in: world.otherTenant) == nil,
            "another tenant"
        )
    }

    @Test func anImageIsFoundByItsOwnerAndMessageNumber() async throws {
        let world = try await RuleWorld.make()
        let bytes: [UInt8] = [0xFF, 0xD8, 0xFF, 1, 2, 3]
        let hash = world.identifiers.sha256(bytes)
        var message = world.message(to: [])
        message.targets.slices = []
        message.content.media = MediaReference(id: world.identifiers.randomHex(byteCount: 16), hash: hash)
        message.content.data[MediaCommand.ownerKey] = "mina"
        message.content.data["text"] = "a\u{0}b\\"
        let put = PutMedia(hash: hash, contentType: "image/jpeg", bytes: bytes, at: world.now())
        let (_, _, sequence) = try await world.commands.run(
            put,
            AcceptMessage(message),
            SequenceMessage(world.scope, message.id),
            in: world.tenant
        )
        guard let number = sequence else { return fail("no number") }
        func asked(_ number: String, _ owner: String, in tenant: TenantID) async throws -> StoredMedia? {
            try await world.run(FindOwnMedia(world.scope, number: number, owner: owner), in: tenant)
        }
        let found = StoredMedia(bytes: bytes, contentType: "image/jpeg")
        #expect(try await asked(number, "mina", in: world.tenant) == found, "the image")
        #expect(try await asked(number, "hong", in: world.tenant) == nil, "another user")
        #expect(try await asked(number + "9", "mina", in: world.tenant) == nil, "another number")
        #expect(try await asked(number, "mina", in: world.otherTenant) == nil, "another tenant")
    }

    @Test func unsentMessagesCanBeCanceledOnce() async throws {
        let world = try await RuleWorld.make()
        let identity = try await world.register(world.newKey(), token: world.newToken())?.identity
        let message = world.message(to: [identity].compactMap(\.self), dueIn: .seconds(600))
        _ = try await world.accept(message)
        let foreign = try await world.run(
            ControlMessage(world.scope, message.id, .cancel, by: nil),
            in: world.otherTenant
        )
        #expect(foreign == 0, "another tenant's cancel")
        let count = try await world.run(ControlMessage(world.scope, message.id, .cancel, by: nil))
        #expect(count > 0, "nothing was canceled")
        let again = try await world.run(ControlMessage(world.scope, message.id, .cancel, by: nil))
        #expect(again == 0, "second cancel")
    }

    @Test func theFirstReceiptWinsReadImpliesReceivedOthersAreOrphans() async throws {
        let world = try await RuleWorld.make()
        let (key, stranger) = (world.newKey(), world.newKey())
        let identity = try await world.register(key, token: world.newToken())?.identity
        _ = try await world.register(stranger, token: world.newToken())
        let message = world.message(to: [identity].compactMap(\.self))
        _ = try await world.accept(message)
        func report(_ kind: ReceiptKind, _ key: VendorDeviceKey) async throws -> ReceiptReply {
            try await world.run(
                RecordReceipt(world.scope, message.id, Reporter(key: key), kind, at: world.now())
            )
        }
        #expect(try await report(.read, stranger) == .orphan, "a stranger's receipt")
        #expect(try await report(.read, key) == .orphan, "a receipt before the message could be sent")
        _ = try await world.claim(message.id, by: "n1")
        #expect(try await report(.read, key) == .recorded, "a receipt before the outcome")
        #expect(try await report(.read, key) == .repeated, "its repeat")
        #expect(try await report(.received, key) == .repeated, "received after read")
        let seen = try await world.run(FindDelivery(world.scope, message.id, Reporter(key: key)))
        guard let snapshot = seen.snapshot else { return fail("no delivery") }
        #expect(snapshot.state == .read, "state")
        #expect(snapshot.receivedAt != nil, "read did not imply received")
        #expect(seen.platform == .ios, "platform")
        let foreign = try await world.run(FindDelivery(world.scope, message.id, Reporter(key: stranger)))
        #expect(foreign.snapshot == nil, "what a stranger sees of the delivery")
    }
}
