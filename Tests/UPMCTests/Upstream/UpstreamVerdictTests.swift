import HTTPTypes
import Model
import TestKit
import Testing

@testable import UPMC

/// The outcomes of a send through the vendor's own service. The answers are those of docs/contracts/upmc.md#1.9.1, and of its table of codes (#1.5).
struct UpstreamVerdictTests {
    private static let call = UpstreamCall(
        VendorRequest(route: "rcv_register_message", path: "/upmc/rcv_register_message.ctl"),
        targets: [0, 4, 1, 2],
        names: ["hong", "hong", "kim", "nobody"]
    )

    private static let accepted = Outcome.accepted(TransportMessageID(""))

    private static func unknown(_ reason: String) -> Outcome {
        .rejected(Rejection(scope: .tokenDead(since: Timestamp(milliseconds: 0)), reason: reason, status: 200))
    }

    private static func result(_ body: String, status: Int = 200) -> UpstreamResult {
        Mount.adapter.outcome(of: call, response: VendorResponse(status: status, body: Array(body.utf8)))
    }

    private static func answer(_ code: String, _ body: String = "{}") -> String {
        "{\"HEADER\":{\"RESULT_CODE\":\(code),\"RESULT_BODY\":\"x\"},\"BODY\":\(body)}"
    }

    @Test func usersWithoutADeviceAreUnknown() throws {
        let result = Self.result(try Fixture.text("rcv_register_message/accepted.response.json"))
        let outcomes = [Self.accepted, Self.accepted, Self.accepted, Self.unknown("NOTEXISTCUIDS")]
        #expect(result == UpstreamResult(outcomes, reference: "1151"))
    }

    @Test func withoutASubscribedTargetAllAreUnknown() throws {
        let result = Self.result(try Fixture.text("rcv_register_message/nobody.response.json"))
        #expect(result == UpstreamResult(.init(repeating: Self.unknown("4400"), count: 4)))
    }

    // A number for a code, a list for a body, a number for a reference: all occur.
    @Test func lenientFormsAreRead() {
        let body = #"[{"SENDMSG_SEQNO":7,"REG_SUCCESS_CNT":"4"}]"#
        #expect(Self.result(Self.answer("\"0000\"", body), status: 201).reference == "7")
        #expect(Self.result(Self.answer("4400")).outcomes.first == Self.unknown("4400"))
    }

    // The vendor has the message and may send it, unless it knows none of the users.
    @Test func aMessageThatCountsNobodyIsUnclear() {
        func result(_ body: String) -> UpstreamResult { Self.result(Self.answer("\"0000\"", body)) }
        let unknown = UpstreamResult(.init(repeating: Self.unknown("REG_SUCCESS_CNT 0"), count: 4))
        let unclear = UpstreamResult(.init(repeating: .unclear, count: 4), reference: "7")
        #expect(result(#"{"SENDMSG_SEQNO":"7","REG_SUCCESS_CNT":"0"}"#) == unclear)
        #expect(result(#"{"SENDMSG_SEQNO":7,"REG_SUCCESS_CNT":0,"NOTEXISTCUIDS":["hong","nobody"]}"#) == unclear)
        #expect(result(#"{"SENDMSG_SEQNO":7,"REG_SUCCESS_CNT":0,"NOTEXISTCUIDS":["hong","kim","nobody"]}"#) == unknown)
        for body in [#"{"REG_SUCCESS_CNT":0}"#, #"{"SENDMSG_SEQNO":"","REG_SUCCESS_CNT":"0"}"#] {
            #expect(result(body) == unknown, "\(body)")
        }
    }

    @Test(
        arguments: [
            ("40100", .credential), ("40300", .credential), ("4444", .credential), ("-500", .credential),
            ("40000", .content), ("5500", .content), ("5600", .content),
        ] as [(String, Rejection.Scope)]
    )
    func aCodeHasItsScope(_ code: String, _ scope: Rejection.Scope) {
        let outcome = Outcome.rejected(Rejection(scope: scope, reason: code, status: 200))
        #expect(Self.result(Self.answer("\"\(code)\"")).outcomes == .init(repeating: outcome, count: 4))
    }

    @Test func aPausedServiceIsTriedLater() {
        let outcome = Outcome.deferred(Rejection(scope: .service, reason: "4500", status: 200), after: nil)
        #expect(Self.result(Self.answer("\"4500\"")).outcomes == .init(repeating: outcome, count: 4))
    }

    // It may have been sent, so that it is never sent again.
    @Test(arguments: [
        answer("\"500\""), answer("\"50300\""), answer("\"7\""), answer("null"), answer("0"), answer("{}"), "{}", "",
        "<html>", "[]", #"{"HEADER":"0000"}"#, #"{"HEADER":[]}"#,
    ])
    func anAnswerThatSaysNothingIsUnclear(_ body: String) {
        #expect(Self.result(body) == UpstreamResult(.init(repeating: .unclear, count: 4)))
    }

    @Test func theStatusDecidesBeforeTheBody() throws {
        let body = try Fixture.text("rcv_register_message/accepted.response.json")
        func first(_ status: Int) -> Outcome? { Self.result(body, status: status).outcomes.first }
        #expect(first(403) == .rejected(Rejection(scope: .credential, reason: "HTTP 403", status: 403)))
        #expect(first(429) == .deferred(Rejection(scope: .service, reason: "HTTP 429", status: 429), after: nil))
        for status in [204, 302, 500, 503] { #expect(first(status) == .unclear) }
    }

    /// Bounded by `GATEWAY_FUZZ_COUNT`; the seed is in the failure.
    @Test func mutatedAnswersAreOutcomes() throws {
        let answers = try ["accepted", "nobody", "reserved"].map {
            Array(try Fixture.text("rcv_register_message/\($0).response.json").utf8)
        }
        #expect(UpstreamContract.mutationFault(Mount.adapter, to: Self.call, answers: answers) == nil)
        var unnamed = Self.call
        unnamed.names = []
        #expect(UpstreamContract.mutationFault(Mount.adapter, to: unnamed, answers: answers) == nil)
    }
}
