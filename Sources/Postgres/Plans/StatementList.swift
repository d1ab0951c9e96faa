/// The list of the statements of the stores, as tests record it: each with its role, in the order of their texts.
package struct StatementList: Sendable {
    /// The role of each text; a text that both roles run has two entries.
    package private(set) var entries: Set<Entry>

    package struct Entry: Hashable, Sendable, Comparable {
        package var role: String
        package var sql: String

        package init(role: String, sql: String) {
            self.role = role
            self.sql = sql
        }

        package static func < (left: Self, right: Self) -> Bool { (left.sql, left.role) < (right.sql, right.role) }
    }

    private static let mark = "-- role "

    package init(_ entries: Set<Entry> = []) { self.entries = entries }

    /// Reads the text of a list.
    package init(text: String) {
        entries = []
        var role: Substring = ""
        var lines: [Substring] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) + [Substring(Self.mark)] {
            guard line.hasPrefix(Self.mark) else {
                lines.append(line)
                continue
            }
            let sql = lines.joined(separator: "\n").trimmingEnd()
            if !role.isEmpty, !sql.isEmpty { entries.insert(Entry(role: String(role), sql: sql)) }
            role = line.dropFirst(Self.mark.count)
            lines = []
        }
    }

    package mutating func formUnion(_ other: StatementList) { entries.formUnion(other.entries) }

    package var text: String {
        entries.sorted().map { "\(Self.mark)\($0.role)\n\($0.sql);\n" }.joined(separator: "\n")
    }

    package var statements: [PlannedStatement] {
        entries.sorted().map { PlannedStatement(role: $0.role, function: nil, sql: $0.sql) }
    }
}

extension String {
    /// Without white space and semicolons at the end.
    fileprivate func trimmingEnd() -> String {
        var text = self[...]
        while let last = text.last, last.isWhitespace || last == ";" { text = text.dropLast() }
        return String(text)
    }
}
