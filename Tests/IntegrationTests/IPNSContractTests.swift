import Foundation
import Model
import Testing

@testable import CommandSupport

// Further rules of docs/contracts/ipns.md#2.3 to 2.11, beyond the life of a device in `IPNSTests`, over real HTTP.
extension IPNSTests {
    private func with(_ body: (World) async throws -> Void) async throws {
        try await World.with { world in
            try #require(try await world.apply().status == 0)
            try await bind(world, "ipns: { appId: hr.mobile }")
            try await body(world)
        }
    }

    private func register(_ world: World, _ device: String, _ user: String, _ token: String, _ more: JSON = [:])
        async throws -> JSON
    {
        var body = JSONObject([
            ("USER_CN", .string(user)), ("DEVICE_ID", .string(device)), ("PUSH_TOKEN", .string(token)),
        ])
        for (key, value) in more.object?.pairs ?? [] { body[key] = value }
        return try await call(world, "appRegist", .object(body))
    }

    private func token(_ number: Int) -> String { String(format: "%064x", 0xB0 + number) }

    /// The result code of a call.
    private func code(_ world: World, _ operation: String, _ fields: JSON, key: String? = nil) async throws -> String? {
        try await call(world, operation, fields, key: key)["RT"]?.string
    }

    // docs/contracts/ipns.md#2.3: any path and any spelling of a key; JSON, form and query; the fields alone never make a call a send.
    // docs/contracts/ipns.md#2.4: only unreadable bodies get 400.
    @Test func theFrontDoorIsTolerantOverHTTP() async throws {
        try await with { world in
            _ = try await register(world, "D1", "E1", token(0))
            let body: JSON = ["appId": "hr.mobile", "device-id": "D1", "reqCmd": "getConfig"]
            func config(_ answer: HTTPCaller.Answer) -> JSON? {
                answer.status == 200 && answer.json?["rtCode"] == "0000" ? answer.json?["CP_USER_ID"] : nil
            }
            #expect(config(try await world.http.call("POST", "/ipns/gw.do", body)) == "E1")
            #expect(config(try await world.http.call("POST", "/ipns/v2/GetPushConfig.do", body)) == "E1")
            let form = ["APPID": "hr.mobile", "DEVICEID": "D1"]
            #expect(config(try await world.http.post("/ipns/GETCONFIG", form: form)) == "E1")
            #expect(config(try await world.http.call("GET", "/ipns/getConfig?APP_ID=hr.mobile&DEVICE_ID=D1")) == "E1")
            // By its fields alone: a detail of a message that is none.
            let detail: JSON = ["APP_ID": "hr.mobile", "DEVICE_ID": "D1", "REQ_ID": "202001150900001234"]
            #expect(try await world.http.call("POST", "/ipns", detail).json?["RT"] == "2004")
            let send: JSON = ["APP_ID": "hr.mobile", "PUSH_ID_TYPE": "@01", "PUSH_ID": ["E1"], "ALERT": "a"]
            let guessed = try await world.http.call("POST", "/ipns/gw.do", send, bearer: world.apiKey)
            #expect(guessed.json?["RT"] == "9999")
            let broken = try await RawHTTP.post(world.http.base + "/ipns/getConfig", body: Array("{\"APP_ID\":".utf8))
            #expect(broken.status == 400, "\(broken.text)")
            #expect(broken.json?["RT"] == "9999")
        }
    }

    // docs/contracts/ipns.md#2.5, docs/contracts/ipns.md#2.8: the fields that a registration sets and keeps, the
    // owner of a token, and the values of a setting.
    @Test func registrationsAndSettingsFollowWhatIsSaid() async throws {
        try await with { world in
            func config(_ device: String) async throws -> JSON {
                try await call(world, "getConfig", ["DEVICE_ID": .string(device)])
            }
            #expect(try await register(world, "D1", "E1", token(1), ["PUSH_YN": "N"])["PUSH_YN"] == "N")
            #expect(try await register(world, "D1", "E1", token(1))["PUSH_YN"] == "N", "said nothing: kept")
            #expect(try await register(world, "D1", "E1", token(1), ["PUSH_YN": "Y"])["PUSH_YN"] == "Y")
            for (body, wanted) in [
                (["DEVICE_ID": "D1", "PUSH_TOKEN": .string(token(1))], "2001"),
                (["USER_CN": "", "DEVICE_ID": "D1", "PUSH_TOKEN": .string(token(1))], "2001"),
                (["USER_CN": "E1", "DEVICE_ID": "D1", "PUSH_TOKEN": "9f2c"], "1305"),
                (
                    ["USER_CN": "E1", "DEVICE_ID": "D1", "PUSH_TOKEN": .string(String(repeating: "x", count: 64))],
                    "1305"
                ),
            ] as [(JSON, String)] {
                #expect(try await code(world, "appRegist", body) == wanted)
            }

            // The token moves to the newest device; who had it is nobody to send to.
            _ = try await register(world, "D2", "E2", token(1))
            let lost: JSON = ["PUSH_ID_TYPE": "@01", "PUSH_ID": ["E1"], "ALERT": "a"]
            #expect(try await code(world, "send", lost, key: world.apiKey) == "2003")
            let (number, _) = try await send(world, to: ["E2"])
            try await eventually("the history of D2") { try await list(world, "D2").count == 1 }
            // Another user of the device: what came before is the device's, and not his.
            _ = try await register(world, "D2", "E3", token(1))
            #expect(try await list(world, "D2").first?["REQ_ID"]?.string == number)
            #expect(try await list(world, "D2", "@01").isEmpty)

            func update(_ fields: JSON) async throws -> String? {
                var body = fields.object ?? JSONObject()
                body["DEVICE_ID"] = "D2"
                return try await code(world, "updateConfig", .object(body))
            }
            #expect(try await update(["START_TIME": "0900", "END_TIME": "1800", "PUSH_YN": "false"]) == "0000")
            var seen = try await config("D2")
            #expect(seen["START_TIME"] == "0900" && seen["END_TIME"] == "1800" && seen["PUSH_YN"] == "N")
            #expect(try await update(["PUSH_YN": "1", "START_TIME": ""]) == "0000")
            seen = try await config("D2")
            #expect(seen["START_TIME"] == "0900" && seen["PUSH_YN"] == "Y", "empty: left")
            for wrong in [["START_TIME": "2400"], ["END_TIME": "1260"], ["START_TIME": "900"], ["PUSH_YN": "X"]]
                as [JSON]
            {
                #expect(try await update(wrong) == "2002")
            }
            #expect(try await config("D2") == seen, "what is wrong changes nothing")
            #expect(try await update(["START_TIME": "0000", "END_TIME": "2359", "CP_USER_ID": "cp-3"]) == "0000")
            // The back end addresses him so from now on; the messages name the user.
            let (renamed, _) = try await send(world, to: ["cp-3"])
            try await eventually("the message to cp-3") {
                try await list(world, "D2").first?["REQ_ID"]?.string == renamed
            }
            #expect(try await list(world, "D2").first?["USER_CN"] == "E3")
            #expect(try await code(world, "getConfig", ["DEVICE_ID": "D9"]) == "2003")
        }
    }

    /// A device's life with the labels of the vendor's library document. Invalid values are refused and change
    /// nothing.
    @Test func theLibrarysOwnLabelsAreUnderstood() async throws {
        try await with { world in
            let token = token(5)
            let registered = try await call(
                world,
                "registiPNG",
                ["UserCN": "E1", "DeviceToken": .string(token), "DEVICE_ID": "D1"]
            )
            #expect(registered["rtCode"] == "0000" && registered["DEVICE_ID"] == "D1")
            func config() async throws -> JSON { try await call(world, "getConfig", ["DEVICE_ID": "D1"]) }
            let settings: JSON = [
                "DeviceToken": .string(token), "Start": "0000", "End": "2358", "YN": false, "CpUserId": "cp-1",
            ]
            #expect(try await code(world, "updateConfig", settings) == "0000")
            let seen = try await config()
            #expect(seen["PUSH_YN"] == "N" && seen["END_TIME"] == "2358" && seen["CP_USER_ID"] == "cp-1")
            for (wrong, wanted) in [
                (["DEVICE_ID": "D1", "Startt": "0900"], "2001"), (["DEVICE_ID": "D1", "Start": "2400"], "2002"),
                (["DEVICE_ID": "D1", "YN": "maybe"], "2002"),
            ] as [(JSON, String)] {
                #expect(try await code(world, "updateConfig", wrong) == wanted)
            }
            #expect(try await config() == seen, "what is refused changes nothing")
            let (number, _) = try await send(world, to: ["cp-1"])
            try await eventually("the history of D1") { try await list(world, "D1").first?["REQ_ID"]?.string == number }
            let read: JSON = ["DeviceToken": .string(token), "msg_id": .string(number)]
            #expect(try await code(world, "reportReadResultToServer", read) == "0000")
            #expect(try await list(world, "D1").first?["READ_YN"] == "Y")
            let unknown: JSON = ["DeviceToken": .string(token), "msg_id": "202001150900009999"]
            #expect(try await code(world, "reportReadResultToServer", unknown) == "2004")
        }
    }

    // docs/contracts/ipns.md#2.6, docs/contracts/ipns.md#2.7, docs/contracts/ipns.md#2.11: content that does not fit into a push, repeated receipts,
    // a repeated send, and a reserved send.
    @Test func sendsAreCutRepeatedAndReserved() async throws {
        try await with { world in
            _ = try await register(world, "D1", "E1", token(2))
            let text = String(repeating: "결재 문서 A-77 ", count: 400)
            let (number, _) = try await send(world, to: ["E1"], ["MESSAGE": .string(text), "BEDGE": 7])
            let push = try await world.payload(of: token(2))
            #expect(push["aps"]?["badge"] == 7, "the misspelling of its relatives is read")
            #expect(push["more"] == "Y")
            let part = try #require(push["message"]?.string)
            #expect(text.hasPrefix(part) && !part.isEmpty)
            try await eventually("the detail") {
                let detail: JSON = ["DEVICE_ID": "D1", "REQ_ID": .string(number)]
                return try await call(world, "getMsgDetail", detail)["ITEM"]?["MESSAGE"]?.string == text
            }
            let report: JSON = ["DEVICE_ID": "D1", "MSG_ID": .string(number)]
            for _ in 0..<2 { #expect(try await code(world, "recvReport", report) == "0000") }
            #expect(try await code(world, "recvReport", ["DEVICE_ID": "D1", "MSG_ID": "202001150900001234"]) == "2004")
            let long: JSON = [
                "PUSH_ID_TYPE": "@01", "PUSH_ID": ["E1"], "ALERT": .string(String(repeating: "a", count: 1025)),
            ]
            #expect(try await code(world, "send", long, key: world.apiKey) == "1036")

            let body: JSON = [
                "APP_ID": "hr.mobile", "PUSH_ID_TYPE": "@01", "PUSH_ID": ["E1"], "SEND_TYPE": "R", "ALERT": "later",
                "RESV_DATE": "20991231235959",
            ]
            func reserve(_ body: JSON) async throws -> JSON {
                let headers = ["Idempotency-Key": "order-77"]
                return try await world.http.call("POST", "/ipns/send", body, headers: headers, bearer: world.apiKey)
                    .json
                    ?? .null
            }
            // As far ahead as the century's end nothing is kept.
            #expect(try await reserve(body)["RT"] == "2002")
            var near = try #require(body.object)
            let hour = Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 + 3600) * 1000))
            near["RESV_DATE"] = .string(Self.seoul(hour))
            let first = try await reserve(.object(near))
            #expect(first["RT"] == "0000" && first["ACCEPTED"] == 1, "\(JSONWriter.text(first))")
            #expect(
                try await reserve(.object(near))["MESSAGE_ID"] == first["MESSAGE_ID"],
                "a repeat is the first answer"
            )
            let kept = try #require(first["MESSAGE_ID"]?.string)
            #expect(try await world.native("GET", "/v1/messages/\(kept)").json?["state"] == "scheduled")
        }
    }

    private static func seoul(_ time: Timestamp) -> String {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "Asia/Seoul")
        format.dateFormat = "yyyyMMddHHmmss"
        return format.string(from: Date(timeIntervalSince1970: Double(time.milliseconds) / 1000))
    }

    // docs/contracts/ipns.md#2.9, docs/contracts/ipns.md#2.10: a page has 20 messages without a count and 50 at most;
    // a poll returns ten and the number of remaining messages.
    @Test func pagesAndPollsHaveTheirCounts() async throws {
        try await with { world in
            _ = try await register(world, "D1", "E1", token(3), ["PUSH_YN": "N"])
            for _ in 0..<51 { _ = try await send(world, to: ["E1"]) }
            func page(_ count: JSON?) async throws -> Int? {
                var body = JSONObject([("DEVICE_ID", "D1"), ("PUSH_ID_TYPE", "@00"), ("REQ_TYPE", "N")])
                body["COUNT"] = count
                return try await call(world, "getMsgs", .object(body))["LIST"]?.array?.count
            }
            try await eventually("50 of 51") { try await page(99) == 50 }
            #expect(try await page(nil) == 20)
            #expect(try await page(0) == 20)
            #expect(try await page(1) == 1)
            for (fields, wanted) in [
                (["PUSH_ID_TYPE": "@02", "REQ_TYPE": "N"], "2002"), (["PUSH_ID_TYPE": "@00", "REQ_TYPE": "X"], "2002"),
                (["PUSH_ID_TYPE": "@00", "REQ_TYPE": "O", "REQ_ID": ""], "2001"),
                (["PUSH_ID_TYPE": "@00", "REQ_TYPE": "N", "COUNT": "ten"], "2002"),
            ] as [(JSON, String)] {
                var body = fields.object ?? JSONObject()
                body["DEVICE_ID"] = "D1"
                #expect(try await code(world, "getMsgs", .object(body)) == wanted)
            }
            // The last of them is written off a moment after its page was.
            let funnels = "SELECT count(*)::text AS value FROM gateway.inbox_open"
            try await eventually("51 that wait") { try await world.value(funnels) == "51" }
            let polled = try await call(world, "polling", ["DEVICE_ID": "D1"])
            #expect(polled["LIST"]?.array?.count == 10 && polled["REMAIN"] == 41)
            let rest = try await call(world, "polling", ["DEVICE_ID": "D1", "COUNT": 99])
            #expect(rest["LIST"]?.array?.count == 41 && rest["REMAIN"] == 0)
        }
    }
}
