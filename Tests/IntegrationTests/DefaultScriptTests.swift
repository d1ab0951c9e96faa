import Adapters
import CommandSupport
import Foundation
import Gateway
import GatewayDemo
import Model
import NIOConcurrencyHelpers
import NIOHTTP1
import TestKit
import Testing

/// The demo and the contract scripts once more, against bindings without any setting: each call that docs/security.md lists is refused as its vendor
/// refuses it, and every other call succeeds. The document is read by the test, so that it cannot say anything else.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct DefaultScriptTests {
    /// A binding of a script without its settings, and without a key that opens its sends.
    private static func withoutSettings(_ binding: JSON) -> JSON {
        .object(JSONObject((binding.object?.pairs ?? []).filter { !["settings", "sendKeyEnv"].contains($0.key) }))
    }

    /// The refused calls that the document lists, of one script.
    private final class Listed: Sendable {
        let document: SecurityDocument
        let vendor: Vendor
        private let calls = NIOLockedValueBox<[String]>([])

        init(_ vendor: Vendor) throws {
            document = try SecurityDocument()
            self.vendor = vendor
        }

        /// The entries that were refused.
        var refused: Set<String> { Set(calls.withLockedValue { $0 }) }

        func note(_ entry: String) { calls.withLockedValue { $0.append(entry) } }
    }

    /// A script met a refusal that the document lists, and nothing but a setting allows the call.
    private struct OnlyASettingAllows: Error { let path: String }

    // MARK: The demo

    /// Makes the calls of a story: a listed one first as an unmodified back end makes it, which must be refused, then with an API key of the tenant.
    private static func detour(_ listed: Listed, key: String) -> DemoRun.Detour {
        { call, make in
            func isRefused(_ answer: StoryAnswer) -> Bool {
                RefusedCall.isRefused(listed.vendor, call.path, answer.status, answer.body)
            }
            guard let entry = listed.document.entry(for: call.path, of: listed.vendor) else {
                let answer = try await make(call)
                #expect(!isRefused(answer), "not listed, and refused: \(call.path) \(answer.text)")
                return answer
            }
            var bare = call
            if listed.vendor != .braze { bare.headers = [:] }
            let refused = try await make(bare)
            #expect(isRefused(refused), "listed, and not refused: \(call.path) \(refused.status) \(refused.text)")
            listed.note(entry)
            guard listed.vendor != .braze else { throw OnlyASettingAllows(path: call.path) }
            bare.headers = ["Authorization": "Bearer \(key)"]
            return try await make(bare)
        }
    }

    @Test func theDemoWithDefaultsIsRefusedExactlyWhatTheDocumentLists() async throws {
        let identifiers = SystemIdentifiers()
        let stories = VendorCatalog.product.adapters.compactMap { adapter in
            (adapter as? any StoryVendor).map { (vendor: adapter.vendor, story: $0.story(identifiers)) }
        }
        #expect(Set(stories.map(\.vendor)) == [.rationalOwl, .upmc, .ipns, .notificationHubs, .braze])
        try await World.with { world in
            _ = try await world.apply()
            let text = try String(contentsOfFile: world.material.path("tenants.yaml"), encoding: .utf8)
            let head = try #require(text.range(of: "        bindings:\n"))
            let own = DemoStage.lines(of: stories).joined()
            #expect(own.contains("senderNetworks") && !own.contains("openSends"), "the demo opens nothing: \(own)")
            let lines = DemoStage.lines(of: stories, edit: Self.withoutSettings)
            try (text[..<head.upperBound] + lines.joined(separator: "\n"))
                .write(toFile: world.material.path("defaults.yaml"), atomically: true, encoding: .utf8)
            let secrets = stories.map(\.story.secrets).reduce(into: [:]) { $0.merge($1) { $1 } }
            let applied = try await world.apply("defaults.yaml", environment: secrets)
            try #require(applied.status == 0, "\(applied.log)")
            try await Self.isServed(world)
            let callers = DemoRun.Callers(http: world.http, https: world.https, control: world.control)
            var refused: [Vendor: Set<String>] = [:]
            for (vendor, story) in stories {
                let listed = try Listed(vendor)
                let run = DemoRun(
                    callers,
                    apiKey: world.apiKey,
                    isVerbose: false,
                    detour: Self.detour(listed, key: world.apiKey)
                )
                do {
                    try await run.play([story])
                    #expect(vendor != .braze, "the SDK is refused without a setting")
                } catch let stop as OnlyASettingAllows {
                    #expect(vendor == .braze && stop.path == "/api/v3/data")
                }
                refused[vendor] = listed.refused
            }
            #expect(
                refused == [
                    .rationalOwl: ["/server/register/", "/msgClient/register", "msgClientSendMsgByPhoneNum"],
                    .upmc: ["rcv_register_message"], .ipns: ["send"], .notificationHubs: [], .braze: ["/api/v3/*"],
                ]
            )
        }
    }

    /// Waits for the last binding of the file, so that no refusal is one of an unknown binding.
    private static func isServed(_ world: World) async throws {
        var caller = UPMCCaller(base: world.http.base)
        caller.application = "com.example.upmc-51"
        try await eventually("the last binding is served") {
            try await caller.call("rcv_get_service", UPMCCaller.Phone(user: "nobody").fields).code == "0000"
        }
    }

    // MARK: Contract scripts

    // Every request of RationalOwl's documents, as it is documented.
    @Test func theDocumentedRequestsOfRationalOwl() async throws {
        try await World.with { world in
            _ = try await world.apply()
            let path = world.material.path("tenants.yaml")
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let settings = #", settings: { senderNetworks: [127.0.0.1, "::1"] }"#
            try #require(text.contains(settings))
            try text.replacing(settings, with: "").write(toFile: path, atomically: true, encoding: .utf8)
            let applied = try await world.apply()
            try #require(applied.status == 0, "\(applied.log)")
            let key = ["Authorization": "Bearer \(world.apiKey)"]
            let requests = try await requests(world, key)
            let listed = try Listed(.rationalOwl)
            for request in requests.all {
                let body = Self.dueNow(request.body)
                func call(_ headers: [String: String]) async throws -> HTTPCaller.Answer {
                    try await world.http.call("POST", request.path, body, headers: headers)
                }
                func isRefused(_ answer: HTTPCaller.Answer) -> Bool {
                    RefusedCall.isRefused(.rationalOwl, request.path, answer.status, answer.bytes)
                }
                let bare = try await call([:])
                let entry = listed.document.entry(for: request.path, of: .rationalOwl)
                #expect(isRefused(bare) == (entry != nil), "\(request.path): \(bare.text)")
                #expect(bare.status == 200, "\(request.path): \(bare.text)")
                guard let entry else { continue }
                listed.note(entry)
                let proven = try await call(key)
                #expect(proven.status == 200 && !isRefused(proven), "\(request.path): \(proven.text)")
            }
            #expect(listed.refused == listed.document.refusedCalls(of: .rationalOwl))
        }
    }

    /// A request without its reservation, whose date in 2090 is too far ahead.
    private static func dueNow(_ body: JSON) -> JSON {
        .object(JSONObject((body.object?.pairs ?? []).filter { $0.key != "rv" }))
    }

    /// The documented requests, about a device, a back end and a message that exist.
    private func requests(_ world: World, _ key: [String: String]) async throws -> RationalOwlRequests {
        var requests = RationalOwlRequests(
            account: world.account,
            service: world.service,
            device: String(repeating: "d1", count: 16),
            sender: "",
            message: "",
            image: String(repeating: "0", count: 32)
        )
        let server: JSON = ["serviceId": .string(world.service), "registerName": "shop backend 1"]
        requests.sender = try await first("the binding is served without its setting") {
            let bare = try await world.http.call("POST", "/server/register/", server)
            guard bare.json?["error"] == "not authorized" else { return nil }
            return try await world.http.call("POST", "/server/register/", server, headers: key)
                .json?["serverRegId"]?.string
        }
        for request in requests.all where request.route == "installApp" || request.path == "/msgClient/register" {
            let answer = try await world.http.call("POST", request.path, request.body, headers: key)
            #expect(answer.json?["rc"] == 1, "\(request.path): \(answer.text)")
        }
        let send = try #require(requests.all.first { $0.route == "msgClientSendMsgByDeviceId" })
        let sent = try await world.http.call("POST", send.path, Self.dueNow(send.body), headers: key)
        requests.message = try #require(sent.json?["mId"]?.string, "\(sent.text)")
        return requests
    }

    /// Clients of back ends use only credentials of their dialects, which the defaults accept.
    private func on(_ body: (World) async throws -> Void) async throws {
        try await World.with { world in
            _ = try await world.apply()
            do { try await body(world) } catch let skip as PythonClient.Skip { try World.lacks(skip.reason) }
        }
    }

    @Test func theContractScriptOfNotificationHubs() async throws {
        try await on { world in
            try await world.bindNotificationHubs(settings: "")
            try await hubs(world)
        }
    }

    @Test func somebodyElsesClientOfBraze() async throws {
        try await on { world in
            try await world.bindBraze(settings: nil)
            try await braze(world)
        }
    }

    /// The contract script of Notification Hubs. With `HUB_DEFAULTS` it checks that the calls that the document lists are refused, and repeats them with the
    /// key of the back end.
    private func hubs(_ world: World) async throws {
        let address = world.https.base.replacing("https://", with: "").replacing("127.0.0.1", with: "localhost")
        let result = try await PythonClient(world).run(
            script: "hubs_contract",
            [address, "shop-hub"],
            environment: [
                "SSL_CERT_FILE": world.material.path("gateway-cert.pem"), "HUB_DEFAULTS": "1",
                "HUB_FULL_KEY": NotificationHubsTests.fullKey, "HUB_LISTEN_KEY": NotificationHubsTests.listenKey,
            ]
        )
        try #require(result.status == 0, "\(result.log)")
        let report = try JSONParser.parse(result.log)
        #expect((report["checks"]?.int ?? 0) > 150, "\(result.log)")
        #expect(report["refused"] == ["PUT installations", "PUT registrations"], "\(result.log)")
    }

    // `notificationhubs-rest-python` only sends, with the key of a back end: the defaults refuse none of its calls but that with a wrong key.
    @Test func somebodyElsesClientOfNotificationHubs() async throws {
        try await on { world in
            try await world.bindNotificationHubs(settings: "")
            let python = try await PythonClient(world, installing: "notificationhubs-rest-python==1.0.3")
            let handle = NotificationHubsTests.token(32)
            let device = #"{"installationId":"c-2","platform":"apns","pushChannel":"\#(handle)","tags":["cseoul"]}"#
            let installed = try await NotificationHubsTests().call(world, .PUT, "/installations/c-2", device)
            try #require(installed.status == 200, "\(installed.text)")
            let address = world.https.base.replacing("https://", with: "").replacing("127.0.0.1", with: "localhost")
            let result = try await python.run(
                script: "hubs_rest",
                ["shop-hub", handle],
                environment: [
                    "REQUESTS_CA_BUNDLE": world.material.path("gateway-cert.pem"),
                    "HUB_CONNECTION":
                        "Endpoint=sb://\(address)/;SharedAccessKeyName=DefaultFullSharedAccessSignature;SharedAccessKey=\(NotificationHubsTests.fullKey)",
                ]
            )
            try #require(result.status == 0, "\(result.log)")
            let answers = try result.log.split(separator: "\n").map { try JSONParser.parse(String($0)) }
            #expect(answers.count == 11, "\(result.log)")
            let refused = answers.filter { $0["error"]?.string?.contains("HTTP code 401") == true }
            #expect(refused.map { $0["name"]?.string } == ["stranger"], "\(result.log)")
            for name in ["expression", "set", "direct", "template", "later"] {
                let isSent = answers.contains { $0["name"]?.string == name && $0["status"] == 201 }
                #expect(isSent, "\(name): \(result.log)")
            }
        }
    }

    // MARK: The documented flows of UPMC and iPNS

    /// A call of a script with its answer.
    private struct PlayedCall {
        let name: String
        let path: String
        let status: Int
        let body: [UInt8]

        init(_ line: JSON) throws {
            name = try #require(line["name"]?.string)
            path = try #require(line["request"]?["target"]?.string)
            status = Int(try #require(line["response"]?["status"]?.int))
            body = Array((line["response"]?["body"]?.string ?? "").utf8)
        }

        func isRefused(_ vendor: Vendor) -> Bool { RefusedCall.isRefused(vendor, path, status, body) }
    }

    /// Plays the documented flow of a vendor's apps and back ends, which names no credential but those in `settings`.
    private static func play(
        _ script: String,
        _ world: World,
        skip: String,
        _ settings: [String: String]
    ) async throws -> [PlayedCall] {
        let out = world.material.path("played.jsonl")
        var arguments = [script, "--base", world.http.base, "--out", out, "--skip", skip]
        for (name, value) in settings { arguments += ["--set", "\(name)=\(value)"] }
        let played = try await PythonClient(world).run(
            script: "vendorstubs/clients/__main__",
            arguments,
            environment: [:]
        )
        try #require(played.status == 0, "\(played.log)")
        let lines = try String(contentsOfFile: out, encoding: .utf8).split(separator: "\n")
        let calls = try lines.map { try PlayedCall(try JSONParser.parse(String($0))) }
        try #require(calls.count > 30)
        return calls
    }

    /// Expects that of these calls exactly those are refused that the document lists, and all that it lists are among them.
    private static func expectExactlyTheListed(_ calls: [PlayedCall], of vendor: Vendor) throws {
        let listed = try Listed(vendor)
        for call in calls {
            let entry = listed.document.entry(for: call.path, of: vendor)
            let answer = String(decoding: call.body, as: UTF8.self)
            #expect(call.isRefused(vendor) == (entry != nil), "\(call.name): \(call.path) \(answer)")
            if let entry { listed.note(entry) }
        }
        #expect(listed.refused == listed.document.refusedCalls(of: vendor))
    }

    @Test func theFlowOfUPMC() async throws {
        try await on { world in
            try await world.applyScripts()
            let unknown = "names no app"
            let closed = try await Self.play("upmc", world, skip: unknown, ["app": "com.script.closed"])
            try Self.expectExactlyTheListed(closed, of: .upmc)
            // The control: with the setting, none of the same calls is refused.
            let opened = try await Self.play("upmc", world, skip: unknown, ["app": "com.script.opened"])
            #expect(opened.filter { $0.isRefused(.upmc) }.map(\.name) == [])
            #expect(opened.map(\.name) == closed.map(\.name))
        }
    }

    @Test func theFlowOfIPNS() async throws {
        try await on { world in
            try await world.applyScripts()
            func play(_ app: String, _ key: String) async throws -> [PlayedCall] {
                let names = ["app": app, "apiKey": key]
                return try await Self.play("ipns", world, skip: "registers at another app", names)
            }
            /// The result codes of the calls that change settings by a `DEVICE_ID` alone.
            func updates(_ calls: [PlayedCall]) -> [String?] {
                calls.filter { ["changes its settings", "switches push off"].contains($0.name) }
                    .map { (try? JSONParser.parse($0.body))?["RT"]?.string }
            }
            try Self.expectExactlyTheListed(try await play("script.closed", "unknown"), of: .ipns)
            let closed = try await play("script.closed", world.apiKey)
            #expect(closed.filter { $0.isRefused(.ipns) }.map(\.name) == ["sends with a wrong key"])
            let rows = try SecurityDocument().table("call", "with the defaults", "setting")
            #expect(rows.contains { $0[0].hasPrefix("iPNS `updateConfig`") && $0[1] == "`2001`" })
            #expect(updates(closed) == ["2001", "2001"])
            let opened = try await play("script.opened", world.apiKey)
            #expect(opened.filter { $0.isRefused(.ipns) }.map(\.name) == ["sends with a wrong key"])
            #expect(updates(opened) == ["0000", "0000"])
        }
    }

    private func braze(_ world: World) async throws {
        let caller = BrazeCaller(world: world)
        try await caller.keepCampaign("winter", name: "W", alert: "Hi")
        let python = try await PythonClient(world, installing: "braze-client==2.3.3")
        let result = try await python.run(
            script: "braze_users",
            [world.http.base, "winter"],
            environment: ["BRAZE_KEY": BrazeCaller.key]
        )
        #expect(result.status == 0, "\(result.log)")
        #expect(result.log.contains("\"deleted\": 1"), "\(result.log)")
        // Only the script's own call with a wrong key is refused.
        let refused = result.log.split(separator: "\n").filter { $0.contains("Invalid API Key") }
        #expect(refused.count == 1 && refused[0].contains("\"stranger\""), "\(result.log)")
    }
}

extension World {
    /// Adds an app whose bindings have no settings, and one with those that the calls of the scripts need.
    fileprivate func applyScripts() async throws {
        let apps = """

                  - id: scriptclosed
                    platforms: { ios: { topic: \(StageMaterial.topic), production: apple } }
                    bindings:
                      upmc: { applicationId: com.script.closed, version: "5.1" }
                      ipns: { appId: script.closed }
                  - id: scriptopened
                    platforms: { ios: { topic: \(StageMaterial.topic), production: apple } }
                    bindings:
                      upmc: { applicationId: com.script.opened, version: "5.1", settings: { senderNetworks: [127.0.0.1] } }
                      ipns: { appId: script.opened, settings: { deviceIdAlone: true } }
            """
        try await apply("scripts.yaml", keys: "", apps: apps)
        try await eventually("the last binding is served") {
            try await http.call("POST", "/ipns/getConfig", ["APP_ID": "script.opened", "DEVICE_ID": "D"])
                .json?["RT"] == "2003"
        }
    }
}
