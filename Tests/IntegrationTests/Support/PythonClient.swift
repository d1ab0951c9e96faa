import Foundation
import Testing

@testable import CommandSupport

/// A script of `Clients`, run by the system's Python or in its own virtual environment.
struct PythonClient {
    private let program: String
    private let world: World

    private static let system = "/usr/bin/python3"

    /// Uses the system's Python with its standard library only.
    ///
    /// - Throws: `Skip` if the machine has no Python.
    init(_ world: World) throws {
        guard FileManager.default.isExecutableFile(atPath: Self.system) else { throw Skip("python3 is not installed") }
        program = Self.system
        self.world = world
    }

    /// Installs packages of the Python package index, with exactly these versions, in the world's directory.
    ///
    /// - Throws: `Skip` if Python, its `venv` or the index is not available.
    init(_ world: World, installing package: String, _ others: String...) async throws {
        let packages = [package] + others
        let own = try PythonClient(world)
        let place = world.material.path("python")
        do {
            try await PythonTemplate.shared.copy(to: place, madeBy: own.program)
        } catch {
            throw Skip("python3 -m venv: \(error)")
        }
        program = place + "/bin/python"
        self.world = world
        let installed = try await run(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"] + packages)
        guard installed.status == 0 else {
            throw Skip("pip install \(packages.joined(separator: " ")): \(installed.log)")
        }
    }

    /// The reason why a test cannot run on this machine.
    struct Skip: Error {
        let reason: String
        init(_ reason: String) { self.reason = reason }
    }

    /// Runs `Clients/<name>.py` to its end. The default of `limit` is that of an installation over a slow network. Scripts that run at the same time need
    /// a name of their own for the log.
    func run(
        script name: String,
        _ arguments: [String],
        environment: [String: String],
        within limit: Duration = .seconds(180),
        log: String = "python.log"
    ) async throws -> (status: Int32?, log: String) {
        let script = try #require(Bundle.module.url(forResource: "Clients/\(name)", withExtension: "py"))
        return try await run([script.path] + arguments, environment: environment, within: limit, log: log)
    }

    /// Starts `Clients/<name>.py`, which runs until it is killed. Its output goes to `logFile`.
    func start(
        script name: String,
        _ arguments: [String],
        logFile: String,
        environment: [String: String] = [:]
    ) throws -> ChildProcess {
        let script = try #require(Bundle.module.url(forResource: "Clients/\(name)", withExtension: "py"))
        return try ChildProcess(
            "python3",
            program: program,
            arguments: [script.path] + arguments,
            logFile: logFile,
            environment: environment
        )
    }

    private func run(
        _ arguments: [String],
        environment: [String: String] = [:],
        within limit: Duration = .seconds(180),
        log: String = "python.log"
    ) async throws -> (status: Int32?, log: String) {
        let log = world.material.path(log)
        let process = try ChildProcess(
            "python3",
            program: program,
            arguments: arguments,
            logFile: log,
            environment: environment
        )
        try await process.ended(within: limit)
        let status = await process.stop()
        return (status, String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self))
    }
}
