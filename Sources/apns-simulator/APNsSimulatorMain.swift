import ArgumentParser
import Foundation

/// The entry point of the process, which determines its exit status.
///
/// ArgumentParser's own `main` exits with 64 for wrong usage; this one exits with 2, like every command of this project.
@main
enum APNsSimulatorMain {
    static func main() async {
        do {
            var command = try APNsSimulatorCommand.parseAsRoot()
            if let simulator = command as? APNsSimulatorCommand {
                try await simulator.run()
            } else {
                // ArgumentParser's own help command.
                try runSynchronously(&command)
            }
        } catch {
            end(with: error)
        }
    }

    /// A separate function, because inside an `async` function `run()` would call the other overload.
    private static func runSynchronously(_ command: inout any ParsableCommand) throws {
        try command.run()
    }

    /// ArgumentParser reports a request for help as an error as well; it goes to standard output and exits with 0.
    private static func end(with error: any Error) -> Never {
        let code = APNsSimulatorCommand.exitCode(for: error)
        let text = Data((APNsSimulatorCommand.fullMessage(for: error) + "\n").utf8)
        (code == .success ? FileHandle.standardOutput : .standardError).write(text)
        exit(code == .success ? 0 : code == .validationFailure ? 2 : 1)
    }
}
