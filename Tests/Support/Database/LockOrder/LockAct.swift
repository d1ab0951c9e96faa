/// The acts of a statement that concern locks, in the order of its text.
enum LockAct: Equatable, Sendable {
    /// Writes rows of a table.
    case write(String)
    /// Locks rows of a table (`FOR UPDATE`, `FOR SHARE`), or names (`name:key` for `lock_name(…, 'key', …)` and `lock_names(…, 'key', …)`).
    case lock(String)
    /// Locks rows of a table that no other transaction has locked (`SKIP LOCKED`).
    case lockFree(String)
    /// Runs a function of the schema.
    case call(String)

    /// The acts of a statement.
    ///
    /// A plain `INSERT` is not one: its rows are new, so that nobody waits for them. With `ON CONFLICT` it waits for a concurrent transaction that
    /// inserts or changes the same key. The locks of foreign keys are left out: they conflict only with a deletion of the referenced row.
    static func acts(in words: [Substring]) -> [LockAct] {
        var reader = Reader(words)
        return reader.acts()
    }

    private struct Reader {
        let words: [Substring]
        /// The tables of the `FROM` at each depth of parentheses, with their aliases: `FOR UPDATE` locks their rows.
        private var sources: [Int: [(table: String, alias: Substring)]] = [:]
        private var found: [LockAct] = []

        init(_ words: [Substring]) { self.words = words }

        private func word(_ place: Int) -> Substring { words.indices.contains(place) ? words[place] : "" }

        /// The table that is named at a place, or nil if it is not one of the schema, or a function.
        private func table(_ place: Int) -> String? {
            let word = word(place)
            guard word.hasPrefix("gateway."), self.word(place + 1) != "(" || isColumnList(place) else { return nil }
            let name = String(word.dropFirst("gateway.".count))
            // Rows of a partition are rows of its table.
            return name == "delivery_default" ? "delivery" : name
        }

        /// Whether a parenthesis after the name is the column list of an `INSERT`.
        private func isColumnList(_ place: Int) -> Bool { word(place - 1) == "INTO" }

        mutating func acts() -> [LockAct] {
            var depth = 0
            for place in words.indices {
                switch words[place] {
                case "(":
                    depth += 1
                    sources[depth] = []
                case ")": depth -= 1
                case "SELECT": sources[depth] = []
                case "UPDATE" where !["FOR", "KEY", "DO"].contains(word(place - 1)):
                    if let table = table(place + (word(place + 1) == "ONLY" ? 2 : 1)) { found.append(.write(table)) }
                case "DELETE" where word(place + 1) == "FROM":
                    if let table = table(place + 2) { found.append(.write(table)) }
                case "INTO" where word(place - 1) == "INSERT":
                    if let table = table(place + 1), hasConflict(after: place) { found.append(.write(table)) }
                case "TABLE" where word(place - 1) == "LOCK":
                    if let table = table(place + 1) { found.append(.lock(table)) }
                case "FROM", "JOIN", ",":
                    if let table = table(place + 1), word(place - 1) != "DELETE" {
                        sources[depth, default: []].append((table, alias(after: place + 1)))
                    }
                case "FOR": addRowLocks(place, sources[depth] ?? [])
                case let word where word.hasPrefix("gateway.") && self.word(place + 1) == "(" && !isColumnList(place):
                    addCall(place)
                case "pg_advisory_xact_lock": addAdvisory(place)
                default: break
                }
            }
            return found
        }

        private func alias(after place: Int) -> Substring {
            word(place + 1) == "AS" ? word(place + 2) : word(place + 1)
        }

        /// `FOR UPDATE`, `FOR NO KEY UPDATE`, `FOR SHARE`, `FOR KEY SHARE`, with `OF` and `SKIP LOCKED`.
        private mutating func addRowLocks(_ place: Int, _ sources: [(table: String, alias: Substring)]) {
            guard ["UPDATE", "SHARE", "NO", "KEY"].contains(word(place + 1)) else { return }
            var end = place + 1
            while ["UPDATE", "SHARE", "NO", "KEY"].contains(word(end)) { end += 1 }
            var aliases: Set<Substring>?
            if word(end) == "OF" {
                aliases = [word(end + 1)]
                end += 2
            }
            let skips = word(end) == "SKIP"
            for source in sources where aliases?.contains(source.alias) ?? true {
                found.append(skips ? .lockFree(source.table) : .lock(source.table))
            }
        }

        private mutating func addCall(_ place: Int) {
            let name = String(words[place].dropFirst("gateway.".count))
            guard name == "lock_name" || name == "lock_names" else {
                found.append(.call(name))
                return
            }
            let kind = words[place...].prefix(8).first { $0.hasPrefix("'") } ?? "''"
            found.append(.lock("name:" + kind.dropFirst().dropLast()))
        }

        private mutating func addAdvisory(_ place: Int) {
            // The bodies of `lock_name` and `lock_names` have no literal.
            guard let name = words[place...].prefix(6).first(where: { $0.hasPrefix("'") }) else { return }
            found.append(.lock("name:" + name.dropFirst().dropLast()))
        }

        /// Whether the `INSERT` has an `ON CONFLICT`.
        private func hasConflict(after place: Int) -> Bool {
            var depth = 0
            for word in words[place...] {
                if word == "(" { depth += 1 }
                if word == ")" { depth -= 1 }
                if depth < 0 { return false }
                if depth == 0, word == "CONFLICT" { return true }
            }
            return false
        }
    }
}
