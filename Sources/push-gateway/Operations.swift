import Adapters
import ArgumentParser
import CommandSupport
import DatabaseSchema
import EngineStore
import Foundation
import Gateway
import Logging
import Model
import Secrets

/// `database migrate|status|backup|restore|distribute`.
struct DatabaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "database",
        abstract:
            "Migrate the database, show its schema version, back it up, restore it, or print the steps to distribute it.",
        subcommands: [Migrate.self, SchemaStatus.self, Backup.self, Restore.self, Distribute.self]
    )

    struct Migrate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Bring the schema up to date; forward only; safe while an older version runs.",
            discussion: "With --plan, print what would run and which tables it locks, and change nothing."
        )
        @Flag(help: "Print what would run, and change nothing.") var plan = false
        @OptionGroup var common: CommonOptions

        func run() async throws {
            if plan { return try await printPlan() }
            try await common.withDatabase(migrates: true) { _, _ in }
            Console.print("the schema is up to date")
        }
    }

    struct SchemaStatus: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show the schema's version, and the server's settings that affect durability."
        )
        @OptionGroup var common: CommonOptions

        func run() async throws {
            let (schema, settings) = try await common.withDatabase { _, database in
                let schema = try await database.schema(common.commandLogger())
                return (schema, try await PostgresStatusStore(engine: database.engine).settings())
            }
            Console.print(
                "schema version \(schema.databaseVersion), which serves programs for version \(schema.oldestProgram) and later; "
                    + "this program is for version \(schema.programVersion)"
            )
            Console.print(
                Console.table(["setting", "value"], settings.sorted { $0.key < $1.key }.map { [$0.key, $0.value] })
            )
        }
    }
}

/// `status`: nodes, backlog, stopped credentials.
struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show nodes, backlog and stopped credentials.")
    @Flag(help: "Print JSON.") var json = false
    @OptionGroup var common: CommonOptions

    func run() async throws {
        let status = try await common.withDatabase { _, database in
            try await PostgresStatusStore(engine: database.engine).status()
        }
        if json {
            Console.print(Self.shape(status))
            return
        }
        Console.print(
            Console.table(
                ["node", "seen s ago"],
                status.nodes.map { [$0.id.rawValue, "\((status.now - $0.seenAt).components.seconds)"] }
            )
        )
        Console.print(
            Console.table(["lane", "slices"], Lane.allCases.map { ["\($0)", "\(status.backlog[$0] ?? 0)"] })
        )
        for stopped in status.stoppedCredentials {
            Console.print("stopped: \(stopped.key.tenant)/\(stopped.key.credential): \(stopped.reason)")
        }
    }

    private static func shape(_ status: StoreStatus) -> JSON {
        [
            "nodes": .array(
                status.nodes.map { ["id": .string($0.id.rawValue), "seenAt": .int($0.seenAt.milliseconds)] }
            ),
            "backlog": .object(JSONObject(Lane.allCases.map { ("\($0)", .int(status.backlog[$0] ?? 0)) })),
            "stoppedCredentials": .array(
                status.stoppedCredentials.map {
                    [
                        "tenant": .string($0.key.tenant.rawValue), "credential": .string($0.key.credential.rawValue),
                        "reason": .string($0.reason),
                    ]
                }
            ),
            "defaultPartitionRows": .int(status.defaultPartitionRows),
        ]
    }
}

/// `doctor`: checks the installation and gives advice.
struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check the installation and report the problems to fix.",
        discussion:
            "The status is 1 if a check fails. With --security: if there is a finding of the level --fail-on or above."
    )
    @Flag(help: "List the weak points: open surfaces, weak settings, missing limits.") var security = false
    @Option(help: "With --security: the level from which the status is 1: low, medium, high or never.") var failOn =
        RiskLevel.high.rawValue
    @Flag(help: "Print JSON.") var json = false
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard failOn == "never" || RiskLevel(rawValue: failOn) != nil else {
            throw ValidationError("--fail-on must be low, medium, high or never")
        }
    }

    func run() async throws {
        if security { return try await reportSecurity() }
        let readiness = try await common.withDatabase { configuration, database in
            let ring = try await database.keyRing(configuration)
            var readiness = await Diagnosis(database: database, keyRing: ring).readiness()
            let allowed = try configuration.upstreamNetworks
            readiness.checks += await UpstreamProbe(database: database, keyRing: ring, allowing: allowed).checks()
            return readiness
        }
        if json {
            Console.print(readiness.json)
        } else {
            for check in readiness.checks {
                Console.print(
                    "\(check.isFine ? "ok  " : check.isVital ? "FAIL" : "warn")  \(check.name): \(check.detail)"
                )
            }
        }
        guard readiness.isReady else { throw ExitCode(1) }
    }
    private func reportSecurity() async throws {
        let findings = try await common.withDatabase { configuration, database in
            let directory = PostgresDirectory(call: database.call, engine: database.engine)
            return SecurityPosture(
                configuration: configuration,
                vendors: .product,
                bindings: try await directory.bindings(),
                keys: try await PostgresKeyStore(engine: database.engine).list(nil),
                now: try await PostgresStatusStore(engine: database.engine).status().now,
                masterKeyForm: try await database.keyRing(configuration).current.form,
                isRoot: geteuid() == 0
            ).findings
        }
        if json {
            Console.print(["findings": .array(findings.map(\.json))])
        } else {
            Console.print(Self.text(findings))
        }
        guard let least = RiskLevel(rawValue: failOn) else { return }
        guard !findings.contains(where: { $0.level >= least }) else { throw ExitCode(1) }
    }

    /// Each finding with its risk and what closes it, the worst first.
    private static func text(_ findings: [SecurityFinding]) -> String {
        guard !findings.isEmpty else { return "no weak point found" }
        let rows = findings.map { finding in
            let level = finding.level.rawValue.uppercased()
            let head = level + String(repeating: " ", count: 8 - level.count)
            return ["\(head)\(finding.place): \(finding.finding)", finding.consequence, finding.remedy]
                .joined(separator: "\n        ")
        }
        let counts = RiskLevel.allCases.reversed().map { level in
            "\(findings.count { $0.level == level }) \(level.rawValue)"
        }
        return (rows + [counts.joined(separator: ", ")]).joined(separator: "\n")
    }
}
