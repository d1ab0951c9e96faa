import FoundationEssentials
import Glibc

/// One numbered SQL file.
package struct Migration: Sendable, Equatable {
    /// 1, 2, 3 …, without gaps.
    package var version: Int

    /// The file's name without number and ending.
    package var name: String

    /// Runs as `gateway_owner` in a transaction of its own.
    package var sql: String

    package init(version: Int, name: String, sql: String) {
        self.version = version
        self.name = name
        self.sql = sql
    }
}

extension Migration {
    /// What SwiftPM calls the folder with this target's files.
    private static let bundleName = "push-gateway_Postgres.resources"

    /// The files beside the program, in order.
    ///
    /// SwiftPM's own `Bundle.module` is not used: it names the build directory of the machine that built, and traps when
    /// the folder is missing.
    /// - Throws: `badFiles`.
    static func bundled() throws(MigrationError) -> [Migration] {
        guard let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
            throw MigrationError(.badFiles("/proc/self/exe cannot be read"))
        }
        let folder = String(program[..<(program.lastIndex(of: "/") ?? program.startIndex)])
        let candidates = ["\(folder)/\(bundleName)/SQL", "\(folder)/../share/push-gateway/SQL"]
        guard let found = candidates.first(where: { FileManager.default.fileExists(atPath: $0) }) else {
            throw MigrationError(.badFiles("neither \(candidates.joined(separator: " nor ")) exists"))
        }
        return try load(from: found)
    }

    /// The files `NNNN_name.sql` of a folder, in order. Others are none of ours.
    ///
    /// - Throws: `badFiles`.
    static func load(from folder: String) throws(MigrationError) -> [Migration] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            throw MigrationError(.badFiles("\(folder) cannot be read"))
        }
        var migrations: [Migration] = []
        for file in names.sorted() where file.hasSuffix(".sql") {
            let parts = file.dropLast(4).split(separator: "_", maxSplits: 1)
            guard parts.count == 2, parts[0].utf8.count == 4, let version = Int(parts[0]) else {
                throw MigrationError(.badFiles("\(file) is not NNNN_name.sql"))
            }
            guard let data = FileManager.default.contents(atPath: "\(folder)/\(file)") else {
                throw MigrationError(.badFiles("\(file) cannot be read"))
            }
            let sql = String(decoding: data, as: UTF8.self)
            migrations.append(Migration(version: version, name: String(parts[1]), sql: sql))
        }
        return migrations
    }
}
