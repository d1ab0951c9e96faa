import Foundation
package import Model

/// A child process whose output is written to a file.
package final class ChildProcess {
    package let name: String
    private let process = Process()
    private let log: FileHandle

    /// - Throws: when the program cannot be started.
    package init(
        _ name: String,
        program: String,
        arguments: [String],
        logFile: String,
        environment: [String: String] = [:]
    )
        throws
    {
        self.name = name
        _ = FileManager.default.createFile(atPath: logFile, contents: nil)
        guard let log = FileHandle(forWritingAtPath: logFile) else { throw StageFailure("cannot write \(logFile)") }
        self.log = log
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardOutput = log
        process.standardError = log
        process.standardInput = FileHandle.nullDevice
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        try process.run()
    }

    package var isRunning: Bool { process.isRunning }

    package var processID: Int32 { process.processIdentifier }

    /// Sends SIGKILL.
    package func kill() { Foundation.kill(process.processIdentifier, SIGKILL) }

    /// Sends SIGTERM and waits at most 30 s for the process to end. After that it sends SIGKILL and reports it.
    ///
    /// - Returns: the exit status, or nil when the process had to be killed.
    package func stop() async -> Int32? {
        if process.isRunning { process.terminate() }
        for _ in 0..<600 {
            if !process.isRunning { return process.terminationStatus }
            try? await Task.sleep(for: .milliseconds(50))
        }
        kill()
        return nil
    }
}

/// The reason why a demo or a benchmark cannot continue, as a sentence.
package struct StageFailure: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}

/// Waits for an address file, which a server writes when it is ready.
///
/// - Throws: `StageFailure` when the process ends or 60 s pass.
package func readAddressFile(_ path: String, of process: ChildProcess) async throws -> JSON {
    for _ in 0..<1200 {
        if let data = FileManager.default.contents(atPath: path), let json = try? JSONParser.parse(Array(data)) {
            return json
        }
        guard process.isRunning else {
            throw StageFailure("\(process.name) ended before it was ready; see its log")
        }
        try await Task.sleep(for: .milliseconds(50))
    }
    throw StageFailure("\(process.name) was not ready within 60 s; see its log")
}
