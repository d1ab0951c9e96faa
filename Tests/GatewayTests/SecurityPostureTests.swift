import Adapters
import Foundation
import Model
import Testing

@testable import EngineStore
@testable import Gateway
@testable import Secrets

/// The findings of `doctor --security`.
struct SecurityPostureTests {
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)

    /// The findings as `level place: finding`.
    private func findings(
        flags: [String: String] = ["audit.file": "audit.jsonl"],
        bindings: [StoredBinding] = [],
        keys: [StoredKey] = [],
        masterKeyForm: MasterKey.Form = .derived,
        isRoot: Bool = false
    ) async throws -> [String] {
        let posture = SecurityPosture(
            configuration: try await GatewayConfiguration.load(flags: flags, configFile: nil),
            vendors: .product,
            bindings: bindings,
            keys: keys,
            now: Self.now,
            masterKeyForm: masterKeyForm,
            isRoot: isRoot
        )
        for finding in posture.findings {
            #expect(finding.consequence.hasSuffix(".") && finding.remedy.hasSuffix("."), "\(finding)")
        }
        return posture.findings.map { "\($0.level) \($0.place): \($0.finding)" }
    }

    private func key(
        _ scopes: [String],
        networks: [String] = ["10.0.0.0/8"],
        usedDaysAgo: Int64? = 1,
        hasPrevious: Bool = false,
        expiresAt: Timestamp? = nil,
        secretDaysAgo: Int64? = nil,
        previousDaysAgo: Int64? = nil,
        previousDaysLeft: Int64? = nil
    ) -> StoredKey {
        StoredKey(
            id: UUID(),
            tenant: "acme",
            name: "crm",
            scopes: scopes,
            createdAt: Self.now + .seconds(-200 * 86_400),
            expiresAt: expiresAt,
            lastUsedAt: usedDaysAgo.map { Self.now + .seconds(-$0 * 86_400) },
            networks: networks,
            hasPrevious: hasPrevious,
            previousUntil: previousDaysLeft.map { Self.now + .seconds($0 * 86_400) },
            isProvisioned: true,
            secretAt: secretDaysAgo.map { Self.now + .seconds(-$0 * 86_400) },
            previousAt: previousDaysAgo.map { Self.now + .seconds(-$0 * 86_400) }
        )
    }

    private func binding(
        _ vendor: Vendor,
        _ settings: JSONObject,
        _ assurance: AssuranceRules = AssuranceRules(minimum: .vouched)
    ) -> StoredBinding {
        StoredBinding(tenant: "acme", app: "shop", vendor: vendor, settings: settings, assurance: assurance)
    }

    @Test func theDefaultsOfALocalNodeHaveNoFinding() async throws {
        #expect(try await findings().isEmpty)
        #expect(try await findings(keys: [key(["admin"])], isRoot: false).isEmpty)
    }

    @Test(arguments: [
        (["listen": "0.0.0.0:8080"], "high node: listen is 0.0.0.0:8080, without TLS"),
        (["listen": "0.0.0.0:8080", "trusted.proxies": "10.0.0.1"], "low node: listen is 0.0.0.0:8080, without TLS"),
        (["admin.listen": ":8081"], "medium node: admin.listen is 0.0.0.0:8081, without TLS or a key"),
        (["trusted.proxies": "0.0.0.0/0"], "high node: trusted.proxies contains every address"),
        (["webhook.allow": "10.0.0.0/8"], "low node: webhook.allow is 10.0.0.0/8"),
        (
            ["database.url": "postgresql://db.example/gateway"],
            "medium node: sslmode of database.url is prefer, the default"
        ),
        (
            ["database.url": "host=db.example sslmode=require password='a b'"],
            "medium node: sslmode of database.url is require"
        ),
    ])
    func weakSettingsOfTheNodeAreNamed(_ flags: [String: String], _ finding: String) async throws {
        #expect(try await findings(flags: flags.merging(["audit.file": "a"]) { $1 }) == [finding])
    }

    @Test(arguments: [
        "postgresql://db.example/gateway?sslmode=verify-full", "host=db.example sslmode='verify-full'",
        "host=/run/postgresql user=x", "postgresql://localhost/x", "dbname=x", "postgresql:///x?host=/tmp",
    ])
    func aVerifiedOrLocalDatabaseIsFine(_ url: String) async throws {
        #expect(try await findings(flags: ["database.url": url, "audit.file": "a"]).isEmpty)
    }

    @Test func aMissingAuditFileAndRootAreNamed() async throws {
        #expect(
            try await findings(flags: [:], isRoot: true)
                == ["medium node: the process runs as root", "low node: neither audit.file nor audit.syslog is set"]
        )
    }

    @Test func aMasterKeyOfTheFirstVersionsIsNamed() async throws {
        #expect(
            try await findings(masterKeyForm: .raw)
                == ["low node: the master key has the form of the first versions"]
        )
    }

    @Test func keysWithoutNetworksUnusedOnesAndSecondSecretsAreNamed() async throws {
        #expect(
            try await findings(keys: [key(["admin"], networks: [])])
                == ["medium acme key crm: scopes admin from every network"]
        )
        #expect(
            try await findings(keys: [key(["send", "read"], networks: [], hasPrevious: true)])
                == [
                    "low acme key crm: scopes send, read from every network",
                    "low acme key crm: its previousSecret has no end",
                ]
        )
        #expect(
            try await findings(keys: [key(["read"], usedDaysAgo: nil)]) == ["low acme key crm: not used for 90 days"]
        )
        #expect(try await findings(keys: [key(["admin"], networks: [], expiresAt: Self.now)]).isEmpty, "expired")
    }

    // The key of the tests was created 200 days ago.
    @Test(
        arguments: [
            (nil, 90, "200 days old, and keys.age.days is 90"), (200, 200, "200 days old, and keys.age.days is 200"),
            (80, 90, "80 days old, and keys.age.days is 90"), (70, 90, nil), (1, 365, nil), (nil, nil, nil),
        ] as [(Int64?, Int?, String?)]
    )
    func secretsThatAreTooOldAreNamed(_ secretDaysAgo: Int64?, _ limit: Int?, _ finding: String?) async throws {
        var flags = ["audit.file": "a"]
        flags["keys.age.days"] = limit.map(String.init)
        let found = try await findings(flags: flags, keys: [key(["read"], secretDaysAgo: secretDaysAgo)])
        #expect(found == (finding.map { ["low acme key crm: its secret is \($0)"] } ?? []))
    }

    // A young secret and a previous one with 30 days left, or none. Unit: days.
    @Test(
        arguments: [
            (100, 30, "100 days old, and keys.age.days is 90"), (nil, 30, "200 days old, and keys.age.days is 90"),
            (80, 30, "80 days old, and keys.age.days is 90"), (80, 5, nil), (70, 30, nil),
        ] as [(Int64?, Int64, String?)]
    )
    func aPreviousSecretThatIsTooOldIsNamed(_ daysAgo: Int64?, _ daysLeft: Int64, _ finding: String?) async throws {
        let twice = key(
            ["read"],
            hasPrevious: true,
            secretDaysAgo: 1,
            previousDaysAgo: daysAgo,
            previousDaysLeft: daysLeft
        )
        let found = try await findings(flags: ["audit.file": "a", "keys.age.days": "90"], keys: [twice])
        #expect(found == (finding.map { ["low acme key crm: its previous secret is \($0)"] } ?? []))
    }

    @Test(
        arguments: [
            (Vendor.rationalOwl, ["openSends": true], ["high acme/shop rationalowl: openSends is true"]),
            (.rationalOwl, ["senderNetworks": ["0.0.0.0/0"]], ["high acme/shop rationalowl: senderNetworks is set"]),
            (.rationalOwl, ["senderNetworks": ["10.0.0.0/8"]], []), (.rationalOwl, [:], []),
            (
                .rationalOwl, ["auth": ["testCodes": ["+821": "1234"]], "unregisterByPhone": true],
                [
                    "medium acme/shop rationalowl: unregisterByPhone is true",
                    "medium acme/shop rationalowl: auth.testCodes is set",
                ]
            ),
            (
                .upmc, [:],
                [
                    "medium acme/shop upmc: groupsByUser is true, the default",
                    "low acme/shop upmc: security.using is false, the default",
                ]
            ),
            (
                .upmc,
                [
                    "security": ["using": "true"], "history": ["cuidAlone": "true"], "receiptsByUser": true,
                    "groupsByUser": "false",
                ],
                ["high acme/shop upmc: history.cuidAlone is true", "medium acme/shop upmc: receiptsByUser is true"]
            ),
            (.ipns, ["historyScope": "all"], ["high acme/shop ipns: historyScope is all"]),
            (.ipns, ["userMoves": "allow"], ["medium acme/shop ipns: userMoves is allow"]),
            (.ipns, ["userMoves": "vouch", "historyScope": "sinceRegistration"], []),
            (.ipns, ["deviceIdAlone": true], ["high acme/shop ipns: deviceIdAlone is true"]), (.ipns, [:], []),
            (.notificationHubs, ["listenMayTag": true], ["high acme/shop notificationhubs: listenMayTag is true"]),
            (.braze, [:], ["medium acme/shop braze: authentication is disabled, the default"]),
            (
                .braze, ["authentication": "required", "switchByToken": true, "origins": ["*"]],
                ["low acme/shop braze: origins is set", "low acme/shop braze: switchByToken is true"]
            ),
        ] as [(Vendor, JSONObject, [String])]
    )
    func settingsThatOpenABindingAreNamed(_ vendor: Vendor, _ settings: JSONObject, _ expected: [String]) async throws {
        #expect(try await findings(bindings: [binding(vendor, settings)]) == expected)
    }

    @Test func anAppWithClaimedUsersIsNamedOnce() async throws {
        let claimed = [binding(.ipns, [:], .none), binding(.rationalOwl, [:], .none)]
        #expect(try await findings(bindings: claimed) == ["medium acme/shop: minAssurance is claimed"])
        let lane = AssuranceRules(minimum: .claimed, lanes: [.transactional: .vouched], isMixed: true)
        #expect(
            try await findings(bindings: [binding(.ipns, [:], lane)]) == ["medium acme/shop: mixedAssurance is true"]
        )
    }

    @Test func limitsThatAreOffAreNamed() async throws {
        #expect(
            try await findings(flags: ["limits.calls": "off", "audit.file": "a"])
                == ["medium node: limits.calls is off"]
        )
        #expect(
            try await findings(
                flags: ["limits.identities": "off", "limits.connections": "0", "audit.file": "a"]
            ) == ["low node: limits.connections is off", "low node: limits.identities is off"]
        )
        // The room of large bodies has a switch of its own.
        let bodies = "medium node: limits.bodies.bytes is off"
        #expect(try await findings(flags: ["limits.bodies.bytes": "0", "audit.file": "a"]) == [bodies])
        #expect(
            try await findings(flags: ["limits.bodies.bytes": "off", "limits.calls": "off", "audit.file": "a"])
                == [bodies, "medium node: limits.calls is off"]
        )
    }

    @Test(arguments: [
        ("0.0.0.0/0", true), ("128.0.0.0/1", true), ("::/0", true), ("2001::/16", true), ("10.0.0.0/8", false),
        ("2001:db8::/32", false), ("192.0.2.7", false),
    ])
    func exceptionsFromLimitsThatCoverTheInternetAreNamed(_ network: String, _ isNamed: Bool) async throws {
        let found = try await findings(flags: ["limits.exempt": network, "audit.file": "a"])
        let range = try #require(AddressRange(network))
        #expect(found == (isNamed ? ["medium node: limits.exempt contains \(range)"] : []))
    }

    // A proxy on this machine that is not trusted makes everybody a sender.
    @Test(
        arguments: [
            (["127.0.0.1"], nil, "127.0.0.1/32"), (["10.0.0.0/8", "127.0.0.0/8"], nil, "127.0.0.0/8"),
            (["::1"], nil, "0:0:0:0:0:0:0:1/128"), (["::/1"], nil, "0:0:0:0:0:0:0:0/1"),
            (["127.0.0.1"], "127.0.0.1", nil),
            (["10.0.0.0/8", "fd00::/8"], nil, nil), ([], nil, nil),
        ] as [([JSON], String?, String?)]
    )
    func senderNetworksThatContainAnUntrustedProxyAreNamed(
        _ networks: [JSON],
        _ proxies: String?,
        _ named: String?
    ) async throws {
        var flags = ["audit.file": "a"]
        flags["trusted.proxies"] = proxies
        let bound = [binding(.rationalOwl, ["senderNetworks": .array(networks)])]
        let place = "medium acme/shop rationalowl"
        #expect(
            try await findings(flags: flags, bindings: bound)
                == (named.map { ["\(place): senderNetworks contains \($0), and trusted.proxies is empty"] } ?? [])
        )
    }
}
