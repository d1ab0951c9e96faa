/// The rules of distribution for the text of a statement (docs/schema.md#rules). The check is lexical: it reads
/// words, not plans, and in doubt reports a violation.
package struct StatementRules: Sendable {
    /// Tables that are distributed by `tenant_id`.
    package var distributed: Set<String>
    /// Tables that exist on every server.
    package var reference: Set<String>
    /// The functions of the schema that exist on every server. A statement with a distributed table may call only these.
    package var functions: Set<String>
    /// Those of `functions` that are immutable.
    package var immutable: Set<String>

    package init(
        distributed: Set<String>,
        reference: Set<String> = [],
        functions: Set<String> = [],
        immutable: Set<String> = []
    ) {
        self.distributed = distributed
        self.reference = reference
        self.functions = functions
        self.immutable = immutable
    }

    /// The violations of a statement of one tenant or, if `isGlobal`, of no tenant. If `isSecured`, row-level
    /// security applies, as for all statements of API calls.
    package func breaches(in sql: String, isGlobal: Bool = false, isSecured: Bool = true) -> [String] {
        let text = Self.plain(sql)
        let tables = uses(in: text)
        guard !tables.isEmpty else { return [] }
        var found: [String] = []
        func rule(_ name: String, _ isBroken: Bool) { if isBroken { found.append(name) } }
        let isWrite = text.contains(/\b(UPDATE|DELETE FROM|INSERT INTO|MERGE INTO) gateway\./)
        let writes = text.matches(of: /\b(?:UPDATE|DELETE FROM|INSERT INTO|MERGE INTO) gateway\.([a-z_]+)/)
        let writesTenants = writes.contains { distributed.contains(String($0.1)) }
        rule("a statement over all tenants writes a tenant's table", isGlobal && writesTenants)
        rule("tenant_id is missing for a table", !names(tables, in: text, isGlobal: isGlobal))
        let comparison = /\(\s*(?:[a-z]+\.)?tenant_id\s*,[^()]*\)\s*(?:[<>]=?|=)/
        rule("row comparison with tenant_id asks every shard", text.contains(comparison))
        rule("locks without one tenant", text.contains(/FOR (NO KEY )?(UPDATE|SHARE|KEY SHARE)/) && isGlobal)
        rule("GROUPING SETS", text.contains(/\b(GROUPING SETS|CUBE|ROLLUP)\b/))
        rule("recursive CTE", text.contains(/\bWITH RECURSIVE\b/))
        rule("a place in a page (ctid)", text.contains(/\bctid\b/))
        let ids = /\b(pg_current_xact_id|txid_current|pg_current_snapshot|pg_snapshot_xmin|pg_visible_in_snapshot)\b/
        rule("a server's own transaction ids", text.contains(ids))
        rule("set_config does not reach the workers", text.contains(/\bset_config\(/))
        rule("currval and lastval are a session's own", text.contains(/\b(currval|lastval)\(/))
        let calls = text.matches(of: /\bgateway\.([a-z_]+)\(/).map { String($0.1) }
        let hasDistributed = tables.contains { distributed.contains($0.table) }
        // INSERT INTO gateway.x (…) is not a call.
        let functions = calls.filter { !self.functions.contains($0) && !isTable($0) }
        rule("a function that workers do not have", hasDistributed && !functions.isEmpty)
        if isGlobal { found += globalBreaches(in: text, tables) }
        if isSecured { found += lookupBreaches(in: text, Set(tables.compactMap(\.alias))) }
        guard isWrite else { return found }
        found += writeBreaches(in: text)
        return found
    }

    /// Rules of statements that change rows.
    private func writeBreaches(in text: String) -> [String] {
        var found: [String] = []
        func rule(_ name: String, _ isBroken: Bool) { if isBroken { found.append(name) } }
        let volatile = /\b(clock_timestamp|gen_random_uuid|random|statement_timestamp|timeofday|nextval)\(/
        for clause in Self.clauses(after: "SET", in: text) {
            rule("volatile function in SET", clause.text.contains(volatile))
            let conditional = Self.calls(of: ["coalesce", "CASE"], in: clause.text)
            rule("now() in CASE or COALESCE of a SET", conditional.contains { $0.contains("now()") })
            rule("now() in DO UPDATE", clause.isConflict && clause.text.contains("now()"))
            rule("an interval with a column in SET", Self.addsInterval(to: clause.text))
            // Ends the process of the coordinator.
            rule("a subscript in SET", clause.text.contains(/[a-z0-9_)]\[[^\]]/))
            // Citus sends `CASE x WHEN (x = 'a')` to the worker.
            rule("CASE with an operand in SET", clause.text.contains(/\bCASE (?!WHEN\b)/))
            let stable = clause.text.matches(of: /\bgateway\.([a-z_]+)\(/).filter { !immutable.contains(String($0.1)) }
            rule("a function in SET that is not immutable", !stable.isEmpty)
        }
        let stable =
            /\b(jsonb?_build_(object|array)|to_jsonb?|row_to_json|array_to_json|concat|concat_ws|format|to_char|to_timestamp)\(/
        for clause in Self.clauses(after: "RETURNING", in: text) {
            rule("now() in RETURNING", clause.text.contains("now()") || clause.text.contains(volatile))
            rule("a function in RETURNING that is not immutable", clause.text.contains(stable))
        }
        // Otherwise Citus turns it into a COPY, which row-level security refuses and whose errors have the code
        // XX000.
        for insert in Self.statements(beginning: "INSERT INTO gateway.", in: text) where insert.contains(/\bSELECT\b/) {
            // Citus: "subqueries are not supported within INSERT queries".
            let hasValues = insert.contains(/\) VALUES \(/)
            rule("subquery in VALUES", hasValues)
            // With the tenant of a colocated row, it runs where the rows are.
            let isColocated = insert.contains(/\bSELECT [a-z]+\.tenant_id\b/)
            let isCopy =
                !hasValues && !isColocated && !insert.contains("ON CONFLICT") && !insert.contains("RETURNING")
            rule("INSERT … SELECT without ON CONFLICT or RETURNING", isCopy)
        }
        return found
    }

    /// Whether a time is computed from a column and an interval: that depends on the time zone, so that the operator is only stable. Parameters (`$1`, `p_…`) and
    /// variables (`v_…`) are constants.
    private static func addsInterval(to text: String) -> Bool {
        let columns = text.matches(of: /([a-z_0-9.$]+)\)? [+-] interval '/).filter { !$0.1.contains(/^(?:[pv]_|\$)/) }
        let ofNow = text.contains(/\bnow\(\) [+-] (?!interval '|make_interval|[pv]_|\$)/)
        return !columns.isEmpty || ofNow || text.contains(/\bmake_interval\(secs => (?![pv]_|\$)|\* interval '/)
    }

    /// Rules of statements over all tenants, whose subqueries Citus plans one by one.
    private func globalBreaches(in text: String, _ tables: [Use]) -> [String] {
        var found: [String] = []
        // Citus: "a column definition list is required for functions returning \"record\"". A subquery of a condition is part of its statement.
        if text.contains(/\bEXISTS ?\( ?SELECT FROM\b/), !Self.outermost(text[...]).contains(" FROM ") {
            found.append("no columns in a subquery over all tenants")
        }
        let laterals = Self.statements(beginning: "LATERAL (", in: text)
        let hasReference = tables.contains { reference.contains($0.table) }
        if hasReference, tables.contains(where: { distributed.contains($0.table) }), !laterals.isEmpty {
            found.append("a subquery about the rows of a reference table")
        }
        let isOpen = laterals.contains { !Self.outermost($0.dropFirst("LATERAL (".count)).contains(" FROM ") }
        if isOpen { found.append("a correlated subquery without FROM") }
        return found
    }

    /// The text outside of parentheses.
    private static func outermost(_ text: Substring) -> String {
        var depth = 0
        var out = ""
        for character in text {
            if character == ")" { depth -= 1 }
            if depth == 0 { out.append(character) }
            if character == "(" { depth += 1 }
        }
        return out
    }

    private func isTable(_ name: String) -> Bool { distributed.contains(name) || reference.contains(name) }

    /// Row-level security allows only conditions on an index that cannot leak rows, so the compared value must be
    /// computed beforehand, in a subquery that is not pulled up.
    private func lookupBreaches(in text: String, _ aliases: Set<String>) -> [String] {
        var found: [String] = []
        let coalesced = /\b([a-z][a-z0-9]*)\.[a-z_]+ (?:=|<|>|<=|>=) coalesce\(/
        if text.matches(of: coalesced).contains(where: { aliases.contains(String($0.1)) }) {
            found.append("COALESCE in a comparison asks no index")
        }
        let computed =
            /\b([a-z][a-z0-9]*)\.[a-z_]+ = (?:(?:md5|split_part|lower|upper|left|right|substr|concat)\(|'' \|\| )[a-z][a-z0-9]*\./
        let isOpen = text.matches(of: computed).contains { match in
            guard aliases.contains(String(match.1)) else { return false }
            return !Self.enclosing(match.range, in: text).contains(/OFFSET 0|LIMIT |\b(?:array_agg|count)\(/)
        }
        if isOpen { found.append("a function of another row's column asks no index") }
        return found
    }

    /// The parentheses around a position, without the contents of others.
    private static func enclosing(_ range: Range<String.Index>, in text: String) -> String {
        var depth = 0
        var start = range.lowerBound
        while start > text.startIndex {
            let before = text.index(before: start)
            if text[before] == ")" { depth += 1 }
            if text[before] == "(" { depth -= 1 }
            if depth < 0 { break }
            start = before
        }
        return start == text.startIndex ? "" : clause(from: text[start...], until: [])
    }

    // MARK: Tenants

    private struct Use {
        var table: String
        var alias: String?
        var isInsert: Bool
    }

    /// The positions where the text names tables of tenants, with their aliases.
    private func uses(in text: String) -> [Use] {
        let pattern =
            /\b(FROM|JOIN|UPDATE|INTO|USING|,) (?:ONLY )?gateway\.([a-z_]+)\b(?!\()(?: (?:AS )?([a-z][a-z0-9_]*)\b)?/
        return text.matches(of: pattern).compactMap { match in
            let table = String(match.2)
            guard distributed.contains(table) || reference.contains(table) else { return nil }
            return Use(table: table, alias: match.3.map(String.init), isInsert: match.1 == "INTO")
        }
    }

    /// Whether each use has its own tenant condition: a parameter, a variable, or another table's column.
    private func names(_ uses: [Use], in text: String, isGlobal: Bool) -> Bool {
        var unnamed = 0
        for use in uses where distributed.contains(use.table) {
            if use.isInsert {
                // The list of columns, or a row type.
                unnamed += 1
                continue
            }
            guard let alias = use.alias else {
                unnamed += 1
                continue
            }
            let isNamed = text.matches(of: /([a-z][a-z0-9_]*)\.tenant_id\s*=|=\s*([a-z][a-z0-9_]*)\.tenant_id/)
                .contains { String($0.1 ?? $0.2 ?? "") == alias }
            // A single table may omit its alias; over all tenants, one table needs no condition.
            if !isNamed { unnamed += 1 }
        }
        let naming = /([.a-z_]?)\btenant_id\b(?:\s*=\s*(?:\$1|p_tenant|v_tenant|[a-z]+\.tenant_id)|\s*,|\s*\))/
        let plain = text.matches(of: naming).count { $0.1.isEmpty }
        return isGlobal ? unnamed <= max(1, plain) : unnamed <= plain
    }

    // MARK: Words

    /// The text without comments and literals, with each run of white space as one space.
    package static func plain(_ sql: String) -> String {
        sql.replacing(/--[^\n]*/, with: " ").replacing(/'(?:[^']|'')*'/, with: "''").replacing(/\s+/, with: " ")
            .trimmingSpaces()
    }

    struct Clause {
        var text: String
        var isConflict: Bool
    }

    /// The text after each `word` up to the end of its clause: a closing parenthesis, a semicolon, or the word of the
    /// next clause.
    static func clauses(after word: String, in text: String) -> [Clause] {
        let ends: Set<String> = word == "SET" ? ["FROM", "WHERE", "RETURNING"] : ["INTO"]
        return text.ranges(of: word + " ").compactMap { range in
            let before = text[..<range.lowerBound]
            guard before.isEmpty || before.last == " " || before.last == "(" else { return nil }
            // SET LOCAL and SET NULL are not clauses of an UPDATE.
            let rest = text[range.upperBound...]
            guard !rest.hasPrefix("LOCAL"), !rest.hasPrefix("NULL") else { return nil }
            return Clause(text: clause(from: rest, until: ends), isConflict: before.hasSuffix("DO UPDATE "))
        }
    }

    private static func clause(from text: Substring, until ends: Set<String>) -> String {
        var depth = 0
        var word = ""
        var out = ""
        for character in text {
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            if depth < 0 || character == ";" { break }
            if character == " " {
                if depth == 0, ends.contains(word) { return String(out.dropLast(word.count)) }
                word = ""
            } else {
                word.append(character)
            }
            out.append(character)
        }
        return out
    }

    /// The arguments of calls with these names; `CASE` ends with `END`.
    static func calls(of names: [String], in text: String) -> [String] {
        names.flatMap { name in
            text.ranges(of: name).map { range in
                let rest = text[range.upperBound...]
                if name == "CASE" { return String(rest[..<(rest.firstRange(of: " END")?.lowerBound ?? rest.endIndex)]) }
                guard rest.first == "(" else { return "" }
                return clause(from: rest.dropFirst(), until: [])
            }
        }
    }

    /// The statements, or parts of statements in parentheses, with this beginning.
    static func statements(beginning start: String, in text: String) -> [String] {
        text.ranges(of: start).map { start + clause(from: text[$0.upperBound...], until: []) }
    }
}

extension String {
    fileprivate func trimmingSpaces() -> String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
