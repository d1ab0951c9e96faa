import IPNS
import Model
import Testing

/// The parameter labels of the vendor's own library document (`registiPNG:UserCN:DeviceToken:`, `updateConfig:Start:End:YN:CpUserId:`,
/// `reportReadResultToServer:ReqID:` with a `msg_id`) have the same effect as the names of the contract.
struct LibraryLabelTests {
    /// Whether the document's labels and the contract's names result in the same call.
    private static func isSame(_ operation: String, _ labels: JSON, _ names: JSON) throws -> Bool {
        func commands(_ fields: JSON) throws -> [Command] {
            var body: JSONObject = ["APP_ID": "hr.mobile", "DEVICE_ID": "D1"]
            for (key, value) in fields.object?.pairs ?? [] { body[key] = value }
            return try Mount.commands(Mount.request("/ipns/\(operation)", .object(body)))
        }
        return try commands(labels) == commands(names)
    }

    @Test func registrationAcceptsItsLabels() throws {
        let labels: JSON = ["UserCN": "E1", "DeviceToken": .string(Fixture.token), "PushYN": "N"]
        let names: JSON = ["USER_CN": "E1", "PUSH_TOKEN": .string(Fixture.token), "PUSH_YN": "N"]
        #expect(try Self.isSame("registiPNG", labels, names))
        #expect(try Self.isSame("appRegist", labels, names))
        let bad: JSON = ["APP_ID": "hr.mobile", "UserCN": "E1", "DeviceToken": "9f2c"]
        #expect(try Mount.result(Mount.request("/ipns/registiPNG", bad)) == "1305")
    }

    @Test(arguments: ["Y", true, "true", "1", 1] as [JSON])
    func settingsAcceptTheirLabels(_ flag: JSON) throws {
        let labels: JSON = ["Start": "0900", "End": "1800", "YN": flag, "CpUserId": "cp-1"]
        let names: JSON = ["START_TIME": "0900", "END_TIME": "1800", "PUSH_YN": "Y", "CP_USER_ID": "cp-1"]
        #expect(try Self.isSame("updateConfig", labels, names))
        // The set of the labels determines the operation, too.
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
    func aMessageHasTwoFieldNames(_ operation: String) throws {
        let number: JSON = "202001150900001234"
        for label in ["msg_id", "MsgId", "ReqID", "request_id", "requestID"] {
            #expect(try Self.isSame(operation, .pairs([label: number]), ["REQ_ID": number]), "\(label)")
        }
        // If both are present, the contract's name is used.
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
    func invalidFieldsAreRefused(_ operation: String, _ fields: JSON, _ code: String) throws {
        var body: JSONObject = ["APP_ID": "hr.mobile", "DEVICE_ID": "D1"]
        for (key, value) in fields.object?.pairs ?? [] { body[key] = value }
        #expect(try Mount.result(Mount.request("/ipns/\(operation)", .object(body))) == code)
    }

    /// An empty field leaves the setting unchanged, and is not an error.
    @Test func emptySettingsChangeNothing() throws {
        let body: JSON = ["APP_ID": "hr.mobile", "DEVICE_ID": "D1", "Start": "", "End": ""]
        let expected = PreferenceChange(timeZone: TimeZoneName(stored: "Asia/Seoul"))
        #expect(
            try Mount.commands(Mount.request("/ipns/updateConfig", body))
                == [.preference(.setPreferences(DeviceCaller(key: "D1"), expected))]
        )
    }
}
