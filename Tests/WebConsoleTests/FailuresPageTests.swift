import Model
import Testing

@testable import ConsoleDelivery
@testable import ConsoleOperations
@testable import PageParts
@testable import WebConsole

struct FailuresPageTests {
    private func losses(_ rows: [(String, String?, Int)], targets: Int = 1000) -> JSON {
        let losses = rows.map { stage, reason, count -> JSON in
            [
                "stage": .string(stage), "reason": reason.map { .string($0) } ?? .null, "count": .int(count),
                "group": [:],
            ]
        }
        return ["targets": .int(targets), "losses": .array(losses), "complete": true]
    }

    private func content(
        _ page: some ConsolePage,
        _ request: PageRequest,
        _ whole: JSON,
        parts: [Int: JSON],
        more: [String: JSON] = [:]
    ) throws -> PageContent {
        let none = losses([])
        return try ReadPages.content(page, request) { call in
            if call.name == "losses" { return ReadPages.answer(whole) }
            if call.name.hasPrefix("part") {
                return ReadPages.answer(Int(call.name.dropFirst(4)).flatMap { parts[$0] } ?? none)
            }
            return more[call.name].map { ReadPages.answer($0) } ?? ReadPages.problem(404)
        }
    }

    @Test func theRangeIsReadAsAWholeAndInItsDays() throws {
        let calls = FailuresPage().calls(ReadPages.request([:], ["app": "shop", "vendor": "upmc"]), Answers())
        let whole = try #require(calls.first { $0.name == "losses" })
        #expect(ReadPages.value("from", whole) == "2026-11-16T15:00:00.000Z")
        #expect(ReadPages.value("app", whole) == "shop" && ReadPages.value("vendor", whole) == "upmc")
        let parts = calls.filter { $0.name.hasPrefix("part") }
        #expect(parts.count == 7)
        #expect(ReadPages.value("from", parts[1]) == "2026-11-17T15:00:00.000Z")
        #expect(ReadPages.value("from", parts[0]) == ReadPages.value("from", whole))
        #expect(ReadPages.value("to", parts[6]) == ReadPages.value("to", whole))
        for (part, next) in zip(parts, parts.dropFirst()) {
            #expect(ReadPages.value("to", part) == ReadPages.value("from", next))
        }
    }

    @Test(arguments: ["24h", "7d", "30d", "90d"])
    func thePartsOfEachRangeAreWithinIt(_ range: String) {
        let bounds = FailureFigures.bounds(ReadPages.request([:], ["range": range]))
        #expect((1...7).contains(bounds.count))
        #expect(bounds.allSatisfy { $0.from < $0.to && $0.from.seconds % 900 == 0 })
    }

    @Test func aReasonHasMeaningPartyActionAndFirstDay() throws {
        let unregistered = losses([("rejected", "Unregistered", 16)])
        let whole = losses([("rejected", "Unregistered", 16), ("suppressed", "noDevice", 4), ("expired", nil, 1)])
        let content = try content(
            FailuresPage(),
            ReadPages.request(),
            whole,
            parts: [0: losses([("suppressed", "noDevice", 1)]), 3: unregistered]
        )
        #expect(
            content.sentence.text
                == "21 of 1,000 targets (2.1%) did not reach a device. Most frequent reason: Unregistered, 16."
        )
        #expect(content.sentence.mark == .info)
        let rows = try #require(ReadPages.tables(content).first).rows.map { String(describing: $0.cells) }
        #expect(rows[0].contains("Fri 20 Nov") && rows[0].contains("Nobody") && rows[0].contains("1.6%"))
        #expect(rows[1].contains("before Tue 17 Nov"))
        #expect(rows[2].contains("The message expired before it could be sent."))
        #expect(content.sentence.link?.path == "failures/Unregistered")
    }

    @Test func aRefusedCredentialIsTheAnswerEvenIfItIsRare() throws {
        let whole = losses([("rejected", "Unregistered", 16), ("rejected", "InvalidProviderToken", 1)])
        let content = try content(FailuresPage(), ReadPages.request(), whole, parts: [:])
        #expect(content.sentence.mark == .bad)
        #expect(content.sentence.text.contains("because of a credential (InvalidProviderToken)"))
    }

    @Test func manyLossesAreAWarningAndNoneAreFine() throws {
        let many = try content(FailuresPage(), ReadPages.request(), losses([("rejected", "New", 500)]), parts: [:])
        #expect(many.sentence.mark == .warn)
        #expect(ReadPages.words(many).contains("The gateway does not know this reason"))
        let none = try content(FailuresPage(), ReadPages.request(), losses([]), parts: [:])
        #expect(none.sentence.mark == .ok && ReadPages.tables(none).isEmpty)
    }

    @Test func aPartThatCannotBeReadLeavesTheFirstDayOpen() throws {
        let whole = losses([("rejected", "Unregistered", 16)])
        let content = try ReadPages.content(FailuresPage(), ReadPages.request()) { call in
            call.name == "losses" ? ReadPages.answer(whole) : ReadPages.problem(503)
        }
        let row = try #require(ReadPages.tables(content).first?.rows.first)
        #expect(String(describing: row.cells.last).contains(ConsoleFormat.unknown))
    }

    @Test func aReasonLeadsToDeliveries() throws {
        let messages = try ReadPages.json(
            """
            {"messages": [{"id": "m-0", "title": "None", "funnel": {"failed": 0}}, {"id": "m-1", "title": "Sale", "funnel": {"failed": 2}}], "next": null}
            """
        )
        let rows = try ReadPages.json(
            """
            {"deliveries": [{"target": "t-1", "state": "failed", "reason": "Unregistered", "device": "d-1", "sentAt": "2026-11-22T05:02:07.000Z"},
            {"target": "t-2", "state": "failed", "reason": "BadDeviceToken"}], "next": null}
            """
        )
        let request = ReadPages.request(["reason": "Unregistered"], ["stage": "rejected"])
        let content = try content(
            FailurePage(),
            request,
            losses([("rejected", "Unregistered", 2)]),
            parts: [:],
            more: ["messages": messages, "rows0": rows]
        )
        let table = try #require(ReadPages.tables(content).first)
        #expect(table.rows.count == 1)
        #expect(
            ReadPages.links(table).map(\.path) == [
                "messages/m-1/deliveries/t-1", "messages/m-1", "devices/d-1/diagnosis",
            ]
        )
        #expect(content.sentence.text.hasPrefix("2 deliveries have this reason, 0.2% of the targets."))
    }

    @Test func aReasonThatDoesNotOccurIsExplained() throws {
        let request = ReadPages.request(["reason": "ExpiredToken"])
        let content = try content(FailurePage(), request, losses([]), parts: [:])
        #expect(content.sentence.mark == .ok && content.sentence.text.contains("The device token has expired."))
    }

    @Test func exportsNameTheAPIsOwnFiles() {
        func call(_ query: KeyValuePairs<String, String>) -> APICall? {
            ExportsPage().export(ReadPages.request([:], query))
        }
        let deliveries = call(["kind": "deliveries", "export": "csv", "app": "shop"])
        #expect(deliveries?.path == "exports/deliveries")
        #expect(deliveries.flatMap { ReadPages.value("format", $0) } == "csv")
        // Not beyond the present, to which the answer is whole.
        #expect(deliveries.flatMap { ReadPages.value("to", $0) } == ReadPages.now.rfc3339)
        let devices = call(["kind": "devices", "export": "json"])
        #expect(devices.flatMap { ReadPages.value("from", $0) } == nil)
        #expect(call(["kind": "../keys"]) == nil && call([:]) == nil)
    }

    @Test func anUnknownReasonIsItsOwnName() {
        #expect(LossReason.meaning("<b>New", .ko).contains("<b>New"))
        #expect(LossReason.meaning(nil, .en).isEmpty && LossReason.of(nil) == nil)
        #expect(LossReason.ofCredentials.contains("InvalidProviderToken"))
    }
}
