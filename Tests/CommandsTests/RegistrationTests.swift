import Model
import Testing

@Suite struct RegistrationTests {
    // Design §4: a reply carries what the vendor's answer needs.
    @Test func aRegistrationWithoutKeyGetsOneOf32HexDigits() async {
        let desk = Desk()
        let reply = await desk.registration(.register(DeviceRegistration(key: nil, platform: .ios)))
        guard case .registration(.registered(let registered))? = reply else {
            Issue.record("\(String(describing: reply))")
            return
        }
        #expect(registered.key.rawValue.count == 32)
        #expect(registered.key.rawValue.allSatisfy { $0.isHexDigit && !$0.isUppercase })
        #expect(!registered.wasActive)
    }

    @Test(arguments: ["", String(repeating: "k", count: 129), "a\u{0}b"])
    func aKeyThatCannotBeAnIndexEntryIsRefused(_ key: String) async {
        let registration = DeviceRegistration(key: VendorDeviceKey(key), platform: .ios)
        #expect(await Desk().registration(.register(registration)) == .refused(.invalid("key")))
    }

    // PostgreSQL's text holds no U+0000: it must be the caller's fault, not our trouble (I5).
    @Test func aNullCharacterInAnAttributeIsRefused() async {
        let attributes = JSONObject([("model", .array([.string("i\u{0}")]))])
        let registration = DeviceRegistration(key: "k", platform: .ios, attributes: attributes)
        #expect(await Desk().registration(.register(registration)) == .refused(.invalid("attributes")))
    }

    @Test func aTokenForAnUnknownDeviceIsRefused() async {
        let token = DeviceToken(stored: "aa")
        let reply = await Desk().registration(.updateToken(key: "k", token: token, environment: nil))
        #expect(reply == .refused(.unknownDevice))
    }

    // protocols/rationalowl.md §5.2: leaving is idempotent, an error would trap the user.
    @Test func leavingTwiceIsNoError() async {
        let desk = Desk()
        await desk.device("k")
        #expect(await desk.registration(.unregister(.key("k"))) == .registration(.unregistered(1)))
        #expect(await desk.registration(.unregister(.key("k"))) == .registration(.unregistered(0)))
        #expect(await desk.registration(.unregister(.phone(""))) == .registration(.unregistered(0)))
    }

    // protocols/rationalowl.md §8.1: the form that clients have seen.
    @Test func aSendersIDHasTheVendorsFormAndStays() async {
        let desk = Desk()
        let first = await desk.registration(.registerSender(name: "shop"))
        let again = await desk.registration(.registerSender(name: "shop"))
        guard case .registration(.sender(let id))? = first else {
            Issue.record("\(String(describing: first))")
            return
        }
        #expect(again == first)
        #expect(id.rawValue.hasPrefix("SVR"))
        #expect(MessageID(text: String(id.rawValue.dropFirst(3))) != nil)
    }

    @Test func enrollingTwiceGivesTheFirstKey() async {
        let desk = Desk()
        guard case .registration(.sender(let id))? = await desk.registration(.registerSender(name: "shop")) else {
            Issue.record("no sender")
            return
        }
        let first = await desk.registration(.enrolSender(id, name: "n", address: "203.0.113.10"))
        guard case .registration(.enrolled(let key, isNew: true))? = first else {
            Issue.record("\(String(describing: first))")
            return
        }
        let again = await desk.registration(.enrolSender(id, name: nil, address: nil))
        #expect(again == .registration(.enrolled(key: key, isNew: false)))
        let unknown = await desk.registration(.enrolSender("SVRx", name: nil, address: nil))
        #expect(unknown == .refused(.unknownSender))
    }

    @Test(arguments: [
        "ftp://a.example/", "https://", "https:///x", "https://user:pw@a.example/", "https://a.example:0/",
        "https://a.example:x/", "https://a.example/\u{7F}", "https://a b/", "a.example", "https://[::1/",
        "https://a.example\\@b.example/", "https://a.example/" + String(repeating: "x", count: 2048),
    ])
    func aCallbackThatIsNoPlainURLIsRefused(_ url: String) async {
        let desk = Desk()
        let id = await desk.sender()
        #expect(await desk.registration(.setCallback(id, url: url)) == .refused(.invalid("url")))
    }

    @Test(arguments: ["https://a.example/cb?x=1", "http://a.example:8080", "HTTPS://[2001:db8::1]:443/x", nil])
    func aPlainCallbackIsSetOrRemoved(_ url: String?) async {
        let desk = Desk()
        let id = await desk.sender()
        #expect(await desk.registration(.setCallback(id, url: url)) == .registration(.callbackSet))
        #expect(await desk.registration(.setCallback("SVRx", url: url)) == .refused(.unknownSender))
    }
}
