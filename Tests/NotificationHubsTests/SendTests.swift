import Coverage
import HTTPTypes
import Model
import TestKit
import Testing

@testable import NotificationHubs

/// docs/contracts/notificationhubs.md#6 and docs/contracts/notificationhubs.md#7: sends.
struct SendTests {
    private static let body = #"{"aps":{"alert":"x"}}"#

    private func request(
        _ headers: [String: String] = [:],
        _ body: String = body,
        query: String = "api-version=2017-04"
    )
        -> VendorRequest
    {
        let all = headers.merging(["ServiceBusNotification-Format": "apple"]) { first, _ in first }
        return Mount.request(.post, "/hub1/messages", query: query, headers: all, body)
    }

    private func submission(_ request: VendorRequest) throws -> Submission {
        guard case .submission(.submit(let submission)) = try Mount.command(request) else {
            throw AdapterError(.notFound)
        }
        return submission
    }

    private func push(_ submission: Submission) throws -> PushPayload {
        let notification = Notification(
            message: Mount.message,
            origin: .notificationHubs,
            content: submission.content,
            sentAt: Mount.now,
            collapseID: submission.collapseID
        )
        return try HubsPayload(notification).encoded()
    }

    @Test(.covers("notificationhubs", "POST /{hub}/messages")) func theDocumentedSendGoesToItsTags() throws {
        let request = try Fixture.request("messages/send.request.txt")
        let submission = try submission(request)
        guard case .tags(let expression) = submission.audience else {
            Issue.record("no tags")
            return
        }
        let ios = Tag(Platform.ios)
        let (mina, bot) = (try #require(Tag("username:mina")), try #require(Tag("from:bot")))
        #expect(expression.matches([mina, ios]))
        #expect(expression.matches([bot, ios]))
        #expect(!expression.matches([ios]))
        // A native send reaches its own platform only (docs/contracts/notificationhubs.md#7).
        #expect(!expression.matches([mina, Tag(Platform.android)]))
        #expect(submission.timing.timeToLive == .seconds(1800))
        let answer = Mount.answer(request) { _ in .submission(.accepted(Mount.message, recipients: nil)) }
        #expect(try answer.fault(against: "messages/send.response.txt") == nil)
        let documented = try Fixture.message("messages/send.response.txt").headers.first { $0.0 == "Location" }?.1
        let id = "73622a22797441e4b434e8c2c14112ce-20260101000000-1-1"
        #expect(answer.header("Location") == documented?.replacing(id, with: Mount.messageText))
        #expect(HubMessageID.parse(Mount.messageText) == Mount.message)
    }

    @Test func withoutTagsItIsForThePlatform() throws {
        guard case .tags(let expression) = try submission(request()).audience else {
            Issue.record("no tags")
            return
        }
        #expect(expression.matches([Tag(Platform.ios)]))
        #expect(!expression.matches([Tag(Platform.android)]))
        #expect(!expression.matches([]))
    }

    @Test func aBrokenExpressionHasTheDocumentedAnswer() throws {
        let request = try Fixture.request("messages/tags.request.txt")
        #expect(try Mount.answer(request).fault(against: "messages/tags.response.txt") == nil)
    }

    /// docs/contracts/notificationhubs.md#6: 20 tags with `||` alone, otherwise 6; a blank header is refused.
    @Test(arguments: [
        ((1...20).map { "t\($0)" }.joined(separator: " || "), true),
        ((1...21).map { "t\($0)" }.joined(separator: " || "), false),
        ((1...6).map { "t\($0)" }.joined(separator: " && "), true),
        ((1...7).map { "t\($0)" }.joined(separator: " && "), false), ("!a", true),
        ("$InstallationId:{5d9c} && news", true),
        ("$UserId:u-1", true), ("", false), ("  ", false), ("a b", false), ("$Platform:{ios}", false),
        ("$Platform:ios", false), ("a & b", false), ("((a)", false),
    ])
    func theLimitsOfExpressionsHold(_ tags: String, _ isGood: Bool) throws {
        let response = Mount.answer(request(["ServiceBusNotification-Tags": tags])) { _ in
            .submission(.accepted(Mount.message, recipients: nil))
        }
        #expect(response.status == (isGood ? 201 : 400), "\(response.text)")
        #expect(response.detail?.hasPrefix("The supplied tag expression is not valid") == (isGood ? nil : true))
    }

    // MARK: Payloads

    /// Headers and body of a push as in the contract.
    private func documented(_ name: String) throws -> (type: String, priority: String, body: String) {
        let text = try Fixture.text(name)
        func value(_ key: String) -> String {
            text.split(separator: "\n").first { $0.hasPrefix(key) }.map { String($0.dropFirst(key.count + 3)) } ?? ""
        }
        let end = try #require(text.firstRange(of: "\n\n"))
        return (value("apns-push-type"), value("apns-priority"), String(text[end.upperBound...]))
    }

    /// Byte for byte, with the spaces of the tutorial's payload. It is a background push although it has an (empty)
    /// sound.
    @Test(arguments: [("messages/alert.push.txt", PushType.alert), ("messages/rich.push.txt", .background)])
    func theDocumentedPayloadsAreSentUnchanged(_ name: String, _ type: PushType) throws {
        let (typeName, priority, body) = try documented(name)
        let push = try push(try submission(request([:], body)))
        #expect(String(decoding: push.bytes, as: UTF8.self) == body)
        #expect(push.type == type)
        #expect(HubsPayload.type(named: typeName) == type)
        #expect(push.priority == Int(priority))
    }

    @Test(arguments: [
        (#"{"aps":{"content-available":1}}"#, PushType.background),
        (#"{"aps":{"content-available":1,"sound":"s"}}"#, .alert),
        (#"{"aps":{"content-available":1,"badge":1}}"#, .alert),
        (#"{"aps":{"content-available":1,"alert":"a"}}"#, .alert),
        (#"{"aps":{"content-available":0}}"#, .alert), (#"{"x":1}"#, .alert),
        ("{ \"aps\" : {\"alert\":\"\\u0041\\/\"} , \"n\": 1.0e2 }", .alert),
    ])
    func theTypeIsInferredAndTheBytesStay(_ body: String, _ type: PushType) throws {
        let push = try push(try submission(request([:], body)))
        #expect(push.type == type)
        #expect(push.priority == (type == .background ? 5 : 10))
        #expect(String(decoding: push.bytes, as: UTF8.self) == body)
    }

    @Test func headersOfTheSendAreThoseOfThePush() throws {
        let headers = [
            "apns-push-type": "background", "apns-priority": "1", "apns-collapse-id": "c",
            "apns-topic": "com.example.app",
            "apns-expiration": "1767229200",
        ]
        let submission = try submission(request(headers))
        let push = try push(submission)
        #expect(push.type == .background)
        #expect(push.priority == 1)
        #expect(push.collapseID == "c")
        #expect(submission.timing.timeToLive == .seconds(3600))
    }

    /// docs/contracts/notificationhubs.md#7: both spellings of the header; dates in the format of the SDKs.
    @Test(arguments: [
        ("ServiceBusNotification-Apns-Expiry", "2026-01-01T02:00:00Z", 7200, 1_767_232_800),
        ("ServiceBusNotification-ApnsExpiry", "2026-01-01T02:00:00", 7200, 1_767_232_800),
        ("ServiceBusNotification-Apns-Expiry", "2026-01-01'T'02:00:00.1234567", 7200, 1_767_232_800),
        ("ServiceBusNotification-Apns-Expiry", "2026-01-01T09:00+0900", 60, 0),
        ("ServiceBusNotification-Apns-Expiry", "01/01/2026 01:00:00", 3600, 1_767_229_200),
        ("ServiceBusNotification-Apns-Expiry", "2027-01-01T00:00:00Z", 28 * 86_400, 1_798_761_600),
        ("apns-expiration", "0", 60, 0), ("apns-expiration", "1767225610", 60, 1_767_225_610),
        ("apns-expiration", "1767225599", 60, 0),
    ])
    func aSendHasTheRequestedLifetime(_ name: String, _ value: String, _ seconds: Int, _ end: Int64) throws {
        let submission = try submission(request([name: value]))
        #expect(submission.timing.timeToLive == .seconds(seconds))
        // Apple receives the caller's time; `0` and times in the past mean immediately or never.
        #expect(try push(submission).expiresAt == Timestamp(seconds: end))
    }

    /// Apple's own header has precedence over the vendor's (docs/contracts/notificationhubs.md#7.1). Without either,
    /// the half hour of the message is also sent to Apple.
    @Test func applesHeaderHasPrecedence() throws {
        let both = ["apns-expiration": "0", "ServiceBusNotification-Apns-Expiry": "2026-01-01T02:00:00Z"]
        #expect(try push(try submission(request(both))).expiresAt == Timestamp(seconds: 0))
        let neither = try submission(request())
        #expect(try push(neither).expiresAt == nil)
        #expect(neither.timing.timeToLive == .seconds(1800))
    }

    @Test(arguments: [
        ("apns-push-type", "loud"), ("apns-priority", "7"), ("apns-expiration", "tomorrow"),
        ("apns-expiration", "-1"), ("apns-expiration", ""),
        ("ServiceBusNotification-Apns-Expiry", "tomorrow"), ("apns-topic", "com.example.other"),
        ("apns-collapse-id", String(repeating: "c", count: 65)),
    ])
    func aHeaderThatAppleWouldRefuseIs400(_ name: String, _ value: String) {
        let response = Mount.answer(request([name: value]))
        #expect(response.status == 400)
        #expect(response.detail?.hasPrefix("The value of \(name)") == true)
    }

    @Test(arguments: [
        "gcm", "fcmV1", "windows", "windowsphone", "adm", "baidu", "browser", "carrier-pigeon", "",
    ])
    func unsupportedFormatsAre400(_ format: String) {
        #expect(Mount.answer(request(["ServiceBusNotification-Format": format])).status == 400)
    }

    @Test(arguments: ["", "x", "[]", "\"s\"", "{\"aps\":"])
    func aPayloadOtherThanAnObjectIs400(_ body: String) {
        let response = Mount.answer(request([:], body))
        #expect(response.status == 400)
        #expect(response.detail == "The payload is not a JSON object")
    }

    /// docs/contracts/notificationhubs.md#7: more than 4,096 bytes, Apple's limit, is 400; more than 64 KB, the
    /// vendor's limit, is 413.
    @Test func aPayloadEndsAt4096Bytes() throws {
        func body(_ count: Int) -> String { #"{"a":""# + String(repeating: "x", count: count - 8) + #""}"# }
        #expect(try push(try submission(request([:], body(4096)))).bytes.count == 4096)
        #expect(Mount.answer(request([:], body(4097))).status == 400)
        let voip = ["apns-push-type": "voip"]
        #expect(try push(try submission(request(voip, body(5120)))).bytes.count == 5120)
        #expect(Mount.answer(request(voip, body(5121))).status == 400)
        let refused = Mount.adapter.refuse(AdapterError(.tooLarge), for: request(), settings: .unbound)
        #expect(refused.status == 413)
        let limits = Dictionary(Mount.adapter.routes.map { ($0.name, $0.bodyLimitBytes) }) { first, _ in first }
        #expect(limits["hubs.message"] == 131_072 && limits["hubs.installation"] == 65_536)
        #expect(limits["hubs.register"] == 8192)
    }

    // MARK: Direct sends

    /// docs/contracts/notificationhubs.md#7.2: `direct` at any position, with or without a value; tags are then ignored.
    @Test(
        .covers("notificationhubs", "POST /{hub}/messages?direct"),
        arguments: ["api-version=2017-04&direct", "direct=true&api-version=2017-04", "direct&api-version=2015-04"]
    )
    func aDirectSendIsForOneHandle(_ query: String) throws {
        let headers = [
            "ServiceBusNotification-DeviceHandle": Fixture.token, "ServiceBusNotification-Tags": "not && && read",
        ]
        let direct = request(headers, query: query)
        let submission = try submission(direct)
        #expect(submission.audience == .everyone)
        #expect(submission.numbering?.tokens == DeviceToken(apns: Fixture.token).map { [$0] })
        let accepted = NumberedAcceptance(message: Mount.message, number: "1", targetCount: 1, keys: ["k"])
        #expect(Mount.answer(direct) { _ in .submission(.numbered(accepted)) }.status == 201)
        #expect(Mount.answer(direct) { _ in .refused(.noRecipients) }.status == 400)
        #expect(Mount.answer(request(query: query)).status == 400)
        #expect(Mount.answer(request(["ServiceBusNotification-DeviceHandle": "zz"], query: query)).status == 400)
    }

    /// An unknown handle is registered for direct sends only, and receives the push.
    @Test func anUnknownHandleIsRegistered() throws {
        var commands: [Command] = []
        let direct = request(["ServiceBusNotification-DeviceHandle": Fixture.token], query: "direct")
        let accepted = NumberedAcceptance(message: Mount.message, number: "1", targetCount: 1, keys: ["k"])
        let answer = Mount.answer(direct) { command in
            commands.append(command)
            switch commands.count {
            case 1: return .refused(.noRecipients)
            case 2: return .user(.tracked(patches: [nil], acts: []))
            default: return .submission(.numbered(accepted))
            }
        }
        #expect(answer.status == 201 && answer.header("Location") != nil)
        #expect(commands.count == 3 && commands.first == commands.last)
        guard case .user(.track(let batch)) = commands[1], let device = batch.patches.first?.devices.first else {
            Issue.record("not introduced")
            return
        }
        #expect(batch.patches.count == 1 && batch.patches[0].user == nil && batch.patches[0].devices.count == 1)
        #expect(device.token == DeviceToken(apns: Fixture.token) && device.tags == [Tag(Platform.ios), .onlyVariants])
        #expect(device.attributes == ["sharesDevice": true, "$endsAt": .int(Mount.now.seconds + 56 * 86_400)])
        // This happens only for direct sends, and only once.
        #expect(Mount.answer(direct) { _ in .refused(.noRecipients) }.status == 400)
        commands = []
        let tagged = request(["ServiceBusNotification-Tags": "a"])
        _ = Mount.answer(tagged) { command in
            commands.append(command)
            return .refused(.noRecipients)
        }
        #expect(commands.count == 1)
    }

    // MARK: Schedules

    @Test(.covers("notificationhubs", "POST /{hub}/schedulednotifications")) func theDocumentedScheduleWaitsForItsTime()
        throws
    {
        let request = try Fixture.request("messages/schedule.request.txt")
        let submission = try submission(request)
        // 2026-01-02 09:00 UTC.
        #expect(submission.timing.dueAt == Timestamp(seconds: 1_767_344_400))
        #expect(submission.timing.timeToLive == .seconds(1800))
        let answer = Mount.answer(request) { _ in .submission(.accepted(Mount.message, recipients: nil)) }
        #expect(try answer.fault(against: "messages/schedule.response.txt") == nil)
        let documented = try Fixture.message("messages/schedule.response.txt").headers.first { $0.0 == "Location" }?.1
        let id = "af14e491a7994a65b7b3a5681a373337_20260101000000_1_1"
        #expect(answer.header("Location") == documented?.replacing(id, with: Mount.scheduleText))
        #expect(HubMessageID.parse(Mount.scheduleText) == Mount.message)
    }

    /// docs/contracts/notificationhubs.md#7.5: five minutes to seven days, so 4 minutes and 8 days are 400. Quotes around
    /// the `T` are also accepted.
    @Test(arguments: [
        ("2026-01-01T00:05:00", true), ("2026-01-01T00:04:00", false), ("2026-01-08T00:00:00", true),
        ("2026-01-09T00:00:00", false), ("2026-01-01'T'01:00:00", true), ("2026-01-01T01:00:00.000Z", true),
        ("2025-12-31T00:00:00", false), ("later", false), ("", false),
    ])
    func aScheduleHasItsLimits(_ time: String, _ isGood: Bool) throws {
        var request = try Fixture.request("messages/schedule.request.txt")
        if let name = HTTPField.Name("ServiceBusNotification-ScheduleTime") { request.headers[name] = time }
        let response = Mount.answer(request) { _ in .submission(.accepted(Mount.message, recipients: nil)) }
        #expect(response.status == (isGood ? 201 : 400), "\(response.text)")
    }

    /// The end is a fixed time, independent of the due time.
    @Test func aScheduledSendEndsAtTheRequestedTime() throws {
        var request = try Fixture.request("messages/schedule.request.txt")
        if let name = HTTPField.Name("apns-expiration") { request.headers[name] = "1767348000" }
        #expect(try submission(request).timing.timeToLive == .seconds(3600))
    }

    @Test(.covers("notificationhubs", "DELETE /{hub}/schedulednotifications/{id}")) func aScheduleIsCanceledOnce()
        throws
    {
        let request = Mount.request(.delete, "/hub1/schedulednotifications/\(Mount.scheduleText)")
        #expect(try Mount.command(request) == .submission(.control(.cancel, message: Mount.message.description)))
        #expect(Mount.answer(request) { _ in .submission(.controlled(true)) }.status == 200)
        #expect(Mount.answer(request) { _ in .submission(.controlled(false)) }.status == 404)
        #expect(Mount.answer(Mount.request(.delete, "/hub1/schedulednotifications/x")).status == 404)
    }

    @Test func testSendsAreNotSupported() {
        #expect(Mount.answer(request(query: "api-version=2017-04&test")).status == 400)
    }

    // MARK: Telemetry

    @Test(.covers("notificationhubs", "GET /{hub}/messages/{id}")) func theDocumentedTelemetryComesBack() throws {
        let report = MessageReport(
            message: Mount.message,
            state: .done,
            content: Content(raw: ["aps": ["alert": "Sale today"]]),
            acceptedAt: Mount.now,
            firstAt: Mount.now + .seconds(1),
            lastAt: Mount.now + .seconds(3),
            tallies: [
                .init(state: .failed, reason: "Unregistered", count: 1), .init(state: .read, reason: nil, count: 1),
                .init(state: .sent, reason: nil, count: 2),
            ]
        )
        let request = Mount.request(.get, "/hub1/messages/\(Mount.messageText)", query: "api-version=2016-07")
        #expect(try Mount.command(request) == .submission(.report(message: Mount.message)))
        let answer = Mount.answer(request) { _ in .submission(.report(report)) }
        let documented = try Fixture.text("messages/telemetry.response.xml").replacing("\n", with: "")
        let id = "73622a22797441e4b434e8c2c14112ce-20260101000000-1-1"
        #expect(answer.text == documented.replacing(id, with: Mount.messageText))
        #expect(answer.status == 200)
        var nobody = report
        nobody.tallies = []
        let empty = Mount.answer(request) { _ in .submission(.report(nobody)) }
        #expect(empty.text.contains("<State>NoTargetFound</State>"))
        nobody.state = .sending
        let early = Mount.answer(request) { _ in .submission(.report(nobody)) }
        #expect(early.text.contains("<State>Processing</State>"))
        #expect(!early.text.contains("<EndTime>"))
    }

    /// A body may contain characters that are invalid in XML.
    @Test func aBodyIsEscapedInTelemetry() {
        let content = Content(raw: ["aps": ["alert": "<a> & ]]>\u{1}"]])
        let report = MessageReport(message: Mount.message, state: .done, content: content, acceptedAt: Mount.now)
        let xml = Telemetry(report, host: "h", hub: "h", version: "").xml
        #expect(xml.contains(#"{"aps":{"alert":"&lt;a&gt; &amp; ]]&gt;\u0001"}}"#))
    }

    @Test(arguments: [
        "73622a22797441e4b434e8c2c14112ce-20260101000000-1-1", "x", "", Mount.messageText + "-1",
        String(Mount.messageText.dropLast()) + "2", String(Mount.messageText.prefix(32)),
    ])
    func aForeignIDIs404(_ text: String) {
        let status = Mount.answer(Mount.request(.get, "/hub1/messages/\(text)")).status
        #expect(status == (text.isEmpty ? 405 : 404))
    }

    /// A message of the native API to a device of this dialect is sent as Apple's own payload.
    @Test func aNativeMessageIsSentAsApplesPayload() throws {
        let content = Content(title: "t", body: "b", data: ["k": 1])
        let notification = Notification(message: Mount.message, origin: .native, content: content, sentAt: Mount.now)
        let push = try HubsPayload(notification).encoded()
        #expect(
            String(decoding: push.bytes, as: UTF8.self)
                == #"{"aps":{"alert":{"title":"t","body":"b"},"sound":"default"},"k":1}"#
        )
    }
}
