import CommandSupport
import EngineStore
import Foundation
import Model
import NIOHTTP1
import PostgresClient
import Store
import Testing

@testable import Gateway
@testable import NativeHTTP
@testable import Secrets

/// Content of messages is only for keys with the scope `content`, and the recipients of a key per day are counted exactly over all nodes.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct KeyLimitTests {
    /// A key of the tenant.
    private func key(_ stage: NativeStage, _ scopes: [String], recipientsPerDay: Int32? = nil) async throws -> String {
        let secret = APIKeys.make(SystemIdentifiers())
        let key = ProvisionedKey(
            name: secret,
            hash: APIKeys.hash(secret),
            scopes: scopes,
            recipientsPerDay: recipientsPerDay
        )
        let store = PostgresKeyStore(engine: stage.database.engine)
        _ = try #require(try await store.create(key, in: NativeStage.tenant, by: .command(user: 0)))
        return secret
    }

    // MARK: Content

    private static let text = "a text of its own"

    /// The calls that show content, by path. The objects exist.
    private func readers(_ stage: NativeStage) async throws -> [String] {
        let device = try await stage.register("k")
        let body: JSON = [
            "app": "shop", "to": ["keys": ["k"]], "title": .string(Self.text), "body": .string(Self.text),
            "data": ["secret": .string(Self.text)],
        ]
        let sent = try await stage.native(.POST, "/v1/messages", body)
        let message = try #require(sent.json?["id"]?.string, "\(sent.text)")
        let target = try await stage.database.engine.run(
            Statement(
                "SELECT target_id::text AS t FROM gateway.delivery WHERE message_id = $1",
                [.uuid(UUID(uuidString: message))]
            ),
            tenant: nil
        ).only().text("t")
        let campaign: JSON = [
            "name": "sale",
            "variations": [["message_variation_id": "v-1", "apple_push": ["alert": .string(Self.text)]]],
        ]
        let put = try await stage.native(.PUT, "/v1/apps/shop/campaigns/c-1?vendor=braze", campaign)
        try #require(put.status == 201, "\(put.text)")
        return [
            "/v1/messages", "/v1/messages/\(message)", "/v1/messages/\(message)/deliveries/\(target)",
            "/v1/devices/\(device)/inbox", "/v1/apps/shop/campaigns?vendor=braze",
            "/v1/apps/shop/campaigns/c-1?vendor=braze",
        ]
    }

    @Test func contentNeedsItsScope() async throws {
        try await NativeStage.on { stage in
            let paths = try await readers(stage)
            let every = ["send", "devices", "read"]
            let without = [
                try await key(stage, every), try await key(stage, ["read:app/shop", "content:app/news"]),
            ]
            let with = [
                try await key(stage, ["read", "content"]), try await key(stage, ["read:app/shop", "content:app/shop"]),
                stage.key,
            ]
            for path in paths {
                let filter = path == "/v1/messages" ? path + "?app=shop" : path
                for key in without {
                    let answer = try await stage.native(.GET, filter, as: key)
                    #expect(answer.status == 200 && !answer.text.contains(Self.text), "\(path): \(answer.text)")
                }
                for key in with {
                    let answer = try await stage.native(.GET, filter, as: key)
                    #expect(answer.status == 200 && answer.text.contains(Self.text), "\(path): \(answer.text)")
                }
            }
            // The scope alone permits nothing.
            let alone = try await key(stage, ["content"])
            for path in paths { #expect(try await stage.native(.GET, path, as: alone).status == 403, "\(path)") }
            // A write that answers with the object.
            let campaign: JSON = [
                "name": "sale",
                "variations": [["message_variation_id": "v-1", "apple_push": ["alert": .string(Self.text)]]],
            ]
            let put = try await stage.native(.PUT, "/v1/apps/shop/campaigns/c-2?vendor=braze", campaign, as: without[0])
            #expect(put.status == 201 && !put.text.contains(Self.text), "\(put.text)")
        }
    }

    @Test func theDescriptionMarksContent() throws {
        let properties = OpenAPIDocument.json["components"]?["schemas"]?["Message"]
        for member in ["title", "body"] {
            let schema = properties?["properties"]?[member]
            #expect(schema?["x-scope"] == "content", "\(member)")
            #expect(properties?["required"]?.array?.contains(.string(member)) == false)
        }
        #expect(properties?["properties"]?["state"]?["x-scope"] == nil)
    }

    // MARK: Recipients per day

    private func send(
        _ stage: NativeStage,
        _ audience: JSON,
        as key: String,
        once: String? = nil,
        node: Int = 0
    ) async throws -> HTTPStatus {
        let body: JSON = ["app": "shop", "to": audience, "body": "b"]
        let answer = try await stage.native(.POST, "/v1/messages", body, once: once, as: key, node: node)
        return HTTPStatus(status: answer.status, text: answer.text)
    }

    private struct HTTPStatus: Sendable {
        var status: Int
        var text: String
    }

    @Test func aKeyReachesItsRecipientsOfTheDayAndNoMore() async throws {
        try await NativeStage.on { stage in
            for number in 1...3 { try await stage.register("k\(number)") }
            let limited = try await key(stage, ["send"], recipientsPerDay: 5)
            let two: JSON = ["keys": ["k1", "k2"]]
            #expect(try await send(stage, two, as: limited, once: "a").status == 202)
            #expect(try await send(stage, two, as: limited, once: "a").status == 202, "a repeat is not counted")
            #expect(try await send(stage, two, as: limited, node: 1).status == 202)
            let refused = try await send(stage, two, as: limited)
            #expect(refused.status == 429 && refused.text.contains("PG-1015"), "\(refused.text)")
            #expect(refused.text.contains("recipientsPerDay is used up"), "\(refused.text)")
            // Nothing of a refused message stays, and what is left can be used. Everyone counts as all identities of the app.
            #expect(try await stage.count("gateway.message WHERE tenant_id = 'own'") == 2)
            #expect(try await send(stage, "everyone", as: limited).status == 429)
            #expect(try await send(stage, ["users": ["u-k1", "u-k2"]], as: limited).status == 429)
            #expect(try await send(stage, ["keys": ["k3"]], as: limited).status == 202)
            #expect(try await send(stage, ["keys": ["k3"]], as: limited).status == 429)
            // Another key has its own count, and without the row of the day the key can send again.
            #expect(try await send(stage, two, as: stage.key).status == 202)
            let list = try await stage.native(.GET, "/v1/keys")
            let shown = list.json?["keys"]?.array?.first { $0["name"]?.string == limited }
            #expect(shown?["recipientsPerDay"] == 5 && shown?["recipientsToday"] == 5, "\(list.text)")
            _ = try await stage.database.engine.run(
                Statement(
                    "DELETE FROM gateway.api_key_day WHERE day = (now() AT TIME ZONE 'UTC')::date RETURNING name"
                ),
                tenant: nil
            )
            #expect(try await send(stage, ["keys": ["k1", "k2", "k3"]], as: limited).status == 202)
        }
    }

    @Test func twoNodesAtTheLimitAcceptExactlyWhatIsLeft() async throws {
        try await NativeStage.on { stage in
            try await stage.register("k1")
            let limited = try await key(stage, ["send"], recipientsPerDay: 25)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<60 {
                    group.addTask { try await send(stage, ["keys": ["k1"]], as: limited, node: number % 2).status }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.count { $0 == 202 } == 25 && statuses.count { $0 == 429 } == 35, "\(statuses)")
            #expect(try await stage.count("gateway.message WHERE tenant_id = 'own'") == 25)
        }
    }

    // MARK: Quotas of an app

    @Test func twoNodesAtAQuotaCreateExactlyWhatIsLeft() async throws {
        try await NativeStage.on { stage in
            let quotas = #"{"quotas": {"identities": 12, "groups": 1}}"#
            _ = try await stage.database.engine.run(
                Statement(
                    "UPDATE gateway.app SET defaults = defaults || $1::text::jsonb RETURNING app_id",
                    [.text(quotas)]
                ),
                tenant: nil
            )
            let answers = try await withThrowingTaskGroup(of: HTTPStatus.self) { group in
                for number in 0..<40 {
                    group.addTask {
                        let body: JSON = [
                            "app": "shop", "platform": "ios", "key": .string("k\(number)"),
                            "token": .string(String(format: "%064x", 0xC0_0000 + number)),
                        ]
                        let answer = try await stage.native(.POST, "/v1/devices", body, node: number % 2)
                        return HTTPStatus(status: answer.status, text: answer.text)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count { $0.status == 201 } == 12)
            let refused = answers.filter { $0.status == 429 }
            #expect(refused.count == 28)
            #expect(refused.allSatisfy { $0.text.contains("PG-1015") && $0.text.contains("identities is used up") })
            #expect(try await stage.count("gateway.identity WHERE tenant_id = 'own'") == 12)
            #expect(try await stage.native(.PUT, "/v1/apps/shop/groups/a").status == 201)
            #expect(try await stage.native(.PUT, "/v1/apps/shop/groups/b").status == 429)
            let rows = (40..<50).map { #"{"platform":"ios","key":"i\#($0)"}"# }.joined(separator: "\n")
            let imported = try await stage.call(
                NativeStage.Call(
                    method: .POST,
                    path: "/v1/apps/shop/imports",
                    body: Array(rows.utf8),
                    type: "application/x-ndjson"
                )
            )
            #expect(imported.status == 429 && imported.text.contains("PG-1015"), "\(imported.text)")
        }
    }
}
