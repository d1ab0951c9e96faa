import Foundation
import TestKit
import Testing

@testable import CommandSupport

/// A folder that a run makes once, and copies for each world that needs its contents.
struct TemplateFolder: Sendable {
    private let prefix: String

    var path: String { "\(ScratchFolder.root)/\(prefix)\(ProcessInfo.processInfo.processIdentifier)" }

    /// - Parameter prefix: the beginning of its name, which ends with the number of this process.
    init(prefix: String) { self.prefix = prefix }

    /// Removes the templates of runs that have ended.
    func removeFormer() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: ScratchFolder.root)) ?? []
        for name in names where name.hasPrefix(prefix) {
            guard let pid = Int32(name.dropFirst(prefix.count)), kill(pid, 0) != 0 else { continue }
            try? FileManager.default.removeItem(atPath: "\(ScratchFolder.root)/\(name)")
        }
    }

    /// Runs a program that makes or copies the folder, to its end.
    ///
    /// - Throws: `StageFailure` when it cannot be started or fails.
    func run(_ program: String, _ arguments: [String]) async throws {
        let log = path + ".log"
        let process = try ChildProcess("template", program: program, arguments: arguments, logFile: log)
        try await process.ended()
        let text = String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
        guard await process.stop() == 0 else { throw StageFailure("\(program): \(text)") }
    }
}
