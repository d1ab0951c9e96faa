import Foundation
import Model
import Testing

@testable import CommandSupport

// Further rules of docs/contracts/ipns.md#2.3 to 2.11, beyond the life of a device in `IPNSTests`, over real HTTP.
extension IPNSTests {
    // MARK: Finding the call (docs/contracts/ipns.md#2.3, docs/contracts/ipns.md#2.4)

    @Test func aCallIsFoundUnderAnyPathAndSpellingOfItsKeys() async throws {
        _ = try await register("door-1", of: "door", Self.token(31))
        let http = try world.http
        func user(_ answer: HTTPCaller.Answer) -> JSON? {
            answer.status == 200 && answer.json?["rtCode"] == "0000" ? answer.json?["CP_USER_ID"] : nil
        }
        let body: JSON = ["appId": "hr.mobile", "device-id": "door-1", "reqCmd": "getConfig"]
        #expect(user(try await http.call("POST", "/ipns/gw.do", body)) == "door")
        #expect(user(try await http.call("POST", "/ipns/v2/GetPushConfig.do", body)) == "door")
        let form = ["APPID": "hr.mobile", "DEVICEID": "door-1"]
        #expect(user(try await http.post("/ipns/GETCONFIG", form: form)) == "door")
        #expect(user(try await http.call("GET", "/ipns/getConfig?APP_ID=hr.mobile&DEVICE_ID=door-1")) == "door")
    }

    @Test func aCallIsFoundByItsFieldsExceptASend() async throws {
        _ = try await register("fields-1", of: "fields", Self.token(32))
        let world = try world
        // The detail of an unknown message.
        let detail: JSON = ["APP_ID": "hr.mobile", "DEVICE_ID": "fields-1", "REQ_ID": "202001150900001234"]
        #expect(try await world.http.call("POST", "/ipns", detail).json?["RT"] == "2004")
        let send: JSON = ["APP_ID": "hr.mobile", "PUSH_ID_TYPE": "@01", "PUSH_ID": ["fields"], "ALERT": "a"]
        let guessed = try await world.http.call("POST", "/ipns/gw.do", send, bearer: world.apiKey)
        #expect(guessed.json?["RT"] == "9999")
    }

    @Test func anUnreadableBodyIs400() async throws {
        let broken = try await world.http.post("/ipns/getConfig", json: Array("{\"APP_ID\":".utf8))
        #expect(broken.status == 400, "\(broken.text)")
        #expect(broken.json?["RT"] == "9999")
    }

    // MARK: Registrations (docs/contracts/ipns.md#2.5)

    @Test func aRegistrationWithoutAPushSettingKeepsIt() async throws {
        let token = Self.token(33)
        #expect(try await register("again-1", of: "again", token, ["PUSH_YN": "N"])["PUSH_YN"] == "N")
        #expect(try await register("again-1", of: "again", token)["PUSH_YN"] == "N")
        #expect(try await register("again-1", of: "again", token, ["PUSH_YN": "Y"])["PUSH_YN"] == "Y")
    }

    @Test func aRegistrationWithoutAUserOrAUsableTokenIsRefused() async throws {
        let token = JSON.string(Self.token(34))
        for (body, wanted) in [
            (["DEVICE_ID": "wrong-1", "PUSH_TOKEN": token], "2001"),
            (["USER_CN": "", "DEVICE_ID": "wrong-1", "PUSH_TOKEN": token], "2001"),
            (["USER_CN": "wrong", "DEVICE_ID": "wrong-1", "PUSH_TOKEN": "9f2c"], "1305"),
            (
                ["USER_CN": "wrong", "DEVICE_ID": "wrong-1", "PUSH_TOKEN": .string(String(repeating: "x", count: 64))],
                "1305"
            ),
        ] as [(JSON, String)] {
            #expect(try await code("appRegist", body) == wanted, "\(JSONWriter.text(body))")
        }
        #expect(try await code("getConfig", ["DEVICE_ID": "wrong-1"]) == "2003")
    }

    @Test func aTokenBelongsToTheNewestDevice() async throws {
        _ = try await register("older-1", of: "older", Self.token(35))
        _ = try await register("newer-1", of: "newer", Self.token(35))
        let lost: JSON = ["PUSH_ID_TYPE": "@01", "PUSH_ID": ["older"], "ALERT": "a"]
        #expect(try await code("send", lost, key: world.apiKey) == "2003")
        let (number, _) = try await send(to: ["newer"])
        let item = try await first("the history of the newest device") { try await list("newer-1").first }
        #expect(item["REQ_ID"] == .string(number))
    }

    @Test func aNewUserOfADeviceDoesNotSeeThePreviousUsersMessages() async throws {
        _ = try await register("handed-1", of: "giver", Self.token(36))
        let (number, _) = try await send(to: ["giver"])
        try await eventually("the history") { try await list("handed-1").count == 1 }
        _ = try await register("handed-1", of: "taker", Self.token(36))
        #expect(try await list("handed-1").first?["REQ_ID"] == .string(number), "the history of the device")
        #expect(try await list("handed-1", "@01").isEmpty, "the history of the user")
    }

    // MARK: Settings (docs/contracts/ipns.md#2.8)

    private func config(_ device: String) async throws -> JSON {
        try await call("getConfig", ["DEVICE_ID": .string(device)])
    }

    @Test func anUpdateChangesTheGivenSettingsAndKeepsTheOthers() async throws {
        _ = try await register("set-1", of: "set", Self.token(37))
        let first: JSON = ["DEVICE_ID": "set-1", "START_TIME": "0900", "END_TIME": "1800", "PUSH_YN": "false"]
        #expect(try await code("updateConfig", first) == "0000")
        let changed = try await config("set-1")
        #expect(changed["START_TIME"] == "0900" && changed["END_TIME"] == "1800" && changed["PUSH_YN"] == "N")
        #expect(try await code("updateConfig", ["DEVICE_ID": "set-1", "PUSH_YN": "1", "START_TIME": ""]) == "0000")
        let kept = try await config("set-1")
        #expect(kept["START_TIME"] == "0900" && kept["END_TIME"] == "1800" && kept["PUSH_YN"] == "Y")
    }

    @Test func aWrongSettingChangesNothing() async throws {
        _ = try await register("unset-1", of: "unset", Self.token(38))
        let before = try await config("unset-1")
        for (key, value) in [("START_TIME", "2400"), ("END_TIME", "1260"), ("START_TIME", "900"), ("PUSH_YN", "X")] {
            let fields = JSONObject([
                ("DEVICE_ID", "unset-1"), ("CP_USER_ID", "other"), (key, .string(value)),
            ])
            #expect(try await code("updateConfig", .object(fields)) == "2002", "\(key) \(value)")
        }
        #expect(try await config("unset-1") == before)
    }

    @Test func aDeviceIsAddressedByItsNewCPUserID() async throws {
        _ = try await register("renamed-1", of: "renamed", Self.token(39))
        let update: JSON = ["DEVICE_ID": "renamed-1", "CP_USER_ID": "cp-3"]
        #expect(try await code("updateConfig", update) == "0000")
        let (number, _) = try await send(to: ["cp-3"])
        let item = try await first("the message to cp-3") { try await list("renamed-1").first }
        #expect(item["REQ_ID"] == .string(number))
        #expect(item["USER_CN"] == "renamed", "messages name the user")
    }

    // MARK: The labels of the vendor's library document

    @Test func theLibrarysLabelsRegisterUpdateAndRead() async throws {
        let token = JSON.string(Self.token(40))
        let registered = try await call(
            "registiPNG",
            ["UserCN": "library", "DeviceToken": token, "DEVICE_ID": "library-1"]
        )
        #expect(registered["rtCode"] == "0000" && registered["DEVICE_ID"] == "library-1")
        let settings: JSON = [
            "DeviceToken": token, "Start": "0000", "End": "2358", "YN": false, "CpUserId": "cp-1",
        ]
        #expect(try await code("updateConfig", settings) == "0000")
        let seen = try await config("library-1")
        #expect(seen["PUSH_YN"] == "N" && seen["END_TIME"] == "2358" && seen["CP_USER_ID"] == "cp-1")
        let (number, _) = try await send(to: ["cp-1"])
        try await eventually("the history") {
            try await list("library-1").first?["REQ_ID"] == .string(number)
        }
        let read: JSON = ["DeviceToken": token, "msg_id": .string(number)]
        #expect(try await code("reportReadResultToServer", read) == "0000")
        #expect(try await list("library-1").first?["READ_YN"] == "Y")
    }

    @Test func anUnusableValueUnderTheLibrarysLabelsIsRefusedAndChangesNothing() async throws {
        _ = try await register("label-1", of: "label", Self.token(41))
        let before = try await config("label-1")
        for (wrong, wanted) in [
            (["DEVICE_ID": "label-1", "Startt": "0900"], "2001"), (["DEVICE_ID": "label-1", "Start": "2400"], "2002"),
            (["DEVICE_ID": "label-1", "YN": "maybe"], "2002"),
        ] as [(JSON, String)] {
            #expect(try await code("updateConfig", wrong) == wanted, "\(JSONWriter.text(wrong))")
        }
        #expect(try await config("label-1") == before)
        let unknown: JSON = ["DeviceToken": .string(Self.token(41)), "msg_id": "202001150900009999"]
        #expect(try await code("reportReadResultToServer", unknown) == "2004")
    }

    // MARK: Sends (docs/contracts/ipns.md#2.6, docs/contracts/ipns.md#2.11)

    @Test func aMessageTooLongForAPushIsCutThereAndWholeInTheDetail() async throws {
        _ = try await register("long-1", of: "long", Self.token(42))
        let text = String(repeating: "결재 문서 A-77 ", count: 400)
        // `BEDGE` is the misspelling of the vendor's related products.
        let (number, _) = try await send(to: ["long"], ["MESSAGE": .string(text), "BEDGE": 7])
        let push = try await world.payload(of: Self.token(42))
        #expect(push["aps"]?["badge"] == 7)
        #expect(push["more"] == "Y")
        let part = try #require(push["message"]?.string)
        #expect(text.hasPrefix(part) && !part.isEmpty)
        let detail: JSON = ["DEVICE_ID": "long-1", "REQ_ID": .string(number)]
        try await eventually("the detail") {
            try await call("getMsgDetail", detail)["ITEM"]?["MESSAGE"]?.string == text
        }
    }

    @Test func anAlertAboveTheLimitIsRefused() async throws {
        _ = try await register("wordy-1", of: "wordy", Self.token(43))
        let long: JSON = [
            "PUSH_ID_TYPE": "@01", "PUSH_ID": ["wordy"], "ALERT": .string(String(repeating: "a", count: 1025)),
        ]
        #expect(try await code("send", long, key: world.apiKey) == "1036")
    }

    /// A later send with an `Idempotency-Key`.
    private func reserve(for user: String, at time: String, key: String) async throws -> JSON {
        let body: JSON = [
            "APP_ID": "hr.mobile", "PUSH_ID_TYPE": "@01", "PUSH_ID": [.string(user)], "SEND_TYPE": "R",
            "ALERT": "later", "RESV_DATE": .string(time),
        ]
        let world = try world
        let headers = ["Idempotency-Key": key]
        return try await world.http.call("POST", "/ipns/send", body, headers: headers, bearer: world.apiKey).json
            ?? .null
    }

    @Test func aRepeatedReservationHasTheFirstAnswer() async throws {
        _ = try await register("later-1", of: "later", Self.token(44))
        let hour = Self.seoul(Date() + 3600)
        let first = try await reserve(for: "later", at: hour, key: "order-77")
        #expect(first["RT"] == "0000" && first["ACCEPTED"] == 1, "\(JSONWriter.text(first))")
        let again = try await reserve(for: "later", at: hour, key: "order-77")
        #expect(again["MESSAGE_ID"] == first["MESSAGE_ID"])
        let kept = try #require(first["MESSAGE_ID"]?.string)
        #expect(try await world.native("GET", "/v1/messages/\(kept)").json?["state"] == "scheduled")
    }

    @Test(arguments: ["20200101000000", "20991231235959"])
    func aReservationInThePastOrTooFarAheadIsRefused(time: String) async throws {
        _ = try await register("never-1", of: "never", Self.token(45))
        #expect(try await reserve(for: "never", at: time, key: "order-\(time)")["RT"] == "2002")
    }

    private static func seoul(_ time: Date) -> String {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "Asia/Seoul")
        format.dateFormat = "yyyyMMddHHmmss"
        return format.string(from: time)
    }

    // MARK: Counts (docs/contracts/ipns.md#2.9, docs/contracts/ipns.md#2.10)

    @Test func aPageHasTwentyMessagesWithoutACountAndFiftyAtMost() async throws {
        _ = try await register("many-1", of: "many", Self.token(46), ["PUSH_YN": "N"])
        for _ in 0..<51 { _ = try await send(to: ["many"]) }
        func page(_ count: JSON?) async throws -> Int? {
            var body = JSONObject([("DEVICE_ID", "many-1"), ("PUSH_ID_TYPE", "@00"), ("REQ_TYPE", "N")])
            body["COUNT"] = count
            return try await call("getMsgs", .object(body))["LIST"]?.array?.count
        }
        try await eventually("50 of 51") { try await page(99) == 50 }
        #expect(try await page(nil) == 20)
        #expect(try await page(0) == 20)
        #expect(try await page(1) == 1)
    }

    @Test func aWrongRequestForAPageIsRefused() async throws {
        _ = try await register("astray-1", of: "astray", Self.token(47))
        for (fields, wanted) in [
            (["PUSH_ID_TYPE": "@02", "REQ_TYPE": "N"], "2002"), (["PUSH_ID_TYPE": "@00", "REQ_TYPE": "X"], "2002"),
            (["PUSH_ID_TYPE": "@00", "REQ_TYPE": "O", "REQ_ID": ""], "2001"),
            (["PUSH_ID_TYPE": "@00", "REQ_TYPE": "N", "COUNT": "ten"], "2002"),
        ] as [(JSON, String)] {
            var body = fields.object ?? JSONObject()
            body["DEVICE_ID"] = "astray-1"
            #expect(try await code("getMsgs", .object(body)) == wanted, "\(JSONWriter.text(fields))")
        }
    }

    @Test func aPollReturnsTenMessagesWithoutACountAndHowManyRemain() async throws {
        _ = try await register("queue-1", of: "queue", Self.token(48), ["PUSH_YN": "N"])
        for _ in 0..<13 { _ = try await send(to: ["queue"]) }
        // A poll returns a message after its delivery is recorded, a moment after the send.
        let waiting = """
            SELECT count(*)::text AS value FROM gateway.inbox_open o
            JOIN gateway.identity i ON i.tenant_id = o.tenant_id AND i.identity_id = o.identity_id WHERE i.key = 'queue-1'
            """
        try await eventually("13 wait") { try await world.value(waiting) == "13" }
        let polled = try await call("polling", ["DEVICE_ID": "queue-1"])
        #expect(polled["LIST"]?.array?.count == 10 && polled["REMAIN"] == 3)
        let rest = try await call("polling", ["DEVICE_ID": "queue-1", "COUNT": 99])
        #expect(rest["LIST"]?.array?.count == 3 && rest["REMAIN"] == 0)
    }
}
