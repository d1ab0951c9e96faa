import APNs
import Model
import TestKit
import Testing

/// Reading an answer: tolerant of its body, with a size limit for all of it. Source: docs/contracts/apns.md#8,
/// docs/contracts/apns.md#9.1.
struct APNsAnswerTests {
    private func answer(_ status: Int, _ body: String, retryAfter: String? = nil) -> APNsAnswer {
        APNsAnswer(status: status, body: Array(body.utf8)[...], retryAfter: retryAfter)
    }

    private func rejected(_ scope: Rejection.Scope, _ reason: String, _ status: Int) -> Outcome {
        .rejected(Rejection(scope: scope, reason: reason, status: status))
    }

    @Test func successReturnsTheIDInLowerCase() {
        let upper = APNsAnswer(status: 200, body: [], id: "EC1BF194-B3B2-424A-89A9-5A918A6E6B5D", uniqueID: "log-1")
        #expect(upper.outcome == .accepted(TransportMessageID("ec1bf194-b3b2-424a-89a9-5a918a6e6b5d", logKey: "log-1")))
        #expect(APNsAnswer(status: 200, body: []).outcome == .accepted(TransportMessageID("")))
        // The body of a success is ignored.
        #expect(
            APNsAnswer(status: 200, body: Array(#"{"reason":"Unregistered"}"#.utf8)[...]).outcome
                == .accepted(TransportMessageID(""))
        )
    }

    @Test func answer410HasTheTimeSinceWhichTheTokenIsInvalid() {
        let since = Timestamp(milliseconds: 1_790_000_000_123)
        for body in [
            #"{"reason":"Unregistered","timestamp":1790000000123}"#,
            #"{"timestamp":1790000000123,"reason":"Unregistered"}"#,
            #"{"reason":"Unregistered","timestamp":"1790000000123"}"#,
            #" { "new" : { "reason" : "Inner", "timestamp" : 5 } , "timestamp" : 1790000000123 , "list":[1,"x"], "reason" : "Unregistered" } "#,
        ] {
            #expect(answer(410, body).outcome == rejected(.tokenDead(since: since), "Unregistered", 410))
        }
        #expect(
            answer(410, #"{"reason":"ExpiredToken"}"#).outcome == rejected(.tokenDead(since: nil), "ExpiredToken", 410)
        )
        for wild in ["1e99", "-", "99999999999999999999", "true", "null", "1.5"] {
            let outcome = answer(410, #"{"reason":"ExpiredToken","timestamp":\#(wild)}"#).outcome
            #expect(outcome == rejected(.tokenDead(since: nil), "ExpiredToken", 410))
        }
    }

    // "Body absent on an error, unknown `reason`, extra keys": the status decides, and the received reason is kept.
    @Test(arguments: [
        "", "{}", "null", "[]", "not json", #"{"reason":17}"#, #"{"reason":null}"#, #"{"reason""#, "\u{FEFF}",
    ])
    func bodyWithoutAReasonIsTreatedByStatus(body: String) {
        #expect(answer(400, body).outcome == rejected(.content, body.contains("17") ? "17" : "", 400))
        #expect(answer(410, body).remedy == .none)
        guard case .deferred(let rejection, nil) = answer(503, body).outcome else { return #expect(Bool(false)) }
        #expect(rejection.scope == .service)
    }

    @Test func theTextBeforeACutIsUsed() {
        #expect(
            answer(400, #"{"reason":"BadDeviceToken","more":"#).outcome
                == rejected(.tokenDoubtful, "BadDeviceToken", 400)
        )
        let long = #"{"reason":"BadTopic","padding":""# + String(repeating: "x", count: 100_000) + #""}"#
        #expect(answer(400, long).outcome == rejected(.topic, "BadTopic", 400))
        // The reason is not searched beyond the size limit.
        let late = #"{"padding":""# + String(repeating: "x", count: 100_000) + #"","reason":"BadTopic"}"#
        #expect(answer(400, late).outcome == rejected(.content, "", 400))
    }

    @Test func unusualReasonIsCutAndCleaned() {
        let wild = #"{"reason":"New\nWord "# + String(repeating: "x", count: 500) + #""}"#
        guard case .rejected(let rejection) = answer(400, wild).outcome else { return #expect(Bool(false)) }
        #expect(rejection.reason.utf8.count == 64)
        #expect(rejection.reason.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
    }

    @Test func randomBytesNeitherTrapNorNameAReason() {
        var random = SplitMix(state: 20_261_121)
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            #expect(APNsAnswer(status: 400, body: bytes[...]).outcome == rejected(.content, "", 400))
        }
    }

    // "No retry-after is documented for APNs; honour it if it appears."
    @Test(arguments: [
        ("7", Duration.seconds(7)), ("0", .zero), ("999999999", .seconds(3600)), ("-1", nil), ("soon", nil), ("", nil),
    ])
    func retryAfterIsUsedWithinBounds(text: String, expected: Duration?) {
        guard case .deferred(_, let after) = answer(429, #"{"reason":"TooManyRequests"}"#, retryAfter: text).outcome
        else {
            return #expect(Bool(false))
        }
        #expect(after == expected)
    }
}
