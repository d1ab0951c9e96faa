import DatabaseSupport
import EmbeddedPostgres
import Foundation
import PostgresClient
import Testing

@testable import PostgresBackup

/// A database's schema as pg_dump shows it, one entry per object, for comparison with another's.
struct SchemaDump {
    /// Sorted by text. Weekly and daily partitions are left out, because the existing ones depend on the day.
    let entries: [String]

    /// Dumps the schema of a database, after dropping its weekly and daily partitions.
    init(of database: TestDatabase) async throws {
        let admin = try await database.admin()
        try await admin.script(
            """
            DO $$ DECLARE name text; BEGIN
                FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'gateway'::regnamespace AND relname ~ '^(delivery_w|event_batch_d)[0-9]+$' LOOP
                    EXECUTE format('DROP TABLE gateway.%I', name);
                END LOOP;
            END $$;
            """
        )
        let version = try await admin.query("SELECT current_setting('server_version_num')::integer / 10000 AS major")
        let programs = try await ClientPrograms.find(for: try version.only().int("major"))
        let file = try await TestCluster.scratchPath("dump")
        let ending = try await programs.run(
            "pg_dump",
            ["--schema-only", "--schema=gateway", "--no-password", "--file=\(file)"],
            environment: try PostgresConfiguration.environment(
                of: database.cluster.adminConnectionString(database: database.name)
            )
        )
        try #require(ending.isSuccess, "\(ending.output)")
        let text = try String(contentsOfFile: file, encoding: .utf8)
        entries = text.split(separator: /(?m)^--\n-- (?=Name: )/).dropFirst().map(Self.normalized).sorted()
    }

    /// The order of grants is the order in which they were given, which has no meaning.
    private static func normalized(_ entry: Substring) -> String {
        let lines = entry.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("\\") && $0 != "--" }
        let isGrant = { (line: String) in line.hasPrefix("GRANT ") || line.hasPrefix("REVOKE ") }
        return (lines.filter { !isGrant($0) } + lines.filter(isGrant).sorted()).joined(separator: "\n")
    }

    /// The first lines of entries that only one of the two schemas has.
    func differences(from other: SchemaDump) -> [String] {
        let (mine, theirs) = (Set(entries), Set(other.entries))
        return mine.symmetricDifference(theirs).map { entry in
            "\(mine.contains(entry) ? "+" : "-") \(entry.prefix(400))"
        }.sorted()
    }
}

extension TestCluster {
    /// A database of schema version 38, the last one before the baseline, without rows.
    static func databaseOfVersion38() async throws -> TestDatabase {
        let database = try await database(migrated: false)
        let root = try #require(Bundle.module.resourceURL)
        let sql = try String(contentsOf: root.appendingPathComponent("Fixtures/schema-0038.sql"), encoding: .utf8)
        try await database.admin().script(sql)
        return database
    }
}
