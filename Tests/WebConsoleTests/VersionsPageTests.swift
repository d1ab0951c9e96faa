import Model
import Testing

@testable import ConsoleAudience
@testable import PageParts
@testable import WebConsole

/// The page of figures by what the apps report of their devices.
struct VersionsPageTests {
    private func line(_ group: JSON, _ counts: (Int, Int, Int)) -> JSON {
        [
            "group": group, "reached": .int(counts.0), "received": .int(counts.1), "read": .int(counts.2),
        ]
    }

    private var bodies: [String: JSON] {
        [
            "versions": [
                "groups": [
                    line(["os": .null], (20, 0, 0)), line(["os": "iOS"], (1000, 400, 250)),
                    line(["os": "other"], (8, 3, 0)),
                ]
            ],
            "devices": [
                "total": ["devicesReached": 640, "devicesReceived": 300, "gained": 12, "lost": 3, "invalidated": 2]
            ],
        ]
    }

    @Test func theChoiceIsThatOfTheCallAndOfItsExport() throws {
        let choices: [(query: KeyValuePairs<String, String>, value: String)] = [
            ([:], "os"), (["by": "model"], "model"), (["by": "x"], "os"),
        ]
        for (query, expected) in choices {
            let request = ReadPages.request([:], query)
            let calls = VersionsPage().calls(request, Answers())
            #expect(calls.map(\.path) == ["analytics/versions", "analytics/devices"])
            let call = try #require(calls.first)
            #expect(ReadPages.value("by", call) == expected)
            #expect(VersionsPage().export(request)?.query == call.query)
        }
    }

    @Test func theMostFrequentValueIsTheAnswer() throws {
        let content = try ReadPages.content(VersionsPage(), ReadPages.request(), bodies)
        #expect(
            content.sentence.text
                == "Most notifications in the last 7 days: iOS, with 1,000 of 1,028 accepted by APNs."
        )
        let table = try #require(ReadPages.tables(content).first)
        let names = table.rows.map { row -> String in
            guard case .strong(let name)? = row.cells.first else { return "?" }
            return name
        }
        #expect(names == ["Not reported", "iOS", "Further ones"])
        guard case .facts(let facts)? = content.blocks.first?.body.first else {
            Issue.record("no facts: \(content.blocks)")
            return
        }
        #expect(facts.map(\.value) == ["640", "300", "12", "3", "2"])
        #expect(facts.last?.label == "Tokens invalidated")
    }

    @Test func aTableOfTheLargestValuesSaysSo() throws {
        var many = bodies
        many["versions"] = ["groups": .array((0..<60).map { line(["os": .string("v\($0)")], (100 - $0, 0, 0)) })]
        let content = try ReadPages.content(VersionsPage(), ReadPages.request(), many)
        #expect(ReadPages.tables(content).first?.rows.count == ConsoleLimits.rows)
        #expect(content.blocks.last?.foot?.hasPrefix("The largest 50 of 60. The export has all of them.") == true)
        let few = try ReadPages.content(VersionsPage(), ReadPages.request(), bodies)
        #expect(few.blocks.last?.foot?.contains("The largest") == false)
    }

    @Test func withoutDevicesTheCountsByValueAreShown() throws {
        var some = bodies
        some["devices"] = nil
        let content = try ReadPages.content(VersionsPage(), ReadPages.request(), some)
        #expect(ReadPages.words(content).contains("PG-1005") && ReadPages.tables(content).count == 1)
        some["versions"] = ["groups": []]
        let empty = try ReadPages.content(VersionsPage(), ReadPages.request([:], [:], .ko), some)
        #expect(empty.sentence.text == "최근 7일간 집계된 알림이 없습니다.")
        #expect(throws: PageFailure.self) { try ReadPages.content(VersionsPage(), ReadPages.request(), [:]) }
    }
}
