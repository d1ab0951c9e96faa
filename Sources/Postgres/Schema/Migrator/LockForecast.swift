/// A lock of a table, by PostgreSQL's names. Source: PostgreSQL 15, "Explicit Locking".
package struct TableLock: Sendable, Hashable {
    /// In the order of their strength.
    package enum Mode: Int, Sendable, Comparable, CaseIterable {
        case rowExclusive
        case shareUpdateExclusive
        case share
        case shareRowExclusive
        case accessExclusive

        package static func < (left: Mode, right: Mode) -> Bool { left.rawValue < right.rawValue }

        package var name: String {
            switch self {
            case .rowExclusive: "ROW EXCLUSIVE"
            case .shareUpdateExclusive: "SHARE UPDATE EXCLUSIVE"
            case .share: "SHARE"
            case .shareRowExclusive: "SHARE ROW EXCLUSIVE"
            case .accessExclusive: "ACCESS EXCLUSIVE"
            }
        }

        /// The effect on other sessions while the lock is held.
        package var effect: String {
            switch self {
            case .rowExclusive, .shareUpdateExclusive: "reads and writes go on"
            case .share, .shareRowExclusive: "writes wait"
            case .accessExclusive: "reads and writes wait"
            }
        }
    }

    package var mode: Mode
    package var table: String

    package init(_ mode: Mode, _ table: String) {
        self.mode = mode
        self.table = table
    }
}

/// Predicts from the text of SQL which tables it locks. Pure.
///
/// It reads the statements that migrations consist of, also those inside of `DO`. A statement that it does not know locks nothing; `LockForecastTests` compares
/// the prediction with the locks that each migration takes.
package enum LockForecast {
    /// The strongest lock of each table, the strongest first. Tables that the SQL creates are left out, because no other session uses them.
    package static func locks(of sql: String) -> [TableLock] {
        let text = sql.split(separator: "\n", omittingEmptySubsequences: false)
            .map(uncommented).joined(separator: "\n")
        var strongest: [String: TableLock.Mode] = [:]
        for statement in text.split(separator: ";") {
            for lock in locks(ofStatement: String(statement)) {
                strongest[lock.table] = max(strongest[lock.table] ?? lock.mode, lock.mode)
            }
        }
        for match in text.matches(of: /(?i)\bCREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(?:gateway\.)?([a-z0-9_]+)/) {
            strongest[String(match.1)] = nil
        }
        return strongest.map { TableLock($0.value, $0.key) }
            .sorted { $0.mode == $1.mode ? $0.table < $1.table : $0.mode > $1.mode }
    }

    private static func uncommented(_ line: Substring) -> Substring {
        guard let mark = line.firstRange(of: "--") else { return line }
        return line[..<mark.lowerBound]
    }

    private static func locks(ofStatement sql: String) -> [TableLock] {
        var locks: [TableLock] = []
        let alter = /(?is)\bALTER\s+TABLE\s+(?:IF\s+EXISTS\s+)?(?:ONLY\s+)?(?:gateway\.)?([a-z0-9_]+)\s+(.+)/
        if let match = sql.firstMatch(of: alter) {
            locks.append(TableLock(mode(ofActions: String(match.2)), String(match.1)))
        }
        func note(_ mode: TableLock.Mode, _ pattern: Regex<(Substring, Substring)>) {
            locks += sql.matches(of: pattern).map { TableLock(mode, String($0.output.1)) }
        }
        note(.shareRowExclusive, /(?i)\bREFERENCES\s+(?:gateway\.)?([a-z0-9_]+)/)
        note(.shareRowExclusive, /(?is)\bCREATE\s+(?:CONSTRAINT\s+)?TRIGGER\b.+?\bON\s+(?:gateway\.)?([a-z0-9_]+)/)
        note(
            .share,
            /(?i)\bCREATE\s+(?:UNIQUE\s+)?INDEX\s+(?:[a-z0-9_]+\s+)?ON\s+(?:ONLY\s+)?(?:gateway\.)?([a-z0-9_]+)/
        )
        note(.accessExclusive, /(?i)\bDROP\s+TABLE\s+(?:IF\s+EXISTS\s+)?(?:gateway\.)?([a-z0-9_]+)/)
        note(.accessExclusive, /(?i)\bTRUNCATE\s+(?:TABLE\s+)?(?:gateway\.)?([a-z0-9_]+)/)
        note(.accessExclusive, /(?is)\bDROP\s+TRIGGER\s.+?\bON\s+(?:gateway\.)?([a-z0-9_]+)/)
        note(.accessExclusive, /(?i)\b(?:CREATE|ALTER|DROP)\s+POLICY\s.+?\bON\s+(?:gateway\.)?([a-z0-9_]+)/)
        note(.shareUpdateExclusive, /(?i)\bCOMMENT\s+ON\s+(?:TABLE|COLUMN)\s+(?:gateway\.)?([a-z0-9_]+)/)
        note(.rowExclusive, /(?i)\bINSERT\s+INTO\s+(?:gateway\.)?([a-z0-9_]+)/)
        note(.rowExclusive, /(?i)\bDELETE\s+FROM\s+(?:ONLY\s+)?(?:gateway\.)?([a-z0-9_]+)/)
        note(
            .rowExclusive,
            /(?i)\bUPDATE\s+(?:ONLY\s+)?(?:gateway\.)?([a-z0-9_]+)\s+(?:AS\s+[a-z0-9_]+\s+|[a-z0-9_]+\s+)?SET\b/
        )
        return locks
    }

    /// Most actions of ALTER TABLE exclude everybody; these do not.
    private static func mode(ofActions text: String) -> TableLock.Mode {
        let key = /(?is)ADD\s+(?:CONSTRAINT\s+[a-z0-9_]+\s+)?FOREIGN\s+KEY\s*\([^)]*\)[^,(]*(?:\([^)]*\)[^,]*)?/
        if text.wholeMatch(of: key) != nil { return .shareRowExclusive }
        if text.wholeMatch(of: /(?is)(?:VALIDATE\s+CONSTRAINT|ATTACH\s+PARTITION)\s[^,]*/) != nil {
            return .shareUpdateExclusive
        }
        let storage = /(?is)(?:SET\s*\([^)]*\)|ALTER\s+(?:COLUMN\s+)?[a-z0-9_]+\s+SET\s+STATISTICS\s+[0-9]+)\s*/
        return text.wholeMatch(of: storage) == nil ? .accessExclusive : .shareUpdateExclusive
    }
}
