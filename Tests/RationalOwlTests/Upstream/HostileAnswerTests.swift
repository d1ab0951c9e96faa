import Model
import RationalOwl
import TestKit
import Testing

/// Mutated answers of the vendor, to every documented call. The answers are those of docs/contracts/rationalowl.md.
struct HostileAnswerTests {
    /// Twice `GATEWAY_FUZZ_COUNT`; the seed is in the failure.
    @Test func mutatedAnswersAreReadSafely() throws {
        let documented = try [
            "clientRegister/new.response.json", "clientRegister/already.response.json",
            "deviceRegister/new.response.json", "installApp/first-time.response.json",
            "installApp/unknown-account.response.json", "msgInfo/fallback-ios.response.json",
            "notiRead/ok.response.txt", "sendByDeviceID/accepted.response.json",
            "sendByPhoneNumber/unknown-sender.response.json", "serverRegister/registered.response.json",
            "unregUser/device.response.json", "callback/device.json",
        ].map { try Fixture.bytes($0) }
        let subject = try ConformanceTests.subject()
        let hostile = HostileAnswers(
            Mount.adapter,
            settings: subject.settings,
            calls: subject.documented,
            answers: documented.map { VendorResponse(status: 200, body: $0) }
        )
        #expect(hostile.fault() == nil)
    }
}
