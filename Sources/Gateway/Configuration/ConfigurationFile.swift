import Foundation
import Model
import Provisioning

/// Checks the names in the YAML file of settings before the file is used, because a misspelt name must be reported.
enum ConfigurationFile {
    /// Every setting, by its dotted name: `database.url` is `--database-url` and `DATABASE_URL`.
    static let names: Set<String> = [
        "data.dir", "database.url", "database.call.url", "database.engine.url", "database.connections",
        "database.notify", "database.shared.flush", "master.key.file", "master.key.command",
        "listen", "tls.listen", "tls.cert", "tls.key", "tls.client.ca", "tls.client.required", "admin.listen",
        "console.listen", "console.codes.required", "console.password.rounds",
        "address.file",
        "audit.file", "audit.syslog", "audit.ca", "audit.lag.seconds", "run.as", "keys.age.days",
        "log.level", "webhook.allow", "upstream.allow",
        "retry.scale", "lease.seconds", "migration.interval", "drain.seconds", "trusted.proxies", "proxy.protocol",
        "limits.calls", "limits.identities", "limits.unknown", "limits.identity", "limits.user", "limits.phone",
        "limits.proofs.address", "limits.proofs.name", "limits.connections", "limits.bodies.bytes",
        "limits.bodies.wait", "limits.exempt",
        "tracing.endpoint", "tracing.sample", "tracing.headers", "tracing.headers.file", "tracing.ca",
        // Without effect. A node of the previous version may share the file.
        "calls.per.second",
    ]

    /// - Throws: `ConfigurationProblem` that names the unreadable file or the unknown setting.
    static func check(_ path: String) throws(ConfigurationProblem) {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ConfigurationProblem(setting: "config", problem: "\(path) cannot be read")
        }
        let tree: JSON
        do {
            tree = try YAMLTree.parse(String(decoding: data, as: UTF8.self))
        } catch {
            throw ConfigurationProblem(setting: "config", problem: "\(path): \(error)")
        }
        let unknown = leaves(of: tree, under: "").filter { !names.contains($0) }
        guard unknown.isEmpty else {
            throw ConfigurationProblem(
                setting: "config",
                problem: "\(path): unknown setting \(unknown.joined(separator: ", ")); the settings are "
                    + names.sorted().joined(separator: ", ")
            )
        }
    }

    private static func leaves(of tree: JSON, under prefix: String) -> [String] {
        guard case .object(let object) = tree else { return [prefix] }
        return object.pairs.flatMap { pair in
            leaves(of: pair.value, under: prefix.isEmpty ? pair.key : "\(prefix).\(pair.key)")
        }
    }
}
