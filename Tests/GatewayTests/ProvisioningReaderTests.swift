import EngineStore
import Foundation
import Model
import Testing

@testable import Gateway
@testable import Provisioning
@testable import Secrets

/// Unknown keys are errors, secrets come from files or the environment, and an error names its position
/// (docs/operations.md#provisioning).
final class ProvisioningReaderTests {
    private let directory: String

    init() throws {
        directory = NSTemporaryDirectory() + "pgw-reader-" + SystemIdentifiers().randomHex(byteCount: 4)
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try "a key".write(toFile: directory + "/key.p8", atomically: true, encoding: .utf8)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    private func read(_ yaml: String, inline: Bool = false) throws(ProvisioningProblem) -> ProvisioningFile {
        try ProvisioningReader(
            directory: directory,
            environment: ["ACME_KEY": "5c1f0ae69b7d3428f1d0c96e8a7b2354"],
            allowsInlineSecrets: inline
        ).read(yaml)
    }

    private let good = """
        tenants:
          - id: acme
            apiKeys:
              - { name: backend, secretEnv: ACME_KEY, scopes: [send, devices, read] }
            credentials:
              - { id: apple, kind: apns-token, teamId: ABCDE12345, keyId: KEY1234567, privateKeyFile: key.p8 }
            apps:
              - id: shop
                platforms:
                  ios: { topic: com.example.shop, production: apple }
                bindings:
                  rationalowl: { accountId: a1b2c3d4-1111-4222-8333-444455556666, serviceId: 01234567890123456789012345678901 }
                routes: []
        """

    // docs/contracts/ipns.md#2.6: outside the window nothing is pushed, unless the app or the binding is configured
    // differently.
    @Test(arguments: [
        ("ipns: { appId: hr.mobile }", "routes: []", AppTiming.Hold.suppress),
        ("ipns: { appId: hr.mobile, settings: { outsideWindow: delay } }", "routes: []", .delay),
        ("ipns: { appId: hr.mobile }", "receivingWindows: { outside: delay }", .delay),
    ])
    func anIPNSBindingSetsTheMeaningOfUsersHours(_ binding: String, _ rest: String, _ hold: AppTiming.Hold) throws {
        let file = good.replacingOccurrences(of: "routes: []", with: "  \(binding)\n        \(rest)")
        let app = try #require(try read(file).tenants.first?.apps.first)
        #expect(app.timing.windows.hold == hold)
        let keys = app.bindings.first { $0.vendor == .ipns }?.keys
        #expect(keys?.map(\.kind) == ["app"] && keys?.map(\.value) == ["hr.mobile"])
    }

    private func hub(_ fields: String) throws -> ProvisioningFile.Binding? {
        let file = good.replacingOccurrences(of: "routes: []", with: "  notificationhubs: { \(fields) }")
        return try read(file, inline: true).tenants.first?.apps.first?.bindings.first { $0.vendor == .notificationHubs }
    }

    // A hub's access rules: its keys are secrets; names and rights are settings.
    @Test func aHubIsReadWithItsKeys() throws {
        let binding = try #require(
            try hub(
                """
                hub: Shop-Hub, host: Push.example.com, keys: [ \
                { name: Full, valueEnv: ACME_KEY, secondary: 0123456789abcdef, rights: [listen, send, manage] }, \
                { name: Listen, valueEnv: ACME_KEY, rights: [listen] } ]
                """
            )
        )
        #expect(binding.keys.map(\.kind) == ["hub"] && binding.keys.map(\.value) == ["shop-hub"])
        #expect(binding.host == "push.example.com")
        #expect(binding.settings["rules"] == ["Full": ["listen", "send", "manage"], "Listen": ["listen"]])
        #expect(binding.settings["topic"] == "com.example.shop")
        let key = "5c1f0ae69b7d3428f1d0c96e8a7b2354"
        #expect(
            binding.secrets
                == ["primary/Full": key, "secondary/Full": "0123456789abcdef", "primary/Listen": key]
        )
    }

    @Test(arguments: [
        "hub: shop", "hub: shop, keys: []", "hub: shop, keys: [ { name: a, valueEnv: ACME_KEY } ]",
        "hub: shop, keys: [ { name: a, valueEnv: ACME_KEY, rights: [push] } ]",
        "hub: shop, keys: [ { name: a, value: short, rights: [send] } ]",
        "hub: shop, keys: [ { name: a, valueEnv: ACME_KEY, rights: [send], more: 1 } ]",
        "hub: shop, keys: [ { name: a, valueEnv: ACME_KEY, rights: [send] }, { name: a, valueEnv: ACME_KEY, rights: [send] } ]",
        "hub: v1, keys: [ { name: a, valueEnv: ACME_KEY, rights: [send] } ]",
        "hub: pushapp, keys: [ { name: a, valueEnv: ACME_KEY, rights: [send] } ]",
        "hub: shop, settings: { rules: {} }, keys: [ { name: a, valueEnv: ACME_KEY, rights: [send] } ]",
        "keys: [ { name: a, valueEnv: ACME_KEY, rights: [send] } ]",
    ])
    func anInvalidHubIsRefused(_ fields: String) {
        #expect(throws: ProvisioningProblem.self) { try hub(fields) }
    }

    private static let rule = "keys: [ { name: a, valueEnv: ACME_KEY, rights: [send] } ]"

    // The tutorials' back end: its passwords are secrets, and its prefix is a key of the binding.
    @Test func aHubIsReadWithItsAppBackend() throws {
        let image = String(repeating: "Ab", count: 32)
        let backend =
            "prefix: Site, users: [ { name: mina, passwordEnv: ACME_KEY } ], image: \(image), acceptsNames: false"
        let binding = try #require(try hub("hub: shop, \(Self.rule), appBackend: { \(backend) }"))
        #expect(binding.keys.map(\.kind) == ["hub", "appbackend"] && binding.keys.map(\.value) == ["shop", "site"])
        #expect(binding.secrets["user/mina"] == "5c1f0ae69b7d3428f1d0c96e8a7b2354")
        #expect(
            binding.settings["appBackend"]
                == ["acceptsNames": .bool(false), "image": .string(image.lowercased())]
        )
        let open = try #require(try hub("hub: shop, \(Self.rule), appBackend: { acceptsNames: true }"))
        #expect(open.keys.map(\.value) == ["shop", "api"])
    }

    @Test(arguments: [
        "{}", "{ acceptsNames: false }", "{ acceptsNames: true, more: 1 }", "{ acceptsNames: true, prefix: v1 }",
        "{ acceptsNames: true, prefix: a/b }", "{ acceptsNames: true, image: abc }",
        "{ users: [ { name: mina } ] }", "{ users: [ { name: 'mi na', password: x } ] }",
        "{ users: [ { name: mina, password: x }, { name: Mina, password: y } ] }",
        "{ users: [ { name: mina, password: x, more: 1 } ] }",
    ])
    func anInvalidAppBackendIsRefused(_ fields: String) {
        #expect(throws: ProvisioningProblem.self) { try hub("hub: shop, \(Self.rule), appBackend: \(fields)") }
    }

    private func braze(_ fields: String) throws -> ProvisioningFile.Binding? {
        let file = good.replacingOccurrences(of: "routes: []", with: "  braze: { \(fields) }")
        return try read(file, inline: true).tenants.first?.apps.first?.bindings.first { $0.vendor == .braze }
    }

    // Keys of back ends are not stored: the settings contain their SHA-256.
    @Test func aBindingOfBrazeIsReadWithItsKeys() throws {
        let binding = try #require(
            try braze(
                """
                sdkKey: 11111111-2222-4333-8444-555555555555, restKeyEnv: ACME_KEY, restKeys: [ \
                { name: crm, value: fedcba9876543210, permissions: [messages.send], addresses: [192.0.2.1] } ]
                """
            )
        )
        #expect(binding.keys.map(\.kind) == ["rest", "rest", "sdk"])
        let rules = try #require(binding.settings["keys"]?.object)
        #expect(rules.keys == binding.keys.prefix(2).map(\.value))
        #expect(rules.keys.allSatisfy { $0.count == 64 })
        #expect(rules.pairs.first?.value == ["name": "restKey", "permissions": ["*"]])
        #expect(
            rules.pairs.last?.value
                == ["name": "crm", "permissions": ["messages.send"], "addresses": ["192.0.2.1"]]
        )
        #expect(binding.secrets.isEmpty)
        #expect(!JSONWriter.text(.object(binding.settings)).contains("fedcba9876543210"))
    }

    @Test(arguments: [
        "sdkKey: a", "restKey: short", "restKeyEnv: ACME_KEY, settings: { sdkEnabled: true }",
        "restKeyEnv: ACME_KEY, settings: { keys: {} }", "restKeyEnv: ACME_KEY, more: 1",
        "restKeys: [ { name: a, valueEnv: ACME_KEY } ]",
        "restKeys: [ { name: a, valueEnv: ACME_KEY, permissions: [everything] } ]",
        "restKeyEnv: ACME_KEY, restKeys: [ { name: a, valueEnv: ACME_KEY, permissions: [messages.send] } ]",
        "restKeys: [ { name: a, valueEnv: ACME_KEY, permissions: [messages.send], addresses: [1] } ]",
    ])
    func anInvalidBindingOfBrazeIsRefused(_ fields: String) {
        #expect(throws: ProvisioningProblem.self) { try braze(fields) }
    }

    @Test func anUnknownIPNSSettingIsRefused() throws {
        let binding = "  ipns: { appId: hr.mobile, settings: { operations: { x: send } } }"
        #expect(throws: ProvisioningProblem.self) {
            try read(good.replacingOccurrences(of: "routes: []", with: binding))
        }
    }

    @Test func documentedFileIsRead() throws {
        let tenant = try #require(try read(good).tenants.first)
        #expect(tenant.id == "acme")
        #expect(tenant.apiKeys.first?.secret == "5c1f0ae69b7d3428f1d0c96e8a7b2354")
        #expect(tenant.credentials.first?.secret == .signingKey(pem: Array("a key".utf8), topics: nil))
        let app = try #require(tenant.apps.first)
        #expect(app.platforms[.ios]?.credentials == [.production: "apple", .sandbox: "apple"])
    }

    @Test func aCredentialMayNameTheEndpointOfItsChannels() throws {
        let endpoints = #"endpoint: "https://localhost:1", channelEndpoint: "https://localhost:2""#
        let file = good.replacingOccurrences(of: "privateKeyFile: key.p8", with: "privateKeyFile: key.p8, \(endpoints)")
        let credential = try #require(try read(file).tenants.first?.credentials.first)
        #expect(credential.endpoint == "https://localhost:1" && credential.channelEndpoint == "https://localhost:2")
        let bad = file.replacingOccurrences(of: "https://localhost:2", with: "http://localhost:2")
        let problem = #expect(throws: ProvisioningProblem.self) { try read(bad) }
        #expect(problem?.path == "tenants[0].credentials[0].channelEndpoint")
    }

    @Test func retentionIsReadInHoursAndDays() throws {
        let yaml = good + "\n    retention: { deliveries: 30d, events: 36h, audit: 400d }"
        let durations = try #require(try read(yaml).tenants.first).retention.durations
        #expect(
            durations == [.deliveries: .seconds(2_592_000), .events: .seconds(129_600), .audit: .seconds(34_560_000)]
        )
        #expect(try read(good).tenants.first?.retention.durations.isEmpty == true)
    }

    private func app(_ settings: String) throws(ProvisioningProblem) -> ProvisioningFile.App? {
        try read(good.replacing("- id: shop\n", with: "- id: shop\n        \(settings)\n"))
            .tenants.first?.apps.first
    }

    @Test func anAppsHoursAreRead() throws {
        #expect(try read(good).tenants.first?.apps.first?.timing == AppTiming.none)
        let timing = try app(
            #"""
            timeZone: Asia/Seoul
                    quietHours: { from: "22:00", to: "0700", zone: Europe/Berlin, lanes: [transactional, bulk], outside: suppress }
                    receivingWindows: { lanes: [bulk], outside: suppress }
                    frequencyCap: { count: 5, per: 24h }
            """#
        )?.timing
        #expect(timing?.timeZone?.text == "Asia/Seoul")
        let quiet = try #require(timing?.quietHours)
        #expect((quiet.from, quiet.to) == (1320, 420) && quiet.zone?.text == "Europe/Berlin")
        #expect(quiet.lanes == [.transactional, .bulk] && quiet.hold == .suppress)
        #expect(timing?.windows == AppTiming.WindowRule(lanes: [.bulk], hold: .suppress))
        #expect(timing?.cap?.count == 5 && timing?.cap?.period == .seconds(86_400))
        let plain = try app(#"quietHours: { from: "22:00", to: "07:00", zone: device }"#)?.timing.quietHours
        #expect(plain?.zone == nil && plain?.lanes == [.bulk, .background] && plain?.hold == .delay)
    }

    @Test(arguments: [
        "timeZone: CET", "timeZone: Mars/Base", "quietHours: 22", #"quietHours: { from: "22:00" }"#,
        #"quietHours: { from: "22:00", to: "24:00" }"#, #"quietHours: { from: "22:00", to: "22:00" }"#,
        #"quietHours: { from: "22:00", to: "07:00", zone: here }"#,
        #"quietHours: { from: "22:00", to: "07:00", lanes: [slow] }"#,
        #"quietHours: { from: "22:00", to: "07:00", lanes: bulk }"#,
        #"quietHours: { from: "22:00", to: "07:00", outside: drop }"#,
        #"quietHours: { from: "22:00", to: "07:00", until: "08:00" }"#, "receivingWindows: { hold: delay }",
        "frequencyCap: { count: 0, per: 24h }", "frequencyCap: { count: 1001, per: 24h }", "frequencyCap: { count: 5 }",
        "frequencyCap: { count: 5, per: 31d }", "frequencyCap: { count: many, per: 1d }",
        "frequencyCap: { count: 99999999999999999999, per: 1d }",
    ])
    func invalidHoursAreRefused(_ settings: String) {
        do throws(ProvisioningProblem) {
            _ = try app(settings)
            Issue.record("taken: \(settings)")
        } catch {
            #expect(error.path.hasPrefix("tenants[0].apps[0]."), "\(error)")
        }
    }

    @Test func anAppSaysWhichLevelItsMessagesNeed() throws {
        #expect(try read(good).tenants.first?.apps.first?.assurance == AssuranceRules.none)
        #expect(try app("minAssurance: vouched")?.assurance == AssuranceRules(minimum: .vouched))
        let lanes = try app("minAssurance: { transactional: vouched }\n        mixedAssurance: true")?.assurance
        #expect(lanes == AssuranceRules(lanes: [.transactional: .vouched], isMixed: true))
        #expect(lanes?.minimum(for: .transactional) == .vouched && lanes?.minimum(for: .bulk) == .claimed)
    }

    @Test(arguments: [
        "minAssurance: pending", "minAssurance: 2", "minAssurance: { slow: vouched }", "mixedAssurance: maybe",
        "minAssurance: { default: sure }",
    ])
    func invalidLevelsAreRefused(_ settings: String) {
        do throws(ProvisioningProblem) {
            _ = try app(settings)
            Issue.record("taken: \(settings)")
        } catch {
            #expect(error.path.hasPrefix("tenants[0].apps[0]."), "\(error)")
        }
    }

    // A misspelled key, or a time that would break a guarantee (idempotency: 24 h), stops the apply, and the error
    // names its position.
    @Test(arguments: [
        "devices: 30d", "deliveries: 30", "deliveries: d", "deliveries: 0d", "deliveries: -3d", "deliveries: 30w",
        "deliveries: 3651d", "idempotency: 23h", "audit: 29d", "events: 99999999999999999999d", "events: [1d]",
    ])
    func invalidRetentionIsRefused(_ entry: String) {
        do throws(ProvisioningProblem) {
            _ = try read(good + "\n    retention: { \(entry) }")
            Issue.record("taken: \(entry)")
        } catch {
            #expect(error.description.contains("retention.\(entry.split(separator: ":")[0])"), "\(error)")
        }
    }

    @Test(arguments: [
        (
            "kind: apns-token, teamId: ABCDE12345, keyId: KEY1234567, privateKeyFile: key.p8, topics: [com.a]",
            CredentialSecret.signingKey(pem: Array("a key".utf8), topics: ["com.a"])
        ),
        (
            "kind: apns-certificate, pkcs12File: key.p8, passphraseEnv: ACME_KEY",
            .pkcs12(Array("a key".utf8), passphrase: "5c1f0ae69b7d3428f1d0c96e8a7b2354")
        ),
        (
            "kind: apns-certificate, certificateFile: key.p8, privateKeyFile: key.p8",
            .pem(certificate: Array("a key".utf8), privateKey: Array("a key".utf8), passphrase: nil)
        ),
    ])
    func everyKindOfCredentialIsReadAndSurvivesItsSealedForm(_ text: String, _ secret: CredentialSecret) throws {
        let old = "kind: apns-token, teamId: ABCDE12345, keyId: KEY1234567, privateKeyFile: key.p8"
        let yaml = good.replacingOccurrences(of: old, with: text)
        #expect(try read(yaml).tenants.first?.credentials.first?.secret == secret)
        #expect(CredentialSecret(sealedForm: secret.sealedForm) == secret)
    }

    @Test func anUnusableCertificateIsAnsweredWithAdvice() {
        let credential = ProvisioningFile.Credential(
            id: "apple",
            secret: .pkcs12(Array("a key".utf8), passphrase: nil)
        )
        let problem = #expect(throws: ProvisioningProblem.self) { try CredentialCheck.require(credential) }
        #expect(problem?.description.contains("Export the certificate and the key together") == true)
    }

    @Test(arguments: ["{}", "{", "{\"pkcs12\":\"?\"}", "{\"topics\":[]}"])
    func sealedFormOfAnotherShapeIsRefused(_ text: String) {
        #expect(CredentialSecret(sealedForm: Array(text.utf8)) == nil)
    }

    // An id of digits only is text, so it keeps its leading zero.
    @Test func idOfDigitsKeepsItsSpelling() throws {
        let binding = try #require(try read(good).tenants.first?.apps.first?.bindings.first)
        #expect(
            binding.keys.map(\.value) == ["a1b2c3d4-1111-4222-8333-444455556666", "01234567890123456789012345678901"]
        )
    }

    @Test(arguments: [
        ("apps:", "aps:", "tenants[0].aps"),
        ("production: apple", "production: pear", "tenants[0].apps[0].platforms.ios.production"),
        ("topic: com.example.shop, ", "", "tenants[0].apps[0].platforms.ios.topic"),
        ("secretEnv: ACME_KEY", "secretEnv: NOBODY", "tenants[0].apiKeys[0].secretEnv"),
        ("secretEnv: ACME_KEY", "secret: q7Zt0WmXv3LkR9bNcY2aHs5d", "tenants[0].apiKeys[0].secret"),
        ("[send, devices, read]", "[send, fly]", "tenants[0].apiKeys[0].scopes[1]"),
        ("[send, devices, read]", "[\"admin:app/shop\"]", "tenants[0].apiKeys[0].scopes[0]"),
        ("scopes: [send", "networks: [10.0.0.0/8, here], scopes: [send", "tenants[0].apiKeys[0].networks[1]"),
        ("scopes: [send", "recipientsPerDay: 0, scopes: [send", "tenants[0].apiKeys[0].recipientsPerDay"),
        ("scopes: [send", "content: true, scopes: [send", "tenants[0].apiKeys[0].content"),
        ("scopes: [send", "content: false, scopes: [content, send", "tenants[0].apiKeys[0].content"),
        ("scopes: [send", "previousSecretEnv: NOBODY, scopes: [send", "tenants[0].apiKeys[0].previousSecretEnv"),
        ("secretEnv: ACME_KEY", "secret: bank-core-2026", "tenants[0].apiKeys[0].secret"),
        ("privateKeyFile: key.p8", "privateKeyFile: gone.p8", "tenants[0].credentials[0].privateKeyFile"),
        ("rationalowl:", "carrierpigeon:", "tenants[0].apps[0].bindings.carrierpigeon"),
        ("id: acme", "id: a/cme", "tenants[0].id"),
        ("kind: apns-token", "kind: fax", "tenants[0].credentials[0].kind"),
        (
            "kind: apns-token, teamId: ABCDE12345, keyId: KEY1234567, privateKeyFile: key.p8", "kind: apns-certificate",
            "tenants[0].credentials[0]"
        ),
    ])
    func faultNamesItsPosition(_ find: String, _ replace: String, _ path: String) {
        let error = #expect(throws: ProvisioningProblem.self) {
            try read(good.replacingOccurrences(of: find, with: replace))
        }
        #expect(error?.path == path)
    }

    @Test func aKeyIsReadWithItsLimitsAndItsOtherSecret() throws {
        let yaml = good.replacingOccurrences(
            of: "scopes: [send, devices, read]",
            with: "previousSecretEnv: ACME_KEY, networks: [10.0.0.0/8, \"::1\"], scopes: [\"send:app/shop:direct\"]"
        )
        let key = try #require(try read(yaml).tenants.first?.apiKeys.first)
        #expect(
            key.scopes == ["send:direct:app/shop"]
                && key.networks.map(AddressRange.init) == ["10.0.0.0/8", "::1"].map(AddressRange.init)
        )
        #expect(key.previousSecret == key.secret)
    }

    @Test func inlineSecretNeedsTheFlag() throws {
        let yaml = good.replacingOccurrences(of: "secretEnv: ACME_KEY", with: "secret: q7Zt0WmXv3LkR9bNcY2aHs5d")
        #expect(try read(yaml, inline: true).tenants.first?.apiKeys.first?.secret == "q7Zt0WmXv3LkR9bNcY2aHs5d")
    }

    @Test(arguments: ["", "tenants: 5", "- 1", "tenants: [", "a: &x [*x]", "tenants:\n  - id: a\n    id: b\n"])
    func brokenFileIsRefusedOrEmpty(_ yaml: String) {
        _ = try? read(yaml)
    }

    /// Nine levels of anchors, each a list of nine aliases of the one before: 9^9 nodes.
    private static let bomb = (0..<9).map { level in
        let items = Array(repeating: level == 0 ? "x" : "*a\(level - 1)", count: 9).joined(separator: ", ")
        return "k\(level): &a\(level) [\(items)]"
    }.joined(separator: "\n")

    @Test(arguments: [
        "", "\nlast: {*a8 : 1}", "\n*a8 : 1", "\n? *a8\n: 1", "\n[*a8]: 1", "\nlast: [*a8 : 1]",
        "\nlast:\n  - ? [*a8]\n    : 1",
    ])
    func nestedAliasesAreRefused(_ end: String) {
        let error = #expect(throws: ProvisioningProblem.self) { try YAMLTree.parse(Self.bomb + end) }
        #expect(error?.problem.contains("alias") == true || error?.problem.contains("key") == true, "\(error as Any)")
    }

    @Test func anAliasRepeatsAValue() throws {
        let tree = try YAMLTree.parse("base: &b { topic: com.example, list: [1, 2] }\nother: *b\n")
        #expect(tree["other"] == tree["base"] && tree["other"]?["topic"] == "com.example")
        #expect(try YAMLTree.parse("a: 'x *b: c'\nd: [\"*.example.com\"]\n")["d"] == ["*.example.com"])
    }

    @Test func tenantNamedTwiceIsRefused() {
        #expect(throws: ProvisioningProblem.self) { try read("tenants:\n  - id: a\n  - id: a\n") }
    }
}
