import DatabaseSupport
import Model
import Testing

@Suite struct RegistrationTests {
    // A reply contains everything that the vendor's answer needs.
    @Test func aRegistrationWithoutKeyGetsOneOf32HexDigits() async throws {
        let world = try await CommandWorld.make()
        let reply = await world.registration(.register(DeviceRegistration(key: nil, platform: .ios)))
        guard case .registration(.registered(let registered))? = reply else {
            Issue.record("\(String(describing: reply))")
            return
        }
        #expect(registered.key.rawValue.count == 32)
        #expect(registered.key.rawValue.allSatisfy { $0.isHexDigit && !$0.isUppercase })
        #expect(!registered.wasActive)
    }

    @Test(arguments: ["", String(repeating: "k", count: 129), "a\u{0}b"])
    func aKeyThatCannotBeAnIndexEntryIsRefused(_ key: String) async throws {
        let registration = DeviceRegistration(key: VendorDeviceKey(key), platform: .ios)
        #expect(try await CommandWorld.make().registration(.register(registration)) == .refused(.invalid("key")))
    }

    // PostgreSQL cannot store U+0000 in text: it must be an error of the caller, not a failure of the gateway (I5).
    @Test func aNullCharacterInAnAttributeIsRefused() async throws {
        let attributes = JSONObject([("model", .array([.string("i\u{0}")]))])
        let registration = DeviceRegistration(key: "k", platform: .ios, attributes: attributes)
        #expect(try await CommandWorld.make().registration(.register(registration)) == .refused(.invalid("attributes")))
    }

    @Test func aTokenForAnUnknownDeviceIsRefused() async throws {
        let token = DeviceToken(stored: "aa")
        let reply = try await CommandWorld.make().registration(.updateToken(key: "k", token: token, environment: nil))
        #expect(reply == .refused(.unknownDevice))
    }

    // docs/contracts/rationalowl.md#5.2: unregistering is idempotent, because a user could not recover from an error.
    @Test func unregisteringTwiceIsNotAnError() async throws {
        let world = try await CommandWorld.make()
        await world.device("k")
        #expect(await world.registration(.unregister(.key("k"))) == .registration(.unregistered(1)))
        #expect(await world.registration(.unregister(.key("k"))) == .registration(.unregistered(0)))
        #expect(await world.registration(.unregister(.phone(""))) == .registration(.unregistered(0)))
    }
}
