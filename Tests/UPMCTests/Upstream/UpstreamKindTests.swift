import HTTPTypes
import Model
import Testing

@testable import UPMC

/// The kind of every documented call, and the targets that sends name. Both are written by hand from the contract.
struct UpstreamKindTests {
    /// All calls of the catalogue.
    static let kinds: [String: CallKind] = [
        "asking_authorization": .device, "getEncriptKey": .device, "rcv_register_service": .device,
        "rcv_add_service": .device, "rcv_register_user": .device, "new_rcv_register_service_and_user": .device,
        "wpns_rcv_register_service_and_user": .device, "rcv_delete_service": .device, "rcv_delete_user": .device,
        "rcv_init_badgeNo": .device, "rcv_appAlive": .device, "reAllocateUpns": .device, "putAppLog": .device,
        "rcv_register_usergroup_user": .user, "rcv_delete_usergroup_user": .user, "rcv_register_usergroup": .user,
        "rcv_delete_usergroup": .user, "mobile/last-session": .user, "mobile/purchase": .user,
        "rcv_register_sent_ack": .receipt, "rcv_register_send_result": .receipt,
        "gw_get_message": .message,
        "rcv_get_service": .read, "rcv_get_usergroup_user": .read, "rcv_get_usergroup": .read,
        "rcv_comm_configuration": .read, "gw_get_message_list": .read, "gw_get_unread_count": .read,
        "rcv_register_message": .send, "rcv_register_groupmessage": .send, "rcv_register_csvmessage": .send,
    ]

    private static func kind(_ path: String) -> CallKind {
        Mount.adapter.kind(of: Mount.request(path, ""), settings: .unbound)
    }

    /// The name of a route in the catalogue.
    private static func name(_ call: UPMCCall) -> String {
        call.isMarketing ? "mobile/\(call.rawValue)" : call.rawValue
    }

    @Test func everyCallOfTheCatalogueHasItsKind() throws {
        let calls = try #require(try Fixture.json("catalogue.json")["calls"]?.array).compactMap(\.string)
        #expect(Set(calls) == Set(Self.kinds.keys))
        #expect(Set(UPMCCall.allCases.map(Self.name)) == Set(Self.kinds.keys))
        for (name, kind) in Self.kinds {
            let path = name.hasPrefix("mobile/") ? "/\(name)" : "/\(name).ctl"
            for prefix in ["/upmc", "/receiver", "", "/any/where"] {
                #expect(Self.kind(prefix + path) == kind, "\(prefix)\(path)")
            }
        }
    }

    @Test func everyRouteOfACallHasTheKindOfTheCall() throws {
        for route in Mount.adapter.routes {
            guard case .exact(let path) = route.path else { continue }
            let call = try #require(UPMCCall(rawValue: route.name))
            #expect(Self.kind(path) == Self.kinds[Self.name(call)], "\(path)")
        }
    }

    @Test func everyDocumentedRequestHasTheKindOfItsCall() throws {
        for request in try ConformanceTests.documented() {
            let call = try #require(UPMCCall(path: request.path))
            let kind = Mount.adapter.kind(of: request, settings: .unbound)
            #expect(kind == Self.kinds[Self.name(call)], "\(request.path)")
        }
    }

    @Test func aRequestThatCannotBeReadHasTheKindOfItsPath() {
        let broken = Mount.request("/upmc/RCV_Register_Message.ctl", "%%%", contentType: "multipart/form-data")
        #expect(Mount.adapter.kind(of: broken, settings: .unbound) == .send)
        #expect(Mount.adapter.named(in: broken, settings: Mount.settings()) == .audience)
        for path in ["/upmc/nothing.ctl", "/upmc", "/upmc/index.html", "/", ""] {
            #expect(Self.kind(path) == .other, "\(path)")
        }
    }

    // docs/contracts/upmc.md#1.8.2
    @Test func aRegistrationStatesTheAppsVersion() throws {
        let guest = try Fixture.request("rcv_register_service/guest.request.txt")
        #expect(Mount.adapter.appVersion(in: Mount.request(guest.path, guest.form)) == "120")
        let ack = try Fixture.request("rcv_register_sent_ack/ack.request.txt")
        #expect(Mount.adapter.appVersion(in: Mount.request(ack.path, ack.form)) == nil)
        for form in ["APP_VER=" + String(repeating: "1", count: 200), "APP_VER=", "%"] {
            #expect(Mount.adapter.appVersion(in: Mount.call("rcv_appAlive", form)) == nil)
        }
    }

    // An `AUTHKEY` is that of the side that answered, so a call leaves as it arrived.
    @Test func aCallLeavesUnchanged() throws {
        let ack = try Fixture.request("rcv_register_sent_ack/ack.request.txt")
        let request = Mount.request(ack.path, ack.form)
        let left = try #require(
            Mount.adapter.prepare(request, for: UpstreamSettings(vendor: .upmc), host: "push.example", at: Mount.now)
        )
        #expect(left.body == request.body && left.path == request.path && left.headers == request.headers)
    }

    // MARK: Named targets

    private static func named(_ name: String, _ form: String) -> NamedTargets {
        Mount.adapter.named(in: Mount.call(name, form), settings: Mount.settings())
    }

    private static func users(_ names: String...) -> NamedTargets { .targets(names.map { RolloutFacts(user: $0) }) }

    @Test func usersAreNamedAsTheyAreRegistered() throws {
        let send = try Fixture.request("rcv_register_message/users.request.txt")
        let named = Mount.adapter.named(in: Mount.request(send.path, send.form), settings: Mount.settings())
        #expect(named == Self.users("hong", "kim", "nobody"))
        let user = try Fixture.request("rcv_register_user/user.request.txt")
        let command = try Mount.command(Mount.request("/upmc/rcv_register_user.ctl", user.form))
        let registered = UserChange.set("hong", name: "Hong Gildong", phone: "01012345678")
        #expect(command == .registration(.assign(key: "APNS:6F0A", registered)))
    }

    // docs/contracts/upmc.md#1.9.1 to docs/contracts/upmc.md#1.9.3
    @Test func everyFormOfASendNamesItsTargets() {
        #expect(Self.named("rcv_register_message", "TYPE=S&CUID=hong") == Self.users("hong"))
        #expect(Self.named("rcv_register_message", "TYPE=E&CUID=[u1, u2]&CUID=u1") == Self.users("u1", "u2"))
        #expect(Self.named("rcv_register_message", "TYPE=E&CUID=hong&REQ_PSIDS=[\"t\"]") == Self.users("hong"))
        #expect(Self.named("rcv_register_groupmessage", "TYPE=A&GROUPSEQ=") == .audience)
        #expect(Self.named("rcv_register_groupmessage", "TYPE=G&GROUPSEQ=12") == .audience)
        // Tokens reveal neither users nor devices.
        #expect(Self.named("rcv_register_groupmessage", "TYPE=A&REQ_PSIDS=[\"t\"]") == .hidden)
        #expect(Self.named("rcv_register_message", "TYPE=G&GROUPSEQ=12&REQ_PSIDS=[\"t\"]") == .hidden)
        #expect(Self.named("rcv_register_message", "TYPE=E") == .audience)
        #expect(Self.named("rcv_register_message", "TYPE=X&CUID=hong") == .audience)
        #expect(Self.named("rcv_register_sent_ack", "CUID=hong&SEQNO=1") == .audience)
    }

    @Test func aListNamesTheUsersOfItsRows() throws {
        let all = try ConformanceTests.documented()
        let list = try #require(all.first(where: { $0.path.hasSuffix("/rcv_register_csvmessage.ctl") }))
        #expect(Mount.adapter.named(in: list, settings: Mount.settings()) == Self.users("hong"))
    }
}
