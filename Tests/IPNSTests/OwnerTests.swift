import IPNS
import Model
import Testing

/// A `DEVICE_ID` that others know does not change the device (docs/contracts/ipns.md#2.5, docs/contracts/ipns.md#2.8).
struct OwnerTests {
    private static let token = DeviceToken(stored: Fixture.token)
    private static let foreign = String(repeating: "ab", count: 32)

    private func config(_ more: JSONObject) -> VendorRequest {
        var body: JSONObject = ["APP_ID": "hr.mobile", "DEVICE_ID": "victim", "PUSH_YN": "N"]
        for (key, value) in more.pairs { body[key] = value }
        return Mount.request("/ipns/updateConfig", .object(body))
    }

    private func registration(of user: JSON, _ token: String) -> VendorRequest {
        Mount.request(
            "/ipns/appRegist",
            ["APP_ID": "hr.mobile", "DEVICE_ID": "victim", "USER_CN": user, "PUSH_TOKEN": .string(token)]
        )
    }

    private func standing(_ state: TokenState = .active) -> IdentityStanding {
        IdentityStanding(state: .active, token: Self.token, user: "E100", tokenState: state)
    }

    private func sequel(_ request: VendorRequest, _ standing: IdentityStanding?) throws(AdapterError) -> [Command] {
        try Mount.adapter.sequel(to: [.registration(.standing(standing))], of: request, settings: Mount.strict)
    }

    @Test func aKnownDeviceIDDoesNotSwitchPushOff() throws {
        #expect(throws: AdapterError(.missing, field: "PUSH_TOKEN")) {
            try Mount.commands(config([:]), settings: Mount.strict)
        }
        #expect(try Mount.result(config([:]), settings: Mount.strict) == "2001")
        // With a token, the device of this token is changed, whatever the id is.
        let own = try Mount.commands(config(["PUSH_TOKEN": .string(Self.foreign)]), settings: Mount.strict)
        let change = PreferenceChange(acceptsPush: false, timeZone: TimeZoneName(stored: "Asia/Seoul"))
        let caller = DeviceCaller(token: DeviceToken(stored: Self.foreign))
        #expect(own == [.preference(.setPreferences(caller, change))])
        let open = DeviceCaller(key: "victim")
        #expect(try Mount.commands(config([:])) == [.preference(.setPreferences(open, change))])
    }

    @Test func aKnownDeviceIDDoesNotReplaceAForeignToken() throws {
        let stranger = registration(of: "E999", Self.foreign)
        #expect(
            try Mount.commands(stranger, settings: Mount.strict) == [.registration(.standing(key: "victim"))]
        )
        #expect(throws: AdapterError(.invalid, field: "DEVICE_ID")) { try sequel(stranger, standing()) }
        #expect(
            Mount.adapter.refuse(AdapterError(.invalid, field: "DEVICE_ID"), for: stranger, settings: Mount.strict)
                .status == 200
        )
        // The device's own token, its own user with a new token, a dead token and a new device are accepted.
        let open = try Mount.commands(stranger)
        #expect(try sequel(stranger, standing(.invalid)) == open && sequel(stranger, nil) == open)
        for request in [registration(of: "E999", Fixture.token), registration(of: "E100", Self.foreign)] {
            #expect(try sequel(request, standing()) == Mount.commands(request))
        }
        // After the registration the call ends. A forwarded call needs to know that before.
        let question = try Mount.commands(stranger, settings: Mount.strict)
        #expect(Mount.adapter.ends(with: question) == false)
        #expect(Mount.adapter.ends(with: open) == true)
        let done = Reply.preference(.preferences(DevicePreferences(acceptsPush: true, user: "E100")))
        #expect(try Mount.adapter.sequel(to: [done], of: stranger, settings: Mount.strict) == [])
    }

    @Test func aDeviceWithoutAnIDIsItsToken() throws {
        let request = Mount.request(
            "/ipns/appRegist",
            ["APP_ID": "hr.mobile", "USER_CN": "E1", "PUSH_TOKEN": .string(Fixture.token)]
        )
        #expect(try Mount.commands(request, settings: Mount.strict).count == 2)
    }
}
