import Commands
import Model
import Testing

/// Back ends that register before they send.
struct SenderTests {
    // docs/contracts/rationalowl.md#8.1: the form that clients have seen.
    @Test func aSendersIDHasTheVendorsFormAndStays() async throws {
        let world = try await CommandWorld.make()
        let first = await world.sender(.register(name: "shop"))
        let again = await world.sender(.register(name: "shop"))
        guard case .sender(.registered(let id))? = first else {
            Issue.record("\(String(describing: first))")
            return
        }
        #expect(again == first)
        #expect(id.rawValue.hasPrefix("SVR"))
        #expect(MessageID(text: String(id.rawValue.dropFirst(3))) != nil)
    }

    @Test func enrollingTwiceGivesTheFirstKey() async throws {
        let world = try await CommandWorld.make()
        guard case .sender(.registered(let id))? = await world.sender(.register(name: "shop")) else {
            Issue.record("no sender")
            return
        }
        let first = await world.sender(.enrol(id, name: "n", address: "203.0.113.10"))
        guard case .sender(.enrolled(let key, isNew: true))? = first else {
            Issue.record("\(String(describing: first))")
            return
        }
        let again = await world.sender(.enrol(id, name: nil, address: nil))
        #expect(again == .sender(.enrolled(key: key, isNew: false)))
        let unknown = await world.sender(.enrol("SVRx", name: nil, address: nil))
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
        #expect(await world.sender(.setCallback(id, url: url)) == .refused(.invalid("url")))
    }

    @Test(arguments: ["https://a.example/cb?x=1", "http://a.example:8080", "HTTPS://[2001:db8::1]:443/x", nil])
    func aPlainCallbackIsSetOrRemoved(_ url: String?) async throws {
        let world = try await CommandWorld.make()
        let id = await world.sender()
        #expect(await world.sender(.setCallback(id, url: url)) == .sender(.callbackSet))
        #expect(await world.sender(.setCallback("SVRx", url: url)) == .refused(.unknownSender))
    }
}
