import Foundation
import TestKit
import Testing

@testable import CommandSupport

/// A stopped embedded database with the current schema, made once per run by the program itself. A copy takes a fifth of the time of a new one, and most
/// worlds need only that; `ClusterTests` and the demo create databases.
actor ClusterTemplate {
    static let shared = ClusterTemplate()

    private static let prefix = "pgw-template-"
    private let directory = "\(ScratchFolder.root)/\(prefix)\(ProcessInfo.processInfo.processIdentifier)"
    private var making: Task<Void, any Error>?

    /// Copies the database into a data directory that has none.
    ///
    /// - Throws: when the program cannot make it.
    func copy(into data: String) async throws {
        let made = making ?? Task { try await make() }
        making = made
        try await made.value
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        try await run("/bin/cp", ["-a", "--reflink=auto", "\(directory)/postgres", data])
    }

    private func make() async throws {
        removeFormer()
        // The account of the database must be able to enter it.
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o711]
        try FileManager.default.createDirectory(
            atPath: directory,
            withIntermediateDirectories: true,
            attributes: attributes
        )
        try await run(World.programs + "/push-gateway", ["status", "--data-dir", directory])
    }

    /// Removes the templates of runs that have ended.
    private func removeFormer() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: ScratchFolder.root)) ?? []
        for name in names where name.hasPrefix(Self.prefix) {
            guard let pid = Int32(name.dropFirst(Self.prefix.count)), kill(pid, 0) != 0 else { continue }
            try? FileManager.default.removeItem(atPath: "\(ScratchFolder.root)/\(name)")
        }
    }

    private func run(_ program: String, _ arguments: [String]) async throws {
        let log = directory + ".log"
        let process = try ChildProcess("template", program: program, arguments: arguments, logFile: log)
        try await process.ended()
        let text = String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
        try #require(await process.stop() == 0, "\(program): \(text)")
    }
}
