import Model
import TestKit
import Testing

// protocols/rationalowl.md §5.3: without an SMS provider only an app's fixed test codes work.
@Suite struct VerificationTests {
    private func desk() -> Desk {
        var desk = Desk()
        desk.settings["auth.testCodes"] = ["01022221111": "1111"]
        return desk
    }

    @Test func aPhoneWithoutTestCodeIsUnsupported() async {
        let reply = await desk().registration(.requestVerification(phone: "01099999999", countryCode: nil))
        #expect(reply == .refused(.unsupported("sms")))
    }

    @Test func theTestCodeVerifiesOnce() async {
        let desk = desk()
        let sent = await desk.registration(.requestVerification(phone: "01022221111", countryCode: "82"))
        #expect(sent == .registration(.verificationSent))
        for (code, isRight) in [("2222", false), ("1111", true), ("1111", false)] {
            let reply = await desk.registration(.verify(phone: "01022221111", code: code, platform: .ios))
            #expect(reply == .registration(.verified(isRight, platform: .ios)))
        }
    }

    @Test func aSecondCodeWithinThirtySecondsIsTooSoon() async {
        let desk = desk()
        _ = await desk.registration(.requestVerification(phone: "01022221111", countryCode: nil))
        let soon = await desk.registration(.requestVerification(phone: "01022221111", countryCode: nil))
        #expect(soon == .refused(.rateLimited(retryAfter: .seconds(30))))
        desk.clock.advance(by: .seconds(30))
        let later = await desk.registration(.requestVerification(phone: "01022221111", countryCode: nil))
        #expect(later == .registration(.verificationSent))
    }

    @Test func aCodeIsWorthlessAfterThreeMinutesAndAfterFiveTries() async {
        let desk = desk()
        _ = await desk.registration(.requestVerification(phone: "01022221111", countryCode: nil))
        desk.clock.advance(by: .seconds(180))
        let late = await desk.registration(.verify(phone: "01022221111", code: "1111", platform: nil))
        #expect(late == .registration(.verified(false, platform: nil)))
        _ = await desk.registration(.requestVerification(phone: "01022221111", countryCode: nil))
        for _ in 0..<5 { _ = await desk.registration(.verify(phone: "01022221111", code: "9", platform: nil)) }
        let sixth = await desk.registration(.verify(phone: "01022221111", code: "1111", platform: nil))
        #expect(sixth == .registration(.verified(false, platform: nil)))
    }
}
