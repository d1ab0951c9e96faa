import Model
import TestKit
import Testing

@testable import Braze

/// Mutated answers of the vendor, to every documented call. The answers are those of docs/contracts/braze.md.
struct HostileAnswerTests {
    /// Twice `GATEWAY_FUZZ_COUNT`; the seed is in the failure.
    @Test func mutatedAnswersAreReadSafely() throws {
        let documented = try [
            "access/key", "access/throttled", "messages/campaign", "messages/unreadable", "sdk/start", "sdk/expired",
            "users/delete", "users/track",
        ].map { try OldBraze.response("\($0).response.txt") }
        let others = [
            #"{"dispatch_id":"4f9c2b7e1d2a4c6f8b0e3a5d7c9f1b2d","schedule_id":"s-3","message":"success"}"#,
            #"{"message":"success","errors":[{"type":"x","input_array":"attributes","index":0}]}"#,
        ]
        let subject = try ConformanceTests.subject()
        let hostile = HostileAnswers(
            Mount.adapter,
            settings: subject.settings,
            calls: subject.documented,
            answers: documented + others.map { VendorResponse(status: 201, body: Array($0.utf8)) }
        )
        #expect(hostile.fault() == nil)
    }
}
