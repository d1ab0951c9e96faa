import ArgumentParser
import CommandSupport
import GatewayBench

/// The program. Exit status 0: success, 1: failure, 2: wrong usage.
@main
struct PushGateway: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push-gateway",
        abstract: "One push gateway for many vendors' apps and back ends.",
        discussion: """
            Every setting can be given as a flag (--database-url), in the environment (DATABASE_URL) or in a YAML file named by --config
            (database.url). Without a database URL, a private PostgreSQL is started in the data directory.
            """,
        version: ProgramVersion.text,
        subcommands: [
            Serve.self, Demo.self, Apply.self, RoutesCommand.self, MigrationCommand.self, Key.self,
            AccountCommand.self,
            CredentialCommand.self,
            UpstreamCommand.self,
            MasterKeyCommand.self, Send.self,
            MessageCommand.self,
            LiveActivityCommand.self,
            ChannelCommand.self, AnalyticsCommand.self, ExportCommand.self, DatabaseCommand.self,
            Status.self,
            Doctor.self, HealthCommand.self, Bench.self, Devices.self, TenantCommand.self, FindCommand.self, Audit.self,
            Capture.self,
            VendorsCommand.self,
        ]
    )

    static func main() async {
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let failure as CommandFailure {
            Console.error(failure.description)
            Self.exit(withError: ExitCode(failure.isUsage ? 2 : 1))
        } catch {
            let code = exitCode(for: error)
            if code == .success || error is ExitCode || error is CleanExit { exit(withError: error) }
            if code == .validationFailure {
                Console.error(fullMessage(for: error))
                Self.exit(withError: ExitCode(2))
            }
            Console.error("push-gateway: \(error)")
            Self.exit(withError: ExitCode(1))
        }
    }
}
