import Model
import TestKit
import Testing

@testable import UPMC

/// Mutated answers of the vendor, to every documented call. The answers are those of docs/contracts/upmc.md.
struct HostileAnswerTests {
    /// Twice `GATEWAY_FUZZ_COUNT`; the seed is in the failure.
    @Test func mutatedAnswersAreReadSafely() throws {
        let documented = try [
            "asking_authorization/issued", "new_rcv_register_service_and_user/registered",
            "rcv_get_service/registered", "rcv_register_message/accepted", "rcv_register_message/nobody",
            "rcv_register_message/reserved", "rcv_register_send_result/read", "rcv_register_sent_ack/ok",
        ].map { try Fixture.text("\($0).response.json") }
        // A refused key, a created group, and the answer of a call of marketing.
        let others = [
            #"{"HEADER":{"RESULT_CODE":"40100","RESULT_BODY":"x","SERVICE":"x"},"BODY":[{}]}"#,
            #"{"HEADER":{"RESULT_CODE":"0000"},"BODY":[{"GROUPSEQ":"31","GROUPNAME":"vip"}]}"#,
            #"{"code":"0000","message":"SUCCESS"}"#,
        ]
        let hostile = HostileAnswers(
            Mount.adapter,
            settings: Mount.settings(),
            calls: try ConformanceTests.documented(),
            answers: (documented + others).map { VendorResponse(status: 200, body: Array($0.utf8)) }
        )
        #expect(hostile.fault() == nil)
    }
}
