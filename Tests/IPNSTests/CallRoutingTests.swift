import Foundation
import IPNS
import Model
import Testing

/// docs/contracts/ipns.md#2.3: any path; JSON, form or query; normalized keys; operations by path, by field, or by
/// the set of fields; the fields alone never make a call a `send`.
struct CallRoutingTests {
    private static let get = [Command.preference(.preferences(DeviceCaller(key: "D1")))]
    private static let body: JSON = ["APP_ID": "hr.mobile", "DEVICE_ID": "D1"]

    @Test(arguments: [
        "/ipns/getConfig", "/ipns/GETCONFIG", "/ipns/get_config", "/ipns/v2/deep/getConfig.do", "/ipns/GetPushConfig",
        "/ipns/getConfig/", "//ipns//getConfig.do.gz//",
    ])
    func theLastSegmentOfThePathNamesTheOperation(_ path: String) throws {
        #expect(try Mount.commands(Mount.request(path, Self.body)) == Self.get)
    }

    @Test(arguments: ["cmd", "command", "method", "reqCmd", "REQ_CMD"])
    func aFieldNamesTheOperation(_ name: String) throws {
        var body = try #require(Self.body.object)
        body[name] = "getConfig"
        #expect(try Mount.commands(Mount.request("/ipns/gw.do", .object(body))) == Self.get)
    }

    @Test(arguments: [
        (["USER_CN", "PUSH_TOKEN"], "appRegist"), (["USER_CN", "PUSH_TOKEN", "PUSH_YN"], "appRegist"),
        (["MSG_ID"], "recvReport"), (["REQ_ID", "USER_CN"], "readReport"), (["REQ_ID"], "getMsgDetail"),
        (["START_TIME", "END_TIME", "PUSH_YN", "CP_USER_ID"], "updateConfig"), ([], "getConfig"),
        (["PUSH_ID_TYPE", "REQ_TYPE", "REQ_ID", "COUNT", "USER_CN"], "getMsgs"), (["COUNT", "USER_CN"], "polling"),
    ])
    func theSetOfFieldsDeterminesTheOperation(_ fields: [String], _ operation: String) throws {
        var body = try #require(Self.body.object)
        let values: [String: JSON] = [
            "PUSH_TOKEN": .string(Fixture.token), "PUSH_YN": "Y", "START_TIME": "0900", "END_TIME": "1800", "COUNT": 3,
            "PUSH_ID_TYPE": "@00", "REQ_TYPE": "O",
        ]
        for field in fields { body[field] = values[field] ?? "E1" }
        let guessed = try Mount.commands(Mount.request("/ipns", .object(body)))
        let named = try Mount.commands(Mount.request("/ipns/\(operation)", .object(body)))
        #expect(guessed == named)
        // With an unknown field, the operation is not guessed.
        body["FURTHER"] = "x"
        #expect(try Mount.result(Mount.request("/ipns", .object(body))) == "9999")
    }

    @Test func fieldsOfASendDoNotMakeASend() throws {
        let body: JSON = [
            "APP_ID": "hr.mobile", "PUSH_ID_TYPE": "@01", "PUSH_ID": ["E1"], "SEND_TYPE": "I", "ALERT": "a",
            "MESSAGE": "m",
        ]
        let key = ["Authorization": "Bearer key"]
        #expect(try Mount.result(Mount.request("/ipns/gw.do", body, headers: key)) == "9999")
        let settings = BindingSettings(values: keyed(["operations": ["gw": "send"]]))
        #expect(try Mount.result(Mount.request("/ipns/gw.do", body, headers: key), settings: settings) == "9999")
        #expect(try Mount.commands(Mount.request("/ipns/send", body, headers: key)).count == 1)
    }

    // However a send is named, the gateway asks for its sender.
    @Test(arguments: ["/ipns/send", "/ipns/a/SEND.do", "/ipns?cmd=send", "/ipns/gw"])
    func aSendNeedsASender(_ path: String) throws {
        var body: JSONObject = ["APP_ID": "hr.mobile", "PUSH_ID_TYPE": "@01", "PUSH_ID": ["E1"], "ALERT": "a"]
        let parts = path.split(separator: "?")
        if path == "/ipns/gw" { body["method"] = "send" }
        var request = Mount.request(String(parts[0]), .object(body))
        request.query = parts.count > 1 ? String(parts[1]) : nil
        #expect(try Mount.adapter.locate(request).1 == .sender)
        #expect(try Mount.adapter.locate(Mount.request("/ipns/gw", ["APP_ID": "hr.mobile"])).1 == .device)
    }

    @Test(arguments: ["APP_ID", "appId", "APPID", "app-id", "AppID"])
    func keysCompareWithoutCaseUnderscoresAndDashes(_ key: String) throws {
        let body = JSON.pairs([key: "hr.mobile", "deviceId": "D1"])
        #expect(try Mount.commands(Mount.request("/ipns/getConfig", body)) == Self.get)
    }

    @Test func aFormAndTheQueryAreReadLikeJSON() throws {
        let form = Array("APP_ID=hr.mobile&DEVICE_ID=D1".utf8)
        let type = ["Content-Type": "application/x-www-form-urlencoded; charset=UTF-8"]
        #expect(try Mount.commands(Mount.request("/ipns/getConfig", bytes: form, headers: type)) == Self.get)
        let query = Mount.request("/ipns/getConfig", bytes: [], query: "app_id=hr.mobile&device_id=D1")
        #expect(try Mount.commands(query) == Self.get)
        // The body has precedence.
        let both = Mount.request("/ipns/getConfig", bytes: form, headers: type, query: "DEVICE_ID=D2")
        #expect(try Mount.commands(both) == Self.get)
    }

    @Test func theMappingTableOfABindingNamesFurtherPathsAndKeys() throws {
        let values = keyed([
            "operations": ["cfg_read": "getConfig"], "fields": ["udid": "DEVICE_ID"], "appId": "hr.mobile",
        ])
        let settings = BindingSettings(tenant: "acme", app: "shop", values: values)
        let body: JSON = ["APP_ID": "hr.mobile", "UDID": "D1"]
        #expect(try Mount.commands(Mount.request("/ipns/cfgRead.do", body), settings: settings) == Self.get)
        #expect(try Mount.result(Mount.request("/ipns/cfgRead.do", body)) == "9999")
    }

    @Test(
        arguments: [
            ("operations", ["x": "send"]), ("operations", ["x": "nothing"]), ("operations", "x"),
            ("fields", ["x": "APP_ID"]),
            ("fields", ["x": "NO_SUCH"]), ("environment", "test"), ("outsideWindow", "wait"), ("push.ttlHours", 0),
            ("extra", 1),
        ] as [(String, JSON)]
    )
    func anInvalidSettingIsNamed(_ key: String, _ value: JSON) {
        #expect(IPNSSettings.declared.problems(in: JSONObject([(key, value)])).first?.hasPrefix(key) == true)
    }

    @Test func everySettingIsAccepted() {
        let values = keyed([
            "operations": ["x": "polling"], "fields": ["x": "USER_CN"], "environment": "sandbox",
            "outsideWindow": "delay",
            "push.ttlHours": 24,
        ])
        #expect(IPNSSettings.declared.problems(in: values) == [])
        #expect(IPNSSettings.outsideWindow(values) == .delay && IPNSSettings.outsideWindow(JSONObject()) == .suppress)
    }
}
