import ArgumentParser
import Foundation

/// Where the process begins and which status it ends with.
///
/// ArgumentParser's own `main` ends with 64 for wrong usage; ours ends with 2, like every command of this project.
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

    /// Outside of an `async` function, where `run()` would mean the other one.
    private static func runSynchronously(_ command: inout any ParsableCommand) throws {
        try command.run()
    }

    /// Help is asked for by an "error" too: it goes to standard output and ends with 0.
    private static func end(with error: any Error) -> Never {
        let code = APNsSimulatorCommand.exitCode(for: error)
        let text = Data((APNsSimulatorCommand.fullMessage(for: error) + "\n").utf8)
        (code == .success ? FileHandle.standardOutput : .standardError).write(text)
        exit(code == .success ? 0 : code == .validationFailure ? 2 : 1)
    }
}
