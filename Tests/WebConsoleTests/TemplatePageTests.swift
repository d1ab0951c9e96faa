import Model
import Testing

@testable import ConsoleDelivery
@testable import PageParts
@testable import WebConsole

struct TemplatePageTests {
    private static let winter: JSON = [
        "name": "winter", "app": "shop", "revision": 3, "changedBy": "account:lee",
        "changedAt": "2026-11-23T05:02:00.000Z",
        "content": ["title": "Sale", "body": "Line 1\nLine 2"],
    ]
    private static let path = ["app": "shop", "template": "winter"]

    private func template(_ request: PageRequest, _ answer: APIAnswer) throws -> PageContent {
        try SendingWorld.content(TemplatePage(), request, ["template": answer])
    }

    @Test func theListSeparatesDrafts() throws {
        let draft: JSON = [
            "name": "draft-a", "revision": 1, "content": ["title": " ", "body": "Begun"], "changedAt": .null,
        ]
        let table = [
            "apps": SendingWorld.answer(SendingWorld.apps),
            "templates": SendingWorld.answer(["templates": [draft, Self.winter], "next": "winter"]),
        ]
        let content = try SendingWorld.content(TemplatesPage(), SendingWorld.request(), table)
        #expect(content.sentence.text == "1+ templates of shop." || content.sentence.text == "shop has 1+ templates.")
        #expect(content.tables.map(\.rows.count) == [1, 1])
        #expect(content.tables.first?.next?.query == [.init("app", "shop"), .init("after", "winter")])
        guard case .link(let link) = content.tables.last?.rows.first?.cells.first else {
            Issue.record("no link")
            return
        }
        #expect(link.label == "Begun" && link.query == [.init("app", "shop"), .init("draft", "draft-a")])
    }

    @Test func anEmptyListNamesTheStep() throws {
        let table = [
            "apps": SendingWorld.answer(SendingWorld.apps),
            "templates": SendingWorld.answer(["templates": [], "next": .null]),
        ]
        let content = try SendingWorld.content(TemplatesPage(), SendingWorld.request(), table)
        #expect(content.sentence.text == "shop has no templates yet." && content.tables.first?.empty != nil)
        #expect(content.form("templates/new") != nil)
    }

    @Test func aNameOpensAPageAndADraftsNameIsRefused() {
        let form = NewTemplateForm()
        let fields = SendingWorld.fields([("app", "shop"), ("name", " 겨울/세일 ")])
        #expect(
            form.submit(SendingWorld.request(), fields, Answers()).link?.path == "templates/shop/"
                + APICall.segment("겨울/세일")
        )
        for name in ["", "  ", "draft-x", String(repeating: "x", count: 129)] {
            let fields = SendingWorld.fields([("app", "shop"), ("name", name)])
            #expect(form.submit(SendingWorld.request(), fields, Answers()).errors?["name"] != nil)
        }
    }

    @Test func aTemplateIsSavedInTheVersionThatWasOpened() throws {
        let request = SendingWorld.request(path: Self.path)
        let content = try template(request, SendingWorld.answer(Self.winter, tag: "\"3\""))
        #expect(content.sentence.text == "Last saved by lee at Mon 23 Nov 14:02.")
        let form = try #require(content.form("templates/shop/winter/save"))
        #expect(form.value("revision") == "\"3\"")
        let call = try #require(SaveTemplateForm().submit(request, SendingWorld.fields(form.sent), Answers()).call)
        #expect(call.ifMatch == "\"3\"" && call.path == "apps/shop/templates/winter" && call.method == .put)
        #expect(call.body == ["content": ["title": "Sale", "body": "Line 1\nLine 2"]])
    }

    @Test func aNewTemplateIsCreatedOnlyIfNobodyElseDid() throws {
        let request = SendingWorld.request(path: Self.path)
        let content = try template(request, SendingWorld.problem(404, "PG-1004"))
        #expect(content.sentence.text == "No template has this name yet. Save it to create it.")
        #expect(content.form("templates/shop/winter/save")?.value("revision") == "\"0\"")
        #expect(
            SaveTemplateForm().submit(request, SendingWorld.fields([("body", " ")]), Answers()).errors?["body"] != nil
        )
    }

    @Test func aConflictShowsBothVersionsAndKeepsWhatWasTyped() throws {
        let typed = [("title", "Sale"), ("body", "Line 1\nMine"), ("revision", "\"2\"")]
        let request = SendingWorld.request(path: Self.path, typed: typed)
        let content = try template(request, SendingWorld.answer(Self.winter, tag: "\"3\""))
        #expect(
            content.sentence.text
                == "lee changed this template at Mon 23 Nov 14:02. Your changes are not saved yet. Compare the two versions."
        )
        let forms = content.forms
        #expect(forms.count == 2)
        #expect(
            forms.first?.value("revision") == "\"3\"" && forms.first?.value("body") == "Line 1\nMine",
            "saving it is a decision"
        )
        #expect(forms.last?.value("revision") == "\"2\"", "pressing Save again does not overwrite")
        var lines: [DifferenceLine] = []
        for part in content.blocks.flatMap(\.body) { if case .difference(let found) = part { lines = found } }
        #expect(lines.filter { $0.change == .removed }.map(\.text) == ["Line 2"])
        #expect(lines.filter { $0.change == .added }.map(\.text) == ["Mine"])
        // The control: the version that was opened is the stored one.
        let same = SendingWorld.request(path: Self.path, typed: typed.dropLast() + [("revision", "\"3\"")])
        #expect(try template(same, SendingWorld.answer(Self.winter, tag: "\"3\"")).forms.count == 1)
        // Deleted by another person.
        let gone = try template(request, SendingWorld.problem(404, "PG-1004"))
        #expect(
            gone.sentence.text.hasPrefix("This template was deleted") && gone.forms.first?.value("revision") == "\"0\""
        )
    }

    @Test func aCopyHasTheContentAndIsSavedUnderItsName() throws {
        let content: JSON = ["title": "Sale", "body": "Line 1", "data": ["order": "4711"], "urgent": true]
        let stored = SendingWorld.answer(["name": "winter", "revision": 3, "content": content], tag: "\"3\"")
        let page = try template(SendingWorld.request(path: Self.path), stored)
        let form = try #require(page.form("templates/shop/winter/duplicate"))
        #expect(form.fields.map(\.name) == ["name"])
        // The form leads to the page of the new name.
        let request = SendingWorld.request(path: Self.path)
        let fields = SendingWorld.fields([("name", " spring ")])
        let calls = DuplicateTemplateForm().calls(request, fields, Answers())
        #expect(calls.map(\.path) == ["apps/shop/templates/spring"] && calls.allSatisfy { $0.method == .get })
        var answers = Answers()
        answers["taken"] = SendingWorld.problem(404, "PG-1004")
        let link = try #require(DuplicateTemplateForm().submit(request, fields, answers).link)
        #expect(link.path == "templates/shop/spring" && link.query == [.init("copy", "winter")])
        // That page is filled, and what it saves has the members that the form does not show.
        var copy = SendingWorld.request(path: ["app": "shop", "template": "spring"])
        copy.query = link.query
        let table = ["template": SendingWorld.problem(404, "PG-1004"), "copied": stored]
        let (_, made) = SendingWorld.load(TemplatePage(), copy, table)
        #expect(made.map(\.path) == ["apps/shop/templates/spring", "apps/shop/templates/winter"])
        let filled = try SendingWorld.content(TemplatePage(), copy, table)
        #expect(filled.sentence.text == "This is a copy of the template winter. Save it to create it.")
        let sent = SendingWorld.fields(try #require(filled.form("templates/shop/spring/save")).sent)
        let call = try #require(SaveTemplateForm().submit(copy, sent, answers).call)
        #expect(call.ifMatch == "\"0\"" && call.body == ["content": content])
    }

    @Test func aCopyReplacesNoTemplate() throws {
        var answers = Answers()
        let request = SendingWorld.request(path: Self.path)
        answers["taken"] = SendingWorld.answer(Self.winter)
        let fields = SendingWorld.fields([("name", "winter"), ("_form", "templates/shop/winter/duplicate")])
        #expect(DuplicateTemplateForm().submit(request, fields, answers).errors?["name"] != nil)
        answers["taken"] = SendingWorld.problem(503, "PG-1002")
        #expect(DuplicateTemplateForm().submit(request, fields, answers).errors != nil)
        for name in ["", "draft-x", String(repeating: "x", count: 129)] {
            let fields = SendingWorld.fields([("name", name)])
            #expect(DuplicateTemplateForm().calls(request, fields, Answers()).isEmpty)
            #expect(DuplicateTemplateForm().submit(request, fields, Answers()).errors?["name"] != nil)
        }
        // The page with the error shows the stored content, which nobody typed over.
        var again = request
        again.typed = fields
        let page = try template(again, SendingWorld.answer(Self.winter, tag: "\"3\""))
        #expect(page.form("templates/shop/winter/save")?.value("title") == "Sale")
        #expect(page.form("templates/shop/winter/duplicate") != nil)
        // A page that was opened for a copy shows the template that has the name meanwhile.
        again.typed = SendingWorld.fields([])
        again.query = [.init("copy", "other")]
        let shown = try template(again, SendingWorld.answer(Self.winter, tag: "\"3\""))
        #expect(shown.sentence.text.hasPrefix("Last saved by lee"))
    }

    @Test func deletingKnowsTheVersion() throws {
        let fields = SendingWorld.fields([("app", "shop"), ("name", "winter"), ("revision", "\"3\"")])
        let call = try #require(RemoveTemplateForm().submit(SendingWorld.request(), fields, Answers()).call)
        #expect(call.method == .delete && call.ifMatch == "\"3\"")
        let result = RemoveTemplateForm().result(SendingWorld.request(), fields, SendingWorld.problem(412, "PG-1017"))
        #expect(result.errors?[""]?.contains("Another person changed it") == true)
    }

    @Test(arguments: SendingWorld.odd)
    func oddAnswersAreNoTrap(value: JSON) throws {
        _ = try template(SendingWorld.request(path: Self.path, typed: [("revision", "x")]), SendingWorld.answer(value))
        let odd = SendingWorld.answer([
            "templates": [value, ["name": value], ["name": "x", "content": value]], "next": value,
        ])
        let table = ["apps": SendingWorld.answer(SendingWorld.apps), "templates": odd]
        _ = try SendingWorld.content(TemplatesPage(), SendingWorld.request(.ko), table)
    }

    @Test(arguments: SendingWorld.hostile)
    func hostileTextStaysText(text: String) throws {
        let stored: JSON = ["name": .string(text), "content": ["title": .string(text), "body": .string(text)]]
        let request = SendingWorld.request(
            path: ["app": text, "template": text],
            typed: [("body", text), ("revision", text)]
        )
        _ = try template(request, SendingWorld.answer(stored))
        #expect(LineDifference.lines(from: text, to: text).allSatisfy { $0.change == .same })
    }

    @Test func theDifferenceOfLongTextsIsBounded() {
        let long = (0..<5000).map { "\($0)" }.joined(separator: "\n")
        #expect(LineDifference.lines(from: long, to: "x").count == LineDifference.limit + 1)
    }
}
