import Foundation
import Model
import NIOHTTP1
import Testing

@testable import CommandSupport

/// Captures from the operator's view: started and shown by commands, written by every node, and limited over all
/// nodes.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct CaptureTests {
    private static let token = "740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad"

    /// Starts a capture with the command. The nodes know it a moment later (see `known`).
    private func start(_ world: World, _ vendor: String, app: String = "shop", _ more: [String] = []) async throws
        -> String
    {
        let started = try await world.command(["capture", "start", "--app", app, "--vendor", vendor] + more)
        try #require(started.status == 0, "\(started.log)")
        return try #require(started.log.split(separator: "\n").last.map(String.init))
    }

    /// Calls the nodes until a capture of RationalOwl shows that each of them writes to it. The nodes read all
    /// captures together, so they know the older ones too.
    private func known(_ world: World, _ id: String, to nodes: [HTTPCaller]) async throws {
        for (path, node) in zip(Self.markers, nodes) {
            try await eventually("\(path) is captured", every: .milliseconds(200)) {
                _ = try await node.call("POST", path, ["aId": .string(world.account)])
                return try await shown(world, id).contains { $0["path"]?.string == path }
            }
        }
    }

    /// Paths of calls that only show whether a node captures, one per node.
    private static let markers = ["/pushApp/notiRead", "/pushApp/msgInfo"]

    private func shown(_ world: World, _ id: String) async throws -> [JSON] {
        let shown = try await world.command(["capture", "show", id, "--json"])
        try #require(shown.status == 0, "\(shown.log)")
        return shown.log.split(separator: "\n").compactMap { try? JSONParser.parse(String($0)) }
    }

    /// The demo's app with the three dialects.
    private func provision(_ world: World) async throws {
        _ = try await world.apply()
        let path = world.material.path("tenants.yaml")
        var text = try String(contentsOfFile: path, encoding: .utf8)
        text += "\n          ipns: { appId: hr.mobile }\n"
        text += "          upmc: { applicationId: com.example.upmc, version: \"4.0EE\" }\n"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let applied = try await world.apply()
        try #require(applied.status == 0, "\(applied.log)")
    }

    @Test func everyDialectsCallsAreShownMaskedAndNoneAfterTheStop() async throws {
        try await World.with { world in
            try await provision(world)
            let upmc = try await start(world, "upmc")
            let ipns = try await start(world, "ipns")
            let rationalOwl = try await start(world, "rationalowl")
            try await known(world, rationalOwl, to: [world.http])
            try await calls(world)
            try await self.ipns(world, ipns)
            try await archive(world, ipns)
            try await self.upmc(world, upmc)
            try await self.rationalOwl(world, rationalOwl)
            try await stops(world, ipns, besides: rationalOwl)
            try await administers(world, upmc)
        }
    }

    private func calls(_ world: World) async throws {
        let caller = UPMCCaller(base: world.http.base)
        let phone = UPMCCaller.Phone(device: "0011223344556677", token: Self.token, user: "gildong")
        try await caller.register(phone, ["PHONENUM": "01022221134", "AUTHKEY": "topsecret"])
        _ = try await caller.multipart("rcv_register_sent_ack", phone.fields.merging(["SEQNO": "1"]) { $1 })
        _ = try? await caller.call("rcv_nobody_documented_this", ["PSID": Self.token, "MODE": "Q"])
        let install: JSON = [
            "cId": 303, "sId": .string(world.service), "aId": .string(world.account), "dt": 2,
            "dRId": .string(String(Self.token.prefix(32))), "pn": "01022221134", "auId": "gildong", "n": "홍길동",
        ]
        _ = try await world.http.call("POST", "/pushApp/installApp", install)
        let register: JSON = [
            "APP_ID": "hr.mobile", "USER_CN": "E12345", "DEVICE_ID": "5B1C0011", "PUSH_TOKEN": .string(Self.token),
            "PUSH_TYPE": "ios", "PUSH_YN": "Y", "EMAIL": "gildong@example.com",
        ]
        let answer = try await world.http.call("POST", "/ipns/appRegist", register)
        #expect(answer.json?["RT"] == "0000")
        // The call contains no key of any binding. The only app with this dialect is used.
        let unknown: JSON = ["newMode": "Y", "token": .string(Self.token), "memo": "dear Gildong"]
        _ = try await world.http.call(
            "POST",
            "/ipns/v2/regist/\(Self.token)?pw=1234",
            unknown,
            headers: ["x-customer": "gildong"],
            bearer: "pgw_topsecret"
        )
    }

    private func expectMasked(_ exchanges: [JSON]) {
        let text = exchanges.map(JSONWriter.text).joined(separator: "\n")
        for secret in [
            Self.token, String(Self.token.prefix(32)), "topsecret", "gildong", "Gildong", "홍길동", "01022221134",
            "1234\"",
        ] { #expect(!text.contains(secret), "\(secret) in \(text)") }
    }

    private func ipns(_ world: World, _ id: String) async throws {
        try await eventually("two iPNS calls") { try await shown(world, id).count == 2 }
        let exchanges = try await shown(world, id)
        expectMasked(exchanges)
        try #require(exchanges.count == 2)
        let (known, unknown) = (exchanges[0], exchanges[1])
        #expect(known["outcome"] == "known" && known["path"] == "/ipns/appRegist" && known["status"] == 200)
        #expect(known["body"]?.string?.contains(#""PUSH_TOKEN":"<hex 64>","PUSH_TYPE":"ios","PUSH_YN":"Y""#) == true)
        #expect(known["answer"]?.string?.contains(#""RT":"0000""#) == true)
        #expect(unknown["outcome"] == "unknown" && unknown["path"] == "/ipns/v2/regist/<hex 64>")
        #expect(unknown["query"] == "pw=<secret 4>")
        #expect(unknown["body"] == #"{"newMode":"Y","token":"<hex 64>","memo":"<text 12>"}"#)
        let headers = unknown["headers"]?.array ?? []
        #expect(headers.contains { $0["name"]?.string?.lowercased() == "x-customer" && $0["value"] == .null })
        #expect(headers.contains { $0["value"] == "Bearer <secret 13>" })
    }

    private func upmc(_ world: World, _ id: String) async throws {
        try await eventually("three UPMC calls") { try await shown(world, id).count == 3 }
        let exchanges = try await shown(world, id)
        expectMasked(exchanges)
        try #require(exchanges.count == 3)
        #expect(exchanges[0]["body"]?.string?.contains("PHONENUM=<phone 11 …34>") == true)
        #expect(exchanges[0]["body"]?.string?.contains("AUTHKEY=<secret 9>") == true)
        #expect(exchanges[1]["body"]?.string?.contains("part PSID: <hex 64>") == true)
        #expect(exchanges[2]["outcome"] == "unknown")
        #expect(exchanges[2]["path"] == "/upmc/rcv_nobody_documented_this.ctl")
        #expect(exchanges[2]["body"]?.string?.contains("MODE=Q") == true)
    }

    private func rationalOwl(_ world: World, _ id: String) async throws {
        func installs() async throws -> [JSON] {
            try await shown(world, id).filter { $0["path"] == "/pushApp/installApp" }
        }
        try await eventually("one RationalOwl call") { try await installs().count == 1 }
        let exchanges = try await installs()
        expectMasked(exchanges)
        #expect(exchanges.first?["body"]?.string?.contains(#""cId":303"#) == true)
        let printed = try await world.command(["capture", "show", String(id.prefix(8))])
        #expect(printed.log.contains("POST /pushApp/installApp"))
    }

    /// The file for a browser's network panel contains every exchange, and none of the masked values.
    private func archive(_ world: World, _ id: String) async throws {
        let printed = try await world.command(["capture", "show", id, "--har"])
        try #require(printed.status == 0, "\(printed.log)")
        let entries = try JSONParser.parse(printed.log)["log"]?["entries"]?.array ?? []
        expectMasked(entries)
        try #require(entries.count == 2)
        #expect(
            entries[1]["request"]?["url"] == "http://gateway.invalid/ipns/v2/regist/%3Chex%2064%3E?pw=%3Csecret%204%3E"
        )
        #expect(entries[0]["response"]?["content"]?["text"]?.string?.contains(#""RT":"0000""#) == true)
        let rest = try await world.command(["capture", "show", id, "--har", "--after", "1"])
        #expect(try JSONParser.parse(rest.log)["log"]?["entries"]?.array?.count == 1)
        let both = try await world.command(["capture", "show", id, "--har", "--json"])
        #expect(both.status == 2 && both.log.contains("cannot be combined"))
    }

    private func stops(_ world: World, _ id: String, besides running: String) async throws {
        let stopped = try await world.command(["capture", "stop", id])
        #expect(stopped.status == 0 && stopped.log.contains("stopped"))
        let before = try await shown(world, running).count
        for _ in 0..<5 { _ = try await world.http.call("POST", "/ipns/getConfig", ["APP_ID": "hr.mobile"]) }
        // A node writes calls in their order: when this one is there, the five before it were written or refused.
        _ = try await world.http.call("POST", Self.markers[0], ["aId": .string(world.account)])
        try await eventually("a later call is captured") { try await shown(world, running).count > before }
        #expect(try await shown(world, id).count == 2)
    }

    /// The native API: a key with the admin scope reads pages, another key reads nothing.
    private func administers(_ world: World, _ id: String) async throws {
        #expect(try await world.native("GET", "/v1/captures").status == 403)
        let made = try await world.command(["key", "create", "--tenant", "acme", "--name", "boss", "--scopes", "admin"])
        let key = try #require(made.log.split(separator: "\n").map(String.init).first { $0.hasPrefix("pgw_") })
        func call(
            _ method: String,
            _ path: String,
            _ body: JSON? = nil,
            once: String? = nil
        ) async throws -> HTTPCaller.Answer {
            let headers = once.map { ["idempotency-key": $0] } ?? [:]
            return try await world.http.call(method, path, body, headers: headers, bearer: key)
        }
        #expect(try await call("GET", "/v1/captures").json?["captures"]?.array?.count == 3)
        let page = try await call("GET", "/v1/captures/\(id)?limit=2").json
        #expect(page?["page"]?.array?.count == 2 && page?["next"] == 2)
        let rest = try await call("GET", "/v1/captures/\(id)?limit=2&after=2").json
        #expect(rest?["page"]?.array?.count == 1 && rest?["next"] == .null)
        #expect(try await call("POST", "/v1/captures", ["app": "shop", "vendor": "upmc"]).status == 422)
        #expect(try await call("POST", "/v1/captures", ["app": "shop", "vendor": "braze"]).status == 404)
        #expect(try await call("POST", "/v1/captures/\(id)/stop").json?["state"] == "stopped")
        let order: JSON = ["app": "shop", "vendor": "upmc", "minutes": 1]
        let again = try await call("POST", "/v1/captures", order, once: "start-1")
        #expect(again.status == 201 && again.json?["state"] == "running")
        let repeated = try await call("POST", "/v1/captures", order, once: "start-1")
        #expect(repeated.status == 201 && repeated.json == again.json && repeated.json != nil)
        #expect(
            try await call("POST", "/v1/captures", ["app": "shop", "vendor": "ipns"], once: "start-1").status == 409
        )
        for _ in 0..<2 { #expect(try await call("DELETE", "/v1/captures/\(id)", once: "remove-1").status == 204) }
        #expect(try await call("DELETE", "/v1/captures/\(id)").status == 404)
        #expect(try await call("GET", "/v1/captures/\(id)").status == 404)
        #expect(try await call("GET", "/v1/captures/nothing").status == 404)
        let audit = try await call("GET", "/v1/audit?limit=1000").json?["entries"]?.array ?? []
        let acts = audit.filter { $0["subject"]?.string?.hasPrefix("capture ") == true }.compactMap {
            $0["action"]?.string
        }
        // Reads of a capture are audited too, also that it does not exist any longer.
        #expect(acts.filter { $0 != "read" } == ["start", "start", "start", "stop", "stop", "start", "remove"])
        #expect(acts.filter { $0 == "read" }.count == 4)
    }

    @Test func twoNodesShareTheBound() async throws {
        try await Soak.with(Cluster(nodes: 2)) { cluster in
            let world = cluster.world
            let id = try await start(world, "rationalowl", ["--count", "20"])
            let install: JSON = ["cId": 303, "sId": .string(world.service), "aId": .string(world.account), "dt": 2]
            let callers = [try cluster.http(0), try cluster.http(1)]
            try await known(world, id, to: callers)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<80 {
                    let caller = callers[number % 2]
                    group.addTask { _ = try await caller.call("POST", "/pushApp/installApp", install) }
                }
                try await group.waitForAll()
            }
            try await eventually("the capture is full") {
                try await world.command(["capture", "list"]).log.contains("full")
            }
            #expect(try await shown(world, id).count == 20)
        }
    }
}
