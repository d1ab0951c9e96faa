import CommandSupport
import DatabaseSchema
import Gateway
import PostgresClient

extension DatabaseCommand.Migrate {
    /// Prints what a migration would run, and changes nothing.
    func printPlan() async throws {
        let logger = common.commandLogger()
        let status = try await common.withAdminDatabase(.existing) { database in
            let admin = try await PostgresConnection.connect(
                PostgresConfiguration(database.connectionString),
                logger: logger
            )
            let status = try await Migrator.bundled().status(admin)
            await admin.close()
            return status
        }
        Console.print(MigrationPreview(status).text(status))
    }
}
