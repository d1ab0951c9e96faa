import Model
import Testing

@testable import ConsoleDelivery
@testable import PageParts
@testable import WebConsole

/// A message that is sent before all others.
struct UrgentMessageTests {
    private static let typed = ComposePageTests.replacing([("urgent", "on")])

    private func composition(_ typed: [(String, String)]) -> Composition {
        Composition(app: "shop", SendingWorld.fields(typed))
    }

    @Test func theMessageItsTestAndItsDraftAreUrgent() {
        let urgent = composition(Self.typed)
        #expect(urgent.message(to: ["everyone": true], zone: "UTC")["urgent"]?.bool == true)
        #expect(urgent.test()["urgent"]?.bool == true)
        #expect(Composition(app: "shop", content: urgent.draft).isUrgent)
        let other = composition(ComposePageTests.typed)
        #expect(other.message(to: ["everyone": true], zone: "UTC")["urgent"] == nil)
        #expect(!Composition(app: "shop", content: other.draft).isUrgent)
    }

    @Test func theReviewKeepsIt() throws {
        func forms(_ typed: [(String, String)]) throws -> [String?] {
            let request = SendingWorld.request(typed: typed)
            let content = try SendingWorld.content(ComposePage(), request, ComposePageTests.table())
            return ["compose/review", "compose/send", "compose/test"].map { path in
                content.form(path)?.field("urgent")?.value
            }
        }
        #expect(try forms(Self.typed) == ["on", "on", "on"])
        // An empty hidden field would check the box.
        #expect(try forms(ComposePageTests.typed) == ["", nil, nil])
    }

    /// Back ends store templates with members that the form does not have.
    @Test func aSavedTemplateKeepsTheMembersOfBackEnds() throws {
        let request = SendingWorld.request(path: ["app": "shop", "template": "winter"])
        let fields = SendingWorld.fields([("title", "Sale"), ("body", "x"), ("urgent", ""), ("revision", "\"3\"")])
        func body(_ stored: APIAnswer) -> JSON? {
            var answers = Answers()
            answers["stored"] = stored
            return SaveTemplateForm().submit(request, fields, answers).call?.body
        }
        let content: JSON = ["title": "Old", "campaign": "winter", "urgent": true, "data": ["order": "4711"]]
        let saved: JSON = ["content": ["title": "Sale", "body": "x", "data": ["order": "4711"]]]
        #expect(body(SendingWorld.answer(["name": "winter", "content": content])) == saved)
        #expect(body(SendingWorld.problem(404, "PG-1004")) == ["content": ["title": "Sale", "body": "x"]])
        // Without knowing what is stored, nothing is saved.
        #expect(body(SendingWorld.problem(503, "PG-1002")) == nil)
        #expect(SaveTemplateForm().calls(request, fields, Answers()).map(\.path) == ["apps/shop/templates/winter"])
    }
}
