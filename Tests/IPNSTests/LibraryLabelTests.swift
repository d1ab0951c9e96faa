import IPNS
import Model
import Testing

/// The parameter labels of the vendor's own library document (`registiPNG:UserCN:DeviceToken:`, `updateConfig:Start:End:YN:CpUserId:`,
/// `reportReadResultToServer:ReqID:` with a `msg_id`) do what the names of the contract do.
struct LibraryLabelTests {
    /// The same call twice: by the document's labels, and by the contract's names.
    private static func isSame(_ operation: String, _ labels: JSON, _ names: JSON) throws -> Bool {
        func commands(_ fields: JSON) throws -> [Command] {
            var body: JSONObject = ["APP_ID": "hr.mobile", "DEVICE_ID": "D1"]
            for (key, value) in fields.object?.pairs ?? [] { body[key] = value }
            return try Mount.commands(Mount.request("/ipns/\(operation)", .object(body)))
        }
        return try commands(labels) == commands(names)
    }

    @Test func registrationTakesItsLabels() throws {
        let labels: JSON = ["UserCN": "E1", "DeviceToken": .string(Fixture.token), "PushYN": "N"]
        let names: JSON = ["USER_CN": "E1", "PUSH_TOKEN": .string(Fixture.token), "PUSH_YN": "N"]
        #expect(try Self.isSame("registiPNG", labels, names))
        #expect(try Self.isSame("appRegist", labels, names))
        let bad: JSON = ["APP_ID": "hr.mobile", "UserCN": "E1", "DeviceToken": "9f2c"]
        #expect(try Mount.result(Mount.request("/ipns/registiPNG", bad)) == "1305")
    }

    @Test(arguments: ["Y", true, "true", "1", 1] as [JSON])
    func settingsTakeTheirLabels(_ flag: JSON) throws {
        let labels: JSON = ["Start": "0900", "End": "1800", "YN": flag, "CpUserId": "cp-1"]
        let names: JSON = ["START_TIME": "0900", "END_TIME": "1800", "PUSH_YN": "Y", "CP_USER_ID": "cp-1"]
        #expect(try Self.isSame("updateConfig", labels, names))
        // The set of the labels names the operation, too.
        var unnamed: JSONObject = ["APPID": "hr.mobile", "DEVICE_ID": "D1"]
        for (key, value) in labels.object?.pairs ?? [] { unnamed[key] = value }
        var named = unnamed
        named["cmd"] = "updateConfig"
        #expect(
            try Mount.commands(Mount.request("/ipns", .object(unnamed)))
                == Mount.commands(Mount.request("/ipns", .object(named)))
        )
    }

    @Test(arguments: ["recvReport", "readReport", "reportReadResultToServer", "getMsgDetail"])
    func aMessageIsNamedByEitherOfItsNames(_ operation: String) throws {
        let number: JSON = "202001150900001234"
        for label in ["msg_id", "MsgId", "ReqID", "request_id", "requestID"] {
            #expect(try Self.isSame(operation, .pairs([label: number]), ["REQ_ID": number]), "\(label)")
        }
        // Its own name counts where both stand.
        let both: JSON = ["REQ_ID": "1", "MSG_ID": "2"]
        let own: JSON = operation == "recvReport" ? ["MSG_ID": "2"] : ["REQ_ID": "1"]
        #expect(try Self.isSame(operation, both, own))
    }

    @Test(
        arguments: [
            ("updateConfig", [:], "2001"), ("updateConfig", ["Startt": "0900", "Enabled": "Y"], "2001"),
            ("updateConfig", ["YN": "maybe"], "2002"), ("updateConfig", ["Start": "2400"], "2002"),
            ("readReport", ["MessageNo": "1"], "2001"), ("registiPNG", ["UserCN": "E1", "Token": "x"], "2001"),
        ] as [(String, JSON, String)]
    )
    func whatCannotBeUsedIsRefused(_ operation: String, _ fields: JSON, _ code: String) throws {
        var body: JSONObject = ["APP_ID": "hr.mobile", "DEVICE_ID": "D1"]
        for (key, value) in fields.object?.pairs ?? [] { body[key] = value }
        #expect(try Mount.result(Mount.request("/ipns/\(operation)", .object(body))) == code)
    }

    /// An empty field says that nothing changes, which is no fault.
    @Test func emptySettingsChangeNothing() throws {
        let body: JSON = ["APP_ID": "hr.mobile", "DEVICE_ID": "D1", "Start": "", "End": ""]
        let expected = PreferenceChange(timeZone: TimeZoneName(stored: "Asia/Seoul"))
        #expect(
            try Mount.commands(Mount.request("/ipns/updateConfig", body))
                == [.preference(.setPreferences(DeviceCaller(key: "D1"), expected))]
        )
    }
}
