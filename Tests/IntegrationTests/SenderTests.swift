import CommandSupport
import Foundation
import Model
import NIOHTTP1
import Testing

@testable import GatewayHTTP

/// The right to send, over real processes: the attacks of an anonymous caller who knows what every copy of an app contains, against bindings with the
/// defaults and with each setting (docs/security.md).
@Suite(.serialized, .timeLimit(.minutes(10)), .sharedWorld { try await $0.applySenders() })
struct SenderTests {
    private var world: World { get throws { try SharedWorld.current } }

    // MARK: RationalOwl (C1)

    /// The calls by which a stranger became a sender of a bank, broadcast and received its callbacks.
    private func rationalOwl(
        _ app: String,
        _ call: String,
        _ more: JSONObject = [:],
        headers: [String: String] = [:]
    ) async throws -> JSON {
        var body: JSONObject = [
            "aId": .string("\(app)-account"), "sId": .string("\(app)-service"),
            "serviceId": .string("\(app)-service"), "ip": "203.0.113.10", "rId": .string("SVR-\(app)"),
        ]
        for (key, value) in more.pairs { body[key] = value }
        let answer = try await world.http.call("POST", call, .object(body), headers: headers)
        #expect(answer.status == 200, "\(call): \(answer.status) \(answer.text)")
        return try #require(answer.json, "\(call): \(answer.text)")
    }

    private static let broadcast: JSONObject = ["msg": ["title": "t", "body": "b"], "dest": ["t": 1]]

    private func register(_ app: String, _ name: String, headers: [String: String] = [:]) async throws -> JSON {
        try await rationalOwl(app, "/server/register/", ["registerName": .string(name)], headers: headers)
    }

    /// All calls of a back end with the known `rId`, each refused.
    private func expectNoAccess(_ app: String, headers: [String: String] = [:]) async throws {
        #expect(try await register(app, "bank-core", headers: headers) == ["error": "not authorized"])
        #expect(try await register(app, "nobody's name yet", headers: headers) == ["error": "not authorized"])
        let calls: [(String, JSONObject)] = [
            ("register", ["cId": 1, "r": 1, "t": 12]), ("sendMsg", Self.broadcast),
            ("msgClientSendMsgByPhoneNum", Self.broadcast),
            ("msgClientSendMsgByDeviceId", ["msg": ["body": "b"], "dest": ["t": 2, "tg": [["dId": "d"]]]]),
            ("setCallbackUrl", ["url": "https://evil.example/"]),
        ]
        for (call, more) in calls {
            let answer = try await rationalOwl(app, "/msgClient/\(call)", more, headers: headers)
            #expect(answer["rc"] == -203 && answer["mId"] == nil && answer["srId"] == nil, "\(JSONWriter.text(answer))")
        }
        let stored = try await world.value(
            """
            SELECT (SELECT count(*) FROM gateway.message WHERE app_id = '\(app)') || ' ' || count(*) || ' ' || count(enrolment_key) || ' '
                || count(callback_url) AS value FROM gateway.sender WHERE app_id = '\(app)'
            """
        )
        #expect(stored == "0 1 0 0", "no message, only the provisioned sender, without enrolment and callback")
    }

    @Test func anAnonymousCallerIsNoBackEnd() async throws {
        try await expectNoAccess("closed")
        let log = try world.gatewayLog()
        #expect(log.contains("senderNetworks does not contain its address") && log.contains("openSends is not set"))
    }

    @Test func aKeyWithoutTheScopeOrOfAnotherTenantIsNoProof() async throws {
        for key in [SenderKeys.reader, SenderKeys.foreign, "an unknown key of no tenant"] {
            try await expectNoAccess("closed", headers: ["Authorization": "Bearer \(key)"])
            try await expectNoAccess("closed", headers: ["X-API-Key": key])
        }
    }

    @Test func aNetworkIsNoProofForAWebPage() async throws {
        try await expectNoAccess("guarded", headers: ["Origin": "https://evil.example"])
        #expect(try await register("guarded", "bank-core")["serverRegId"] == "SVR-guarded")
    }

    // The vendor's own sequence: with a key, and unchanged from a known network.
    @Test(arguments: [("keyed", true), ("net", false)])
    func aProvenBackEndGetsWhatTheContractDocuments(_ app: String, _ showsKey: Bool) async throws {
        let headers = showsKey ? ["X-API-Key": try world.apiKey] : [:]
        #expect(try await register(app, "bank-core", headers: headers)["serverRegId"]?.string == "SVR-\(app)")
        let enrolled = try await rationalOwl(app, "/msgClient/register", ["cId": 1, "r": 1, "t": 12], headers: headers)
        #expect(enrolled["rc"] == 1)
        let set = try await rationalOwl(
            app,
            "/msgClient/setCallbackUrl",
            ["url": "https://shop.example.com/"],
            headers: headers
        )
        #expect(set["rc"] == 1)
        #expect(try await rationalOwl(app, "/msgClient/sendMsg", Self.broadcast, headers: headers)["mId"] != nil)
        // Another name is registered, and keeps its id.
        let first = try await register(app, "another", headers: headers)
        #expect(first["serverRegId"] != nil)
        #expect(try await register(app, "another", headers: headers)["serverRegId"] == first["serverRegId"])
    }

    // Only the setting that opens sends lets the attack succeed, and it does not give away the id of a back end that proved itself.
    @Test func openSendsAdmitsAnyoneButGivesNoProvenNameAway() async throws {
        let registered = try await register("open", "anyone")
        let sender = try #require(registered["serverRegId"])
        #expect(try await register("open", "anyone") == registered)
        let own: JSONObject = ["rId": sender]
        #expect(try await rationalOwl("open", "/msgClient/register", own)["rc"] == 1)
        let url: JSONObject = ["rId": sender, "url": "https://evil.example/"]
        #expect(try await rationalOwl("open", "/msgClient/setCallbackUrl", url)["rc"] == 1)
        var send = Self.broadcast
        send["rId"] = sender
        #expect(try await rationalOwl("open", "/msgClient/sendMsg", send)["mId"] != nil)
        #expect(try await register("open", "bank-core") == ["error": "not authorized"])
        let key = ["Authorization": "Bearer \(try world.apiKey)"]
        #expect(try await register("open", "bank-core", headers: key)["serverRegId"] == "SVR-open")
        // A name that was open becomes that of the back end that proves itself.
        #expect(try await register("open", "anyone", headers: key) == registered)
        #expect(try await register("open", "anyone") == ["error": "not authorized"])
    }

    // MARK: UPMC (C2)

    private func upmc(_ app: String) throws -> UPMCCaller {
        var caller = UPMCCaller(base: try world.http.base)
        caller.application = "com.bank.\(app)"
        return caller
    }

    private static let everyone = ["TYPE": "A", "MESSAGE": "m", "SENDERCODE": "admin"]

    /// The calls of a back end, each refused, and without a permission for pages to read the answer.
    private func expectNoAccess(_ caller: UPMCCaller, _ more: [String: String] = [:]) async throws {
        let calls = [
            ("rcv_register_message", Self.everyone), ("rcv_register_groupmessage", ["GROUPSEQ": "1", "MESSAGE": "m"]),
            ("rcv_register_usergroup", ["GROUPNAME": "g"]), ("rcv_get_usergroup", [:]),
            ("rcv_get_usergroup_user", ["GROUPSEQ": "1"]), ("rcv_delete_usergroup", ["GROUPSEQ": "1"]),
        ]
        for (name, fields) in calls {
            let answer = try await caller.call(name, fields.merging(more) { first, _ in first })
            #expect(answer.code == "40100", "\(name): \(JSONWriter.text(answer.json))")
            #expect(answer.headers.first(name: "access-control-allow-origin") == nil, "\(name)")
        }
    }

    @Test func aStrangerNeitherSendsNorAdministersGroups() async throws {
        try await expectNoAccess(upmc("closed"))
    }

    // A page of any site can make a browser send a GET.
    @Test(arguments: ["closed", "net", "open"]) func aSendIsNeverAGet(_ app: String) async throws {
        let caller = try upmc(app)
        let query = "APP_ID=com.bank.\(app)&TYPE=A&MESSAGE=m"
        let answer = try await UPMCCaller.raw(.GET, caller.base + "/upmc/rcv_register_message.ctl?\(query)")
        #expect(answer.text.contains("\"40000\"") && answer.headers.first(name: "access-control-allow-origin") == nil)
        let options = try await UPMCCaller.raw(.OPTIONS, caller.base + "/upmc/rcv_register_message.ctl")
        #expect(options.headers.first(name: "access-control-allow-origin") == nil)
    }

    // `security.using` gives anyone an AUTHKEY, so with a sendKey only that, or a key of the gateway, sends.
    @Test func aKeyOfAnAppDoesNotSend() async throws {
        let caller = try upmc("keyed")
        let phone = UPMCCaller.Phone(user: "hong")
        let asked = try await caller.call("asking_authorization", phone.fields)
        let key = try #require(asked.first?["AUTHKEY"]?.string)
        let fields = phone.fields.merging(["AUTHKEY": key]) { $1 }
        try await expectNoAccess(caller, fields)
        #expect(try await caller.call("new_rcv_register_service_and_user", fields).code == "0000")
        var backEnd = caller
        backEnd.headers = ["X-Gateway-Key": SenderKeys.upmc + "x"]
        try await expectNoAccess(backEnd)
        for header in [["X-Gateway-Key": SenderKeys.upmc], ["Authorization": "Bearer \(try world.apiKey)"]] {
            backEnd.headers = header
            #expect(try await backEnd.call("rcv_register_message", Self.everyone).code == "0000")
        }
    }

    // A device joins and leaves groups without a key; only a back end makes, lists and removes them.
    @Test func aDeviceJoinsTheGroupOfABackEnd() async throws {
        let caller = try upmc("net")
        let phone = UPMCCaller.Phone(user: "hong")
        try await caller.register(phone)
        let group = try #require(try await caller.call("rcv_register_usergroup", ["GROUPNAME": "g"]).first?["GROUPSEQ"])
        let member = ["CUID": "hong", "GROUPSEQ": try #require(group.string)]
        var stranger = caller
        stranger.headers = ["Origin": "https://evil.example"]
        #expect(try await stranger.call("rcv_register_usergroup_user", member).code == "0000")
        #expect(try await stranger.call("rcv_get_usergroup_user", member).code == "40100")
        #expect(try await caller.call("rcv_get_usergroup_user", member).first?["CUID"] == "hong")
        // A call that names a device changes nothing for the user of another one.
        let other = UPMCCaller.Phone(user: "eve")
        try await caller.register(other)
        let foreign = other.fields.merging(member) { $1 }
        #expect(try await stranger.call("rcv_delete_usergroup_user", foreign).code == "4400")
        #expect(try await caller.call("rcv_get_usergroup_user", member).first?["CUID"] == "hong")
        let own = phone.fields.merging(member) { $1 }
        #expect(try await stranger.call("rcv_delete_usergroup_user", own).code == "0000")
        #expect(try await stranger.call("rcv_register_usergroup_user", own).code == "0000")
        #expect(try await stranger.call("rcv_delete_usergroup_user", member).code == "0000")
    }

    @Test func openSendsLetsAnyoneSend() async throws {
        let caller = try upmc("open")
        try await caller.register(UPMCCaller.Phone(user: "hong"))
        #expect(try await caller.call("rcv_register_message", Self.everyone).code == "0000")
        #expect(try await caller.call("rcv_register_usergroup", ["GROUPNAME": "g"]).code == "0000")
    }

    // MARK: iPNS

    @Test func aSendOfIPNSNeedsASender() async throws {
        let world = try world
        func send(_ app: String, _ headers: [String: String] = [:]) async throws -> JSON? {
            let body: JSON = [
                "APP_ID": .string("bank.\(app)"), "PUSH_ID_TYPE": "@01", "PUSH_ID": ["E1"], "ALERT": "a",
                "SEND_TYPE": "I",
            ]
            return try await world.http.call("POST", "/ipns/send", body, headers: headers).json
        }
        #expect(try await send("closed")?["error"] == "UNAUTHORIZED")
        #expect(try await send("closed", ["Authorization": "Bearer \(SenderKeys.reader)"])?["error"] == "UNAUTHORIZED")
        // The recipient is unknown, and only a sender learns that.
        for (app, headers) in [("closed", ["Authorization": "Bearer \(world.apiKey)"]), ("net", [:]), ("open", [:])] {
            #expect(try await send(app, headers)?["RT"] == "2003", "\(app)")
        }
    }

    // MARK: apply

    @Test func applyNamesTheBindingsWhoseSendsAreRefused() async throws {
        let applied = try await world.apply("senders.yaml")
        try #require(applied.status == 0, "\(applied.log)")
        let warned = applied.log.split(separator: "\n").filter { $0.contains("calls that send are refused") }
        // The only app without a setting; the others have a network, a key, an explicitly empty list, or are open.
        #expect(
            warned.count == 3 && warned.allSatisfy { $0.contains("tenants[0].apps[1].bindings.") },
            "\(applied.log)"
        )
        #expect(warned.allSatisfy { $0.contains("senderNetworks") && $0.contains("openSends") })
        #expect(warned.allSatisfy { $0.hasPrefix("warning: ") })
        #expect(warned.contains { $0.contains("sendKey") && $0.contains("bindings.upmc") })
    }

    @Test func aFileThatOpensWhatItsKeyClosesIsRefused() async throws {
        let world = try world
        let text = try String(contentsOfFile: world.material.path("senders.yaml"), encoding: .utf8)
        let open = "security: { using: true }"
        for (old, new, hint) in [
            (open, open + ", openSends: true", "contradicts sendKey"),
            ("id: SVR-closed", "id: SVR-other", "is known by another id"),
            ("10.9.0.0/16", "10.9.0.0/33", "senderNetworks"),
        ] {
            try #require(text.contains(old))
            try text.replacingOccurrences(of: old, with: new)
                .write(toFile: world.material.path("wrong.yaml"), atomically: true, encoding: .utf8)
            let applied = try await world.apply("wrong.yaml")
            #expect(applied.status == 1 && applied.log.contains(hint), "\(applied.log)")
        }
    }
}

/// Networks of senders behind a trusted proxy, which the test plays.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct TrustedProxyTests {
    // Each address may name one unknown service, so that the limit shows which address it counts.
    @Test func theClientOfATrustedProxyIsJudged() async throws {
        let arguments = ["--trusted-proxies", "127.0.0.1", "--limits-unknown", "0.001/1"]
        try await World.with(serveArguments: arguments) { world in
            _ = try await world.apply()
            try await world.applySenders(networks: "203.0.113.0/24, 127.0.0.1", isServed: false)
            /// The answer to a call through the proxy; nil when the limit refused it.
            func call(_ chain: String?, _ service: String = "net-service") async throws -> JSON? {
                let body: JSON = ["serviceId": .string(service), "registerName": "bank-core"]
                let headers = chain.map { ["X-Forwarded-For": $0] } ?? [:]
                let answer = try await world.http.call("POST", "/server/register/", body, headers: headers)
                return answer.status == 429 ? nil : answer.json
            }
            try await eventually("the binding is served") {
                try await call("203.0.113.1")?["serverRegId"] == "SVR-net"
            }
            // The part that the client itself wrote is left of the address that the proxy appended.
            #expect(try await call("203.0.113.250, 198.51.100.1") == ["error": "not authorized"])
            #expect(try await call("203.0.113.251, 127.0.0.1")?["serverRegId"] == "SVR-net")
            // The proxy named no client: its own address is in the list, and proves nothing.
            #expect(try await call(nil) == ["error": "not authorized"])
            // The limit counts the same addresses.
            let unknown: JSON = ["error": "service id is not registered"]
            #expect(try await call("203.0.113.250, 198.51.100.1", "nobody") == unknown)
            #expect(try await call("203.0.113.250", "nobody") == unknown)
            #expect(try await call("198.51.100.1", "nobody") == nil)
            #expect(try await call(nil, "nobody") == unknown)
            #expect(try await call("nonsense", "nobody") == nil, "counted as the proxy")
        }
    }
}

/// The PROXY protocol over real sockets; the test plays the proxy.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct ProxyProtocolTests {
    /// The answer to a call of a sender after `header`; empty when the connection was closed.
    private func call(_ world: World, _ header: [UInt8], isTLS: Bool = false) async throws -> String {
        let base = isTLS ? world.https.base : world.http.base
        let address = try #require(base.split(separator: "/").last.flatMap { ListenAddress(String($0)) })
        let body = #"{"serviceId":"net-service","registerName":"bank-core"}"#
        let call =
            "POST /server/register/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        return try await ProxyClient.exchange(
            address,
            header: header,
            call: call,
            trust: isTLS ? world.material.path("gateway-cert.pem") : nil
        )
    }

    private static func header(_ client: [UInt8]) -> [UInt8] {
        [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10, 0x21, 0x11, 0, 12] + client + [
            10, 0, 0, 1, 0x12, 0x67, 1, 0xBB,
        ]
    }

    @Test func theClientOfTheConnectionIsJudged() async throws {
        try await World.with(serveArguments: ["--trusted-proxies", "127.0.0.1", "--proxy-protocol"]) { world in
            _ = try await world.apply()
            try await world.applySenders(networks: "203.0.113.0/24, 127.0.0.1", isServed: false)
            let inside = Self.header([203, 0, 113, 7])
            try await eventually("the binding is served") { try await call(world, inside).contains("SVR-net") }
            #expect(try await call(world, inside, isTLS: true).contains("SVR-net"), "before TLS")
            #expect(try await call(world, Self.header([198, 51, 100, 1])).contains("not authorized"))
            // A check of the proxy itself proves nothing, although its own address is in the list.
            let local = Array(inside.prefix(12)) + [0x20, 0, 0, 0]
            #expect(try await call(world, local).contains("not authorized"))
            for missing in [[], Array("PROXY TCP4 203.0.113.7 10.0.0.1 1 2\r\n".utf8)] as [[UInt8]] {
                #expect(try await call(world, missing) == "", "closed")
            }
            #expect(try world.gatewayLog().contains("PROXY protocol"))
        }
    }

    // A balancer's connections are those of its clients: one client's are limited, and another's are not.
    @Test func connectionsAreCountedByTheClientThatTheProxyNames() async throws {
        let arguments = ["--trusted-proxies", "127.0.0.1", "--proxy-protocol", "--limits-connections", "2"]
        try await World.with(serveArguments: arguments) { world in
            let address = try #require(world.http.base.split(separator: "/").last.flatMap { ListenAddress(String($0)) })
            let (one, other) = (Self.header([203, 0, 113, 7]), Self.header([198, 51, 100, 1]))
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<5 {
                    group.addTask { try await ProxyClient.answer(address, header: one, "") { _ in false } }
                }
                for _ in 0..<3 {
                    let isAnswered = try await group.next()
                    #expect(isAnswered == false, "closed without an answer")
                }
                let (refused, admitted) = (try await call(world, one), try await call(world, other))
                #expect(refused == "" && admitted.contains("HTTP/1.1 200"))
                let count = try await world.metric("calls_limited_total", "limit=\"connections\"")
                #expect(count == 4)
                group.cancelAll()
            }
            try await eventually("the closed connections make room") {
                try await call(world, one).contains("HTTP/1.1 200")
            }
        }
    }

    @Test func theSettingNeedsTrustedProxies() async throws {
        try await World.with { world in
            let started = try await world.command(["serve", "--proxy-protocol", "--listen", "127.0.0.1:0"])
            #expect(started.status != 0 && started.log.contains("--trusted-proxies"), "\(started.log)")
        }
    }
}

/// The keys of `World.applySenders`.
enum SenderKeys {
    static let reader = "reader-9f2c4e01b7d85a3366cbe1907f4d2a58"
    static let foreign = "foreign-5c1f0ae69b7d3428f1d0c96e8a7b2354"
    static let upmc = "upmc-7d3f9b1c5e8a42604e6c0a2d9f7b1835"
}

extension World {
    /// Adds apps with the vendors' bindings to the demo's tenant: `closed` without settings, `guarded` and `net` with networks, `keyed` for keys only, `open`;
    /// and a tenant with a key of its own.
    func applySenders(networks: String = "127.0.0.1, \"::1\"", isServed: Bool = true) async throws {
        try writeKeys([("reader", SenderKeys.reader), ("foreign", SenderKeys.foreign), ("upmc", SenderKeys.upmc)])
        func app(_ name: String, _ settings: String, _ upmc: String = "", _ upmcSettings: String = "") -> String {
            """

                  - id: \(name)
                    platforms:
                      ios: { topic: \(StageMaterial.topic), production: apple }
                    bindings:
                      rationalowl: { accountId: \(name)-account, serviceId: \(name)-service, settings: {\(settings)},
                        senders: [ { name: bank-core, id: SVR-\(name) } ] }
                      upmc: { applicationId: com.bank.\(name)\(upmc), settings: {\(settings)\(upmcSettings)} }
                      ipns: { appId: bank.\(name), settings: {\(settings)} }
            """
        }
        let keys = ", sendKeyFile: upmc.key, authKeySecretFile: upmc.key"
        let apps =
            app("closed", "") + app("guarded", "senderNetworks: [127.0.0.1, 10.9.0.0/16]")
            + app("net", "senderNetworks: [\(networks)]")
            + app("keyed", "senderNetworks: []", keys, ", security: { using: true }") + app("open", "openSends: true")
        let other = """

              - id: other
                apiKeys:
                  - { name: sender, secretFile: foreign.key, scopes: [send, admin] }
            """
        try await apply(
            "senders.yaml",
            keys: "      - { name: reader, secretFile: reader.key, scopes: [read, devices] }\n",
            apps: apps + other
        )
        guard isServed else { return }
        try await eventually("the last binding is served") {
            let body: JSON = ["APP_ID": "bank.open", "DEVICE_ID": "D"]
            return try await http.call("POST", "/ipns/getConfig", body).json?["RT"] == "2003"
        }
    }
}
