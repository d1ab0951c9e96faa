import CommandSupport
import Foundation
import Model
import NIOHTTP1
import Testing

extension NotificationHubsTests {
    /// Third-party clients of Azure Notification Hubs, over real HTTP and TLS (docs/architecture.md, I11 and I12).
    struct Clients {}
}

extension NotificationHubsTests.Clients {
    private var hubs: NotificationHubsTests { NotificationHubsTests() }

    /// Runs `body` against the suite's gateway. If the machine lacks a requirement, the test is skipped with the reason,
    /// or fails with it (`World.lacks`).
    private func withHub(_ body: (World) async throws -> Void) async throws {
        do {
            try await body(SharedWorld.current)
        } catch let skip as PythonClient.Skip {
            try World.lacks(skip.reason)
        }
    }

    /// The address of the TLS listener, with the host name of its certificate.
    private func address(_ world: World) -> String {
        world.https.base.replacing("https://", with: "").replacing("127.0.0.1", with: "localhost")
    }

    private func pushes(_ world: World, _ token: String) async throws -> [JSON] {
        let answer = try await world.control.call("GET", "/_simulator/requests?token=\(token.lowercased())&limit=50")
        return answer.json?["requests"]?.array ?? []
    }

    private func alerts(_ pushes: [JSON]) -> [String] {
        pushes.compactMap { $0["payload"]?["aps"]?["alert"]?.string }.sorted()
    }

    /// `notificationhubs-rest-python` from PyPI: only its connection string differs from its use with the vendor.
    @Test func somebodyElsesClientSendsByItsConnectionStringAlone() async throws {
        try await withHub { world in
            let python = try await PythonClient(world, installing: "notificationhubs-rest-python==1.0.3")
            try await hubs.install("c-1", 31, user: "c", tags: ["cseoul"])
            try await hubs.install("c-2", 32, user: "c", tags: ["cbusan"])
            let filled = """
                {"installationId":"c-3","platform":"apns","pushChannel":"\(NotificationHubsTests.token(33))",
                "tags":["cseoul"],"templates":{"news":{"body":"{\\"aps\\":{\\"alert\\":\\"Literal $(title)\\"}}"},
                "more":{"body":"{\\"aps\\":{\\"alert\\":\\"{ 'New: ' + $(title) }\\",\\"badge\\":\\"#(count)\\"}}"}}}
                """
            #expect(try await hubs.call(.PUT, "/installations/c-3", filled).status == 200)
            let key = NotificationHubsTests.fullKey
            let before = try await waiting(world)
            let result = try await python.run(
                script: "hubs_rest",
                ["shop-hub", NotificationHubsTests.token(32)],
                environment: [
                    "REQUESTS_CA_BUNDLE": world.material.path("gateway-cert.pem"),
                    "HUB_CONNECTION":
                        "Endpoint=sb://\(address(world))/;SharedAccessKeyName=DefaultFullSharedAccessSignature;SharedAccessKey=\(key)",
                ]
            )
            #expect(result.status == 0, "\(result.log)")
            var answers: [String: JSON] = [:]
            for line in result.log.split(separator: "\n") {
                let answer = try JSONParser.parse(String(line))
                answers[answer["name"]?.string ?? ""] = answer
            }
            for name in ["expression", "set", "direct", "template", "nobody", "later", "laterTemplate"] {
                #expect(answers[name]?["status"] == 201, "\(result.log)")
            }
            // It writes quotes around the T (docs/contracts/notificationhubs.md#7.5).
            #expect(answers["later"]?["schedule"]?.string?.contains("'T'") == true, "\(result.log)")
            for (name, code) in ["soon": 400, "syntax": 400, "android": 400, "stranger": 401] {
                #expect(
                    answers[name]?["error"]?.string?.contains("HTTP code \(code)") == true,
                    "\(name): \(result.log)"
                )
            }
            try await arrivals()
            #expect(try await waiting(world) == before + 2)
        }
    }

    /// The pushes that result from the client's sends, as the simulator received them.
    private func arrivals() async throws {
        _ = try await hubs.push(31, count: 2)
        #expect(alerts(try await hubs.pushes(31)) == ["by expression", "by set"])
        _ = try await hubs.push(32, count: 2)
        #expect(alerts(try await hubs.pushes(32)) == ["by set", "direct"])
        _ = try await hubs.push(33, count: 4)
        let filled = try await hubs.pushes(33)
        #expect(alerts(filled) == ["Literal $(title)", "New: Sale", "by expression", "by set"])
        #expect(filled.contains { $0["payload"]?["aps"]?["badge"] == 3 })
    }

    /// The number of messages that are due in about ten minutes.
    private func waiting(_ world: World) async throws -> Int {
        let count = try await world.value(
            """
            SELECT count(*)::text AS value FROM gateway.message
            WHERE state = 'scheduled' AND due_at BETWEEN now() + interval '8 minutes' AND now() + interval '11 minutes'
            """
        )
        return try #require(Int(count))
    }

    /// A second client, written from the contract alone.
    @Test func aScriptWrittenFromTheContractFindsItKept() async throws {
        try await withHub { world in
            let result = try await PythonClient(world).run(
                script: "hubs_contract",
                [address(world), "shop-hub"],
                environment: [
                    "SSL_CERT_FILE": world.material.path("gateway-cert.pem"),
                    "HUB_FULL_KEY": NotificationHubsTests.fullKey, "HUB_LISTEN_KEY": NotificationHubsTests.listenKey,
                ]
            )
            try #require(result.status == 0, "\(result.log)")
            let sent = try JSONParser.parse(result.log)
            #expect((sent["checks"]?.int ?? 0) > 150, "\(result.log)")
            let installed = try await pushes(world, try #require(sent["installation"]?.string))
            // Four by tags, one direct, one of a batch, one silent, one by template.
            #expect(
                alerts(installed) == ["Hello"] + Array(repeating: "Sale today", count: 4) + ["batch", "direct"],
                "\(installed)"
            )
            let silent = installed.first { $0["payload"]?["richId"] == "0" }
            #expect(silent?["headers"]?["apns-push-type"] == "background")
            #expect(silent?["headers"]?["apns-priority"] == "5")
            let direct = installed.first { $0["payload"]?["aps"]?["alert"] == "direct" }
            #expect(direct?["headers"]?["apns-priority"] == "5" && direct?["headers"]?["apns-collapse-id"] == "p")
            let registered = try await pushes(world, try #require(sent["registration"]?.string))
            #expect(alerts(registered) == ["Hello", "Sale today"], "\(registered)")
        }
    }
}
