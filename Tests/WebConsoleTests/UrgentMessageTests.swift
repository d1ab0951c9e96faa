import Model
import Testing

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
}
