import Foundation
import Model
import TestKit
import Testing

@testable import Braze

/// `audience` (docs/contracts/braze.md#5.10).
struct AudienceTests {
    private static let now = Timestamp(seconds: 1_767_225_600)  // 2026-01-01 00:00 UTC
    private static let user: JSONObject = [
        "plan": "gold", "age": .number("41.5"), "vip": true, "tags": ["a", "b", 3], "push_subscribe": "opted_in",
        "joined": "2025-12-29T00:00:00Z", "renews": "2026-01-11T00:00:00+00:00",
        "date_of_last_session": "2025-12-31T12:00:00Z", "nothing": .null, "day": "2025-12-29",
        "spaced": "2025-12-29 06:00:00",
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
        // A day begins at midnight.
        ("day", "less_than_x_days_ago", "4", true), ("day", "less_than_x_days_ago", "3", false),
        ("day", "after", #""2025-12-28""#, true), ("day", "after", #""2025-12-29""#, false),
        ("spaced", "after", #""2025-12-29""#, true), ("spaced", "before", #""2025-12-29 06:00:01""#, true),
    ])
    func attributesAreComparedWithValues(_ name: String, _ comparison: String, _ value: String, _ holds: Bool) throws {
        #expect(try means(leaf(name, comparison, value)) == holds)
    }

    @Test func partsOfAFilterAreJoined() throws {
        let (yes, no) = (leaf("plan", "exists", "null"), leaf("x", "exists", "null"))
        #expect(try means(#"{"AND":[\#(yes),\#(yes)]}"#))
        #expect(try !means(#"{"AND":[\#(yes),\#(no)]}"#))
        #expect(try means(#"{"OR":[\#(no),{"AND":[\#(yes)]}]}"#))
        #expect(try !means(#"{"OR":[\#(no),\#(no)]}"#))
    }

    @Test func filtersCoverSubscriptionStatesAndSessions() throws {
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

    @Test func unknownFiltersAreRefused() throws {
        let good = leaf("plan", "equals", #""gold""#)
        let deep = String(repeating: #"{"AND":["#, count: 8) + good + String(repeating: "]}", count: 8)
        let many = "[" + Array(repeating: good, count: 51).joined(separator: ",") + "]"
        let bad = [
            "7", "[]", #"{"AND":[]}"#, #"{"AND":7}"#, #"{"AND":[7]}"#, #"{"AND":[\#(good)],"OR":[\#(good)]}"#,
            #"{"NOT":[\#(good)]}"#, #"{"email_subscription_status":{"comparison":"is","value":"subscribed"}}"#,
            leaf("", "equals", "1"), leaf("a", "is", "1"), leaf("a", "equals", "[1]"), leaf("a", "equals", "{}"),
            leaf("a", "equals", "null"), leaf("a", "greater_than", #""1""#), leaf("a", "after", #""noon""#),
            leaf("a", "after", #""2025-02-30""#), leaf("a", "before", "7"),
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

    @Test func aSendReachesTheUsersThatMatchItsFilter() throws {
        let filter = leaf("plan", "equals", #""gold""#)
        let body =
            #"{"audience":{"AND":[\#(filter)]},"messages":{"apple_push":{"alert":"Hi"}},"recipient_subscription_state":"all"}"#
        let submission = try Mount.submission(Mount.request("/messages/send", body))
        #expect(submission.audience == .everyone && submission.lane == .bulk && submission.content.isTemplate)
        func payload(_ attributes: JSONObject) throws -> PushPayload {
            var target = Mount.facts
            target.person.attributes = attributes
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
        // The combination of a filter and recipients is ambiguous.
        let both = Mount.answer(
            Mount.request(
                "/messages/send",
                body.replacing(#"{"audience""#, with: #"{"external_user_ids":["u"],"audience""#)
            )
        )
        #expect(both.status == 400 && both.message == "'broadcast' and 'audience' may not be combined with recipients")
    }

    private static let gold =
        #"{"custom_attribute":{"custom_attribute_name":"plan","comparison":"equals","value":"gold"}}"#

    /// Calls with a filter, for the tests of all calls.
    static let documented = [
        Mount.request("/messages/send", #"{"audience":{"AND":[\#(gold)]},"messages":{"apple_push":{"alert":"Hi"}}}"#),
        Mount.request(
            "/messages/schedule/create",
            #"{"audience":{"OR":[\#(gold)]},"schedule":{"time":"2026-01-02T09:00:00Z"},"messages":{"apple_push":{"alert":"Hi"}}}"#
        ),
        Mount.request("/campaigns/trigger/send", #"{"campaign_id":"c-1","broadcast":true,"audience":\#(gold)}"#),
        Mount.request(
            "/campaigns/trigger/schedule/create",
            #"{"campaign_id":"c-1","audience":\#(gold),"schedule":{"time":"2026-01-02T09:00:00Z"}}"#
        ),
    ]

    @Test func schedulesStoreTheirFilter() throws {
        for request in Self.documented where request.path.contains("schedule") {
            let gateway = CampaignTests.FakeGateway()
            #expect(Mount.answer(request, gateway.reply).status == 201, "\(request.path)")
            let submission = try #require(gateway.submissions.first)
            #expect(submission.audience == .everyone && submission.content.data["audience"] != nil)
            // A change of the time keeps the filter.
            let body = try #require(submission.schedule).request
            let kept = try #require(ScheduleCall(body))
            let later = CampaignTests.FakeGateway(
                try CampaignTests.kept(kept.kind, JSONWriter.text(.object(kept.body)))
            )
            let path = request.path.replacing("create", with: "update")
            let update =
                #"{"campaign_id":"c-1","schedule_id":"\#(CampaignTests.id)","schedule":{"time":"2026-01-03T09:00:00Z"}}"#
            #expect(CampaignTests.answer(path, update, later).status == 201, "\(path)")
            #expect(later.submissions.first?.content.data["audience"] == submission.content.data["audience"])
        }
    }

    // An update replaces the audience of a trigger completely: recipients replace a filter, and a filter replaces
    // recipients.
    @Test func anUpdateReplacesTheAudienceOfATrigger() throws {
        let path = "/campaigns/trigger/schedule/update"
        func update(_ before: String, _ now: String) throws -> Submission {
            let time = #""schedule":{"time":"2026-01-02T09:00:00Z"}"#
            let gateway = CampaignTests.FakeGateway(
                try CampaignTests.kept(.campaigns, #"{"campaign_id":"c-1",\#(before),\#(time)}"#)
            )
            let answer = CampaignTests.answer(
                path,
                #"{"campaign_id":"c-1","schedule_id":"\#(CampaignTests.id)",\#(now)}"#,
                gateway
            )
            #expect(answer.status == 201, "\(answer.text)")
            return try #require(gateway.submissions.first)
        }
        let (filter, recipients) = (#""audience":\#(Self.gold)"#, #""recipients":[{"external_user_id":"u-1"}]"#)
        let one = try update(filter, recipients)
        #expect(one.audience == .users(["u-1"]) && one.content.data["audience"] == nil)
        let all = try update(recipients, filter)
        #expect(all.audience == .everyone && all.content.data["audience"] != nil)
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

    /// Patterns that take exponential time in other engines. Here the cost is at most steps times characters.
    @Test(.timeLimit(.minutes(10)), arguments: ["^(a+)+$", "^(a|a)*$", "^(a*)*$", "(.*)*x", "^((a?)*)*c"])
    func everyPatternHasABoundedCost(_ pattern: String) throws {
        let text = String(repeating: "a", count: 1000) + "!"
        let own = try #require(AudiencePattern(pattern))
        // Each pattern would have to match behind the mark, which no text contains.
        #expect(!own.matches(text + "b"))
        // Texts above the limit are not matched.
        #expect(!own.matches(String(repeating: "a", count: 1025)))
    }

    /// Any single pattern within the length limit is accepted, but not two of the most expensive ones.
    @Test func patternsShareACostLimit() throws {
        let long = String(repeating: #"\\w"#, count: 100)
        let leaf = leaf("plan", "matches_regex", #""\#(long)""#)
        func filter(_ count: Int) -> String {
            #"{"OR":[\#(Array(repeating: leaf, count: count).joined(separator: ","))]}"#
        }
        // One step for the end, and 100 times a step with the four ranges of `\w`.
        #expect(AudiencePattern(String(repeating: #"\w"#, count: 100))?.cost == 501)
        #expect(try !means(filter(1)))
        #expect(throws: AdapterError(.invalid, field: "'audience.custom_attribute' is not valid")) {
            try means(filter(2))
        }
        for costly in ["|", "a?", "a|", "(|)", "()*", "[a]?"] {
            let pattern = String(repeating: costly, count: BrazeLimits.patternCharacters / costly.count)
            let own = try #require(AudiencePattern(pattern), "\(costly)")
            #expect(own.cost <= BrazeLimits.filterSteps, "each pattern alone is accepted: \(costly)")
        }
    }

    /// Random patterns, compared with another engine (ICU): both find a match, or neither does. The patterns exclude
    /// `\w`, which in ICU matches the letters of every script.
    @Test func patternsAgreeWithAnotherEngine() throws {
        let pieces = [
            "a", "b", "(", ")", "[ab]", "[^a]", "[a-c1]", "|", "*", "+", "?", "^", "$", ".", #"\d"#, #"\D"#, "(?:", "가",
            #"\."#, "[", "{2}", "\u{0}",
        ]
        let texts = ["", "a", "b", "ab", "ba", "aab", "b1", "abba가", "가", "a.b"]
        let seed = Fuzz.seed
        var random = SplitMix(state: seed)
        var taken = 0
        for _ in 0..<Fuzz.count {
            let count = Int.random(in: 1...8, using: &random)
            let pattern = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            guard let own = AudiencePattern(pattern) else { continue }
            #expect(own.cost <= BrazeLimits.filterSteps)
            guard let other = try? NSRegularExpression(pattern: pattern) else { continue }
            taken += 1
            for text in texts {
                let range = NSRange(location: 0, length: text.utf16.count)
                #expect(
                    own.matches(text) == (other.firstMatch(in: text, range: range) != nil),
                    "seed \(seed): \(pattern) in '\(text)'"
                )
            }
        }
        #expect(taken * 10 >= Fuzz.count, "at least 10 % must be read: seed \(seed)")
    }

    /// Any filter is either parsed or refused by name, and a parsed filter is the same after it was stored and read
    /// again.
    @Test func anyFilterIsParsedOrRefused() throws {
        let filter =
            #"{"OR":[{"AND":[\#(leaf("plan", "equals", #""gold""#)),\#(leaf("age", "greater_than", "40"))]},"#
            + #"\#(leaf("joined", "less_than_x_days_ago", "4")),\#(leaf("plan", "matches_regex", #""^(a|b)+$""#)),"#
            + #"\#(leaf("day", "after", #""2025-12-28""#)),\#(leaf("tags", "includes_value", "3")),"#
            + #"{"last_used_app":{"comparison":"before","value":"2025-12-31T00:00:00Z"}},"#
            + #"{"push_subscription_status":{"comparison":"is_not","value":"opted_in"}}]}"#
        let document = try JSONParser.parse(filter)
        let seed = Fuzz.seed
        var mutator = Mutator(seed: seed, known: ["AND", "exists", "matches_regex", "(a*)*", "1e99", "2025-12-29"])
        var read = 0
        for index in 0..<Fuzz.count {
            let bytes = mutator.body(index, from: document)
            guard let value = try? JSONParser.parse(bytes) else { continue }
            do throws(AdapterError) {
                guard let kept = try AudienceFilter.read(["audience": value]) else { continue }
                let own = try AudienceFilter(stored: kept)
                let stored = (try? JSONParser.parse(JSONWriter.bytes(kept))) ?? .null
                let again = try AudienceFilter(stored: stored)
                #expect(again == own, "seed \(seed): \(JSONWriter.text(kept))")
                let isMeant = own.means(Self.user, acceptsPush: true, at: Self.now)
                #expect(
                    AudienceFilter.all([own, .any([own])]).means(Self.user, acceptsPush: true, at: Self.now) == isMeant
                )
                read += 1
            } catch {
                let text = String(decoding: bytes, as: UTF8.self)
                #expect(error.code == .invalid && error.field?.hasPrefix("'audience") == true, "seed \(seed): \(text)")
            }
        }
        #expect(read * 20 >= Fuzz.count, "at least 5 % must be read: seed \(seed)")
    }
}
