import ApplePayload
import Model
import Testing

/// The table of docs/contracts/apns.md#6, written from the document.
struct PushTypeRuleTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let type: PushType
        let name: String
        var suffix = ""
        var priorities = [10, 5, 1]
        var standard = 10
        var bytes = 4096
        /// True if the expiration is 0 when the caller does not set one.
        var isImmediate = false
        var isTokenOnly = false
        var testDescription: String { name }
    }

    static let rows = [
        Row(type: .alert, name: "alert"),
        Row(type: .background, name: "background", priorities: [5, 1], standard: 5),
        Row(type: .voip, name: "voip", suffix: ".voip", bytes: 5120, isImmediate: true),
        Row(type: .complication, name: "complication", suffix: ".complication"),
        Row(type: .fileProvider, name: "fileprovider", suffix: ".pushkit.fileprovider"),
        Row(type: .mdm, name: "mdm"),
        Row(type: .location, name: "location", suffix: ".location-query", isTokenOnly: true),
        Row(type: .liveActivity, name: "liveactivity", suffix: ".push-type.liveactivity"),
        Row(type: .pushToTalk, name: "pushtotalk", suffix: ".voip-ptt", isImmediate: true),
        Row(type: .widgets, name: "widgets", suffix: ".push-type.widgets"),
        Row(type: .controls, name: "controls", suffix: ".push-type.controls"),
    ]

    @Test(arguments: rows) func everyTypeHasTheRulesOfItsRow(row: Row) {
        let rule = row.type.rule
        #expect(rule.name == row.name)
        #expect(rule.topicSuffix == row.suffix)
        #expect([10, 5, 1, 0, 2, 9, 11, -5].filter { rule.priorities.contains(number: $0) } == row.priorities)
        #expect(rule.standardPriority == row.standard)
        #expect(rule.maxPayloadBytes == row.bytes)
        #expect(rule.expiry.standard == (row.isImmediate ? 0 : nil))
        #expect(rule.isTokenOnly == row.isTokenOnly)
        #expect(PushType(wire: row.name) == row.type)
    }

    @Test func everyDocumentedTypeIsCovered() {
        #expect(PushType.documented == Self.rows.map(\.type))
    }

    // "Unknown types must pass through with the caller's explicit topic."
    @Test func unknownTypeKeepsItsNameAndTheWholeTopic() {
        let type = PushType(wire: "newkind")
        #expect(type == .unknown("newkind"))
        #expect(type.rule.name == "newkind")
        #expect(type.rule.topicSuffix == "")
        #expect(type.rule.maxPayloadBytes == 4096)
        #expect(HeaderRules.fault(type: type, priority: 10, collapseID: nil, topic: "com.example.shop.new") == nil)
    }
}
