import Foundation
import Model

/// A child process of the demo: started with its output in a file, told to stop, waited for.
final class DemoProcess {
    let name: String
    private let process = Process()
    private let log: FileHandle

    /// - Throws: when the program cannot be started.
    init(_ name: String, program: String, arguments: [String], logFile: String, environment: [String: String] = [:])
        throws
    {
        self.name = name
        _ = FileManager.default.createFile(atPath: logFile, contents: nil)
        guard let log = FileHandle(forWritingAtPath: logFile) else { throw DemoFailure("cannot write \(logFile)") }
        self.log = log
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardOutput = log
        process.standardError = log
        process.standardInput = FileHandle.nullDevice
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        try process.run()
    }

    var isRunning: Bool { process.isRunning }

    var processID: Int32 { process.processIdentifier }

    /// Sends SIGKILL.
    func kill() { Foundation.kill(process.processIdentifier, SIGKILL) }

    /// Sends SIGTERM and waits for the end, at most 30 s; then SIGKILL, which is reported.
    ///
    /// - Returns: the exit status, or nil when it had to be killed.
    func stop() async -> Int32? {
        if process.isRunning { process.terminate() }
        for _ in 0..<600 {
            if !process.isRunning { return process.terminationStatus }
            try? await Task.sleep(for: .milliseconds(50))
        }
        kill()
        return nil
    }
}

/// Why the demo cannot go on, in a sentence.
struct DemoFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Waits for an address file, which a server writes when it is ready.
///
/// - Throws: `DemoFailure` when the process ends or 60 s pass.
func readAddressFile(_ path: String, of process: DemoProcess) async throws -> JSON {
    for _ in 0..<1200 {
        if let data = FileManager.default.contents(atPath: path), let json = try? JSONParser.parse(Array(data)) {
            return json
        }
        guard process.isRunning else {
            throw DemoFailure("\(process.name) ended before it was ready; its log tells why")
        }
        try await Task.sleep(for: .milliseconds(50))
    }
    throw DemoFailure("\(process.name) was not ready within 60 s; its log tells why")
}
