import Configuration
import Foundation
import GatewayHTTP
package import Logging
import SystemPackage

/// What a gateway process is told: flags win over the environment, the environment over the YAML file; one name each
/// (`--database-url` = `DATABASE_URL` = `database.url`).
package struct GatewayConfiguration: Sendable {
    /// Where everything of this node lives: embedded cluster, master key, lock.
    package var dataDirectory: String
    /// Nil: the gateway starts and owns a private PostgreSQL.
    package var databaseURL: String?
    /// For the two roles of the gateway on the operator's own database; default: `databaseURL` with `user=` replaced.
    var callDatabaseURL: String?
    var engineDatabaseURL: String?
    package var masterKeyFile: String
    var listen: [ListenAddress]
    var tlsListen: [ListenAddress]
    var tlsCertificateFile: String?
    var tlsKeyFile: String?
    var adminListen: [ListenAddress]
    var addressFile: String?
    package var logLevel: Logger.Level
    /// Webhook targets that may be private: CIDR ranges.
    var webhookAllowedNetworks: [String]
    /// Scales the waits of the retry table; below 1 only against a simulator.
    var retryScale: Double
    /// Seconds a node may hold a slice without a sign of life; what a crash delays a message by.
    var leaseSeconds: Int
    /// Seconds a drain may take after SIGTERM.
    var drainSeconds: Int
    /// Connections to PostgreSQL per role.
    var databaseConnections: Int
    /// Whether to hear the database's notifications. Without, what they say is found by looking, within a second: a pooler that gives a session
    /// away after each transaction loses them.
    var databaseNotify: Bool
    /// Whether short writes that come together share one flush to disk. Not over Citus, whose workers flush for themselves.
    var databaseSharedFlush: Bool

    /// Vendor calls per second that one client address may make in the long run; 0: no limit.
    var callsPerSecond: Double

    /// The plain-text port when nothing else is said.
    static let defaultListen = ListenAddress(host: "127.0.0.1", port: 8080)
    static let defaultAdminListen = ListenAddress(host: "127.0.0.1", port: 8081)

    /// The state directory of the user; for root `/var/lib/push-gateway`, because the cluster runs under another uid, which cannot enter root's home.
    static func defaultDataDirectory(environment: [String: String], isRoot: Bool) -> String {
        if isRoot { return "/var/lib/push-gateway" }
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state + "/push-gateway" }
        return (environment["HOME"] ?? NSHomeDirectory()) + "/.local/state/push-gateway"
    }

    /// Reads all three sources.
    ///
    /// - Parameters:
    ///   - flags: dotted names to their values, as given on the command line.
    ///   - configFile: the YAML file, if one was named.
    /// - Returns: the settings that hold.
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
        masterKeyFile = reader.string(forKey: "master.key.file", default: dataDirectory + "/master.key")
        tlsListen = try settings.addresses("tls.listen", "tls-listen", default: [])
        listen = try settings.addresses("listen", "listen", default: [Self.defaultListen])
        adminListen = try settings.addresses("admin.listen", "admin-listen", default: [Self.defaultAdminListen])
        tlsCertificateFile = reader.string(forKey: "tls.cert")
        tlsKeyFile = reader.string(forKey: "tls.key")
        addressFile = reader.string(forKey: "address.file")
        logLevel = try settings.logLevel("log.level", "log-level")
        webhookAllowedNetworks = settings.list("webhook.allow")
        retryScale = try settings.retryScale("retry.scale", "retry-scale")
        leaseSeconds = min(600, max(2, settings.integer("lease.seconds", default: 30)))
        callsPerSecond = try settings.rate("calls.per.second", "calls-per-second")
        drainSeconds = settings.integer("drain.seconds", default: 25)
        databaseConnections = min(64, max(1, settings.integer("database.connections", default: 6)))
        databaseNotify = try settings.isOn("database.notify", "database-notify")
        databaseSharedFlush = try settings.isOn("database.shared.flush", "database-shared-flush")
        guard tlsListen.isEmpty || (tlsCertificateFile != nil && tlsKeyFile != nil) else {
            throw ConfigurationProblem(setting: "tls-listen", problem: "needs --tls-cert and --tls-key")
        }
    }
}

/// A setting that cannot be used, in words that say which.
package struct ConfigurationProblem: Error, CustomStringConvertible {
    var setting: String
    var problem: String
    package var description: String { "--\(setting): \(problem)" }
}
