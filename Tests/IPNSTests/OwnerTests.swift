import IPNS
import Model
import Testing

/// A `DEVICE_ID` that others know does not change the device (docs/contracts/ipns.md#2.5, docs/contracts/ipns.md#2.8).
struct OwnerTests {
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

    private func keepsOwner(
        _ request: VendorRequest,
        _ settings: BindingSettings = Mount.settings
    ) throws(AdapterError) -> Bool? {
        guard case .registration(.register(let found))? = try Mount.commands(request, settings: settings).first else {
            return nil
        }
        return found.keepsOwner
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
        #expect(try keepsOwner(stranger, Mount.strict) == true)
        // `deviceIdAlone`
        #expect(try keepsOwner(stranger) == false)
        // The store refuses a stranger's registration (`expect_owner`).
        let answer = Mount.adapter.encode([.refused(.invalid("key"))], for: stranger, settings: Mount.strict)
        #expect(answer.status == 200)
        #expect(String(decoding: answer.body, as: UTF8.self).contains("INVALID PARAMETER: DEVICE_ID"))
    }

    @Test func aDeviceWithoutAnIDIsItsToken() throws {
        let request = Mount.request(
            "/ipns/appRegist",
            ["APP_ID": "hr.mobile", "USER_CN": "E1", "PUSH_TOKEN": .string(Fixture.token)]
        )
        #expect(try Mount.commands(request, settings: Mount.strict).count == 2)
        #expect(try keepsOwner(request, Mount.strict) == false)
    }
}
