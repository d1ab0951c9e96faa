import Model
import TestKit
import Testing

/// The text of an SDK is stored with every identity and shown to operators, so each field is short and has no control characters.
@Suite struct ClientFactsTests {
    @Test func aFieldHasNoControlCharactersAndIsShort() {
        var facts = ClientFacts()
        facts.set(.model, "  iPhone\u{0}15,\u{202E}2\n ")
        facts.set(.osVersion, String(repeating: "é", count: 100))
        facts.set(.appVersion, "\u{7F}\u{200B} \t")
        facts.set(.locale, nil)
        #expect(facts[.model] == "iPhone15,2")
        #expect(facts[.osVersion] == String(repeating: "é", count: 32))
        #expect(facts[.appVersion] == nil && facts[.locale] == nil)
        #expect(facts.report == ["osVersion": .string(String(repeating: "é", count: 32)), "model": "iPhone15,2"])
    }

    @Test func aFieldIsReportedRemovedOrNotNamed() {
        #expect(ClientFacts().report == nil && ClientFacts([.os: nil, .model: ""]).isEmpty)
        var facts = ClientFacts([.os: "iOS", .model: "iPhone15,2"])
        facts.remove(.model)
        facts.remove(.locale)
        #expect(facts[.model] == nil)
        #expect(facts.report == ["os": "iOS", "model": .null, "locale": .null])
        facts.set(.model, "iPad14,1")
        #expect(facts.report?["model"] == "iPad14,1")
    }

    @Test func otherMembersOfAnObjectAreIgnored() {
        let facts = ClientFacts(["os": "iOS", "osVersion": 17, "model": .null, "color": "red"])
        #expect(facts == ClientFacts([.os: "iOS"]))
    }

    @Test func noTextTrapsOrExceedsTheLimit() {
        var random = SplitMix(state: 21)
        for _ in 0..<2000 {
            let scalars = (0..<Int.random(in: 0..<400, using: &random)).compactMap { _ in
                Unicode.Scalar(UInt32.random(in: 0...0x1_10FF, using: &random))
            }
            var text = ""
            text.unicodeScalars.append(contentsOf: scalars)
            let field = ClientFacts([.model: text])[.model] ?? ""
            #expect(field.utf8.count <= ClientFacts.fieldBytes)
            #expect(ClientFacts([.model: field])[.model] ?? "" == field, "cleaning a clean text changes nothing")
        }
    }
}
