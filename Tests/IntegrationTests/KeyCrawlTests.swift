import CommandSupport
import EngineStore
import Foundation
import HTTPTypes
import Model
import NIOHTTP1
import Store
import Testing

@testable import Gateway
@testable import NativeHTTP
@testable import Secrets

/// Every operation of the native API, called with keys that must not be able to make it. The expected answers are written by hand, and docs/security.md is
/// checked against them.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct KeyCrawlTests {
    /// Operations that need the scope `admin`, which has no limits.
    private static let administration: Set<String> = [
        "listAudit", "createWebhook", "updateWebhook", "deleteWebhook", "replayWebhook",
        "rotateWebhookSecret", "startCapture", "listCaptures", "showCapture", "deleteCapture", "stopCapture",
        "listKeys", "listCredentials", "showBindings", "listNodes", "createKey", "showKey", "rotateKey", "deleteKey",
        "putCredential", "showCredential", "deleteCredential", "putApp", "deleteApp", "putRoutes", "rollbackRoutes",
        "planMigration", "startMigration", "advanceMigration", "pauseMigration", "resumeMigration",
        "rollbackMigration", "completeMigration",
        "showPosture", "listSenders",
    ]
    /// Operations that span the apps of a tenant: never for a key that is limited to an app.
    private static let tenantWide: Set<String> = [
        "listApps", "eraseUser", "listWebhooks", "showWebhook", "vouchIdentity", "showVendors",
        "showQueue", "checkCredential",
    ]
    /// Operations that span the apps of a tenant unless the call names one.
    private static let filtered: Set<String> = [
        "find", "listMessages", "listDevices", "listEvents", "showFunnel", "showTimeseries", "showLosses",
        "exportDeliveries", "exportEvents", "exportDevices", "showLatency", "showDeviceFigures",
        "showVersionCounts", "showCampaignCounts", "showHourCounts", "listMigrations", "showMigration",
    ]
    private static let filteredPaths = [
        "/v1/messages", "/v1/devices", "/v1/events", "/v1/analytics/funnel", "/v1/analytics/timeseries",
        "/v1/analytics/losses", "/v1/exports/deliveries", "/v1/exports/events", "/v1/exports/devices",
        "/v1/analytics/latency", "/v1/analytics/devices", "/v1/analytics/versions", "/v1/analytics/campaigns",
        "/v1/analytics/hours", "/v1/migrations",
    ]
    /// Operations of the scope `send` for a key that is limited to one kind of audience.
    private static let audienceSends: Set<String> = [
        "sendMessage", "startLiveActivity", "updateLiveActivity", "endLiveActivity", "sendToChannel", "storeMedia",
    ]

    /// A key of the tenant with these properties.
    private func key(
        _ stage: NativeStage,
        _ scopes: [String],
        networks: [String] = [],
        hasExpired: Bool = false
    ) async throws -> String {
        let secret = APIKeys.make(SystemIdentifiers())
        let key = ProvisionedKey(
            name: secret,
            hash: APIKeys.hash(secret),
            scopes: scopes,
            expiresAt: hasExpired ? Timestamp(milliseconds: 1_000_000_000_000) : nil,
            networks: networks
        )
        let store = PostgresKeyStore(engine: stage.database.engine)
        _ = try #require(try await store.create(key, in: NativeStage.tenant, by: .command(user: 0)))
        return secret
    }

    /// Operations that need no key.
    private static let open: Set<String> = ["provePossession"]

    private static let keyed = NativeOperations.all.filter { $0.scope != nil }

    private static let every = ["send", "devices", "read"]

    private struct World {
        var stage: NativeStage
        var message: String
        var device: String

        init(_ stage: NativeStage) async throws {
            self.stage = stage
            device = try await stage.register("k")
            message = try await stage.send(to: "k")
        }

        /// Calls an operation on the objects of the app `shop`, with the body of its example.
        func call(_ operation: NativeOperation, as key: String) async throws -> (status: Int, text: String) {
            let ids = ["app": "shop", "message": message, "device": device]
            let path = operation.path.replacing(/\{([a-z]+)\}/) { ids[String($0.1)] ?? "x" }
            var call = NativeStage.Call(method: HTTPMethod(rawValue: operation.method.rawValue), path: path)
            call.body = operation.example.map(JSONWriter.bytes) ?? []
            call.bearer = key
            let answer = try await stage.call(call)
            return (answer.status, "\(operation.id): \(answer.status) \(answer.text)")
        }
    }

    @Test func expiredKeysAndKeysFromAnotherNetworkOpenNothing() async throws {
        try await NativeStage.on { stage in
            let world = try await World(stage)
            let expired = try await key(stage, ["admin"], hasExpired: true)
            let elsewhere = try await key(stage, ["admin"], networks: ["203.0.113.0/24", "2001:db8::/32"])
            let here = try await key(stage, Self.every, networks: ["203.0.113.0/24", "127.0.0.0/8"])
            for operation in Self.keyed {
                let old = try await world.call(operation, as: expired)
                #expect(old.status == 401, "\(old.text)")
                let outside = try await world.call(operation, as: elsewhere)
                #expect(outside.status == 403 && outside.text.contains("from this address"), "\(outside.text)")
            }
            #expect(try await stage.native(.GET, "/v1/messages", as: here).status == 200)
        }
    }

    @Test func aKeyOfAnotherAppOpensNothing() async throws {
        try await NativeStage.on { stage in
            let world = try await World(stage)
            let other = try await key(stage, Self.every.map { "\($0):app/news" })
            for operation in Self.keyed {
                let answer = try await world.call(operation, as: other)
                #expect(answer.status == 403, "\(answer.text)")
            }
            for path in Self.filteredPaths {
                #expect(try await stage.native(.GET, "\(path)?app=shop", as: other).status == 403, "\(path)")
                // The key may ask for this app, which the tenant does not have.
                let isRefused = path.contains("/analytics/") || path.contains("/exports/")
                let unknown = try await stage.native(.GET, "\(path)?app=news", as: other)
                #expect(unknown.status == (isRefused ? 422 : 200), "\(path): \(unknown.text)")
                // One of several apps is not enough.
                let both = try await stage.native(.GET, "\(path)?app=news,shop", as: other)
                #expect(both.status == 403, "\(path): \(both.text)")
            }
            for (app, status) in [("shop", 403), ("news", 200)] {
                let found = try await stage.native(.POST, "/v1/find", ["value": "k", "app": .string(app)], as: other)
                #expect(found.status == status, "\(found.text)")
            }
            #expect(try await stage.native(.GET, "/v1/messages/\(UUID())", as: other).status == 404)
        }
    }

    @Test func aKeyOfTheAppOpensTheOperationsOfTheApp() async throws {
        try await NativeStage.on { stage in
            let world = try await World(stage)
            let own = try await key(stage, Self.every.map { "\($0):app/shop" })
            let refused = Self.administration.union(Self.tenantWide).union(Self.filtered)
            // `eraseDevice` comes last, because the others need the device.
            for operation in Self.keyed.sorted(by: { ($1.id == "eraseDevice") && $0.id != "eraseDevice" }) {
                let answer = try await world.call(operation, as: own)
                #expect((answer.status == 403) == refused.contains(operation.id), "\(answer.text)")
            }
            for path in Self.filteredPaths {
                #expect(try await stage.native(.GET, "\(path)?app=shop", as: own).status == 200, "\(path)")
            }
            let found = try await stage.native(.POST, "/v1/find", ["value": "k", "app": "shop"], as: own)
            #expect(found.status == 200, "\(found.text)")
        }
    }

    @Test func aKeyForOneKindOfAudienceSendsToItOnly() async throws {
        try await NativeStage.on { stage in
            let world = try await World(stage)
            let direct = try await key(stage, ["send:direct:app/shop"])
            for operation in Self.keyed {
                let answer = try await world.call(operation, as: direct)
                let isOpen = Self.audienceSends.contains(operation.id) && operation.id != "sendToChannel"
                #expect((answer.status == 403) == !isOpen, "\(answer.text)")
            }
            let keys = [
                "direct": direct, "groups": try await key(stage, ["send:groups"]),
                "broadcast": try await key(stage, ["send:broadcast"]), "all": try await key(stage, ["send:app/shop"]),
            ]
            let audiences: [(JSON, String)] = [
                (["users": ["u"]], "direct"), (["keys": ["k"]], "direct"), (["groups": ["g"]], "groups"),
                (["tags": "seoul"], "groups"), ("everyone", "broadcast"), (["everyone": true], "broadcast"),
            ]
            for (audience, kind) in audiences {
                for (name, key) in keys {
                    for path in ["/v1/messages", "/v1/messages?preview=true"] {
                        let body: JSON = ["app": "shop", "to": audience, "body": "b"]
                        let answer = try await stage.native(.POST, path, body, as: key)
                        let mayPass = name == kind || name == "all"
                        #expect((answer.status != 403) == mayPass, "\(name): \(answer.text)")
                    }
                }
            }
            let messages = try await stage.count("gateway.message WHERE tenant_id = 'own'")
            #expect(messages >= 6)
        }
    }

    @Test func theDocumentListsTheOperationsOutsideTheLimits() throws {
        let ids = Set(NativeOperations.all.map(\.id))
        for list in [Self.administration, Self.tenantWide, Self.filtered, Self.audienceSends, Self.open] {
            #expect(list.isSubset(of: ids))
        }
        #expect(Set(NativeOperations.all.filter { $0.scope == .admin }.map(\.id)) == Self.administration)
        #expect(Set(NativeOperations.all.filter { $0.scope == nil }.map(\.id)) == Self.open)
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/security.md")
        let lines = try String(contentsOf: root, encoding: .utf8).split(separator: "\n")
        func listed(_ row: String) -> Set<String> {
            let line = lines.first { $0.hasPrefix("| \(row) |") } ?? ""
            return Set(line.matches(of: /`([a-zA-Z]+)`/).map { String($0.1) })
        }
        #expect(listed("need `admin`").subtracting(["admin"]) == Self.administration)
        #expect(listed("need no key") == Self.open)
        #expect(listed("span all apps") == Self.tenantWide)
        #expect(listed("span all apps without `app`").subtracting(["app"]) == Self.filtered)
        #expect(listed("send to an audience").subtracting(["send"]) == Self.audienceSends)
    }
}
