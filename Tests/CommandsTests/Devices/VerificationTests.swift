import DatabaseSupport
import Model
import TestKit
import Testing

// docs/contracts/rationalowl.md#5.3: without an SMS provider only an app's fixed test codes work.
@Suite struct VerificationTests {
    private func prepared() async throws -> CommandWorld {
        var world = try await CommandWorld.make()
        world.settings["auth.testCodes"] = ["01022221111": "1111"]
        return world
    }

    @Test func aPhoneWithoutTestCodeIsUnsupported() async throws {
        let reply = try await prepared().registration(.requestVerification(phone: "01099999999", countryCode: nil))
        #expect(reply == .refused(.unsupported("sms")))
    }

    @Test func theTestCodeVerifiesOnce() async throws {
        let world = try await prepared()
        let sent = await world.registration(.requestVerification(phone: "01022221111", countryCode: "82"))
        #expect(sent == .registration(.verificationSent))
        for (code, isRight) in [("2222", false), ("1111", true), ("1111", false)] {
            let reply = await world.registration(.verify(phone: "01022221111", code: code, platform: .ios))
            #expect(reply == .registration(.verified(isRight, platform: .ios)))
        }
    }

    @Test func aSecondCodeWithinThirtySecondsIsTooSoon() async throws {
        let world = try await prepared()
        _ = await world.registration(.requestVerification(phone: "01022221111", countryCode: nil))
        let soon = await world.registration(.requestVerification(phone: "01022221111", countryCode: nil))
        #expect(soon == .refused(.rateLimited(retryAfter: .seconds(30))))
        world.clock.advance(by: .seconds(30))
        let later = await world.registration(.requestVerification(phone: "01022221111", countryCode: nil))
        #expect(later == .registration(.verificationSent))
    }

    @Test func aCodeIsInvalidAfterThreeMinutesAndAfterFiveTries() async throws {
        let world = try await prepared()
        _ = await world.registration(.requestVerification(phone: "01022221111", countryCode: nil))
        world.clock.advance(by: .seconds(181))
        let late = await world.registration(.verify(phone: "01022221111", code: "1111", platform: nil))
        #expect(late == .registration(.verified(false, platform: nil)))
        _ = await world.registration(.requestVerification(phone: "01022221111", countryCode: nil))
        for _ in 0..<5 { _ = await world.registration(.verify(phone: "01022221111", code: "9", platform: nil)) }
        let sixth = await world.registration(.verify(phone: "01022221111", code: "1111", platform: nil))
        #expect(sixth == .registration(.verified(false, platform: nil)))
    }
}
