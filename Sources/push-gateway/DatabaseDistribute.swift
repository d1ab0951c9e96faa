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
                comparisons afterwards. Obstacles in the schema are printed to standard error, and the exit status is then 1. So it is for a database that is
                distributed already: nothing is printed for it.
                """
        )
        @OptionGroup var common: CommonOptions

        func run() async throws {
            let logger = common.commandLogger()
            let (catalog, version) = try await common.withAdminDatabase(.existing) { database in
                let admin = try await PostgresConnection.connect(
                    PostgresConfiguration(database.connectionString),
                    logger: logger
                )
                let status = try await Migrator.bundled().status(admin)
                if let obstacle = status.obstacle {
                    throw CommandFailure("\(obstacle); run 'push-gateway database migrate' first")
                }
                let catalog = try await SchemaCatalog(admin)
                await admin.close()
                return (catalog, status.databaseVersion)
            }
            if catalog.isDistributed {
                throw CommandFailure("the database is distributed already; migrations distribute new tables themselves")
            }
            Console.print(DistributionPlan(catalog, schemaVersion: version).text)
            guard catalog.breaches.isEmpty else {
                for breach in catalog.breaches { Console.error("push-gateway: \(breach.subject): \(breach.rule)") }
                throw CommandFailure("this schema cannot be distributed; fix the issues above")
            }
        }
    }
}
