import Foundation
import Model
import Testing

@testable import Gateway

/// The reach of a vendor's sends: from the observed call and its answer to the figure. The answers are those of the documents in docs/contracts.
@Suite(.timeLimit(.minutes(5))) struct AudienceReachTests {
    private static func upmc(_ form: String, _ count: Int) -> MeterStage.Call {
        let sent = "&MESSAGE=Notice&PRIORITY=3&SERVICECODE=ALL&SENDERCODE=admin&APP_ID=com.example.app"
        return MeterStage.Call(
            path: "/upmc/rcv_register_message.ctl",
            body: Array((form + sent).utf8),
            type: "application/x-www-form-urlencoded",
            answer: [
                "HEADER": ["RESULT_CODE": "0000", "RESULT_BODY": "OK", "SERVICE": "rcv_register_message"],
                "BODY": ["SENDMSG_SEQNO": "1151", "REG_SUCCESS_CNT": .string("\(count)"), "REG_FAIL_CNT": "0"],
            ]
        )
    }

    // The vendor's own count is that of its devices: those that the gateway does not know are missing here.
    @Test(arguments: [(5, 3, 2), (3, 3, 0), (2, 3, 0)])
    func aSendToEveryoneIsComparedWithTheVendorsCount(_ counted: Int, _ known: Int, _ missing: Int) async throws {
        let stage = try await MeterStage.make(.upmc, ["applicationId": "com.example.app", "version": "5.1"])
        try await stage.register(known)
        try await stage.observe([Self.upmc("TYPE=A", counted)])
        let expected = ParityFigure(.reach, samples: counted, differences: missing)
        #expect(try await stage.figure(.reach) == expected)
    }

    // Members of the vendor's groups are not known here, and neither is their number.
    @Test func aSendToAGroupHasNoReach() async throws {
        let stage = try await MeterStage.make(.upmc, ["applicationId": "com.example.app", "version": "5.1"])
        try await stage.observe([Self.upmc("TYPE=G&GROUPSEQ=12", 5)])
        #expect(try await stage.figure(.reach) == nil)
        #expect(try await stage.figure(.observed) == ParityFigure(.observed, samples: 1, differences: 0))
    }

    // iPNS has no send to everyone: each names its targets, and the answer those that the vendor does not know.
    @Test(arguments: [0, 1])
    func theTargetsThatTheVendorDoesNotKnowAreNotMissing(_ withoutToken: Int) async throws {
        let stage = try await MeterStage.make(.ipns, ["appId": "hr.mobile"])
        try await stage.register(1, withoutToken: withoutToken)
        let body: JSON = [
            "APP_ID": "hr.mobile", "PUSH_ID_TYPE": "@00", "PUSH_ID": ["d0", "E77777"], "SEND_TYPE": "I",
            "TITLE": "Approval", "ALERT": "You have a new approval", "MESSAGE": "{}",
        ]
        let call = MeterStage.Call(
            path: "/ipns/send",
            body: JSONWriter.bytes(body),
            answer: [
                "RT": "0000", "RT_MSG": "SUCCESS", "MESSAGE_ID": "202001150900001234", "ACCEPTED": 1,
                "NOT_FOUND": ["E77777"],
            ]
        )
        try await stage.observe([call])
        let expected = ParityFigure(.reach, samples: 1, differences: withoutToken)
        #expect(try await stage.figure(.reach) == expected)
    }
}
