import DatabaseSupport
import DeliveryEngine
import Model
import Testing

@testable import Store

/// The rules of histories, polling, preferences and numbers.
@Suite struct InboxRuleTests {
    @Test func numbersGrowAndBlocksNeverOverlap() async throws {
        let world = try await RuleWorld.make()
        func draw(_ count: Int) async throws -> MessageNumbers {
            try await world.run(DrawNumbers(world.inbox, count: count))
        }
        let before = world.now().seconds - 2
        let (one, two, three) = (try await draw(3), try await draw(20_000), try await draw(1))
        #expect(one.first.rawValue / 10_000 >= before, "a number of an earlier second")
        #expect(one.first.rawValue % 10_000 == 5000, "an upstream begins at the first position")
        #expect(two.first.rawValue >= one.first.rawValue + 3, "the second block overlaps the first")
        #expect(three.first.rawValue >= two.first.rawValue + 20_000, "the third block overlaps the second")
        #expect(three.first.text.utf8.count == 18, "digits")
        #expect(one.first.text < three.first.text, "texts are not in the order of numbers")
    }

    @Test func aMessageIsFoundByNumberInItsAppAndTenantOnlyAndById() async throws {
        let world = try await RuleWorld.make()
        let device = try await world.inboxDevice("E1")
        let (message, number) = try await world.sent(to: [device], .sent)
        let numbered = try await world.run(FindNumbers(of: message))
        #expect(numbered == [.ipns: number], "the message's numbers")
        #expect(try await world.entry(device, number)?.notification.message == message, "by number")
        #expect(try await world.entry(device, message.description)?.notification.message == message, "by id")
        #expect(try await world.entry(device, number)?.notification.numbers == [.ipns: number], "as it is shown")
        #expect(try await world.entry(device, "000") == nil, "an unknown number finds something")
        let foreign = FindInboxMessage(world.inbox, DeviceCaller(key: device.key), number: number)
        #expect(try await world.run(foreign, in: world.otherTenant) == nil, "another tenant")
    }

    // A target that gets no push is settled at the acceptance, before anyone has approved the message.
    @Test func aMessageThatAwaitsAnApprovalIsInNoHistoryAndNoInbox() async throws {
        let world = try await RuleWorld.make()
        let pushed = try await world.inboxDevice("E1")
        let silent = try await world.inboxDevice("E2")
        let number = try await world.run(DrawNumbers(world.inbox, count: 1)).first.text
        var message = world.message(to: [pushed.identity])
        message.scope = world.inbox
        message.submitter = "key:crm"
        message.awaitsApproval = true
        let target = TargetID(silent.identity)
        message.targets.suppressed = [
            SuppressedTarget(
                target: target,
                identity: silent.identity,
                device: nil,
                address: .user(silent.user),
                reason: .noDevice
            )
        ]
        _ = try await world.commands.run(
            AcceptMessage(message),
            NumberMessage(message.id, [.ipns: number], targets: [target], inboxes: [.ipns]),
            in: world.tenant
        )
        func control(_ control: MessageControl, by actor: String?) async throws -> Int {
            try await world.run(ControlMessage(world.inbox, message.id, control, by: actor))
        }
        func history() async throws -> [MessageID] {
            try await world.page(silent, HistoryPage(.device, count: 10)).map(\.notification.message)
        }
        #expect(try await history() == [])
        #expect(try await world.entry(silent, number) == nil)
        #expect(try await world.poll(silent, 10) == [])
        #expect(try await world.unreceived(silent) == 0)
        #expect(try await control(.resume, by: "key:other") == 0, "a resumption is not an approval")
        #expect(try await control(.approve, by: "key:crm") == 0, "the sender")
        #expect(try await control(.approve, by: nil) == 0, "nobody")
        #expect(try await control(.approve, by: "key:other") == 1)
        #expect(try await control(.approve, by: "key:other") == 0, "twice")
        #expect(try await world.entry(silent, number)?.notification.message == message.id)
        #expect(try await world.unreceived(silent) == 1)
        #expect(try await world.poll(silent, 10).map(\.notification.message) == [message.id])
        #expect(try await history() == [message.id])
    }

    @Test func preferencesHaveDefaultsAndChangeOneByOne() async throws {
        let world = try await RuleWorld.make()
        let device = try await world.inboxDevice("E1")
        let caller = DeviceCaller(key: device.key)
        func set(_ change: PreferenceChange) async throws {
            let answer = try await world.run(SetPreferences(world.inbox, caller, change))
            #expect(answer == 1, "set")
        }
        let fresh = DevicePreferences(acceptsPush: true, user: "E1")
        #expect(try await world.preferences(caller) == fresh, "defaults")
        try await set(PreferenceChange(acceptsPush: false))
        try await set(PreferenceChange(windowFrom: 540, timeZone: TimeZoneName("Asia/Seoul")))
        let morning = DailyWindow(from: 540, to: 1439)
        #expect(
            try await world.preferences(caller) == DevicePreferences(acceptsPush: false, window: morning, user: "E1"),
            "one end of the window"
        )
        try await set(PreferenceChange(windowTo: 1080, alias: "cp"))
        let whole = DevicePreferences(
            acceptsPush: false,
            window: DailyWindow(from: 540, to: 1080),
            user: "E1",
            alias: "cp"
        )
        #expect(try await world.preferences(caller) == whole, "the other end")
        _ = try await world.register(device.key, user: "E1", vendor: .ipns)
        #expect(try await world.preferences(caller) == whole, "after registering again")
        try await set(PreferenceChange(windowFrom: 0, windowTo: 1439))
        #expect(try await world.preferences(caller)?.window == nil, "the whole day")
        let stranger = DeviceCaller(key: world.newKey())
        #expect(try await world.preferences(stranger) == nil, "a stranger has preferences")
        let refused = try await world.run(
            SetPreferences(world.inbox, stranger, PreferenceChange(acceptsPush: true))
        )
        #expect(refused == 0, "a stranger's change")
    }

    @Test func aCallerIsKnownByItsKeyElseByItsToken() async throws {
        let world = try await RuleWorld.make()
        let token = world.newToken()
        let key = world.newKey()
        _ = try await world.register(key, token: token, user: "E1", vendor: .ipns)
        for caller in [
            DeviceCaller(key: key), DeviceCaller(key: nil, token: token), DeviceCaller(key: "other", token: token),
        ] {
            #expect(try await world.preferences(caller)?.user == "E1", "\(caller)")
        }
        #expect(
            try await world.preferences(DeviceCaller(key: nil, token: world.newToken())) == nil,
            "another token finds it"
        )
    }

    @Test func anAliasFindsItsDevicesAndOtherNamesAreUserIds() async throws {
        let world = try await RuleWorld.make()
        let (one, two) = (try await world.inboxDevice("E1"), try await world.inboxDevice("E1"))
        _ = try await world.run(
            SetPreferences(world.inbox, DeviceCaller(key: two.key), PreferenceChange(alias: "cp"))
        )
        let three = try await world.inboxDevice("E2")
        _ = try await world.run(
            SetPreferences(world.inbox, DeviceCaller(key: three.key), PreferenceChange(alias: "cp2"))
        )
        func found(_ names: UserID...) async throws -> [IdentityID] {
            let targets = try await world.run(ResolveUsers(world.inbox, names, by: .aliases, limit: 10))
            #expect(targets.allSatisfy { names.contains($0.user) }, "named differently from the request")
            return targets.map(\.found.identity)
        }
        #expect(try await found("cp") == [two.identity], "the alias")
        #expect(try await found("E1") == [one.identity], "a user without an alias is named by the id")
        #expect(try await found("E2") == [three.identity], "a user whose alias was not requested")
        #expect(try await found("E3") == [], "nobody")
        #expect(try await found("cp2", "cp") == [three.identity, two.identity], "in the order of the call")
    }

    @Test func pagesOfAHistoryAreNewestFirstWithoutGapsOrRepeats() async throws {
        let world = try await RuleWorld.make()
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
        #expect(seen == numbers, "all pages")
        let unknown = try await world.page(device, HistoryPage(.device, before: "0", count: 3))
        #expect(unknown.count == 0, "before a number that is less than all")
        let above = try await world.page(device, HistoryPage(.device, before: "99", count: 50))
        #expect(above.count == 7, "before a number that is more than all")
    }

    @Test func aMessageShownInAHistoryCountsAsReceivedIfItWasSent() async throws {
        let world = try await RuleWorld.make()
        let (device, other) = (try await world.inboxDevice("E1"), try await world.inboxDevice("E1"))
        _ = try await world.sent(to: [device], .sent)
        try await world.pass(.milliseconds(1))
        _ = try await world.sent(to: [device], .suppressed)
        let foreign = try await world.page(other, HistoryPage(.user("E1"), count: 10))
        #expect(foreign.map { $0.receivedAt != nil } == [false, false], "shown to another device of the user")
        let shown = try await world.page(device, HistoryPage(.device, count: 10))
        #expect(shown.map { $0.receivedAt != nil } == [false, true], "shown to the device")
        let later = try await world.page(other, HistoryPage(.user(nil), count: 10))
        #expect(later.map { $0.receivedAt != nil } == [false, true], "seen by the user later")
        #expect(later.map(\.user) == ["E1", "E1"], "the users of the messages")
    }

    @Test func historiesOfADeviceAndItsEarlierUserBothKeepAMessage() async throws {
        let world = try await RuleWorld.make()
        let (one, two) = (try await world.inboxDevice("E1"), try await world.inboxDevice("E1"))
        let (_, first) = try await world.sent(to: [one, two], .sent)
        _ = try await world.register(one.key, user: "E2", vendor: .ipns)
        try await world.pass(.milliseconds(1))
        let (_, second) = try await world.sent(to: [InboxDevice(one, user: "E2")], .sent)
        func numbers(_ device: InboxDevice, _ owner: HistoryPage.Owner) async throws -> [String] {
            try await world.page(device, HistoryPage(owner, count: 10)).map { $0.notification.number(for: .ipns) }
        }
        #expect(try await numbers(one, .device) == [second, first], "the device")
        #expect(try await numbers(one, .user(nil)) == [second], "its user now")
        #expect(try await numbers(two, .user(nil)) == [first], "the other user")
        #expect(try await numbers(two, .user("E2")) == [], "another user's history")
        #expect(try await world.entry(two, second) == nil, "another user's message")
        #expect(try await world.entry(one, first) != nil, "an earlier message of the device")
    }

    @Test func aPollReturnsUnreceivedMessagesOnceOldestFirstWithTheRest() async throws {
        let world = try await RuleWorld.make()
        let (device, other) = (try await world.inboxDevice("E1"), try await world.inboxDevice("E1"))
        var numbers: [String] = []
        for state in [DeliveryState.sent, .suppressed, .failed, .sent] {
            try await world.pass(.milliseconds(1))
            numbers.append(try await world.sent(to: [device], state).number)
        }
        #expect(try await world.unreceived(device) == 4, "before")
        let first = try await world.poll(device, 3)
        #expect(first.map { $0.notification.number(for: .ipns) } == Array(numbers[..<3]), "the first poll")
        #expect(first.allSatisfy { $0.receivedAt != nil && $0.readAt == nil }, "they are not received")
        #expect(try await world.unreceived(device) == 1, "after it")
        #expect(try await world.poll(device, 3).count == 1, "the second poll")
        #expect(try await world.poll(device, 3).count == 0, "the third poll")
        #expect(try await world.poll(other, 3).count == 0, "another device")
        let page = try await world.page(device, HistoryPage(.device, count: 10))
        #expect(page.count == 4 && page.allSatisfy { $0.receivedAt != nil }, "the history after it")
    }

    @Test func receivedAndCanceledMessagesAreNotPolled() async throws {
        let world = try await RuleWorld.make()
        let device = try await world.inboxDevice("E1")
        _ = try await world.sent(to: [device], .canceled)
        let (_, listed) = try await world.sent(to: [device], .sent)
        _ = try await world.page(device, HistoryPage(.device, count: 10))
        let (_, read) = try await world.sent(to: [device], .sent)
        #expect(try await world.report(device, read, .read) == .recorded, "the receipt")
        #expect(try await world.unreceived(device) == 0, "what is left")
        #expect(try await world.poll(device, 10).count == 0, "the poll")
        let page = try await world.page(device, HistoryPage(.device, count: 10))
        #expect(Set(page.map { $0.notification.number(for: .ipns) }) == [listed, read], "the history")
    }

    @Test func messagesSettledAtAcceptanceAreInHistoryAndInbox() async throws {
        let world = try await RuleWorld.make()
        guard let silent = try await world.register(world.newKey(), user: "E9", vendor: .ipns) else {
            return fail("not registered")
        }
        let device = InboxDevice(key: silent.key, identity: silent.identity, user: "E9")
        var message = world.message(to: [])
        message.scope = world.inbox
        message.targets.slices = []
        message.targets.suppressed = [
            SuppressedTarget(
                target: TargetID(silent.identity),
                identity: silent.identity,
                device: silent.device,
                address: .user("E9"),
                reason: .noDevice
            )
        ]
        let targets = message.targets.suppressed.map(\.target)
        _ = try await world.commands.run(
            AcceptMessage(message),
            NumberMessage(message.id, [.ipns: "202001150900001234"], targets: targets, inboxes: [.ipns]),
            in: world.tenant
        )
        #expect(try await world.unreceived(device) == 1, "what is not received")
        let page = try await world.page(device, HistoryPage(.user("E9"), count: 10))
        #expect(page.map { $0.notification.number(for: .ipns) } == ["202001150900001234"], "the user's history")
        #expect(try await world.poll(device, 10).count == 1, "the poll")
    }

    @Test func receiptsByNumberAlsoWorkForMessagesThatWereNotPushed() async throws {
        let world = try await RuleWorld.make()
        let device = try await world.inboxDevice("E1")
        let (_, number) = try await world.sent(to: [device], .sent)
        #expect(try await world.report(device, number, .received) == .recorded, "received")
        #expect(try await world.report(device, number, .received) == .repeated, "received again")
        #expect(try await world.report(device, number, .read) == .recorded, "read")
        #expect(try await world.report(device, number, .read) == .repeated, "read again")
        let (_, silent) = try await world.sent(to: [device], .suppressed)
        #expect(try await world.report(device, silent, .read) == .recorded, "a suppressed one")
        #expect(try await world.report(device, silent, .read) == .repeated, "a suppressed one again")
        let entry = try await world.entry(device, silent)
        #expect(entry?.readAt != nil && entry?.receivedAt == entry?.readAt, "read did not imply received")
        #expect(try await world.report(device, "000", .read) == .unknownMessage, "an unknown number")
    }

    @Test func onlyDevicesOfTheUserMayReport() async throws {
        let world = try await RuleWorld.make()
        let (one, two) = (try await world.inboxDevice("E1"), try await world.inboxDevice("E1"))
        let (_, number) = try await world.sent(to: [one], .sent)
        let stranger = try await world.inboxDevice("E2")
        let nobody = InboxDevice(key: world.newKey(), identity: stranger.identity, user: "E1")
        #expect(try await world.report(stranger, number, .read) == .unknownMessage, "another user")
        #expect(try await world.report(nobody, number, .read) == .unknownDevice, "nobody")
        #expect(try await world.report(two, number, .read) == .recorded, "another device of the user")
        #expect(try await world.entry(one, number)?.readAt != nil, "it is not read")
    }
}
