import Dispatch
import Foundation
import NIOConcurrencyHelpers

/// Runs the operator's command that prints the master keys. Its output goes nowhere else: not into a log, not into an error.
enum MasterKeyProgram {
    /// The bytes that the command writes to standard output.
    ///
    /// - Throws: `MasterKeyError.command`.
    static func output(
        of command: String,
        within limit: Duration = MasterKeySource.timeLimit
    ) async throws(MasterKeyError) -> [UInt8] {
        // The calls block: they must not hold a thread of the concurrency pool.
        let result = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: run(command, limit)) }
        }
        do { return try result.get() } catch { throw .command(error) }
    }

    private static func run(_ command: String, _ limit: Duration) -> Result<[UInt8], MasterKeyError.CommandFault> {
        let end = ContinuousClock.now + limit
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch { return .failure(.notStarted) }
        try? pipe.fileHandleForWriting.close()
        let output = Output()
        DispatchQueue.global().async { output.read(pipe.fileHandleForReading) }
        while !output.hasEnded || (process.isRunning && !output.isTooLong), ContinuousClock.now < end { usleep(5000) }
        let isLate = !output.hasEnded || process.isRunning
        if isLate { kill(process) }
        if output.isTooLong { return .failure(.tooLong) }
        if isLate { return .failure(.tooSlow) }
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            return .failure(.status(process.terminationStatus))
        }
        return .success(output.bytes)
    }

    /// Kills the shell, and its children if it leads a process group.
    private static func kill(_ process: Process) {
        // The number of a process that has ended may belong to another one.
        guard process.isRunning else { return }
        let id = process.processIdentifier
        if getpgid(id) == id { Foundation.kill(-id, SIGKILL) }
        Foundation.kill(id, SIGKILL)
        process.waitUntilExit()
    }

    /// The output of a command, at most `sizeLimit` bytes of it.
    private final class Output: Sendable {
        private struct State {
            var bytes: [UInt8] = []
            var hasEnded = false
        }

        private let state = NIOLockedValueBox(State())

        var bytes: [UInt8] { state.withLockedValue { $0.bytes } }
        var hasEnded: Bool { state.withLockedValue { $0.hasEnded } }
        var isTooLong: Bool { state.withLockedValue { $0.bytes.count > MasterKeySource.sizeLimit } }

        /// Blocks until the output ends or is too long.
        func read(_ file: FileHandle) {
            while !isTooLong {
                let data = file.availableData
                guard !data.isEmpty else { break }
                state.withLockedValue { $0.bytes += data }
            }
            state.withLockedValue { $0.hasEnded = true }
        }
    }
}
