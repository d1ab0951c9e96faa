import Foundation
import Model
import TestKit
import Testing

@testable import Braze

/// Templates: supported and refused expressions, and their results (docs/contracts/braze.md#5.6). Expected texts are from the language's own documentation.
struct LiquidTests {
    private static let scope = LiquidScope(
        attributes: [
            "user_id": "u-1", "first_name": "mINA kim", "loyalty": 5, "ratio": .number("0.1"), "vip": true, "empty": "",
            "since": "2025-12-31T23:05:09Z", "tags": ["a", "b"], "cart": ["sku": "A1"], "off": false,
        ],
        properties: ["city": "Seoul", "count": "7"],
        campaign: ["name": "Winter"],
        now: Mount.now
    )

    private static func rendered(_ text: String) throws -> String {
        _ = try LiquidTemplate(text)
        var renderer = LiquidRenderer(scope)
        return try renderer.rendered(text)
    }

    @Test(arguments: [
        // Values.
        ("Hi {{${first_name}}}!", "Hi mINA kim!"), ("{{ ${first_name} }}", "mINA kim"), ("{{${nobody}}}", ""),
        ("{{custom_attribute.${loyalty}}}", "5"), ("{{custom_attribute.${none}}}", ""),
        ("{{api_trigger_properties.${city}}}", "Seoul"), ("{{campaign.${name}}}", "Winter"), ("{{ 'a}}b' }}", "a}}b"),
        ("{{custom_attribute.${tags}}}", "ab"), ("{{custom_attribute.${cart}}}", #"{"sku":"A1"}"#),
        ("{ { %} }}", "{ { %} }}"),
        ("안녕 {{${first_name}}} 👋", "안녕 mINA kim 👋"), ("{{custom_attribute.${vip}}}", "true"),
        // Filters.
        ("{{${nobody} | default: 'you'}}", "you"), ("{{${empty} | default: \"you\"}}", "you"),
        ("{{${off} | default: 1}}", "1"), ("{{${first_name} | default: 'you'}}", "mINA kim"),
        ("{{${first_name} | upcase}}", "MINA KIM"), ("{{${first_name} | downcase}}", "mina kim"),
        ("{{${first_name} | capitalize}}", "Mina kim"), ("{{${first_name} | size}}", "8"),
        ("{{custom_attribute.${tags} | size}}", "2"), ("{{${nobody} | size}}", "0"),
        ("{{custom_attribute.${loyalty} | plus: 2 | minus: 0.5}}", "6.5"),
        ("{{api_trigger_properties.${count} | plus: ${loyalty}}}", "12"),
        ("{{custom_attribute.${ratio} | plus: 0.2}}", "0.3"), ("{{${first_name} | plus: 1}}", "1"),
        ("{{${since} | date: '%Y-%m-%d %H:%M:%S'}}", "2025-12-31 23:05:09"),
        (
            "{{${since} | date: '%-d %B %y, %A %e %b %a %j %I %l %p %P %Z %z'}}",
            "31 December 25, Wednesday 31 Dec Wed 365 11 11 PM pm UTC +0000"
        ),
        ("{{'now' | date: '%F %T %D %R %s %%'}}", "2026-01-01 00:00:00 01/01/26 00:00 1767225600 %"),
        ("{{0 | date: '%Y'}}", "1970"), ("{{'2024-02-29' | date: '%j %-m %e'}}", "060 2 29"),
        ("{{'2026-01-01 08:03:00' | date: '%-H %-M'}}", "8 3"),
        ("{{${first_name} | date: '%Y'}}", "mINA kim"), ("{{${nobody} | date: '%Y'}}", ""),
        // Tags.
        ("{% if ${nobody} %}a{% else %}b{% endif %}", "b"), ("{% if ${empty} %}a{% endif %}", "a"),
        ("{% if ${off} %}a{% elsif ${loyalty} > 4 %}b{% else %}c{% endif %}", "b"),
        ("{% if {{${user_id}}} == 'u-1' and {{custom_attribute.${vip}}} == true %}a{% endif %}", "a"),
        ("{% if true or false and false %}a{% endif %}", "a"),
        ("{% if false and false or true %}a{% else %}b{% endif %}", "b"),
        ("{% if ${empty} == blank %}a{% endif %}{% if blank != ${user_id} %}b{% endif %}", "ab"),
        ("{% if ${first_name} contains 'NA' %}a{% endif %}{% if ${tags} contains 'b' %}b{% endif %}", "ab"),
        (
            "{% if 'aaab' contains 'aab' %}a{% endif %}{% if 'abab' contains 'abb' %}b{% endif %}{% if 'x' contains '' %}c{% endif %}",
            "ac"
        ),
        ("{% if ${nobody} == nil %}a{% endif %}{% if ${loyalty} == 5.0 %}b{% endif %}", "ab"),
        (
            "{% if ${loyalty} <> 5 %}a{% endif %}{% if ${loyalty} <= 5 %}b{% endif %}{% if ${loyalty} >= 6 %}c{% endif %}",
            "b"
        ),
        ("{% if ${first_name} < 1 %}a{% endif %}{% if ${first_name} == 1 %}b{% endif %}", ""),
        ("{% if true %}a{% if false %}b{% else %}c{% endif %}d{% endif %}", "acd"),
        ("{% assign x = {{${nobody}}} | default: 'you' | upcase %}{{x}} {{ x | size }}", "YOU 3"),
        ("{% if false %}{% assign x = 1 %}{% abort_message %}{% endif %}[{{x}}]", "[]"),
    ])
    func textsAreRendered(_ text: String, _ wanted: String) throws {
        #expect(try Self.rendered(text) == wanted, "\(text)")
    }

    @Test(arguments: ["{% abort_message %}", "{% abort_message('why') %}", "{%if true%}{%abort_message()%}{%endif%}"])
    func aTemplateMayAbortThePushOfAUser(_ text: String) throws {
        var renderer = LiquidRenderer(Self.scope)
        #expect(throws: LiquidProblem.aborted) { try renderer.rendered("a\(text)b") }
        // The given reason reaches the engine, which does not count it as a failure.
        let send = try Mount.submission(Mount.send(#"{"alert":"\#(text)"}"#))
        let notification = Notification(
            message: Mount.message,
            origin: .braze,
            content: send.content,
            sentAt: Mount.now
        )
        #expect(throws: AdapterError(.withheld, field: "payload")) {
            try Mount.adapter.payload(for: notification, to: Mount.facts, settings: Mount.settings)
        }
    }

    // The refusal names the whole expression.
    @Test(arguments: [
        ("a {{first_name}} b", "{{first_name}}"), ("{{content_blocks.${x}}}", "{{content_blocks.${x}}}"),
        ("{{${x} | reverse}}", "{{${x} | reverse}}"), ("{{${x} | default}}", "{{${x} | default}}"),
        ("{{${x} | upcase: 1}}", "{{${x} | upcase: 1}}"), ("{{${x} | date: '%Q'}}", "{{${x} | date: '%Q'}}"),
        ("{{${x} | date: ${y}}}", "{{${x} | date: ${y}}}"), ("{{${}}}", "{{${}}}"), ("{{}}", "{{}}"),
        ("a{{${x", "{{${x"),
        ("{% for x in y %}", "{% for x in y %}"), ("b{% if true %}a", "{% if true %}"), ("{% endif %}", "{% endif %}"),
        ("{% if true %}{% else %}{% else %}{% endif %}", "{% else %}"), ("{% elsif true %}", "{% elsif true %}"),
        ("{% if true | upcase %}{% endif %}", "{% if true | upcase %}"), ("{{-${x}-}}", "{{-${x}-}}"),
        ("{% assign true = 1 %}", "{% assign true = 1 %}"), ("{% assign x = y %}", "{% assign x = y %}"),
        ("{{x}}{% assign x = 1 %}", "{{x}}"), ("{% if {{ {{${x}}} }} %}{% endif %}", "{% if {{ {{${x}}} }} %}"),
        ("{% raw %}", "{% raw %}"), ("{{ 'a }}", "{{ 'a }}"), ("{% if ${a} == %}{% endif %}", "{% if ${a} == %}"),
    ])
    func unsupportedExpressionsAreRefused(_ text: String, _ expression: String) {
        #expect(throws: LiquidFault(expression: expression)) { try LiquidTemplate(text) }
    }

    // Each limit, at its end and one further.
    @Test func limits() throws {
        func nested(_ count: Int) -> String {
            String(repeating: "{% if true %}", count: count) + String(repeating: "{% endif %}", count: count)
        }
        _ = try LiquidTemplate(nested(LiquidLimits.depth))
        #expect(throws: LiquidFault.self) { try LiquidTemplate(nested(LiquidLimits.depth + 1)) }
        _ = try LiquidTemplate(String(repeating: "{{1}}", count: LiquidLimits.nodeCount))
        #expect(throws: LiquidFault.self) {
            try LiquidTemplate(String(repeating: "{{1}}", count: LiquidLimits.nodeCount + 1))
        }
        func chain(_ count: Int) -> String { "{{1" + String(repeating: "| plus: 1", count: count) + "}}" }
        #expect(try Self.rendered(chain(LiquidLimits.chainCount)) == "21")
        #expect(throws: LiquidFault.self) { try LiquidTemplate(chain(LiquidLimits.chainCount + 1)) }
        func terms(_ count: Int) -> String {
            "{% if 1" + String(repeating: " and 1", count: count - 1) + " %}a{% endif %}"
        }
        #expect(try Self.rendered(terms(LiquidLimits.chainCount)) == "a")
        #expect(throws: LiquidFault.self) { try LiquidTemplate(terms(LiquidLimits.chainCount + 1)) }
        func name(_ count: Int) -> String { "{{${" + String(repeating: "n", count: count) + "}}}" }
        #expect(try Self.rendered(name(LiquidLimits.nameBytes)) == "")
        #expect(throws: LiquidFault.self) { try LiquidTemplate(name(LiquidLimits.nameBytes + 1)) }
        let format = String(repeating: "Y", count: LiquidLimits.formatBytes)
        #expect(LiquidDateFormat(format) != nil)
        #expect(LiquidDateFormat(format + "Y") == nil)
    }

    // A single value of a user that is inserted many times must not cost a megabyte or a second.
    @Test func theCostOfRenderingAPushIsBounded() throws {
        var scope = LiquidScope(now: Mount.now)
        scope.attributes["x"] = .string(String(repeating: "ab", count: 4000))
        var renderer = LiquidRenderer(scope)
        #expect(try renderer.rendered("{{${x}}}{{${x}}}").utf8.count == 16_000)
        #expect(throws: LiquidProblem.tooLong) { try renderer.rendered("{{${x}}}") }
        let tested = String(repeating: "{% if ${x} contains 'abb' %}{% endif %}", count: 40)
        var other = LiquidRenderer(scope)
        #expect(throws: LiquidProblem.tooLong) { try other.rendered(tested) }
    }

    // Keys, and fields that control the delivery of a push, are not texts for users and are not rendered.
    @Test(arguments: [
        #""collapse_id":"{{${user_id}}}""#, #""expiry":"{{'now' | date: '%F'}}""#, #""extra":{"{{${user_id}}}":1}"#,
        #""message_variation_id":"{{${user_id}}}""#, #""interruption_level":"{% if true %}active{% endif %}""#,
    ])
    func templatesAreRenderedOnlyInTexts(_ field: String) throws {
        let answer = Mount.answer(Mount.send(#"{"alert":"Hi",\#(field)}"#))
        #expect(answer.status == 400)
        #expect(answer.message?.hasPrefix("The Liquid expression '{") == true, "\(answer.message ?? "")")
    }

    // Texts at every depth are rendered. An unknown name renders as an empty text.
    @Test func aPushIsRenderedForItsUser() throws {
        let send = Mount.send(
            #"{"alert":{"title":"{{${user_id}}}","loc_key":"k","loc_args":["{{api_trigger_properties.${city}}}"]},"custom_uri":"app://{{${user_id}}}","extra":{"a":{"b":["{{campaign.${dispatch_id}}}{{${none}}}{{${first_name}}}"]}}}"#
        )
        let content = try Mount.submission(send).content
        #expect(content.isTemplate)
        var facts = Mount.facts
        facts.person.user = "u-9"
        facts.variables = ["city": "Busan"]
        facts.person.attributes = ["user_id": "an attribute of that name", "first_name": "Mina"]
        let notification = Notification(message: Mount.message, origin: .braze, content: content, sentAt: Mount.now)
        let push = try Mount.adapter.payload(for: notification, to: facts, settings: Mount.settings)
        let json = try JSONParser.parse(push.bytes)
        #expect(json["aps"] == ["alert": ["title": "u-9", "loc-key": "k", "loc-args": ["Busan"]]])
        #expect(json["ab_uri"] == "app://u-9")
        #expect(json["a"] == ["b": ["4f9c2b7e1d2a4c6f8b0e3a5d7c9f1b2dMina"]])
        #expect(try Mount.submission(Mount.send(#"{"alert":"Hi { } %} }}"}"#)).content.isTemplate == false)
    }

    // The size limit applies to the template as written and to the push as rendered.
    @Test func aRenderedPushHasASizeLimit() throws {
        let long = String(repeating: "x", count: 2000)
        let hidden = "{% if false %}\(long)\(long)\(long){% endif %}short"
        _ = try Mount.push(Mount.send(#"{"alert":"\#(hidden)"}"#))
        #expect(throws: AdapterError(.tooLarge, field: "payload")) {
            try Mount.push(Mount.send(#"{"alert":"{% if true %}\#(long)\#(long)\#(long){% endif %}"}"#))
        }
        let tooLong = String(repeating: long, count: 9)
        #expect(Mount.answer(Mount.send(#"{"alert":"{{1}}\#(tooLong)"}"#)).message == "Apple Push Length Exceeded")
    }

    // Any text is either parsed or refused, and a parsed text is either rendered or reports a reason.
    @Test func anyTextIsParsedOrRefused() throws {
        let pieces = [
            "{{", "}}", "{%", "%}", "${", "}", "{", "if ", "elsif ", "else", "endif", "assign ", "x", " = ", "|", ":",
            "'", "\"",
            "default", "date", "'%Y'", "plus", "-", "1", ".", "custom_attribute", "abort_message", "(", ")", "user_id",
            "{{${user_id}}}",
            "{% if true %}", "{% endif %}", "{{1 | plus: 1}}", "한", "\u{0}", " ", "and", "or", "==", "contains",
        ]
        let seed = Fuzz.seed
        var random = SplitMix(state: seed)
        var read = 0
        for _ in 0..<Fuzz.count {
            let count = Int.random(in: 0...12, using: &random)
            let text = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            do throws(LiquidFault) {
                _ = try LiquidTemplate(text)
                read += 1
            } catch {
                #expect(!error.expression.isEmpty && text.contains(error.expression), "seed \(seed): \(text)")
                continue
            }
            var renderer = LiquidRenderer(Self.scope)
            do throws(LiquidProblem) {
                let rendered = try renderer.rendered(text)
                #expect(rendered.utf8.count <= LiquidLimits.outputBytes)
            } catch {
                #expect(error == .aborted, "seed \(seed): \(text)")
            }
        }
        #expect(read * 50 >= Fuzz.count, "at least 2 % must be read: seed \(seed)")
    }
}
