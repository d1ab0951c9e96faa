import Model
import Testing

@testable import ConsoleDelivery
@testable import PageParts
@testable import WebConsole

/// Back ends store templates with members that the form of the console does not have.
struct KeptMembersTests {
    private static let content: JSON = [
        "title": "T", "body": "B", "urgent": true, "data": ["order": "4711"], "apns": ["interruptionLevel": "passive"],
        "to": ["everyone": true], "app": "other", "sendAt": ["after": 3600],
    ]
    private static let kept: JSON = ["data": ["order": "4711"], "apns": ["interruptionLevel": "passive"]]

    private func form(_ source: JSON, _ query: [(String, String)]) throws -> PageContent {
        var table = ComposePageTests.table()
        table["source"] = SendingWorld.answer(source, tag: "\"3\"")
        return try SendingWorld.content(ComposePage(), SendingWorld.request(query: query), table)
    }

    private func hidden(_ content: PageContent, _ path: String) -> JSON? {
        content.form(path)?.value("more").flatMap { try? JSONParser.parse($0) }
    }

    private func codes(_ content: PageContent) -> [String] {
        content.blocks.flatMap(\.body).compactMap { part -> String? in
            if case .code(let text, _) = part { text } else { nil }
        }
    }

    @Test func theFormShowsAndCarriesThem() throws {
        let page = try form(["name": "winter", "content": Self.content], [("template", "winter")])
        #expect(hidden(page, "compose/review") == Self.kept)
        #expect(codes(page).contains { $0.contains("4711") })
        // The control: a template that the console wrote.
        let plain = try form(["name": "winter", "content": ["title": "T", "body": "B"]], [("template", "winter")])
        #expect(plain.form("compose/review")?.field("more") == nil && codes(plain).isEmpty)
    }

    @Test func whatIsReviewedSentTestedAndSavedHasThem() throws {
        let typed = ComposePageTests.replacing([("more", JSONWriter.text(Self.content))])
        let request = SendingWorld.request(typed: typed)
        let content = try SendingWorld.content(ComposePage(), request, ComposePageTests.table())
        let (_, calls) = SendingWorld.load(ComposePage(), request, ComposePageTests.table())
        let preview = try #require(calls.first { $0.name == "preview" }?.body)
        let forms: [(String, any ConsoleForm, String?)] = [
            ("compose/send", SendForm(), nil), ("compose/test", SendTestForm(), nil),
            ("compose/draft", DraftForm(), "content"),
        ]
        var answers = Answers()
        answers["size"] = SendingWorld.answer(["count": 12, "precision": "exact"])
        for (path, form, member) in forms {
            #expect(hidden(content, path) == Self.kept, "\(path)")
            let sent = SendingWorld.fields(try #require(content.form(path)).sent)
            let body = try #require(form.submit(SendingWorld.request(), sent, answers).call?.body)
            let message = member.flatMap { body[$0] } ?? body
            #expect(message["data"]?["order"] == "4711" && message["apns"] == Self.kept["apns"], "\(path)")
            #expect(message["title"] == "Winter sale" && message["urgent"] == nil, "the form has these")
        }
        // The recipients and the time are those of the form, whatever a template states.
        #expect(preview["data"]?["order"] == "4711" && preview["app"] == "shop")
        #expect(preview["sendAt"] == ["after": .int(Sending.undoSeconds)])
        #expect(Composition(app: "shop", content: Self.content).draft["to"] == nil)
    }

    /// The state of an earlier message is not a part of its content.
    @Test func ofAnEarlierMessageTheContentIsTaken() throws {
        let message: JSON = [
            "id": .string(SendingWorld.message), "app": "shop", "state": "done", "title": "Old", "body": "Text",
            "campaign": "spring", "variant": "b", "recipients": 3, "funnel": ["sent": 3],
        ]
        let page = try form(message, [("message", SendingWorld.message)])
        #expect(page.form("compose/review")?.value("title") == "Old")
        #expect(hidden(page, "compose/review") == ["variant": "b"])
        // Without its content, the page says so; with it, the note is absent.
        func notes(_ page: PageContent) -> [String] { page.callouts.filter { $0 == ComposeText.textsAlone.en } }
        #expect(notes(page).count == 1)
        var whole = message.object ?? JSONObject()
        whole["content"] = ["title": "Old", "body": "Text", "urgent": true, "data": ["order": "4711"]]
        let kept = try form(.object(whole), [("message", SendingWorld.message)])
        #expect(hidden(kept, "compose/review") == ["data": ["order": "4711"]] && notes(kept).isEmpty)
        #expect(kept.form("compose/review")?.value("urgent") == "on")
        var composition = Composition(app: "shop", content: ["campaign": "spring", "variant": "b"])
        #expect(composition.message(to: ["everyone": true], zone: "UTC")["variant"] == "b")
        composition.campaign = ""
        #expect(composition.message(to: ["everyone": true], zone: "UTC")["variant"] == nil)
    }

    /// A complete payload has its own text, and a silent message shows none.
    @Test func aCompletePayloadAndASilentMessageNeedNoText() throws {
        func needsText(_ content: JSON) -> Bool {
            let composition = Composition(app: "shop", content: content)
            return composition.faults(.en, now: Timestamp(milliseconds: 0), zone: "UTC")["body"] != nil
        }
        let raw: JSON = ["raw": ["aps": ["alert": "Hello"]]]
        #expect(!needsText(raw) && !needsText(["silent": true, "data": ["order": "4711"]]))
        #expect(needsText(["data": ["order": "4711"]]) && needsText(["silent": false]))

        // The form of a stored template does not carry its payload.
        let typed = SendingWorld.fields([("title", ""), ("body", ""), ("revision", "\"3\"")])
        func saved(over stored: JSON) -> APICall? {
            var answers = Answers()
            answers["stored"] = SendingWorld.answer(["name": "winter", "content": stored])
            return SaveTemplateForm().submit(SendingWorld.request(), typed, answers).call
        }
        let body = try #require(saved(over: raw)?.body)
        #expect(body["content"]?["raw"] == ["aps": ["alert": "Hello"]])
        #expect(saved(over: ["title": "T", "body": "B"]) == nil)
    }

    @Test(arguments: ["", "{", "[1]", "null", "{\"to\":1,\"title\":2}"])
    func otherTextsAddNothing(text: String) {
        let composition = Composition(app: "shop", SendingWorld.fields(ComposePageTests.replacing([("more", text)])))
        #expect(composition.more.isEmpty && composition.content["title"] == "Winter sale")
    }
}
