import Model
import Testing

@testable import ConsoleAdministration
@testable import PageParts
@testable import WebConsole

/// A link that a person sends to another shows the same: what a page shows follows from its address, and a relative range can be fixed.
struct PermanentLinkTests {
    private static let week: [PageRequest.Parameter] = []
    private static let day: [PageRequest.Parameter] = [.init("range", "24h")]
    /// It ends at the time at which the page is opened.
    private static let untilNow: [PageRequest.Parameter] = [.init("from", "2026-11-01")]

    /// The request for a page some days after that of the samples.
    private func request(
        _ page: any ConsolePage,
        _ query: [PageRequest.Parameter],
        _ days: Int64
    ) -> PageRequest {
        let kind = page.path == "exports" ? [PageRequest.Parameter("kind", "deliveries")] : []
        var request = Sample.request(query: query + kind)
        request.now = Sample.now + .seconds(days * 86_400)
        for segment in page.path.split(separator: "/") where segment.hasPrefix("{") {
            request.path[String(segment.dropFirst().dropLast())] = "id-1"
        }
        return request
    }

    /// The calls of a page. The present of the overview is in no link.
    private func asked(_ page: any ConsolePage, _ query: [PageRequest.Parameter], _ days: Int64) -> [String] {
        let request = request(page, query, days)
        let export = page.export(request).map { [$0] } ?? []
        return (page.calls(request, Answers()) + export).filter { $0.name != "now" }
            .map { "\($0.name) \($0.path)\(WritingPlace.text(of: $0.query))" }
    }

    private func content(
        _ page: any ConsolePage,
        _ query: [PageRequest.Parameter],
        _ days: Int64
    ) throws -> PageContent {
        let request = request(page, query, days)
        var answers = Answers()
        for call in page.calls(request, Answers()) {
            answers[call.name] = APIAnswer(status: 200, body: .null, requestID: "r")
        }
        return try page.content(request, answers)
    }

    /// Of all pages: whatever depends on the time at which the page is opened no longer does with its permanent link.
    @Test(arguments: [week, day, untilNow])
    func everyRelativeRangeCanBeFixed(_ query: [PageRequest.Parameter]) throws {
        var relative: Set<String> = []
        for page in Pages.all where asked(page, query, 2) != asked(page, query, 9) {
            relative.insert(page.path)
            let permanent = try content(page, query, 2).permanent
            let replaced = Set(permanent.map(\.name))
            let fixed = query.filter { !replaced.contains($0.name) } + permanent
            #expect(asked(page, fixed, 20) == asked(page, fixed, 30), "\(page.path)")
            // A week ends with the day: the link has the rest of it too.
            let endsNow = query != Self.week
            #expect(!endsNow || asked(page, fixed, 20) == asked(page, query, 2), "\(page.path)")
            #expect(try content(page, fixed, 2).permanent.isEmpty, "\(page.path): its address is fixed already")
        }
        let ranged: Set = [
            "", "failures", "failures/{reason}", "campaigns", "hours", "versions", "exports", "apps/{app}/parity",
        ]
        #expect(relative == (query == Self.week ? ranged : ranged.union(["messages"])))
    }

    @Test func thePageLinksItsPresentRange() throws {
        let query = [PageRequest.Parameter("range", "24h"), .init("app", "shop"), .init("vendor", "upmc")]
        var content = PageContent(title: "x", sentence: Sentence(text: "x"))
        let request = Sample.request(.ko, query: query)
        func html() throws -> String {
            let renderer = try Renderer.bundled(isStrict: true)
            return String(decoding: renderer.page(content, request, path: "failures"), as: UTF8.self)
        }
        #expect(try !html().contains("고정 링크"))
        content.permanent = ShownRange(request).permanent
        let link =
            "/t/acme/failures?app=shop&amp;vendor=upmc&amp;from=2026-11-22T06%3a00%3a00.000Z"
            + "&amp;to=2026-11-23T05%3a23%3a05.250Z&amp;zone=Asia%2fSeoul"
        let page = try html()
        #expect(page.contains("<a href=\"\(link)\">고정 링크</a>"), "\(page)")
    }

    /// Entries that were added later do not push the entry of a link out of the page.
    @Test func anEntryOfTheAuditIsOpenedWhereverItIs() throws {
        let page = AuditPage()
        let request = OperationsStage.request(query: ["row": "7"])
        var answers = OperationsStage.answers(["audit": OperationsSamples.audit])
        let calls = page.calls(request, answers)
        #expect(calls.map(\.name) == ["entry"])
        #expect(calls.first?.query == [.init("order", "newest"), .init("limit", "1"), .init("after", "8")])
        let entry: JSON = [
            "entries": [["position": 7, "at": "2026-11-01T00:00:00.000Z", "actor": "key:seven", "data": .null]]
        ]
        answers["entry"] = OperationsStage.answer(entry)
        #expect(page.calls(request, answers).isEmpty)
        #expect(OperationsStage.texts(try page.content(request, answers)).contains("key:seven"))
        // One of the list needs no call, and neither does what is not a position.
        for row in ["42", "x", "0", "-1", "9223372036854775807"] {
            let other = OperationsStage.request(query: ["row": row])
            #expect(page.calls(other, OperationsStage.answers(["audit": OperationsSamples.audit])).isEmpty, "\(row)")
        }
    }
}
