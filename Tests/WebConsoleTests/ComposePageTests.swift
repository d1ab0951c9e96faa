import Model
import Testing

@testable import ConsoleDelivery
@testable import PageParts
@testable import WebConsole

struct ComposePageTests {
    let page = ComposePage()

    static let typed = [
        ("app", "shop"), ("audience", "everyone"), ("title", "Winter sale"), ("body", "Only today"), ("when", "now"),
    ]

    /// The answers of the declared examples.
    static func table(count: Int64 = 12, precision: String = "exact", previews: JSON? = nil) -> [String:
        APIAnswer]
    {
        let shown: JSON = [
            "pushType": "alert", "priority": 10, "collapseId": .null, "bytes": 239, "limit": 4096, "reduced": [],
            "headers": [:], "refused": .null,
            "payload": ["aps": ["alert": ["body": "Only today"]]],
        ]
        return [
            "apps": SendingWorld.answer(SendingWorld.apps),
            "groups": SendingWorld.answer([
                "groups": [["app": "shop", "group": "early birds", "members": 3]], "next": .null,
            ]),
            "templates": SendingWorld.answer([
                "templates": [["name": "winter", "content": ["title": "T"]], ["name": "draft-a", "content": [:]]],
                "next": .null,
            ]),
            "size": SendingWorld.answer(["count": .int(count), "precision": .string(precision)]),
            "preview": SendingWorld.answer(["previews": previews ?? ["native": shown, "braze": shown]]),
            "tests": SendingWorld.answer(["group": "test-devices", "members": 2]),
            "find-0": SendingWorld.answer([
                "matches": [
                    [
                        "kind": "phone", "more": false,
                        "devices": [
                            ["id": "d-1", "app": "shop"], ["id": "d-2", "app": "old"], ["id": .null, "app": "shop"],
                        ],
                    ],
                    [
                        "kind": "user", "more": false,
                        "devices": [["id": "d-1", "app": "shop"], ["id": "d-3", "app": "shop"]],
                    ],
                ]
            ]),
        ]
    }

    func reviewed(_ typed: [(String, String)], _ table: [String: APIAnswer], _ language: Language = .en) throws
        -> PageContent
    {
        try SendingWorld.content(page, SendingWorld.request(language, typed: typed), table)
    }

    static func replacing(_ changes: [(String, String)]) -> [(String, String)] {
        typed.filter { field in !changes.contains { $0.0 == field.0 } } + changes
    }

    // MARK: The first page

    @Test func theFirstPageHasNoButtonThatSends() throws {
        let content = try SendingWorld.content(page, SendingWorld.request(), Self.table())
        #expect(
            content.sentence.text
                == "Choose the recipients and write the message. Nothing is sent before you confirm it."
        )
        #expect(content.forms.map(\.path) == ["compose/review"])
        let form = try #require(content.form("compose/review"))
        #expect(form.isMultipart && form.second?.path == "compose/preview")
        #expect(form.fields.compactMap(\.section) == ["1 Recipients", "2 Content", "3 Time"])
        #expect(form.value("app") == "shop")
        #expect(content.tables.isEmpty, "no payload yet")
        guard case .choice(_, "template", let options, _) = content.filters.last else {
            Issue.record("no templates")
            return
        }
        #expect(options.map(\.value) == ["", "winter"], "drafts are not templates")
    }

    @Test func aTenantWithoutAppsIsToldWhatComesFirst() throws {
        let content = try SendingWorld.content(
            page,
            SendingWorld.request(),
            ["apps": SendingWorld.answer(["apps": []])]
        )
        #expect(content.sentence.mark == .warn && content.sentence.link?.path == "apps")
        #expect(content.forms.isEmpty)
    }

    @Test func aTemplateADraftAndAMessageFillTheForm() throws {
        var table = Self.table()
        table["source"] = SendingWorld.answer(
            ["name": "winter", "content": ["title": "T", "body": "B #{name}"]],
            tag: "\"3\""
        )
        var content = try SendingWorld.content(page, SendingWorld.request(query: [("template", "winter")]), table)
        var form = try #require(content.form("compose/review"))
        #expect(form.value("title") == "T" && form.field("var-name") != nil)
        #expect(form.value("draft") == "" && form.value("revision") == "", "a template is not overwritten")

        let composition = Composition(
            app: "shop",
            SendingWorld.fields(Self.replacing([("audience", "tags"), ("tags", "a && b")]))
        )
        table["source"] = SendingWorld.answer(["name": "draft-a", "content": composition.draft], tag: "\"7\"")
        content = try SendingWorld.content(page, SendingWorld.request(query: [("draft", "draft-a")]), table)
        form = try #require(content.form("compose/review"))
        #expect(
            form.value("audience") == "tags" && form.value("tags") == "a && b" && form.value("body") == "Only today"
        )
        #expect(form.value("draft") == "draft-a" && form.value("revision") == "\"7\"")

        table["source"] = SendingWorld.answer(["id": .string(SendingWorld.message), "title": "Old", "body": "Text"])
        let source = SendingWorld.request(query: [("message", SendingWorld.message)])
        content = try SendingWorld.content(page, source, table)
        #expect(content.form("compose/review")?.value("title") == "Old")
        let (_, calls) = SendingWorld.load(page, SendingWorld.request(query: [("message", "../keys")]), table)
        #expect(calls.last?.path == "messages/..%2Fkeys")
        // Links keep the range of the page: a day is not a message.
        let dated = SendingWorld.load(page, SendingWorld.request(query: [("from", "2026-11-01")]), table)
        #expect(!dated.calls.contains { $0.name == "source" })
    }

    // MARK: The review

    @Test func theReviewStatesWhatWillHappen() throws {
        let content = try reviewed(Self.typed, Self.table())
        #expect(content.sentence.text == "Send to 12 devices of shop now?")
        #expect(try reviewed(Self.typed, Self.table(), .ko).sentence.text == "shop의 단말 12대에 지금 발신하시겠습니까?")
        let send = try #require(content.form("compose/send"))
        #expect(send.submit == "Send to 12 devices" && send.field("confirm") == nil)
        #expect(content.form("compose/test")?.submit == "Send a test to 2 test users")
        let payloads = try #require(content.tables.first)
        #expect(payloads.rows.count == 2 && payloads.rows.first?.id == "payload-native")
    }

    /// The cells of size and share of each row.
    private func sizes(_ previews: JSON, _ language: Language = .en) throws -> [[String]] {
        let content = try reviewed(Self.typed, Self.table(previews: previews), language)
        return try #require(content.tables.first).rows.map { row in
            row.cells.dropFirst().dropLast().map { cell in
                switch cell {
                case .text(let text): text
                case .bar(let segments, let words):
                    ([words] + segments.map { "\($0.style) \(Drawing.number($0.share * 100))" }).joined(separator: ", ")
                case .none: "none"
                default: "another cell"
                }
            }
        }
    }

    @Test func aPayloadIsMeasuredByApplesLimit() throws {
        let push: JSON = ["bytes": 1024, "limit": 4096]
        let large: JSON = ["bytes": 5120, "limit": 4096, "refused": "the payload is too large"]
        let previews: JSON = ["native": push, "braze": large, "upmc": ["error": "x"], "ipns": ["bytes": 239]]
        #expect(
            try sizes(previews) == [
                ["1,024 of 4,096 bytes", "25.0%, gateway 25"], ["5,120 of 4,096 bytes", "125.0%, lost 125"],
                ["–", "none"], ["239 bytes", "none"],
            ]
        )
        #expect(try sizes(["native": push], .ko) == [["4,096바이트 중 1,024바이트", "25.0%, gateway 25"]])
        // A number that a peer may send instead.
        for odd in [0, -1, Int64.min] {
            #expect(try sizes(["native": ["bytes": .int(odd), "limit": .int(odd)]]).first?.last == "none")
        }
    }

    // While a person types, the card of the payloads is replaced by that of a preview.
    @Test func aPreviewHasTheSizesOfTheReview() throws {
        let preview = try reviewed(Self.typed + [("_form", "compose/preview")], Self.table())
        let review = try reviewed(Self.typed, Self.table())
        let texts = [preview, review].map { content in
            content.tables.flatMap(\.rows).map { row in
                row.cells.compactMap { cell -> String? in if case .text(let text) = cell { text } else { nil } }
            }
        }
        #expect(texts == Array(repeating: [["239 of 4,096 bytes"], ["239 of 4,096 bytes"]], count: 2))
    }

    @Test func aTimeIsPartOfTheSentence() throws {
        let at = try reviewed(Self.replacing([("when", "at"), ("at", "2026-11-24T09:00")]), Self.table())
        #expect(at.sentence.text == "Send to 12 devices of shop at Tue 24 Nov 09:00 KST?")
        let local = try reviewed(Self.replacing([("when", "local"), ("local", "2026-11-24T09:00")]), Self.table())
        #expect(
            local.sentence.text == "Send to 12 devices of shop at Tue 24 Nov 09:00 in the time zone of each device?"
        )
    }

    @Test func anEstimateIsMarked() throws {
        let about = try reviewed(Self.typed, Self.table(count: 1_204_331, precision: "about"))
        #expect(about.sentence.text == "Send to ≈ 1,204,331 devices of shop now?")
        let least = try reviewed(Self.typed, Self.table(count: 10_000, precision: "atLeast"))
        #expect(least.sentence.text == "Send to at least 10,000 devices of shop now?")
        #expect(least.form("compose/send")?.field("confirm") != nil, "the number is not known to be small")
    }

    @Test(arguments: [
        ([("audience", "")], "audience"), ([("audience", "group")], "group"), ([("audience", "tags")], "tags"),
        ([("audience", "search")], "search"), ([("title", " "), ("body", "")], "body"),
        ([("title", String(repeating: "x", count: 1001))], "title"),
        ([("body", String(repeating: "가", count: 1334))], "body"),
        ([("body", "Hello #{name}")], "var-name"), ([("when", "at")], "at"),
        ([("when", "at"), ("at", "2026-11-22T09:00")], "at"),
        ([("when", "local"), ("local", "tomorrow")], "local"),
        ([("when", "local"), ("local", "2026-11-20T09:00")], "local"),
    ])
    func aFaultIsBesideItsField(changes: [(String, String)], field: String) throws {
        let typed = Self.replacing(changes)
        let step = ReviewForm().submit(SendingWorld.request(), SendingWorld.fields(typed), Answers())
        #expect(step.errors.map { Array($0.keys) } == [field])
        let (answers, calls) = SendingWorld.load(page, SendingWorld.request(typed: typed), Self.table())
        #expect(!calls.contains { $0.name == "size" }, "nothing is counted for a message with faults")
        let content = try page.content(SendingWorld.request(typed: typed), answers)
        #expect(content.sentence.text == "The message cannot be sent yet. Correct 1 field.")
        #expect(content.form("compose/send") == nil)
        // The control: without the change the form is accepted.
        #expect(ReviewForm().submit(SendingWorld.request(), SendingWorld.fields(Self.typed), Answers()).isShow)
    }

    @Test func nobodyIsNotSentTo() throws {
        let content = try reviewed(Self.typed, Self.table(count: 0))
        #expect(content.sentence.text == "No device matches the recipients. Choose other recipients.")
        #expect(content.form("compose/send") == nil)
    }

    @Test func aPayloadThatEveryFormatRefusesIsNotSent() throws {
        let refused: JSON = ["bytes": 5000, "refused": "the payload is too large", "reduced": [], "payload": [:]]
        var content = try reviewed(Self.typed, Self.table(previews: ["native": refused, "braze": ["error": "x"]]))
        #expect(
            content.sentence.text
                == "Apple would refuse this message: Native API, Braze. Shorten or correct the content."
        )
        #expect(content.form("compose/send") == nil)
        let fine: JSON = ["bytes": 50, "refused": .null, "reduced": ["body"], "payload": [:]]
        content = try reviewed(Self.typed, Self.table(previews: ["native": refused, "braze": fine]))
        #expect(content.form("compose/send") != nil, "the others receive it")
        let verdicts = content.tables.first?.rows.compactMap { row -> Mark? in
            if case .tag(let mark, _) = row.cells.last { return mark }
            return nil
        }
        #expect(verdicts == [.bad, .warn])
    }

    @Test func aSearchBecomesTheDevicesThatItFound() throws {
        let typed = Self.replacing([("audience", "search"), ("search", " 010-1234-5678 \n")])
        let (_, calls) = SendingWorld.load(page, SendingWorld.request(typed: typed), Self.table())
        #expect(calls.first { $0.name == "find-0" }?.body == ["value": "010-1234-5678", "app": "shop"])
        #expect(calls.first { $0.name == "size" }?.body == ["to": ["devices": ["d-1", "d-3"]]])
        let content = try reviewed(typed, Self.table())
        let send = try #require(content.form("compose/send"))
        #expect(send.value("audience") == "devices" && send.value("devices") == "d-1 d-3")
        var table = Self.table()
        table["find-0"] = SendingWorld.answer(["matches": []])
        #expect(try reviewed(typed, table).sentence.text == "No device matches.")
        table["find-0"] = SendingWorld.answer(["matches": [["devices": [["id": "d", "app": "shop"]], "more": true]]])
        #expect(try reviewed(typed, table).sentence.text == "Too many devices match. Use a group or tags.")
    }

    @Test func aRefusalOfTheReviewHasItsCode() throws {
        var table = Self.table()
        table["size"] = SendingWorld.problem(422, "PG-1002")
        let content = try reviewed(Self.replacing([("audience", "tags"), ("tags", "((")]), table)
        #expect(content.callouts.contains { $0.contains("PG-1002") && $0.contains("r-1") })
        #expect(content.form("compose/send") == nil)
    }

    @Test func withoutTestDevicesThePageNamesTheStep() throws {
        var table = Self.table()
        table["tests"] = SendingWorld.problem(404, "PG-1004")
        let content = try reviewed(Self.typed, table)
        #expect(content.form("compose/test") == nil && content.callouts.contains { $0.contains("no test devices") })
    }

    @Test func aPreviewCountsNobodyAndTakesTheButtonAway() throws {
        let typed = [("app", "shop"), ("body", "Hello #{name}"), ("audience", "tags"), ("_form", "compose/preview")]
        let (answers, calls) = SendingWorld.load(page, SendingWorld.request(typed: typed), Self.table())
        #expect(calls.map(\.name) == ["apps", "groups", "templates", "preview"])
        let content = try page.content(SendingWorld.request(typed: typed), answers)
        #expect(content.forms.map(\.path) == ["compose/review"] && content.tables.count == 1)
        #expect(content.sentence.text.hasPrefix("Choose the recipients"))
        #expect(PreviewForm().submit(SendingWorld.request(), SendingWorld.fields(typed), Answers()).isShow)
        // The cards have the same places as in the review, so that the script changes them in place.
        let review = try reviewed(Self.typed, Self.table())
        #expect(content.blocks.map(\.title) == review.blocks.map(\.title))
        let empty = SendingWorld.load(page, SendingWorld.request(typed: typed.filter { $0.0 != "body" }), Self.table())
        #expect(!empty.calls.contains { $0.name == "preview" })
    }

    @Test func aDraftDoesNotNamePeople() throws {
        let composition = Composition(
            app: "shop",
            SendingWorld.fields(Self.replacing([("audience", "search"), ("search", "010-1234-5678")]))
        )
        #expect(!JSONWriter.text(composition.draft).contains("1234"))
    }

    // MARK: Sending

    private func send(_ changes: [(String, String)], count: Int64, _ precision: String = "exact") -> FormStep {
        let fields = SendingWorld.fields(Self.replacing(changes + [("count", "12")]))
        let form = SendForm()
        var answers = Answers()
        for call in form.calls(SendingWorld.request(), fields, answers) {
            answers[call.name] = SendingWorld.answer(["count": .int(count), "precision": .string(precision)])
        }
        return form.submit(SendingWorld.request(), fields, answers)
    }

    @Test func aMessageIsSentOnceAndLater() throws {
        let call = try #require(send([], count: 12).call)
        #expect(call.path == "messages" && call.method == .post && call.once?.hasPrefix("send-once-1-") == true)
        #expect(
            call.body == [
                "app": "shop", "to": ["everyone": true], "title": "Winter sale", "body": "Only today",
                "sendAt": ["after": 10],
            ]
        )
        // A double click: the request is the same at another time, so that the repeated call has the first answer.
        var later = SendingWorld.request()
        later.now = later.now + .seconds(5)
        let fields = SendingWorld.fields(Self.replacing([("count", "12")]))
        let answers = Answers(["size": SendingWorld.answer(["count": 12, "precision": "exact"])])
        let second = SendForm().submit(later, fields, answers).call
        #expect(second?.body == call.body && second?.once == call.once)
        // The same page after Back, with another text.
        #expect(send([("body", "Only tomorrow")], count: 12).call?.once != call.once)
        let result = SendForm().result(
            later,
            fields,
            SendingWorld.answer(["id": .string(SendingWorld.message)], status: 202)
        )
        #expect(result.link?.path == "compose/sent/\(SendingWorld.message)")
    }

    @Test func variablesAreFilledBeforeSending() throws {
        let changes = [("title", "#{이름}님"), ("body", "#{a.b} #{missing"), ("var-이름", "김#{a.b}"), ("var-a.b", "1")]
        let body = try #require(send(changes, count: 12).call?.body)
        #expect(body["title"] == "김#{a.b}님", "a value is not a template")
        #expect(body["body"] == "1 #{missing")
    }

    @Test func aLargeNumberIsTyped() throws {
        let large = ("count", "1204331")
        #expect(send([large], count: 1_204_331, "about").errors?["confirm"] != nil)
        #expect(send([large, ("confirm", "12")], count: 1_204_331, "about").errors?["confirm"] == "Type 1204331.")
        #expect(send([large, ("confirm", "1,204,331 ")], count: 1_204_331, "about").call != nil)
        #expect(send([("count", "10000")], count: 10_000).call != nil)
        #expect(send([("count", "10001")], count: 10_001).errors != nil)
        #expect(send([("count", "10000")], count: 10_000, "atLeast").errors != nil)
    }

    @Test func aForgedOrOldNumberIsReviewedAgain() throws {
        #expect(send([("count", "12")], count: 1_204_331).errors?["confirm"] != nil, "the stated number was another")
        #expect(send([("count", "12"), ("confirm", "12")], count: 1_204_331).errors?["confirm"] != nil)
        #expect(send([("count", "x")], count: 12).errors?[""] != nil)
        #expect(send([("count", "1000")], count: 1100).call != nil, "devices that registered meanwhile")
        #expect(send([("count", "1000")], count: 1102).errors?[""] != nil)
        #expect(send([], count: 0).errors?[""] != nil)
    }

    @Test func aTestGoesToTheTestDevicesAndKeepsTheReview() throws {
        let fields = SendingWorld.fields(
            Self.replacing([("when", "at"), ("at", "2026-11-24T09:00")])
        )
        let call = try #require(SendTestForm().submit(SendingWorld.request(), fields, Answers()).call)
        #expect(call.body?["to"] == ["groups": ["test-devices"]] && call.body?["sendAt"] == nil)
        #expect(call.once?.hasPrefix("test-once-1-") == true)
        let result = SendTestForm().result(
            SendingWorld.request(),
            fields,
            SendingWorld.answer(["id": "x"], status: 202)
        )
        #expect(result.notice?.en == "The test was sent.")
    }

    @Test func aTimeOfThePageIsSentInUTC() throws {
        let call = send([("when", "at"), ("at", "2026-11-24T09:00")], count: 12).call
        #expect(call?.body?["sendAt"] == "2026-11-24T00:00:00.000Z")
        let local = send([("when", "local"), ("local", "2026-11-24T09:00")], count: 12).call
        #expect(local?.body?["sendAt"] == ["local": "2026-11-24T09:00:00"])
    }

    @Test func anImageIsStoredBeforeTheReview() throws {
        // SHA-256 of "abc" (FIPS 180-4, example).
        let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        var fields = SendingWorld.fields(Self.typed)
        fields.fields.append(.init("upload", .file(name: "a.png", bytes: Array("abc".utf8))))
        let calls = ReviewForm().calls(SendingWorld.request(), fields, Answers())
        #expect(calls.map(\.path) == ["apps/shop/media/\(hash)"] && calls.first?.bytes == Array("abc".utf8))
        var request = SendingWorld.request()
        request.typed = fields
        let content = try SendingWorld.content(page, request, Self.table())
        #expect(content.form("compose/send")?.value("image") == hash)
        let refused = Answers(["media": SendingWorld.problem(422, "PG-1002")])
        #expect(ReviewForm().submit(request, fields, refused).errors?["upload"] != nil)
    }

    /// The view of the device preview.
    private func shown(_ image: String) throws -> [String: View] {
        let content = try reviewed(Self.replacing([("image", image)]), Self.table())
        for case .template("notification", .fields(let fields)) in content.blocks.flatMap(\.body) { return fields }
        Issue.record("the device preview is missing")
        return [:]
    }

    @Test func theDevicePreviewMarksThePlaceOfTheImage() throws {
        var fields = try shown(String(repeating: "5f", count: 32))
        #expect(fields["image"] == .text("Image 5f5f5f5f5f5f…") && fields["hasNoImage"] == .flag(false))
        fields = try shown("")
        #expect(fields["image"] == View.none && fields["hasNoImage"] == .flag(true))
    }

    // A template may name any address. The page names its host, and has no element that would load it.
    @Test(arguments: [
        ("https://cdn.example.com/a.png", "Image of cdn.example.com"),
        ("https://user:secret@cdn.example.com:8443?x=/", "Image of cdn.example.com:8443"),
        ("https://cdn.example.com\\@evil.example/", "Image of cdn.example.com"), ("https://", "Image https://…"),
        ("javascript:alert(1)", "Image javascript:a…"), ("https://<b>/", "Image of <b>"),
    ])
    func anImageOfAnotherHostIsNotLoaded(image: String, words: String) throws {
        #expect(try shown(image)["image"] == .text(words))
        let typed = Self.replacing([("image", image)])
        let request = SendingWorld.request(typed: typed)
        let content = try SendingWorld.content(page, request, Self.table())
        let html = String(
            decoding: try Renderer.bundled(isStrict: true).page(content, request, path: "compose"),
            as: UTF8.self
        )
        #expect(try Wellformed.check(html).allSatisfy { !$0.hasPrefix("img") })
        #expect(html.contains("<div class=\"picture\" data-alt=\"Image\"><p class=\"small muted\">Image "))
    }

    // MARK: Drafts

    @Test func aDraftIsATemplateWithItsVersion() throws {
        var call = try #require(
            DraftForm().submit(SendingWorld.request(), SendingWorld.fields(Self.typed), Answers())
                .call
        )
        #expect(call.path == "apps/shop/templates/draft-once1" && call.ifMatch == "\"0\"" && call.method == .put)
        #expect(call.body?["content"]?["compose"]?["audience"] == "everyone")
        let typed = SendingWorld.fields(Self.typed + [("draft", "draft-x"), ("revision", "\"4\"")])
        call = try #require(DraftForm().submit(SendingWorld.request(), typed, Answers()).call)
        #expect(call.path == "apps/shop/templates/draft-x" && call.ifMatch == "\"4\"")
        let forged = SendingWorld.fields(Self.typed + [("draft", "winter")])
        #expect(
            DraftForm().submit(SendingWorld.request(), forged, Answers()).call?.path
                == "apps/shop/templates/draft-once1"
        )
        let conflict = DraftForm().result(SendingWorld.request(), typed, SendingWorld.problem(412, "PG-1017"))
        #expect(conflict.errors?[""]?.contains("changed by another person") == true)
    }

    // MARK: Hostile values

    @Test(arguments: SendingWorld.hostile)
    func hostileTextStaysText(text: String) throws {
        let names = [
            "app", "audience", "search", "group", "tags", "devices", "title", "body", "image", "campaign", "when", "at",
            "local",
        ]
        for language in Language.allCases {
            for name in names {
                let typed = Self.replacing([(name, text)])
                let request = SendingWorld.request(language, query: [(name, text), ("template", text)], typed: typed)
                _ = try SendingWorld.content(page, request, Self.table())
                for form in page.forms { _ = form.submit(request, SendingWorld.fields(typed), Answers()) }
            }
        }
    }

    @Test(arguments: SendingWorld.odd)
    func oddAnswersAreNoTrap(body: JSON) throws {
        for name in Self.table().keys {
            var table = Self.table()
            table[name] = SendingWorld.answer(body)
            _ = try reviewed(Self.replacing([("audience", "search"), ("search", "x")]), table)
            _ = try reviewed(Self.typed, table)
            table["source"] = SendingWorld.answer(body)
            _ = try SendingWorld.content(page, SendingWorld.request(query: [("draft", "draft-a")]), table)
        }
    }
}
