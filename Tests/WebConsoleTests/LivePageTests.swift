import Model
import Testing

@testable import ConsoleDelivery
@testable import PageParts
@testable import WebConsole

struct LivePageTests {
    private let page = LivePage()

    private static func event(_ offset: Int64, _ kind: String = "sent") -> JSON {
        [
            "offset": .int(offset), "at": "2026-11-23T05:04:07.204Z", "kind": .string(kind), "app": "shop",
            "vendor": "native",
            "message": .string(SendingWorld.message), "target": "t-1",
        ]
    }

    private func table(_ events: JSON, head: Int64? = 5000) -> [String: APIAnswer] {
        ["end": SendingWorld.answer([], head: head), "events": SendingWorld.answer(events, head: head)]
    }

    @Test func theLatestAreFirst() throws {
        let events = JSON.array((1...60).map { Self.event($0) } + [["kind": "stream_ended", "offset": 60]])
        let content = try SendingWorld.content(page, SendingWorld.request(), table(events))
        #expect(content.sentence.text == "Last event at 14:04:07: Sent")
        #expect(content.tables.first?.rows.count == ConsoleLimits.rows)
        #expect(content.tables.first?.rows.first?.id == "event-60" && content.live == [.events])
        guard case .link(let link) = content.tables.first?.rows.first?.cells.last else {
            Issue.record("no link")
            return
        }
        #expect(link.path == "messages/\(SendingWorld.message)/deliveries/t-1")
    }

    @Test func theLogIsReadFromShortlyBeforeItsEnd() throws {
        let request = SendingWorld.request(query: [("kind", "receipts"), ("app", "shop")])
        let (_, calls) = SendingWorld.load(page, request, table([]))
        let query = calls.last?.query.map { "\($0.name)=\($0.value)" }
        #expect(query == ["after=4000", "limit=1000", "kinds=received,read", "app=shop"])
        let (_, early) = SendingWorld.load(page, request, table([], head: 3))
        #expect(early.last?.query.first?.value == "0")
        // Offsets grow by one: without a filter, more would not be shown.
        let (_, all) = SendingWorld.load(page, SendingWorld.request(), table([]))
        #expect(all.last?.query.map { "\($0.name)=\($0.value)" } == ["after=4950", "limit=1000"])
        var removed = table([])
        removed["events"] = SendingWorld.problem(410, "PG-1009")
        removed["oldest"] = SendingWorld.answer([Self.event(4500)])
        #expect(try SendingWorld.content(page, request, removed).tables.first?.rows.count == 1)
    }

    @Test func aPausedPageIsNotLive() throws {
        let content = try SendingWorld.content(
            page,
            SendingWorld.request(query: [("pause", "1")]),
            table([Self.event(1)])
        )
        #expect(content.live.isEmpty && content.sentence.mark == .idle)
        guard case .link(let link, true) = content.actions.first else {
            Issue.record("no link")
            return
        }
        #expect(link.label == "Resume" && link.query.isEmpty)
    }

    @Test func nothingIsNotAnError() throws {
        #expect(
            try SendingWorld.content(page, SendingWorld.request(), table([])).sentence.text
                == "No event has occurred yet."
        )
        let filtered = try SendingWorld.content(page, SendingWorld.request(query: [("app", "x")]), table([]))
        #expect(filtered.sentence.text == "None of the last 1,000 events matches the filters.")
    }

    @Test func everyKindIsInOneGroupAndHasWordsInBothLanguages() {
        #expect(EventGroup.allCases.flatMap(\.kinds).count == EventKind.allCases.count)
        for kind in EventKind.allCases {
            #expect(LiveText.kind(kind).ko.contains { !$0.isASCII } && !LiveText.kind(kind).en.isEmpty)
        }
        #expect(LiveText.kind("of_a_newer_gateway").en == "of_a_newer_gateway")
    }

    @Test(arguments: SendingWorld.odd)
    func oddAnswersAreNoTrap(value: JSON) throws {
        _ = try SendingWorld.content(page, SendingWorld.request(.ko), table(value))
        let events: JSON = [
            value, ["offset": 1, "kind": value, "at": value, "app": value, "message": value, "device": value],
        ]
        _ = try SendingWorld.content(page, SendingWorld.request(.ko), table(events))
        _ = try SendingWorld.content(page, SendingWorld.request(), table(value, head: nil))
    }
}
