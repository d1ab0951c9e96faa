import Model
import Testing

@testable import ConsoleAudience
@testable import ConsoleDelivery
@testable import PageParts
@testable import WebConsole

/// The pages of a delivery and of the diagnosis of a device: each planted cause is the answer.
struct DiagnosisPageTests {
    private static let device = "0198a1f0-0000-7000-8000-00000000000d"
    private static let message = "0198a1f0-7c00-7000-8000-000000000001"
    private static let target = "0198a1f0-0000-7000-8000-00000000000a"

    private func deviceBody(token: String = "active") throws -> JSON {
        try ReadPages.json(
            """
            {"id": "\(Self.device)", "app": "shop", "platform": "ios", "environment": "production", "token": "8d7c2b…504f", "tokenState": "\(token)",
            "createdAt": "2026-11-01T00:00:00.000Z", "identities": [{"id": "\(Self.target)", "vendor": "rationalowl", "key": "phone-1", "state": "active",
            "user": "u-1", "name": "Hong Gildong", "phone": "010-••••-2222", "acceptsPush": true, "tags": ["seoul"], "registeredAt": "2026-11-02T00:12:00.000Z",
            "assurance": "claimed", "client": {"appVersion": "2.4.3", "os": "iOS", "osVersion": "17.5", "model": "iPhone15,2"}}],
            "receivingWindow": {"from": "0900", "to": "2100"}}
            """
        )
    }

    private func delivery(_ state: String, _ reason: String?, more: String = "") throws -> JSON {
        let reason = reason.map { "\"\($0)\"" } ?? "null"
        return try ReadPages.json(
            """
            {"target": "\(Self.target)", "device": "\(Self.device)", "state": "\(state)", "reason": \(reason), "sentAt": "2026-11-22T05:02:07.371Z",
            "transportMilliseconds": 162, "certain": true, "attempts": 1, "payloadBytes": 239, "deviceVendor": "rationalowl",
            "explanation": {"standing": "…", "device": {"tokenState": "invalid", "tokenReason": \(reason)},
            "route": {"topic": "com.example.shop", "credential": "apple", "refusal": null}, "push": {"bytes": 239, "headers": {"apns-topic": "com.example.shop"},
            "payload": {"aps": {"alert": {"title": "공지"}}}}\(more)}}
            """
        )
    }

    private let messageBody: JSON = [
        "id": .string(DiagnosisPageTests.message), "app": "shop", "vendor": "rationalowl", "state": "done",
        "title": "공지사항입니다~",
        "body": "공지", "acceptedAt": "2026-11-22T05:02:07.204Z", "dueAt": "2026-11-22T05:02:07.204Z", "recipients": 5,
    ]

    /// A diagnosis with one condition that is not met.
    private func diagnosis(
        _ name: String? = nil,
        blocks: Bool = true,
        reason: String? = nil,
        since: String? = nil,
        until: String? = nil,
        deliveries: String = "[]"
    ) throws -> JSON {
        func text(_ value: String?) -> String { value.map { "\"\($0)\"" } ?? "null" }
        let names = [
            "app", "platform", "registration", "token", "route", "credential", "pushSetting", "lane", "quietHours",
            "receivingWindow",
            "frequencyCap", "lastDelivery", "receipts",
        ]
        let conditions = names.map { condition -> String in
            guard condition == name else {
                return """
                    {"condition": "\(condition)", "met": true, "blocks": true, "since": null, "until": null, "identity": null, "text": "fine", "action": null, "reason": null}
                    """
            }
            return """
                {"condition": "\(condition)", "met": false, "blocks": \(blocks), "since": \(text(since)), "until": \(text(until)), "identity": null,
                "text": "broken", "action": "English only", "reason": \(text(reason))}
                """
        }
        return try ReadPages.json(
            """
            {"device": "\(Self.device)", "app": "shop", "lane": "bulk", "reachable": \(name == nil || !blocks), "answer": "broken",
            "conditions": [\(conditions.joined(separator: ","))], "clients": [], "deliveries": \(deliveries)}
            """
        )
    }

    private func content(
        _ diagnosis: JSON,
        delivery: JSON? = nil,
        token: String = "active",
        isNamed: Bool = false,
        role: Role = .owner,
        _ language: Language = .en
    ) throws -> PageContent {
        let request = ReadPages.request(
            ["device": Self.device],
            isNamed ? ["message": Self.message, "target": Self.target] : [:],
            role: role,
            language
        )
        var bodies = ["device": try deviceBody(token: token), "diagnosis": diagnosis, "message": messageBody]
        bodies["delivery"] = delivery
        bodies["preview"] = try ReadPages.json(
            #"{"previews": {"rationalowl": {"bytes": 239, "payload": {"type": "1"}}, "upmc": {"bytes": 402, "payload": {"type": "2"}}}}"#
        )
        return try ReadPages.content(DiagnosisPage(), request, bodies)
    }

    // MARK: Causes

    struct Cause: Sendable, CustomTestStringConvertible {
        var condition: String
        var reason: String?
        var since: String?
        var until: String?
        var token = "active"
        var en: String
        var ko: String
        var testDescription: String { "\(condition) \(reason ?? "")" }
    }

    static let causes = [
        Cause(
            condition: "token",
            reason: "Unregistered",
            since: "2026-11-22T05:02:07.209Z",
            token: "invalid",
            en:
                "This device's token expired on Sun 22 Nov 14:02. A new token is registered the next time the app opens.",
            ko: "이 단말의 토큰은 11월 22일 (일) 14:02에 만료되었습니다. 앱을 다시 열면 새 토큰이 등록됩니다."
        ),
        Cause(
            condition: "token",
            reason: "noDevice",
            token: "none",
            en: "This device has no token.",
            ko: "이 단말에는 토큰이 없습니다."
        ),
        Cause(
            condition: "token",
            reason: "BadDeviceToken",
            token: "quarantined",
            en: "cannot be used (BadDeviceToken). APNs does not know the token",
            ko: "개발용 빌드"
        ),
        Cause(condition: "pushSetting", reason: "preference", en: "switched push notifications off", ko: "푸시 알림을 껐습니다"),
        Cause(condition: "pushSetting", en: "system of the device does not show", ko: "시스템 설정"),
        Cause(
            condition: "credential",
            reason: "InvalidProviderToken",
            since: "2026-11-22T05:02:07.209Z",
            en: "(InvalidProviderToken) since Sun 22 Nov 14:02. Upload a valid key",
            ko: "(InvalidProviderToken)"
        ),
        Cause(condition: "route", en: "no topic or no credential for the environment", ko: "토픽이나 인증서·키가 없습니다"),
        Cause(
            condition: "quietHours",
            until: "2026-11-23T22:00:00.000Z",
            en: "Messages wait until Tue 24 Nov 07:00",
            ko: "까지 기다립니다"
        ),
        Cause(condition: "frequencyCap", reason: "frequencyCap", en: "frequency cap", ko: "발신 횟수 제한"),
        Cause(condition: "lane", en: "Messages of this kind are paused. Set is_paused of the lane", ko: "일시 중지되어 있습니다"),
        Cause(condition: "registration", reason: "noDevice", en: "no active registration", ko: "사용 중인 등록이 없습니다"),
        Cause(condition: "app", en: "The app was removed", ko: "앱이 설정에서 삭제되었습니다"),
        Cause(condition: "platform", reason: "noTransport", en: "cannot send to that platform", ko: "플랫폼으로 발신할 수 없습니다"),
    ]

    @Test(arguments: causes)
    func thePreventingConditionIsTheAnswer(_ cause: Cause) throws {
        let diagnosis = try diagnosis(cause.condition, reason: cause.reason, since: cause.since, until: cause.until)
        for (language, text) in [(Language.en, cause.en), (.ko, cause.ko)] {
            let content = try content(diagnosis, token: cause.token, language)
            #expect(content.sentence.mark == .bad)
            #expect(content.sentence.text.contains(text), "\(content.sentence.text)")
            #expect(!ReadPages.words(content).contains("English only"))
            guard case .checks(let checks) = content.blocks[1].body.first else {
                Issue.record("no checks")
                return
            }
            #expect(checks.first?.mark == .bad, "failed conditions are first")
            #expect(checks.first?.title == ConditionWords.title(cause.condition)(language))
        }
    }

    @Test func aReachableDeviceIsFineUnlessItIsSilent() throws {
        let fine = try content(try diagnosis()).sentence
        #expect(fine.mark == .ok && fine.text == "Nothing prevents a notification to this device now.")
        let silent = try content(try diagnosis("receipts", blocks: false, since: "2026-11-20T09:44:00.000Z")).sentence
        #expect(silent.mark == .warn && silent.text.contains("no receipt since Fri 20 Nov 18:44"), "\(silent.text)")
    }

    @Test func aNamedDeliveryHasItsOwnCause() throws {
        let suppressed = try content(try diagnosis(), delivery: try delivery("suppressed", "quietHours"), isNamed: true)
        #expect(suppressed.sentence.text.contains("due in the app's quiet hours"), "\(suppressed.sentence.text)")
        // The condition that prevents a push now says more about the same cause.
        let token = try content(
            try diagnosis("token", reason: "Unregistered", since: "2026-11-22T05:02:07.209Z"),
            delivery: try delivery("failed", "Unregistered"),
            token: "invalid",
            isNamed: true
        )
        #expect(token.sentence.text.hasPrefix("This device's token expired on Sun 22 Nov 14:02."))
    }

    // MARK: Parts

    @Test func theLatestDeliveryIsShown() throws {
        let deliveries = """
            [{"message": "\(Self.message)", "target": "\(Self.target)", "state": "failed", "reason": "Unregistered", "sentAt": "2026-11-22T05:02:07.209Z"}]
            """
        let content = try content(
            try diagnosis("token", reason: "Unregistered", deliveries: deliveries),
            delivery: try delivery("failed", "Unregistered")
        )
        let words = ReadPages.words(content)
        #expect(
            words.contains("Deliveries of “공지사항입니다~”") && words.contains("14:02:07.371") && words.contains("+162 ms")
        )
        #expect(words.contains("Rejected: Unregistered") && words.contains("Token invalidated"))
        #expect(words.contains("Hong Gildong · 010-••••-2222 · iPhone15,2 · iOS 17.5 · App 2.4.3"))
        // The dialects of the device, not all of the app.
        #expect(words.contains("RationalOwl · 239 bytes") && !words.contains("UPMC · 402"))
    }

    @Test func analystsSeeNoFormAndNoPreview() throws {
        let request = ReadPages.request(
            ["device": Self.device],
            ["message": Self.message, "target": Self.target],
            role: .analyst
        )
        let bodies = [
            "device": try deviceBody(), "diagnosis": try diagnosis(), "message": messageBody,
            "delivery": try delivery("sent", nil),
        ]
        let (answers, calls) = try ReadPages.answers(DiagnosisPage(), request) { call in
            bodies[call.name].map { ReadPages.answer($0) } ?? ReadPages.problem(404)
        }
        #expect(!calls.contains { $0.method != .get })
        let content = try DiagnosisPage().content(request, answers)
        #expect(!ReadPages.words(content).contains("Send test notification"))
    }

    @Test func theTestIsSentToTheDeviceOnce() throws {
        let form = SendProbeForm()
        let request = ReadPages.request(["device": Self.device])
        var answers = Answers()
        answers["device"] = ReadPages.answer(try deviceBody())
        let fields = ReadPages.fields(["title": "Test", "body": "Hello"])
        let call = try #require(form.submit(request, fields, answers).call)
        #expect(call.path == "messages" && call.method == .post && call.once == "once")
        #expect(call.body?["to"]?["devices"] == [.string(Self.device)])
        #expect(form.submit(request, ReadPages.fields(["body": " "]), answers).errors?.keys.first == "body")
        guard case .go(let link, _) = form.result(request, fields, ReadPages.answer(["id": "m-1"], status: 202)) else {
            Issue.record("no page of the test")
            return
        }
        #expect(link.path == "messages/m-1")
    }

    @Test func anUnknownLaneIsTheDefault() throws {
        let request = ReadPages.request(["device": Self.device], ["lane": "fast"])
        let call = DiagnosisPage().calls(request, Answers()).first { $0.name == "diagnosis" }
        #expect(call?.query.isEmpty == true)
    }

    // MARK: One delivery

    @Test(arguments: [
        (", \"queue\": {\"gaveUp\": \"Forbidden\", \"nextTryAt\": null}", "stopped retrying it. APNs does not allow"),
        (", \"queue\": {\"isPaused\": true}", "the message or its lane is paused"),
        (", \"queue\": {\"heldBy\": \"apple\"}", "waits for credential apple"),
        (
            ", \"waits\": {\"until\": \"2026-11-23T22:00:00.000Z\", \"because\": \"quietHours\"}",
            "until Tue 24 Nov 07:00, because of quiet hours"
        ),
        (", \"queue\": {\"nextTryAt\": \"2026-11-23T06:00:00.000Z\"}", "next attempt is on Mon 23 Nov 15:00"),
        ("", "has left the queue"),
    ])
    func aQueuedDeliveryStatesForWhatItWaits(_ more: String, _ text: String) throws {
        let request = ReadPages.request(["message": Self.message, "target": Self.target])
        let bodies = ["message": messageBody, "delivery": try delivery("queued", nil, more: more)]
        let sentence = try ReadPages.content(DeliveryPage(), request, bodies).sentence
        #expect(sentence.text.contains(text), "\(sentence.text)")
    }

    @Test(arguments: [
        ("sent", Mark.warn, "has not reported its receipt"), ("received", .ok, "received it"), ("read", .ok, "read it"),
        ("expired", .bad, "expired before"), ("canceled", .idle, "canceled before"),
        ("failed", .bad, "was not delivered"),
    ])
    func aSettledDeliveryStatesItsOutcome(_ state: String, _ mark: Mark, _ text: String) throws {
        let request = ReadPages.request(["message": Self.message, "target": Self.target])
        let bodies = ["message": messageBody, "delivery": try delivery(state, nil)]
        let content = try ReadPages.content(DeliveryPage(), request, bodies)
        #expect(content.sentence.mark == mark)
        #expect(content.sentence.text.contains(text), "\(content.sentence.text)")
        #expect(ReadPages.actions(content).last == "Why was this device not notified?")
    }

    @Test(
        arguments: [
            (
                #"{"path": "old-braze", "outcome": "noDevice"}, {"path": "apns", "outcome": "sent"}"#, "apns",
                "old-braze: cannot name the target → apns: accepted", "old-braze: 대상을 지정할 수 없음 → apns: 접수됨"
            ),
            (
                #"{"path": "apns", "outcome": "Unregistered"}, {"path": "old-braze", "outcome": "queued"}"#,
                "upstream:old-braze", "apns: Unregistered → old-braze: Queued", "apns: Unregistered → old-braze: 대기"
            ),
            // The last path carried nothing.
            (#"{"path": "apns", "outcome": "noToken"}"#, nil, "apns: no token", "apns: 토큰 없음"),
            // The other facts say what became of the only path.
            (#"{"path": "old-braze", "outcome": "sent"}"#, "upstream:old-braze", nil, nil), ("", nil, nil, nil),
        ] as [(String, String?, String?, String?)]
    )
    func aDeliveryShowsThePathsThatWereTried(
        _ tried: String,
        _ transport: String?,
        _ en: String?,
        _ ko: String?
    ) throws {
        var body = try delivery("sent", nil, more: ", \"tried\": [\(tried)]").object ?? JSONObject()
        body["transport"] = transport.map { .string($0) } ?? .null
        let path = ["message": Self.message, "target": Self.target]
        for (language, text) in [(Language.en, en), (.ko, ko)] {
            let request = ReadPages.request(path, [:], role: .owner, language)
            #expect(DeliveryPaths.text(.object(body), Words(request)) == text)
            let bodies = ["message": messageBody, "delivery": JSON.object(body)]
            let shown = ReadPages.words(try ReadPages.content(DeliveryPage(), request, bodies))
            #expect(shown.contains(DeliveryText.tried(language)) == (text != nil))
            if let text { #expect(shown.contains(text)) }
        }
    }
}
