import Model
import TestKit
import Testing

@testable import NotificationHubs

/// Mutated answers of the vendor, to every documented call. The answers are those of docs/contracts/notificationhubs.md.
struct HostileAnswerTests {
    /// Twice `GATEWAY_FUZZ_COUNT`; the seed is in the failure.
    @Test func mutatedAnswersAreReadSafely() throws {
        let documented = try [
            "access/signature", "access/throttled", "installations/get", "installations/put", "messages/schedule",
            "messages/send", "messages/tags", "registrations/gone", "registrations/list", "registrations/newid",
            "registrations/put",
        ].map { try OldHub.response("\($0).response.txt") }
        let subject = try ConformanceTests.subject()
        let hostile = HostileAnswers(
            Mount.adapter,
            settings: subject.settings,
            calls: subject.documented,
            answers: documented
        )
        #expect(hostile.fault() == nil)
    }
}
