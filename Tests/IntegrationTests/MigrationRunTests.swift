import CommandSupport
import Foundation
import Model
import Testing

@testable import Gateway

/// An app leaves its vendor, by `push-gateway migration` alone: the vendor's stub, the gateway and the push service are processes (docs/migrating.md).
@Suite(.serialized, .timeLimit(.minutes(10))) struct MigrationRunTests {
    /// More than 200 on either side of a rollout of 50 %, with a margin of seven standard deviations.
    private static let deviceCount = 560
    private static let arguments = ["--upstream-allow", "127.0.0.0/8", "--migration-interval", "1"]

    /// `percent` of the first rollout, and gates that need 200 samples.
    private static let file = """
        migration: { id: leave, app: shop, from: old, by: device, onGateFailure: hold }
        steps:
          - { stage: observe, gates: { observed: ">= 0.99", senders: ">= 1" } }
          - { stage: serve, gates: { backlog: "<= 60s", reach: ">= 0.99" } }
          - { stage: rollout, percent: 50, gates: { failures: "<= 0.02", receipts: ">= 0.9", unknown: "<= 0.01" } }
          - { stage: rollout, percent: 100, gates: { failures: "<= 0.02", receipts: none, unknown: "<= 0.01" } }
          - { stage: hold }
          - { stage: complete }
        """

    /// The calls of an app and of its back end, at the gateway.
    private struct Caller: Sendable {
        let http: HTTPCaller
        let account: String
        let service: String

        struct Device: Sendable {
            let key: String
            let token: String
            let phone: String

            init(_ index: Int) {
                key = String(format: "%032x", index + 1)
                token = String(format: "%064x", index + 0xA000)
                phone = String(format: "0105%07d", index)
            }
        }

        static let devices = (0..<MigrationRunTests.deviceCount).map { Device($0) }

        private func post(_ path: String, _ body: JSON) async throws -> HTTPCaller.Answer {
            let answer = try await http.call("POST", path, body)
            try #require(answer.status == 200, "\(path): \(answer.status) \(answer.text)")
            return answer
        }

        func install(_ device: Device) async throws {
            let answer = try await post(
                "/pushApp/installApp",
                [
                    "cId": 303, "sId": .string(service), "aId": .string(account), "dt": 2, "dRId": .string(device.key),
                    "pn": .string(device.phone), "n": "홍길동", "tk": .string(device.token), "env": "prod",
                ]
            )
            let code = answer.json?["rc"]?.int
            try #require(code == 1 || code == -102, "\(answer.text)")
        }

        /// Registers a back end, and returns its id.
        func register() async throws -> String {
            let server = try await post(
                "/server/register/",
                ["serviceId": .string(service), "registerName": "shop", "privateNetwork": 1]
            )
            let sender = try #require(server.json?["serverRegId"]?.string, "\(server.text)")
            let client = try await post(
                "/msgClient/register",
                [
                    "cId": 1, "r": 1, "t": 12, "sId": .string(service), "mcn": "shop", "rId": .string(sender),
                    "aId": .string(account), "ip": "203.0.113.10",
                ]
            )
            try #require(client.json?["srId"]?.string != nil, "\(client.text)")
            return sender
        }

        /// Sends to one device, and returns the name of the message.
        func send(to device: Device, from sender: String, _ text: String) async throws -> String {
            let answer = try await post(
                "/msgClient/msgClientSendMsgByDeviceId",
                [
                    "rId": .string(sender), "aId": .string(account), "ip": "203.0.113.10",
                    "msg": ["title": "공지", "body": .string(text)],
                    "dest": ["t": 2, "tg": [["dId": .string(device.key)]]],
                ]
            )
            return try #require(answer.json?["mId"]?.string, "\(answer.text)")
        }

        /// Reads a message that neither side knows, as after a send of a back end that was forgotten.
        func readUnknown(on device: Device) async throws {
            let body: JSON = [
                "cId": 311, "r": 1, "aId": .string(account), "dRId": .string(device.key),
                "pn": .string(device.phone), "mId": .string(SystemIdentifiers().randomHex(byteCount: 16)),
            ]
            _ = try await http.call("POST", "/pushApp/notiRead", body)
        }

        func read(_ message: String, on device: Device) async throws {
            _ = try await post(
                "/pushApp/notiRead",
                [
                    "cId": 311, "r": 1, "aId": .string(account), "dRId": .string(device.key),
                    "pn": .string(device.phone), "mId": .string(message),
                ]
            )
        }

        /// Runs `body` for devices, 16 at a time.
        static func each<Value: Sendable>(
            _ count: Int = MigrationRunTests.deviceCount,
            _ body: @escaping @Sendable (Device) async throws -> Value
        ) async throws -> [(device: Device, value: Value)] {
            try await withThrowingTaskGroup(of: [(Device, Value)].self) { group in
                for lane in 0..<16 {
                    group.addTask {
                        var values: [(Device, Value)] = []
                        for index in stride(from: lane, to: count, by: 16) {
                            values.append((devices[index], try await body(devices[index])))
                        }
                        return values
                    }
                }
                return try await group.reduce(into: []) { all, part in
                    all += part.map { (device: $0.0, value: $0.1) }
                }
            }
        }
    }

    /// The processes of a test.
    private struct Stage {
        let world: World
        let vendor: VendorStub
        let caller: Caller

        @discardableResult
        func migration(
            _ arguments: String...,
            fails: Bool = false,
            sourceLocation: SourceLocation = #_sourceLocation
        ) async throws -> String {
            let result = try await world.apiCommand(["migration"] + arguments)
            #expect((result.status != 0) == fails, "\(arguments): \(result.log)", sourceLocation: sourceLocation)
            return result.log
        }

        func status() async throws -> JSON {
            try #require(try await world.native("GET", "/v1/migrations/leave").json)
        }

        /// Advances as soon as the gates permit it.
        func advance(sourceLocation: SourceLocation = #_sourceLocation) async throws {
            let step = try await status()["step"]?.int ?? -1
            var last = ""
            try await eventually("step \(step) ends", sourceLocation: sourceLocation) {
                let result = try await world.apiCommand(["migration", "advance", "leave"])
                last = result.log
                return result.status == 0
            }
            #expect(try await status()["step"]?.int != step, "\(last)", sourceLocation: sourceLocation)
        }

        /// Waits until calls follow the rules in force: within a second, by the documentation.
        func follows(_ what: String, _ condition: () async throws -> Bool) async throws {
            try await eventually(what, within: .seconds(30), condition)
        }

        /// Waits until calls count for the step: they are counted in intervals of a second, and one that began before the step does not.
        func counts() async throws { try await Task.sleep(for: .seconds(2)) }

        /// Sends to each device, and waits until every message has its delivery; then each device reads its message.
        func sendAndRead(from sender: String, _ text: String) async throws {
            let caller = caller
            try await counts()
            let sent = try await Caller.each { try await caller.send(to: $0, from: sender, text) }
            let messages = Dictionary(uniqueKeysWithValues: sent.map { ($0.device.key, $0.value) })
            try await eventually("every message has a delivery") {
                let names = messages.values.map { "'\($0.lowercased())'" }.joined(separator: ",")
                let sent = try await world.value(
                    """
                    SELECT count(DISTINCT d.message_id)::text AS value FROM gateway.delivery d
                    LEFT JOIN gateway.message_ref r ON r.tenant_id = d.tenant_id AND r.message_id = d.message_id
                    WHERE d.state = 'sent' AND (d.message_id::text IN (\(names)) OR lower(r.ref) IN (\(names)))
                    """
                )
                return Int(sent) == messages.count
            }
            _ = try await Caller.each { device in
                if let message = messages[device.key] { try await caller.read(message, on: device) }
            }
        }
    }

    private func onStage(_ body: (Stage) async throws -> Void) async throws {
        try await World.with(serveArguments: Self.arguments) { world in
            try #require(try await world.apply().status == 0)
            let vendor = try await VendorStub.start(
                ["rationalowl", "--set", "account=\(world.account)", "--set", "service=\(world.service)"],
                world
            )
            try await closing(vendor.stop) {
                _ = try await world.value(
                    """
                    WITH u AS (UPDATE gateway.api_key SET scopes = scopes || '{admin}' RETURNING 1)
                    SELECT count(*)::text AS value FROM u
                    """
                )
                let credential: JSON = ["kind": "upstream-rationalowl", "url": .string(vendor.url)]
                try await eventually("the upstream is stored") {
                    try await world.native("PUT", "/v1/credentials/old", credential).status == 201
                }
                try await eventually("the upstream is opened") { try world.gatewayLog().contains("upstream opened") }
                let caller = Caller(http: world.http, account: world.account, service: world.service)
                try Self.file.write(
                    toFile: world.material.path("migration.yaml"),
                    atomically: true,
                    encoding: .utf8
                )
                let stage = Stage(world: world, vendor: vendor, caller: caller)
                let planned = try await stage.migration("plan", world.material.path("migration.yaml"))
                #expect(
                    planned.contains("leave is planned") && planned.contains("no devices were imported"),
                    "\(planned)"
                )
                try await body(stage)
            }
        }
    }

    @Test func anAppLeavesItsVendor() async throws {
        try await onStage { stage in
            let caller = stage.caller
            try await stage.migration("start", "leave")
            try await observe(stage)
            let sender = try await caller.register()

            // With ten samples nothing advances, however good they are.
            _ = try await Caller.each(10) { try await caller.install($0) }
            _ = try await Caller.each(10) { try await caller.send(to: $0, from: sender, "ten") }
            let early = try await stage.migration("advance", "leave", fails: true)
            #expect(early.contains("more samples"), "\(early)")
            let shown = try await stage.migration("status", "leave")
            #expect(
                shown.contains("samples are missing") && shown.contains("running: step 1 of 6, observe"),
                "\(shown)"
            )

            _ = try await Caller.each { try await caller.install($0) }
            _ = try await Caller.each { try await caller.send(to: $0, from: sender, "observed") }
            try await stage.advance()

            try await serve(stage, sender)
            try await rollOut(stage, sender)
            try await stage.follows("no send is proxied") {
                let before = try await stage.vendor.calls(to: "/msgClient/msgClientSend").count
                _ = try await Caller.each(40) { try await caller.send(to: $0, from: sender, "probe") }
                return try await stage.vendor.calls(to: "/msgClient/msgClientSend").count == before
            }
            try await stage.sendAndRead(from: sender, "all")
            try await stage.advance()
            let held = try await stage.status()
            #expect(held["status"] == "rolledOut" && held["stage"] == "hold", "\(held)")
            try await stage.migration("complete", "leave")
            #expect(try await stage.status()["status"] == "completed")
            try await stage.migration("rollback", "leave", fails: true)
            try await end(stage)
        }
    }

    private func observe(_ stage: Stage) async throws {
        try await stage.follows("calls are proxied") {
            try await stage.caller.install(Caller.devices[0])
            return try await stage.vendor.calls(to: "/pushApp/installApp").count > 0
        }
        // Nobody else changes the rules.
        let refused = try await stage.world.apiCommand(["routes", "set", "--app", "shop", "--none"])
        #expect(refused.status != 0 && refused.log.contains("leave"), "\(refused.log)")
    }

    private func serve(_ stage: Stage, _ sender: String) async throws {
        let caller = stage.caller
        let shown = try await stage.migration("status", "leave")
        #expect(shown.contains("step 2 of 6, serve") && shown.contains("a rollback now:"), "\(shown)")
        // Devices are served here, and the vendor receives them too.
        let before = try await stage.vendor.calls(to: "/pushApp/installApp").count
        try await stage.follows("the vendor receives registrations") {
            try await caller.install(Caller.devices[1])
            return try await stage.vendor.calls(to: "/pushApp/installApp").count > before
        }
        try await stage.counts()
        _ = try await Caller.each(260) { try await caller.send(to: $0, from: sender, "served") }
        try await stage.advance()
    }

    /// A forgotten back end stops the rollout; then it is taken back, and continued.
    private func rollOut(_ stage: Stage, _ sender: String) async throws {
        let caller = stage.caller
        try await stage.follows("half of the sends are served") {
            let before = try await stage.vendor.calls(to: "/msgClient/msgClientSend").count
            _ = try await Caller.each(64) { try await caller.send(to: $0, from: sender, "probe") }
            let proxied = try await stage.vendor.calls(to: "/msgClient/msgClientSend").count - before
            return (8...56).contains(proxied)
        }
        try await stage.counts()
        _ = try await Caller.each(300) { try await caller.readUnknown(on: $0) }
        try await eventually("the migration halts", within: .seconds(30)) {
            try await stage.status()["status"] == "halted"
        }
        let halted = try await stage.migration("status", "leave")
        #expect(halted.contains("reason: unknown failed"), "\(halted)")
        let failures = try await stage.world.metric("migration_gate_failures_total", #"metric="unknown""#)
        #expect(failures >= 2)

        try await stage.migration("rollback", "leave")
        try await stage.follows("sends are proxied again") {
            let before = try await stage.vendor.calls(to: "/msgClient/msgClientSend").count
            _ = try await Caller.each(40) { try await caller.send(to: $0, from: sender, "probe") }
            return try await stage.vendor.calls(to: "/msgClient/msgClientSend").count == before + 40
        }
        try await stage.migration("resume", "leave")
        #expect(try await stage.status()["stage"] == "rollout 50 %")
        try await stage.follows("half of the sends are served again") {
            let before = try await stage.vendor.calls(to: "/msgClient/msgClientSend").count
            _ = try await Caller.each(64) { try await caller.send(to: $0, from: sender, "probe") }
            return try await stage.vendor.calls(to: "/msgClient/msgClientSend").count - before <= 56
        }
        try await stage.sendAndRead(from: sender, "half")
        try await stage.advance()
        let share = try await stage.status()
        #expect(share["stage"] == "rollout 100 %", "\(share)")
    }

    /// The vendor is not used any longer, and everything is written down.
    private func end(_ stage: Stage) async throws {
        let path = "/v1/apps/shop/routes/test"
        for kind in ["device", "receipt", "send"] {
            let tried = try await stage.world.native("POST", path, ["vendor": "rationalowl", "kind": .string(kind)])
            #expect(tried.json?["call"]?["action"] == "serve", "\(tried.text)")
        }
        let notes = try await stage.world.value(
            """
            SELECT string_agg(h.status, ',' ORDER BY h.revision) AS value FROM gateway.migration_history h
            WHERE h.status <> 'running'
            """
        )
        // An evaluation may add a row when it finds a step complete.
        #expect(notes.hasPrefix("planned,halted,rolledBack,rolledOut") && notes.hasSuffix(",completed"), "\(notes)")
        let versions = try await stage.world.value(
            """
            SELECT (count(*) = max(r.version))::text || ' ' || bool_and(r.origin = 'migration')::text AS value
            FROM gateway.route_set r
            """
        )
        #expect(versions == "true true")
        let twice = try await stage.world.stats()["repeats"]?.int
        #expect(twice == 0)
    }
}
