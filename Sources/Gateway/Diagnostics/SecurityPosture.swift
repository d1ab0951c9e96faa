package import EngineStore
import Foundation
import GatewayHTTP
package import Model
import PostgresClient
package import Secrets

/// Finds the weak points of an installation: open surfaces, weak settings, missing limits. Pure: facts go in, findings come out.
package struct SecurityPosture: Sendable {
    /// 90 days without a use: the key is probably forgotten.
    static let idleKeyDays = 90

    let configuration: GatewayConfiguration
    let vendors: VendorCatalog
    let bindings: [StoredBinding]
    let keys: [StoredKey]
    /// The database's time.
    let now: Timestamp
    /// The form of the master key that seals.
    let masterKeyForm: MasterKey.Form
    let isRoot: Bool

    package init(
        configuration: GatewayConfiguration,
        vendors: VendorCatalog,
        bindings: [StoredBinding],
        keys: [StoredKey],
        now: Timestamp,
        masterKeyForm: MasterKey.Form = .derived,
        isRoot: Bool
    ) {
        self.configuration = configuration
        self.vendors = vendors
        self.bindings = bindings
        self.keys = keys
        self.now = now
        self.masterKeyForm = masterKeyForm
        self.isRoot = isRoot
    }

    /// All findings, the worst first.
    package var findings: [SecurityFinding] {
        let all = listeners + limits + host + keys.flatMap(findings) + apps + bindings.flatMap(findings)
        return RiskLevel.allCases.reversed().flatMap { level in all.filter { $0.level == level } }
    }

    // MARK: The node

    private func node(_ level: RiskLevel, _ finding: String, _ consequence: String, _ remedy: String) -> SecurityFinding
    {
        SecurityFinding(
            level: level,
            place: "node",
            finding: finding,
            consequence: consequence,
            remedy: remedy
        )
    }

    private var listeners: [SecurityFinding] {
        var found: [SecurityFinding] = []
        if let open = configuration.listen.first(where: { !$0.isLoopback }) {
            found.append(
                node(
                    configuration.trustedProxies.isEmpty ? .high : .low,
                    "listen is \(open), without TLS",
                    "Keys, push tokens and messages cross the network in clear text.",
                    "Use tls.listen, or listen on 127.0.0.1 behind a proxy with TLS."
                )
            )
        }
        if let open = configuration.adminListen.first(where: { !$0.isLoopback }) {
            found.append(
                node(
                    .medium,
                    "admin.listen is \(open), without TLS or a key",
                    "Anyone who reaches it reads the metrics, with the names of tenants and apps.",
                    "Listen on an address that only the monitoring reaches."
                )
            )
        }
        if configuration.trustedProxies.contains(where: { AddressRange($0)?.prefixLength == 0 }) {
            found.append(
                node(
                    .high,
                    "trusted.proxies contains every address",
                    "Every caller chooses the address that limits and source networks judge.",
                    "List the addresses of your proxies only."
                )
            )
        }
        return found
    }

    private var limits: [SecurityFinding] {
        let limits = configuration.limits
        var found: [SecurityFinding] = []
        // `limits.calls` does not switch this limit off.
        if limits.bodyBytes == 0 {
            found.append(
                node(
                    .medium,
                    "limits.bodies.bytes is off",
                    "A few callers with large bodies can use up the memory of the node.",
                    "Remove it, or set a number of bytes that the node has room for."
                )
            )
        }
        guard limits.isOn else {
            found.append(
                node(
                    .medium,
                    "limits.calls is off",
                    "One address can register any number of devices and try any number of secrets.",
                    "Remove it, and list the networks of bulk back ends in limits.exempt."
                )
            )
            return found
        }
        // Shorter than what one operator has: /8 for IPv4, /32 for IPv6.
        found += limits.exempt.filter { $0.prefixLength < ($0.address.isV4 ? 8 : 32) }.map { network in
            node(
                .medium,
                "limits.exempt contains \(network)",
                "Most callers of the internet are there, and may register and try secrets without a limit.",
                "List the networks of bulk back ends only."
            )
        }
        var off = CallLimitSettings.standardRates.keys.filter { limits.rates[$0] == nil }.map {
            "limits.\($0.rawValue)"
        }
        if limits.addressFailures == 0 { off.append("limits.proofs.address") }
        if limits.nameFailures == 0 { off.append("limits.proofs.name") }
        if limits.connections == nil { off.append("limits.connections") }
        return found
            + off.sorted().map { name in
                node(
                    .low,
                    "\(name) is off",
                    "One address can use up more than its share of the gateway.",
                    "Remove it, or set a number (docs/security.md)."
                )
            }
    }

    private var host: [SecurityFinding] {
        var found: [SecurityFinding] = []
        if isRoot {
            found.append(
                node(
                    .medium,
                    "the process runs as root",
                    "A fault of the gateway or of a library gives its attacker the whole machine.",
                    "Name an account of its own with run.as (docs/operations.md#the-account)."
                )
            )
        }
        if let mode = weakDatabaseTLS {
            found.append(
                node(
                    .medium,
                    "sslmode of database.url is \(mode)",
                    "Whoever is in the network between can read and change what the gateway stores.",
                    "Set sslmode=verify-full and sslrootcert in database.url."
                )
            )
        }
        if !configuration.webhookAllowedNetworks.isEmpty {
            found.append(
                node(
                    .low,
                    "webhook.allow is \(configuration.webhookAllowedNetworks.joined(separator: ", "))",
                    "Whoever may create a webhook makes the gateway call these private addresses.",
                    "List single addresses, and give the scope admin to few keys."
                )
            )
        }
        if !configuration.upstreamAllowedNetworks.isEmpty {
            found.append(
                node(
                    .low,
                    "upstream.allow is \(configuration.upstreamAllowedNetworks.joined(separator: ", "))",
                    "Whoever may create a credential makes the gateway call these private addresses, also without TLS.",
                    "List single addresses, and give the scope admin to few keys."
                )
            )
        }
        if masterKeyForm == .raw {
            found.append(
                node(
                    .low,
                    "the master key has the form of the first versions",
                    "The same key encrypts the secrets and derives others, and was perhaps never replaced.",
                    "Replace it while the nodes run: push-gateway master-key rotate (docs/operations.md)."
                )
            )
        }
        if configuration.auditCopies.isEmpty {
            found.append(
                node(
                    .low,
                    "neither audit.file nor audit.syslog is set",
                    "Whoever owns the database can remove the whole audit.",
                    "Set audit.syslog, or set audit.file and let another system collect the file."
                )
            )
        }
        return found
    }

    /// The `sslmode` below verify-full of a database that another machine may run. Nil: it is safe, local or embedded.
    private var weakDatabaseTLS: String? {
        guard let url = configuration.databaseURL else { return nil }
        let facts = ConnectionFacts(url)
        guard !facts.isLocal, facts.sslMode != "verify-full" else { return nil }
        return facts.sslMode ?? "prefer, the default"
    }

    // MARK: Keys

    private func findings(_ key: StoredKey) -> [SecurityFinding] {
        if let end = key.expiresAt, end <= now { return [] }
        let place = "\(key.tenant) key \(key.name)"
        var found: [SecurityFinding] = []
        if key.networks.isEmpty {
            let isAdmin = KeyScopes(key.scopes).apps(.admin) == .all
            found.append(
                SecurityFinding(
                    level: isAdmin ? .medium : .low,
                    place: place,
                    finding: "scopes \(key.scopes.joined(separator: ", ")) from every network",
                    consequence: isAdmin
                        ? "Whoever gets the key controls the tenant from anywhere."
                        : "Whoever gets the key can use it from anywhere.",
                    remedy: "Give the key networks."
                )
            )
        }
        found += oldSecrets(key, place)
        let used = key.lastUsedAt ?? key.createdAt
        if now > used + .seconds(Int64(Self.idleKeyDays) * 86_400) {
            found.append(
                SecurityFinding(
                    level: .low,
                    place: place,
                    finding: "not used for \(Self.idleKeyDays) days",
                    consequence: "Nobody would notice its loss.",
                    remedy: "Revoke it: push-gateway key revoke \(key.name) --tenant \(key.tenant)."
                )
            )
        }
        if key.hasPrevious, key.previousUntil == nil {
            found.append(
                SecurityFinding(
                    level: .low,
                    place: place,
                    finding: "its previousSecret has no end",
                    consequence: "The secret that was replaced stays valid.",
                    remedy: "Remove previousSecret from the provisioning file when the callers have changed."
                )
            )
        }
        return found
    }

    /// 14 days before its end, a secret is named: rotations need time.
    private static let ageNoticeDays: Int64 = 14

    /// The secrets of a key that `keys.age.days` refuses, or will refuse soon.
    private func oldSecrets(_ key: StoredKey, _ place: String) -> [SecurityFinding] {
        guard let limit = configuration.keyAgeDays.map({ Int64($0) }) else { return [] }
        func finding(_ secret: String, since: Timestamp, _ remedy: String) -> SecurityFinding? {
            let age = (now.milliseconds - since.milliseconds) / 86_400_000
            guard age + Self.ageNoticeDays >= limit else { return nil }
            return SecurityFinding(
                level: .low,
                place: place,
                finding: "its \(secret) is \(age) days old, and keys.age.days is \(limit)",
                consequence: age >= limit ? "Calls with it are refused." : "Calls with it will be refused.",
                remedy: remedy
            )
        }
        let rotate = "push-gateway key rotate \(key.name) --tenant \(key.tenant), or the file"
        var found = [
            finding("secret", since: key.secretAt ?? key.createdAt, "Give the key a new secret: \(rotate).")
        ]
        let previous = key.previousAt ?? key.createdAt
        // Without a finding if it ends before it is too old.
        if key.hasPrevious, key.previousUntil.map({ $0 > previous + .seconds(limit * 86_400) }) ?? true {
            found.append(finding("previous secret", since: previous, "Give its callers the key's new secret."))
        }
        return found.compactMap { $0 }
    }

    // MARK: Apps and bindings

    /// Apps whose users are only what devices claim, and apps that send to unconfirmed devices of confirmed users.
    private var apps: [SecurityFinding] {
        var seen: Set<String> = []
        return bindings.filter { hasClaimedUsers($0.vendor) && seen.insert("\($0.tenant)/\($0.app)").inserted }
            .flatMap { binding -> [SecurityFinding] in
                let place = "\(binding.tenant)/\(binding.app)"
                var found: [SecurityFinding] = []
                if binding.assurance.minimum(for: .transactional) == .claimed {
                    found.append(
                        SecurityFinding(
                            level: .medium,
                            place: place,
                            finding: "minAssurance is claimed",
                            consequence:
                                "A message to a user without a confirmed device goes to any device that claims to be that user's.",
                            remedy:
                                "Confirm users from the back end (POST /v1/identities/{identity}/vouch), then set minAssurance to vouched, at least for the lane transactional."
                        )
                    )
                }
                if binding.assurance.isMixed {
                    found.append(
                        SecurityFinding(
                            level: .medium,
                            place: place,
                            finding: "mixedAssurance is true",
                            consequence:
                                "A message to a confirmed user also goes to devices that claim to be that user's.",
                            remedy: "Remove it when the back end has confirmed the users."
                        )
                    )
                }
                return found
            }
    }

    /// Whether devices of the vendor state their own user.
    private func hasClaimedUsers(_ vendor: Vendor) -> Bool {
        vendors.provisioned[vendor]?.bindingForm.settings.all.contains { $0.name == IdentitySettings.movesKey } ?? false
    }

    private func findings(_ binding: StoredBinding) -> [SecurityFinding] {
        guard let vendor = vendors.provisioned[binding.vendor] else { return [] }
        return proxiedSenders(binding)
            + vendor.allSettings.risks(in: binding.settings).map { setting, risk, value in
                SecurityFinding(
                    level: risk.level,
                    place: "\(binding.tenant)/\(binding.app) \(binding.vendor)",
                    finding: "\(setting.name) is \(Self.text(value, of: setting))",
                    consequence: risk.consequence,
                    remedy: risk.remedy
                )
            }
    }

    private static let ownMachine = ["127.0.0.0/8", "::1"].compactMap { AddressRange($0) }

    /// A network of senders that contains this machine while no proxy is trusted: the address of a proxy on it would admit everybody. A network of all addresses
    /// has its own finding.
    private func proxiedSenders(_ binding: StoredBinding) -> [SecurityFinding] {
        guard configuration.trustedProxies.isEmpty else { return [] }
        let networks = SenderSettings(BindingSettings(values: binding.settings)).networks.filter { network in
            network.prefixLength > 0 && Self.ownMachine.contains { $0.contains(network) || network.contains($0) }
        }
        return networks.prefix(1).map { network in
            SecurityFinding(
                level: .medium,
                place: "\(binding.tenant)/\(binding.app) \(binding.vendor)",
                finding: "\(SenderSettings.networksKey) contains \(network), and trusted.proxies is empty",
                consequence:
                    "If a proxy on this machine forwards calls, all have its address, so that anyone can send to all users.",
                remedy: "List the proxy in trusted.proxies, or give the back ends on this machine API keys."
            )
        }
    }

    /// A short form of a value: lists and objects may contain secrets.
    private static func text(_ value: JSON?, of setting: VendorSetting) -> String {
        switch value {
        case nil: setting.standard.map { "\($0), the default" } ?? "not set"
        case .array, .object: "set"
        case let value?: value.lenientString ?? JSONWriter.text(value)
        }
    }
}

/// The properties of a libpq connection string that decide about its safety.
struct ConnectionFacts: Sendable, Hashable {
    /// Nil: not given.
    var sslMode: String?
    /// A socket, or an address of this machine.
    var isLocal: Bool

    /// - Parameter text: a URL or conninfo string; a malformed one counts as a local socket, because nothing can connect with it.
    init(_ text: String) {
        let settings = (try? PostgresConfiguration.environment(of: text)) ?? [:]
        sslMode = settings["PGSSLMODE"]
        let hosts = (settings["PGHOST"] ?? "").split(separator: ",").map(String.init)
        isLocal = hosts.allSatisfy { host in
            host.hasPrefix("/") || host == "localhost" || host == "[::1]" || host == "::1" || host.hasPrefix("127.")
        }
    }
}
