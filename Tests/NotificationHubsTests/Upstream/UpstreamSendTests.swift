import FoundationEssentials
import HTTPTypes
import Model
import TestKit
import Testing

@testable import NotificationHubs

/// Sends through the vendor's hub: the calls are those of the contract, and reading them again gives the message.
struct UpstreamSendTests {
    /// Every documented send of the data plane, and its options.
    private static func documented() throws -> [VendorRequest] {
        func send(_ headers: [String: String], _ body: String = #"{"aps":{"alert":"x"}}"#, query: String = "")
            -> VendorRequest
        {
            let all = headers.merging(["ServiceBusNotification-Format": "apple"]) { first, _ in first }
            return Mount.request(.post, "/hub1/messages", query: query, headers: all, body)
        }
        var requests = try ConformanceTests.documented().filter {
            Mount.adapter.kind(of: $0, settings: Mount.settings) == .send && BackendPath($0.path) == nil
        }
        requests += [
            send(["ServiceBusNotification-DeviceHandle": Fixture.token], query: "direct"),
            send(["apns-push-type": "background", "apns-priority": "1", "apns-collapse-id": "c"]),
            send(["apns-expiration": "0"]), send(["apns-expiration": "1767229200", "apns-topic": "com.example.app"]),
            send(["ServiceBusNotification-Apns-Expiry": "2026-01-01T09:00+0900"]),
            send(["apns-push-type": "voip", "apns-topic": "com.example.app.voip"], #"{"n":1}"#),
            send([:], "{ \"aps\" : {\"alert\":\"\\u0041\\/\"} , \"n\": 1.0e2 }"),
            send([:], #"{"aps":{"content-available":1}}"#),
            send(["ServiceBusNotification-Format": "template", "apns-priority": "5"], #"{"a":"1"}"#),
        ]
        return requests
    }

    private func content(of call: UpstreamCall) throws -> (content: Content, collapseID: String?) {
        let submission = try OldHub.submission(OldHub.arriving(call.request))
        return (submission.content, submission.collapseID)
    }

    /// docs/contracts/notificationhubs.md#7
    @Test func theCorpusHasEveryDocumentedHeader() throws {
        let names = try ContractPage("notificationhubs").rows(of: "7").map { $0.lowercased() }
        let used = Set(try Self.documented().flatMap { $0.headers.map(\.name.canonicalName) })
        let missing = names.filter { name in
            !used.contains { name.hasSuffix("*") ? $0.hasPrefix(name.dropLast()) : $0 == name }
        }
        #expect(names.count == 5 && missing.isEmpty, "\(missing)")
    }

    @Test func readingACallGivesItsMessage() throws {
        let corpus = try Self.documented()
        #expect(corpus.count == 13)
        for request in corpus {
            let submission = try OldHub.submission(request)
            let variant = submission.content.variants == nil ? nil : "news"
            let variables: JSONObject = ["templates": ["news": ["body": #"{"aps":{"alert":"$(title)"}}"#]]]
            for token in [nil, OldHub.token(1)] {
                let target = OldHub.target(token: token, variant: variant, variables: variables)
                let calls = try OldHub.calls(OldHub.notification(submission), [target])
                #expect(calls.map(\.targets) == [[0]], "\(request.path)")
                var read = try content(of: try #require(calls.first))
                // The targets of a template are those that the expression selects.
                read.content.variants = submission.content.variants
                #expect(read.content == submission.content, "\(request.path) \(token ?? "")")
                #expect(read.collapseID == submission.collapseID)
            }
        }
    }

    /// Accepted mutations of the corpus, too.
    @Test func readingACallGivesItsMessageWhateverItContains() throws {
        var mutator = Mutator(seed: Fuzz.seed)
        var compared = 0
        for request in try Self.documented() where request.header("Content-Type")?.hasPrefix("multipart") != true {
            guard let document = try? JSONParser.parse(request.body) else { continue }
            for round in 0..<Fuzz.count / 20 {
                var mutated = request
                mutated.body = mutator.body(round, from: document)
                guard let submission = try? OldHub.submission(mutated), submission.content.variants == nil else {
                    continue
                }
                let target = OldHub.target(token: round.isMultiple(of: 2) ? OldHub.token(1) : nil)
                let calls = try OldHub.calls(OldHub.notification(submission), [target])
                let read = try content(of: try #require(calls.first))
                #expect(read.content == submission.content, "seed \(Fuzz.seed)")
                compared += 1
            }
        }
        #expect(compared > Fuzz.count / 20)
    }

    /// docs/contracts/notificationhubs.md#7.4, byte for byte.
    @Test func aBatchIsTheDocumentedOne() throws {
        let second = String(repeating: "9f", count: 32)
        let documented = try BatchTests.body().replacing(Fixture.token, with: Fixture.token.lowercased())
            .replacing(second.uppercased(), with: second)
        let submission = try OldHub.submission(BatchTests.request(BatchTests.body()))
        let targets = [OldHub.target(token: Fixture.token), OldHub.target("r/1-2-1", token: second)]
        let call = try #require(try OldHub.calls(OldHub.notification(submission), targets).first)
        #expect(String(decoding: call.request.body, as: UTF8.self) == documented + "\r\n")
        #expect(call.targets == [0, 1])
        #expect(call.request.method == .post && call.request.path == "/hub1/messages/$batch")
        #expect(call.request.query == "api-version=2017-04&direct")
        #expect(OldHub.header("Content-Type", of: call.request) == BatchTests.type)
        #expect(OldHub.header("ServiceBusNotification-Format", of: call.request) == "apple")
        #expect(OldHub.header("ServiceBusNotification-Tags", of: call.request) == nil)
        #expect(call.request.headers[.authorization] == nil, "it is signed when it leaves")
        #expect(call.request.receivedAt == Mount.now)
    }

    @Test func aNotificationMayContainTheBoundary() throws {
        let names = ["", "-1-", "-2-"].map { "nh-batch-multipart-boundary\($0)" }.joined(separator: " ")
        let body = #"{"aps":{"alert":"\#(names)"}}"#
        let request = Mount.request(.post, "/hub1/messages", headers: ["ServiceBusNotification-Format": "apple"], body)
        let submission = try OldHub.submission(request)
        let call = try #require(try OldHub.calls(OldHub.notification(submission), [OldHub.target(token: "ab")]).first)
        #expect(OldHub.header("Content-Type", of: call.request)?.contains("boundary-3-") == true)
        #expect(try content(of: call).content == submission.content)
    }

    /// Targets with a usable token by their handles, others by their installations; others than these cannot be named.
    @Test func everyTargetIsInOneCall() throws {
        let submission = try OldHub.submission(try Fixture.request("messages/send.request.txt"))
        var targets = (0..<1200).map { OldHub.target("r/\($0)-1-1", token: OldHub.token($0)) }
        targets += (0..<45).map { OldHub.target("i-\($0)") }
        targets += [
            OldHub.target("i-dead", token: "abcd", state: .invalid),
            OldHub.target("i-twice", token: OldHub.token(7)),
            OldHub.target("r/1-2-1"), OldHub.target("i-android", token: "ab", platform: .android),
        ]
        let calls = try OldHub.calls(OldHub.notification(submission), targets)
        #expect(calls.map(\.targets.count) == [1001, 200, 20, 20, 6])
        let all = calls.flatMap(\.targets)
        #expect(Set(all).count == all.count && all.count == targets.count - 2)
        #expect(!all.contains(targets.count - 1) && !all.contains(targets.count - 2))
        // Two registrations with one token are one handle.
        #expect(calls[0].targets.contains(7) && calls[0].targets.contains(1246))
        let tags = try #require(OldHub.header("ServiceBusNotification-Tags", of: calls[2].request))
        #expect(tags == (0..<20).map { "$InstallationId:{i-\($0)}" }.joined(separator: " || "))
        #expect(OldHub.header("ServiceBusNotification-Tags", of: calls[4].request)?.hasSuffix("{i-dead}") == true)
        for call in calls {
            #expect(call.request.body.count < HubsLimits.batchBytes)
            #expect(throws: Never.self) { try OldHub.submission(OldHub.arriving(call.request)) }
        }
        // The longest tokens that are stored.
        let long = (0..<1000).map {
            OldHub.target("r/\($0)-1-1", token: String(repeating: "ab", count: 197) + String(100_000 + $0))
        }
        let batches = try OldHub.calls(OldHub.notification(submission), long)
        #expect(batches.count == 4 && batches.allSatisfy { $0.request.body.count < HubsLimits.batchBytes })
    }

    // MARK: Templates

    private static let templates: JSONObject = [
        "templates": [
            "news": ["body": #"{"aps":{"alert":"$(title)"}}"#, "headers": ["apns-priority": "5"]],
            "two words": ["body": #"{"aps":{"alert":"{ '2 ' + $(title) }"}}"#], "broken": ["body": "x"],
            "shared": ["body": #"{"aps":{"alert":"{ '3 ' + $(title) }"}}"#, "tags": ["own"]],
            "own": ["body": #"{"aps":{"alert":"{ '4 ' + $(title) }"}}"#],
        ]
    ]

    /// The vendor fills a template where installation and name select it alone (docs/contracts/notificationhubs.md#6); otherwise the gateway does.
    @Test func templatesAreSelectedByTheirNames() throws {
        let headers = ["ServiceBusNotification-Format": "template", "apns-collapse-id": "c"]
        let submission = try OldHub.submission(
            Mount.request(.post, "/hub1/messages", headers: headers, #"{"title":"Hi"}"#)
        )
        func target(_ key: String, _ variant: String, token: String? = "ab", _ more: JSONObject = JSONObject())
            -> TargetFacts
        {
            var variables = Self.templates
            for (name, value) in more.pairs { variables[name] = value }
            return OldHub.target(key, token: token, variant: variant, variables: variables)
        }
        let targets =
            (0..<6).map { target("i-\($0)", "news") } + [
                target("i-0", "two words"), target("i-0", "shared"), target("i-0", "own"), target("i-0", "broken"),
                target("i-0", "gone", token: nil), target("r/1-2-1", "news"), target("r/1-2-2", "news", token: nil),
                target("i-9", "news", ["tags": ["news"]]),
            ]
        let calls = try OldHub.calls(OldHub.notification(submission), targets)
        // `own` is a tag of another template, and the last installation has the tag `news` itself.
        #expect(calls.map(\.targets) == [[0, 1, 2, 3, 4], [5], [7], [9], [10], [6], [8], [11, 13]])
        let tags = calls.map { OldHub.header("ServiceBusNotification-Tags", of: $0.request) }
        let five = (0..<5).map { "$InstallationId:{i-\($0)}" }.joined(separator: " || ")
        #expect(
            tags == [
                "(\(five)) && news", "$InstallationId:{i-5} && news", "$InstallationId:{i-0} && shared",
                "$InstallationId:{i-0} && broken", "$InstallationId:{i-0} && gone", nil, nil, nil,
            ]
        )
        for call in calls.prefix(5) {
            #expect(OldHub.header("ServiceBusNotification-Format", of: call.request) == "template")
            #expect(try content(of: call).content.raw == submission.content.raw)
        }
        let filled = try calls.dropFirst(5).map { try content(of: $0) }
        #expect(
            filled.compactMap { $0.content.raw } == [
                ["aps": ["alert": "2 Hi"]], ["aps": ["alert": "4 Hi"]], ["aps": ["alert": "Hi"]],
            ]
        )
        #expect(filled.last?.content.data["priority"] == 5 && filled.allSatisfy { $0.collapseID == "c" })
    }

    // MARK: Other messages

    /// The tutorials' back end has no counterpart at the vendor: its pushes leave as sends with the same payload.
    @Test func pushesOfTheBackEndKeepTheirPayload() throws {
        let rich = BackendTests.request(.post, "/api/notifications", #"{"message":"Look","type":"img"}"#)
        for request in [try BackendTests.documented("push.request.txt"), rich] {
            let notification = OldHub.notification(try OldHub.submission(request))
            let push = try HubsPayload(notification).encoded()
            let call = try #require(try OldHub.calls(notification, [OldHub.target()]).first)
            #expect(call.request.body == push.bytes)
            let read = OldHub.notification(try OldHub.submission(OldHub.arriving(call.request)))
            let again = try HubsPayload(read).encoded()
            #expect(again.bytes == push.bytes && again.type == push.type && again.priority == push.priority)
        }
    }

    @Test func aMessageOfAnotherDialectIsWrittenForTheHub() throws {
        let content = Content(title: "t", body: "b", data: ["k": 1])
        var notification = Notification(
            message: Mount.message,
            origin: .native,
            content: content,
            sentAt: Mount.now,
            expiresAt: Mount.now + .seconds(7200),
            collapseID: "c"
        )
        let call = try #require(try OldHub.calls(notification, [OldHub.target(token: "ab")]).first)
        let read = try self.content(of: call)
        #expect(read.content.raw == ["aps": ["alert": ["title": "t", "body": "b"], "sound": "default"], "k": 1])
        #expect(read.collapseID == "c" && OldHub.header("apns-expiration", of: call.request) == "1767232800")
        #expect(OldHub.header("apns-push-type", of: call.request) == "alert")
        notification.content.activity = ActivityReference(.running, "ride")
        #expect(throws: AdapterError(.invalid, field: "activity")) {
            try OldHub.calls(notification, [OldHub.target(token: "ab")])
        }
    }

    /// The topic of such a type is not the hub's.
    @Test func aTypeWithItsOwnTopicStatesIt() throws {
        let headers = ["ServiceBusNotification-Format": "apple", "apns-push-type": "voip"]
        let submission = try OldHub.submission(Mount.request(.post, "/hub1/messages", headers: headers, "{}"))
        let call = try #require(try OldHub.calls(OldHub.notification(submission), [OldHub.target()]).first)
        #expect(OldHub.header("apns-topic", of: call.request) == "com.example.app.voip")
    }

    @Test func withoutACredentialThereIsNoCall() throws {
        let submission = try OldHub.submission(try Fixture.request("messages/send.request.txt"))
        let calls = try Mount.adapter.outbound(
            OldHub.notification(submission),
            to: [OldHub.target()],
            through: UpstreamSettings(vendor: .notificationHubs),
            settings: Mount.settings,
            at: Mount.now
        )
        #expect(calls.isEmpty)
        #expect(try OldHub.calls(OldHub.notification(submission), []).isEmpty)
    }
}
