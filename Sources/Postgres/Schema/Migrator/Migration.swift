import PostgresClient

/// One numbered file of `Schema/migrations`, which converts a database of the previous version to this version.
///
/// The statements before the first line that begins with `--@` are the *expand part*. It runs in one transaction, together with the expand parts of the
/// other pending migrations and with all changed routines. The other steps follow one by one, in the order of the versions (docs/schema.md).
package struct Migration: Sendable, Equatable {
    package var version: Int

    /// The name of the file without its number and ending.
    package var name: String

    /// The text of the whole file.
    package var text: String

    /// A program runs on the schema after this migration only if it was built for at least this schema version.
    package var oldestProgram: Int

    /// The part that runs in one transaction with the changed routines.
    package var expand: String

    package var steps: [Step]

    /// A step after the expand part. Each step may be repeated after an interruption.
    package enum Step: Sendable, Equatable {
        /// Statements in a transaction of their own.
        case transaction(String)
        /// An index that is built while other sessions write.
        case index(IndexStep)
        /// A change of all rows of a table, in batches.
        case backfill(BackfillStep)
    }

    /// - Parameters:
    ///   - file: the file's name without its ending, `NNNN_name`.
    ///   - text: the content of the file.
    /// - Throws: `badFiles`.
    package init(file: String, text: String) throws(MigrationError) {
        let parts = file.split(separator: "_", maxSplits: 1)
        guard parts.count == 2, parts[0].utf8.count == 4, let version = Int(parts[0]) else {
            throw MigrationError(.badFiles("\(file).sql is not NNNN_name.sql"))
        }
        guard let line = text.firstMatch(of: /(?m)^-- Oldest program: ([0-9]+)$/), let oldest = Int(line.1),
            oldest <= version
        else {
            throw MigrationError(.badFiles("\(file).sql has no line '-- Oldest program: VERSION'"))
        }
        self.version = version
        name = String(parts[1])
        self.text = text
        oldestProgram = oldest
        var sections = text.split(separator: /(?m)^--@ */, omittingEmptySubsequences: false)
        expand = String(sections.removeFirst())
        steps = []
        for section in sections {
            guard let step = Step(String(section)) else {
                let title = section.prefix { $0 != "\n" }
                throw MigrationError(
                    .badFiles("\(file).sql: the step '--@ \(title)' is not written as docs/schema.md says")
                )
            }
            steps.append(step)
        }
    }
}

extension Migration.Step {
    /// Reads a step without its `--@`: a line with the kind, then SQL.
    fileprivate init?(_ section: String) {
        let lines = section.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        let kind = lines[0].trimming()
        let sql = lines.count > 1 ? String(lines[1]) : ""
        switch kind {
        case "transaction": self = .transaction(sql)
        case "index":
            guard let step = IndexStep(sql) else { return nil }
            self = .index(step)
        case "backfill":
            guard let step = BackfillStep(sql) else { return nil }
            self = .backfill(step)
        default: return nil
        }
    }
}

/// `CREATE [UNIQUE] INDEX name ON gateway.table …;`, built with CONCURRENTLY, partition by partition.
package struct IndexStep: Sendable, Equatable {
    package var isUnique: Bool
    package var name: String
    package var table: String
    /// The rest of the statement, after the table's name.
    package var definition: String

    init?(_ sql: String) {
        let pattern = /\s*CREATE (UNIQUE )?INDEX ([a-z0-9_]+) ON gateway\.([a-z0-9_]+)\s+([^;]+);\s*/
        guard let match = sql.withoutComments().wholeMatch(of: pattern) else { return nil }
        isUnique = match.1 != nil
        name = String(match.2)
        table = String(match.3)
        definition = match.4.trimming()
    }

    /// The statement that creates the index, under another name, on a partition.
    func statement(name: String, on table: String, isConcurrent: Bool) -> String {
        "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(isConcurrent ? "CONCURRENTLY " : "")\(name) ON \(table) \(definition)"
    }
}

/// `UPDATE gateway.table AS t SET …` with a `WHERE …` at the beginning of a line, which selects the rows that still need the change.
package struct BackfillStep: Sendable, Equatable {
    package var table: String
    package var assignments: String
    package var condition: String

    init?(_ sql: String) {
        let pattern = /\s*UPDATE gateway\.([a-z0-9_]+) AS t\s+SET ([^;]+?)\nWHERE ([^;]+);\s*/
        guard let match = sql.withoutComments().wholeMatch(of: pattern) else { return nil }
        table = String(match.1)
        assignments = String(match.2)
        condition = String(match.3)
    }
}

extension StringProtocol {
    fileprivate func trimming() -> String {
        String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }

    /// Returns the text without the lines that are SQL comments.
    fileprivate func withoutComments() -> String {
        split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.drop { $0.isWhitespace }.hasPrefix("--") }.joined(separator: "\n")
    }
}
