/// A node of `EXPLAIN (FORMAT JSON)`.
package struct PlanNode: Decodable, Sendable {
    var type: String
    var relationship: String?
    var relation: String?
    var index: String?
    var condition: String?
    var filter: String?
    var joinType: String?
    var children: [PlanNode]?

    enum CodingKeys: String, CodingKey {
        case type = "Node Type"
        case relationship = "Parent Relationship"
        case relation = "Relation Name"
        case index = "Index Name"
        case condition = "Index Cond"
        case filter = "Filter"
        case joinType = "Join Type"
        case children = "Plans"
    }

    /// The answer of `EXPLAIN`: a list of one plan.
    struct Answer: Decodable {
        var plan: PlanNode

        enum CodingKeys: String, CodingKey { case plan = "Plan" }
    }
}

/// One place of a plan that reads rows of a growing table.
struct PlannedRead: Sendable {
    var table: String
    /// Nil: the table is read from the beginning to the end.
    var index: String?
    /// The columns that the condition compares with `=` or `= ANY`.
    var equal: Set<String>
    /// All columns in the condition.
    var compared: Set<String>
    /// Nil: absent, or only the policy of row-level security, which removes no row that the tenant's condition has found.
    var filter: String?
    /// Whether a `LIMIT` above stops the read, and nothing in between reads all rows.
    var isLimited: Bool
}

extension PlanNode {
    /// The reads of the plan.
    func reads() -> [PlannedRead] {
        var found: [PlannedRead] = []
        collect(into: &found, isLimited: false)
        return found
    }

    /// Nodes that pass each row on before they read the next one.
    private static let passing: Set<String> = [
        "Append", "Merge Append", "Nested Loop", "Subquery Scan", "Result", "ProjectSet", "LockRows", "Materialize",
        "Memoize",
    ]

    private func collect(into found: inout [PlannedRead], isLimited: Bool) {
        switch type {
        case "Seq Scan", "Sample Scan", "Tid Scan", "Tid Range Scan":
            found.append(read(isLimited: false))
        case "Index Scan", "Index Only Scan":
            found.append(read(isLimited: isLimited))
        case "Bitmap Heap Scan":
            for child in children ?? [] where child.isPlainChild {
                child.collectBitmaps(into: &found, of: relation ?? "")
            }
            for child in children ?? [] where !child.isPlainChild { child.collect(into: &found, isLimited: false) }
            return
        default: break
        }
        for child in children ?? [] {
            let passes = type == "Limit" || isLimited && Self.passing.contains(type) && filter == nil
            // A semi join stops at the first row of its inner side.
            let isSought =
                child.relationship == "Inner" && (joinType == "Semi" || joinType == "Anti") && type == "Nested Loop"
            child.collect(into: &found, isLimited: child.isPlainChild && (passes || isSought))
        }
    }

    private func collectBitmaps(into found: inout [PlannedRead], of table: String) {
        if type == "Bitmap Index Scan" {
            var read = read(isLimited: false)
            read.table = table
            found.append(read)
        }
        for child in children ?? [] { child.collectBitmaps(into: &found, of: table) }
    }

    private var isPlainChild: Bool { relationship != "InitPlan" && relationship != "SubPlan" }

    private func read(isLimited: Bool) -> PlannedRead {
        // A plan shows names that are also keywords, such as "position", in quotes.
        let pattern = /\((?:[a-z][a-z0-9_]*\.)?"?([a-z][a-z0-9_]*)"? (=|<=|>=|<|>|IS)\s/
        var (equal, compared): (Set<String>, Set<String>) = ([], [])
        for match in (condition ?? "").matches(of: pattern) {
            compared.insert(String(match.1))
            if match.2 == "=" { equal.insert(String(match.1)) }
        }
        return PlannedRead(
            table: relation ?? "",
            index: index,
            equal: equal,
            compared: compared,
            filter: withoutPolicy(filter),
            isLimited: isLimited
        )
    }

    private func withoutPolicy(_ filter: String?) -> String? {
        let policy = "(tenant_id = current_setting('gateway.tenant'::text, true))"
        guard let filter, filter != policy else { return nil }
        guard filter.hasPrefix("("), filter.contains(policy) else { return filter }
        return String(filter.dropFirst().dropLast()).replacing(" AND " + policy, with: "").replacing(
            policy + " AND ",
            with: ""
        )
    }
}
