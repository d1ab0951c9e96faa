import Model
import Testing

@testable import ConsoleDelivery
@testable import PageParts
@testable import WebConsole

struct MessagesPageTests {
    private let page = MessagesPage()

    private func list(_ states: [String], next: String = "null") throws -> JSON {
        let rows = states.enumerated().map { index, state in
            """
            {"id": "0198a1f0-7c00-7000-8000-00000000000\(index)", "app": "shop", "vendor": "native", "state": "\(state)", "submittedBy": "key:crm",
            "title": "Winter sale", "body": "30 %", "dueAt": "2026-11-22T05:02:07.000Z", "recipients": 1000,
            "funnel": {"recipients": 1000, "reached": 970, "received": 700, "read": 150, "failed": 20, "suppressed": 10, "expired": 0, "canceled": 0}}
            """
        }
        return try ReadPages.json(
            "{\"messages\": [\(rows.joined(separator: ","))], \"next\": \(next), \"searchedTo\": null}"
        )
    }

    private let vendors: JSON = ["vendors": [["vendor": "native"], ["vendor": "upmc"]]]

    private func content(_ request: PageRequest, _ states: [String]) throws -> PageContent {
        try ReadPages.content(page, request, ["messages": try list(states), "vendors": vendors])
    }

    @Test func filtersOfTheAddressAreThoseOfTheCall() throws {
        let request = ReadPages.request(
            [:],
            [
                "state": "paused", "app": "shop", "vendor": "upmc", "campaign": "winter", "day": "2026-11-22",
                "text": "sale",
                "after": "x",
            ]
        )
        let call = try #require(page.calls(request, Answers()).first { $0.name == "messages" })
        #expect(call.path == "messages")
        let names = ["state", "app", "vendor", "label", "text", "after", "counts", "limit"]
        #expect(
            names.map { ReadPages.value($0, call) } == ["paused", "shop", "upmc", "winter", "sale", "x", "true", "50"]
        )
        // A day in Seoul begins at 15:00 UTC.
        #expect(ReadPages.value("from", call) == "2026-11-21T15:00:00.000Z")
        #expect(ReadPages.value("to", call) == "2026-11-22T15:00:00.000Z")
    }

    @Test(arguments: [
        (["done", "sending", "paused", "awaitingApproval", "dead"], Mark.bad, "stopped retrying 1"),
        (["done", "sending", "paused", "awaitingApproval"], .warn, "awaiting an approval: 1"),
        (["done", "sending", "paused", "paused"], .warn, "Paused messages: 2"),
        (["done", "sending", "expanding"], .info, "in progress: 2"),
        (["done", "scheduled"], .ok, "No action is required for the 2 messages shown"),
    ])
    func theMostUrgentStateIsTheAnswer(_ states: [String], _ mark: Mark, _ text: String) throws {
        let sentence = try content(ReadPages.request(), states).sentence
        #expect(sentence.mark == mark)
        #expect(sentence.text.contains(text), "\(sentence.text)")
    }

    @Test func aRowHasItsFunnelAsABar() throws {
        let table = try #require(ReadPages.tables(try content(ReadPages.request(), ["done"])).first)
        let cells = try #require(table.rows.first).cells
        guard case .bar(let segments, let words) = cells[3] else {
            Issue.record("no bar")
            return
        }
        #expect(words == "accepted by APNs 97.0%, received 70.0%, read 15.0%, not sent or not accepted 3.0%")
        #expect(abs(segments.reduce(0) { $0 + $1.share } - 1) < 0.001)
        #expect(ReadPages.links(table).first?.path == "messages/0198a1f0-7c00-7000-8000-000000000000")
        #expect(table.columns.count == cells.count)
    }

    @Test func withoutContentTheIDIsTheName() throws {
        let body = try ReadPages.json(
            "{\"messages\": [{\"id\": \"0198a1f0-7c00-7000-8000-000000000001\", \"state\": \"done\"}]}"
        )
        let content = try ReadPages.content(page, ReadPages.request(role: .analyst), ["messages": body])
        #expect(ReadPages.links(try #require(ReadPages.tables(content).first)).first?.label == "Untitled 0198a1f0…")
        #expect(!ReadPages.actions(content).contains("Compose message"), "an analyst does not send")
    }

    @Test func filtersWithoutResultsCanBeRemovedOneByOne() throws {
        let request = ReadPages.request([:], ["state": "paused", "campaign": "winter", "after": "x"])
        let content = try ReadPages.content(page, request, ["messages": ["messages": [], "next": .null]])
        let words = ReadPages.words(content)
        #expect(words.contains("Remove filter: State “paused”") && words.contains("Remove filter: Campaign “winter”"))
        #expect(!words.contains("No message has been sent yet"))
        let empty = try ReadPages.content(page, ReadPages.request(), ["messages": ["messages": [], "next": .null]])
        #expect(ReadPages.words(empty).contains("No message has been sent yet"))
    }

    @Test func aRefusedFilterIsExplainedAndAFailureIsAProblem() throws {
        func content(_ status: Int) throws -> PageContent {
            try ReadPages.content(page, ReadPages.request([:], ["text": "x"])) { call in
                call.name == "messages" ? ReadPages.problem(status, "PG-1004") : ReadPages.answer(vendors)
            }
        }
        #expect(ReadPages.words(try content(403)).contains("PG-1004 · request ID r-1"))
        #expect(ReadPages.words(try content(422)).contains("Remove filter"))
        #expect(throws: PageFailure.self) { try content(503) }
    }

    @Test func badFiltersAreLeftOutOfTheCall() throws {
        let request = ReadPages.request([:], ["state": "lost", "day": "2026-13-40"])
        let call = try #require(page.calls(request, Answers()).first { $0.name == "messages" })
        #expect(ReadPages.value("state", call) == nil && ReadPages.value("from", call) == nil)
        let words = ReadPages.words(try content(request, ["done"]))
        #expect(words.contains("A day has a form like") && words.contains("This state is unknown"))
    }

    @Test func theNextPageKeepsTheFilters() throws {
        let request = ReadPages.request([:], ["vendor": "upmc", "after": "a"])
        let body = try list(["done"], next: "\"b.c\"")
        let table = try #require(ReadPages.tables(try ReadPages.content(page, request, ["messages": body])).first)
        #expect(table.next?.query == [PageRequest.Parameter("vendor", "upmc"), PageRequest.Parameter("after", "b.c")])
    }

    @Test func theFileHasWhatThePageShows() throws {
        let request = ReadPages.request([:], ["vendor": "upmc", "after": "a"])
        // The native API writes messages as JSON only.
        #expect(page.export(request, as: .csv) == nil)
        let export = try #require(page.export(request, as: .json))
        let shown = try #require(page.calls(request, Answers()).first { $0.name == "messages" })
        #expect(export.path == shown.path && export.query == shown.query)
    }
}
