import Subprocess
import SystemPackage

/// Runs the operator's command that prints the master keys. Its output goes nowhere else: not into a log, not into an error.
enum MasterKeyProgram {
    private typealias Ending = Result<[UInt8], MasterKeyError.CommandFault>

    /// The bytes that the command writes to standard output.
    ///
    /// At the end of `limit`, and when the task is cancelled, the command and its children are killed. Processes that it leaves in the background are not
    /// waited for.
    /// - Throws: `MasterKeyError.command`.
    static func output(of command: String, within limit: Duration) async throws(MasterKeyError) -> [UInt8] {
        let result = await withTaskGroup(of: Ending?.self) { group -> Ending in
            group.addTask { await run(command) }
            group.addTask {
                // A cancelled wait says nothing about the command.
                do { try await Task.sleep(for: limit) } catch { return nil }
                return Ending.failure(.tooSlow)
            }
            for await case let ending? in group {
                group.cancelAll()
                return ending
            }
            // Not reached: the command always has an ending.
            return .failure(.notStarted)
        }
        do { return try result.get() } catch { throw .command(error) }
    }

    private static func run(_ command: String) async -> Ending {
        // `Subprocess` would open it after the pipe, and traps if that fails.
        let path = FilePath("/dev/null")
        guard let nowhere = try? FileDescriptor.open(path, .readWrite, options: .closeOnExec) else {
            return .failure(.notStarted)
        }
        defer { try? nowhere.close() }
        var options = PlatformOptions()
        // The session is a process group of its own, so that a kill of the group reaches the children.
        options.createSession = true
        options.teardownSequence = [.send(signal: .kill, toProcessGroup: true, allowedDurationToNextStep: .seconds(1))]
        do {
            // Output beyond the limit ends the command.
            let result = try await Subprocess.run(
                .path("/bin/sh"),
                arguments: ["-c", command],
                platformOptions: options,
                input: .fileDescriptor(nowhere, closeAfterSpawningProcess: false),
                output: .bytes(limit: MasterKeySource.sizeLimit),
                error: .fileDescriptor(nowhere, closeAfterSpawningProcess: false)
            )
            // Cancellation ends the reading before the kill: the output may be a part of what a command with status 0 wrote.
            guard !Task.isCancelled else { return .failure(.status(Signal.kill.rawValue)) }
            switch result.terminationStatus {
            case .exited(0): return .success(result.standardOutput)
            case .exited(let status), .signaled(let status): return .failure(.status(status))
            }
        } catch {
            guard !Task.isCancelled else { return .failure(.status(Signal.kill.rawValue)) }
            let isTooLong = (error as? SubprocessError)?.code == .outputLimitExceeded
            return .failure(isTooLong ? .tooLong : .notStarted)
        }
    }
}
