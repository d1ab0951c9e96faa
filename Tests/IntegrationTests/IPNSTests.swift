import CommandSupport
import Coverage
import Foundation
import Model
import Testing

/// iPNS over real HTTP, PostgreSQL and the simulator: register, send, receive, read, history, polling, settings
/// (docs/contracts/ipns.md#2.5 to 2.11).
@Suite(.serialized, .timeLimit(.minutes(5)))
struct IPNSTests {
    static let tokens = (0..<4).map { String(format: "%064x", 0xA0 + $0) }

    @Test(
        .covers(
            "ipns",
            "appRegist",
            "recvReport",
            "readReport",
            "updateConfig",
            "getConfig",
            "getMsgs",
            "getMsgDetail",
            "polling",
            "send"
        )
    ) func aDevicesLifeFromRegistrationToPolling() async throws {
        try await World.with { world in
            try #require(try await world.apply().status == 0)
            try await bind(world, "ipns: { appId: hr.mobile }")
            try await registers(world)
            let first = try await sends(world)
            try await reads(world, first)
            try await keepsWhatIsNotPushed(world)
            try await pages(world)
            try await nativeMessages(world)
            try await polls(world)
            try await refuses(world)
        }
    }

    /// Provisions the demo's app with a further binding.
    func bind(_ world: World, _ line: String) async throws {
        let file = try String(contentsOfFile: world.material.path("tenants.yaml"), encoding: .utf8)
        try (file + "\n          \(line)\n").write(
            toFile: world.material.path("ipns.yaml"),
            atomically: true,
            encoding: .utf8
        )
        let applied = try await world.apply("ipns.yaml")
        try #require(applied.status == 0, "\(applied.log)")
        // A running gateway follows within a second.
        try await eventually("the binding is served") {
            try await call(world, "getConfig", ["DEVICE_ID": "nobody"])["RT"] == "2003"
        }
    }

    func call(_ world: World, _ operation: String, _ fields: JSON, key: String? = nil) async throws -> JSON {
        var body = fields.object ?? JSONObject()
        body["APP_ID"] = "hr.mobile"
        let answer = try await world.http.call("POST", "/ipns/\(operation)", .object(body), bearer: key)
        #expect(answer.status == 200, "\(operation): \(answer.status) \(answer.text)")
        return answer.json ?? .null
    }

    func send(_ world: World, to ids: [String], _ fields: JSON = [:]) async throws -> (
        number: String, answer: JSON
    ) {
        var body = JSONObject([
            ("PUSH_ID_TYPE", "@01"), ("PUSH_ID", .array(ids.map { .string($0) })), ("TITLE", "Approval"),
            ("ALERT", "You have a new approval"), ("MESSAGE", "{\"docId\":\"A-77\"}"), ("SEND_TYPE", "I"),
        ])
        for (key, value) in fields.object?.pairs ?? [] { body[key] = value }
        let answer = try await call(world, "send", .object(body), key: world.apiKey)
        return (try #require(answer["MESSAGE_ID"]?.string, "\(JSONWriter.text(answer))"), answer)
    }

    func list(_ world: World, _ device: String, _ type: String = "@00", _ more: JSON = [:]) async throws
        -> [JSON]
    {
        var body = JSONObject([
            ("DEVICE_ID", .string(device)), ("PUSH_ID_TYPE", .string(type)), ("REQ_TYPE", "N"), ("COUNT", 50),
        ])
        for (key, value) in more.object?.pairs ?? [] { body[key] = value }
        let answer = try await call(world, "getMsgs", .object(body))
        let list = try #require(answer["LIST"]?.array, "\(JSONWriter.text(answer))")
        #expect(answer["RT"] == "0000" && answer["COUNT"]?.int == Int64(list.count))
        return list
    }

    // docs/contracts/ipns.md#2.5
    private func registers(_ world: World) async throws {
        for (device, user, token) in [("D1", "E12345", 0), ("D2", "E12345", 1), ("D3", "E2", 2)] {
            let answer = try await call(
                world,
                "appRegist",
                [
                    "USER_CN": .string(user), "DEVICE_ID": .string(device), "PUSH_TOKEN": .string(Self.tokens[token]),
                    "PUSH_TYPE": "ios",
                ]
            )
            let wanted: JSON = [
                "RT": "0000", "RT_MSG": "SUCCESS", "rtCode": "0000", "error": "", "DEVICE_ID": .string(device),
                "PUSH_YN": "Y",
            ]
            #expect(answer == wanted)
        }
        // Without DEVICE_ID the token makes one, and the same one again.
        let unnamed: JSON = ["USER_CN": "E4", "PUSH_TOKEN": .string(Self.tokens[3]), "PUSH_YN": "N"]
        let first = try await call(world, "appRegist", unnamed)
        let second = try await call(world, "appRegist", ["USER_CN": "E4", "PUSH_TOKEN": .string(Self.tokens[3])])
        #expect(first["DEVICE_ID"] == second["DEVICE_ID"] && first["PUSH_YN"] == "N" && second["PUSH_YN"] == "N")
        let known = try await call(world, "getConfig", ["PUSH_TOKEN": .string(Self.tokens[3])])
        #expect(known["CP_USER_ID"] == "E4" && known["START_TIME"] == "0000" && known["END_TIME"] == "2359")
    }

    // docs/contracts/ipns.md#2.11, docs/contracts/ipns.md#2.6
    private func sends(_ world: World) async throws -> String {
        let (number, answer) = try await send(world, to: ["E12345", "E77777"], ["BADGE": 1, "SOUND": "default"])
        #expect(answer["ACCEPTED"] == 1 && answer["NOT_FOUND"] == ["E77777"])
        #expect(number.utf8.count == 18 && number.utf8.allSatisfy { (0x30...0x39).contains($0) })
        for token in Self.tokens[..<2] {
            try await eventually("the push to \(token.suffix(2))") {
                let seen = try await world.control.call("GET", "/_simulator/requests?token=\(token)").text
                guard seen.contains(number) else { return false }
                for part in ["requestId", "hr.mobile", "docId", "content-available", "You have a new approval"] {
                    #expect(seen.contains(part), "\(part) is missing: \(seen)")
                }
                return true
            }
        }
        return number
    }

    // docs/contracts/ipns.md#2.7, docs/contracts/ipns.md#2.9
    private func reads(_ world: World, _ number: String) async throws {
        try await eventually("the history") { try await list(world, "D1").count == 1 }
        let item = try #require(try await list(world, "D1").first)
        let known: [(String, JSON)] = [
            ("REQ_ID", .string(number)), ("TITLE", "Approval"), ("ALERT", "You have a new approval"),
            ("MESSAGE", "{\"docId\":\"A-77\"}"), ("SEND_DATE", item["SEND_DATE"] ?? .null), ("RECV_YN", "Y"),
            ("READ_YN", "N"), ("USER_CN", "E12345"),
        ]
        #expect(item == .object(JSONObject(known)))
        // The same moment, but for the borrowed seconds of a busy one.
        #expect(item["SEND_DATE"]?.string?.prefix(10) == number.prefix(10))
        // A detail shows it, and reads nothing; D3's user may not see it.
        let detail: JSON = ["DEVICE_ID": "D2", "REQ_ID": .string(number)]
        #expect(try await call(world, "getMsgDetail", detail)["ITEM"]?["READ_YN"] == "N")
        #expect(try await call(world, "getMsgDetail", ["DEVICE_ID": "D3", "REQ_ID": .string(number)])["RT"] == "2004")
        let receipt: JSON = ["DEVICE_ID": "D1", "USER_CN": "E12345", "REQ_ID": .string(number)]
        for _ in 0..<2 { #expect(try await call(world, "readReport", receipt)["RT"] == "0000") }
        #expect(try await list(world, "D1").first?["READ_YN"] == "Y")
        #expect(try await list(world, "D1", "@01").first?["READ_YN"] == "Y")
        #expect(try await list(world, "D3", "@01").isEmpty)
        #expect(
            try await call(world, "readReport", ["DEVICE_ID": "D1", "REQ_ID": "202001150900001234"])["RT"] == "2004"
        )
        #expect(try await call(world, "readReport", ["DEVICE_ID": "D9", "REQ_ID": .string(number)])["RT"] == "2003")
        // D2 has it too, and has not shown it yet: its own report.
        #expect(try await call(world, "recvReport", ["DEVICE_ID": "D2", "MSG_ID": .string(number)])["RT"] == "0000")
        let shown = try await world.native("GET", "/v1/messages/\(number)")
        #expect(shown.json?["funnel"]?["received"] == 2 && shown.json?["funnel"]?["read"] == 1, "\(shown.text)")
    }

    // docs/contracts/ipns.md#2.6, docs/contracts/ipns.md#2.8: outside the hours, or with push off, no push is sent
    // and no message is lost.
    private func keepsWhatIsNotPushed(_ world: World) async throws {
        let minute = LocalTime(
            Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)),
            in: TimeZoneName(stored: "Asia/Seoul")
        ).minute
        let away = { (shift: Int) in JSON.string(DailyWindow.text((minute + shift) % 1440)) }
        let closed = try await call(
            world,
            "updateConfig",
            ["DEVICE_ID": "D3", "START_TIME": away(300), "END_TIME": away(600), "PUSH_YN": "Y", "CP_USER_ID": "cp-2"]
        )
        #expect(closed["RT"] == "0000")
        let config = try await call(world, "getConfig", ["DEVICE_ID": "D3"])
        #expect(config["START_TIME"] == away(300) && config["CP_USER_ID"] == "cp-2")
        var reasons: [String] = []
        for user in ["cp-2", "E4"] {
            let (number, _) = try await send(world, to: [user])
            var message = ""
            try await eventually("the outcome for \(user)") {
                let shown = try await world.native("GET", "/v1/messages/\(number)")
                message = shown.json?["id"]?.string ?? ""
                return shown.json?["funnel"]?["suppressed"] == 1
            }
            let deliveries = try await world.native("GET", "/v1/messages/\(message)/deliveries")
            reasons.append(deliveries.json?["deliveries"]?.array?.first?["reason"]?.string ?? deliveries.text)
        }
        #expect(reasons == ["receivingWindow", "preference"])
        // In the history, not received by being shown: only what APNs took is.
        for _ in 0..<2 { #expect(try await list(world, "D3").first?["RECV_YN"] == "N") }
        let polled = try await call(world, "polling", ["DEVICE_ID": "D3"])
        #expect(polled["REMAIN"] == 0 && polled["LIST"]?.array?.count == 1, "\(JSONWriter.text(polled))")
        #expect(try await list(world, "D3").first?["RECV_YN"] == "Y")
    }

    // docs/contracts/ipns.md#2.9: the filters N and O, an id that was deleted, and counts.
    private func pages(_ world: World) async throws {
        _ = try await call(
            world,
            "updateConfig",
            ["DEVICE_ID": "D3", "START_TIME": "0000", "END_TIME": "2359", "CP_USER_ID": "E2"]
        )
        var numbers: [String] = []
        for index in 0..<6 {
            numbers.insert(try await send(world, to: ["E2"], ["ALERT": .string("message \(index)")]).number, at: 0)
        }
        try await eventually("six more") { try await list(world, "D3").count == 7 }
        var seen = try await list(world, "D3", "@00", ["COUNT": 4]).compactMap { $0["REQ_ID"]?.string }
        #expect(seen == Array(numbers[..<4]))
        #expect(seen == seen.sorted(by: >))
        let next: JSON = ["REQ_TYPE": "O", "REQ_ID": .string(seen.last ?? ""), "COUNT": 2]
        seen += try await list(world, "D3", "@01", next).compactMap { $0["REQ_ID"]?.string }
        #expect(seen == numbers)
        let gone: JSON = ["REQ_TYPE": "O", "REQ_ID": "190001010000000000"]
        #expect(try await list(world, "D3", "@00", gone).isEmpty)
        let later: JSON = ["REQ_TYPE": "O", "REQ_ID": "299901010000000000", "COUNT": 99]
        #expect(try await list(world, "D3", "@00", later).count == 7)
        #expect(
            try await call(
                world,
                "getMsgs",
                ["DEVICE_ID": "D3", "PUSH_ID_TYPE": "@01", "USER_CN": "E12345", "REQ_TYPE": "N"]
            )["RT"] == "2003"
        )
    }

    /// A message of the native API has a number too.
    private func nativeMessages(_ world: World) async throws {
        let body: JSON = ["app": "shop", "to": ["users": ["E2"]], "title": "t", "body": "native", "data": ["k": "v"]]
        let sent = try await world.native("POST", "/v1/messages", body)
        try #require(sent.status == 202, "\(sent.text)")
        try await eventually("the native message") {
            guard let item = try await list(world, "D3").first, item["ALERT"] == "native" else { return false }
            #expect(item["REQ_ID"]?.string?.utf8.count == 18 && item["MESSAGE"] == "{\"k\":\"v\"}")
            return true
        }
    }

    // docs/contracts/ipns.md#2.10
    private func polls(_ world: World) async throws {
        _ = try await call(world, "updateConfig", ["DEVICE_ID": "D2", "PUSH_YN": "N"])
        var numbers: [String] = []
        for _ in 0..<5 {
            numbers.append(
                try await send(world, to: ["D2"], ["PUSH_ID_TYPE": "@00"]).number
            )
        }
        var polled: [String] = []
        var remaining: [Int64] = []
        try await eventually("five messages") {
            let answer = try await call(world, "polling", ["DEVICE_ID": "D2", "COUNT": 2])
            let list = answer["LIST"]?.array ?? []
            polled += list.compactMap { $0["REQ_ID"]?.string }
            if !list.isEmpty { remaining.append(answer["REMAIN"]?.int ?? -1) }
            #expect(list.allSatisfy { $0["RECV_YN"] == "Y" })
            return polled.count == 5
        }
        #expect(polled == numbers && remaining.last == 0, "\(polled) \(remaining)")
        let empty = try await call(world, "polling", ["DEVICE_ID": "D2"])
        #expect(empty["REMAIN"] == 0 && empty["LIST"] == [])
    }

    private func refuses(_ world: World) async throws {
        let body: JSON = ["APP_ID": "hr.mobile", "PUSH_ID_TYPE": "@01", "PUSH_ID": ["E2"], "ALERT": "a"]
        for key in [nil, "pgw_wrong", ""] as [String?] {
            let answer = try await world.http.call("POST", "/ipns/send", body, bearer: key)
            #expect(answer.status == 200 && answer.json?["RT"] == "9999", "\(answer.text)")
        }
        let nobody = try await call(
            world,
            "send",
            ["PUSH_ID_TYPE": "@01", "PUSH_ID": ["E0"], "ALERT": "a"],
            key: world.apiKey
        )
        #expect(nobody["RT"] == "2003")
        let unknown = try await world.http.call("POST", "/ipns/getConfig", ["APP_ID": "no.app", "DEVICE_ID": "D1"])
        #expect(unknown.json?["RT"] == "1400")
        let other = try await world.http.call("POST", "/ipns/no/such.do", ["APP_ID": "hr.mobile", "X": 1])
        #expect(other.status == 200 && other.json?["RT"] == "9999")
        // The same send under a repeat key has the first answer's number.
        let late = try await call(
            world,
            "send",
            ["PUSH_ID_TYPE": "@01", "PUSH_ID": ["E2"], "ALERT": "a", "SEND_TYPE": "R", "RESV_DATE": "20200101000000"],
            key: world.apiKey
        )
        #expect(late["RT"] == "2002")
    }
}
