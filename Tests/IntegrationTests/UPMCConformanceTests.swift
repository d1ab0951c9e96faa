import CommandSupport
import Coverage
import Foundation
import Model
import Testing

// Lines 3, 7 and 8 of docs/contracts/upmc.md#1.14 in full, and the calls that no sequence of an app contains.
extension UPMCGatewayTests {
    // docs/contracts/upmc.md#1.14, 7 and docs/contracts/upmc.md#1.8.11: reading changes the badge. Its limits are 0 and 1000, and values beyond them
    // change nothing.
    @Test(.covers("upmc", "rcv_register_send_result", "rcv_init_badgeNo", "gw_get_unread_count"))
    func badgesKeepResetAndUpdateWithinTheirEnds() async throws {
        try await with { world, caller in
            let phone = Phone(user: "hong")
            try await caller.register(phone)
            var numbers: [String] = []
            for _ in 0..<3 { numbers.append(try await caller.send(to: ["hong"], ["BADGENO": "1"])) }
            for number in numbers { _ = try #require(try await funnel(world, number, app: caller.app())) }
            func read(_ number: String, _ badge: String?) async throws -> JSON? {
                var fields = phone.fields.merging(["SEQNO": number]) { $1 }
                fields["BADGENO"] = badge
                let answer = try await caller.call("rcv_register_send_result", fields)
                return answer.code == "0000" ? answer.first?["BADGENO"] : answer.code.map { .string($0) }
            }
            #expect(try await read(numbers[0], "-1") == "2")
            #expect(try await read(numbers[0], "-1") == "2", "taken off at the first read only")
            #expect(try await read(numbers[1], nil) == "2", "who says nothing changes nothing")
            #expect(try await read(numbers[2], "0") == "0")
            #expect(try await read(numbers[2], "10") == "10")
            #expect(try await read(numbers[2], "1000") == "1000")
            for beyond in ["1001", "-2", "x"] { #expect(try await read(numbers[2], beyond) == "40000", "\(beyond)") }
            #expect(try await caller.call("gw_get_unread_count", phone.fields).first?["BADGENO"] == "1000")

            func set(_ badge: String?) async throws -> JSON? {
                var fields = phone.fields
                fields["BADGENO"] = badge
                let answer = try await caller.call("rcv_init_badgeNo", fields)
                return answer.code == "0000" ? answer.first?["BADGENO"] : answer.code.map { .string($0) }
            }
            for (badge, wanted) in [("0", "0"), ("10", "10"), ("1000", "1000")] as [(String, JSON)] {
                #expect(try await set(badge) == wanted)
            }
            for beyond in ["-1", "1001", nil] { #expect(try await set(beyond) == "40000", "\(beyond ?? "nothing")") }
            #expect(try await caller.call("gw_get_unread_count", phone.fields).first?["BADGENO"] == "1000")
            // Keep never goes below none.
            #expect(try await set("0") == "0")
            let last = try await caller.send(to: ["hong"])
            _ = try #require(try await funnel(world, last, app: caller.app()))
            #expect(try await read(last, "-1") == "0")
        }
    }

    // docs/contracts/upmc.md#1.14, 8 and docs/contracts/upmc.md#1.7: token, user and service are registered with the names of 3.0. The same device
    // with the current names is the same row.
    @Test func theNamesOf30AndOfTodayAreOneRow() async throws {
        try await with { world, first in
            var caller = first.nameless()
            let phone = Phone(user: "kim")
            let old = [
                "CUST_CD": "1", "DVC_ID": phone.device, "DVC_TYP": "I", "PNS_ID": "APNS", "PSID": phone.token,
                "CBS_ID": caller.bundle, "CUID": "kim",
            ]
            let named = old.merging(["USER_NM": "Kim", "USER_HP": "01012345678"]) { $1 }
            #expect(try await caller.call("rcv_register_user", named).code == "0000")
            #expect(try await caller.call("rcv_register_service", old).code == "0000")
            let row = """
                SELECT i.identity_id::text || ' ' || i.user_id || ' ' || i.name || ' ' || i.phone || ' ' || d.token AS value
                FROM gateway.identity i JOIN gateway.device d USING (tenant_id, device_id) WHERE i.app_id = '\(caller.app("old"))'
                """
            let before = try await world.value(row)
            #expect(before.hasSuffix(" kim Kim 01012345678 \(phone.token)"))
            caller = caller.of("old")
            #expect(try await caller.call("rcv_get_service", phone.fields).first?["ISREGISTERED"] == "Y")
            let again = phone.fields.merging(["CNAME": "Kim", "CBSID": caller.bundle]) { $1 }
            #expect(try await caller.call("new_rcv_register_service_and_user", again).code == "0000")
            #expect(try await world.value(row) == before, "the one row of the app is the one from before")
        }
    }

    // docs/contracts/upmc.md#1.14, 3, docs/contracts/upmc.md#1.4 and docs/contracts/upmc.md#1.8.4: a browser registers with a multipart form and a
    // key. Its service worker reports without a key, which no phone may do.
    @Test(.covers("upmc", "wpns_rcv_register_service_and_user", "rcv_add_service"))
    func aBrowserRegistersWithAKeyAndReportsWithout() async throws {
        try await with { world, first in
            let caller = first.of("secured")
            let endpoint = "https://updates.push.example.com/wpush/v2/gAAAAABf"
            let web = [
                "CUID": "hong", "DEVICE_ID": "8eDyX_uCN0XRhSbY5hs7Hg", "PNSID": "WPNS", "PSID": endpoint,
                "PHONENUM": "",
                "CBSID": "", "APNS_MODE": "",
            ]
            let subscription = web.merging(["CNAME": "Hong", "APP_VER": "120", "P256DH": "BLc4xRzKlKORKWlb"]) { $1 }
            let bare = try await caller.multipart("wpns_rcv_register_service_and_user", subscription)
            #expect(bare.status == 200)
            #expect(bare.code == "40100")
            let asking = web.merging(["CUID": "TMP0hong"]) { $1 }
            let asked = try await caller.multipart("asking_authorization", asking)
            let key = ["AUTHKEY": try #require(asked.first?["AUTHKEY"]?.string)]
            let keyed = subscription.merging(key) { $1 }
            let registered = try await caller.multipart("wpns_rcv_register_service_and_user", keyed)
            #expect(registered.code == "0000")
            #expect(registered.first?["PSID"]?.string == endpoint)
            let standing = try await caller.multipart("rcv_get_service", web.merging(key) { $1 })
            #expect(standing.first?["ISREGISTERED"] == "Y")
            let stored = try await world.value(
                "SELECT attributes->>'P256DH' AS value FROM gateway.identity WHERE app_id = '\(caller.app("secured"))'"
            )
            #expect(stored == "BLc4xRzKlKORKWlb", "what its encryption needs (RFC 8291)")

            let fields = ["TYPE": "E", "CUID": "hong", "MESSAGE": "m", "SENDERCODE": "admin"]
            let sent = try await caller.call("rcv_register_message", fields)
            #expect(sent.body?["WPNS"] == "1")
            #expect(sent.body?["APNS"] == "0")
            let number = try #require(sent.body?["SENDMSG_SEQNO"]?.string)
            for call in ["rcv_register_sent_ack", "rcv_register_send_result"] {
                let report = web.merging(["SEQNO": number]) { $1 }
                #expect(try await caller.multipart(call, report).code == "0000", "\(call)")
                let phone = report.merging(["PNSID": "APNS", "PSID": Phone(user: "hong").token]) { $1 }
                #expect(try await caller.multipart(call, phone).code == "40100", "\(call) of a phone")
            }
            // The same device for a further app: a registration like any other, which needs its key as well.
            #expect(try await caller.call("rcv_add_service", web).code == "40100")
            #expect(
                try await caller.call("rcv_add_service", web.merging(key) { $1 }).first?["PSID"]?.string == endpoint
            )
        }
    }

    // docs/contracts/upmc.md#1.8.8, docs/contracts/upmc.md#1.8.14 and docs/contracts/upmc.md#1.13: the calls that
    // work without a push.
    @Test(
        .covers(
            "upmc",
            "rcv_get_usergroup",
            "mobile/last-session",
            "mobile/purchase"
        ),
        .covers("upmc", "getEncriptKey", refused: "`RESULT_CODE` `40000`: the server has no key of its own"),
        .covers("upmc", "rcv_comm_configuration", refused: "`SERVICE_STOP` `Y`: the gateway has no UPNS broker"),
        .covers("upmc", "reAllocateUpns", refused: "`RESULT_CODE` `4404`: the gateway has no UPNS broker"),
        .covers("upmc", "putAppLog", refused: "`RESULT_CODE` `0000`, and the log is thrown away")
    ) func callsWithoutAPushHaveTheirAnswers() async throws {
        try await with { world, caller in
            let phone = Phone(user: "hong")
            try await caller.register(phone)
            #expect(try await caller.call("getEncriptKey", phone.fields.merging(["RSP": "1"]) { $1 }).code == "40000")
            #expect(try await caller.call("reAllocateUpns", phone.fields).code == "4404")
            #expect(try await caller.call("rcv_comm_configuration", phone.fields).first == ["SERVICE_STOP": "Y"])
            #expect(try await caller.call("putAppLog", ["log": #"{"error":"x"}"#]).body == [[:]])
            #expect(try await caller.call("no_such_call", phone.fields).code == "40000")
            #expect(try await caller.call("rcv_get_usergroup", [:]).body == [])
            var made: [JSON] = []
            for title in ["VIP", "Staff"] {
                made.append(try #require(try await caller.call("rcv_register_usergroup", ["GROUPNAME": title]).first))
            }
            #expect(made.compactMap { $0["GROUPSEQ"]?.string } == ["1", "2"])
            #expect(try await caller.call("rcv_get_usergroup", ["GROUPSEQ": ""]).body == .array(made))
            #expect(try await caller.call("rcv_get_usergroup", ["GROUPSEQ": "2"]).body == [made[1]])

            let app: JSON = ["appId": .string(caller.application), "cuid": "hong", "id": "730", "extra": 1]
            for path in ["/upmc/mobile/last-session", "/mobile/purchase", "/upmc/mobile/purchase"] {
                let answer = try await world.http.call("POST", path, app)
                #expect(answer.status == 200)
                #expect(answer.json == ["code": "0000", "message": "SUCCESS"], "\(path)")
            }
            let marks = try await world.value(
                "SELECT string_agg(campaign, ',' ORDER BY campaign) AS value FROM gateway.campaign_mark WHERE app_id = '\(caller.app())'"
            )
            #expect(marks == ",730", "a session, and one purchase, reported several times")
            let nobody = try await world.http.call("POST", "/mobile/purchase", ["id": "730", "cuid": "hong"])
            #expect(nobody.json == ["code": "40000", "message": "appId is required"])
        }
    }

    // docs/contracts/upmc.md#1.9.2 with REQ_PSIDS of docs/contracts/upmc.md#1.9.1: a send to a group is limited to the named devices. The native API
    // counts the unread messages of each device.
    @Test func aGroupIsNarrowedToDevicesWhoseUnreadIsCounted() async throws {
        try await with { world, caller in
            let (phone, tablet, stranger) = (Phone(user: "hong"), Phone(user: "hong"), Phone(user: "kim"))
            for device in [phone, tablet, stranger] { try await caller.register(device) }
            let made = try await caller.call("rcv_register_usergroup", ["GROUPNAME": "VIP"])
            let group = try #require(made.first?["GROUPSEQ"]?.string)
            let joining = phone.fields.merging(["GROUPSEQ": group]) { $1 }
            #expect(try await caller.call("rcv_register_usergroup_user", joining).code == "0000")
            func send(_ tokens: [String]) async throws -> UPMCCaller.Answer {
                let list = JSONWriter.text(.array(tokens.map { .string($0) }))
                let fields = ["TYPE": "G", "GROUPSEQ": group, "MESSAGE": "m", "REQ_PSIDS": list]
                return try await caller.call("rcv_register_groupmessage", fields)
            }
            let sent = try await send([tablet.token, stranger.token])
            #expect(sent.code == "0000")
            #expect(sent.body?["REG_SUCCESS_CNT"] == "1")
            #expect(sent.body?["APNS"] == "1")
            _ = try await world.payload(of: tablet.token)
            let number = try #require(sent.body?["SENDMSG_SEQNO"]?.string)
            let funnel = try #require(try await funnel(world, number, app: caller.app()))
            #expect(funnel["sent"] == 1, "nobody but the tablet")
            #expect(try await send([stranger.token]).code == "4400")

            let both = try await caller.send(to: ["hong"])
            _ = try #require(try await self.funnel(world, both, app: caller.app()))
            let listed = try await world.native("GET", "/v1/devices?app=\(caller.app())").json?["devices"]?.array ?? []
            #expect(listed.count == 3)
            #expect(listed.allSatisfy { $0["unread"] == nil }, "no list counts")
            func unread(_ device: Phone) async throws -> JSON? {
                let id = listed.first { $0["identities"]?.array?.first?["key"]?.string == "APNS:\(device.device)" }?[
                    "id"
                ]
                return try await world.native("GET", "/v1/devices/\(id?.string ?? "")").json?["unread"]
            }
            #expect(try await unread(phone) == 1)
            #expect(try await unread(tablet) == 2)
            #expect(try await unread(stranger) == 0)
            #expect(try await caller.read(tablet, both, badge: nil).code == "0000")
            #expect(try await unread(tablet) == 1)
            #expect(try await unread(phone) == 1, "each device has read its own")
            let document = try await world.http.call("GET", "/openapi.json").json
            let device = document?["components"]?["schemas"]?["Device"]
            #expect(device?["properties"]?["unread"]?["maximum"] == 1000)
        }
    }

    // The badge of a device without a user is deleted with the device, by the native API and by a call of the app.
    @Test func anErasedDevicesBadgeStartsAnew() async throws {
        try await with { world, caller in
            let phone = Phone(user: "GUEST")
            try await caller.register(phone)
            let three = phone.fields.merging(["BADGENO": "3"]) { $1 }
            #expect(try await caller.call("rcv_init_badgeNo", three).first?["BADGENO"] == "3")
            let rows = "SELECT count(*)::text AS value FROM gateway.badge WHERE holder = 'key:APNS:\(phone.device)'"
            #expect(try await world.value(rows) == "1")
            let listed = try await world.native("GET", "/v1/devices?app=\(caller.app())").json?["devices"]?.array?
                .first?["id"]
            #expect(try await world.native("DELETE", "/v1/devices/\(listed?.string ?? "")").status == 204)
            #expect(try await world.value(rows) == "0")
            #expect(try await caller.call("rcv_init_badgeNo", three).code == "4400")
        }
    }
}
