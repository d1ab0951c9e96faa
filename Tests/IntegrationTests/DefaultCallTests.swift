import CommandSupport
import Foundation
import Gateway
import Model
import NIOHTTP1
import TestKit
import Testing

/// The calls that docs/security.md says the defaults refuse or shorten: each row of its table, against a binding without settings, and against one with the
/// setting of the row.
@Suite(.serialized, .timeLimit(.minutes(10)), .sharedWorld { try await $0.applyOpened() })
struct DefaultCallTests {
    private var world: World { get throws { try SharedWorld.current } }

    /// The answer of the app `closed` or `opened`, in the words of the table: a code, or what it returns.
    private typealias Exercise = @Sendable (DefaultCallTests, _ app: String) async throws -> Set<String>

    /// By the beginning of the row's first cell. `closed` is what the second cell says of it; `opened` is what the setting allows.
    private static let exercises: [(row: String, closed: Set<String>, opened: Set<String>, run: Exercise)] = [
        ("iPNS `getMsgs`", ["an empty list", "2004"], ["a message", "0000"], { try await $0.ipnsHistory($1) }),
        (
            "UPMC `gw_get_message_list`, `gw_get_message`, `gw_get_unread_count`",
            ["an empty list", "nothing unread", "40000"],
            ["a message", "unread", "0000"], { try await $0.upmcHistory($1) }
        ),
        (
            "UPMC `gw_get_message_list`, `gw_get_message`, `gw_get_unread_count` by `CUID`", ["40000"], ["0000"],
            { try await $0.upmcByUser($1) }
        ),
        ("UPMC receipts", ["answered like an unknown number"], ["read"], { try await $0.upmcReceipt($1) }),
        ("RationalOwl `msgInfo`", ["unknown"], ["known"], { try await $0.messageInfo($1) }),
        (
            "RationalOwl `unregUser`", ["rc:1", "nothing changes"], ["rc:1", "unregistered"],
            { try await $0.unregister($1) }
        ),
        ("iPNS `updateConfig`", ["2001"], ["0000"], { try await $0.ipnsUpdate($1) }),
        ("iPNS registration", ["2002"], ["0000"], { try await $0.ipnsTakeover($1) }),
        ("Notification Hubs", ["401", "zeros"], ["200", "the token"], { try await $0.hub($1) }),
        ("Braze", ["401"], ["201"], { try await $0.sdk($1) }),
    ]

    @Test func everyRowOfTheTableHolds() async throws {
        let rows = try SecurityDocument().table("call", "with the defaults", "setting")
        #expect(rows.count == Self.exercises.count)
        for exercise in Self.exercises {
            // The longest beginning is the row of the exercise.
            let fitting = rows.filter { row in
                Self.exercises.filter { row[0].hasPrefix($0.row) }.max { $0.row.count < $1.row.count }?.row
                    == exercise.row
            }
            let row = try #require(fitting.first, "\(exercise.row)")
            #expect(fitting.count == 1, "\(exercise.row)")
            for words in exercise.closed { #expect(row[1].contains(words), "the table does not say \(words): \(row)") }
            let closed = try await exercise.run(self, "closed")
            #expect(closed == exercise.closed, "\(exercise.row)")
            let opened = try await exercise.run(self, "opened")
            #expect(opened == exercise.opened, "\(exercise.row), with \(row[2])")
        }
    }

    // MARK: Helpers

    private static func token(_ text: String) -> String { SystemIdentifiers().sha256(Array(text.utf8)) }

    /// Sends to a user or phone of the app, and waits until the message is in the histories.
    private func send(_ app: String, _ to: JSON) async throws -> String {
        let world = try world
        let sent = try await world.native(
            "POST",
            "/v1/messages",
            ["app": .string(app), "to": to, "title": "t", "body": "b"]
        )
        let id = try #require(sent.json?["id"]?.string, "\(sent.text)")
        try await eventually("the message is sent") {
            try await world.native("GET", "/v1/messages/\(id)").json?["state"] == "done"
        }
        return id
    }

    // MARK: iPNS

    private func ipns(_ app: String, _ call: String, _ fields: JSONObject) async throws -> JSON {
        var body = fields
        body["APP_ID"] = .string("open.\(app)")
        return try #require(try await world.http.call("POST", "/ipns/\(call)", .object(body)).json)
    }

    private func register(_ app: String, _ device: String, _ user: String, token: String? = nil) async throws -> String?
    {
        try await ipns(
            app,
            "appRegist",
            [
                "USER_CN": .string(user), "DEVICE_ID": .string(device),
                "PUSH_TOKEN": .string(token ?? Self.token("\(app) \(device)")),
            ]
        )["RT"]?.string
    }

    private func ipnsHistory(_ app: String) async throws -> Set<String> {
        try #require(try await register(app, "first", "history") == "0000")
        let message = try await send(app, ["users": ["history"]])
        try #require(try await register(app, "second", "history") == "0000")
        let list = try await ipns(app, "getMsgs", ["DEVICE_ID": "second", "PUSH_ID_TYPE": "@01", "REQ_TYPE": "N"])
        let own = try await ipns(app, "getMsgs", ["DEVICE_ID": "first", "PUSH_ID_TYPE": "@01", "REQ_TYPE": "N"])
        let number = try #require(own["LIST"]?.array?.first?["REQ_ID"], "\(message): \(JSONWriter.text(own))")
        let detail = try await ipns(app, "getMsgDetail", ["DEVICE_ID": "second", "REQ_ID": number])
        return [
            list["LIST"]?.array?.isEmpty == false ? "a message" : "an empty list", detail["RT"]?.string ?? "no code",
        ]
    }

    private func ipnsUpdate(_ app: String) async throws -> Set<String> {
        try #require(try await register(app, "update", "update") == "0000")
        return [try await ipns(app, "updateConfig", ["DEVICE_ID": "update", "PUSH_YN": "N"])["RT"]?.string ?? ""]
    }

    private func ipnsTakeover(_ app: String) async throws -> Set<String> {
        try #require(try await register(app, "taken", "owner") == "0000")
        return [try await register(app, "taken", "thief", token: Self.token("\(app) thief")) ?? ""]
    }

    // MARK: UPMC

    private func upmc(_ app: String) throws -> UPMCCaller {
        var caller = UPMCCaller(base: try world.http.base)
        caller.application = "com.open.\(app)"
        return caller
    }

    private func upmcHistory(_ app: String) async throws -> Set<String> {
        let caller = try upmc(app)
        let (first, second) = (UPMCCaller.Phone(user: "old"), UPMCCaller.Phone(user: "old"))
        try await caller.register(first)
        let message = try await send(app, ["users": ["old"]])
        try await caller.register(second)
        let number = try #require(
            try await caller.call("gw_get_message_list", first.fields).first?["SEQNO"]?.string,
            "\(message)"
        )
        let list = try await caller.call("gw_get_message_list", second.fields)
        let unread = try await caller.call("gw_get_unread_count", second.fields)
        let one = try await caller.call("gw_get_message", second.fields.merging(["SEQNO": number]) { $1 })
        return [
            list.body?.array?.isEmpty == false ? "a message" : "an empty list",
            unread.first?["UNREAD"] == "0" ? "nothing unread" : "unread", one.code ?? "no code",
        ]
    }

    private func upmcByUser(_ app: String) async throws -> Set<String> {
        let caller = try upmc(app)
        let phone = UPMCCaller.Phone(user: "byuser")
        try await caller.register(phone)
        let message = try await send(app, ["users": ["byuser"]])
        let number = try #require(
            try await caller.call("gw_get_message_list", phone.fields).first?["SEQNO"]?.string,
            "\(message)"
        )
        let bare = ["CUID": "byuser", "SEQNO": number]
        var codes: Set<String> = []
        for name in ["gw_get_message_list", "gw_get_message", "gw_get_unread_count"] {
            codes.insert(try await caller.call(name, bare).code ?? "no code")
        }
        return codes
    }

    private func upmcReceipt(_ app: String) async throws -> Set<String> {
        let caller = try upmc(app)
        let phone = UPMCCaller.Phone(user: "receipt")
        try await caller.register(phone)
        let message = try await send(app, ["users": ["receipt"]])
        let number = try #require(
            try await caller.call("gw_get_message_list", phone.fields).first?["SEQNO"]?.string,
            "\(message)"
        )
        func read(_ number: String) async throws -> JSON {
            try await caller.call("rcv_register_send_result", ["CUID": "receipt", "SEQNO": number]).json
        }
        let (own, unknown) = (try await read(number), try await read("999999"))
        let status = try await caller.call("gw_get_message", phone.fields.merging(["SEQNO": number]) { $1 }).first?[
            "STATUS"
        ]
        if status == "READ" { return ["read"] }
        return own["HEADER"]?["RESULT_CODE"] == unknown["HEADER"]?["RESULT_CODE"]
            ? ["answered like an unknown number"] : []
    }

    // MARK: RationalOwl

    private func install(_ app: String, _ device: String, _ phone: String) async throws {
        let body: JSON = [
            "cId": 303, "aId": .string("\(app)-account"), "dt": 2, "dRId": .string(device), "pn": .string(phone),
            "tk": .string(Self.token("\(app) \(device)")), "env": "prod",
        ]
        let answer = try await world.http.call("POST", "/pushApp/installApp", body)
        try #require(answer.json?["rc"] == 1, "\(answer.text)")
    }

    private func messageInfo(_ app: String) async throws -> Set<String> {
        let (first, second) = (String(repeating: "e1", count: 16), String(repeating: "e2", count: 16))
        try await install(app, first, "01044440001")
        let message = try await send(app, ["phones": ["01044440001"]])
        try await install(app, second, "01044440001")
        let body: JSON = [
            "cId": 312, "aId": .string("\(app)-account"), "pn": "01044440001", "dRId": .string(second),
            "mId": .string(message),
        ]
        return [try await world.http.call("POST", "/pushApp/msgInfo", body).json?["rc"] == 1 ? "known" : "unknown"]
    }

    private func unregister(_ app: String) async throws -> Set<String> {
        let device = String(repeating: "e3", count: 16)
        try await install(app, device, "01044440003")
        let body: JSON = ["cId": 305, "aId": .string("\(app)-account"), "pn": "01044440003"]
        let answer = try await world.http.call("POST", "/pushApp/unregUser", body)
        let state = try await world.value(
            "SELECT state AS value FROM gateway.identity WHERE app_id = '\(app)' AND key = '\(device)'"
        )
        return ["rc:\(answer.json?["rc"]?.int ?? 0)", state == "active" ? "nothing changes" : state]
    }

    // MARK: Notification Hubs, Braze

    private func hub(_ app: String) async throws -> Set<String> {
        func call(_ method: HTTPMethod, _ body: String?, _ name: String, _ key: String) async throws
            -> HTTPCaller.Answer
        {
            let token = NotificationHubsTests().token(try world, name, key: key, hub: "hub-\(app)")
            return try await world.http.call(
                method.rawValue,
                "/hub-\(app)/installations/h-1?api-version=2020-06",
                try body.map { try JSONParser.parse($0) },
                headers: ["Authorization": token]
            )
        }
        let body =
            #"{"installationId":"h-1","platform":"apns","pushChannel":"\#(Self.token(app))","userId":"u","tags":["t"]}"#
        let tagged = try await call(.PUT, body, "Listen", OpenedKeys.listen)
        if tagged.status != 200 { #expect(try await call(.PUT, body, "Full", OpenedKeys.full).status == 200) }
        let shown = try await call(.GET, nil, "Listen", OpenedKeys.listen).json?["pushChannel"]?.string ?? ""
        return ["\(tagged.status)", shown.allSatisfy { $0 == "0" } ? "zeros" : "the token"]
    }

    private func sdk(_ app: String) async throws -> Set<String> {
        let body: JSON = ["api_key": .string("\(app)-sdk"), "device_id": "d-1"]
        let answer = try await world.http.call(
            "POST",
            "/api/v3/data",
            body,
            headers: ["X-Braze-Api-Key": "\(app)-sdk"]
        )
        return ["\(answer.status)"]
    }
}

/// The keys of `World.applyOpened`.
private enum OpenedKeys {
    static let full = "the full key of the hubs of the defaults"
    static let listen = "the listening key of the hubs of the defaults"
}

extension World {
    /// Adds the apps `closed`, whose bindings have no settings, and `opened`, whose bindings have every setting of the table.
    fileprivate func applyOpened() async throws {
        try writeKeys([
            ("rest-closed", "44444444-aaaa-4bbb-8ccc-dddddddddddd"),
            ("rest-opened", "44444444-aaaa-4bbb-8ccc-eeeeeeeeeeee"),
            ("full", OpenedKeys.full), ("listen", OpenedKeys.listen),
        ])
        func app(_ name: String, _ settings: [String: String]) -> String {
            func set(_ vendor: String) -> String { settings[vendor].map { ", settings: { \($0) }" } ?? "" }
            return """

                      - id: \(name)
                        platforms: { ios: { topic: \(StageMaterial.topic), production: apple } }
                        bindings:
                          rationalowl: { accountId: \(name)-account, serviceId: \(name)-service\(set("rationalowl")) }
                          upmc: { applicationId: com.open.\(name)\(set("upmc")) }
                          ipns: { appId: open.\(name)\(set("ipns")) }
                          braze: { sdkKey: \(name)-sdk, restKeyFile: rest-\(name).key\(set("braze")) }
                          notificationhubs:
                            hub: hub-\(name)
                            keys:
                              - { name: Full, valueFile: full.key, rights: [listen, send, manage] }
                              - { name: Listen, valueFile: listen.key, rights: [listen] }
                            settings: { \(settings["notificationhubs"] ?? "") }
                """
        }
        let opened = [
            "rationalowl": "historyScope: all, unregisterByPhone: true",
            "upmc": "historyScope: all, receiptsByUser: true, history: { cuidAlone: true }",
            "ipns": "historyScope: all, deviceIdAlone: true", "braze": "sdkEnabled: true",
            "notificationhubs": "listenMayTag: true",
        ]
        try await apply("opened.yaml", keys: "", apps: app("closed", [:]) + app("opened", opened))
        try await eventually("the last binding is served") {
            try await http.call("POST", "/ipns/getConfig", ["APP_ID": "open.opened", "DEVICE_ID": "D"])
                .json?["RT"] == "2003"
        }
    }
}
