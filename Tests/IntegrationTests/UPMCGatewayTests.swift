import CommandSupport
import Coverage
import Foundation
import Model
import NIOHTTP1
import Testing

/// UPMC over real HTTP: a gateway, its PostgreSQL and the simulator, from the view of its apps and back ends.
@Suite(.serialized, .timeLimit(.minutes(20)), .sharedWorld())
struct UPMCGatewayTests {
    typealias Phone = UPMCCaller.Phone

    /// Runs `body` with apps that no other test uses.
    func with(_ body: (World, UPMCCaller) async throws -> Void) async throws {
        let world = try SharedWorld.current
        let ending = "-\(world.upmcApps.count + 1)"
        try await world.applyUPMC(ending: ending, publicURL: world.http.base)
        try await body(world, UPMCCaller(base: world.http.base, ending: ending))
    }

    // Section 3 of the vendor's guide: token, user, service up to 3.5; service, user from 3.6; one call from 4.0. A
    // message, its receipt and its reading follow.
    @Test(
        .covers(
            "upmc",
            "rcv_register_service",
            "rcv_register_user",
            "new_rcv_register_service_and_user",
            "rcv_get_service",
            "rcv_register_message",
            "rcv_register_sent_ack",
            "rcv_register_send_result",
            "rcv_delete_service"
        )
    ) func everyVersionsOwnSequence() async throws {
        try await with { world, first in
            for (index, version) in World.versions.enumerated() {
                let caller = first.of("v\(index)")
                let phone = Phone(user: "hong")
                let guest = phone.fields.merging(["CUID": "GUEST", "CNAME": "GUEST"]) { $1 }
                let user = phone.fields.merging(["CNAME": "Hong"]) { $1 }
                switch index {
                case 0, 1:
                    #expect(try await caller.call("rcv_register_user", user).code == "0000")
                    #expect(try await caller.call("rcv_register_service", guest).code == "0000")
                case 2, 3, 4:
                    #expect(try await caller.call("rcv_register_user", user).code == "4400")
                    #expect(try await caller.call("rcv_register_service", guest).code == "0000")
                    #expect(try await caller.call("rcv_register_user", user).first?["CUID"] == "hong")
                default: try await caller.register(phone)
                }
                let standing = try await caller.call("rcv_get_service", phone.fields)
                #expect(standing.first?["ISREGISTERED"] == "Y", "\(version)")
                #expect(standing.first?["CUID"] == "hong", "\(version)")
                let more = ["BADGENO": "3", "SOUNDFILE": "alert.aif", "EXT": "x"]
                let number = try await caller.send(to: ["hong"], more)
                let payload = try await world.payload(of: phone.token)
                #expect(payload["aps"]?["badge"] == 3, "\(version)")
                let keys = Set(payload["mps"]?.object?.keys ?? [])
                let old: Set = ["appid", "seqno", "sender", "ext", "messageuniquekey"]
                let middle: Set = ["appid", "seqno", "sender", "ext", "senddate", "db_in"]
                let wanted: Set<String> =
                    index < 2
                    ? old : index == 2 ? old.union(["senddate"]) : index < 6 ? middle : middle.union(["pushkey"])
                #expect(keys == wanted, "\(version)")
                #expect(payload["mps"]?["seqno"]?.string == number)
                #expect(payload["mps"]?["sender"] == "admin")
                var receipt = phone.fields.merging(["SEQNO": number]) { $1 }
                receipt["MESSAGEUNIQUEKEY"] = payload["mps"]?["messageuniquekey"]?.string
                receipt["SENDDATE"] = payload["mps"]?["senddate"]?.string
                #expect(try await caller.call("rcv_register_sent_ack", receipt).first == [:])
                let read = try await caller.call("rcv_register_send_result", receipt)
                #expect(read.first == ["BADGENO": index < 6 ? "0" : "3"], "\(version)")
                let funnel = try await self.funnel(world, number, app: caller.app("v\(index)"))
                #expect(funnel?["received"] == 1, "\(version)")
                #expect(funnel?["read"] == 1, "\(version)")
                #expect(try await caller.call("rcv_delete_service", phone.fields).first == [:])
                #expect(try await caller.call("rcv_get_service", phone.fields).first?["ISREGISTERED"] == "N")
            }
        }
    }

    /// The funnel of a message by its number, once all its deliveries are settled; nil: they were not settled in
    /// time.
    func funnel(_ world: World, _ number: String, app: String) async throws -> JSON? {
        let id = try await world.value(
            "SELECT message_id::text AS value FROM gateway.message_ref WHERE app_id = '\(app)' AND ref = '\(number)'"
        )
        return try await world.funnel(of: id)
    }

    // MARK: The conformance list (docs/contracts/upmc.md#1.14)

    // Item 1.
    @Test func aRegistrationIsAnsweredWithAKeyToAnyOrigin() async throws {
        try await with { _, caller in
            let registered = try await caller.register(Phone(user: "a"))
            #expect(registered.status == 200)
            #expect(registered.first?["AUTHKEY"]?.string?.isEmpty == false)
            #expect(registered.headers.first(name: "access-control-allow-origin") == "*")
        }
    }

    // Item 2.
    @Test(.covers("upmc", "asking_authorization"))
    func anAppThatRequiresKeysRegistersOnlyWithAKey() async throws {
        try await with { _, caller in
            let secured = caller.of("secured")
            let phone = Phone(user: "a")
            let bare = try await secured.call("new_rcv_register_service_and_user", phone.fields)
            #expect(bare.status == 200)
            #expect(bare.code == "40100")
            let asked = try await secured.call("asking_authorization", phone.fields.merging(["CUID": "TMP0a"]) { $1 })
            let key = try #require(asked.first?["AUTHKEY"]?.string)
            #expect(try await secured.register(phone, ["AUTHKEY": key]).code == "0000")
        }
    }

    // Item 3.
    @Test func aBrowserReportsWithoutAKey() async throws {
        try await with { _, caller in
            let web = ["PNSID": "WPNS", "PSID": "https://example.com/1", "CUID": "a", "SEQNO": "1"]
            let answer = try await caller.of("secured").multipart("rcv_register_sent_ack", web)
            #expect(answer.code == "0000")
        }
    }

    // Items 4 and 5.
    @Test func aSendNamesUnknownUsersAndFailsWhenAllAreUnknown() async throws {
        try await with { _, caller in
            try await caller.register(Phone(user: "a"))
            let sent = try await caller.call(
                "rcv_register_message",
                ["TYPE": "E", "CUID": #"["a","missing"]"#, "MESSAGE": "m", "SENDERCODE": "admin"]
            )
            #expect(sent.body?["NOTEXISTCUIDS"] == ["missing"])
            #expect(sent.body?["REG_SUCCESS_CNT"] == "1")
            #expect(sent.body?["REG_FAIL_CNT"] == "1")
            #expect(sent.body?["APNS"] == "1")
            let nobody = try await caller.call(
                "rcv_register_message",
                ["TYPE": "E", "CUID": "missing", "MESSAGE": "m"]
            )
            #expect(nobody.code == "4400")
            #expect(nobody.body == [:])
        }
    }

    // Item 7.
    @Test(.covers("upmc", "rcv_init_badgeNo"))
    func aBadgeIsSetFromZeroToAThousand() async throws {
        try await with { _, caller in
            let phone = Phone(user: "a")
            try await caller.register(phone)
            for (badge, code) in [("-2", "40000"), ("0", "0000"), ("10", "0000"), ("1000", "0000"), ("1001", "40000")] {
                let fields = phone.fields.merging(["BADGENO": badge]) { $1 }
                #expect(try await caller.call("rcv_init_badgeNo", fields).code == code, "\(badge)")
            }
        }
    }

    // Item 8.
    @Test func theNamesOf30AreFoundByTheirBundleOrTheirHost() async throws {
        try await with { world, caller in
            let phone = Phone(user: "a")
            let old = caller.nameless()
            let names = [
                "DVC_ID": phone.device, "PNS_ID": "APNS", "PSID": phone.token, "CUID": "kim", "USER_NM": "Kim",
            ]
            let byBundle = try await old.call(
                "rcv_register_service",
                names.merging(["CBS_ID": caller.bundle]) { $1 }
            )
            #expect(byBundle.code == "0000")
            #expect(try await old.call("rcv_get_service", names).first?["ISREGISTERED"] == "Y")
            let identities = try await world.value(
                "SELECT count(*)::text AS value FROM gateway.identity WHERE app_id = '\(caller.app("old"))' AND key = 'APNS:\(phone.device)'"
            )
            #expect(identities == "1")
            var foreign = caller
            foreign.application = ""
            #expect(try await foreign.call("rcv_get_service", names).code == "40000")
        }
    }

    // Item 9.
    @Test(.covers("upmc", "rcv_appAlive"))
    func aCallIsFoundUnderAnyPrefix() async throws {
        try await with { _, caller in
            let phone = Phone(user: "a")
            try await caller.register(phone)
            for prefix in ["", "/upmc", "/upmc/", "/receiver", "/any/where"] {
                var mounted = caller
                mounted.prefix = prefix
                #expect(try await mounted.call("rcv_APPALIVE", phone.fields).code == "0000", "\(prefix)")
            }
        }
    }

    // Item 10.
    @Test func aReservationForThePastIsRefusedAndALaterOneHasANumber() async throws {
        try await with { _, caller in
            try await caller.register(Phone(user: "a"))
            func reserve(_ date: Date) async throws -> UPMCCaller.Answer {
                let fields = ["TYPE": "E", "CUID": "a", "MESSAGE": "m", "RESERVEDATE": Self.korean(date)]
                return try await caller.call("rcv_register_message", fields)
            }
            #expect(try await reserve(Date() - 61 * 60).code == "5500")
            #expect(try await reserve(Date() + 3600).body?.object?.keys == ["RESERVE_SEQNO"])
        }
    }

    @Test func aBrowserMaySendAPreflightRequestBeforeItReports() async throws {
        try await with { _, caller in
            let options = try await UPMCCaller.raw(.OPTIONS, caller.base + "/upmc/rcv_register_sent_ack.ctl")
            #expect(options.status == 204)
            #expect(options.headers.first(name: "access-control-allow-origin") == "*")
        }
    }

    private static func korean(_ date: Date) -> String {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "Asia/Seoul")
        format.dateFormat = "yyyyMMdd HHmmss"
        return format.string(from: date)
    }

    // docs/contracts/upmc.md#1.8.2, docs/contracts/upmc.md#1.8.3, docs/contracts/upmc.md#1.8.7: the rules by which
    // devices and users replace each other.
    @Test(.covers("upmc", "rcv_delete_user")) func usersComeAndGo() async throws {
        try await with { world, caller in
            let phone = Phone(user: "hong")
            let tablet = Phone(user: "hong")
            #expect(try await caller.register(phone).first?["DEVICEID_CHANGE_YN"] == "N")
            #expect(try await caller.register(phone).first?["DEVICEID_CHANGE_YN"] == "N")
            #expect(try await caller.register(tablet).first?["DEVICEID_CHANGE_YN"] == "Y")
            // The same token under another device id: the older row is replaced.
            var reinstalled = tablet
            reinstalled.device = "new-\(tablet.device)"
            try await caller.register(reinstalled)
            #expect(try await caller.call("rcv_get_service", tablet.fields).first?["ISREGISTERED"] == "N")
            #expect(try await caller.call("rcv_get_service", reinstalled.fields).first?["ISREGISTERED"] == "Y")
            let other = reinstalled.fields.merging(["CUID": "kim"]) { $1 }
            #expect(try await caller.call("rcv_get_service", other).first?["ISREGISTERED"] == "C")
            let guest = reinstalled.fields.merging(["CUID": "GUEST"]) { $1 }
            #expect(try await caller.call("rcv_register_service", guest).code == "0000")
            #expect(
                try await caller.call("rcv_get_service", guest).first?["CUID"] == "hong",
                "a guest's call keeps the user"
            )
            #expect(try await caller.call("rcv_register_user", guest).first?["CUID"] == "GUEST")
            #expect(try await caller.call("rcv_get_service", guest).first?["CUID"] == "GUEST")
            #expect(try await caller.call("rcv_delete_user", phone.fields).first == [:])
            let gone = try await caller.call(
                "rcv_register_message",
                ["TYPE": "E", "CUID": "hong", "MESSAGE": "m"]
            )
            #expect(gone.code == "4400")
            #expect(try await caller.call("rcv_delete_service", Phone(user: "x").fields).code == "0000")
        }
    }

    // docs/contracts/upmc.md#1.8.8 and docs/contracts/upmc.md#1.9.2.
    @Test(
        .covers(
            "upmc",
            "rcv_register_usergroup_user",
            "rcv_delete_usergroup_user",
            "rcv_get_usergroup_user",
            "rcv_register_usergroup",
            "rcv_delete_usergroup",
            "rcv_register_groupmessage"
        )
    ) func groupsAreNumberedAndSentTo() async throws {
        try await with { world, caller in
            let phones = ["hong", "kim", "lee"].map { Phone(user: $0) }
            for phone in phones { try await caller.register(phone) }
            let made = try await caller.call("rcv_register_usergroup", ["GROUPNAME": "VIP 손님"])
            let number = try #require(made.first?["GROUPSEQ"]?.string)
            #expect(made.first?["GROUPNAME"] == "VIP 손님")
            for phone in phones.prefix(2) {
                let joined = try await caller.call(
                    "rcv_register_usergroup_user",
                    phone.fields.merging(["GROUPSEQ": number]) { $1 }
                )
                #expect(joined.first == ["GROUPSEQ": .string(number), "CUID": .string(phone.user)])
            }
            let members = try await caller.call("rcv_get_usergroup_user", ["GROUPSEQ": number])
            #expect(members.body?.array?.compactMap { $0["CNAME"]?.string } == ["Hong", "Kim"])
            let sent = try await caller.call(
                "rcv_register_groupmessage",
                ["TYPE": "G", "GROUPSEQ": number, "MESSAGE": "m", "BADGENO": "1"]
            )
            #expect(sent.body?["REG_SUCCESS_CNT"] == "2")
            for phone in phones.prefix(2) {
                #expect(try await world.payload(of: phone.token)["aps"]?["badge"] == 1)
            }
            let everyone = try await caller.call(
                "rcv_register_groupmessage",
                [
                    "TYPE": "A", "GROUPSEQ": "", "MESSAGE": "m", "BADGENO": "2", "SPLIT_MSG_CNT": "1000",
                    "DELAY_SECOND": "1",
                ]
            )
            #expect(everyone.body?["REG_SUCCESS_CNT"] == "3")
            #expect(try await world.payload(of: phones[0].token, count: 2)["aps"]?["badge"] == 3)
            #expect(try await world.payload(of: phones[2].token)["aps"]?["badge"] == 2)
            let left = try await caller.call(
                "rcv_delete_usergroup_user",
                phones[0].fields.merging(["GROUPSEQ": number]) { $1 }
            )
            #expect(left.code == "0000")
            #expect(try await caller.call("rcv_delete_usergroup", ["GROUPSEQ": number]).code == "0000")
            let unknown = ["TYPE": "G", "GROUPSEQ": number, "MESSAGE": "m"]
            #expect(try await caller.call("rcv_register_groupmessage", unknown).code == "40000")
        }
    }

    // docs/contracts/upmc.md#1.9.3 and docs/contracts/upmc.md#1.9.1: a list with variables, throttled, and narrowed to one device.
    @Test(.covers("upmc", "rcv_register_csvmessage")) func listsFillTemplatesAndAreThrottled() async throws {
        try await with { world, caller in
            let phones = ["hong", "kim", "lee"].map { Phone(user: $0) }
            for phone in phones { try await caller.register(phone) }
            let sent = try await caller.multipart(
                "rcv_register_csvmessage",
                [
                    "TYPE": "C", "MESSAGE": "%CNAME%: %VAR1%", "TEMPLATE_YN": "Y", "SPLIT_MSG_CNT": "1",
                    "DELAY_SECOND": "2",
                ],
                file: "hong,Mr Hong,one\r\nkim,Ms Kim,two\r\nnobody,N,x\r\n"
            )
            #expect(sent.body?["REG_SUCCESS_CNT"] == "2")
            #expect(sent.body?["NOTEXISTCUIDS"] == ["nobody"])
            let started = ContinuousClock.now
            #expect(try await world.payload(of: phones[0].token)["aps"]?["alert"] == "Mr Hong: one")
            #expect(try await world.payload(of: phones[1].token)["aps"]?["alert"] == "Ms Kim: two")
            #expect(ContinuousClock.now - started > .seconds(1), "the second was due two seconds later")

            let tablet = Phone(user: "lee")
            try await caller.register(tablet)
            let narrowed = try await caller.call(
                "rcv_register_message",
                ["TYPE": "E", "CUID": "lee", "MESSAGE": "m", "REQ_PSIDS": #"["\#(tablet.token)"]"#]
            )
            #expect(narrowed.body?["APNS"] == "1")
            _ = try await world.payload(of: tablet.token)
        }
    }

    // docs/contracts/upmc.md#1.10.1: an EXT that does not fit gets a page, which is found only by its random id and
    // has no active content.
    @Test func largeExtrasAreServedAsPages() async throws {
        try await with { world, caller in
            let phone = Phone(user: "hong")
            try await caller.register(phone)
            let extra = String(repeating: "<script>alert(1)</script>홍", count: 300)
            _ = try await caller.send(to: ["hong"], ["EXT": extra])
            let link = try #require(try await world.payload(of: phone.token)["mps"]?["ext"]?.string)
            let parts = link.split(separator: "/")
            #expect(parts.last?.hasSuffix("_msp.html") == true)
            #expect(parts.dropLast().last?.count == 32)
            let page = try await UPMCCaller.raw(.GET, link)
            #expect(page.status == 200)
            #expect(page.text.removingPercentEncoding == extra)
            #expect(!page.text.contains("<"))
            #expect(page.headers.first(name: "content-security-policy")?.contains("default-src 'none'") == true)
            #expect(page.headers.first(name: "x-robots-tag")?.contains("noindex") == true)
            #expect(page.headers.first(name: "content-type") == "text/html; charset=utf-8")
            #expect(try await UPMCCaller.raw(.GET, link + "x").status == 404)
            let guessed = link.replacing(parts[parts.count - 2], with: String(repeating: "0", count: 32))
            #expect(try await UPMCCaller.raw(.GET, guessed).status == 404)
            _ = try await world.value("UPDATE gateway.page SET expires_at = now() RETURNING page_id AS value")
            #expect(try await UPMCCaller.raw(.GET, link).status == 404)
        }
    }
}
