import Commands
import DeliveryEngine
import Model

/// The rules of both stores about histories, polling, preferences and numbers.
enum InboxContract {
    static let rules = numbers + preferences + histories + polling + receipts + looks

    private static let numbers = [
        ContractRule("numbers grow, blocks are nobody else's, and what is beyond a second borrows from the next") {
            world in
            var findings = Findings()
            func draw(_ count: Int) async throws -> MessageNumbers? {
                guard case .numbers(let block)? = try await world.run(.drawNumbers(world.inbox, count: count)) else {
                    return nil
                }
                return block
            }
            let before = world.now().seconds - 2
            guard let one = try await draw(3), let two = try await draw(20_000), let three = try await draw(1) else {
                return ["no numbers"]
            }
            findings.expect(one.first.rawValue / 10_000 >= before, "a number of an earlier second")
            findings.expect(two.first.rawValue >= one.first.rawValue + 3, "the second block overlaps the first")
            findings.expect(three.first.rawValue >= two.first.rawValue + 20_000, "the third block overlaps the second")
            findings.equal(three.first.text.utf8.count, 18, "digits")
            findings.expect(one.first.text < three.first.text, "texts are not in the order of numbers")
            return findings.list
        },
        ContractRule("a message is found by its number in its own app and tenant only, and by its id") { world in
            var findings = Findings()
            let device = try await world.inboxDevice("E1")
            let (message, number) = try await world.sent(to: [device], .sent)
            let numbered = try await world.run(.numbers(of: message))
            findings.equal(numbered, .numbered([.ipns: number]), "the message's numbers")
            findings.equal(try await world.entry(device, number)?.notification.message, message, "by number")
            findings.equal(try await world.entry(device, message.description)?.notification.message, message, "by id")
            findings.equal(
                try await world.entry(device, number)?.notification.numbers,
                [.ipns: number],
                "as it is shown"
            )
            findings.expect(try await world.entry(device, "000") == nil, "an unknown number finds something")
            let foreign = StoreStatement.inboxMessage(world.inbox, DeviceCaller(key: device.key), number: number)
            findings.equal(try await world.run(foreign, in: world.otherTenant), .inbox([]), "another tenant")
            return findings.list
        },
    ]

    private static let preferences = [
        ContractRule("preferences have their defaults, change one by one, and belong to a registered caller") { world in
            var findings = Findings()
            let device = try await world.inboxDevice("E1")
            let caller = DeviceCaller(key: device.key)
            func set(_ change: PreferenceChange) async throws {
                let answer = try await world.run(.setPreferences(world.inbox, caller, change))
                findings.equal(answer, .count(1), "set")
            }
            let fresh = DevicePreferences(acceptsPush: true, user: "E1")
            findings.equal(try await world.preferences(caller), fresh, "defaults")
            try await set(PreferenceChange(acceptsPush: false))
            try await set(PreferenceChange(windowFrom: 540, timeZone: TimeZoneName("Asia/Seoul")))
            let morning = DailyWindow(from: 540, to: 1439)
            findings.equal(
                try await world.preferences(caller),
                DevicePreferences(acceptsPush: false, window: morning, user: "E1"),
                "one end of the window"
            )
            try await set(PreferenceChange(windowTo: 1080, alias: "cp"))
            let whole = DevicePreferences(
                acceptsPush: false,
                window: DailyWindow(from: 540, to: 1080),
                user: "E1",
                alias: "cp"
            )
            findings.equal(try await world.preferences(caller), whole, "the other end")
            _ = try await world.register(device.key, user: "E1", vendor: .ipns)
            findings.equal(try await world.preferences(caller), whole, "after registering again")
            try await set(PreferenceChange(windowFrom: 0, windowTo: 1439))
            findings.equal(try await world.preferences(caller)?.window, nil, "the whole day")
            let stranger = DeviceCaller(key: world.newKey())
            findings.expect(try await world.preferences(stranger) == nil, "a stranger has preferences")
            let refused = try await world.run(
                .setPreferences(world.inbox, stranger, PreferenceChange(acceptsPush: true))
            )
            findings.equal(refused, .count(0), "a stranger's change")
            return findings.list
        },
        ContractRule("a caller is known by its key, else by its token") { world in
            var findings = Findings()
            let token = world.newToken()
            let key = world.newKey()
            _ = try await world.register(key, token: token, user: "E1", vendor: .ipns)
            for caller in [
                DeviceCaller(key: key), DeviceCaller(key: nil, token: token), DeviceCaller(key: "other", token: token),
            ] {
                findings.equal(try await world.preferences(caller)?.user, "E1", "\(caller)")
            }
            findings.expect(
                try await world.preferences(DeviceCaller(key: nil, token: world.newToken())) == nil,
                "another token finds it"
            )
            return findings.list
        },
        ContractRule("an alias finds its devices; whose alias nobody has is looked up by the user's id") { world in
            var findings = Findings()
            let (one, two) = (try await world.inboxDevice("E1"), try await world.inboxDevice("E1"))
            _ = try await world.run(
                .setPreferences(world.inbox, DeviceCaller(key: two.key), PreferenceChange(alias: "cp"))
            )
            let three = try await world.inboxDevice("E2")
            _ = try await world.run(
                .setPreferences(world.inbox, DeviceCaller(key: three.key), PreferenceChange(alias: "cp2"))
            )
            func found(_ names: UserID...) async throws -> [IdentityID] {
                let answer = try await world.run(.resolveAliases(world.inbox, names, limit: 10))
                guard case .resolvedUsers(let targets)? = answer else { return [] }
                findings.expect(targets.allSatisfy { names.contains($0.user) }, "named otherwise than asked")
                return targets.map(\.found.identity)
            }
            findings.equal(try await found("cp"), [two.identity], "the alias")
            findings.equal(try await found("E1"), [one.identity], "who has no alias is called by the id")
            findings.equal(try await found("E2"), [three.identity], "whose alias nobody asked for")
            findings.equal(try await found("E3"), [], "nobody")
            findings.equal(try await found("cp2", "cp"), [three.identity, two.identity], "in the order of the call")
            return findings.list
        },
    ]

    private static let histories = [
        ContractRule("pages of a history follow each other without hole or repeat, newest first") { world in
            var findings = Findings()
            let device = try await world.inboxDevice("E1")
            var numbers: [String] = []
            for index in 0..<7 {
                try await world.pass(.milliseconds(1))
                let state: DeliveryState = index.isMultiple(of: 2) ? .sent : .suppressed
                numbers.insert(try await world.sent(to: [device], state).number, at: 0)
            }
            var seen: [String] = []
            var before: String?
            while true {
                let page = try await world.page(device, HistoryPage(.device, before: before, count: 3))
                if page.isEmpty { break }
                seen += page.map { $0.notification.number(for: .ipns) }
                before = seen.last
                if seen.count > 10 { break }
            }
            findings.equal(seen, numbers, "all pages")
            let unknown = try await world.page(device, HistoryPage(.device, before: "0", count: 3))
            findings.equal(unknown.count, 0, "before a number that is less than all")
            let above = try await world.page(device, HistoryPage(.device, before: "99", count: 50))
            findings.equal(above.count, 7, "before a number that is more than all")
            return findings.list
        },
        ContractRule("what was sent to a device counts as received once its history showed it; nothing else does") {
            world in
            var findings = Findings()
            let (device, other) = (try await world.inboxDevice("E1"), try await world.inboxDevice("E1"))
            _ = try await world.sent(to: [device], .sent)
            try await world.pass(.milliseconds(1))
            _ = try await world.sent(to: [device], .suppressed)
            let foreign = try await world.page(other, HistoryPage(.user("E1"), count: 10))
            findings.equal(foreign.map { $0.receivedAt != nil }, [false, false], "shown to another device of the user")
            let shown = try await world.page(device, HistoryPage(.device, count: 10))
            findings.equal(shown.map { $0.receivedAt != nil }, [false, true], "shown to the device")
            let later = try await world.page(other, HistoryPage(.user(nil), count: 10))
            findings.equal(later.map { $0.receivedAt != nil }, [false, true], "seen by the user later")
            findings.equal(later.map(\.user), ["E1", "E1"], "whose they are")
            return findings.list
        },
        ContractRule(
            "a device keeps what came for its earlier user, who keeps it too; a user's message on two devices is one"
        ) {
            world in
            var findings = Findings()
            let (one, two) = (try await world.inboxDevice("E1"), try await world.inboxDevice("E1"))
            let (_, first) = try await world.sent(to: [one, two], .sent)
            _ = try await world.register(one.key, user: "E2", vendor: .ipns)
            try await world.pass(.milliseconds(1))
            let (_, second) = try await world.sent(to: [InboxDevice(one, user: "E2")], .sent)
            func numbers(_ device: InboxDevice, _ owner: HistoryPage.Owner) async throws -> [String] {
                try await world.page(device, HistoryPage(owner, count: 10)).map { $0.notification.number(for: .ipns) }
            }
            findings.equal(try await numbers(one, .device), [second, first], "the device")
            findings.equal(try await numbers(one, .user(nil)), [second], "its user now")
            findings.equal(try await numbers(two, .user(nil)), [first], "the other user")
            findings.equal(try await numbers(two, .user("E2")), [], "somebody else's history")
            findings.expect(try await world.entry(two, second) == nil, "somebody else's message")
            findings.expect(try await world.entry(one, first) != nil, "an earlier message of the device")
            return findings.list
        },
    ]

    private static let polling = [
        ContractRule("a poll gives what was not received, oldest first, once, and says how many are left") { world in
            var findings = Findings()
            let (device, other) = (try await world.inboxDevice("E1"), try await world.inboxDevice("E1"))
            var numbers: [String] = []
            for state in [DeliveryState.sent, .suppressed, .failed, .sent] {
                try await world.pass(.milliseconds(1))
                numbers.append(try await world.sent(to: [device], state).number)
            }
            findings.equal(try await world.unreceived(device), 4, "before")
            let first = try await world.poll(device, 3)
            findings.equal(first.map { $0.notification.number(for: .ipns) }, Array(numbers[..<3]), "the first poll")
            findings.expect(first.allSatisfy { $0.receivedAt != nil && $0.readAt == nil }, "they are not received")
            findings.equal(try await world.unreceived(device), 1, "after it")
            findings.equal(try await world.poll(device, 3).count, 1, "the second poll")
            findings.equal(try await world.poll(device, 3).count, 0, "the third poll")
            findings.equal(try await world.poll(other, 3).count, 0, "another device")
            let page = try await world.page(device, HistoryPage(.device, count: 10))
            findings.expect(page.count == 4 && page.allSatisfy { $0.receivedAt != nil }, "the history after it")
            return findings.list
        },
        ContractRule("what was received otherwise is not polled, and what was canceled is nobody's") { world in
            var findings = Findings()
            let device = try await world.inboxDevice("E1")
            _ = try await world.sent(to: [device], .canceled)
            let (_, listed) = try await world.sent(to: [device], .sent)
            _ = try await world.page(device, HistoryPage(.device, count: 10))
            let (_, read) = try await world.sent(to: [device], .sent)
            findings.equal(try await world.report(device, read, .read), .recorded, "the receipt")
            findings.equal(try await world.unreceived(device), 0, "what is left")
            findings.equal(try await world.poll(device, 10).count, 0, "the poll")
            let page = try await world.page(device, HistoryPage(.device, count: 10))
            findings.equal(Set(page.map { $0.notification.number(for: .ipns) }), [listed, read], "the history")
            return findings.list
        },
        ContractRule("what is settled at acceptance is in history and polling too") { world in
            var findings = Findings()
            guard let silent = try await world.register(world.newKey(), user: "E9", vendor: .ipns) else {
                return ["not registered"]
            }
            let device = InboxDevice(key: silent.key, identity: silent.identity, user: "E9")
            var message = world.message(to: [])
            message.scope = world.inbox
            message.slices = []
            message.suppressed = [
                SuppressedTarget(
                    target: TargetID(silent.identity),
                    identity: silent.identity,
                    device: silent.device,
                    address: .user("E9"),
                    reason: .noDevice
                )
            ]
            let targets = message.suppressed.map(\.target)
            _ = try await world.commands.run(
                [
                    .accept(message),
                    .number(message.id, [.ipns: "202001150900001234"], targets: targets, inboxes: [.ipns]),
                ],
                in: world.tenant
            )
            findings.equal(try await world.unreceived(device), 1, "what is not received")
            let page = try await world.page(device, HistoryPage(.user("E9"), count: 10))
            findings.equal(
                page.map { $0.notification.number(for: .ipns) },
                ["202001150900001234"],
                "the user's history"
            )
            findings.equal(try await world.poll(device, 10).count, 1, "the poll")
            return findings.list
        },
    ]

    private static let receipts = [
        ContractRule("a receipt by number: first wins, read implies received, also for what was not pushed") { world in
            var findings = Findings()
            let device = try await world.inboxDevice("E1")
            let (_, number) = try await world.sent(to: [device], .sent)
            findings.equal(try await world.report(device, number, .received), .recorded, "received")
            findings.equal(try await world.report(device, number, .received), .repeated, "received again")
            findings.equal(try await world.report(device, number, .read), .recorded, "read")
            findings.equal(try await world.report(device, number, .read), .repeated, "read again")
            let (_, silent) = try await world.sent(to: [device], .suppressed)
            findings.equal(try await world.report(device, silent, .read), .recorded, "a suppressed one")
            findings.equal(try await world.report(device, silent, .read), .repeated, "a suppressed one again")
            let entry = try await world.entry(device, silent)
            findings.expect(entry?.readAt != nil && entry?.receivedAt == entry?.readAt, "read did not imply received")
            findings.equal(try await world.report(device, "000", .read), .unknownMessage, "an unknown number")
            return findings.list
        },
        ContractRule("strangers report nothing; another device of the user may") { world in
            var findings = Findings()
            let (one, two) = (try await world.inboxDevice("E1"), try await world.inboxDevice("E1"))
            let (_, number) = try await world.sent(to: [one], .sent)
            let stranger = try await world.inboxDevice("E2")
            let nobody = InboxDevice(key: world.newKey(), identity: stranger.identity, user: "E1")
            findings.equal(try await world.report(stranger, number, .read), .unknownMessage, "another user")
            findings.equal(try await world.report(nobody, number, .read), .unknownDevice, "nobody")
            findings.equal(try await world.report(two, number, .read), .recorded, "another device of the user")
            findings.expect(try await world.entry(one, number)?.readAt != nil, "it is not read")
            return findings.list
        },
    ]
}
