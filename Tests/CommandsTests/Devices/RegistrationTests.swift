import DatabaseSupport
import Model
import Postgres
import Testing

@Suite struct RegistrationTests {
    // Design §4: a reply carries what the vendor's answer needs.
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

    // PostgreSQL's text holds no U+0000: it must be the caller's fault, not our trouble (I5).
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

    // protocols/rationalowl.md §5.2: leaving is idempotent, an error would trap the user.
    @Test func leavingTwiceIsNoError() async throws {
        let world = try await CommandWorld.make()
        await world.device("k")
        #expect(await world.registration(.unregister(.key("k"))) == .registration(.unregistered(1)))
        #expect(await world.registration(.unregister(.key("k"))) == .registration(.unregistered(0)))
        #expect(await world.registration(.unregister(.phone(""))) == .registration(.unregistered(0)))
    }
}
