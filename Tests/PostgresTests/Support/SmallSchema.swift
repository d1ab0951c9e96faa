@testable import DatabaseSchema

/// Schemas of a few statements, with the bookkeeping tables of the real one.
enum SmallSchema {
    /// A migration `m<version>` whose text is its number, so that tests can change either.
    static func migration(_ version: Int, _ sql: String, oldest: Int? = nil) -> Migration {
        let number = String(version + 10_000).dropFirst()
        let text = "-- Oldest program: \(oldest ?? version)\n\(sql)"
        do {
            return try Migration(file: "\(number)_m\(version)", text: text)
        } catch {
            fatalError("the test's own migration is malformed: \(error)")
        }
    }

    static func routine(_ name: String, _ rest: String) -> SchemaFiles.File {
        SchemaFiles.File(name: name, sql: "CREATE OR REPLACE FUNCTION gateway.\(name)\(rest);\n")
    }

    static func migrator(
        _ migrations: [Migration],
        tables: String = "SELECT 1;",
        routines: [SchemaFiles.File] = []
    ) throws -> Migrator {
        let real = try SchemaFiles.bundled()
        let bookkeeping = real.tables.filter { $0.name == "cluster" }
        return Migrator(
            files: try SchemaFiles(
                tables: bookkeeping + [SchemaFiles.File(name: "small", sql: tables)],
                routines: real.routines.prefix(1) + routines,
                migrations: migrations
            )
        )
    }
}
