import ArgumentParser
import CommandSupport
import DatabaseSchema
import Gateway
import PostgresClient

extension DatabaseCommand {
    /// `database distribute`.
    struct Distribute: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the steps that distribute the database by tenant with Citus, without changing anything.",
            discussion: """
                The output is commented SQL, made from this database's catalog: checks before, reference tables, distributed tables, local tables, and
                comparisons afterwards. For a database that is distributed already, it prints only the steps that are missing, which may be repeated. Obstacles in
                the schema are printed to standard error, and the exit status is then 1.
                """
        )
        @OptionGroup var common: CommonOptions

        func run() async throws {
            let logger = common.commandLogger()
            let (catalog, status) = try await common.withAdminDatabase(.existing) { database in
                let admin = try await PostgresConnection.connect(
                    PostgresConfiguration(database.connectionString),
                    logger: logger
                )
                let status = try await Migrator.bundled().status(admin)
                let catalog = try await SchemaCatalog(admin)
                await admin.close()
                return (catalog, status)
            }
            let plan = DistributionPlan(catalog, schemaVersion: status.databaseVersion)
            if let state = catalog.distribution {
                Console.print(plan.supplement(to: state))
                // A migration may need what is missing, and may be what removes the obstacles.
                if status.obstacle != nil { return }
            } else {
                if let obstacle = status.obstacle {
                    throw CommandFailure("\(obstacle); run 'push-gateway database migrate' first")
                }
                Console.print(plan.text)
            }
            guard catalog.breaches.isEmpty else {
                for breach in catalog.breaches { Console.error("push-gateway: \(breach.subject): \(breach.rule)") }
                throw CommandFailure("this schema cannot be distributed; fix the issues above")
            }
        }
    }
}
