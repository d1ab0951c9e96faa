import Coverage
import HTTPTypes
import Model
import TestKit
import Testing

@testable import NotificationHubs

/// docs/contracts/notificationhubs.md#8: templates and their values.
struct TemplateTests {
    private static let send: JSONObject = [
        "name": "Mina", "count": "3", "text": "a b&c", "Title": "Good morning", "dots": "abcdef", "empty": "",
        "brace": "}", "word": "three",
    ]

    private func value(_ text: String, _ send: JSONObject = send, _ installation: JSONObject = JSONObject()) throws
        -> JSON
    {
        try TemplateExpression(text).evaluated(with: TemplateValues(send: send, installation: installation))
    }

    @Test(arguments: [
        ("plain text", "plain text"), ("$(name)", "Mina"), ("$(NAME)", "Mina"), ("$(missing)", ""),
        ("$(name, 2)", "Mi"), ("$(name,0)", ""), ("$(name, 99)", "Mina"), (".(dots, 5)", "ab..."),
        (".(dots, 6)", "abcdef"), (".(dots, 2)", ".."), (".(dots, 0)", ""), ("%(text)", "a%20b%26c"),
        ("{ 'Hi ' + $(name) }", "Hi Mina"), ("{'Hi '+$(name)+\"!\"}", "Hi Mina!"), ("{ 'it''s' }", "it's"),
        ("{ \"a\"\"b\" + .(dots, 4) + %(text) }", "a\"ba...a%20b%26c"), ("$(name:{friend})", "Mina"),
        ("$(missing:{friend})", "friend"), ("$(missing:{a\\}b})", "a}b"), ("$(missing, 3:{friend})", "fri"),
        ("$(empty:{friend})", ""), ("{ 'Hi ' + $(missing:{friend}) }", "Hi friend"), ("$5 off", "$5 off"),
        ("...", "..."), ("#1", "#1"), ("100%", "100%"), ("", ""), ("Hi $(name)", "Hi $(name)"),
    ])
    func expressionsAreEvaluated(_ text: String, _ wanted: String) throws {
        #expect(try value(text) == .string(wanted))
    }

    @Test func aNumberIsANumber() throws {
        #expect(try value("#(count)") == 3)
        #expect(throws: TemplateFault.number) { try value("#(word)") }
        #expect(throws: TemplateFault.number) { try value("#(missing)") }
    }

    @Test(arguments: [
        ("$body", TemplateFault.reserved), ("$(name", .parenthesis), ("$(name) and more", .parenthesis),
        ("%(name, 2)", .cut), (".(name)", .cut), ("$(name, x)", .cut), ("$()", .name), ("$(a-b)", .parenthesis),
        ("{ 'a' - 'b' }", .composition), ("{ #(count) }", .token), ("{ a }", .token), ("{ 'a'", .parenthesis),
        ("{ 'a }", .parenthesis), ("{}", .token), ("$(name:{x)", .parenthesis), ("#(name", .parenthesis),
    ])
    func aBrokenExpressionIsAFault(_ text: String, _ fault: TemplateFault) {
        #expect(throws: fault) { try value(text) }
    }

    @Test func expressionsAreBounded() throws {
        #expect(throws: TemplateFault.name) { try value("$(\(String(repeating: "n", count: 121)))") }
        #expect(try value("$(\(String(repeating: "n", count: 120)))") == "")
        func parts(_ count: Int) -> String {
            "{" + [String](repeating: "$(name)", count: count).joined(separator: "+") + "}"
        }
        #expect(try value(parts(100)).string?.utf8.count == 400)
        #expect(throws: TemplateFault.tooMany) { try value(parts(101)) }
        #expect(throws: TemplateFault.tooLong) { try value(String(repeating: "x", count: 8193)) }
    }

    /// docs/contracts/notificationhubs.md#8: the values of the send have precedence, then those of the installation,
    /// then the default.
    @Test func theSendsValuesHavePrecedence() throws {
        let own: JSONObject = ["name": "Nick", "nick": "Nini"]
        #expect(try value("$(name)", Self.send, own) == "Mina")
        #expect(try value("$(nick:{nobody})", Self.send, own) == "Nini")
        #expect(try value("$(none:{nobody})", Self.send, own) == "nobody")
    }

    // MARK: Pushes

    private func target(_ template: JSON, variables: JSONObject = JSONObject(), variant: String? = "news")
        -> TargetFacts
    {
        var facts = TargetFacts(
            target: TargetID(rawValue: Mount.message.rawValue),
            identity: IdentityID(Mount.message.rawValue),
            device: nil,
            app: "shop",
            vendor: .notificationHubs,
            key: "k",
            destination: PushDestination(
                platform: .ios,
                environment: .production,
                token: DeviceToken(apns: "ab"),
                tokenState: .active
            )
        )
        facts.variant = variant
        facts.variables = ["templates": ["news": template], "pushVariables": .object(variables)]
        return facts
    }

    private func notification(_ body: String, _ headers: [String: String] = [:]) throws -> Notification {
        let submission = try submission(body, headers)
        return Notification(
            message: Mount.message,
            origin: .notificationHubs,
            content: submission.content,
            sentAt: Mount.now,
            collapseID: submission.collapseID
        )
    }

    private func send(_ body: String, _ headers: [String: String] = [:]) -> VendorRequest {
        let all = headers.merging(["ServiceBusNotification-Format": "Template"]) { first, _ in first }
        return Mount.request(.post, "/hub1/messages", query: "api-version=2017-04", headers: all, body)
    }

    private func submission(_ body: String, _ headers: [String: String] = [:]) throws -> Submission {
        let request = send(body, headers)
        guard case .submission(.submit(let submission)) = try Mount.command(request) else {
            throw AdapterError(.notFound)
        }
        return submission
    }

    private func push(_ notification: Notification, _ target: TargetFacts) throws -> PushPayload {
        try Mount.adapter.payload(for: notification, to: target, settings: Mount.settings)
    }

    /// The sample of docs/contracts/notificationhubs.md#8.
    @Test func theDocumentedTemplateIsRendered() throws {
        let template: JSON = ["body": #"{"aps":{"alert":"{ 'Hi ' + $(name:{friend}) }"}}"#]
        let known = try push(try notification(#"{"name":"Mina"}"#), target(template))
        #expect(String(decoding: known.bytes, as: UTF8.self) == #"{"aps":{"alert":"Hi Mina"}}"#)
        #expect(known.type == .alert)
        #expect(known.priority == 10)
        let unknown = try push(try notification("{}"), target(template))
        #expect(String(decoding: unknown.bytes, as: UTF8.self) == #"{"aps":{"alert":"Hi friend"}}"#)
    }

    @Test func numbersListsAndOtherValuesKeepTheirPlaces() throws {
        let template: JSON = [
            "body": ##"{"aps":{"badge":"#(n)","alert":{"loc-args":["$(a)",1,true,null]}},"nick":"$(nick)"}"##
        ]
        let push = try push(try notification(#"{"n":"7","a":"x\"y"}"#), target(template, variables: ["nick": "Mi"]))
        let wanted = #"{"aps":{"badge":7,"alert":{"loc-args":["x\"y",1,true,null]}},"nick":"Mi"}"#
        #expect(String(decoding: push.bytes, as: UTF8.self) == wanted)
    }

    @Test func aTemplatesHeadersHavePrecedence() throws {
        let sent = ["apns-priority": "10", "apns-push-type": "alert", "apns-collapse-id": "s"]
        let notification = try notification(#"{"p":"5"}"#, sent)
        let own: JSON = [
            "body": #"{"aps":{"content-available":1}}"#,
            "headers": ["apns-priority": "$(p)", "APNS-Push-Type": "background", "apns-collapse-id": "t"],
        ]
        let push = try push(notification, target(own))
        #expect(push.type == .background)
        #expect(push.priority == 5)
        #expect(push.collapseID == "t")
        let plain = try self.push(notification, target(["body": #"{"aps":{"content-available":1}}"#]))
        #expect(plain.type == .alert)
        #expect(plain.collapseID == "s")
        let inferred = try self.push(try self.notification("{}"), target(["body": #"{"aps":{"content-available":1}}"#]))
        #expect(inferred.type == .background)
        #expect(inferred.priority == 5)
    }

    /// docs/contracts/notificationhubs.md#5.2, docs/contracts/notificationhubs.md#8: the expiry is a date, `0`, or an expression. The template's
    /// header has precedence over its expiry, and both over the send's header. An empty expression counts as not set.
    @Test(arguments: [
        ("0", nil, 0), ("2026-01-01T02:00:00Z", nil, 1_767_232_800), ("$(end)", nil, 1_767_229_200),
        ("#(zero)", nil, 0), ("$(missing)", nil, 1_767_226_000), ("2025-12-31T00:00:00Z", nil, 0),
        ("0", "1767232800", 1_767_232_800), ("$(end)", "#(zero)", 0), ("0", "$(missing)", 0),
        (nil, "$(end)", 1_767_229_200), (nil, nil, 1_767_226_000),
    ])
    func aTemplateMayHaveItsOwnExpiry(_ expiry: String?, _ header: String?, _ seconds: Int64) throws {
        let sent = try notification(#"{"end":"2026-01-01T01:00:00Z","zero":"0"}"#, ["apns-expiration": "1767226000"])
        var template: JSONObject = ["body": "{}"]
        template["expiry"] = expiry.map { .string($0) }
        template["headers"] = header.map { ["apns-expiration": .string($0)] }
        #expect(try push(sent, target(.object(template))).expiresAt == Timestamp(seconds: seconds))
    }

    @Test(arguments: ["tomorrow", "$(end", "$(end)", "-1"]) func anEndThatIsNoneIsNoPush(_ expiry: String) throws {
        let sent = try notification(#"{"end":"soon"}"#)
        #expect(throws: AdapterError(.invalid, field: "template")) {
            try push(sent, target(["body": "{}", "expiry": .string(expiry)]))
        }
    }

    /// docs/contracts/notificationhubs.md#8: the template is skipped for that device. A rendered template is limited
    /// to Apple's size, and is never much larger in between.
    @Test func aTemplateThatCannotBeRenderedIsSkipped() throws {
        let notification = try notification(#"{"long":"\#(String(repeating: "x", count: 4000))"}"#)
        for body in ["", "b", "[]", #"{"a":"$(b"}"#, ##"{"a":"#(b)"}"##] {
            #expect(throws: AdapterError(.invalid, field: "template")) {
                try push(notification, target(["body": .string(body)]))
            }
        }
        #expect(throws: AdapterError(.invalid, field: "template")) {
            try push(notification, target(["body": "{}"], variant: "another"))
        }
        for count in [2, 900] {
            let list = [String](repeating: #""$(long)""#, count: count).joined(separator: ",")
            #expect(throws: AdapterError(.tooLarge, field: "template")) {
                try push(notification, target(["body": .string("{\"a\":[\(list)]}")]))
            }
        }
    }

    /// docs/contracts/notificationhubs.md#6.2: its own tags together with those of its installation.
    @Test(.covers("notificationhubs", "POST /{hub}/messages by template")) func aSendByTemplateMeansVariants() throws {
        let submission = try submission("{}", ["ServiceBusNotification-Tags": "seoul && news && !quiet"])
        guard case .tags(let audience) = submission.audience, let choice = submission.content.variants else {
            Issue.record("no variants")
            return
        }
        func tags(_ texts: String...) -> Set<Model.Tag> { Set(texts.compactMap { Tag($0) }) }
        #expect(choice.matches(tags("seoul", "news")))
        #expect(!choice.matches(tags("seoul", "news", "quiet")))
        let news = try #require(Tag("news"))
        let own = tags("seoul").union([Tag(Platform.ios), .hasVariants])
        #expect(audience.matches(own.union([.ofVariant(news)])))
        #expect(!audience.matches(own))
        #expect(!audience.matches(tags("seoul", "news").union([Tag(Platform.ios)])), "without templates")
        #expect(try self.submission("{}").content.variants?.matches([.hasVariants]) == true)
        // The answer is the same as for any send.
        let answer = Mount.answer(send("{}")) { _ in .submission(.accepted(Mount.message, recipients: nil)) }
        #expect(answer.status == 201 && answer.body.isEmpty, "\(answer.text)")
        #expect(answer.header("Location")?.contains("/hub1/messages/\(Mount.messageText)") == true)
    }

    @Test func tagsOfTemplatesAreSeparate() throws {
        let body = """
            {"platform":"apns","pushChannel":"ab","tags":["Seoul"],"templates":{"News":{"body":"{}","tags":["a"]},
            "no tag":{"body":"{}"}}}
            """
        let request = Mount.request(.put, "/hub1/installations/i1", query: "api-version=2020-06", body)
        guard case .registration(.enlist(let registration, _)) = try Mount.command(request) else {
            Issue.record("no registration")
            return
        }
        #expect(registration.attributes["variants"] == ["News": ["a", "news"], "no tag": []])
        let (a, news, seoul) = (
            try #require(Tag("a")), try #require(Tag("news")), try #require(Tag("seoul"))
        )
        let tags = Set(registration.tags ?? [])
        #expect(tags.isSuperset(of: [seoul, .hasVariants, .ofVariant(a), .ofVariant(news)]))
        #expect(!tags.contains(a) && !tags.contains(news))
    }

    @Test(arguments: ["", "x", "[]", #"{"a":{}}"#, #"{"a":null}"#, #"{"a":true}"#])
    func propertiesOtherThanTextsAre400(_ body: String) {
        let headers = ["ServiceBusNotification-Format": "template"]
        #expect(Mount.answer(Mount.request(.post, "/hub1/messages", headers: headers, body)).status == 400)
        let direct = Mount.request(
            .post,
            "/hub1/messages",
            query: "direct",
            headers: headers.merging(["ServiceBusNotification-DeviceHandle": "ab"]) { first, _ in first },
            "{}"
        )
        #expect(Mount.answer(direct).status == 400)
    }

    /// I5, for expressions and whole templates.
    @Test func randomTemplatesNeverTrap() {
        let letters = Array("$.%#(){}'\"+:,\\ an09_é").map { String($0) }
        var random = SplitMix(state: Fuzz.seed)
        var (filled, faults) = (0, 0)
        for _ in 0..<Fuzz.count * 10 {
            let length = Int(random.next() % 24)
            var text = ["$(", "{ ", "#(", ".(", "%(", ""][Int(random.next() % 6)]
            for _ in 0..<length { text += letters[Int(random.next() % UInt64(letters.count))] }
            do {
                _ = try value(text)
                filled += 1
            } catch {
                faults += 1
            }
        }
        #expect(filled > 0 && faults > 0, "seed \(Fuzz.seed)")
    }
}

/// Numbers from a seed, so that a failure can be repeated.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
