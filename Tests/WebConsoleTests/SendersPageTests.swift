import Model
import Testing

@testable import ConsoleOperations
@testable import PageParts
@testable import WebConsole

/// The page of the back ends that registered to send.
struct SendersPageTests {
    private static let bank: JSON = [
        "vendor": "rationalowl", "sender": "SVR-1", "name": "bank-core", "enrolled": true, "enrolledName": "bank 1",
        "address": "10.20.0.7", "proven": true, "registeredAt": "2026-09-01T00:00:00.000Z",
        "callbackUrl": "https://bank.example/events", "failures": 0, "failingSince": .null, "lastError": .null,
    ]

    private static func changed(_ changes: JSONObject) -> JSON {
        var object = bank.object ?? JSONObject()
        for (name, value) in changes.pairs { object[name] = value }
        return .object(object)
    }

    private static let unproven = changed([
        "name": "other", "proven": false, "enrolled": false, "enrolledName": .null, "address": .null,
        "callbackUrl": .null,
    ])
    private static let failing = changed([
        "failures": 3, "failingSince": "2026-11-23T05:00:00.000Z", "lastError": "HTTP 503",
    ])

    private func page(_ senders: [JSON], next: JSON = .null, _ language: Language = .en) throws -> PageContent {
        let bodies: [String: JSON] = [
            "apps": ["apps": [["app": "shop"]]], "senders": ["senders": .array(senders), "next": next],
        ]
        return try ReadPages.content(SendersPage(), ReadPages.request([:], [:], language), bodies)
    }

    private func texts(_ content: PageContent) throws -> [[String]] {
        try #require(ReadPages.tables(content).first).rows.map { row in
            row.cells.map { cell -> String in
                switch cell {
                case .text(let text), .strong(let text), .mono(let text), .tag(_, let text): text
                default: "another cell"
                }
            }
        }
    }

    @Test func eachSenderHasARow() throws {
        let bank = [
            "bank-core", "RationalOwl", "SVR-1", "Tue 1 Sep 09:00", "With a proof", "bank 1 · 10.20.0.7",
            "https://bank.example/events",
        ]
        let rows = try texts(try page([Self.bank, Self.unproven, Self.failing]))
        #expect(rows.first == bank + ["Arrive"])
        #expect(Array(rows[1].suffix(4)) == ["Without a proof", "–", "–", "–"])
        #expect(rows.last == bank + ["Fail since Mon 23 Nov 14:00: HTTP 503"])
    }

    @Test func theMostUrgentFactIsTheAnswer() throws {
        #expect(try page([]).sentence.mark == .idle)
        #expect(try page([Self.bank]).sentence.text == "1 sender is registered, with a proof.")
        #expect(try page([Self.bank], next: "rationalowl:bank-core").sentence.text.hasPrefix("1+ senders"))
        let some = try page([Self.bank, Self.unproven]).sentence
        #expect(some.mark == .warn && some.text == "1 sender registered without a proof. Check who may send.")
        let failing = try page([Self.unproven, Self.failing]).sentence
        #expect(failing.mark == .bad && failing.text.hasPrefix("Callbacks to 1 sender fail."))
        #expect(try page([Self.bank], .ko).sentence.text == "발신 서버 1개가 모두 인증되어 있습니다.")
    }

    @Test func theAppIsThatOfTheAddress() throws {
        let request = ReadPages.request([:], ["app": "a/b", "after": "braze:x"])
        let call = try #require(SendersPage().export(request))
        #expect(call.path == "apps/a%2Fb/senders" && ReadPages.value("after", call) == "braze:x")
        #expect(SendersPage().calls(request, Answers()).map(\.name) == ["apps", "senders"])
        #expect(throws: PageFailure.self) {
            try ReadPages.content(SendersPage(), request, ["apps": ["apps": [["app": "shop"]]]])
        }
    }
}
