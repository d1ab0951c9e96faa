import HTTPTypes
import Model
import Testing

/// The parts of an upstream's answer that mean the same for all vendors.
struct UpstreamAnswerTests {
    private static func response(_ status: Int, retryAfter: String? = nil) -> VendorResponse {
        var headers = HTTPFields()
        headers[.retryAfter] = retryAfter
        return VendorResponse(status: status, headers: headers)
    }

    @Test(
        arguments: [
            (400, .content), (413, .content), (401, .credential), (403, .credential), (404, .credential),
        ] as [(Int, Rejection.Scope)]
    )
    func aStatusThatRefusesTheCall(_ status: Int, _ scope: Rejection.Scope) {
        let outcome = Outcome(refusedBy: Self.response(status))
        #expect(outcome == .rejected(Rejection(scope: scope, reason: "HTTP \(status)", status: status)))
    }

    // The server may have acted before it failed, and a page may follow a success.
    @Test(arguments: [200, 201, 302, 500, 502, 503, 504, 0, -5])
    func anyOtherStatusProvesNothing(_ status: Int) { #expect(Outcome(refusedBy: Self.response(status)) == nil) }

    @Test(
        arguments: [
            ("7", .seconds(7)), ("86401", .seconds(86_400)), ("99999999999999999999", nil), ("-1", nil),
            ("soon", nil), (nil, nil),
        ] as [(String?, Duration?)]
    )
    func tooManyCallsWaitAsLongAsAsked(_ text: String?, _ wait: Duration?) {
        let outcome = Outcome(refusedBy: Self.response(429, retryAfter: text))
        #expect(outcome == .deferred(Rejection(scope: .service, reason: "HTTP 429", status: 429), after: wait))
    }

    // The vendor knows nothing about the token, which stays valid: every registration is younger than the time of the verdict.
    @Test func anUnknownTargetLeavesTheTokenAlone() {
        guard case .rejected(let rejection) = Outcome.unknownTarget("4400", status: 200) else {
            Issue.record("no rejection")
            return
        }
        #expect(rejection.scope == .tokenDead(since: Timestamp(milliseconds: 0)) && rejection.reason == "4400")
    }

    @Test func namesOfUnknownTargetsAreMatched() {
        let request = VendorRequest(route: "send", path: "/send")
        let named = UpstreamCall(request, targets: [4, 2], names: ["a", "b"])
        func result(_ call: UpstreamCall, _ unknown: Set<String>) -> [Outcome] {
            UpstreamResult(acceptedBy: call, except: unknown, reason: "R", reference: "7").outcomes
        }
        #expect(result(named, []) == [.acceptedByUpstream, .acceptedByUpstream])
        #expect(result(named, ["b", "c"]) == [.acceptedByUpstream, .unknownTarget("R", status: 200)])
        // Without names nobody can say which of them was accepted.
        #expect(result(UpstreamCall(request, targets: [1, 2]), ["b"]) == [.unclear, .unclear])
    }

    @Test func anAnswerThatCountsNobodyIsUnclearWhereItNamesAMessage() {
        let request = VendorRequest(route: "send", path: "/send")
        let named = UpstreamCall(request, targets: [4, 2], names: ["a", "b"])
        func result(_ call: UpstreamCall, _ unknown: Set<String>, _ message: JSON?) -> UpstreamResult {
            UpstreamResult(countingNobodyOf: call, unknown: unknown, message: message, reason: "R", status: 200)
        }
        let nobody = UpstreamResult(.unknownTarget("R", status: 200), for: named)
        for message in [nil, .null, ""] as [JSON?] { #expect(result(named, ["a"], message) == nobody) }
        #expect(result(named, ["a", "b"], "7") == nobody)
        #expect(result(named, ["a"], "7") == UpstreamResult(.unclear, for: named, reference: "7"))
        #expect(result(named, [], ["7"]) == UpstreamResult(.unclear, for: named))
        #expect(result(UpstreamCall(request, targets: [4, 2]), ["a", "b"], 7).outcomes == [.unclear, .unclear])
    }

    @Test(
        arguments: [
            ("1151", "1151"), (1151, "1151"), ("", nil), ("a b", nil), ("홍", nil), (.array(["1"]), nil), (nil, nil),
            (.string(String(repeating: "x", count: 129)), nil),
        ] as [(JSON?, String?)]
    )
    func aReferenceIsShortAndPrintable(_ value: JSON?, _ reference: String?) {
        #expect(UpstreamResult.reference(value) == reference)
    }
}
