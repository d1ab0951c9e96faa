import ArgumentParser
import CommandSupport
import EngineStore
import Foundation
import Gateway
import Model
import Provisioning
import Secrets
import Store

/// Applies a provisioning file in one transaction.
struct Apply: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Apply a provisioning file: tenants, keys, credentials, apps, bindings.",
        discussion:
            "Idempotent. Objects of its tenants that an earlier file created and this one does not list are removed. Objects of the API stay, and a file that lists one is refused. A running gateway applies the changes within a second."
    )

    @Option(name: [.short, .long], help: "The provisioning file (YAML).")
    var file: String

    @Flag(
        help:
            "Permit secrets inside the file. Such secrets are copied to backups and version histories; prefer files or the environment."
    )
    var allowInlineSecrets = false

    @Flag(help: "Print the result as JSON.")
    var json = false

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let summary = try await common.withDatabase(isAudited: true) { configuration, database in
            let directory = PostgresDirectory(call: database.call, engine: database.engine)
            let provisioner = Provisioner(
                store: PostgresProvisioningStore(engine: database.engine),
                directory: directory,
                keyRing: try await database.keyRing(configuration)
            )
            do {
                return try await provisioner.apply(
                    fileAt: file,
                    allowsInlineSecrets: allowInlineSecrets,
                    by: .provisioning(by: common.by)
                )
            } catch let problem as ProvisioningProblem {
                throw CommandFailure("apply: \(file): \(problem). Nothing was changed.")
            }
        }
        for warning in summary.warnings { Console.error("warning: \(warning)") }
        if json {
            Console.print([
                "changed": .bool(summary.isChanged), "tenants": .int(summary.tenants), "apps": .int(summary.apps),
                "credentials": .int(summary.credentials), "bindings": .int(summary.bindings),
                "apiKeys": .int(summary.apiKeys), "senders": .int(summary.senders), "routes": .int(summary.routes),
                "warnings": .array(summary.warnings.map { .string($0) }),
                "removed": .int(summary.removed),
            ])
        } else if summary.isChanged {
            Console.print(
                "applied: \(summary.tenants) tenant(s), \(summary.apps) app(s), \(summary.credentials) credential(s), \(summary.bindings) binding(s), \(summary.apiKeys) key(s), \(summary.senders) sender(s), \(summary.routes) version(s) of routes written; \(summary.removed) removed"
            )
        } else {
            Console.print("nothing to change")
        }
    }
}
