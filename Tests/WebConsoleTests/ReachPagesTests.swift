import Model
import Testing

@testable import ConsoleDelivery
@testable import PageParts
@testable import WebConsole

/// The pages of campaigns and of hours of the week.
struct ReachPagesTests {
    private func line(_ group: JSON, _ counts: (Int, Int, Int)) -> JSON {
        [
            "group": group, "reached": .int(counts.0), "received": .int(counts.1), "read": .int(counts.2),
        ]
    }

    private func content(
        _ page: some ConsolePage,
        _ request: PageRequest,
        _ lines: [JSON],
        until: String? = nil
    ) throws -> PageContent {
        let body: JSON = ["groups": .array(lines), "countedUntil": until.map { .string($0) } ?? .null]
        return try ReadPages.content(page, request, [page.path: body])
    }

    private func cells(_ table: Table, _ row: Int) -> [String] {
        table.rows[row].cells.map { cell in
            switch cell {
            case .text(let text), .strong(let text), .mono(let text): text
            case .tag(let mark, let text): "\(mark) \(text)"
            case .link(let link): "→ \(link.label)"
            default: "?"
            }
        }
    }

    private static let pages: [any ConsolePage] = [CampaignsPage(), HoursPage()]

    /// Both ask for the range and the app of the page, once, and export the same call.
    @Test func theCallIsThatOfTheRange() throws {
        for page in Self.pages {
            let request = ReadPages.request([:], ["app": "shop", "export": "csv"])
            let calls = page.calls(request, Answers())
            let call = try #require(calls.first)
            #expect(calls.count == 1 && call.path == "analytics/\(page.path)")
            #expect(ReadPages.value("from", call) == "2026-11-16T15:00:00.000Z")
            #expect(ReadPages.value("app", call) == "shop" && ReadPages.value("zone", call) == "Asia/Seoul")
            #expect(ReadPages.value("format", call) == nil)
            let file = try #require(page.export(request))
            #expect(file.query == call.query + [PageRequest.Parameter("format", "csv")])
            #expect(page.export(ReadPages.request([:], ["app": "shop"]))?.query == call.query)
        }
    }

    // Too many campaigns, or too many counts: the choices of the page make them fewer.
    @Test func aRefusedRangeCanBeChanged() throws {
        for page in Self.pages {
            let content = try ReadPages.content(page, ReadPages.request()) { _ in ReadPages.problem(422, "PG-1001") }
            #expect(content.sentence.text.contains("Choose a shorter range or one app."))
            #expect(ReadPages.words(content).contains("PG-1001"))
            #expect(throws: PageFailure.self) {
                try ReadPages.content(page, ReadPages.request()) { _ in ReadPages.problem(503) }
            }
        }
    }

    // MARK: Campaigns

    private var campaigns: [JSON] {
        [
            line(["app": "shop", "campaign": "", "variant": .null], (1200, 0, 0)),
            line(["app": "shop", "campaign": "spring", "variant": "b"], (1000, 300, 250)),
            line(["app": "bank", "campaign": "a&b", "variant": .null], (8, 3, 0)),
        ]
    }

    @Test func aCampaignLeadsToItsMessages() throws {
        let content = try content(CampaignsPage(), ReadPages.request(), campaigns, until: "2026-11-23T05:02:00.000Z")
        #expect(
            content.sentence.text
                == "Largest campaign in the last 7 days: spring · b · shop, 1,000 accepted by APNs, 300 received, "
                + "250 read."
        )
        let table = try #require(ReadPages.tables(content).first)
        #expect(cells(table, 0) == ["Further campaigns", "shop", "–", "1,200", "0", "0", "0.0%"])
        #expect(cells(table, 1) == ["→ spring", "shop", "b", "1,000", "300", "250", "25.0%"])
        #expect(cells(table, 2) == ["→ a&b", "bank", "–", "8", "3", "0", "0.0%"])
        let links = ReadPages.links(table)
        #expect(links.map(\.path) == ["messages", "messages"])
        #expect(
            links.map(\.query) == [
                [.init("campaign", "spring"), .init("app", "shop")], [.init("campaign", "a&b"), .init("app", "bank")],
            ]
        )
        // The parameter by which the list of messages is filtered.
        var messages = ReadPages.request()
        messages.query = links[1].query
        let list = try #require(MessagesPage().export(messages))
        #expect(ReadPages.value("label", list) == "a&b" && ReadPages.value("app", list) == "bank")
        #expect(content.blocks.last?.foot?.contains("Counted up to Mon 23 Nov 14:02.") == true)
        #expect(content.blocks.last?.foot?.contains("The largest") == false)
    }

    @Test func campaignsOfSeveralAppsNameTheirApp() throws {
        func labels(_ apps: [String]) throws -> [String] {
            let lines = apps.map { line(["app": .string($0), "campaign": "spring", "variant": .null], (9, 0, 0)) }
            let content = try content(CampaignsPage(), ReadPages.request(), lines)
            return content.blocks.flatMap(\.body).flatMap { part -> [String] in
                if case .bars(let chart) = part { chart.bars.map(\.label) } else { [] }
            }
        }
        #expect(try labels(["shop", "bank"]) == ["spring · shop", "spring · bank"])
        #expect(try labels(["shop"]) == ["spring"])
    }

    @Test func theLargestCampaignsAreShown() throws {
        let many = (0..<60).map { line(["app": "shop", "campaign": .string("c\($0)"), "variant": .null], (100, 0, 0)) }
        let content = try content(CampaignsPage(), ReadPages.request(), many)
        #expect(ReadPages.tables(content).first?.rows.count == ConsoleLimits.rows)
        #expect(content.blocks.last?.foot?.hasPrefix("The largest 50 of 60. The export has all of them.") == true)
    }

    @Test(arguments: zip([Role.author, .analyst], [true, false]))
    func withoutCampaignsThePageSaysHowToNameOne(_ role: Role, _ leadsToCompose: Bool) throws {
        let content = try content(CampaignsPage(), ReadPages.request(role: role), [])
        #expect(content.sentence.text == "No campaign was counted in the last 7 days.")
        guard case .empty(let state)? = content.blocks.first?.body.first else {
            Issue.record("no empty state: \(content.blocks)")
            return
        }
        #expect((state.link?.path == "compose") == leadsToCompose)
    }

    // MARK: Hours

    /// Monday 08:00, Sunday 23:00, and what is not an hour of a week.
    private var hours: [JSON] {
        [
            line(["hour": "8"], (100, 40, 10)), line(["hour": "167"], (80, 60, 50)), line(["hour": "9"], (79, 0, 0)),
            line(["hour": "168"], (999, 999, 999)), line(["hour": "-1"], (999, 999, 999)),
            line(["hour": "x"], (999, 999, 999)), .null,
        ]
    }

    @Test func eachHourOfTheWeekHasItsCount() throws {
        let content = try content(HoursPage(), ReadPages.request(), hours)
        #expect(
            content.sentence.text
                == "Busiest hour in the last 7 days: Mon 08:00–09:00, with 100 of 259 notifications accepted by APNs."
        )
        let table = try #require(ReadPages.tables(content).first)
        #expect(table.columns.map(\.label) == ["Hour", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"])
        #expect(table.rows.count == 24)
        #expect(cells(table, 8) == ["08:00", "info 100", "0", "0", "0", "0", "0", "0"])
        // Four fifths of the busiest hour are marked, one less is not.
        #expect(cells(table, 9) == ["09:00", "79", "0", "0", "0", "0", "0", "0"])
        #expect(cells(table, 23) == ["23:00", "0", "0", "0", "0", "0", "0", "info 80"])
    }

    @Test func theCountIsAChoice() throws {
        let read = try content(HoursPage(), ReadPages.request([:], ["figure": "read"], .ko), hours)
        #expect(read.sentence.text == "최근 7일간 가장 많은 시간대: 일 23:00–24:00. 읽음 60건 중 50건.")
        let unknown = try content(HoursPage(), ReadPages.request([:], ["figure": "x"]), hours)
        #expect(unknown.sentence.text.contains("100 of 259"))
        let none = try content(HoursPage(), ReadPages.request(), [])
        #expect(none.sentence.text == "No notifications were counted as accepted by APNs in the last 7 days.")
        #expect(ReadPages.tables(none).isEmpty)
    }

    /// Of the bars, those of a day are the sum of its hours, and those of an hour the sum over the days.
    @Test func barsAreSums() throws {
        let content = try content(HoursPage(), ReadPages.request([:], ["figure": "received"]), hours)
        let charts = content.blocks.flatMap(\.body).compactMap { part -> BarChart? in
            if case .bars(let chart) = part { chart } else { nil }
        }
        #expect(charts.map(\.bars.count) == [24, 7])
        let texts = charts.map { chart in chart.bars.filter { $0.value > 0 }.map { "\($0.label) \($0.text)" } }
        #expect(texts == [["08:00 40", "23:00 60"], ["Mon 40", "Sun 60"]])
    }

    @Test(arguments: Language.allCases) func campaignsOfAnyNameStayText(_ language: Language) throws {
        let renderer = try Renderer.bundled(isStrict: true)
        for name in Sample.hostile {
            let lines = [line(["app": .string(name), "campaign": .string(name), "variant": .string(name)], (3, 2, 1))]
            let request = ReadPages.request([:], [:], language)
            let content = try content(CampaignsPage(), request, lines)
            let html = String(decoding: renderer.page(content, request, path: "campaigns"), as: UTF8.self)
            #expect(!html.contains(Renderer.faultMark) && !html.contains("<script>alert"))
            try Wellformed.check(html)
        }
    }
}
