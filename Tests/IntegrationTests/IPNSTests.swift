import CommandSupport
import Coverage
import Foundation
import Model
import Testing

/// iPNS over real HTTP, PostgreSQL and the simulator: register, send, receive, read, history, polling, settings
/// (docs/contracts/ipns.md#2.5 to 2.11).
///
/// All tests share one app. Each test has its own devices, users and tokens.
@Suite(.serialized, .timeLimit(.minutes(10)), .sharedWorld { try await $0.bindIPNS() })
struct IPNSTests {
    var world: World { get throws { try SharedWorld.current } }

    // MARK: Calls

    func call(
        _ operation: String,
        _ fields: JSON,
        key: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> JSON {
        var body = fields.object ?? JSONObject()
        body["APP_ID"] = "hr.mobile"
        let answer = try await world.http.call("POST", "/ipns/\(operation)", .object(body), bearer: key)
        #expect(
            answer.status == 200,
            "\(operation): \(answer.status) \(answer.text)",
            sourceLocation: sourceLocation
        )
        return answer.json ?? .null
    }

    /// The result code of a call.
    func code(
        _ operation: String,
        _ fields: JSON,
        key: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String? {
        try await call(operation, fields, key: key, sourceLocation: sourceLocation)["RT"]?.string
    }

    func register(
        _ device: String,
        of user: String,
        _ token: String,
        _ more: JSON = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> JSON {
        var body = JSONObject([
            ("USER_CN", .string(user)), ("DEVICE_ID", .string(device)), ("PUSH_TOKEN", .string(token)),
        ])
        for (key, value) in more.object?.pairs ?? [] { body[key] = value }
        let answer = try await call("appRegist", .object(body), sourceLocation: sourceLocation)
        try #require(answer["RT"] == "0000", "\(JSONWriter.text(answer))", sourceLocation: sourceLocation)
        return answer
    }

    /// Sends to users, or to the targets in `fields`, and returns the message's number with the answer.
    func send(
        to ids: [String],
        _ fields: JSON = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> (number: String, answer: JSON) {
        var body = JSONObject([
            ("PUSH_ID_TYPE", "@01"), ("PUSH_ID", .array(ids.map { .string($0) })), ("TITLE", "Approval"),
            ("ALERT", "You have a new approval"), ("MESSAGE", "{\"docId\":\"A-77\"}"), ("SEND_TYPE", "I"),
        ])
        for (key, value) in fields.object?.pairs ?? [] { body[key] = value }
        let answer = try await call("send", .object(body), key: world.apiKey, sourceLocation: sourceLocation)
        let number = try #require(
            answer["MESSAGE_ID"]?.string,
            "\(JSONWriter.text(answer))",
            sourceLocation: sourceLocation
        )
        return (number, answer)
    }

    /// The newest messages of a device (`@00`) or of its user (`@01`).
    func list(
        _ device: String,
        _ type: String = "@00",
        _ more: JSON = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [JSON] {
        var body = JSONObject([
            ("DEVICE_ID", .string(device)), ("PUSH_ID_TYPE", .string(type)), ("REQ_TYPE", "N"), ("COUNT", 50),
        ])
        for (key, value) in more.object?.pairs ?? [] { body[key] = value }
        let answer = try await call("getMsgs", .object(body), sourceLocation: sourceLocation)
        let list = try #require(
            answer["LIST"]?.array,
            "\(JSONWriter.text(answer))",
            sourceLocation: sourceLocation
        )
        #expect(
            answer["RT"] == "0000" && answer["COUNT"]?.int == Int64(list.count),
            sourceLocation: sourceLocation
        )
        return list
    }

    static func token(_ number: Int) -> String { String(format: "%064x", 0xA000 + number) }

    /// Registers devices of one user, sends to the user, and returns the number when the message is in the history of
    /// each device.
    private func delivered(
        to user: String,
        on devices: [(id: String, token: Int)],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        for device in devices {
            _ = try await register(device.id, of: user, Self.token(device.token), sourceLocation: sourceLocation)
        }
        let (number, _) = try await send(to: [user], sourceLocation: sourceLocation)
        for device in devices {
            try await eventually("the history of \(device.id)", sourceLocation: sourceLocation) {
                try await list(device.id, sourceLocation: sourceLocation).count == 1
            }
        }
        return number
    }

    // MARK: Registrations (docs/contracts/ipns.md#2.5)

    @Test(.covers("ipns", "appRegist"))
    func aRegistrationIsAnsweredWithItsDevice() async throws {
        let fields: JSON = [
            "USER_CN": "new", "DEVICE_ID": "new-1", "PUSH_TOKEN": .string(Self.token(1)), "PUSH_TYPE": "ios",
        ]
        let wanted: JSON = [
            "RT": "0000", "RT_MSG": "SUCCESS", "rtCode": "0000", "error": "", "DEVICE_ID": "new-1", "PUSH_YN": "Y",
        ]
        #expect(try await call("appRegist", fields) == wanted)
    }

    @Test(.covers("ipns", "appRegist", "getConfig"))
    func withoutADeviceIDTheTokenIdentifiesTheDevice() async throws {
        let token = JSON.string(Self.token(2))
        let first = try await call("appRegist", ["USER_CN": "unnamed", "PUSH_TOKEN": token, "PUSH_YN": "N"])
        let second = try await call("appRegist", ["USER_CN": "unnamed", "PUSH_TOKEN": token])
        #expect(first["DEVICE_ID"]?.string?.isEmpty == false)
        #expect(first["DEVICE_ID"] == second["DEVICE_ID"] && first["PUSH_YN"] == "N" && second["PUSH_YN"] == "N")
        let config = try await call("getConfig", ["PUSH_TOKEN": token])
        #expect(config["CP_USER_ID"] == "unnamed" && config["START_TIME"] == "0000" && config["END_TIME"] == "2359")
    }

    // MARK: Sends (docs/contracts/ipns.md#2.6, docs/contracts/ipns.md#2.11)

    @Test(.covers("ipns", "send"))
    func aSendReachesAllDevicesOfAUserAndNamesUnknownUsers() async throws {
        for number in [3, 4] { _ = try await register("sent-\(number)", of: "sent", Self.token(number)) }
        let (number, answer) = try await send(to: ["sent", "E77777"], ["BADGE": 1, "SOUND": "default"])
        #expect(answer["ACCEPTED"] == 1 && answer["NOT_FOUND"] == ["E77777"])
        #expect(number.utf8.count == 18 && number.utf8.allSatisfy { (0x30...0x39).contains($0) })
        let control = try world.control
        for token in [Self.token(3), Self.token(4)] {
            let seen = try await first("the push to \(token.suffix(2))") {
                let seen = try await control.call("GET", "/_simulator/requests?token=\(token)").text
                return seen.contains(number) ? seen : nil
            }
            for part in ["requestId", "hr.mobile", "docId", "content-available", "You have a new approval"] {
                #expect(seen.contains(part), "\(part) is missing: \(seen)")
            }
        }
    }

    @Test func aSendWithoutTheAppsKeyIsRefused() async throws {
        let body: JSON = ["APP_ID": "hr.mobile", "PUSH_ID_TYPE": "@01", "PUSH_ID": ["E2"], "ALERT": "a"]
        for key in [nil, "pgw_wrong", ""] as [String?] {
            let answer = try await world.http.call("POST", "/ipns/send", body, bearer: key)
            #expect(answer.status == 200 && answer.json?["RT"] == "9999", "\(answer.text)")
        }
    }

    @Test func eachUnknownNameHasItsCode() async throws {
        let nobody: JSON = ["PUSH_ID_TYPE": "@01", "PUSH_ID": ["E0"], "ALERT": "a"]
        #expect(try await code("send", nobody, key: world.apiKey) == "2003")
        let unknown = try await world.http.call("POST", "/ipns/getConfig", ["APP_ID": "no.app", "DEVICE_ID": "D1"])
        #expect(unknown.json?["RT"] == "1400")
        let other = try await world.http.call("POST", "/ipns/no/such.do", ["APP_ID": "hr.mobile", "X": 1])
        #expect(other.status == 200 && other.json?["RT"] == "9999")
    }

    // MARK: History and receipts (docs/contracts/ipns.md#2.7, docs/contracts/ipns.md#2.9)

    @Test(.covers("ipns", "getMsgs"))
    func aMessageIsInTheHistoryOfItsDevice() async throws {
        let number = try await delivered(to: "kept", on: [("kept-1", 5)])
        let item = try #require(try await list("kept-1").first)
        let known: [(String, JSON)] = [
            ("REQ_ID", .string(number)), ("TITLE", "Approval"), ("ALERT", "You have a new approval"),
            ("MESSAGE", "{\"docId\":\"A-77\"}"), ("SEND_DATE", item["SEND_DATE"] ?? .null), ("RECV_YN", "Y"),
            ("READ_YN", "N"), ("USER_CN", "kept"),
        ]
        #expect(item == .object(JSONObject(known)))
        // The number may be some seconds ahead when many messages arrive at once.
        #expect(item["SEND_DATE"]?.string?.prefix(10) == number.prefix(10))
    }

    @Test(.covers("ipns", "getMsgDetail"))
    func aDetailIsShownUnreadAndOnlyToItsUser() async throws {
        let number = JSON.string(try await delivered(to: "detailed", on: [("detailed-1", 6), ("detailed-2", 7)]))
        _ = try await register("curious-1", of: "curious", Self.token(8))
        let own = try await call("getMsgDetail", ["DEVICE_ID": "detailed-2", "REQ_ID": number])
        #expect(own["ITEM"]?["REQ_ID"] == number && own["ITEM"]?["READ_YN"] == "N", "\(JSONWriter.text(own))")
        #expect(try await list("detailed-2").first?["READ_YN"] == "N")
        #expect(try await code("getMsgDetail", ["DEVICE_ID": "curious-1", "REQ_ID": number]) == "2004")
    }

    @Test(.covers("ipns", "readReport", "recvReport"))
    func aReportCountsOnceForItsDevice() async throws {
        let number = try await delivered(to: "reader", on: [("reader-1", 9), ("reader-2", 10)])
        let read: JSON = ["DEVICE_ID": "reader-1", "USER_CN": "reader", "REQ_ID": .string(number)]
        for _ in 0..<2 { #expect(try await code("readReport", read) == "0000") }
        #expect(try await list("reader-1").first?["READ_YN"] == "Y")
        #expect(try await list("reader-1", "@01").first?["READ_YN"] == "Y")
        #expect(try await list("reader-2").first?["READ_YN"] == "N")
        let received: JSON = ["DEVICE_ID": "reader-2", "MSG_ID": .string(number)]
        for _ in 0..<2 { #expect(try await code("recvReport", received) == "0000") }
        let shown = try await world.native("GET", "/v1/messages/\(number)")
        #expect(shown.json?["funnel"]?["received"] == 2 && shown.json?["funnel"]?["read"] == 1, "\(shown.text)")
    }

    @Test func aReportOfAnUnknownMessageOrDeviceIsRefused() async throws {
        let number = try await delivered(to: "reporter", on: [("reporter-1", 11)])
        #expect(try await code("readReport", ["DEVICE_ID": "reporter-1", "REQ_ID": "202001150900001234"]) == "2004")
        #expect(try await code("recvReport", ["DEVICE_ID": "reporter-1", "MSG_ID": "202001150900001234"]) == "2004")
        #expect(try await code("readReport", ["DEVICE_ID": "nobody", "REQ_ID": .string(number)]) == "2003")
    }

    @Test(.covers("ipns", "getMsgs"))
    func theHistoryContinuesFromANumber() async throws {
        _ = try await register("paged-1", of: "paged", Self.token(12))
        var numbers: [String] = []
        for index in 0..<7 {
            numbers.insert(try await send(to: ["paged"], ["ALERT": .string("message \(index)")]).number, at: 0)
        }
        try await eventually("all seven") { try await list("paged-1").count == 7 }
        var seen = try await list("paged-1", "@00", ["COUNT": 4]).compactMap { $0["REQ_ID"]?.string }
        #expect(seen == Array(numbers[..<4]))
        #expect(seen == seen.sorted(by: >))
        let next: JSON = ["REQ_TYPE": "O", "REQ_ID": .string(seen.last ?? ""), "COUNT": 2]
        seen += try await list("paged-1", "@01", next).compactMap { $0["REQ_ID"]?.string }
        #expect(seen == Array(numbers[..<6]))
        // The number does not have to be the number of a message.
        let before: JSON = ["REQ_TYPE": "O", "REQ_ID": "190001010000000000"]
        #expect(try await list("paged-1", "@00", before).isEmpty)
        let later: JSON = ["REQ_TYPE": "O", "REQ_ID": "299901010000000000", "COUNT": 99]
        #expect(try await list("paged-1", "@00", later).count == 7)
    }

    @Test func theHistoryOfAnotherUserIsRefused() async throws {
        _ = try await register("single-1", of: "single", Self.token(13))
        #expect(try await list("single-1", "@01").isEmpty)
        let other: JSON = ["DEVICE_ID": "single-1", "PUSH_ID_TYPE": "@01", "USER_CN": "reader", "REQ_TYPE": "N"]
        #expect(try await code("getMsgs", other) == "2003")
    }

    // Finding C3: a stranger registers its own token for a known user and reads the user's history.
    @Test func aStrangerDoesNotReadTheEarlierMessagesOfAUser() async throws {
        let earlier = try await delivered(to: "E100", on: [("owner-1", 31)])
        _ = try await register("stranger-1", of: "E100", Self.token(32))
        #expect(try await list("stranger-1", "@01").isEmpty)
        let detail: JSON = ["DEVICE_ID": "stranger-1", "REQ_ID": .string(earlier)]
        #expect(try await code("getMsgDetail", detail) == "2004")
        #expect(try await list("owner-1", "@01").map { $0["REQ_ID"] } == [.string(earlier)])
        let moved = try await world.native("GET", "/v1/events?kinds=moved&vendor=ipns&limit=1000").text
        let events = moved.split(separator: "\n").compactMap { try? JSONParser.parse(String($0)) }
        #expect(events.contains { $0["data"]?["of"] == "user" }, "the move is reported")

        // A message sent after its registration reaches the claimed device too, unless a confirmed one exists.
        let later = try await send(to: ["E100"]).number
        try await eventually("the later message") {
            try await list("stranger-1", "@01").map { $0["REQ_ID"] } == [.string(later)]
        }
        try await world.bindIPNS(settings: "deviceIdAlone: true, historyScope: all")
        try await closing {
            try await world.bindIPNS()
        } after: {
            try await eventually("the setting opens the history") {
                try await list("stranger-1", "@01").map { $0["REQ_ID"] } == [.string(later), .string(earlier)]
            }
            #expect(try await code("getMsgDetail", detail) == "0000")
        }
    }

    // The back end expects a user with a token: a stranger that registers earlier stays a claim.
    @Test func anExpectedUserIsVouchedWithItsTokenOnly() async throws {
        let token: JSON = .string(Self.token(36).uppercased())
        let entry: JSON = ["user": "E300", "token": token]
        let path = "/v1/apps/shop/expected-users"
        let expected = try await world.native("POST", path, ["users": [entry]])
        try #require(expected.json == ["expected": 1], "\(expected.text)")
        _ = try await register("stranger-3", of: "E300", Self.token(35))
        let open = try await world.native("GET", path)
        #expect(open.json?["users"]?.array?.map { $0["user"] } == ["E300"], "\(open.text)")
        #expect(!open.text.contains(Self.token(36)))
        _ = try await register("owner-3", of: "E300", Self.token(36))
        let found = try await world.native("GET", "/v1/devices?app=shop&user=E300")
        let levels = (found.json?["devices"]?.array ?? []).flatMap { $0["identities"]?.array ?? [] }
        #expect(Set(levels.compactMap { $0["assurance"]?.string }) == ["claimed", "vouched"], "\(found.text)")
        let vouched = levels.first { $0["assurance"] == "vouched" }
        #expect(vouched?["key"] == "owner-3", "\(found.text)")
        #expect(try await world.native("GET", path).json?["users"] == [], "the expectation is used up")
        #expect(try await world.native("DELETE", "\(path)/E300").status == 404)
    }

    // Finding C4: the native API registered a user, and a stranger claims it in another dialect.
    @Test func aOneTimeCodeReachesOnlyTheDeviceThatTheBackEndRegistered() async throws {
        let owner: JSON = [
            "app": "shop", "platform": "ios", "key": "bank-1", "user": "E200", "token": .string(Self.token(33)),
        ]
        let registered = try await world.native("POST", "/v1/devices", owner)
        try #require(registered.status == 201, "\(registered.text)")
        _ = try await register("stranger-2", of: "E200", Self.token(34))
        let body: JSON = ["app": "shop", "to": ["users": ["E200"]], "body": "Your code is 4711"]
        let sent = try await world.native("POST", "/v1/messages", body)
        let id = try #require(sent.json?["id"]?.string, "\(sent.text)")
        let deliveries = try await first("both deliveries") {
            let list = try await world.native("GET", "/v1/messages/\(id)/deliveries").json?["deliveries"]?.array
            return list?.count == 2 ? list : nil
        }
        #expect(
            Set(deliveries.map { "\($0["state"]?.string ?? "") \($0["reason"]?.string ?? "")" }) == [
                "sent ", "suppressed assurance",
            ]
        )
        #expect(try await list("stranger-2", "@01").isEmpty)
        #expect(try await list("stranger-2").isEmpty)
        #expect(try await call("polling", ["DEVICE_ID": "stranger-2"])["LIST"] == [])

        // A back end that knows the user vouches for the new device.
        let device = try await world.native("GET", "/v1/devices?key=stranger-2&vendor=ipns").json?["devices"]?.array?
            .first
        let identity = try #require(device?["identities"]?.array?.first)
        #expect(identity["assurance"] == "claimed")
        let path = "/v1/identities/\(identity["id"]?.string ?? "")/vouch"
        #expect(try await world.native("POST", path, ["user": "E201"]).status == 404)
        #expect(try await world.native("POST", path, ["user": "E200"]).json?["assurance"] == "vouched")
        let next = try #require(try await world.native("POST", "/v1/messages", body).json?["id"]?.string)
        try await eventually("both devices") {
            try await world.native("GET", "/v1/messages/\(next)").json?["funnel"]?["sent"] == 2
        }
        // A third device is claimed again: it gets nothing, and reads nothing that the confirmed devices get.
        _ = try await register("stranger-3", of: "E200", Self.token(36))
        _ = try await send(to: ["E200"])
        try await eventually("the confirmed device's history") { try await list("stranger-2", "@01").count == 2 }
        #expect(try await list("stranger-3", "@01").isEmpty)
    }

    @Test func aMessageThatNeedsAVouchedUserIsNotSentToAClaimedOne() async throws {
        _ = try await register("claimed-1", of: "E300", Self.token(35))
        let body: JSON = [
            "app": "shop", "to": ["users": ["E300"]], "body": "Your code is 4711", "minAssurance": "vouched",
        ]
        let sent = try await world.native("POST", "/v1/messages", body)
        let id = try #require(sent.json?["id"]?.string, "\(sent.text)")
        #expect(try await suppression(of: id) == "assurance")
        #expect(try await list("claimed-1").isEmpty)
    }

    @Test func aMessageOfTheNativeAPIHasANumberInTheHistory() async throws {
        _ = try await register("native-1", of: "native", Self.token(14))
        let body: JSON = [
            "app": "shop", "to": ["users": ["native"]], "title": "t", "body": "native", "data": ["k": "v"],
        ]
        let sent = try await world.native("POST", "/v1/messages", body)
        try #require(sent.status == 202, "\(sent.text)")
        let item = try await first("the native message") { try await list("native-1").first }
        #expect(item["ALERT"] == "native" && item["MESSAGE"] == "{\"k\":\"v\"}")
        #expect(item["REQ_ID"]?.string?.utf8.count == 18)
    }

    // MARK: Messages that are not pushed (docs/contracts/ipns.md#2.6, docs/contracts/ipns.md#2.8, docs/contracts/ipns.md#2.10)

    /// The reason for which the only delivery of a message was not pushed.
    private func suppression(of number: String, sourceLocation: SourceLocation = #_sourceLocation) async throws
        -> String?
    {
        let world = try world
        let id = try await first("the outcome of \(number)", sourceLocation: sourceLocation) {
            let shown = try await world.native("GET", "/v1/messages/\(number)").json
            return shown?["funnel"]?["suppressed"] == 1 ? shown?["id"]?.string : nil
        }
        let deliveries = try await world.native("GET", "/v1/messages/\(id)/deliveries")
        return deliveries.json?["deliveries"]?.array?.first?["reason"]?.string
    }

    @Test(.covers("ipns", "updateConfig"))
    func aMessageOutsideTheReceivingHoursIsKeptButNotPushed() async throws {
        _ = try await register("asleep-1", of: "asleep", Self.token(15))
        let minute = LocalTime(
            Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)),
            in: TimeZoneName(stored: "Asia/Seoul")
        ).minute
        let hours = (300, 600)
        func time(_ shift: Int) -> JSON { .string(DailyWindow.text((minute + shift) % 1440)) }
        let update: JSON = [
            "DEVICE_ID": "asleep-1", "START_TIME": time(hours.0), "END_TIME": time(hours.1), "PUSH_YN": "Y",
        ]
        #expect(try await code("updateConfig", update) == "0000")
        #expect(try await call("getConfig", ["DEVICE_ID": "asleep-1"])["START_TIME"] == time(hours.0))
        let (number, _) = try await send(to: ["asleep"])
        #expect(try await suppression(of: number) == "receivingWindow")
        #expect(try await list("asleep-1").map { $0["REQ_ID"] } == [.string(number)])
    }

    @Test func aMessageToADeviceWithPushOffIsReceivedByPolling() async throws {
        _ = try await register("silent-1", of: "silent", Self.token(16), ["PUSH_YN": "N"])
        let (number, _) = try await send(to: ["silent"])
        #expect(try await suppression(of: number) == "preference")
        // Listing a message that was not pushed does not mark it as received.
        for _ in 0..<2 { #expect(try await list("silent-1").first?["RECV_YN"] == "N") }
        let polled = try await call("polling", ["DEVICE_ID": "silent-1"])
        #expect(polled["REMAIN"] == 0 && polled["LIST"]?.array?.count == 1, "\(JSONWriter.text(polled))")
        #expect(try await list("silent-1").first?["RECV_YN"] == "Y")
    }

    @Test(.covers("ipns", "polling"))
    func pollingReturnsEachMessageOnceInOrder() async throws {
        _ = try await register("poll-1", of: "poll", Self.token(17), ["PUSH_YN": "N"])
        var numbers: [String] = []
        for _ in 0..<5 { numbers.append(try await send(to: ["poll-1"], ["PUSH_ID_TYPE": "@00"]).number) }
        var polled: [String] = []
        var remaining: [Int64] = []
        try await eventually("five messages") {
            let answer = try await call("polling", ["DEVICE_ID": "poll-1", "COUNT": 2])
            let list = answer["LIST"]?.array ?? []
            polled += list.compactMap { $0["REQ_ID"]?.string }
            if !list.isEmpty { remaining.append(answer["REMAIN"]?.int ?? -1) }
            #expect(list.allSatisfy { $0["RECV_YN"] == "Y" })
            return polled.count == 5
        }
        #expect(polled == numbers && remaining.last == 0, "\(polled) \(remaining)")
        let empty = try await call("polling", ["DEVICE_ID": "poll-1"])
        #expect(empty["REMAIN"] == 0 && empty["LIST"] == [])
    }
}

extension World {
    /// Adds the vendor's binding to the demo's app and waits until the gateway serves it.
    func bindIPNS(
        settings: String = "deviceIdAlone: true",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let file = try String(contentsOfFile: material.path("tenants.yaml"), encoding: .utf8)
        try (file + "\n          ipns: { appId: hr.mobile, settings: { \(settings) } }\n").write(
            toFile: material.path("ipns.yaml"),
            atomically: true,
            encoding: .utf8
        )
        let applied = try await apply("ipns.yaml")
        try #require(applied.status == 0, "\(applied.log)", sourceLocation: sourceLocation)
        let unknown: JSON = ["APP_ID": "hr.mobile", "DEVICE_ID": "nobody"]
        try await eventually("the binding is served", sourceLocation: sourceLocation) {
            try await http.call("POST", "/ipns/getConfig", unknown).json?["RT"] == "2003"
        }
    }
}
