import ArgumentParser
import CommandSupport
import DatabaseSchema
import EmbeddedPostgres
import Foundation
import Logging
import Observability
import PlanCheck
import PostgresClient

/// `bench plans`: whether every statement reads a limited number of rows in a large database.
struct BenchPlans: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plans",
        abstract: "Explain every statement in a large database, and find reads of growing tables without a limit.",
        discussion: """
            The check is that of PlanTests, with the same lists, at a larger size. It starts a PostgreSQL of its own; 10,000,000 deliveries need 7 GB. \
            Exit status 1: a statement reads without a limit.
            """
    )

    @Option(help: "Number of devices.") var devices = 1_000_000
    @Option(help: "Number of deliveries.") var deliveries = 10_000_000
    @Option(help: "The recorded statements of the stores.") var statements = "Tests/Support/Database/statements.sql"
    @Option(help: "The intended reads without a limit.") var exceptions = "Tests/Support/Database/plan-exceptions.txt"

    func validate() throws {
        guard (10_000...10_000_000).contains(devices) else {
            throw ValidationError("--devices must be 10000 to 10000000")
        }
        guard (devices...100_000_000).contains(deliveries) else {
            throw ValidationError("--deliveries must be the number of devices to 100000000")
        }
    }

    func run() async throws {
        let list = StatementList(text: try String(contentsOfFile: statements, encoding: .utf8))
        let intended = PlanExceptions(text: try String(contentsOfFile: exceptions, encoding: .utf8))
        let directory = NSTemporaryDirectory() + "pgw-bench-plans-\(ProcessInfo.processInfo.processIdentifier)"
        let logger = Logger(label: "bench") { JSONLogHandler(label: $0, level: .warning) }
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let cluster = try await EmbeddedCluster.start(
            directory: directory,
            options: EmbeddedClusterOptions(),
            logger: logger
        )
        do {
            let result = try await check(list, cluster, logger)
            try await cluster.stop()
            let faults = intended.apply(to: result.faults).faults
            for text in result.unexplained { Console.print("not explained: \(text)") }
            for fault in faults { Console.print("reads without a limit: \(fault)") }
            Console.print(
                "\(result.count) statements, \(result.faults.count - faults.count) intended reads without a limit"
            )
            if !faults.isEmpty || !result.unexplained.isEmpty { throw ExitCode.failure }
        } catch {
            try? await cluster.stop()
            throw error
        }
    }

    private func check(
        _ list: StatementList,
        _ cluster: EmbeddedCluster,
        _ logger: Logger
    ) async throws -> (faults: [PlanFault], unexplained: [String], count: Int) {
        var configuration = PostgresConfiguration(cluster.adminConnectionString)
        // An hour, for the largest fill.
        configuration.statementTimeout = .seconds(3600)
        configuration.batchTimeout = .seconds(3600)
        let admin = try await PostgresConnection.connect(configuration, logger: logger)
        try await Migrator.bundled().migrate(admin)
        let start = ContinuousClock.now
        try await PlanFill(devices: devices, deliveries: deliveries).run(admin, timeout: .seconds(3600))
        Console.error("filled in \((ContinuousClock.now - start).components.seconds) s")
        let check = PlanCheck(admin)
        let all = list.statements + (try await check.functionStatements())
        let result = try await check.faults(of: all)
        await admin.close()
        return (result.faults, result.unexplained, all.count)
    }
}
