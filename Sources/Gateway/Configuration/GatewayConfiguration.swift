import Configuration
package import EngineStore
import Foundation
import GatewayHTTP
package import Logging
import PostgresClient
package import Secrets
import SystemPackage

/// The settings of a gateway process. Flags override the environment, and the environment overrides the YAML file. All three use one name per setting
/// (`--database-url` = `DATABASE_URL` = `database.url`).
package struct GatewayConfiguration: Sendable {
    /// The directory with all files of this node: embedded cluster, master key, lock.
    package var dataDirectory: String
    /// Nil: the gateway starts and owns a private PostgreSQL.
    package var databaseURL: String?
    /// The database for the gateway's two roles on the operator's own database; default: `databaseURL` with `user=` replaced.
    var callDatabaseURL: String?
    var engineDatabaseURL: String?
    /// The account as which commands of root run. Nil: that of the data directory's owner; for a new directory `push-gateway`, if the machine has it.
    var runAs: String?
    package var masterKeyFile: String
    /// A shell command that prints the master keys, in place of the file.
    package var masterKeyCommand: String?
    var listen: [ListenAddress]
    var tlsListen: [ListenAddress]
    var tlsCertificateFile: String?
    var tlsKeyFile: String?
    /// Authorities whose certificates the clients of the HTTPS listeners show, PEM; nil: clients are not asked for one.
    var tlsClientCAFile: String?
    /// False: clients without a certificate are served too.
    var mustClientsShowCertificate: Bool
    var adminListen: [ListenAddress]
    /// The web console.
    package var console: ConsoleConfiguration
    var addressFile: String?
    /// A file to which the rows of the audit are appended. Nil: none.
    var auditFile: String?
    /// A collector of syslog messages to which the rows of the audit are sent. Nil: none.
    var auditSyslog: SyslogAddress?
    /// Authorities of the collector's certificate, PEM. Nil: those of the system.
    var auditCAFile: String?
    /// Administrative calls and commands are refused while a copy of the audit is behind by more seconds. Nil: never.
    package var auditLagSeconds: Int?
    /// The age in days from which a secret of an API key is refused. Nil: none.
    package var keyAgeDays: Int?
    package var logLevel: Logger.Level
    /// Nil: nothing is traced.
    var tracing: TracingSettings?
    /// CIDR ranges of private addresses that webhooks may target.
    var webhookAllowedNetworks: [String]
    /// Private networks that upstreams may be in. Only there may an upstream be called without TLS.
    var upstreamAllowedNetworks: [String]
    /// CIDR ranges of proxies whose `X-Forwarded-For` or `Forwarded` names the client of a call.
    var trustedProxies: [String]
    /// Whether connections of trusted proxies begin with a header of the PROXY protocol.
    var proxyProtocol: Bool
    /// Scales the delays of the retry table; below 1 only with a simulator.
    var retryScale: Double
    /// Seconds after which an unresponsive node loses its slices: the delay that a crash adds to a message.
    var leaseSeconds: Int
    /// The time between two evaluations of a migration's gates, and between two additions of the counts that they compare.
    var migrationInterval: Duration
    /// The time limit of a drain after SIGTERM, in seconds.
    var drainSeconds: Int
    /// Connections to PostgreSQL per role.
    var databaseConnections: Int
    /// Whether to listen for the database's notifications. Without them, the gateway polls for changes every second. A pooler that shares sessions between
    /// transactions loses notifications.
    var databaseNotify: Bool
    /// Whether short concurrent writes share one flush to disk. Must be off on Citus, where the workers flush their own logs.
    var databaseSharedFlush: Bool

    /// The limits of calls.
    var limits: CallLimitSettings
    /// Whether `calls.per.second` is set, which has no effect since `limits` exist.
    var hasFormerLimit: Bool

    /// The default address of the plain HTTP listener.
    static let defaultListen = ListenAddress(host: "127.0.0.1", port: 8080)
    static let defaultAdminListen = ListenAddress(host: "127.0.0.1", port: 8081)

    /// The user's state directory. For root it is `/var/lib/push-gateway`, because the cluster runs under another uid, which cannot enter root's home.
    static func defaultDataDirectory(environment: [String: String], isRoot: Bool) -> String {
        if isRoot { return "/var/lib/push-gateway" }
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state + "/push-gateway" }
        return (environment["HOME"] ?? NSHomeDirectory()) + "/.local/state/push-gateway"
    }

    /// Reads and merges the three sources.
    ///
    /// - Parameters:
    ///   - flags: dotted names with their values, as given on the command line.
    ///   - configFile: the YAML file, if one was given.
    /// - Returns: the effective settings.
    /// - Throws: `ConfigurationProblem` that names the setting, or the file reader's error.
    package static func load(flags: [String: String], configFile: String?) async throws -> GatewayConfiguration {
        let values = Dictionary(
            flags.map {
                (
                    AbsoluteConfigKey($0.key.split(separator: ".").map(String.init)),
                    ConfigValue(.string($0.value), isSecret: false)
                )
            },
            uniquingKeysWith: { $1 }
        )
        var providers: [any ConfigProvider] = [InMemoryProvider(values: values), EnvironmentVariablesProvider()]
        if let configFile {
            try ConfigurationFile.check(configFile)
            providers.append(try await FileProvider<YAMLSnapshot>(filePath: FilePath(configFile)))
        }
        return try GatewayConfiguration(ConfigReader(providers: providers))
    }

    /// Where the master keys come from.
    package var masterKeySource: MasterKeySource { masterKeyCommand.map { .command($0) } ?? .file(masterKeyFile) }

    /// Whether a connection string contains a password. As an argument, it is visible to all users of the machine.
    package static func hasPassword(_ connectionString: String) -> Bool {
        let environment = try? PostgresConfiguration.environment(of: connectionString)
        return environment?["PGPASSWORD"]?.isEmpty == false
    }

    /// - Throws: `ConfigurationProblem` that names the setting.
    init(_ reader: ConfigReader) throws(ConfigurationProblem) {
        let settings = SettingReader(reader: reader)
        let environment = ProcessInfo.processInfo.environment
        dataDirectory = reader.string(
            forKey: "data.dir",
            default: Self.defaultDataDirectory(environment: environment, isRoot: getuid() == 0)
        )
        databaseURL = reader.string(forKey: "database.url", isSecret: true)
        callDatabaseURL = reader.string(forKey: "database.call.url", isSecret: true)
        engineDatabaseURL = reader.string(forKey: "database.engine.url", isSecret: true)
        runAs = reader.string(forKey: "run.as")
        masterKeyFile = reader.string(forKey: "master.key.file", default: dataDirectory + "/master.key")
        masterKeyCommand = reader.string(forKey: "master.key.command")
        tlsListen = try settings.addresses("tls.listen", "tls-listen", default: [])
        listen = try settings.addresses("listen", "listen", default: [Self.defaultListen])
        adminListen = try settings.addresses("admin.listen", "admin-listen", default: [Self.defaultAdminListen])
        tlsCertificateFile = reader.string(forKey: "tls.cert")
        tlsKeyFile = reader.string(forKey: "tls.key")
        tlsClientCAFile = reader.string(forKey: "tls.client.ca")
        mustClientsShowCertificate = try settings.isOn("tls.client.required", "tls-client-required")
        addressFile = reader.string(forKey: "address.file")
        auditFile = reader.string(forKey: "audit.file")
        auditSyslog = try Self.syslog(reader.string(forKey: "audit.syslog"))
        auditCAFile = reader.string(forKey: "audit.ca")
        auditLagSeconds = try settings.number("audit.lag.seconds", "audit-lag-seconds", in: Self.auditLag)
        keyAgeDays = try settings.number("keys.age.days", "keys-age-days", in: Self.keyAges)
        logLevel = try settings.logLevel("log.level", "log-level")
        tracing = try TracingSettings(reader)
        webhookAllowedNetworks = settings.list("webhook.allow")
        upstreamAllowedNetworks = settings.list("upstream.allow")
        trustedProxies = settings.list("trusted.proxies")
        proxyProtocol = try settings.isOn("proxy.protocol", "proxy-protocol", default: false)
        retryScale = try settings.retryScale("retry.scale", "retry-scale")
        leaseSeconds = min(600, max(2, settings.integer("lease.seconds", default: 30)))
        migrationInterval = .seconds(
            try settings.number("migration.interval", "migration-interval", in: Self.migrationIntervals) ?? 30
        )
        limits = try CallLimitSettings(settings)
        hasFormerLimit = Self.hasFormerLimit(reader)
        drainSeconds = settings.integer("drain.seconds", default: 25)
        databaseConnections = min(64, max(1, settings.integer("database.connections", default: 6)))
        databaseNotify = try settings.isOn("database.notify", "database-notify")
        databaseSharedFlush = try settings.isOn("database.shared.flush", "database-shared-flush")
        console = try ConsoleConfiguration(settings)
        try console.check(hasTLS: tlsCertificateFile != nil && tlsKeyFile != nil, hasProxies: !trustedProxies.isEmpty)
        try checkAudit()
        guard masterKeyCommand == nil || reader.string(forKey: "master.key.file") == nil else {
            throw ConfigurationProblem(setting: "master-key-command", problem: "excludes --master-key-file")
        }
        guard tlsListen.isEmpty || (tlsCertificateFile != nil && tlsKeyFile != nil) else {
            throw ConfigurationProblem(setting: "tls-listen", problem: "needs --tls-cert and --tls-key")
        }
        guard !proxyProtocol || !trustedProxies.isEmpty else {
            throw ConfigurationProblem(
                setting: "proxy-protocol",
                problem: "needs --trusted-proxies with the networks of the proxies"
            )
        }
    }

    private static func hasFormerLimit(_ reader: ConfigReader) -> Bool {
        reader.string(forKey: "calls.per.second") != nil || reader.double(forKey: "calls.per.second") != nil
    }

    private static func syslog(_ text: String?) throws(ConfigurationProblem) -> SyslogAddress? {
        guard let text else { return nil }
        guard let address = SyslogAddress(text) else {
            throw ConfigurationProblem(
                setting: "audit-syslog",
                problem: "must be tcp://host:port, tls://host:port or unix:/path"
            )
        }
        return address
    }

    private func checkAudit() throws(ConfigurationProblem) {
        guard auditLagSeconds != nil else { return }
        guard auditFile != nil || auditSyslog != nil else {
            throw ConfigurationProblem(setting: "audit-lag-seconds", problem: "needs --audit-file or --audit-syslog")
        }
    }

    /// At least a minute: a healthy copy is a few seconds behind, and 30 more when another node takes over.
    private static let auditLag = 60...86_400
    /// Ten years at most: a longer age is none.
    private static let keyAges = 1...3650
    /// An hour at most: a failure must be found by two evaluations.
    private static let migrationIntervals = 1...3600

    /// The configured copies of the audit.
    package var auditCopies: [AuditCopy] {
        (auditFile == nil ? [] : [.file]) + (auditSyslog == nil ? [] : [.collector])
    }
}

/// An unusable setting, with a message that names it.
package struct ConfigurationProblem: Error, CustomStringConvertible {
    var setting: String
    var problem: String
    package var description: String { "--\(setting): \(problem)" }
}
