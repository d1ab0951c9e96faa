import FoundationEssentials
import Model
import TestKit
import Testing

@testable import Braze

/// `audience` (contract §5.10).
struct AudienceTests {
    private static let now = Timestamp(seconds: 1_767_225_600)  // 2026-01-01 00:00 UTC
    private static let user: JSONObject = [
        "plan": "gold", "age": .number("41.5"), "vip": true, "tags": ["a", "b", 3], "push_subscribe": "opted_in",
        "joined": "2025-12-29T00:00:00Z", "renews": "2026-01-11T00:00:00+00:00",
        "date_of_last_session": "2025-12-31T12:00:00Z", "nothing": .null,
    ]

    private func means(_ filter: String, _ attributes: JSONObject = user, acceptsPush: Bool = true) throws -> Bool {
        let stored = try #require(try AudienceFilter.read(["audience": JSONParser.parse(filter)]))
        return try AudienceFilter(stored: stored).means(attributes, acceptsPush: acceptsPush, at: Self.now)
    }

    private func leaf(_ name: String, _ comparison: String, _ value: String) -> String {
        #"{"custom_attribute":{"custom_attribute_name":"\#(name)","comparison":"\#(comparison)","value":\#(value)}}"#
    }

    @Test(arguments: [
        ("plan", "equals", #""gold""#, true), ("plan", "equals", #""Gold""#, false), ("age", "equals", "41.50", true),
        ("vip", "equals", "true", true), ("plan", "equals", "1", false), ("x", "equals", "1", false),
        ("plan", "not_equal", #""gold""#, false), ("plan", "does_not_equal", #""tin""#, true),
        ("x", "does_not_equal", "1", true), ("plan", "exists", "null", true), ("x", "exists", "null", false),
        ("x", "does_not_exist", "null", true), ("plan", "does_not_exist", "null", false),
        ("tags", "includes_value", #""a""#, true), ("tags", "includes_value", "3.0", true),
        ("tags", "includes_value", #""c""#, false), ("tags", "does_not_include_value", #""c""#, true),
        ("x", "does_not_include_value", #""c""#, true), ("age", "greater_than", "41", true),
        ("age", "greater_than", "41.5", false), ("age", "greater_than_or_equal_to", "41.5", true),
        ("age", "less_than", "42", true), ("age", "less_than", "41.5", false),
        ("age", "less_than_or_equal_to", "41.5", true), ("plan", "less_than", "1", false),
        ("x", "less_than", "1", false), ("joined", "after", #""2025-12-28T00:00:00Z""#, true),
        ("joined", "before", #""2025-12-28T00:00:00Z""#, false), ("plan", "before", #""2030-01-01T00:00:00Z""#, false),
        ("joined", "less_than_x_days_ago", "4", true), ("joined", "less_than_x_days_ago", "3", false),
        ("joined", "greater_than_x_days_ago", "2", true), ("joined", "greater_than_x_days_ago", "3", false),
        ("renews", "less_than_x_days_ago", "30", false), ("renews", "less_than_x_days_in_the_future", "11", true),
        ("renews", "less_than_x_days_in_the_future", "10", false),
        ("renews", "greater_than_x_days_in_the_future", "9", true),
        ("joined", "less_than_x_days_in_the_future", "9", false), ("plan", "matches_regex", #""^g.l""#, true),
        ("plan", "does_not_match_regex", #""^g.l""#, false), ("age", "matches_regex", #""4""#, false),
        ("x", "does_not_match_regex", #"".""#, true),
    ])
    func anAttributeIsHeldAgainstAValue(_ name: String, _ comparison: String, _ value: String, _ holds: Bool) throws {
        #expect(try means(leaf(name, comparison, value)) == holds)
    }

    @Test func partsAreJoined() throws {
        let (yes, no) = (leaf("plan", "exists", "null"), leaf("x", "exists", "null"))
        #expect(try means(#"{"AND":[\#(yes),\#(yes)]}"#))
        #expect(try !means(#"{"AND":[\#(yes),\#(no)]}"#))
        #expect(try means(#"{"OR":[\#(no),{"AND":[\#(yes)]}]}"#))
        #expect(try !means(#"{"OR":[\#(no),\#(no)]}"#))
    }

    @Test func statesAndUseAreAsked() throws {
        func state(_ comparison: String, _ value: String) -> String {
            #"{"push_subscription_status":{"comparison":"\#(comparison)","value":"\#(value)"}}"#
        }
        #expect(try means(state("is", "opted_in")) && !means(state("is_not", "opted_in")))
        #expect(
            try means(state("is", "subscribed"), [:]) && means(state("is", "unsubscribed"), [:], acceptsPush: false)
        )
        func used(_ comparison: String, _ value: String) -> String {
            #"{"last_used_app":{"comparison":"\#(comparison)","value":"\#(value)"}}"#
        }
        #expect(try means(used("after", "2025-12-31T00:00:00Z")) && !means(used("before", "2025-12-31T00:00:00Z")))
        #expect(
            try means(used("before", "2025-12-31T00:00:00Z"), [:]) && !means(used("after", "2025-12-31T00:00:00Z"), [:])
        )
    }

    @Test func whatIsNotKnownIsRefused() throws {
        let good = leaf("plan", "equals", #""gold""#)
        let deep = String(repeating: #"{"AND":["#, count: 8) + good + String(repeating: "]}", count: 8)
        let many = "[" + Array(repeating: good, count: 51).joined(separator: ",") + "]"
        let bad = [
            "7", "[]", #"{"AND":[]}"#, #"{"AND":7}"#, #"{"AND":[7]}"#, #"{"AND":[\#(good)],"OR":[\#(good)]}"#,
            #"{"NOT":[\#(good)]}"#, #"{"email_subscription_status":{"comparison":"is","value":"subscribed"}}"#,
            leaf("", "equals", "1"), leaf("a", "is", "1"), leaf("a", "equals", "[1]"), leaf("a", "equals", "{}"),
            leaf("a", "equals", "null"), leaf("a", "greater_than", #""1""#), leaf("a", "after", #""noon""#),
            leaf("a", "less_than_x_days_ago", "-1"), leaf("a", "less_than_x_days_ago", "1e99"),
            leaf("a", "matches_regex", #""(a""#), leaf("a", "matches_regex", "7"),
            leaf("a", "equals", #""\#(String(repeating: "x", count: 300))""#), deep, #"{"OR":\#(many)}"#,
            #"{"push_subscription_status":{"comparison":"is","value":"x"}}"#,
            #"{"last_used_app":{"comparison":"is","value":"2025-12-31T00:00:00Z"}}"#,
            #"{"custom_attribute":{"custom_attribute_name":{"a":1},"comparison":"exists"}}"#,
        ]
        for filter in bad {
            #expect(throws: AdapterError.self, "\(filter.prefix(80))") {
                try AudienceFilter.read(["audience": JSONParser.parse(filter)])
            }
        }
        #expect(try AudienceFilter.read(["audience": [:]]) == nil && AudienceFilter.read(["audience": .null]) == nil)
    }

    // MARK: Sends

    @Test func aSendReachesWhomItsFilterMeans() throws {
        let filter = leaf("plan", "equals", #""gold""#)
        let body =
            #"{"audience":{"AND":[\#(filter)]},"messages":{"apple_push":{"alert":"Hi"}},"recipient_subscription_state":"all"}"#
        let submission = try Mount.submission(Mount.request("/messages/send", body))
        #expect(submission.audience == .everyone && submission.lane == .bulk && submission.content.isTemplate)
        func payload(_ attributes: JSONObject) throws -> PushPayload {
            var target = Mount.facts
            target.attributes = attributes
            let notification = Notification(
                message: Mount.message,
                origin: .braze,
                content: submission.content,
                sentAt: Self.now
            )
            return try BrazePayload(notification, to: target).encoded()
        }
        #expect(String(decoding: try payload(["plan": "gold"]).bytes, as: UTF8.self).contains("Hi"))
        #expect(throws: AdapterError(.withheld, field: "payload")) { try payload(["plan": "tin"]) }
        #expect(throws: AdapterError(.withheld, field: "payload")) { try payload([:]) }
        // With recipients it is not known what is meant.
        let both = Mount.answer(
            Mount.request(
                "/messages/send",
                body.replacing(#"{"audience""#, with: #"{"external_user_ids":["u"],"audience""#)
            )
        )
        #expect(both.status == 400 && both.message == "'broadcast' and 'audience' may not be combined with recipients")
    }

    // MARK: Patterns

    @Test(arguments: [
        ("a", "xax", true), ("^a$", "a", true), ("^a$", "ab", false), ("^a$", "ba", false), ("a|b", "xb", true),
        ("^(a|b)+$", "abba", true), ("^(?:a|b)*c?$", "abab", true), ("^a*$", "", true), ("^a+$", "", false),
        ("[a-c]x", "bx", true), ("[^a-c]x", "bx", false), (#"^\d+$"#, "0123", true), (#"^\d+$"#, "12a", false),
        (#"^[\w.]+@example\.com$"#, "mina.k@example.com", true), (#"\D"#, "12", false), (#"^\S+\s\S+$"#, "a b", true),
        ("^가.다$", "가나다", true), ("()", "x", true), ("a|", "x", true), ("^(a?)?(a?)?aa$", "aaa", true),
        (#"[\]\-]"#, "-", true), ("[a-]", "-", true), ("x{", "x", false), (".", "", false), ("$", "", true),
        ("^(a|b|ab)*bc", "ababbc", true), ("(ab)+c", "ababc", true), ("a+b+", "aab", true), ("^a?b", "b", true),
    ])
    func aPatternMatches(_ pattern: String, _ text: String, _ matches: Bool) {
        #expect((AudiencePattern(pattern)?.matches(text) ?? false) == matches)
    }

    @Test(arguments: [
        "", "(", ")", "a)", "(a", "[", "[a", "[]", "*", "a**", "a{2}", "a+?", "(?=a)", "(?<n>a)", #"\1"#, #"\b"#, #"\"#,
        "[z-a]", "[[:alpha:]]", "a]", String(repeating: "a", count: 201),
        String(repeating: "(", count: 11) + "a" + String(repeating: ")", count: 11),
    ])
    func whatIsNoPatternIsNone(_ pattern: String) { #expect(AudiencePattern(pattern) == nil) }

    /// Patterns that take others for ever: at most steps times characters here.
    @Test(.timeLimit(.minutes(1)), arguments: ["^(a+)+$", "^(a|a)*$", "^(a*)*$", "(.*)*x", "^((a?)*)*c"])
    func noPatternTakesForEver(_ pattern: String) throws {
        let text = String(repeating: "a", count: 1000) + "!"
        let own = try #require(AudiencePattern(pattern))
        // None of them can end behind the mark, which none has.
        #expect(!own.matches(text + "b"))
        // Too long to be looked at.
        #expect(!own.matches(String(repeating: "a", count: 1025)))
    }

    /// Random patterns and filters: nothing traps, and what is taken gives the same answer twice.
    @Test func nothingTraps() {
        var random = SplitMix(state: UInt64.random(in: 1...UInt64.max))
        let pieces = [
            "a", "b", "(", ")", "[", "]", "|", "*", "+", "?", "^", "$", ".", "\\", "d", "-", "가", "{", "\u{0}",
        ]
        var taken = 0
        for _ in 0..<3000 {
            let count = Int.random(in: 1...12, using: &random)
            let text = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            guard let pattern = AudiencePattern(text) else { continue }
            taken += 1
            #expect(pattern.matches("abba가") == pattern.matches("abba가"))
        }
        #expect(taken > 100)
    }
}
