import HTTPTypes
import Model
import Testing

@testable import NotificationHubs

/// The limits of a key that every app contains (docs/contracts/notificationhubs.md#3.2): it registers a device, but does not choose whose pushes the
/// device receives.
struct ListenKeyTests {
    private static let id = InstallationTests.id
    private static let path = InstallationTests.path
    private static let listener = Signer(name: "DefaultListenSharedAccessSignature", key: Mount.listenKey).header
    private static let foreign = String(repeating: "ab", count: 32)

    private static let open: BindingSettings = {
        var settings = Mount.settings
        settings.values["listenMayTag"] = true
        return settings
    }()

    private func installation(_ more: String = "", token: String = Fixture.token) -> String {
        #"{"platform":"apns","pushChannel":"\#(token)"\#(more)}"#
    }

    private func put(_ body: String, as authorization: String = listener) -> VendorRequest {
        Mount.request(.put, Self.path, body, authorization: authorization)
    }

    private func patch(_ body: String, as authorization: String = listener) -> VendorRequest {
        Mount.request(.patch, Self.path, body, authorization: authorization)
    }

    private func isRefused(_ answer: VendorResponse) -> Bool {
        answer.status == 401 && answer.detail == "Manage claim is required for this operation."
    }

    private static let addresses = [
        #","userId":"u-1""#, #","tags":["vip"]"#, #","templates":{"vip":{"body":"{}"}}"#,
        #","templates":{"a b":{"body":"{}","tags":["vip"]}}"#,
    ]

    @Test(arguments: addresses) func itDoesNotClaimAUserOrATag(_ address: String) {
        let store = StoredRegistrations()
        #expect(isRefused(store.answer(put(installation(address)))))
        #expect(store.registered.isEmpty)
        store.settings = Self.open
        #expect(store.answer(put(installation(address))).status == 200)
        let managed = StoredRegistrations()
        #expect(managed.answer(put(installation(address), as: Signer().header)).status == 200)
    }

    @Test(arguments: [
        #"{"op":"replace","path":"/userId","value":"u-2"}"#, #"{"op":"add","path":"/tags","value":"vip"}"#,
        #"{"op":"remove","path":"/tags/seoul"}"#, #"{"op":"remove","path":"/userId"}"#,
        #"{"op":"add","path":"/templates/vip","value":"{\"body\":\"{}\"}"}"#,
        #"{"op":"replace","path":"/pushChannel","value":"\#(foreign)"}"#,
    ]) func itDoesNotChangeTheAddressOfAnInstallation(_ change: String) throws {
        let store = StoredRegistrations()
        let full = installation(#","userId":"u-1","tags":["seoul"]"#)
        #expect(store.answer(put(full, as: Signer().header)).status == 200)
        let stored = try #require(store.standings[VendorDeviceKey(Self.id)])
        #expect(isRefused(store.answer(patch("[\(change)]"))))
        #expect(store.standings[VendorDeviceKey(Self.id)] == stored)
        store.settings = Self.open
        #expect(store.answer(patch("[\(change)]")).status == 200)
    }

    @Test func itRegistersADeviceAndKeepsTheAddressThatTheBackEndSet() throws {
        let store = StoredRegistrations()
        #expect(store.answer(put(installation())).status == 200)
        let other = installation(token: Self.foreign)
        #expect(store.answer(put(other)).status == 200, "without an address, the token may change")
        let tag = #"[{"op":"add","path":"/tags","value":"vip"},{"op":"replace","path":"/userId","value":"u-1"}]"#
        #expect(store.answer(patch(tag, as: Signer().header)).status == 200)
        // The app registers again at each start.
        #expect(store.answer(put(other)).status == 200)
        let stored = try #require(store.standings[VendorDeviceKey(Self.id)])
        #expect(stored.attributes["tags"] == ["vip"] && stored.attributes["userId"] == "u-1")
        // Another token would receive the pushes to the user.
        #expect(isRefused(store.answer(put(installation()))))
        #expect(store.standings[VendorDeviceKey(Self.id)] == stored)
        let variables = #"[{"op":"add","path":"/pushVariables/a","value":"b"}]"#
        #expect(store.answer(patch(variables)).status == 200)
        #expect(store.standings[VendorDeviceKey(Self.id)]?.attributes["tags"] == ["vip"])
    }

    @Test func itDoesNotReadTokens() throws {
        let store = StoredRegistrations()
        #expect(store.answer(put(installation(#","userId":"u-1""#), as: Signer().header)).status == 200)
        let read = Mount.request(.get, Self.path, authorization: Self.listener)
        let shown = store.answer(read)
        #expect(shown.status == 200 && !shown.text.contains(Fixture.token))
        #expect(shown.text.contains(String(repeating: "0", count: Fixture.token.count)))
        #expect(store.answer(put(installation(token: String(repeating: "0", count: 64)))).status == 400, "written back")
        store.settings = Self.open
        #expect(store.answer(read).text.contains(Fixture.token))
        #expect(StoredRegistrations().answer(Mount.request(.get, Self.path)).status == 404)

        let registrations = StoredRegistrations()
        let atom = try Fixture.request("registrations/put.request.txt")
        #expect(registrations.answer(atom).text.contains(Fixture.token))
        let one = Mount.request(.get, atom.path, authorization: Self.listener)
        #expect(registrations.answer(one).status == 200 && !registrations.answer(one).text.contains(Fixture.token))
    }

    @Test func itsRegistrationsHaveNoTags() {
        func atom(_ tags: String, _ token: String = Fixture.token) -> String {
            "<AppleRegistrationDescription><Tags>\(tags)</Tags><DeviceToken>\(token)</DeviceToken></AppleRegistrationDescription>"
        }
        func put(_ body: String, _ authorization: String) -> VendorRequest {
            Mount.request(.put, RegistrationTests.path, body, authorization: authorization)
        }
        let store = StoredRegistrations()
        for tags in ["vip", "$UserId:{u-1}"] {
            #expect(isRefused(store.answer(put(atom(tags), Self.listener))))
            let post = Mount.request(.post, "/hub1/registrations", atom(tags), authorization: Self.listener)
            #expect(isRefused(store.answer(post)))
        }
        #expect(store.registered.isEmpty)
        #expect(store.answer(put(atom(""), Self.listener)).status == 200)
        #expect(store.answer(put(atom("vip"), Signer().header)).status == 200)
        #expect(store.answer(put(atom(""), Self.listener)).status == 200)
        #expect(store.registered.last?.tags?.contains { $0 == Tag("vip") } == true, "the back end's tags are kept")
        #expect(isRefused(store.answer(put(atom("", Self.foreign), Self.listener))))
        store.settings = Self.open
        #expect(store.answer(put(atom("vip", Self.foreign), Self.listener)).status == 200)
    }

    // MARK: Tokens for one installation

    private func grant(_ user: String? = nil, device: String = id) -> DeviceGrant {
        DeviceGrant(
            device: device,
            user: user,
            host: "gw.example.com",
            expiresAt: Timestamp(seconds: Mount.now.seconds + 600)
        )
    }

    private static let issuing: BindingSettings = {
        var settings = Mount.settings
        settings.values["hub"] = "hub1"
        return settings
    }()

    @Test func anIssuedTokenManagesItsInstallationOnly() throws {
        let token = try Mount.adapter.deviceToken(for: grant(), settings: Self.issuing)
        let store = StoredRegistrations()
        let full = installation(#","userId":"u-1","tags":["vip"]"#)
        #expect(store.answer(put(full, as: token)).status == 200)
        #expect(store.answer(Mount.request(.get, Self.path, authorization: token)).text.contains(Fixture.token))
        for path in ["/hub1/installations/other", "/hub1/installations/\(Self.id)x", "/hub1/registrations/1-1-1"] {
            let answer = store.answer(Mount.request(.get, path, authorization: token))
            #expect(answer.status == 401 && answer.detail?.hasPrefix("InvalidAudience") == true, "\(path)")
        }
        let late = Mount.request(.put, Self.path, full, authorization: token, at: Mount.now + .seconds(3600))
        #expect(store.answer(late).detail?.hasPrefix("ExpiredToken") == true)
        let send = Mount.request(.post, "/hub1/messages", "{}", authorization: token)
        #expect(store.answer(send).status == 401)
    }

    @Test func anIssuedTokenMayNameOneUser() throws {
        let token = try Mount.adapter.deviceToken(for: grant("u-1"), settings: Self.issuing)
        let store = StoredRegistrations()
        #expect(isRefused(store.answer(put(installation(#","userId":"u-2""#), as: token))))
        #expect(store.answer(put(installation(#","userId":"u-1""#), as: token)).status == 200)
        let change = #"[{"op":"replace","path":"/userId","value":"u-2"}]"#
        #expect(isRefused(store.answer(patch(change, as: token))))
        #expect(store.standings[VendorDeviceKey(Self.id)]?.user == "u-1")
    }

    @Test func aTokenIsNotIssuedForMoreThanOneInstallation() {
        for device in ["", "a/b", "a#b", "#", "a?b", "a b"] {
            #expect(throws: AdapterError(.invalid, field: "device"), "\(device)") {
                try Mount.adapter.deviceToken(for: grant(device: device), settings: Self.issuing)
            }
        }
        #expect(throws: AdapterError(.invalid, field: "user")) {
            try Mount.adapter.deviceToken(for: grant("a b"), settings: Self.issuing)
        }
        var settings = Self.issuing
        settings.values["rules"] = ["DefaultListenSharedAccessSignature": ["listen"], "Sender": ["send"]]
        #expect(throws: AdapterError(.notFound)) {
            try Mount.adapter.deviceToken(for: grant(), settings: settings)
        }
    }
}
