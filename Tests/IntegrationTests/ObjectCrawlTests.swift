import CommandSupport
import EngineStore
import Foundation
import HTTPTypes
import MigrationStore
import Model
import NIOHTTP1
import Store
import Testing

@testable import Gateway
@testable import NativeHTTP
@testable import Secrets

/// Every operation of the native API with an object in its path, called for objects that exist, with the keys of other tenants; and every operation that needs
/// a key, called without one, with one that does not exist, and with one that lacks the scope. The operations are those of the code. The objects and the
/// exceptions are written by hand.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct ObjectCrawlTests {
    private static let every = NativeOperations.all.filter { $0.path.contains("{") }

    /// The answers that a key of another tenant gets in place of 404: these calls act in its own tenant, where they find nothing or create something.
    private static let ofItsOwn: [String: (status: Int, text: String)] = [
        "eraseUser": (200, #"{"erased":0}"#),
        // It checks the body, for the apps that use the credential of this name.
        "checkCredential": (200, #""uses":[]"#),
        // Images belong to a tenant, not to an app.
        "storeMedia": (201, ""), "putCredential": (201, ""), "putApp": (201, ""),
    ]
    /// The calls by which a tenant with an app of the same name creates objects in it.
    private static let createdInItsApp = [
        "createGroup": 201, "putTemplate": 201, "putCampaign": 201, "updateUser": 200,
    ]

    /// The calls that create what others look for. An app comes last, because objects in it can be created then.
    private static let creating = Array(createdInItsApp.keys) + ["putCredential", "putApp"]
    private static let scopes = ["send", "devices", "read", "content"]

    private static func creatingLast(_ operations: [NativeOperation]) -> [NativeOperation] {
        operations.filter { !creating.contains($0.id) }
            + creating.flatMap { id in operations.filter { $0.id == id } }
    }

    // MARK: Objects

    /// Objects of the tenant `own`, one for each field of a path.
    private struct Objects {
        static let image: [UInt8] = [0xFF, 0xD8, 0xFF, 0x01]
        static let upstream: JSON = ["kind": "upstream-rationalowl", "url": "https://vendor.example"]

        let stage: NativeStage
        /// By the name of the field, as they are in a path.
        var fields: [String: String] = [
            "app": "shop", "user": "u-crawl", "group": "crawl", "template": "crawl", "campaign": "crawl",
            "activity": "crawl", "name": "crawl", "credential": "old", "migration": "leave",
            // Channels exist at Apple only.
            "channel": "dHN0LXNyY2gtY2hubA%3D%3D",
        ]

        init(_ stage: NativeStage) async throws {
            self.stage = stage
            fields["hash"] = SystemIdentifiers().sha256(Self.image)
            try await addDevice()
            try await addMessage()
            try await addObjectsOfTheApp()
            try await addObjectsOfTheTenant()
        }

        private mutating func addDevice() async throws {
            let token = String(repeating: "7c", count: 32)
            let device = try await stage.register("crawl", token: token)
            fields["device"] = device
            let shown = try await stage.native(.GET, "/v1/devices/\(device)")
            fields["identity"] = try #require(shown.json?["identities"]?.array?.first?["id"]?.string, "\(shown.text)")
            let report: JSON = ["activity": "crawl", "token": .string(token)]
            _ = try await made(.PUT, "/v1/devices/\(device)/live-activity-tokens", report)
        }

        private mutating func addMessage() async throws {
            fields["message"] = try await stage.send(to: "crawl")
            // The target of a registration is named as its identity.
            fields["target"] = fields["identity"]
        }

        private func addObjectsOfTheApp() async throws {
            let app = "/v1/apps/shop"
            _ = try await made(.PATCH, "\(app)/users/u-crawl", ["attributes": ["plan": "own"]])
            _ = try await made(.POST, "\(app)/expected-users", ["users": [["user": "u-crawl"]]])
            _ = try await made(.PUT, "\(app)/groups/crawl")
            _ = try await made(.PUT, "\(app)/templates/crawl", ["content": ["body": "own"]])
            let campaign: JSON = [
                "name": "own",
                "variations": [["message_variation_id": "v-1", "apple_push": ["alert": "Everything must go."]]],
            ]
            _ = try await made(.PUT, "\(app)/campaigns/crawl?vendor=braze", campaign)
        }

        private mutating func addObjectsOfTheTenant() async throws {
            _ = try await made(.POST, "/v1/keys", ["name": "crawl", "scopes": ["read"]])
            _ = try await made(.PUT, "/v1/credentials/old", Self.upstream)
            let hook: JSON = ["url": "https://events.example/hook", "active": false]
            fields["webhook"] = try await made(.POST, "/v1/webhooks", hook)?["id"]?.string
            let order: JSON = ["app": "shop", "vendor": "notificationhubs", "minutes": 5, "exchanges": 10]
            fields["capture"] = try await made(.POST, "/v1/captures", order)?["id"]?.string
            let migration = NewMigration(
                id: "leave",
                app: "shop",
                upstream: "old",
                plan: [
                    "migration": ["id": "leave", "app": "shop", "from": "old"],
                    "steps": [["stage": "serve"], ["stage": "hold"], ["stage": "complete"]],
                ],
                state: ["status": "rolledOut", "step": 1]
            )
            let store = PostgresMigrationStore(engine: stage.database.engine)
            #expect(try await store.put(migration, in: NativeStage.tenant, by: .key("test")) == .stored)
        }

        private func made(_ method: HTTPMethod, _ path: String, _ body: JSON? = nil) async throws -> JSON? {
            let answer = try await stage.native(method, path, body)
            try #require((200..<300).contains(answer.status), "\(path): \(answer.status) \(answer.text)")
            return answer.json
        }

        // MARK: Calls

        /// The path of an operation with the objects in it.
        ///
        /// - Throws: an `ExpectationFailedError` for a field that the test does not know: a new operation needs an object here.
        private func path(_ operation: NativeOperation) throws -> String {
            var path = ""
            for segment in operation.path.split(separator: "/") {
                let name = String(segment.dropFirst().dropLast())
                let value = segment.hasPrefix("{") ? fields[name] : String(segment)
                let known = try #require(value, "\(operation.id): the test has no object for \(segment)")
                path += "/" + known
            }
            if operation.path.contains("/campaigns") { path += "?vendor=braze" }
            if operation.id == "importDevices" { path += "?format=ndjson" }
            return path
        }

        /// A body that is right for the objects: that of the example, unless the example names others.
        private func body(_ operation: NativeOperation) -> [UInt8] {
            let body: JSON? =
                switch operation.id {
                case "putCredential", "checkCredential": Self.upstream
                case "putApp": ["approvalAbove": 10]
                case "putTemplate": ["content": ["body": "another"]]
                case "vouchIdentity": [:]
                case "reportReceipt":
                    ["message": .string(fields["message"] ?? ""), "key": "crawl", "kind": "received"]
                default: operation.example
                }
            switch operation.id {
            case "storeMedia": return Self.image
            case "importDevices": return Array(#"{"key":"imported"}"#.utf8)
            default: return body.map(JSONWriter.bytes) ?? []
            }
        }

        /// Calls an operation with a key; nil: without the header.
        func call(_ operation: NativeOperation, as key: String?) async throws -> (status: Int, text: String) {
            let method = HTTPMethod(rawValue: operation.method.rawValue)
            var call = NativeStage.Call(method: method, path: try path(operation), body: body(operation))
            if operation.id == "storeMedia" { call.type = "image/jpeg" }
            if operation.id == "importDevices" { call.type = "application/x-ndjson" }
            if operation.id == "putRoutes" { call.ifMatch = "\"0\"" }
            call.bearer = key
            call.isAnonymous = key == nil
            let answer = try await stage.call(call)
            return (answer.status, "\(operation.id): \(answer.status) \(answer.text)")
        }
    }

    // MARK: Tests

    /// Whether an answer is that for an object that is not there: `otherwise`, unless `ofItsOwn` names another one.
    private static func findsNone(
        _ answer: (status: Int, text: String),
        _ operation: NativeOperation,
        _ otherwise: Int = 404
    ) -> Bool {
        let (status, text) = ofItsOwn[operation.id] ?? (otherwise, "")
        return answer.status == status && (text.isEmpty || answer.text.contains(text))
    }

    @Test func theKeyOfATenantWithoutObjectsFindsNone() async throws {
        try await NativeStage.on { stage in
            let objects = try await Objects(stage)
            let key = APIKeys.make(SystemIdentifiers())
            let stranger = ProvisionedTenant(
                id: "stranger",
                apiKeys: [ProvisionedKey(name: "backend", hash: APIKeys.hash(key), scopes: Self.scopes + ["admin"])]
            )
            _ = try await PostgresProvisioningStore(engine: stage.database.engine).apply([stranger])
            for operation in Self.creatingLast(Self.every) {
                let answer = try await objects.call(operation, as: key)
                #expect(Self.findsNone(answer, operation), "\(answer.text)")
            }
            try await expectAll(objects)
        }
    }

    // Each scope alone: a scope that did not look at the tenant would not show next to others. Each key has a tenant of its own, so that none finds what the key
    // before it has created.
    @Test func aKeyOfAnotherTenantWithOneScopeFindsNone() async throws {
        try await NativeStage.on { stage in
            let objects = try await Objects(stage)
            let whole = [APIScope.send, .devices, .read, .admin]
            let limited = ["send:direct", "send:app/shop", "devices:app/shop", "read:app/shop", "content"]
            var strangers: [ProvisionedTenant] = []
            var keys: [(scope: String, secret: String)] = []
            for scope in whole.map(\.rawValue) + limited {
                let secret = APIKeys.make(SystemIdentifiers())
                let scopes = scope == "content" ? ["read", scope] : [scope]
                let key = ProvisionedKey(name: "backend", hash: APIKeys.hash(secret), scopes: scopes)
                strangers.append(ProvisionedTenant(id: TenantID("stranger\(keys.count)"), apiKeys: [key]))
                keys.append((scope, secret))
            }
            _ = try await PostgresProvisioningStore(engine: stage.database.engine).apply(strangers)
            for (scope, secret) in keys {
                for operation in Self.creatingLast(Self.every) {
                    guard let needed = operation.scope?.rawValue else { continue }
                    let answer = try await objects.call(operation, as: secret)
                    let findsNone = Self.findsNone(answer, operation)
                    if whole.contains(where: { $0.rawValue == scope }) {
                        let isOpen = scope == needed || scope == APIScope.admin.rawValue
                        #expect(isOpen ? findsNone : answer.status == 403, "\(scope): \(answer.text)")
                    } else {
                        // The rights for an app are looked up by the object, which is not there.
                        #expect(findsNone || [403, 404].contains(answer.status), "\(scope): \(answer.text)")
                    }
                }
            }
            try await expectAll(objects)
        }
    }

    // The other tenant has an app of the same name, and creates objects in it that have the same names too.
    @Test func theKeyOfATenantWithTheSameAppFindsNoneOfItsObjects() async throws {
        try await NativeStage.on { stage in
            let objects = try await Objects(stage)
            // An app's channels are those of its topic at Apple.
            let inside = Self.every.filter {
                $0.path.replacing("{app}", with: "").contains("{") && !$0.path.contains("{channel}")
            }
            try await expectNoneInLists(objects)
            try await expectNoneInFigures(objects)
            for operation in Self.creatingLast(inside) {
                let answer = try await objects.call(operation, as: stage.otherKey)
                let status = Self.createdInItsApp[operation.id] ?? 404
                #expect(Self.findsNone(answer, operation, status), "\(answer.text)")
            }
            try await expectAll(objects)
        }
    }

    /// The other tenant's lists contain nothing of the objects.
    private func expectNoneInLists(_ objects: Objects) async throws {
        let inTheApp = ["users", "groups", "templates", "campaigns?vendor=braze", "expected-users"]
        let lists =
            inTheApp.map { "/v1/apps/shop/\($0)" }
            + ["messages", "devices", "keys", "webhooks", "captures", "migrations", "credentials"].map { "/v1/\($0)" }
        let ids = ["device", "capture", "webhook", "message"].compactMap { objects.fields[$0] }
        let names = ["crawl", "\"leave\"", "events.example", "\"old\""] + ids
        for path in lists {
            let list = try await objects.stage.native(.GET, path, as: objects.stage.otherKey)
            #expect(list.status == 200 && !names.contains { list.text.contains($0) }, "\(path): \(list.text)")
            // The control.
            let own = try await objects.stage.native(.GET, path)
            #expect(names.contains { own.text.contains($0) }, "\(path): \(own.text)")
        }
    }

    /// The other tenant's figures count nothing of the objects, and its exports contain none of them, also behind a cursor of the tenant.
    private func expectNoneInFigures(_ objects: Objects) async throws {
        let stage = objects.stage
        for path in ["/v1/analytics/funnel", "/v1/analytics/funnel?app=shop&vendor=native"] {
            let other = try await stage.native(.GET, path, as: stage.otherKey)
            #expect(other.json?["total"]?["targets"]?.int == 0, "\(path): \(other.text)")
            // The control.
            let own = try await stage.native(.GET, path)
            #expect((own.json?["total"]?["targets"]?.int ?? 0) > 0, "\(path): \(own.text)")
        }
        for path in ["/v1/exports/devices", "/v1/exports/events"] {
            let own = try await stage.native(.GET, path)
            let first = try JSONParser.parse(String(own.text.prefix { $0 != "\n" }))
            let cursor = try #require(first["cursor"]?.string, "\(path): \(own.text)")
            for end in ["", "?after=\(cursor)"] {
                let other = try await stage.native(.GET, path + end, as: stage.otherKey)
                // The other tenant's log ends before this offset.
                let isAfterItsEnd = !end.isEmpty && other.status == 422 && other.text.contains("the log ends")
                let isNone = isAfterItsEnd || other.status == 200 && other.text.isEmpty
                #expect(isNone, "\(path + end): \(other.status) \(other.text)")
            }
        }
    }

    /// The tenant's own key finds each object, unchanged: otherwise the answers to others would show nothing.
    private func expectAll(_ objects: Objects) async throws {
        let template = try await objects.stage.native(.GET, "/v1/apps/shop/templates/crawl")
        #expect(template.json?["content"] == ["body": "own"], "\(template.text)")
        let user = try await objects.stage.native(.GET, "/v1/apps/shop/users/u-crawl")
        #expect(user.json?["attributes"]?["plan"] == "own", "\(user.text)")
        let campaign = try await objects.stage.native(.GET, "/v1/apps/shop/campaigns/crawl?vendor=braze")
        #expect(campaign.json?["name"] == "own", "\(campaign.text)")
        // Other calls need what these delete.
        let last = ["eraseDevice", "eraseUser"]
        func place(_ operation: NativeOperation) -> Int {
            last.firstIndex(of: operation.id).map { $0 + 2 } ?? (operation.method == .delete ? 1 : 0)
        }
        for step in 0..<4 {
            for operation in Self.every where place(operation) == step {
                let answer = try await objects.call(operation, as: objects.stage.key)
                // Channels exist at Apple only.
                let isShown = operation.method == .get && !operation.path.contains("/channels")
                #expect(isShown ? answer.status == 200 : ![401, 403, 404].contains(answer.status), "\(answer.text)")
            }
        }
    }

    @Test func withoutAKeyThatMayCallItNoOperationAnswers() async throws {
        try await NativeStage.on { stage in
            let objects = try await Objects(stage)
            let store = PostgresKeyStore(engine: stage.database.engine)
            var lacking: [APIScope: String] = [:]
            for scope in [APIScope.send, .devices, .read, .admin] {
                let secret = APIKeys.make(SystemIdentifiers())
                let scopes = Self.scopes.filter { $0 != scope.rawValue }
                let key = ProvisionedKey(name: "not-\(scope.rawValue)", hash: APIKeys.hash(secret), scopes: scopes)
                _ = try #require(try await store.create(key, in: NativeStage.tenant, by: .command(user: 0)))
                lacking[scope] = secret
            }
            for operation in NativeOperations.all {
                // `provePossession`: the nonce is what it proves.
                guard let scope = operation.scope else { continue }
                let none = try await objects.call(operation, as: nil)
                #expect(none.status == 401, "no key: \(none.text)")
                let unknown = try await objects.call(operation, as: APIKeys.make(SystemIdentifiers()))
                #expect(unknown.status == 401, "an unknown key: \(unknown.text)")
                let other: String = try #require(lacking[scope], "\(operation.id)")
                let lacks = try await objects.call(operation, as: other)
                #expect(lacks.status == 403, "without \(scope.rawValue): \(lacks.text)")
            }
            try await expectAll(objects)
        }
    }
}
