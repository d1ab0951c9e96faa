import Crypto
import Foundation
import Model
import NIOConcurrencyHelpers
import PostgresClient
import TestKit
import Testing

@testable import CommandSupport
@testable import Gateway

/// Keys that are replaced under load: no failed call, no restart.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct RotationTests {
    /// A key that senders of the UPMC app show. It is sealed in the binding.
    private static let sendKey = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c"

    /// Calls that go on while keys are replaced: registrations, sends and reads of the native API, and sends of a back end whose key is sealed.
    private final class Load: Sendable {
        private struct State {
            var calls: [String: Int] = [:]
            var problems: Set<String> = []
            var apiKey: String
            var messages: [String] = []
        }

        static let application = "com.example.rotation"

        private let nodes: [HTTPCaller]
        private let state: NIOLockedValueBox<State>

        init(_ nodes: [HTTPCaller], apiKey: String) {
            self.nodes = nodes
            state = NIOLockedValueBox(State(apiKey: apiKey))
        }

        var calls: [String: Int] { state.withLockedValue { $0.calls } }
        var problems: Set<String> { state.withLockedValue { $0.problems } }
        var messages: [String] { state.withLockedValue { $0.messages } }
        func use(_ key: String) { state.withLockedValue { $0.apiKey = key } }

        /// Waits until every kind of call was made `count` more times.
        func more(_ count: Int = 10) async throws {
            let before = calls
            try await eventually("\(count) more calls of each kind") {
                let now = self.calls
                return ["register", "send", "show", "upmc"].allSatisfy {
                    now[$0, default: 0] >= before[$0, default: 0] + count
                }
            }
        }

        func run(while body: () async throws -> Void) async throws {
            let tasks = nodes.indices.map { node in Task { await self.call(node) } }
            do { try await body() } catch {
                for task in tasks { task.cancel() }
                throw error
            }
            for task in tasks { task.cancel() }
            for task in tasks { await task.value }
        }

        private func call(_ node: Int) async {
            var number = 0
            while !Task.isCancelled {
                number += 1
                let device = "load-\(node)-\(number % 20)"
                do {
                    try await native(
                        "register",
                        201,
                        node,
                        "POST",
                        "/v1/devices",
                        [
                            "app": "shop", "platform": "ios", "environment": "production", "key": .string(device),
                            "token": .string(String(format: "%02x%062x", node, number % 20)),
                        ]
                    )
                    let sent = try await native(
                        "send",
                        202,
                        node,
                        "POST",
                        "/v1/messages",
                        [
                            "app": "shop", "to": ["keys": [.string(device)]], "body": .string("\(number)"),
                        ]
                    )
                    if let id = sent?["id"]?.string {
                        state.withLockedValue { $0.messages.append(id) }
                        try await native("show", 200, node, "GET", "/v1/messages/\(id)", nil)
                    }
                    try await upmc(node)
                    try await Task.sleep(for: .milliseconds(20))
                } catch {
                    if !Task.isCancelled { note("\(error)") }
                }
            }
        }

        @discardableResult
        private func native(
            _ name: String,
            _ expected: Int,
            _ node: Int,
            _ method: String,
            _ path: String,
            _ body: JSON?
        ) async throws -> JSON? {
            let answer = try await nodes[node].call(method, path, body, bearer: state.withLockedValue { $0.apiKey })
            // A device of an earlier turn is found again.
            if answer.status != expected, !(name == "register" && answer.status == 200) {
                note("\(name): \(answer.status) \(answer.text)")
            }
            count(name)
            return answer.json
        }

        private func upmc(_ node: Int) async throws {
            var caller = UPMCCaller(base: nodes[node].base)
            caller.application = Self.application
            caller.headers = ["X-Gateway-Key": RotationTests.sendKey]
            let answer = try await caller.call(
                "rcv_register_message",
                ["TYPE": "A", "MESSAGE": "m", "SENDERCODE": "admin"]
            )
            if answer.code != "0000" { note("upmc: \(answer.status) \(JSONWriter.text(answer.json))") }
            count("upmc")
        }

        private func count(_ name: String) { state.withLockedValue { $0.calls[name, default: 0] += 1 } }
        private func note(_ problem: String) { state.withLockedValue { _ = $0.problems.insert(problem) } }
    }

    // MARK: The stage

    private func cluster(_ arguments: [String] = []) throws -> Cluster {
        let cluster = try Cluster(nodes: 2, arguments: ["--webhook-allow", "127.0.0.0/8"] + arguments)
        cluster.changeTenants = { text in
            text.replacingOccurrences(
                of: "scopes: [send, devices, read, content]",
                with: "scopes: [send, devices, read, content, admin]"
            )
                + """

                      - id: rotation
                        platforms:
                          ios: { topic: \(StageMaterial.topic), production: apple }
                        bindings:
                          upmc: { applicationId: com.example.rotation, version: "4.0EE", sendKeyEnv: ROTATION_SEND }

                """
        }
        cluster.applyEnvironment = ["ROTATION_SEND": Self.sendKey]
        return cluster
    }

    /// The calls to both nodes. The app of the back end has a phone.
    private func load(_ cluster: Cluster) async throws -> Load {
        var app = UPMCCaller(base: try cluster.http(0).base)
        app.application = Load.application
        try await app.register(UPMCCaller.Phone(user: "hong"))
        return Load(try (0..<cluster.count).map { try cluster.http($0) }, apiKey: cluster.world.apiKey)
    }

    private func run(_ cluster: Cluster, _ arguments: [String]) async throws -> String {
        let done = try await cluster.world.command(arguments)
        try #require(done.status == 0, "\(arguments): \(done.log)")
        return done.log
    }

    private func json(_ text: String) throws -> JSON {
        let start = try #require(text.firstIndex(of: "{"), "\(text)")
        let end = try #require(text.lastIndex(of: "}"))
        return try JSONParser.parse(String(text[start...end]))
    }

    private func keys(_ cluster: Cluster) async throws -> [JSON] {
        try json(try await run(cluster, ["master-key", "list", "--json"]))["keys"]?.array ?? []
    }

    /// Expects that each call of a webhook is signed with one of the secrets.
    private func expectSigned(_ calls: [CallbackReceiver.Received], by secrets: [String]) {
        for call in calls {
            let fields = (call.signature ?? "").split(separator: ",").map(String.init)
            let time = fields.first { $0.hasPrefix("t=") }?.dropFirst(2) ?? ""
            let signatures = fields.filter { $0.hasPrefix("v1=") }.map { String($0.dropFirst(3)) }
            let right = secrets.map { secret in
                var code = HMAC<SHA256>(key: SymmetricKey(data: Array(secret.utf8)))
                code.update(data: Array("\(time).".utf8) + call.bytes)
                return HexCoding.encode(Array(code.finalize()))
            }
            #expect(signatures.contains { right.contains($0) }, "\(fields)")
        }
    }

    private func subscribe(_ cluster: Cluster, _ port: Int) async throws -> (id: String, secret: String) {
        let made = try await cluster.world.native("POST", "/v1/webhooks", ["url": .string("http://127.0.0.1:\(port)/")])
        try #require(made.status == 201, "\(made.text)")
        return (try #require(made.json?["id"]?.string), try #require(made.json?["secret"]?.string))
    }

    /// Runs `body` with a webhook whose receiver keeps its calls, and deletes the webhook before the receiver ends.
    private func receiving(
        _ cluster: Cluster,
        _ body: @escaping @Sendable (CallbackReceiver, _ webhook: (id: String, secret: String)) async throws -> Void
    ) async throws {
        let receiver = CallbackReceiver(refusing: 0)
        try await receiver.serving { port in
            let webhook = try await self.subscribe(cluster, port)
            try await closing {
                _ = try await cluster.world.native("DELETE", "/v1/webhooks/\(webhook.id)")
                // Calls in progress end.
                try await Task.sleep(for: .seconds(1))
            } after: {
                try await body(receiver, webhook)
            }
        }
    }

    private func expectAllSent(_ cluster: Cluster, _ load: Load) async throws {
        #expect(load.problems.isEmpty, "\(load.problems)")
        for id in [load.messages.first, load.messages.last].compactMap({ $0 }) {
            try await eventually("message \(id) is sent") {
                try await cluster.world.native("GET", "/v1/messages/\(id)").json?["funnel"]?["sent"]?.int == 1
            }
        }
    }

    // MARK: Tests

    // A key of the first versions is replaced, then removed, with two nodes with calls, pushes and webhooks.
    @Test func theMasterKeyIsReplacedUnderLoad() async throws {
        let cluster = try cluster()
        try cluster.world.makeMasterKey()
        try await Soak.with(cluster) { cluster in
            try await receiving(cluster) { receiver, webhook in
                let old = try #require(try await self.keys(cluster).first?["id"]?.string)
                let callback = ["key", "callback", "--tenant", "acme", "--app", "shop", "--sender", "s"]
                let senderSecret = try await self.run(cluster, callback)
                let load = try await self.load(cluster)
                try await load.run {
                    try await load.more()
                    let log = try await self.run(cluster, ["master-key", "rotate", "--by", "kim"])
                    #expect(log.contains("master-key remove \(old)"), "\(log)")
                    try await load.more()
                    let keys = try await self.keys(cluster)
                    #expect(keys.map { $0["form"] } == ["v1", "v2"])
                    #expect(keys.first?["secrets"] == 0 && keys.first?["seals"] == false, "\(keys)")
                    // The sending key, a provider token, the key of the binding, and the webhook's secret.
                    #expect(keys.last?["secrets"]?.int ?? 0 >= 4 && keys.last?["seals"] == true, "\(keys)")
                    #expect(keys.last?["nodes"] == 2)
                    _ = try await self.run(cluster, ["master-key", "remove", old])
                    try await eventually("both nodes have forgotten the old key") {
                        try await cluster.number(
                            "SELECT count(*) AS number FROM gateway.node WHERE cardinality(master_keys) = 1"
                        ) == 2
                    }
                    // Applying the same file changes nothing.
                    let applied = try await cluster.world.apply(environment: cluster.applyEnvironment)
                    #expect(applied.log.contains("nothing to change"), "\(applied.log)")
                    let calls = receiver.accepted.count
                    try await load.more()
                    try await eventually("the webhook is called") { receiver.accepted.count > calls }
                }
                try await self.expectAllSent(cluster, load)
                self.expectSigned(receiver.accepted, by: [webhook.secret])
                #expect(try await self.run(cluster, callback) == senderSecret)
                let audit = try await self.run(cluster, ["audit", "--tenant", "acme", "--limit", "1000", "--json"])
                #expect(audit.contains("master key") && audit.contains("kim"), "\(audit)")
                // A node that starts now needs only the new key.
                for node in 0..<2 { try await cluster.killNode(node) }
                for node in 0..<2 { try await cluster.startNode(node) }
                let after = try await self.load(cluster)
                try await after.run { try await after.more(5) }
                try await self.expectAllSent(cluster, after)
            }
        }
    }

    // The other keys, one after the other, under the same calls: the secrets of a webhook and of an API key, and the certificate of the HTTPS listener.
    @Test func secretsAndCertificatesAreReplacedUnderLoad() async throws {
        let cluster = try cluster()
        try await Soak.with(cluster) { cluster in
            try await receiving(cluster) { receiver, webhook in
                let world = cluster.world
                let made = try self.json(
                    try await self.run(
                        cluster,
                        [
                            "key", "create", "--tenant", "acme", "--name", "load", "--scopes", "send,devices,read",
                            "--json",
                        ]
                    )
                )
                let load = try await self.load(cluster)
                load.use(try #require(made["key"]?.string))
                try await load.run {
                    try await load.more()
                    let rotated = try await world.native(
                        "POST",
                        "/v1/webhooks/\(webhook.id)/secret",
                        ["overlapSeconds": 600]
                    )
                    let fresh = try #require(rotated.json?["secret"]?.string, "\(rotated.text)")
                    try await eventually("calls have two signatures") {
                        receiver.accepted.last?.signature?.components(separatedBy: "v1=").count == 3
                    }
                    // Either secret verifies every call since then, and the former one every call.
                    self.expectSigned(receiver.accepted, by: [webhook.secret])
                    self.expectSigned(Array(receiver.accepted.suffix(1)), by: [fresh])
                    let ended = try await world.native(
                        "POST",
                        "/v1/webhooks/\(webhook.id)/secret",
                        ["overlapSeconds": 0, "secret": "whsec_000102030405060708090a0b0c0d0e0f"]
                    )
                    #expect(ended.status == 200, "\(ended.text)")
                    try await eventually("calls have one signature") {
                        receiver.accepted.last?.signature?.components(separatedBy: "v1=").count == 2
                    }
                    self.expectSigned(
                        Array(receiver.accepted.suffix(1)),
                        by: ["whsec_000102030405060708090a0b0c0d0e0f"]
                    )

                    // Callers change to the new key some time after it was made.
                    let key = try self.json(
                        try await self.run(cluster, ["key", "rotate", "load", "--tenant", "acme", "--json"])
                    )
                    try await load.more()
                    load.use(try #require(key["key"]?.string))
                    try await load.more()

                    try await self.replaceCertificate(world)
                    try await load.more()
                }
                try await self.expectAllSent(cluster, load)
            }
        }
    }

    /// Replaces the certificate while calls by HTTPS go on: on new connections, whose clients trust both certificates, and on one that stays open. The client of
    /// that one trusts the old certificate alone, so that its calls fail if the connection ends.
    private func replaceCertificate(_ world: World) async throws {
        let other = StageMaterial(directory: world.directory + "/renewed")
        try FileManager.default.createDirectory(atPath: other.directory, withIntermediateDirectories: true)
        try other.write()
        func content(_ material: StageMaterial, _ name: String) throws -> String {
            try String(contentsOfFile: material.path(name), encoding: .utf8)
        }
        let names = ["gateway-cert.pem", "gateway-key.pem"]
        let old = try content(world.material, names[0])
        let both = world.material.path("both.pem")
        try (old + "\n" + content(other, names[0])).write(toFile: both, atomically: true, encoding: .utf8)
        let onlyNew = other.path(names[0])
        let https = world.https.base.replacing("127.0.0.1", with: "localhost")
        let onlyOld = world.material.path("before.pem")
        try old.write(toFile: onlyOld, atomically: true, encoding: .utf8)
        let (kept, key, isOver) = (HTTPCaller(gateway: https, trustRootsFile: onlyOld), world.apiKey, Tally())
        let opening = try await kept.call("GET", "/v1/apps", bearer: key)
        #expect(opening.status == 200, "\(opening.text)")
        defer { isOver.add(1) }
        let onOne = Task {
            var statuses: [Int] = []
            while isOver.value == 0 {
                let answer = try? await kept.call("GET", "/v1/apps", bearer: key)
                statuses.append(answer?.status ?? 0)
                try? await Task.sleep(for: .milliseconds(20))
            }
            await kept.close()
            return statuses
        }
        for name in names {
            try content(other, name).write(toFile: world.material.path(name), atomically: true, encoding: .utf8)
        }
        try await eventually("the new certificate is used", every: .milliseconds(100)) {
            let caller = HTTPCaller(gateway: https, trustRootsFile: both)
            let answer = try await caller.call("GET", "/v1/apps", bearer: world.apiKey)
            await caller.close()
            #expect(answer.status == 200, "\(answer.text)")
            let strict = HTTPCaller(gateway: https, trustRootsFile: onlyNew)
            let renewed = try? await strict.call("GET", "/v1/apps", bearer: world.apiKey)
            await strict.close()
            return renewed?.status == 200
        }
        isOver.add(1)
        let statuses = await onOne.value
        #expect(!statuses.isEmpty && statuses.allSatisfy { $0 == 200 }, "\(statuses)")
    }

    @Test func aRotationWaitsForEveryNode() async throws {
        let cluster = try cluster()
        try await Soak.with(cluster) { cluster in
            // A node that is alive and has another key.
            try await cluster.withDatabase { database in
                let sql =
                    "INSERT INTO gateway.node (node_id, seen_at, master_keys) VALUES ('late', now() + interval '1 hour', '{x}')"
                _ = try await database.engine.run(Statement(sql), tenant: nil)
            }
            let present = try await keys(cluster)
            let refused = try await cluster.world.command(["master-key", "rotate", "--wait-seconds", "2"])
            #expect(refused.status == 1 && refused.log.contains("node late is without master key"), "\(refused.log)")
            let keys = try await keys(cluster)
            #expect(keys.count == 2 && keys.first?["id"] == present.first?["id"] && keys.first?["seals"] == true)
            let early = try await cluster.world.command(
                ["master-key", "remove", try #require(keys.first?["id"]?.string)]
            )
            #expect(early.status == 1 && early.log.contains("still seals"), "\(early.log)")
            try await cluster.withDatabase { database in
                let sql = "DELETE FROM gateway.node WHERE node_id = 'late'"
                _ = try await database.engine.run(Statement(sql), tenant: nil)
            }
            // The same command goes on with the key that it has added.
            _ = try await run(cluster, ["master-key", "rotate"])
            let after = try await self.keys(cluster)
            #expect(after.count == 2 && after.last?["id"] == keys.last?["id"] && after.last?["seals"] == true)
        }
    }

    // Keys that a command prints, as from a KMS: the nodes run it again for a key that they lack.
    @Test func theKeysOfACommandAreReplaced() async throws {
        let folder = "\(ScratchFolder.root)/pgw-kms-" + SystemIdentifiers().randomHex(byteCount: 5)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = folder + "/keys"
        let first = "v2:" + SystemIdentifiers().randomHex(byteCount: 32)
        let second = "v2:" + SystemIdentifiers().randomHex(byteCount: 32)
        try (first + "\n").write(toFile: path, atomically: true, encoding: .utf8)
        let command = ["--master-key-command", "cat \(path)"]
        let world = try World(serveArguments: command)
        try await closing {
            await world.close()
            try FileManager.default.removeItem(atPath: folder)
        } after: {
            try await world.startSimulator()
            try await world.startGateway()
            #expect(!FileManager.default.fileExists(atPath: world.material.path("data/master.key")))
            func list() async throws -> [JSON] {
                let listed = try await world.command(["master-key", "list", "--json"] + command)
                return try json(listed.log)["keys"]?.array ?? []
            }
            try #require(try await list().count == 1)
            let refused = try await world.command(["master-key", "rotate"] + command)
            #expect(refused.status == 1 && refused.log.contains("--to ID"), "\(refused.log)")
            try (first + "\n" + second + "\n").write(toFile: path, atomically: true, encoding: .utf8)
            let id = try #require(try await list().last?["id"]?.string)
            let done = try await world.command(["master-key", "rotate", "--to", id] + command)
            #expect(done.status == 0, "\(done.log)")
            #expect(try await list().last?["seals"] == true)
            #expect(try !world.gatewayLog().contains(String(second.dropFirst(3))))
        }
    }
}
