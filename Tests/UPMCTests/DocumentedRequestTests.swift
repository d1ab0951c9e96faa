import HTTPTypes
import Model
import Testing

@testable import UPMC

/// Every documented request becomes its command; the commands are written by hand from the contract's tables.
struct DocumentedRequestTests {
    private let token = DeviceToken(stored: Fixture.token)

    private func command(_ fixture: String, _ path: String? = nil, _ settings: BindingSettings = Mount.settings())
        throws -> Command?
    {
        let request = try Fixture.request(fixture)
        return try Mount.command(Mount.request(path ?? request.path, request.form), settings)
    }

    // docs/contracts/upmc.md#1.8.1
    @Test func askingForAKeyNeedsNoCommand() throws {
        #expect(try command("asking_authorization/before.request.txt") == nil)
    }

    // docs/contracts/upmc.md#1.8.2: the registration of a guest keeps the device's user.
    @Test func aServiceRegistersItsDevice() throws {
        var registration = DeviceRegistration(
            key: "APNS:6F0A…-UUID",
            platform: .ios,
            environment: .production,
            token: token,
            attributes: ["DEVICE_MD": "iPhone14,2", "OS_VER": "17.4", "APP_VER": "120"]
        )
        registration.client = ClientFacts([.appVersion: "120", .osVersion: "17.4", .model: "iPhone14,2"])
        #expect(
            try command("rcv_register_service/guest.request.txt")
                == .registration(.enlist(registration, .keep))
        )
    }

    // docs/contracts/upmc.md#1.8.3
    @Test func aUserIsRegistered() throws {
        let user = UserChange.set("hong", name: "Hong Gildong", phone: "01012345678")
        let path = "/upmc/rcv_register_user.ctl"
        let found = try command("rcv_register_user/user.request.txt", path)
        #expect(found == .registration(.assign(key: "APNS:6F0A", user)))
    }

    // docs/contracts/upmc.md#1.8.2: until 3.5 the user comes first, on a device without a token.
    @Test func aUserBeforeTheServiceIsKeptUntil35() throws {
        let user = UserChange.set("hong", name: "Hong Gildong", phone: "01012345678")
        let registration = DeviceRegistration(key: "APNS:6F0A", platform: .ios, phone: "01012345678")
        for version in ["3.0", "3.5"] {
            let found = try command(
                "rcv_register_user/user.request.txt",
                "/upmc/rcv_register_user.ctl",
                Mount.settings(version)
            )
            #expect(found == .registration(.enlist(registration, user)))
        }
    }

    // docs/contracts/upmc.md#1.8.4
    @Test func theCombinedCallRegistersBoth() throws {
        var registration = DeviceRegistration(
            key: "APNS:c2be…",
            platform: .ios,
            environment: .production,
            token: token,
            attributes: ["DEVICE_MD": "iPhone14,2", "OS_VER": "17.4", "APP_VER": "120"]
        )
        registration.client = ClientFacts([.appVersion: "120", .osVersion: "17.4", .model: "iPhone14,2"])
        #expect(
            try command("new_rcv_register_service_and_user/combined.request.txt")
                == .registration(.enlist(registration, .set("hong", name: "Hong")))
        )
    }

    // docs/contracts/upmc.md#1.8.8
    @Test func aUserJoinsAndLeavesAGroup() throws {
        var (add, remove) = (GroupChange(add: ["hong"]), GroupChange(remove: ["hong"]))
        add.device = DeviceCaller(key: "APNS:6F0A", token: token)
        remove.device = add.device
        let join = GroupCommand.changeMembers("12", add)
        #expect(try command("rcv_register_usergroup_user/join.request.txt") == .group(join))
        let leave = GroupCommand.changeMembers("12", remove)
        let path = "/upmc/rcv_delete_usergroup_user.ctl"
        #expect(try command("rcv_register_usergroup_user/join.request.txt", path) == .group(leave))
        #expect(throws: AdapterError(.missing, field: "GROUPSEQ")) {
            _ = try Mount.command(Mount.call("rcv_register_usergroup_user", "APP_ID=a&CUID=hong"))
        }
        #expect(throws: AdapterError(.invalid, field: "CUID")) {
            _ = try Mount.command(Mount.call("rcv_register_usergroup_user", "APP_ID=a&CUID=GUEST&GROUPSEQ=1"))
        }
    }

    // A CUID is known to others; whether it is enough for a group is a setting.
    @Test func aUserAloneJoinsAGroupOnlyIfTheBindingAcceptsIt() throws {
        let closed = Mount.settings("4.0EE", ["groupsByUser": false])
        for name in ["rcv_register_usergroup_user", "rcv_delete_usergroup_user"] {
            let alone = Mount.call(name, "APP_ID=a&CUID=hong&GROUPSEQ=1")
            guard case .group(.changeMembers("1", let change))? = try Mount.command(alone) else {
                Issue.record("\(name) is not a change of a group")
                continue
            }
            #expect(change.device == nil && change.add + change.remove == ["hong"])
            #expect(throws: AdapterError(.missing, field: "DEVICE_ID")) { _ = try Mount.command(alone, closed) }
            for device in ["DEVICE_ID=6F0A", "PSID=\(Fixture.token)"] {
                let named = Mount.call(name, "APP_ID=a&CUID=hong&GROUPSEQ=1&\(device)")
                guard case .group(.changeMembers("1", let change))? = try Mount.command(named, closed) else {
                    Issue.record("\(name) with \(device) is not a change of a group")
                    continue
                }
                #expect(change.device?.key != nil, "\(device)")
            }
        }
    }

    // docs/contracts/upmc.md#1.8.2, docs/contracts/upmc.md#1.8.6 to docs/contracts/upmc.md#1.8.8: the calls without
    // an example in the contract.
    @Test func callsWithoutAnExampleBecomeCommandsToo() throws {
        let form =
            "APP_ID=com.example.app&PNSID=APNS&DEVICE_ID=6F0A&PSID=\(Fixture.token)&CUID=hong&GROUPSEQ=12&GROUPNAME=VIP"
        func command(_ name: String) throws -> Command? { try Mount.command(Mount.call(name, form)) }
        let key = VendorDeviceKey("APNS:6F0A")
        #expect(try command("rcv_delete_service") == .registration(.unregister(.key(key))))
        #expect(try command("rcv_delete_user") == .registration(.assign(key: key, .clear)))
        #expect(try command("rcv_get_usergroup_user") == .group(.members("12", "hong")))
        #expect(try command("rcv_register_usergroup") == .group(.create(title: "VIP")))
        #expect(try command("rcv_get_usergroup") == .group(.list("12")))
        #expect(try command("rcv_delete_usergroup") == .group(.delete("12")))
        let service = try #require(try command("rcv_register_service"))
        #expect(try command("rcv_add_service") == service)
    }

    // docs/contracts/upmc.md#1.8.9
    @Test func aReceiptIsByNumber() throws {
        let key = VendorDeviceKey("APNS:#\(Digest.sha1(Fixture.token))")
        let holder = BadgeHolder(key: key, token: token)
        let wanted = ReceiptCommand.acknowledge(.received, reference: "104", holder, nil)
        #expect(try command("rcv_register_sent_ack/ack.request.txt") == .receipt(wanted))
    }

    // docs/contracts/upmc.md#1.8.10 and docs/contracts/upmc.md#1.8.11: the old form, the new one, Keep and Update.
    @Test func readsCarryTheirBadgeOption() throws {
        let text = try Fixture.text("rcv_register_send_result/forms.request.txt")
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("APP_ID") || $0.hasPrefix("…") }
        #expect(lines.count == 4)
        let common = "APP_ID=com.example.app&CUID=hong&PSID=\(Fixture.token)"
        let changes: [BadgeChange?] = [nil, nil, .keep, .set(10)]
        for (line, change) in zip(lines, changes) {
            let form = line.hasPrefix("…") ? common + line.dropFirst(2) : Fixture.form(line)
            let found = try Mount.command(Mount.call("rcv_register_send_result", form))
            guard case .receipt(.acknowledge(.read, "104", let holder, change)) = found else {
                Issue.record("\(String(describing: found)) for \(line)")
                continue
            }
            #expect(holder.user == nil && holder.token == token)
        }
    }

    // A CUID and a number are known to others; they change nothing unless the binding accepts them.
    @Test func aUserAloneReportsNothing() throws {
        let open = Mount.settings("4.0EE", ["receiptsByUser": true])
        let form = "APP_ID=a&CUID=hong&SEQNO=104&BADGENO=3"
        for (kind, call, change) in [
            (ReceiptKind.received, "rcv_register_sent_ack", nil),
            (.read, "rcv_register_send_result", .set(3)),
        ] as [(ReceiptKind, String, BadgeChange?)] {
            func wanted(_ holder: BadgeHolder) -> Command {
                .receipt(.acknowledge(kind, reference: "104", holder, change))
            }
            #expect(try Mount.command(Mount.call(call, form)) == wanted(BadgeHolder()))
            #expect(try Mount.command(Mount.call(call, form), open) == wanted(BadgeHolder(user: "hong")))
        }
        let badge = Mount.call("rcv_init_badgeNo", form)
        #expect(try Mount.command(badge) == .badge(.set(3, of: BadgeHolder())))
        #expect(try Mount.command(badge, open) == .badge(.set(3, of: BadgeHolder(user: "hong"))))
    }

    // docs/contracts/upmc.md#1.8.12
    @Test func aBadgeIsUpdated() throws {
        let holder = BadgeHolder(key: "APNS:6F0A", token: token)
        let found = try command("rcv_init_badgeNo/update.request.txt", "/upmc/rcv_init_badgeNo.ctl")
        #expect(found == .badge(.set(3, of: holder)))
    }

    // docs/contracts/upmc.md#1.8.11 and docs/contracts/upmc.md#1.14, 7
    @Test(arguments: [(-2, false), (-1, true), (0, true), (10, true), (1000, true), (1001, false)])
    func badgesHaveTheirRange(_ count: Int, _ isRight: Bool) throws {
        let form = "APP_ID=a&CUID=hong&SEQNO=1&BADGENO=\(count)"
        let read = Mount.answer(Mount.call("rcv_register_send_result", form)) { _ in
            .receipt(.acknowledged(isKnown: true, badge: 1))
        }
        #expect(try Mount.code(read) == (isRight ? "0000" : "40000"))
        let update = Mount.answer(Mount.call("rcv_init_badgeNo", form)) { _ in .badge(.count(1)) }
        #expect(try Mount.code(update) == (isRight && count >= 0 ? "0000" : "40000"))
    }

    // docs/contracts/upmc.md#1.9.1
    @Test func aSendToUsers() throws {
        let found = try command("rcv_register_message/users.request.txt")
        guard case .submission(.submit(let submission))? = found else {
            Issue.record("\(String(describing: found))")
            return
        }
        #expect(submission.audience == .users(["hong", "kim", "nobody"]))
        #expect(submission.content.title == "Notice")
        #expect(submission.content.body == "Maintenance at 02:00")
        #expect(submission.content.badgeStep == 1)
        #expect(submission.content.badge == nil)
        #expect(submission.content.sound == "alert.aif")
        #expect(submission.content.data["sender"] == "admin")
        #expect(submission.content.data["dbIn"] == "Y")
        #expect(!submission.content.isTemplate)
        #expect(submission.timing.dueAt == nil)
        #expect(submission.lane == .transactional)
        #expect(submission.numbering == Numbering())
    }

    // docs/contracts/upmc.md#1.14, 8: the dialect of 3.0 registers the same row.
    @Test func theDialectOf30IsTheSame() throws {
        let old =
            "CUST_CD=1&DVC_ID=6F0A&DVC_TYP=I&PNS_ID=APNS&CBS_ID=com.example.app&PSID=\(Fixture.token)&USER_NM=Hong"
            + "&USER_HP=01012345678&CUID=hong"
        let new =
            "APP_ID=com.example.app&DEVICE_ID=6F0A&DEVICE_TYPE=I&PNSID=APNS&PSID=\(Fixture.token)&CNAME=Hong"
            + "&PHONENUM=01012345678&CUID=hong"
        let first = try Mount.command(Mount.call("rcv_register_service", old))
        #expect(try Mount.command(Mount.call("rcv_register_service", new)) == first)
        let (key, _) = try Mount.adapter.locate(Mount.call("rcv_register_service", old))
        #expect(key.kind == "bundle")
        #expect(key.value == "com.example.app")
    }

    // docs/contracts/upmc.md#1.13
    @Test func marketingCallsAreJSON() throws {
        let lines = try Fixture.text("mobile/calls.request.txt").split(separator: "\n")
        let commands = try lines.map { line -> Command? in
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            let path = String(words[1].replacing("{umpc}", with: "/upmc"))
            return try Mount.command(Mount.request(path, String(words[2]), contentType: "application/json"))
        }
        let wanted: [Command?] = [.campaign(.visit("hong", campaign: nil)), .campaign(.visit("hong", campaign: "730"))]
        #expect(commands == wanted)
    }
}
