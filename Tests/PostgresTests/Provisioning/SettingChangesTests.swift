import Model
import Testing

@testable import Store

/// The settings before and after an act, as the audit shows them.
@Suite struct SettingChangesTests {
    private func lines(_ changes: SettingChanges) -> [String] {
        (changes.json.array ?? []).map { entry in
            if let more = entry["more"]?.int { return "more \(more)" }
            func text(_ name: String) -> String { entry[name].map(JSONWriter.text) ?? "" }
            return "\(entry["setting"]?.string ?? ""): \(text("before")) -> \(text("after"))"
        }
    }

    @Test func onlyChangedSettingsAreNamedWithBothValues() {
        let before: JSONObject = ["a": 1, "b": ["x": "one", "y": "same"], "list": ["p"], "gone": true, "null": .null]
        let after: JSONObject = ["a": 1, "b": ["x": "two", "y": "same"], "list": ["p", "q"], "new": ["z": 5]]
        #expect(
            lines(SettingChanges(from: before, to: after)) == [
                #"b.x: "one" -> "two""#, "gone: true -> null", #"list: ["p"] -> ["p","q"]"#, "new.z: null -> 5",
            ]
        )
        #expect(SettingChanges(from: before, to: before).isEmpty)
        // A new object has no values before.
        #expect(lines(SettingChanges(from: nil, to: ["a": 1])) == ["a: null -> 1"])
    }

    @Test func secretsAreMaskedAndOnlyTheirChangeIsShown() {
        let changes = SettingChanges(
            from: [
                "sealed": ["primary/Full": "c2VhbGVk"], "myPassword": "p1", "hidden": "h1", "callback": "https://a/s1",
            ],
            to: [
                "sealed": ["primary/Full": "b3RoZXI="], "myPassword": "p2", "hidden": "h2",
                "callback": "https://b:1/s2?k=3",
            ]
        ) { $0 == "hidden" }
        #expect(
            lines(changes) == [
                #"callback: "https://a" -> "https://b:1""#, #"hidden: "***" -> "***""#, #"myPassword: "***" -> "***""#,
                #"sealed.primary/Full: "***" -> "***""#,
            ]
        )
        let text = JSONWriter.text(changes.json)
        for secret in ["c2VhbGVk", "b3RoZXI=", "p1", "p2", "h1", "s2"] { #expect(!text.contains(secret), "\(secret)") }
    }

    @Test func rowsAreBounded() {
        let many = JSONObject((100..<200).map { ("s\($0)", .string(String(repeating: "é", count: 5000))) })
        let changes = SettingChanges(from: nil, to: many)
        #expect(lines(changes).count == SettingChanges.limit + 1)
        #expect(lines(changes).last == "more \(100 - SettingChanges.limit)")
        #expect(JSONWriter.text(changes.json).utf8.count < 20_000)
    }
}
