import HTTPTypes
import Model
import RationalOwl
import TestKit
import Testing

/// The outcomes of a send through the vendor's own service. The answers are those of docs/contracts/rationalowl.md#8.3, and of its table of codes (#4.2).
struct UpstreamVerdictTests {
    private static let call = UpstreamCall(
        VendorRequest(route: "sendByDeviceID", path: "/msgClient/msgClientSendMsgByDeviceId"),
        targets: [3, 1],
        names: ["d0", "d1"]
    )

    private static func result(_ body: String, status: Int = 200) -> UpstreamResult {
        Mount.adapter.outcome(of: call, response: VendorResponse(status: status, body: Array(body.utf8)))
    }

    private static func refused(_ scope: Rejection.Scope, _ code: Int, status: Int = 200) -> Outcome {
        .rejected(Rejection(scope: scope, reason: "rc \(code)", status: status))
    }

    @Test func anAcceptedSendHasTheVendorsName() throws {
        let body = String(decoding: try Fixture.bytes("sendByDeviceID/accepted.response.json"), as: UTF8.self)
        let name = "7a1d5a3f-2f0b-4f0e-8f60-0f2a0b8d9e22"
        let accepted = Outcome.accepted(TransportMessageID(""))
        #expect(Self.result(body) == UpstreamResult([accepted, accepted], reference: name))
        #expect(Self.result(#"{"rc":1,"mId":"m1"}"#) == UpstreamResult([accepted, accepted], reference: "m1"))
        #expect(Self.result(#"{"rc":1}"#) == UpstreamResult([accepted, accepted]))
    }

    @Test func anUnknownSenderStopsTheCredential() throws {
        let body = String(decoding: try Fixture.bytes("sendByPhoneNumber/unknown-sender.response.json"), as: UTF8.self)
        let refused = Self.refused(.credential, -101)
        #expect(Self.result(body) == UpstreamResult([refused, refused]))
    }

    @Test(
        arguments: [
            (#"{"rc":-201,"cmt":"x"}"#, refused(.credential, -201)),
            (#"{"rc":-203,"cmt":"x"}"#, refused(.credential, -203)),
            // The next path may be tried, and the stored token stays.
            (#"{"rc":-231,"cmt":"x"}"#, refused(.tokenDead(since: Timestamp(milliseconds: 0)), -231)),
            (#"{"rc":-251,"cmt":"x"}"#, refused(.content, -251)),
            (#"{"rc":-1,"cmt":"dest.tg"}"#, refused(.content, -1)),
            (#"{"rc":"-1","cmt":"dest.tg"}"#, refused(.content, -1)),
        ] as [(String, Outcome)]
    )
    func aCodeHasItsOutcome(_ body: String, _ outcome: Outcome) {
        #expect(Self.result(body) == UpstreamResult([outcome, outcome]))
    }

    // It may have been sent, so that it is never sent again.
    @Test(arguments: [
        #"{"rc":-1}"#, #"{"rc":-1,"cmt":""}"#, #"{"rc":-1,"mId":"m1"}"#, #"{"rc":-301,"cmt":"x"}"#, #"{"rc":7}"#,
        #"{"rc":null}"#, #"{"rc":1.5}"#, #"{"rc":9223372036854775808}"#, "{}", "[]", "", "<html>", #"{"mId":""}"#,
        #"{"mId":["m1"]}"#, #"{"mId":"a b"}"#,
    ])
    func anAnswerThatSaysNothingIsUnclear(_ body: String) {
        let result = Self.result(body)
        #expect(result.reference == nil)
        for outcome in result.outcomes {
            guard case .indeterminate(let error) = outcome, error.code == .unclearAnswer else {
                Issue.record("\(outcome) for \(body)")
                continue
            }
        }
        #expect(result.outcomes.count == 2)
    }

    @Test func theStatusDecidesBeforeTheBody() {
        let accepted = #"{"mId":"m1"}"#
        func first(_ status: Int) -> Outcome? { Self.result(accepted, status: status).outcomes.first }
        #expect(first(401) == .rejected(Rejection(scope: .credential, reason: "HTTP 401", status: 401)))
        #expect(first(413) == .rejected(Rejection(scope: .content, reason: "HTTP 413", status: 413)))
        #expect(first(429) == .deferred(Rejection(scope: .service, reason: "HTTP 429", status: 429), after: nil))
        for status in [201, 302, 500, 502, 503] { #expect(first(status) == .unclear) }
    }

    /// Bounded by `GATEWAY_FUZZ_COUNT`; the seed is in the failure.
    @Test func mutatedAnswersAreOutcomes() throws {
        let answers = try [
            "sendByDeviceID/accepted.response.json", "sendByPhoneNumber/unknown-sender.response.json",
            "clientRegister/new.response.json",
        ].map { try Fixture.bytes($0) }
        #expect(UpstreamContract.mutationFault(Mount.adapter, to: Self.call, answers: answers) == nil)
    }
}
