import Model
import Testing

@testable import ConsoleDelivery
@testable import PageParts
@testable import WebConsole

/// The recipients of the review that get nothing when the message is due.
extension ComposePageTests {
    private func texts(_ typed: [(String, String)], _ size: JSON, _ language: Language = .en) throws -> [String] {
        var table = Self.table()
        table["size"] = SendingWorld.answer(size)
        return try reviewed(typed, table, language).blocks.flatMap(\.body).compactMap { part -> String? in
            if case .text(let text) = part { text } else { nil }
        }
    }

    @Test func theReviewCountsOptOutsAndQuietHours() throws {
        let size: JSON = ["count": 1200, "precision": "exact", "optedOut": 1015, "quiet": 90]
        #expect(try texts(Self.typed, size).contains("Of these: 1,015 opted out · 90 in quiet hours"))
        #expect(try texts(Self.typed, size, .ko).contains("이 중 수신 거부 1,015대 · 방해 금지 시간 90대"))
        let large: JSON = ["count": 12_000, "precision": "exact", "optedOut": .null, "quiet": .null]
        let words = "Opt-outs and quiet hours are counted for at most 10,000 devices."
        #expect(try texts(Self.typed, large).contains(words))
        // Listed devices are not read.
        let search = Self.replacing([("audience", "search"), ("search", "010-1234-5678")])
        #expect(try !texts(search, large).contains(words))
    }

    @Test(
        arguments: [
            ([("when", "now")], ["after": 10]),
            ([("when", "at"), ("at", "2026-11-24T09:00")], "2026-11-24T00:00:00.000Z"),
            ([("when", "local"), ("local", "2026-11-24T09:00")], ["local": "2026-11-24T09:00:00"]),
        ] as [([(String, String)], JSON)]
    )
    func quietHoursAreThoseOfTheTimeOfTheMessage(changes: [(String, String)], due: JSON) throws {
        let request = SendingWorld.request(typed: Self.replacing(changes))
        let (_, calls) = SendingWorld.load(page, request, Self.table())
        #expect(
            calls.first { $0.name == "size" }?.body == ["to": ["everyone": true], "excluded": true, "sendAt": due]
        )
        // Sending counts the recipients only.
        let again = SendForm().calls(request, SendingWorld.fields(Self.replacing(changes)), Answers())
        #expect(again.count == 1 && again.first?.body == ["to": ["everyone": true]])
    }
}
