import IPNS
import Model
import TestKit
import Testing

/// Mutated answers of the vendor, to every documented call. The answers are those of docs/contracts/ipns.md.
struct HostileAnswerTests {
    /// Twice `GATEWAY_FUZZ_COUNT`; the seed is in the failure.
    @Test func mutatedAnswersAreReadSafely() throws {
        let answers = [
            #"{"RT":"0000","RT_MSG":"SUCCESS","rtCode":"0000","error":"","DEVICE_ID":"5B1C","PUSH_YN":"Y"}"#,
            #"{"RT":"0000","RT_MSG":"SUCCESS","PUSH_YN":"Y","START_TIME":"0900","END_TIME":"1800","CP_USER_ID":"E1"}"#,
            #"{"RT":"0000","RT_MSG":"SUCCESS","REMAIN":3,"LIST":[{"REQ_ID":"7","TITLE":"t"},{"REQ_ID":"8"}]}"#,
            #"{"RT":"0000","RT_MSG":"SUCCESS","MESSAGE_ID":"202001150900001234","ACCEPTED":1,"NOT_FOUND":["kim"]}"#,
            #"{"RT":"2003","RT_MSG":"NOT REGISTERED","rtCode":"2003","error":"NOT REGISTERED"}"#,
            #"{"RT":"9999","RT_MSG":"FAIL"}"#,
        ]
        let hostile = HostileAnswers(
            Mount.adapter,
            settings: Mount.settings,
            calls: try ConformanceTests.documented(),
            answers: answers.map { VendorResponse(status: 200, body: Array($0.utf8)) }
        )
        #expect(hostile.fault() == nil)
    }
}
