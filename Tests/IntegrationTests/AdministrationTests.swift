import CommandSupport
import Crypto
import DeliveryEngine
import EngineStore
import Foundation
import Model
import NIOHTTP1
import PostgresClient
import Store
import Testing

@testable import Gateway
@testable import NativeHTTP

/// API keys, credentials and apps that are created, changed and deleted through the native API, on real PostgreSQL.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct AdministrationTests {
    private func run(_ stage: NativeStage, _ sql: String) async throws {
        _ = try await stage.database.engine.run(Statement(sql), tenant: nil)
    }

    /// Creates a key and returns its secret.
    private func createKey(_ stage: NativeStage, _ body: JSON, as bearer: String? = nil) async throws -> String {
        let answer = try await stage.native(.POST, "/v1/keys", body, as: bearer)
        try #require(answer.status == 201, "\(answer.text)")
        return try #require(answer.json?["key"]?.string)
    }

    private func status(_ stage: NativeStage, _ bearer: String, node: Int = 0) async throws -> Int {
        try await stage.native(.GET, "/v1/apps", as: bearer, node: node).status
    }

    private static func credential(_ more: JSONObject = [:]) -> JSON {
        var body: JSONObject = [
            "kind": "apns-token", "teamId": "ABCDE12345", "keyId": "KEY1234567",
            "privateKey": .string(P256.Signing.PrivateKey().pemRepresentation),
        ]
        for (name, value) in more.pairs { body[name] = value }
        return .object(body)
    }

    private static let app: JSON = [
        "platforms": ["ios": ["topic": "com.example.web", "production": "apple"]],
        "bindings": ["ipns": ["appId": "web.mobile"]], "approvalAbove": 10,
    ]

    // MARK: API keys

    @Test func aKeyWorksFromItsCreationToItsDeletion() async throws {
        try await NativeStage.on { stage in
            let first = try await createKey(
                stage,
                ["name": "crm", "scopes": ["read"], "recipientsPerDay": 5, "expiresAt": "2099-01-01T00:00:00Z"]
            )
            for node in 0...1 { #expect(try await status(stage, first, node: node) == 200) }
            let shown = try await stage.native(.GET, "/v1/keys/crm")
            #expect(shown.json?["scopes"] == ["read"] && shown.json?["isProvisioned"] == false, "\(shown.text)")
            let list = try await stage.native(.GET, "/v1/keys")
            #expect(list.text.contains("crm") && !list.text.contains(first) && !shown.text.contains(first))
            let again = try await stage.native(.POST, "/v1/keys", ["name": "crm", "scopes": ["read"]])
            #expect(again.status == 422 && again.text.contains("name: "), "\(again.text)")
            let rotated = try await stage.native(.POST, "/v1/keys/crm/rotate", ["overlapSeconds": 3600])
            let second = try #require(rotated.json?["key"]?.string, "\(rotated.text)")
            #expect(rotated.json?["hasOtherSecret"] == true)
            for secret in [first, second] { #expect(try await status(stage, secret) == 200) }
            let third = try await stage.native(.POST, "/v1/keys/crm/rotate", ["overlapSeconds": 0])
            let last = try #require(third.json?["key"]?.string)
            try await eventually("the former secrets end", within: .seconds(5)) {
                let former = [try await status(stage, first), try await status(stage, second)]
                return former == [401, 401]
            }
            #expect(try await status(stage, last) == 200)
            #expect(try await stage.native(.DELETE, "/v1/keys/crm").status == 204)
            #expect(try await stage.native(.DELETE, "/v1/keys/crm").status == 404)
            for node in 0...1 {
                try await eventually("the key ends on every node", within: .seconds(5)) {
                    try await status(stage, last, node: node) == 401
                }
            }
            let audit = try await stage.audit()
            #expect(
                audit.suffix(4) == [
                    "key:backend create key crm", "key:backend rotate key crm", "key:backend rotate key crm",
                    "key:backend revoke key crm",
                ],
                "\(audit)"
            )
        }
    }

    @Test func aKeyGivesNoMoreRightsThanItHas() async throws {
        try await NativeStage.on { stage in
            let here = ["127.0.0.0/8", "10.0.0.0/8"] as JSON
            let office = try await createKey(stage, ["name": "office", "scopes": ["admin"], "networks": here])
            let brief = try await createKey(
                stage,
                ["name": "brief", "scopes": ["admin"], "expiresAt": "2090-01-01T00:00:00Z"]
            )
            let few = try await createKey(stage, ["name": "few", "scopes": ["admin"], "recipientsPerDay": 10])
            let refused: [(String, JSON, String)] = [
                (office, ["name": "x", "scopes": ["read"]], "networks: "),
                (office, ["name": "x", "scopes": ["read"], "networks": ["0.0.0.0/0"]], "networks: "),
                (brief, ["name": "x", "scopes": ["read"]], "expiresAt: "),
                (brief, ["name": "x", "scopes": ["read"], "expiresAt": "2091-01-01T00:00:00Z"], "expiresAt: "),
                (few, ["name": "x", "scopes": ["send:direct"]], "scopes: "),
                (few, ["name": "x", "scopes": ["admin"], "recipientsPerDay": 10], "scopes: "),
            ]
            for (key, body, field) in refused {
                let answer = try await stage.native(.POST, "/v1/keys", body, as: key)
                #expect(answer.status == 422 && answer.text.contains(field), "\(field): \(answer.text)")
            }
            // A new secret of a key is a key too.
            for key in [office, brief, few] {
                let answer = try await stage.native(.POST, "/v1/keys/wide/rotate", ["overlapSeconds": 0], as: key)
                #expect(answer.status == 404, "\(answer.text)")
            }
            _ = try await createKey(stage, ["name": "wide", "scopes": ["admin"]])
            for key in [office, brief, few] {
                let answer = try await stage.native(.POST, "/v1/keys/wide/rotate", ["overlapSeconds": 0], as: key)
                #expect(answer.status == 422 && answer.text.contains("more rights"), "\(answer.text)")
            }
            _ = try await createKey(stage, ["name": "in", "scopes": ["read"], "networks": ["10.1.0.0/16"]], as: office)
            _ = try await createKey(
                stage,
                ["name": "soon", "scopes": ["send"], "expiresAt": "2089-01-01T00:00:00Z"],
                as: brief
            )
            _ = try await createKey(stage, ["name": "reads", "scopes": ["read", "devices"]], as: few)
            #expect(try await stage.native(.POST, "/v1/keys/office/rotate", [:], as: office).status == 200)
        }
    }

    @Test func wrongKeysAreRefusedWithTheFieldAndTheirNumberIsLimited() async throws {
        try await NativeStage.on { stage in
            let refused: [(JSON, String)] = [
                (["scopes": ["read"]], "name: "), (["name": "a b", "scopes": ["read"]], "name: "),
                (["name": "x"], "scopes: "), (["name": "x", "scopes": []], "scopes: "),
                (["name": "x", "scopes": ["manage"]], "scopes: "),
                (["name": "x", "scopes": ["read"], "networks": ["somewhere"]], "networks: "),
                (["name": "x", "scopes": ["read"], "expiresAt": "2001-01-01T00:00:00Z"], "expiresAt: "),
                (["name": "x", "scopes": ["read"], "secret": "own"], "secret: "),
            ]
            for (body, field) in refused {
                let answer = try await stage.native(.POST, "/v1/keys", body)
                #expect(answer.status == 422 && answer.text.contains(field), "\(field): \(answer.text)")
            }
            // The file's keys change only through the file.
            for (method, path) in [(HTTPMethod.DELETE, ""), (.POST, "/rotate")] {
                let body: JSON? = method == .POST ? ["overlapSeconds": 0] : nil
                let answer = try await stage.native(method, "/v1/keys/reader\(path)", body)
                #expect(answer.status == 409 && answer.text.contains("PG-1016"), "\(answer.text)")
                // I6
                _ = try await createKey(stage, ["name": .string("own\(path.count)"), "scopes": ["read"]])
                let other = try await stage.native(method, "/v1/keys/own\(path.count)\(path)", body, as: stage.otherKey)
                #expect(other.status == 404, "\(other.text)")
            }
            try await run(
                stage,
                """
                INSERT INTO gateway.api_key (key_id, tenant_id, name, hash)
                SELECT gen_random_uuid(), 'own', 'k' || n, sha256(n::text::bytea) FROM generate_series(1, \(ObjectLimits.keys)) n
                """
            )
            let full = try await stage.native(.POST, "/v1/keys", ["name": "full", "scopes": ["read"]])
            #expect(full.status == 422 && full.text.contains("at most \(ObjectLimits.keys)"), "\(full.text)")
        }
    }

    // MARK: Credentials

    @Test func aCredentialIsCheckedSealedAndNeverReturned() async throws {
        try await NativeStage.on { stage in
            let body = Self.credential()
            let made = try await stage.native(.PUT, "/v1/credentials/own", body)
            #expect(made.status == 201 && made.json?["origin"] == "api", "\(made.text)")
            #expect(made.json?["usable"] == true && made.json?["findings"] == [], "\(made.text)")
            #expect(try await stage.native(.PUT, "/v1/credentials/own", body).status == 200)
            let shown = try await stage.native(.GET, "/v1/credentials/own")
            #expect(!shown.text.contains("PRIVATE") && shown.json?["keyId"] == "KEY1234567", "\(shown.text)")
            let stored = try await stage.count(
                "gateway.credential WHERE tenant_id = 'own' AND credential_id = 'own' AND position('PRIVATE' in encode(sealed, 'escape')) = 0"
            )
            #expect(stored == 1)
            let refused: [(JSON, String)] = [
                (Self.credential(["privateKey": "no key"]), "privateKey: the private key is not a P-256 key"),
                (Self.credential(["privateKey": .null]), "privateKey: is missing"),
                (Self.credential(["keyId": .null]), "keyId: is missing"),
                (Self.credential(["teamId": "a b"]), "teamId: "),
                (Self.credential(["kind": "fcm"]), "kind: "),
                (Self.credential(["privateKeyFile": "/etc/passwd"]), "privateKeyFile: is not a known field"),
                (Self.credential(["endpoint": "https://elsewhere.example"]), "endpoint: is not a known field"),
                (Self.credential(["trustRoots": "-----BEGIN CERTIFICATE-----"]), "trustRoots: is not a known key"),
                (["kind": "apns-certificate"], "needs pkcs12 or certificate"),
                (["kind": "apns-certificate", "pkcs12": "?"], "pkcs12: must be base64"),
                (["kind": "apns-certificate", "certificate": "no certificate"], "certificate: "),
            ]
            for (body, fault) in refused {
                let answer = try await stage.native(.PUT, "/v1/credentials/wrong", body)
                #expect(answer.status == 422 && answer.text.contains(fault), "\(fault): \(answer.text)")
            }
            #expect(try await stage.native(.GET, "/v1/credentials/wrong").status == 404)
            let file = try await stage.native(.PUT, "/v1/credentials/apple", body)
            #expect(file.status == 409 && file.text.contains("PG-1016"), "\(file.text)")
            #expect(try await stage.native(.DELETE, "/v1/credentials/apple").status == 409)
            // I6
            #expect(try await stage.native(.GET, "/v1/credentials/own", as: stage.otherKey).status == 404)
            #expect(try await stage.native(.DELETE, "/v1/credentials/own", as: stage.otherKey).status == 404)
        }
    }

    // MARK: Apps

    @Test func anAppServesFromItsCreationToItsDeletion() async throws {
        try await NativeStage.on { stage in
            #expect(try await stage.native(.PUT, "/v1/credentials/own", Self.credential()).status == 201)
            var body = try #require(Self.app.object)
            body["platforms"] = ["ios": ["topic": "com.example.web", "production": "own"]]
            let made = try await stage.native(.PUT, "/v1/apps/web", .object(body))
            #expect(made.status == 201 && made.json?["origin"] == "api", "\(made.text)")
            let bindings = try await stage.native(.GET, "/v1/apps/web/bindings")
            #expect(bindings.json?["bindings"]?.array?.first?["origin"] == "api", "\(bindings.text)")
            let device: JSON = ["app": "web", "platform": "ios", "key": "k", "user": "u"]
            #expect(try await stage.native(.POST, "/v1/devices", device).status == 201)
            let message: JSON = ["app": "web", "to": ["keys": ["k"]], "body": "b"]
            #expect(try await stage.native(.POST, "/v1/messages", message).status == 202)
            let used = try await stage.native(.DELETE, "/v1/credentials/own")
            #expect(used.status == 422 && used.text.contains("used by app web"), "\(used.text)")
            let upstream: JSON = ["kind": "upstream-upmc", "url": "https://push.example.com"]
            let replaced = try await stage.native(.PUT, "/v1/credentials/own", upstream)
            #expect(replaced.status == 422 && replaced.text.contains("used by app web"), "\(replaced.text)")
            let active = try await stage.native(.DELETE, "/v1/apps/web")
            #expect(active.status == 422 && active.text.contains("1 active identities"), "\(active.text)")
            // Replaced as a whole: the binding is gone.
            body["bindings"] = nil
            let changed = try await stage.native(.PUT, "/v1/apps/web", .object(body))
            #expect(changed.status == 200, "\(changed.text)")
            #expect(try await stage.native(.GET, "/v1/apps/web/bindings").json?["bindings"] == [])
            let id = try await stage.native(.GET, "/v1/devices?app=web").json?["devices"]?.array?.first?["id"]?.string
            #expect(try await stage.native(.DELETE, "/v1/devices/\(id ?? "")").status == 204)
            #expect(try await stage.native(.DELETE, "/v1/apps/web").status == 204)
            #expect(try await stage.native(.GET, "/v1/apps/web").json?["retiredAt"]?.string != nil)
            #expect(try await stage.native(.DELETE, "/v1/credentials/own").status == 204)
            let audit = try await stage.audit()
            let expected = [
                "write credential own", "write app web", "remove binding ipns", "retire app web",
                "remove credential own",
            ]
            for act in expected { #expect(audit.contains { $0.hasPrefix("key:backend \(act)") }, "\(act): \(audit)") }
        }
    }

    @Test func wrongAppsAreRefusedByTheRulesOfTheFile() async throws {
        try await NativeStage.on { stage in
            let hub: JSON = [
                "hub": "native-hub",
                "keys": [["name": "Full", "value": "0123456789abcdef0123456789abcdef", "rights": ["manage"]]],
            ]
            let refused: [(JSON, String)] = [
                (["platforms": ["ios": ["production": "apple"]]], "platforms.ios.topic: is missing"),
                (
                    ["platforms": ["ios": ["topic": "a.b", "production": "pear"]]],
                    "platforms: unknown credential 'pear'"
                ),
                (["platforms": ["watch": [:]]], "platforms.watch: is not a known platform"),
                (["bindings": ["nobody": [:]]], "bindings.nobody: unknown vendor"),
                (["bindings": ["ipns": [:]]], "bindings.ipns.appId: is missing"),
                (["bindings": ["ipns": ["appId": "a", "settings": ["x": 1]]]], "bindings.ipns.settings: "),
                (["quotas": ["joy": 1]], "quotas.joy: is not a known key"), (["timeZone": "Mars"], "timeZone: "),
                (["routes": []], "routes: is not a known field"), (["approvalAbove": -1], "approvalAbove: "),
                (
                    ["userTokens": ["issuer": "i", "audience": "a", "keys": [["publicKeyFile": "/etc/passwd"]]]],
                    "userTokens.keys[0].publicKeyFile: is not a known key"
                ),
                (
                    ["userTokens": ["issuer": "i", "audience": "a", "keys": [["publicKey": "no key"]]]],
                    "userTokens.keys[0].publicKey: must be an RSA"
                ),
                (
                    ["bindings": ["notificationhubs": hub]],
                    "bindings.notificationhubs: the hub 'native-hub' leads to another app"
                ),
            ]
            for (body, fault) in refused {
                let answer = try await stage.native(.PUT, "/v1/apps/web", body)
                #expect(answer.status == 422 && answer.text.contains(fault), "\(fault): \(answer.text)")
            }
            #expect(try await stage.native(.GET, "/v1/apps/web").status == 404)
            for method in [HTTPMethod.PUT, .DELETE] {
                let answer = try await stage.native(method, "/v1/apps/shop", method == .PUT ? [:] : nil)
                #expect(answer.status == 409 && answer.text.contains("PG-1016"), "\(answer.text)")
            }
            // Another tenant's key does not lead to the app, and I6.
            #expect(try await stage.native(.PUT, "/v1/apps/web", Self.app).status == 201)
            let stolen = try await stage.native(.PUT, "/v1/apps/web", Self.app, as: stage.otherKey)
            #expect(stolen.status == 422 && stolen.text.contains("leads to another app"), "\(stolen.text)")
            #expect(try await stage.native(.GET, "/v1/apps/web", as: stage.otherKey).status == 404)
            #expect(try await stage.native(.DELETE, "/v1/apps/web", as: stage.otherKey).status == 404)
        }
    }

    // MARK: Files

    @Test func aFileAppliedAfterChangesByTheAPIRemovesNoneOfThem() async throws {
        try await NativeStage.on { stage in
            let secret = try await createKey(stage, ["name": "crm", "scopes": ["read", "admin"]])
            #expect(try await stage.native(.PUT, "/v1/credentials/own", Self.credential()).status == 201)
            #expect(try await stage.native(.PUT, "/v1/apps/web", Self.app).status == 201)
            let before = try await stage.native(.GET, "/v1/apps/web/bindings").text
            let store = PostgresProvisioningStore(engine: stage.database.engine)
            let apple = ProvisionedCredential(id: "apple", kind: "apns-token", sealed: [2], fingerprint: [2])
            let news = ProvisionedApp(id: "news")
            var file = ProvisionedTenant(id: NativeStage.tenant, credentials: [apple], apps: [news])
            // The file removes its own keys, its app and its binding.
            #expect(try await store.apply([file]).removed == 4)
            try await eventually("the file's key ends", within: .seconds(5)) {
                try await status(stage, stage.key) == 401
            }
            func reads(_ path: String) async throws -> HTTPCaller.Answer {
                try await stage.native(.GET, path, as: secret)
            }
            #expect(try await reads("/v1/apps/web/bindings").text == before)
            #expect(try await reads("/v1/apps/web").json?["retiredAt"] == .null)
            #expect(try await reads("/v1/apps/shop").json?["retiredAt"]?.string != nil)
            #expect(try await reads("/v1/credentials/own").json?["usable"] == true)
            let audit = try await reads("/v1/audit?limit=1000").json?["entries"]?.array ?? []
            let acts = audit.map { "\($0["actor"]?.string ?? "") \($0["subject"]?.string ?? "")" }
            for act in [
                "key:backend key crm", "key:backend app web", "key:backend credential own", "provisioning app news",
                "provisioning key backend", "provisioning app shop",
            ] {
                #expect(acts.contains(act), "\(act): \(acts)")
            }
            // A file cannot take over an app of the API.
            file.apps.append(ProvisionedApp(id: "web"))
            let refused = ProvisioningError.createdOtherwise(kind: "app", name: "web")
            await #expect(throws: refused) { try await store.apply([file]) }
        }
    }
}
