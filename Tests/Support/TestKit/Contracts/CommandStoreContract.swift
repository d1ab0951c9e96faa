import Commands
import Model

/// The rules of `CommandStore`, run against every implementation.
package enum CommandStoreContract {
    /// Every rule; each wants a world of its own.
    package static let rules: [ContractRule] =
        registration + senders + submission + receipts + AudienceContract.groups + AudienceContract.users + kept
        + InboxContract.rules + BadgeContract.commands + BadgeContract.erasures + ReportContract.commands
        + SharingContract.commands + UserContract.commands + CampaignContract.commands

    private static let registration = [
        ContractRule("a first registration is new, its repeat was active") { world in
            var findings = Findings()
            let key = world.newKey()
            let first = try await world.register(key, token: world.newToken())
            let again = try await world.register(key)
            findings.equal(first?.wasActive, false, "first registration wasActive")
            findings.equal(again?.wasActive, true, "second registration wasActive")
            findings.equal(again?.identity, first?.identity, "identity of the repeat")
            findings.equal(again?.device, first?.device, "device of the repeat")
            return findings.list
        },
        ContractRule("the newest registration owns its token: the older identity is replaced") { world in
            var findings = Findings()
            let token = world.newToken()
            let (old, new) = (world.newKey(), world.newKey())
            let first = try await world.register(old, token: token)
            let second = try await world.register(new, token: token)
            findings.equal(second?.replaced, first.map { [$0.identity] }, "replaced")
            findings.equal(second?.device, first?.device, "the device of the token")
            findings.equal(try await world.facts(old)?.state, .replaced, "the older identity")
            findings.equal(try await world.facts(new)?.state, .active, "the newer identity")
            return findings.list
        },
        ContractRule("the same phone on a new key replaces the old identity only when asked") { world in
            var findings = Findings()
            let (old, new, third) = (world.newKey(), world.newKey(), world.newKey())
            _ = try await world.register(old, token: world.newToken(), phone: "01011112222")
            _ = try await world.register(new, token: world.newToken(), phone: "01011112222")
            findings.equal(try await world.facts(old)?.state, .active, "not asked: the old identity")
            let last = try await world.register(
                third,
                token: world.newToken(),
                phone: "01011112222",
                replacesSamePhone: true
            )
            findings.equal(try await world.facts(old)?.state, .replaced, "asked: the old identity")
            let found = try await world.resolve(.phone("01011112222"))
            findings.equal(found?.identity, last?.identity, "who answers to the phone")
            return findings.list
        },
        ContractRule("unregistering drops a token that nobody else uses; registering again is new") { world in
            var findings = Findings()
            let key = world.newKey()
            _ = try await world.register(key, token: world.newToken())
            let count = try await world.run(.unregister(world.scope, .key(key), at: world.now()))
            findings.equal(count, .count(1), "first unregister")
            let repeated = try await world.run(.unregister(world.scope, .key(key), at: world.now()))
            findings.equal(repeated, .count(0), "second unregister")
            findings.equal(try await world.facts(key)?.state, .unregistered, "state")
            findings.expect(try await world.resolve(.deviceKey(key)) == nil, "an unregistered key still answers")
            findings.equal(try await world.register(key)?.wasActive, false, "wasActive after leaving")
            findings.equal(try await world.resolve(.deviceKey(key))?.isReachable, false, "reachable without token")
            return findings.list
        },
        ContractRule("a token update reaches a known identity and nobody else") { world in
            var findings = Findings()
            let key = world.newKey()
            _ = try await world.register(key)
            findings.equal(try await world.resolve(.deviceKey(key))?.isReachable, false, "before")
            let token = world.newToken()
            let known = try await world.run(
                .updateToken(world.scope, key: key, token, .production, at: world.now())
            )
            let unknown = try await world.run(
                .updateToken(world.scope, key: world.newKey(), token, .production, at: world.now())
            )
            findings.equal(known, .count(1), "known key")
            findings.equal(unknown, .count(0), "unknown key")
            findings.equal(try await world.resolve(.deviceKey(key))?.isReachable, true, "after")
            return findings.list
        },
        ContractRule("another tenant's rows do not exist") { world in
            var findings = Findings()
            let key = world.newKey()
            _ = try await world.register(key, token: world.newToken(), phone: "01077778888")
            let other = world.otherTenant
            findings.expect(try await world.facts(key, in: other) == nil, "a foreign identity is seen")
            findings.expect(
                try await world.resolve(.phone("01077778888"), in: other) == nil,
                "a foreign phone is found"
            )
            let count = try await world.run(.unregister(world.scope, .key(key), at: world.now()), in: other)
            findings.equal(count, .count(0), "a foreign unregister")
            findings.equal(try await world.facts(key)?.state, .active, "the identity after it")
            return findings.list
        },
    ]

    private static let senders = [
        ContractRule("a sender's name gives the same id, and its first enrolment wins") { world in
            var findings = Findings()
            let name = world.identifiers.randomHex(byteCount: 8)
            let first = SenderID("SVR-" + name)
            let made = try await world.run(.registerSender(world.scope, name: name, id: first))
            let again = try await world.run(.registerSender(world.scope, name: name, id: SenderID("SVR-other-" + name)))
            for answer in [made, again] {
                guard case .sender(let sender?)? = answer else { return ["no sender: \(String(describing: answer))"] }
                findings.equal(sender.id, first, "sender id")
            }
            let enrolled = try await world.run(
                .enrolSender(world.scope, first, key: "k1", name: nil, address: nil)
            )
            let repeated = try await world.run(
                .enrolSender(world.scope, first, key: "k2", name: nil, address: nil)
            )
            guard case .sender(let one?)? = enrolled, case .sender(let two?)? = repeated else {
                return ["enrolment failed"]
            }
            findings.equal([one.enrolmentKey, two.enrolmentKey], ["k1", "k1"], "keys")
            findings.equal([one.isNew, two.isNew], [true, false], "isNew")
            let unknown = try await world.run(
                .enrolSender(world.scope, "nobody", key: "k", name: nil, address: nil)
            )
            findings.equal(unknown, .sender(nil), "unknown sender")
            findings.equal(
                try await world.run(.setCallback(world.scope, "nobody", url: "https://a.example/")),
                .count(0),
                "callback of an unknown sender"
            )
            return findings.list
        },
        ContractRule("a code is used up by its match, and sent again only after a while") { world in
            var findings = Findings()
            let limits = VerificationLimits()
            func put() async throws -> StoreAnswer? {
                try await world.run(
                    .putVerification(world.scope, phone: "0101", codeHash: "h", limits: limits, at: world.now())
                )
            }
            func check(_ hash: String) async throws -> StoreAnswer? {
                try await world.run(
                    .checkVerification(world.scope, phone: "0101", codeHash: hash, limits: limits, at: world.now())
                )
            }
            func isPermitted(_ answer: StoreAnswer?) -> Bool {
                if case .permitted(let permitted, _)? = answer { permitted } else { false }
            }
            findings.expect(isPermitted(try await put()), "the first code was not permitted")
            findings.expect(!isPermitted(try await put()), "a second code within 30 s was permitted")
            findings.expect(!isPermitted(try await check("wrong")), "a wrong code was accepted")
            findings.expect(isPermitted(try await check("h")), "the right code was refused")
            findings.expect(!isPermitted(try await check("h")), "a used code was accepted")
            return findings.list
        },
    ]

    private static let submission = [
        ContractRule("the same idempotency key gives the first answer, with another body a mismatch") { world in
            var findings = Findings()
            let key = IdempotencyKey(key: world.identifiers.randomHex(byteCount: 8), bodyHash: "a")
            let identity = try await world.register(world.newKey(), token: world.newToken())?.identity
            let targets = [identity].compactMap(\.self)
            let first = world.message(to: targets, key: key)
            findings.equal(try await world.accept(first), .inserted, "first")
            let again = try await world.accept(world.message(to: targets, key: key))
            findings.equal(again, .repeated(first.id, recipients: 1), "repeat")
            let other = IdempotencyKey(key: key.key, bodyHash: "b")
            findings.equal(try await world.accept(world.message(to: targets, key: other)), .mismatch, "other body")
            return findings.list
        },
        ContractRule("an image belongs to its message and its tenant") { world in
            var findings = Findings()
            let bytes: [UInt8] = [0xFF, 0xD8, 0xFF, 1, 2, 3]
            let hash = world.identifiers.sha256(bytes)
            let reference = MediaReference(id: world.identifiers.randomHex(byteCount: 16), hash: hash)
            var message = world.message(to: [])
            message.slices = []
            message.content.media = reference
            let put = StoreStatement.putMedia(hash: hash, contentType: "image/jpeg", bytes: bytes, at: world.now())
            _ = try await world.commands.run([put, .accept(message)], in: world.tenant)
            let found = StoreAnswer.media(bytes: bytes, contentType: "image/jpeg")
            findings.equal(
                try await world.run(.media(world.scope, message.id, media: reference.id)),
                found,
                "the image"
            )
            findings.equal(
                try await world.run(.media(world.scope, message.id, media: "00")),
                .noMedia,
                "another image id"
            )
            findings.equal(
                try await world.run(.media(world.scope, message.id, media: reference.id), in: world.otherTenant),
                .noMedia,
                "another tenant"
            )
            return findings.list
        },
        ContractRule("an image is its owner's under its message's number") { world in
            var findings = Findings()
            let bytes: [UInt8] = [0xFF, 0xD8, 0xFF, 1, 2, 3]
            let hash = world.identifiers.sha256(bytes)
            var message = world.message(to: [])
            message.slices = []
            message.content.media = MediaReference(id: world.identifiers.randomHex(byteCount: 16), hash: hash)
            message.content.data[MediaCommand.ownerKey] = "mina"
            message.content.data["text"] = "a\u{0}b\\"
            let put = StoreStatement.putMedia(hash: hash, contentType: "image/jpeg", bytes: bytes, at: world.now())
            let answers = try await world.commands.run(
                [put, .accept(message), .sequenceMessage(world.scope, message.id)],
                in: world.tenant
            )
            guard case .number(let number?)? = answers.last else { return ["no number"] }
            func asked(_ number: String, _ owner: String, in tenant: TenantID) async throws -> StoreAnswer? {
                try await world.run(.ownMedia(world.scope, number: number, owner: owner), in: tenant)
            }
            let found = StoreAnswer.media(bytes: bytes, contentType: "image/jpeg")
            findings.equal(try await asked(number, "mina", in: world.tenant), found, "the image")
            findings.equal(try await asked(number, "hong", in: world.tenant), .noMedia, "somebody else")
            findings.equal(try await asked(number + "9", "mina", in: world.tenant), .noMedia, "another number")
            findings.equal(try await asked(number, "mina", in: world.otherTenant), .noMedia, "another tenant")
            return findings.list
        },
        ContractRule("what is not sent can be canceled once") { world in
            var findings = Findings()
            let identity = try await world.register(world.newKey(), token: world.newToken())?.identity
            let message = world.message(to: [identity].compactMap(\.self), dueIn: .seconds(600))
            _ = try await world.accept(message)
            let foreign = try await world.run(
                .control(world.scope, message.id, .cancel, by: nil, at: world.now()),
                in: world.otherTenant
            )
            findings.equal(foreign, .count(0), "another tenant's cancel")
            guard
                case .count(let count)? = try await world.run(
                    .control(world.scope, message.id, .cancel, by: nil, at: world.now())
                )
            else { return ["cancel answered something else"] }
            findings.expect(count > 0, "nothing was canceled")
            let again = try await world.run(.control(world.scope, message.id, .cancel, by: nil, at: world.now()))
            findings.equal(again, .count(0), "second cancel")
            return findings.list
        },
    ]

    private static let receipts = [
        ContractRule("the first receipt wins, read implies received, strangers are orphans") { world in
            var findings = Findings()
            let (key, stranger) = (world.newKey(), world.newKey())
            let identity = try await world.register(key, token: world.newToken())?.identity
            _ = try await world.register(stranger, token: world.newToken())
            let message = world.message(to: [identity].compactMap(\.self))
            _ = try await world.accept(message)
            func report(_ kind: ReceiptKind, _ key: VendorDeviceKey) async throws -> StoreAnswer? {
                try await world.run(
                    .receipt(world.scope, message.id, Reporter(key: key), kind, at: world.now())
                )
            }
            findings.equal(try await report(.read, stranger), .receipt(.orphan), "a stranger's receipt")
            findings.equal(try await report(.read, key), .receipt(.orphan), "a receipt before anybody could send")
            _ = try await world.claim(message.id, by: "n1")
            findings.equal(try await report(.read, key), .receipt(.recorded), "a receipt before the outcome")
            findings.equal(try await report(.read, key), .receipt(.repeated), "its repeat")
            findings.equal(try await report(.received, key), .receipt(.repeated), "received after read")
            let seen = try await world.run(.delivery(world.scope, message.id, Reporter(key: key)))
            guard case .delivery(let snapshot?, let platform)? = seen else { return findings.list + ["no delivery"] }
            findings.equal(snapshot.state, .read, "state")
            findings.expect(snapshot.receivedAt != nil, "read did not imply received")
            findings.equal(platform, .ios, "platform")
            let foreign = try await world.run(.delivery(world.scope, message.id, Reporter(key: stranger)))
            if case .delivery(.some, _)? = foreign { findings.expect(false, "a stranger sees the delivery") }
            return findings.list
        }
    ]
}
