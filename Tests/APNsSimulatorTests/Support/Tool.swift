import Foundation

/// Runs other programs (nghttp, h2load, Python) and this package's own executable.
struct Tool {
    /// The exit status and the output of a program.
    struct Result: Sendable {
        var status: Int32
        var output: String
        var errors: String
    }

    /// Starts a program, gives it `input`, and waits for its end.
    ///
    /// Its output goes to files, because a pipe that is not read would block the program.
    static func run(
        _ path: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        input: String = ""
    ) async throws -> Result {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let inputFile = folder.appending(path: "in")
        try Data(input.utf8).write(to: inputFile)
        let process = try make(path, arguments, environment, folder)
        process.standardInput = try FileHandle(forReadingFrom: inputFile)
        let status = try await end(of: process) { try process.run() }
        return Result(status: status, output: try text("out", in: folder), errors: try text("err", in: folder))
    }

    /// A process whose output goes to `out` and `err` in `folder`.
    static func make(
        _ path: String,
        _ arguments: [String],
        _ environment: [String: String],
        _ folder: URL
    ) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        for name in ["out", "err"] {
            try Data().write(to: folder.appending(path: name))
        }
        process.standardOutput = try FileHandle(forWritingTo: folder.appending(path: "out"))
        process.standardError = try FileHandle(forWritingTo: folder.appending(path: "err"))
        return process
    }

    /// Waits for a process to end after `begin`.
    static func end(of process: Process, begin: () throws -> Void) async throws -> Int32 {
        let (ends, ended) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { ended.yield($0.terminationStatus) }
        try begin()
        for await status in ends { return status }
        return -1
    }

    /// A new folder for one test.
    static func temporaryFolder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "apns-simulator-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    private static func text(_ name: String, in folder: URL) throws -> String {
        String(decoding: try Data(contentsOf: folder.appending(path: name)), as: UTF8.self)
    }
}
