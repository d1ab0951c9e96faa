import DeliveryEngine
import Model
import Testing

@testable import Store

// Histories without side effects, and their unread messages.
extension InboxRuleTests {
    @Test func aLookFiltersByReadStateAndChangesNothing() async throws {
        let world = try await RuleWorld.make()
        let device = try await world.inboxDevice("E1")
        let caller = DeviceCaller(key: device.key)
        var numbers: [String] = []
        for index in 0..<6 {
            try await world.pass(.milliseconds(1))
            let data: JSONObject = index == 5 ? ["kept": "N"] : ["kept": "Y"]
            numbers.insert(try await world.sent(to: [device], .sent, data: data).number, at: 0)
        }
        let (hidden, shown) = (numbers[0], Array(numbers[1...]))
        #expect(try await world.report(device, shown[1], .read) == .recorded, "the reading")
        #expect(try await world.report(device, shown[4], .read) == .recorded, "the other reading")
        func look(_ isRead: Bool?, before: String? = nil, count: Int = 10) async throws -> [String] {
            let look = HistoryLook(isRead: isRead, hiddenBy: "kept")
            return try await world.look(caller, "E1", before: before, count: count, look)
        }
        #expect(try await look(nil) == shown, "all")
        #expect(try await look(true) == [shown[1], shown[4]], "the read ones")
        #expect(try await look(false) == [shown[0], shown[2], shown[3]], "the unread ones")
        #expect(try await look(false, count: 1) == [shown[0]], "a page of one")
        #expect(try await look(false, before: shown[0], count: 1) == [shown[2]], "the page after it")
        #expect(try await look(nil, before: shown[2]) == [shown[3], shown[4]], "before a message")
        #expect(try await look(nil, before: "0") == [], "before a number less than all")
        #expect(try await look(nil, before: "99") == shown, "before a number that was not given out")
        #expect(try await look(nil, before: "none") == [], "before a text that is not a number")
        let all = try await world.look(caller, nil, HistoryLook())
        #expect(all == [hidden] + shown, "where nothing hides")
        let entry = try await world.userEntry(caller, "E1", shown[0])
        #expect(entry.map { $0.receivedAt == nil && $0.wasSent } ?? false, "a look changed something")
        let gone = try await world.userEntry(caller, "E1", hidden, hiddenBy: "kept")
        #expect(gone == nil, "a hidden message was shown")
    }

    @Test func unreadMessagesAreCountedOncePerMessageUpToALimit() async throws {
        let world = try await RuleWorld.make()
        let (one, two) = (try await world.inboxDevice("E1"), try await world.inboxDevice("E1"))
        let caller = DeviceCaller(key: one.key)
        #expect(try await world.unread(caller, .user("E1")) == 0, "before anything came")
        var numbers: [String] = []
        for state in [DeliveryState.sent, .suppressed, .sent, .canceled] {
            try await world.pass(.milliseconds(1))
            numbers.append(try await world.sent(to: [one, two], state, data: ["kept": "Y"]).number)
        }
        try await world.pass(.milliseconds(1))
        _ = try await world.sent(to: [two], .sent, data: ["kept": "N"])
        #expect(try await world.unread(caller, .user("E1")) == 4, "messages of the user, once each")
        #expect(try await world.unread(caller, .user(nil)) == 4, "of the caller's user")
        #expect(try await world.unread(caller, .user("E1"), hiddenBy: "kept") == 3, "without the hidden one")
        #expect(try await world.unread(caller, .device) == 3, "of the device")
        #expect(try await world.unread(caller, .user("E1"), limit: 2) == 2, "to a limit")
        #expect(try await world.report(two, numbers[0], .read) == .recorded, "the other device reads")
        #expect(try await world.unread(caller, .user("E1"), hiddenBy: "kept") == 2, "after it")
        #expect(try await world.report(one, numbers[0], .received) == .recorded, "this one receives")
        #expect(try await world.unread(caller, .device) == 3, "of this device: it read nothing")
        let list = try await world.look(caller, "E1", HistoryLook(isRead: false, hiddenBy: "kept"))
        #expect(list == [numbers[2], numbers[1]], "the list of them")
        let entry = try await world.userEntry(caller, "E1", numbers[1])
        #expect(entry?.wasSent == false, "what was not pushed was not sent")
        #expect(try await world.unread(caller, .user("E1"), in: world.otherTenant) == 0, "another tenant")
    }

    @Test func aLookShowsTheUsersOwnMessagesAndNeedsADevice() async throws {
        let world = try await RuleWorld.make()
        let (one, two) = (try await world.inboxDevice("E1"), try await world.inboxDevice("E2"))
        let (_, first) = try await world.sent(to: [one], .sent)
        _ = try await world.register(one.key, user: "E2", vendor: .ipns)
        try await world.pass(.milliseconds(1))
        let (_, second) = try await world.sent(to: [InboxDevice(one, user: "E2")], .sent)
        let caller = DeviceCaller(key: one.key)
        #expect(try await world.look(caller, "E2", HistoryLook()) == [second], "the device's user now")
        #expect(try await world.look(caller, "E1", HistoryLook()) == [], "its user before")
        #expect(try await world.unread(caller, .user("E1")) == 0, "what that one has not read")
        #expect(try await world.userEntry(caller, "E2", first) == nil, "the message of the one before")
        #expect(try await world.userEntry(caller, "E1", first) == nil, "by that one's name")
        #expect(try await world.userEntry(caller, "E2", second) != nil, "its own message")
        let name = DeviceCaller(user: "E2")
        #expect(try await world.look(name, "E2", HistoryLook()) == [second], "by the name")
        #expect(try await world.unread(name, .user("E2")) == 1, "counted by the name")
        #expect(try await world.userEntry(name, "E2", second) != nil, "one by the name")
        #expect(try await world.look(name, "E1", HistoryLook()) == [], "another's by the name")
        #expect(try await world.look(DeviceCaller(user: "E1"), "E1", HistoryLook()) == [], "a device without a user")
        #expect(
            try await world.look(DeviceCaller(key: world.newKey(), user: "E2"), "E2", HistoryLook()) == [],
            "a strange device with a name"
        )
        #expect(try await world.preferences(name)?.user == "E2", "found by the name")
        #expect(try await world.preferences(DeviceCaller(user: "E1")) == nil, "not found by the name")
        let page = ListHistory(world.inbox, name, HistoryPage(.user("E2"), count: 10), at: world.now())
        #expect(try await world.run(page) == [], "a name receives nothing")
        #expect(try await world.unread(DeviceCaller(key: two.key), .user("E2")) == 1, "the user's other device")
    }
}
