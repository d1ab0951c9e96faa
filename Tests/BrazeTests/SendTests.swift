import Coverage
import HTTPTypes
import Model
import Testing

@testable import Braze

/// `/messages/send` and the resulting pushes (docs/contracts/braze.md#5.5, docs/contracts/braze.md#6).
struct SendTests {
    // docs/contracts/braze.md#5.5: the documented request; 2026-01-02 is a day from now.
    @Test(.covers("braze", "POST /messages/send")) func theDocumentedSendIsAccepted() throws {
        let request = Mount.request("/messages/send", try Fixture.text("messages/send.request.json"))
        let submission = try Mount.submission(request)
        #expect(submission.audience == .users(["u-1", "u-2"]))
        #expect(submission.timing.timeToLive == .seconds(86_400))
        #expect(submission.collapseID == "order-42")
        #expect(submission.lane == .transactional)
        let answer = Mount.answer(request)
        #expect(answer.status == 201)
        #expect(answer.json == ["dispatch_id": "4f9c2b7e1d2a4c6f8b0e3a5d7c9f1b2d", "message": "success"])
        #expect(answer.header("Content-Type") == "application/json")
    }

    // docs/contracts/braze.md#6.2, except for the reference, which the document shortens, and for the fields that the
    // request sets differently.
    @Test func theDocumentedAlertIsEncoded() throws {
        let push = try Mount.push(
            Mount.request("/messages/send", try Fixture.text("messages/send.request.json"))
        )
        let text = try Fixture.text("pushes/alert.txt")
        let body = try #require(text.firstRange(of: "\n\n").map { String(text[$0.upperBound...]) })
        var documented = try #require(try JSONParser.parse(body).object)
        documented["ab"] = ["c": .string(Self.reference)]
        #expect(try JSONParser.parse(push.bytes) == .object(documented))
        #expect(push.type == .alert)
        #expect(push.priority == 10)
        #expect(push.collapseID == "order-42")
    }

    /// Message and target of `Mount`, encoded with `base64` of coreutils.
    private static let reference = "T5wrfh0qTG-LDjpdfJ8bLQAAAAAAAEAAgAAAAAAAAP8"

    // docs/contracts/braze.md#3.3: `ab.c` has 43 characters and another value for each target.
    @Test func theReferenceEncodesMessageAndTarget() {
        #expect(Self.reference.count == 43)
        #expect(BrazePayload.reference(Mount.message, Mount.target) == Self.reference)
    }

    // docs/contracts/braze.md#6.4
    @Test func aSilentPushIsABackgroundPush() throws {
        let push = try Mount.push(
            Mount.send(
                #"{"content-available":true,"badge":3,"sound":"x","apns_priority":10,"extra":{"order_id":"42"}}"#
            )
        )
        var documented = try #require(try JSONParser.parse(try Fixture.text("pushes/silent.json")).object)
        documented["ab"] = ["c": .string(Self.reference)]
        #expect(try JSONParser.parse(push.bytes) == .object(documented))
        #expect(push.type == .background)
        #expect(push.priority == 5)
    }

    // docs/contracts/braze.md#6.1, field by field: the push for a field in addition to a body.
    @Test(arguments: [
        (#""sound":"default""#, #"{"aps":{"alert":"Hi","sound":"default"}}"#),
        (#""badge":0"#, #"{"aps":{"alert":"Hi","badge":0}}"#),
        (#""mutable_content":true"#, #"{"aps":{"alert":"Hi","mutable-content":1}}"#),
        (#""category":"c""#, #"{"aps":{"alert":"Hi","category":"c"}}"#),
        (#""interruption_level":"time-sensitive""#, #"{"aps":{"alert":"Hi","interruption-level":"time-sensitive"}}"#),
        (#""relevance_score":0.25"#, #"{"aps":{"alert":"Hi","relevance-score":0.25}}"#),
        (#""notification_group_thread_id":"t""#, #"{"aps":{"alert":"Hi","thread-id":"t"}}"#),
        (#""content-available":true"#, #"{"aps":{"alert":"Hi","content-available":1}}"#),
        (#""custom_uri":"app://x""#, #"{"aps":{"alert":"Hi"},"ab_uri":"app://x","ab_use_webview":true}"#),
        (#""send_to_most_recent_device_only":false,"buttons":[],"nobody":1"#, #"{"aps":{"alert":"Hi"}}"#),
    ])
    func eachFieldBecomesItsPayloadKey(_ field: String, _ payload: String) throws {
        let push = try Mount.push(Mount.send(#"{"alert":"Hi",\#(field)}"#))
        var wanted = try #require(try JSONParser.parse(payload).object)
        wanted["ab"] = ["c": .string(Self.reference)]
        #expect(try JSONParser.parse(push.bytes) == .object(wanted))
    }

    // docs/contracts/braze.md#6.1: a rich push.
    @Test func aRichPushHasItsAttachment() throws {
        let push = try Mount.push(
            Mount.send(#"{"alert":"Hi","asset_url":"https://cdn.example.com/i/42.jpg","asset_file_type":"jpg"}"#)
        )
        let json = try JSONParser.parse(push.bytes)
        #expect(json["aps"]?["mutable-content"] == 1)
        #expect(json["ab"]?["att"] == ["url": "https://cdn.example.com/i/42.jpg", "type": "jpg"])
        #expect(json["ab"]?["c"]?.string == Self.reference)
    }

    // docs/contracts/braze.md#6.1: Apple's own names.
    @Test func anAlertMayBeLocalized() throws {
        let alert =
            #"{"title":"T","title_loc_key":"a","title_loc_args":["1"],"loc_key":"b","loc_args":["2"],"action_loc_key":"c","sound":"s"}"#
        let json = try JSONParser.parse(try Mount.push(Mount.send(#"{"alert":\#(alert)}"#)).bytes)
        #expect(
            json["aps"] == [
                "alert": [
                    "title": "T", "title-loc-key": "a", "loc-key": "b", "action-loc-key": "c", "title-loc-args": ["1"],
                    "loc-args": ["2"],
                ], "sound": "s",
            ]
        )
    }

    @Test func onlyAPNsPrioritiesAreAccepted() throws {
        for (given, sent) in [(1, 5), (5, 5), (6, 10), (10, 10)] {
            #expect(try Mount.push(Mount.send(#"{"alert":"Hi","apns_priority":\#(given)}"#)).priority == sent)
        }
    }

    // docs/contracts/braze.md#5.11, as documented: request, answer.
    @Test func documentedRefusals() throws {
        for name in ["nobody", "unreadable"] {
            let answer = Mount.answer(try Fixture.request("messages/\(name).request.txt"))
            #expect(try answer.fault(against: "messages/\(name).response.txt") == nil, "\(name)")
        }
        let missing = try Fixture.request("access/key.request.txt")
        #expect(missing.header("Authorization") == nil)
        let extra = Mount.answer(Mount.request("/messages/send", try Fixture.text("messages/extra.request.json")))
        #expect(try extra.fault(against: "messages/extra.response.txt") == nil)
        let ids = (0..<51).map { "\"u-\($0)\"" }.joined(separator: ",")
        let many = #"{"external_user_ids":[\#(ids)],"messages":{"apple_push":{"alert":"Hi"}}}"#
        let tooMany = Mount.answer(Mount.request("/messages/send", many))
        #expect(try tooMany.fault(against: "messages/recipients.response.txt") == nil)
        let campaign = #"{"external_user_ids":["u-1"],"campaign_id":"does-not-exist","messages":{}}"#
        let unknown = Mount.answer(Mount.request("/messages/send", campaign))
        #expect(try unknown.fault(against: "messages/campaign.response.txt") == nil)
    }

    @Test(arguments: [
        #"{"alert":"Hi","buttons":[{"action_id":"a"}]}"#, #"{"alert":"Hi {{first_name}}"}"#,
        #"{"alert":"Hi","extra":{"ab":1}}"#, #"{"alert":"Hi","extra":{"k":"{% if x %}"}}"#,
        #"{"alert":"Hi","expiry":"2025-12-31T23:59:59Z"}"#, #"{"alert":"Hi","badge":-1}"#,
        #"{"alert":"Hi","relevance_score":2}"#, #"{"alert":"Hi","interruption_level":"loud"}"#,
        #"{"alert":"Hi","asset_url":"https://x"}"#, #"{"alert":7}"#, "{}", #"{"alert":"Hi","extra":[]}"#,
        #"{"alert":"Hi","send_to_most_recent_device_only":true}"#, #"{"alert":"Hi","apns_priority":11}"#,
        #"{"alert":"Hi","custom_uri":"a","extra":{"ab_uri":"b"}}"#,
    ])
    func anInvalidPushIsRefused(_ push: String) {
        let answer = Mount.answer(Mount.send(push))
        #expect(answer.status == 400)
        #expect(answer.message?.isEmpty == false)
    }

    // A caller must be able to find the expression.
    @Test func aRefusedTemplateNamesItsExpression() {
        let answer = Mount.answer(Mount.send(#"{"alert":{"title":"a {{${first_name} | reverse}} b"}}"#))
        #expect(
            answer.message == "The Liquid expression '{{${first_name} | reverse}}' is not available on this gateway"
        )
    }

    // docs/contracts/braze.md#6.1: the size of the payload includes its reference.
    @Test func aPayloadEndsAt1912Bytes() throws {
        let empty = try Mount.push(Mount.send(#"{"alert":"x"}"#)).bytes.count - 1
        let longest = String(repeating: "x", count: 1912 - empty)
        #expect(try Mount.push(Mount.send(#"{"alert":"\#(longest)"}"#)).bytes.count == 1912)
        let answer = Mount.answer(Mount.send(#"{"alert":"\#(longest)x"}"#))
        #expect(answer.status == 400)
        #expect(answer.json == ["message": "Apple Push Length Exceeded"])
    }

    // docs/contracts/braze.md#5.5: only one target, and only stored things may be requested.
    @Test(arguments: [
        (#""broadcast":true"#, 201), (#""broadcast":false"#, 400), (#""external_user_ids":[]"#, 400),
        (#""broadcast":true,"external_user_ids":["a"]"#, 400), (#""external_user_ids":["a",1]"#, 400),
        (#""segment_id":"s""#, 400), (#""user_aliases":[{"alias_name":"a","alias_label":"b"}]"#, 201),
        (#""broadcast":true,"recipient_subscription_state":"all""#, 201),
        (#""broadcast":true,"recipient_subscription_state":"opted_in""#, 201),
        (#""broadcast":true,"recipient_subscription_state":"unsubscribed""#, 400),
        (#""broadcast":true,"send_id":"winter-2026""#, 201),
    ])
    func exactlyOneKindOfRecipientsIsAccepted(_ fields: String, _ status: Int) {
        let body = #"{\#(fields),"messages":{"apple_push":{"alert":"Hi"}}}"#
        #expect(Mount.answer(Mount.request("/messages/send", body)).status == status)
    }

    // docs/contracts/braze.md#5.1
    @Test(arguments: [
        ("2026-01-01T00:00:00Z", 0), ("2026-01-01T09:00:00+09:00", 0), ("2026-01-01T00:00:01:250+0000", 1),
        ("2026-01-01T00:00:02.5Z", 2),
    ])
    func timesAreReadInBothSpellings(_ text: String, _ seconds: Int64) {
        #expect(BrazeTime.parse(text) == Timestamp(seconds: 1_767_225_600 + seconds))
        #expect(BrazeTime.parse(text + "x") == nil)
    }
}
