import Foundation

/// A script that `psql` runs in one session, for the demo and the benchmarks.
package struct PsqlScript: Sendable {
    private let script: String
    private let variables: [String: String]
    private let path: String

    /// - Parameters:
    ///   - script: SQL and commands of `psql`.
    ///   - variables: the values of `:'name'` in the script.
    ///   - path: the path of the script's file without `.sql`, and of its output without `.log`.
    package init(_ script: String, variables: [String: String] = [:], path: String) {
        self.script = script
        self.variables = variables
        self.path = path
    }

    /// Runs the script until its first error.
    ///
    /// - Parameter connection: a connection string of libpq.
    /// - Returns: what it printed, rows without headings and alignment.
    /// - Throws: `StageFailure` when `psql` is missing or fails.
    package func run(on connection: String) async throws -> String {
        try Data(script.utf8).write(to: URL(fileURLWithPath: "\(path).sql"))
        let values = variables.sorted { $0.key < $1.key }.flatMap { ["-v", "\($0.key)=\($0.value)"] }
        let process = try ChildProcess(
            "psql",
            program: "/usr/bin/psql",
            arguments: ["-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1"] + values
                + ["-d", connection, "-f", "\(path).sql"],
            logFile: "\(path).log"
        )
        while process.isRunning, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(5)) }
        let status = await process.stop()
        try Task.checkCancellation()
        let output = FileManager.default.contents(atPath: "\(path).log") ?? Data()
        guard status == 0 else {
            throw StageFailure("psql failed: \(String(decoding: output.suffix(500), as: UTF8.self))")
        }
        return String(decoding: output, as: UTF8.self)
    }
}
