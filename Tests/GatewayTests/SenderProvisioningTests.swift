import Adapters
import Model
import Testing

@testable import Provisioning

/// The settings of senders and the back ends of a provisioning file, which are read in the same way for every vendor.
struct SenderProvisioningTests {
    private func read(_ bindings: String, keys: String = "") throws -> ProvisioningFile {
        let reader = ProvisioningReader(
            directory: ".",
            environment: ["KEY": "5c1f0ae69b7d3428f1d0c96e8a7b2354", "WEAK": "aaaabbbbccccdddd1234"],
            allowsInlineSecrets: false
        )
        return try reader.read(
            "tenants: [ { id: acme, apiKeys: [\(keys)], apps: [ { id: shop, bindings: { \(bindings) } } ] } ]"
        )
    }

    private func warnings(_ bindings: String, keys: String = "") throws -> [String] {
        SenderWarnings(vendors: .product).warnings(of: try read(bindings, keys: keys))
    }

    @Test(arguments: ["rationalowl: { accountId: a", "upmc: { applicationId: a", "ipns: { appId: a"])
    func everyVendorWithSendersHasTheSameSettings(_ binding: String) throws {
        let settings = "settings: { senderNetworks: [10.0.0.0/8, 'fd00::/8'], openSends: false }"
        let read = try #require(try read("\(binding), \(settings) }").tenants.first?.apps.first?.bindings.first)
        let senders = SenderSettings(BindingSettings(values: read.settings))
        #expect(senders.networks == ["10.0.0.0/8", "fd00::/8"].compactMap { AddressRange($0) } && !senders.isOpen)
        for wrong in [
            "senderNetworks: 10.0.0.0/8", "senderNetworks: [10.0.0.0/33]", "openSends: 'yes'", "openSend: true",
        ] {
            #expect(throws: ProvisioningProblem.self) { try self.read("\(binding), settings: { \(wrong) } }") }
        }
    }

    @Test(arguments: [
        "notificationhubs: { hub: h, keys: [ { name: a, valueEnv: KEY, rights: [send] } ]", "braze: { restKeyEnv: KEY",
    ])
    func aVendorWithoutSendersDoesNotHaveThem(_ binding: String) throws {
        #expect(try warnings("\(binding) }") == [])
        #expect(throws: ProvisioningProblem.self) { try read("\(binding), settings: { openSends: true } }") }
    }

    @Test(arguments: [
        "upmc: { applicationId: a, sendKeyEnv: KEY }", "ipns: { appId: a, settings: { senderNetworks: [10.0.0.0/8] } }",
        "ipns: { appId: a, settings: { senderNetworks: [] } }", "ipns: { appId: a, settings: { openSends: true } }",
        "rationalowl: { accountId: a, settings: { openSends: false } }",
    ])
    func aBindingThatStatesItsSendersIsNotNamed(_ binding: String) throws {
        #expect(try warnings(binding) == [])
    }

    @Test func aBindingWithoutSettingsIsNamedWithThem() throws {
        let warning = try #require(try warnings("upmc: { applicationId: a, authKeySecretEnv: KEY }").first)
        for part in ["tenants[0].apps[0].bindings.upmc", "senderNetworks", "sendKey", "openSends", "no API key"] {
            #expect(warning.contains(part), "\(warning)")
        }
        let keys = "{ name: b, secretEnv: KEY, scopes: [send] }"
        let keyed = try #require(try warnings("ipns: { appId: a }", keys: keys).first)
        #expect(keyed.contains("refused that carry no API key") && !keyed.contains("sendKey"), "\(keyed)")
    }

    @Test(arguments: [
        ("scopes: [read]", true), ("scopes: [send, 'read:app/shop']", true), ("scopes: [read], content: false", false),
        ("scopes: [read, content]", false), ("scopes: [read, 'content:app/shop']", false), ("scopes: [admin]", false),
        ("scopes: [send]", false),
    ])
    func aKeyThatReadsWithoutContentIsNamed(_ scopes: String, _ isNamed: Bool) throws {
        let file = try read("braze: { restKeyEnv: KEY }", keys: "{ name: crm, secretEnv: KEY, \(scopes) }")
        let warnings = ContentWarnings.warnings(of: file)
        #expect(warnings.count == (isNamed ? 1 : 0), "\(warnings)")
        #expect(warnings.allSatisfy { $0.contains("'crm'") && $0.contains("'content: false'") })
    }

    @Test func anAppHasQuotas() throws {
        func quotas(_ text: String) throws -> [Quota: Int]? {
            let reader = ProvisioningReader(directory: ".", environment: [:], allowsInlineSecrets: false)
            let file = try reader.read("tenants: [ { id: acme, apps: [ { id: shop, quotas: \(text) } ] } ]")
            return file.tenants.first?.apps.first?.quotas
        }
        #expect(
            try quotas("{ identities: 100, registrationsPerDay: 10, senders: 3, groups: 7 }")
                == [.identities: 100, .registrationsPerDay: 10, .senders: 3, .groups: 7]
        )
        for wrong in ["{ identities: 0 }", "{ groups: many }", "{ recipientsPerDay: 5 }", "{ devices: 5 }", "5"] {
            #expect(throws: ProvisioningProblem.self) { try quotas(wrong) }
        }
    }

    @Test func aKeyHasALimitOfRecipients() throws {
        let file = try read(
            "braze: { restKeyEnv: KEY }",
            keys: "{ name: a, secretEnv: KEY, recipientsPerDay: 2000000 }"
        )
        #expect(file.tenants.first?.apiKeys.first?.recipientsPerDay == 2_000_000)
    }

    @Test func aKeyOfTheDialectContradictsOpenSends() {
        #expect(throws: ProvisioningProblem.self) {
            try read("upmc: { applicationId: a, sendKeyEnv: KEY, settings: { openSends: true } }")
        }
    }

    @Test func aKeyOfTheDialectThatIsEasyToGuessIsRefused() throws {
        let problem = #expect(throws: ProvisioningProblem.self) {
            try read("upmc: { applicationId: a, sendKeyEnv: WEAK }")
        }
        #expect(problem?.path == "tenants[0].apps[0].bindings.upmc.sendKey")
        #expect(problem?.problem.contains("easy to guess") == true)
    }

    @Test(arguments: [
        ("upmc: { applicationId: a, authKeySecretEnv: WEAK }", "authKey"),
        ("notificationhubs: { hub: h, keys: [ { name: Full, valueEnv: WEAK, rights: [send] } ] }", "Full"),
        (
            "notificationhubs: { hub: h, keys: [ { name: Full, valueEnv: KEY, rights: [send] } ], "
                + "appBackend: { users: [ { name: mina, passwordEnv: WEAK } ] } }", "user/mina"
        ),
    ])
    func aSecretOfABindingThatIsEasyToGuessIsNamedWithoutItsValue(_ binding: String, _ name: String) throws {
        let file = try read(binding)
        let warning = try #require(SecretWarnings(vendors: .product).warnings(of: file).first)
        #expect(warning.contains(name) && warning.contains("easy to guess"), "\(warning)")
        #expect(!warning.contains("aaaabbbb"), "\(warning)")
        let strong = try read(binding.replacing("WEAK", with: "KEY"))
        #expect(SecretWarnings(vendors: .product).warnings(of: strong) == [])
    }

    @Test func backEndsAreRegisteredByTheFile() throws {
        let file = try read("rationalowl: { accountId: a, senders: [ { name: core, id: SVR1 }, { name: shop } ] }")
        let senders = file.tenants.first?.apps.first?.bindings.first?.content.senders
        #expect(senders == [.init(name: "core", id: "SVR1"), .init(name: "shop")])
    }

    @Test(arguments: [
        "[ { id: S } ]", "[ { name: '' } ]", "[ { name: a, id: '' } ]", "[ { name: a, more: 1 } ]", "a",
        "[ { name: a }, { name: a } ]", "[ { name: a, id: S }, { name: b, id: S } ]",
        "[ { name: \(String(repeating: "n", count: 257)) } ]",
        "[ { name: a, id: \(String(repeating: "i", count: 129)) } ]",
    ])
    func anInvalidBackEndIsRefused(_ senders: String) {
        #expect(throws: ProvisioningProblem.self) { try read("rationalowl: { accountId: a, senders: \(senders) }") }
    }
}
