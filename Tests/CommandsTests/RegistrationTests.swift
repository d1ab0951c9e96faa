import DatabaseSupport
import Model
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

    // protocols/rationalowl.md §8.1: the form that clients have seen.
    @Test func aSendersIDHasTheVendorsFormAndStays() async throws {
        let world = try await CommandWorld.make()
        let first = await world.registration(.registerSender(name: "shop"))
        let again = await world.registration(.registerSender(name: "shop"))
        guard case .registration(.sender(let id))? = first else {
            Issue.record("\(String(describing: first))")
            return
        }
        #expect(again == first)
        #expect(id.rawValue.hasPrefix("SVR"))
        #expect(MessageID(text: String(id.rawValue.dropFirst(3))) != nil)
    }

    @Test func enrollingTwiceGivesTheFirstKey() async throws {
        let world = try await CommandWorld.make()
        guard case .registration(.sender(let id))? = await world.registration(.registerSender(name: "shop")) else {
            Issue.record("no sender")
            return
        }
        let first = await world.registration(.enrolSender(id, name: "n", address: "203.0.113.10"))
        guard case .registration(.enrolled(let key, isNew: true))? = first else {
            Issue.record("\(String(describing: first))")
            return
        }
        let again = await world.registration(.enrolSender(id, name: nil, address: nil))
        #expect(again == .registration(.enrolled(key: key, isNew: false)))
        let unknown = await world.registration(.enrolSender("SVRx", name: nil, address: nil))
        #expect(unknown == .refused(.unknownSender))
    }

    @Test(arguments: [
        "ftp://a.example/", "https://", "https:///x", "https://user:pw@a.example/", "https://a.example:0/",
        "https://a.example:x/", "https://a.example/\u{7F}", "https://a b/", "a.example", "https://[::1/",
        "https://a.example\\@b.example/", "https://a.example/" + String(repeating: "x", count: 2048),
    ])
    func aCallbackThatIsNoPlainURLIsRefused(_ url: String) async throws {
        let world = try await CommandWorld.make()
        let id = await world.sender()
        #expect(await world.registration(.setCallback(id, url: url)) == .refused(.invalid("url")))
    }

    @Test(arguments: ["https://a.example/cb?x=1", "http://a.example:8080", "HTTPS://[2001:db8::1]:443/x", nil])
    func aPlainCallbackIsSetOrRemoved(_ url: String?) async throws {
        let world = try await CommandWorld.make()
        let id = await world.sender()
        #expect(await world.registration(.setCallback(id, url: url)) == .registration(.callbackSet))
        #expect(await world.registration(.setCallback("SVRx", url: url)) == .refused(.unknownSender))
    }
}
