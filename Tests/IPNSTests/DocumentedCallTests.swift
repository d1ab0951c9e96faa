import Coverage
import Foundation
import IPNS
import Model
import Testing

/// Every example of docs/contracts/ipns.md#2.5 to 2.11: the request becomes the documented commands, and their replies become the documented answer,
/// key for key. Commands and replies are written by hand from the contract's tables.
struct DocumentedCallTests {
    static let device: VendorDeviceKey = "5B1C…"
    static let caller = DeviceCaller(key: device)
    /// 2020-01-15 09:00:00 in Seoul.
    static let sentAt = Timestamp(seconds: 1_579_046_400)

    static func entry(
        _ number: String,
        title: String,
        alert: String,
        message: String,
        sentAt: Timestamp,
        isRead: Bool
    ) -> InboxEntry {
        InboxEntry(
            notification: Notification(
                message: MessageID(UUID()),
                origin: .ipns,
                content: Content(title: title, body: alert, data: JSONObject([("message", .string(message))])),
                sentAt: sentAt,
                numbers: [.ipns: number]
            ),
            sender: nil,
            user: "E12345",
            receivedAt: sentAt,
            readAt: isRead ? sentAt : nil
        )
    }

    static func approval(_ message: String = "{…}", alert: String = "You have a new approval") -> InboxEntry {
        entry(
            "202001150900001234",
            title: "Approval",
            alert: alert,
            message: message,
            sentAt: sentAt,
            isRead: false
        )
    }

    // docs/contracts/ipns.md#2.5
    @Test(.covers("ipns", "appRegist")) func registration() throws {
        let call = try #require(
            Fixture.calls("appRegist.txt", ["9f2c…64hex": Fixture.token]).first
        )
        let request = Mount.request(call.path, call.request)
        var registration = DeviceRegistration(
            key: Self.device,
            platform: .ios,
            token: DeviceToken(stored: Fixture.token),
            user: "E12345"
        )
        registration.derivesKey = true
        let caller = DeviceCaller(key: Self.device, token: DeviceToken(stored: Fixture.token))
        #expect(
            try Mount.commands(request) == [
                .registration(.register(registration)),
                .preference(.setPreferences(caller, PreferenceChange(acceptsPush: true))),
            ]
        )
        let registered = Registered(
            identity: IdentityID(UUID()),
            device: DeviceID(UUID()),
            key: Self.device,
            platform: .ios,
            wasActive: false
        )
        let answer = try Mount.answer(request, .registration(.registered(registered)), .preference(.preferencesSet))
        #expect(answer == call.response)
    }

    // docs/contracts/ipns.md#2.5: without `PUSH_YN`, the answer names the setting of the device.
    @Test(arguments: [nil, "Y", "N"] as [String?]) func registrationAnswersTheSetting(_ stated: String?) throws {
        var body: JSONObject = [
            "APP_ID": "hr.mobile", "DEVICE_ID": "5B1C…", "USER_CN": "E12345", "PUSH_TOKEN": .string(Fixture.token),
        ]
        if let stated { body["PUSH_YN"] = .string(stated) }
        let request = Mount.request("/ipns/appRegist", .object(body))
        let caller = DeviceCaller(key: Self.device, token: DeviceToken(stored: Fixture.token))
        let change = PreferenceChange(acceptsPush: stated == "Y")
        let commands = try Mount.commands(request)
        #expect(commands.count == 2)
        #expect(commands.last == .preference(stated == nil ? .preferences(caller) : .setPreferences(caller, change)))
        let registered = Registered(
            identity: IdentityID(UUID()),
            device: DeviceID(UUID()),
            key: Self.device,
            platform: .ios,
            wasActive: true
        )
        let reply = stated == nil ? PreferenceReply.preferences(DevicePreferences(acceptsPush: false)) : .preferencesSet
        let answer = try Mount.answer(request, .registration(.registered(registered)), .preference(reply))
        #expect(answer["RT"] == "0000" && answer["PUSH_YN"] == .string(stated ?? "N"))
    }

    // docs/contracts/ipns.md#2.7
    @Test(.covers("ipns", "readReport")) func readReport() throws {
        let call = try #require(Fixture.calls("readReport.txt").first)
        let request = Mount.request(call.path, call.request)
        #expect(
            try Mount.commands(request)
                == [.receipt(.reportNumber(.read, number: "202001150900001234", caller: Self.caller))]
        )
        #expect(try Mount.answer(request, .receipt(.recorded)) == call.response)
        #expect(try Mount.answer(request, .receipt(.repeated)) == call.response)
        #expect(try Mount.answer(request, .refused(.unknownMessage))["RT"] == "2004")
    }

    // docs/contracts/ipns.md#2.6: the contract has only the list of its fields and no example. A repeated receipt is
    // a success too.
    @Test(.covers("ipns", "recvReport")) func recvReport() throws {
        let body: JSON = ["APP_ID": "hr.mobile", "DEVICE_ID": "5B1C…", "MSG_ID": "202001150900001234"]
        let request = Mount.request("/ipns/recvReport", body)
        #expect(
            try Mount.commands(request)
                == [.receipt(.reportNumber(.received, number: "202001150900001234", caller: Self.caller))]
        )
        let success: JSON = ["RT": "0000", "RT_MSG": "SUCCESS", "rtCode": "0000", "error": ""]
        #expect(try Mount.answer(request, .receipt(.recorded)) == success)
        #expect(try Mount.answer(request, .receipt(.repeated)) == success)
        #expect(try Mount.answer(request, .refused(.unknownMessage))["RT"] == "2004")
        #expect(try Mount.answer(request, .refused(.unknownDevice))["RT"] == "2003")
        let unnamed: JSON = ["APP_ID": "hr.mobile", "DEVICE_ID": "5B1C…"]
        #expect(try Mount.result(Mount.request("/ipns/recvReport", unnamed)) == "2001")
    }

    // docs/contracts/ipns.md#2.8
    @Test(.covers("ipns", "updateConfig", "getConfig")) func config() throws {
        let calls = try Fixture.calls("config.txt")
        try #require(calls.count == 2)
        let update = Mount.request(calls[0].path, calls[0].request)
        let change = PreferenceChange(
            acceptsPush: true,
            windowFrom: 540,
            windowTo: 1080,
            timeZone: TimeZoneName(stored: "Asia/Seoul"),
            alias: "E12345"
        )
        #expect(try Mount.commands(update) == [.preference(.setPreferences(Self.caller, change))])
        #expect(try Mount.answer(update, .preference(.preferencesSet)) == calls[0].response)
        let get = Mount.request(calls[1].path, calls[1].request)
        #expect(try Mount.commands(get) == [.preference(.preferences(Self.caller))])
        let preferences = DevicePreferences(
            acceptsPush: true,
            window: DailyWindow(from: 540, to: 1080),
            user: "E12345"
        )
        #expect(try Mount.answer(get, .preference(.preferences(preferences))) == calls[1].response)
        // Defaults: the whole day (docs/contracts/ipns.md#2.1).
        let fresh = try Mount.answer(get, .preference(.preferences(DevicePreferences(acceptsPush: false, user: "E1"))))
        #expect(fresh["START_TIME"] == "0000" && fresh["END_TIME"] == "2359" && fresh["PUSH_YN"] == "N")
        #expect(fresh["CP_USER_ID"] == "E1")
    }

    // docs/contracts/ipns.md#2.9
    @Test(.covers("ipns", "getMsgs")) func history() throws {
        let call = try #require(Fixture.calls("getMsgs.txt").first)
        let request = Mount.request(call.path, call.request)
        #expect(
            try Mount.commands(request)
                == [.inbox(.history(Self.caller, HistoryPage(.user("E12345"), count: 20)))]
        )
        let notice = Self.entry(
            "202001141000000007",
            title: "Notice",
            alert: "…",
            message: "…",
            sentAt: Timestamp(seconds: 1_578_963_600),
            isRead: true
        )
        #expect(try Mount.answer(request, .inbox(.history([Self.approval(), notice]))) == call.response)
        let empty = try Mount.answer(request, .inbox(.history([])))
        #expect(empty["RT"] == "0000" && empty["COUNT"] == 0 && empty["LIST"] == [])
    }

    @Test(.covers("ipns", "getMsgDetail")) func detail() throws {
        let head = "\"RT_MSG\":\"SUCCESS\",\"rtCode\":\"0000\",\"error\":\"\","
        let call = try #require(
            Fixture.calls("getMsgDetail.txt", ["\"RT\":\"0000\",…,": "\"RT\":\"0000\",\(head)"]).first
        )
        let request = Mount.request(call.path, call.request)
        #expect(
            try Mount.commands(request) == [.inbox(.message(Self.caller, number: "202001150900001234"))]
        )
        #expect(try Mount.answer(request, .inbox(.message(Self.approval("full text", alert: "…")))) == call.response)
    }

    // docs/contracts/ipns.md#2.10
    @Test(.covers("ipns", "polling")) func polling() throws {
        let item = """
            {"REQ_ID":"202001150900001234","TITLE":"Approval","ALERT":"You have a new approval","MESSAGE":"{…}",\
            "SEND_DATE":"20200115090000","RECV_YN":"Y","READ_YN":"N","USER_CN":"E12345"}
            """
        let call = try #require(Fixture.calls("polling.txt", ["{…same item…}": item]).first)
        let request = Mount.request(call.path, call.request)
        #expect(try Mount.commands(request) == [.inbox(.poll(Self.caller, limit: 10))])
        #expect(try Mount.answer(request, .inbox(.polled([Self.approval()], remaining: 3))) == call.response)
    }

    // docs/contracts/ipns.md#2.11
    @Test(.covers("ipns", "send")) func send() throws {
        let call = try #require(Fixture.calls("send.txt").first)
        let request = Mount.request(call.path, call.request, headers: ["Authorization": "Bearer key"])
        var submission = Submission(
            content: Content(
                title: "Approval",
                body: "You have a new approval",
                badge: 1,
                sound: "default",
                data: JSONObject([("message", "{…}")])
            ),
            audience: .users(["E12345", "E77777"]),
            lane: .bulk
        )
        submission.naming = .aliases
        submission.omitsUnknown = true
        #expect(try Mount.commands(request) == [.submission(.submit(submission))])
        let (key, caller) = try Mount.adapter.locate(request)
        #expect(key == BindingKey(vendor: .ipns, kind: "app", value: "hr.mobile") && caller == .sender)
        let sent = AddressedSubmission(
            message: MessageID(UUID()),
            number: "202001150900001234",
            recipients: 2,
            addressees: 1,
            unknown: [.user("E77777")]
        )
        #expect(try Mount.answer(request, .submission(.addressed(sent))) == call.response)
    }

    // docs/contracts/ipns.md#2.6
    @Test func payload() throws {
        let content = Content(
            title: "Approval",
            body: "You have a new approval",
            badge: 1,
            data: JSONObject([("message", .string("{\"docId\":\"A-77\"}"))])
        )
        let notification = Notification(
            message: MessageID(UUID()),
            origin: .ipns,
            content: content,
            sentAt: Self.sentAt,
            numbers: [.ipns: "202001150900001234"]
        )
        let push = try IPNSPayload(notification, appID: "hr.mobile").encoded()
        #expect(try JSONParser.parse(push.bytes) == Fixture.json("payload.json"))
        #expect(push.type == .alert && push.priority == 10 && push.reduced == [])
    }
}
