import Coverage
import Foundation
import Model
import Testing

@testable import UPMC

/// The history calls of docs/contracts/upmc.md#1.11: their commands and their answers.
struct HistoryTests {
    private let token = DeviceToken(stored: Fixture.token)
    private let device = "APP_ID=com.example.app&CUID=hong&PNSID=APNS&DEVICE_ID=6F0A&PSID=\(Fixture.token)"

    private var caller: DeviceCaller { DeviceCaller(token: token) }

    private func page(before: String? = nil, count: Int = 20, isRead: Bool? = nil) -> HistoryPage {
        HistoryPage(.user("hong"), before: before, count: count, look: HistoryLook(isRead: isRead, hiddenBy: "dbIn"))
    }

    private func commands(_ name: String, _ form: String, _ settings: BindingSettings = Mount.settings()) throws
        -> [Command]
    {
        try Mount.adapter.decode(Mount.call(name, form), settings: settings)
    }

    @Test func aListHasItsDefaultsAndItsParameters() throws {
        #expect(try commands("gw_get_message_list", device) == [.inbox(.history(caller, page()))])
        for (text, isRead) in [("Y", true), ("n", false)] {
            let form = device + "&LASTSEQNO=104&COUNT=50&READ_YN=\(text)"
            let wanted = page(before: "104", count: 50, isRead: isRead)
            #expect(try commands("gw_get_message_list", form) == [.inbox(.history(caller, wanted))])
        }
        let foreign = "0190163d-0000-7000-8000-000000000001"
        let found = try commands("gw_get_message_list", device + "&LASTSEQNO=\(foreign)")
        #expect(found == [.inbox(.history(caller, page(before: foreign)))])
    }

    @Test(arguments: [
        ("COUNT=0", "COUNT"), ("COUNT=51", "COUNT"), ("COUNT=many", "COUNT"), ("LASTSEQNO=last", "LASTSEQNO"),
        ("LASTSEQNO=-1", "LASTSEQNO"), ("LASTSEQNO=1234567890123456789", "LASTSEQNO"), ("READ_YN=X", "READ_YN"),
        ("CUID=GUEST", "CUID"), ("PSID=abc", "PSID"),
    ])
    func invalidParametersAreNamed(_ field: String, _ name: String) {
        #expect(throws: AdapterError(.invalid, field: name)) {
            _ = try commands("gw_get_message_list", device + "&" + field)
        }
    }

    @Test func oneMessageAndTheUnreadCount() throws {
        let one = InboxCommand.userMessage(caller, "hong", number: "104", hiddenBy: "dbIn")
        #expect(try commands("gw_get_message", device + "&SEQNO=104") == [.inbox(one)])
        #expect(throws: AdapterError(.missing, field: "SEQNO")) { _ = try commands("gw_get_message", device) }
        let unread = InboxCommand.unread(caller, .user("hong"), hiddenBy: "dbIn")
        let badge = BadgeCommand.set(nil, of: BadgeHolder(user: "hong"))
        #expect(try commands("gw_get_unread_count", device) == [.inbox(unread), .badge(badge)])
    }

    // A CUID and a DEVICE_ID are not secrets: without the token nothing is shown, unless the binding allows it.
    @Test(arguments: ["gw_get_message_list", "gw_get_message", "gw_get_unread_count"])
    func aUserWithoutATokenSeesNothingUnlessTheBindingAllowsIt(_ name: String) throws {
        let form = "APP_ID=com.example.app&CUID=hong&DEVICE_ID=6F0A&SEQNO=104"
        for settings in [Mount.settings(), Mount.settings("4.0EE", ["history": ["cuidAlone": "off"]])] {
            #expect(throws: AdapterError(.missing, field: "PSID")) { _ = try commands(name, form, settings) }
        }
        let open = Mount.settings("4.0EE", ["history": ["cuidAlone": "on"]])
        let callers = try commands(name, form, open).compactMap { command -> DeviceCaller? in
            switch command {
            case .inbox(.history(let caller, _)), .inbox(.userMessage(let caller, _, _, _)),
                .inbox(.unread(let caller, _, _)):
                caller
            default: nil
            }
        }
        #expect(callers == [DeviceCaller(user: "hong")])
        #expect(throws: AdapterError(.missing, field: "CUID")) {
            _ = try commands(name, "APP_ID=com.example.app&SEQNO=104", open)
        }
        // A given token is checked against the user in any case.
        guard case .inbox(.unread(let shown, _, _))? = try commands("gw_get_unread_count", device, open).first else {
            Issue.record("no count")
            return
        }
        #expect(shown == caller)
    }

    @Test func theSettingIsKnownToProvisioning() {
        func problems(_ value: JSON) -> [String] {
            UPMCSettings.problems(in: ["history": ["cuidAlone": value]], hasSecret: false)
        }
        #expect(problems("on") == [])
        #expect(problems("maybe") == ["history.cuidAlone: not an accepted value"])
    }

    // Where apps need keys, the key of another user or device gives no access.
    @Test func aKeyIsCheckedAgainstUserAndToken() throws {
        let settings = Mount.settings("5.0", ["security": ["using": true]], secrets: ["authKey": Mount.secret])
        func key(_ user: String, _ token: String) -> String {
            AuthKey(applicationID: "com.example.app", secret: Mount.secret).issue(
                user: user,
                token: token,
                now: Mount.now
            )
        }
        let own = device + "&AUTHKEY=" + key("hong", Fixture.token)
        #expect(try commands("gw_get_message_list", own, settings).count == 1)
        for wrong in ["", "&AUTHKEY=" + key("kim", Fixture.token), "&AUTHKEY=" + key("hong", "other")] {
            #expect(throws: AdapterError(.unauthorized)) {
                _ = try commands("gw_get_message_list", device + wrong, settings)
            }
        }
    }

    // MARK: Answers

    /// The message of the contract's example: sent and received in April 2016.
    private func entry(_ change: (inout InboxEntry) -> Void = { _ in }) -> InboxEntry {
        let notification = Model.Notification(
            message: MessageID(UUID()),
            origin: .upmc,
            content: Content(title: "Notice", body: "Hello", data: ["sender": "admin", "ext": "", "dbIn": "Y"]),
            sentAt: Mount.now,
            numbers: [.upmc: "104"]
        )
        var entry = InboxEntry(
            notification: notification,
            sender: nil,
            user: "hong",
            receivedAt: Mount.now + .seconds(3)
        )
        change(&entry)
        return entry
    }

    private func answer(_ name: String, _ replies: [Reply]) throws -> JSON {
        let request = Mount.call(name, device + "&SEQNO=104")
        return try Mount.body(Mount.adapter.encode(replies, for: request, settings: Mount.settings()))
    }

    private func shown(_ change: (inout InboxEntry) -> Void) throws -> JSON {
        let answer = try answer("gw_get_message", [.inbox(.message(entry(change)))])
        return try #require(answer["BODY"]?.array?.first)
    }

    @Test(.covers("upmc", "gw_get_message_list", "gw_get_message", "gw_get_unread_count")) func theDocumentedAnswers()
        throws
    {
        let page = try answer("gw_get_message_list", [.inbox(.history([entry()]))])
        #expect(try page == Fixture.json("gw_get_message_list/page.response.json"))
        let none = try answer("gw_get_message_list", [.inbox(.history([]))])
        #expect(try none["BODY"] == Fixture.json("gw_get_message_list/empty.body.json"))
        let one = try answer("gw_get_message", [.inbox(.message(entry()))])
        #expect(one["BODY"] == page["BODY"])
        #expect(one["HEADER"]?["SERVICE"] == "gw_get_message")
        let count = try answer("gw_get_unread_count", [.inbox(.unread(3)), .badge(.count(3))])
        #expect(try count["BODY"] == Fixture.json("gw_get_unread_count/body.json"))
        #expect(count["HEADER"]?["RESULT_CODE"] == "0000")
    }

    @Test func refusalsHaveTheirCodes() throws {
        func code(_ name: String, _ refusal: Refusal) throws -> JSON? {
            try answer(name, [.refused(refusal), .refused(refusal)])["HEADER"]?["RESULT_CODE"]
        }
        #expect(try code("gw_get_message_list", .unknownDevice) == "4400")
        #expect(try code("gw_get_unread_count", .unknownDevice) == "4400")
        #expect(try code("gw_get_message", .unknownMessage) == "40000")
        let half = try answer("gw_get_unread_count", [.inbox(.unread(3))])
        #expect(half["HEADER"]?["RESULT_CODE"] == "500")
    }

    @Test func aMessageHasItsState() throws {
        let read = try shown { $0.readAt = Mount.now + .seconds(60) }
        #expect(read["STATUS"] == "READ")
        #expect(read["READ_YN"] == "Y")
        #expect(read["READDATE"] == "20160414172300")
        #expect(try shown { $0.receivedAt = nil }["STATUS"] == "SENT")
        #expect(try shown { $0.receivedAt = nil }["REVDATE"] == "")
        let failed = try shown {
            $0.receivedAt = nil
            $0.wasSent = false
        }
        #expect(failed["STATUS"] == "FAILED")
    }

    // The push contained the same values (docs/contracts/upmc.md#1.9.3).
    @Test func placeholdersAreFilledForTheReader() throws {
        let filled = try shown {
            $0.notification.content = Content(title: "%CNAME%", body: "%VAR1% %CUID%")
            $0.notification.content.isTemplate = true
            $0.variables = ["VAR1": "one"]
            $0.name = "Hong"
        }
        #expect(filled["TITLE"] == "Hong")
        #expect(filled["MESSAGE"] == "one hong")
        let plain = try shown { $0.notification.content = Content(body: "100 %CUID%") }
        #expect(plain["TITLE"] == "")
        #expect(plain["MESSAGE"] == "100 %CUID%")
    }

    // A message of the native API: its id is its number, and its data is its EXT.
    @Test func aMessageOfAnotherDialectIsShownToo() throws {
        let id = MessageID(UUID())
        let foreign = try shown {
            $0.notification.message = id
            $0.notification.origin = .native
            $0.notification.numbers = [:]
            $0.notification.content = Content(body: "b", data: ["k": "v"])
        }
        #expect(foreign["SEQNO"]?.string == id.description)
        #expect(foreign["EXT"] == #"{"k":"v"}"#)
        #expect(foreign["SENDERCODE"] == "admin")
    }

    // docs/contracts/upmc.md#1.11: a message sent with DB_IN=N is not in any history; without DB_IN it is.
    @Test(arguments: [("&DB_IN=N", "N"), ("&DB_IN=Y", "Y"), ("&DB_IN=", nil), ("", nil)])
    func onlyMessagesWithTheFlagAreHidden(_ field: String, _ wanted: String?) throws {
        let form = "APP_ID=com.example.app&CUID=hong&MESSAGE=m" + field
        guard case .submission(.submit(let submission))? = try commands("rcv_register_message", form).first else {
            Issue.record("no submission")
            return
        }
        #expect(submission.content.data["dbIn"]?.string == wanted)
    }
}
