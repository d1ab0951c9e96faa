import Foundation
import Glibc
import NIOConcurrencyHelpers

/// A program that a test runs. It is killed when its owner releases it, if it still runs.
///
/// Foundation's `Process` crashes when it starts a program from a process with about 1,350 or more open descriptors
/// (swift-corelibs-foundation#5472), which tests that run in parallel have. swift-subprocess cannot be used under the
/// thread sanitizer, which reports races in it.
package final class ChildProgram: Sendable {
    /// The exit status and the output of a program that has ended.
    package struct Ending: Sendable {
        /// If a signal ended it: 128 and the number of the signal.
        package var status: Int32
        package var output: String
        package var errors: String
    }

    package struct NotStarted: Error {
        package let path: String
        /// The error number.
        package let code: Int32
    }

    package let processID: Int32

    /// Contains the files `in`, `out` and `err`: a pipe that is not read would block the program.
    private let folder: URL

    /// The exit status. While the lock is held, no other process can get the process ID.
    private let known = NIOLockedValueBox<Int32?>(nil)

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: the absolute path of the program.
    ///   - arguments: its arguments, without its name.
    ///   - environment: variables in addition to those of this process.
    ///   - input: its standard input.
    /// - Throws: `NotStarted`, or the error of a file.
    package init(
        _ path: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        input: String = ""
    ) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "program-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.folder = folder
        do {
            try Data(input.utf8).write(to: folder.appending(path: "in"))
            processID = try ChildProgram.start(path, arguments, environment, in: folder)
        } catch {
            try? FileManager.default.removeItem(at: folder)
            throw error
        }
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Runs a program to its end.
    ///
    /// - Parameters:
    ///   - path: the absolute path of the program.
    ///   - arguments: its arguments, without its name.
    ///   - environment: variables in addition to those of this process.
    ///   - input: its standard input.
    /// - Throws: `NotStarted`, or the error of a file.
    /// - Returns: its exit status and output.
    package static func run(
        _ path: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        input: String = ""
    ) async throws -> Ending {
        try await ChildProgram(path, arguments, environment: environment, input: input).ending()
    }

    /// The exit status; nil: it still runs.
    package var status: Int32? {
        known.withLockedValue { known in
            if known == nil { known = statusIfEnded() }
            return known
        }
    }

    /// Waits for its end.
    package func ending() async throws -> Ending {
        while true {
            if let status = self.status { return try ending(status) }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Waits for its end, and blocks the thread.
    package func waitUntilEnded() throws -> Ending {
        while true {
            if let status = self.status { return try ending(status) }
            usleep(2_000)
        }
    }

    /// Sends a signal, if it still runs.
    package func send(_ signal: Int32) {
        known.withLockedValue { known in
            if known == nil { _ = Glibc.kill(processID, signal) }
        }
    }

    /// Kills it, if it still runs, and waits for its end.
    package func kill() {
        send(SIGKILL)
        while status == nil { usleep(1_000) }
    }

    private func statusIfEnded() -> Int32? {
        var state: Int32 = 0
        let ended = unsafe waitpid(processID, &state, WNOHANG)
        guard ended != 0 else { return nil }
        // Another part of this process has waited for it.
        guard ended == processID else { return -1 }
        let number = state & 0x7F
        return number == 0 ? (state >> 8) & 0xFF : 128 + number
    }

    private func ending(_ status: Int32) throws -> Ending {
        Ending(status: status, output: try text("out"), errors: try text("err"))
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: folder.appending(path: name)), as: UTF8.self)
    }

    // MARK: The start

    /// Returns the process ID.
    private static func start(
        _ path: String,
        _ arguments: [String],
        _ environment: [String: String],
        in folder: URL
    ) throws -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        let input = folder.appending(path: "in").path
        let output = folder.appending(path: "out").path
        let errors = folder.appending(path: "err").path
        let mode = O_WRONLY | O_CREAT | O_TRUNC
        unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input, O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, mode, 0o600)
        unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors, mode, 0o600)
        // The program inherits no descriptor: it would keep another test's socket open. A number that is not open is skipped.
        let (first, end) = (STDERR_FILENO + 1, try descriptorTableSize())
        for descriptor in first..<end {
            unsafe posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        let variables = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        let settings = variables.map { "\($0.key)=\($0.value)" }
        var process = pid_t()
        let code = unsafe ChildProgram.withStrings([path] + arguments) { arguments in
            unsafe ChildProgram.withStrings(settings) {
                unsafe posix_spawn(&process, path, &actions, nil, arguments, $0)
            }
        }
        guard code == 0 else { throw NotStarted(path: path, code: code) }
        return process
    }

    /// No descriptor of this process has this number or a higher one at this moment.
    private static func descriptorTableSize() throws -> Int32 {
        let lines = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
        let line = lines.first { $0.hasPrefix("FDSize:") }
        let size = (line?.split(separator: "\t").last).flatMap { Int32($0) } ?? 1_024
        return max(size, STDERR_FILENO + 1)
    }

    /// Passes strings as a null-terminated array of C strings.
    private static func withStrings(
        _ strings: [String],
        _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32
    ) -> Int32 {
        var pointers = unsafe strings.map { unsafe strdup($0) } + [nil]
        defer { unsafe pointers.forEach { unsafe free($0) } }
        return unsafe pointers.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return EINVAL }
            return unsafe body(base)
        }
    }
}
