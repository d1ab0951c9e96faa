import FoundationEssentials
import Glibc

/// The files that describe the schema: the folder `Sources/Postgres/Schema` (docs/schema.md).
package struct SchemaFiles: Sendable {
    /// One SQL file.
    package struct File: Sendable, Equatable {
        /// The file's name without its ending.
        package var name: String
        package var sql: String
    }

    /// The function that the files in `tables` call. It therefore runs before them.
    static let first = "colocate"

    /// In the order of `tables/ORDER`.
    package var tables: [File]

    /// Each file defines the function after which it is named. Ordered by name, except `first`.
    package var routines: [File]

    /// In the order of their versions, without gaps.
    package var migrations: [Migration]

    /// The file that a new database runs after tables and routines.
    package var finish: String

    /// - Throws: `badFiles` unless there are migrations and their versions have no gaps.
    package init(tables: [File], routines: [File], migrations: [Migration], finish: String = "")
        throws(MigrationError)
    {
        guard let first = migrations.first else { throw MigrationError(.badFiles("no migration was found")) }
        for (index, migration) in migrations.enumerated() where migration.version != first.version + index {
            throw MigrationError(
                .badFiles("found migration \(migration.version), but \(first.version + index) must come next")
            )
        }
        self.tables = tables
        self.routines = routines
        self.migrations = migrations
        self.finish = finish
    }

    /// The schema version that this program is built for.
    package var version: Int { migrations.last?.version ?? 0 }

    /// The oldest schema version that can be migrated.
    package var oldestConvertible: Int { (migrations.first?.version ?? 1) - 1 }
}

extension SchemaFiles {
    /// The name that SwiftPM gives the folder with the files of this target.
    private static let bundleName = "push-gateway_DatabaseSchema.resources"

    /// The files that are installed with the program: next to it, or in `../share/push-gateway`.
    ///
    /// SwiftPM's own `Bundle.module` is not used: it contains the path of the build directory, and traps when the folder is missing.
    /// - Throws: `badFiles`.
    package static func bundled() throws(MigrationError) -> SchemaFiles {
        guard let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
            throw MigrationError(.badFiles("/proc/self/exe cannot be read"))
        }
        let folder = String(program[..<(program.lastIndex(of: "/") ?? program.startIndex)])
        let candidates = ["\(folder)/\(bundleName)", "\(folder)/../share/push-gateway/Schema"]
        guard let found = candidates.first(where: { FileManager.default.fileExists(atPath: $0) }) else {
            throw MigrationError(.badFiles("neither \(candidates.joined(separator: " nor ")) exists"))
        }
        return try load(from: found)
    }

    /// The files of a folder. Other files in it are ignored.
    ///
    /// - Throws: `badFiles`.
    package static func load(from folder: String) throws(MigrationError) -> SchemaFiles {
        let routines = try names(in: "\(folder)/routines").filter { $0 != first }
        var files: [File] = []
        for name in [first] + routines {
            files.append(File(name: name, sql: try text(of: "\(folder)/routines/\(name).sql")))
        }
        var migrations: [Migration] = []
        for name in try names(in: "\(folder)/migrations") {
            migrations.append(try Migration(file: name, text: try text(of: "\(folder)/migrations/\(name).sql")))
        }
        return try SchemaFiles(
            tables: try tables(of: "\(folder)/tables"),
            routines: files,
            migrations: migrations,
            finish: try text(of: "\(folder)/finish.sql")
        )
    }

    private static func tables(of folder: String) throws(MigrationError) -> [File] {
        let order = try text(of: "\(folder)/ORDER").split(separator: "\n").map(String.init).filter {
            !$0.hasPrefix("#")
        }
        guard try names(in: folder) == order.sorted() else {
            throw MigrationError(.badFiles("\(folder)/ORDER does not list each file once"))
        }
        var tables: [File] = []
        for name in order { tables.append(File(name: name, sql: try text(of: "\(folder)/\(name).sql"))) }
        return tables
    }

    /// The names of the SQL files of a folder, without their ending, sorted.
    private static func names(in folder: String) throws(MigrationError) -> [String] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            throw MigrationError(.badFiles("\(folder) cannot be read"))
        }
        return names.filter { $0.hasSuffix(".sql") }.map { String($0.dropLast(4)) }.sorted()
    }

    private static func text(of path: String) throws(MigrationError) -> String {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw MigrationError(.badFiles("\(path) cannot be read"))
        }
        return String(decoding: data, as: UTF8.self)
    }
}
