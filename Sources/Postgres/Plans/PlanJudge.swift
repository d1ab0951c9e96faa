import Foundation

/// Judges the reads of a plan.
struct PlanJudge {
    struct Index: Sendable {
        var columns: [String]
        var condition: String?
        var isUnique: Bool
    }

    var indexes: [String: Index] = [:]
    /// The tables of partitions.
    var parents: [String: String] = [:]
    /// The most rows that one value of an index's first columns selects.
    private var counts: [String: Int] = [:]
    private let session: PlanCheck.Session

    init(session: @escaping PlanCheck.Session) { self.session = session }

    /// The reads without a limit in the answer of `EXPLAIN (FORMAT JSON)`.
    ///
    /// - Throws: the session's errors, and `DecodingError`.
    mutating func faults(in plan: String, of statement: PlannedStatement) async throws -> [PlanFault] {
        guard let plan = try JSONDecoder().decode([PlanNode.Answer].self, from: Data(plan.utf8)).first?.plan else {
            return []
        }
        var faults: [PlanFault] = []
        for read in plan.reads() {
            let table = parents[read.table] ?? read.table
            guard !table.isEmpty, !PlanCheck.small.contains(table), !table.hasPrefix("pg_") else { continue }
            guard let reason = try await reason(read) else { continue }
            let fault = PlanFault(
                place: statement.function ?? "store",
                table: table,
                reason: reason,
                sql: statement.sql
            )
            if !faults.contains(fault) { faults.append(fault) }
        }
        return faults
    }

    /// Why a read has no limit; nil: it has one.
    private mutating func reason(_ read: PlannedRead) async throws -> String? {
        guard let name = read.index else {
            return try await rows(of: read.table, by: [], where: nil) > 0 ? "sequential scan" : nil
        }
        guard let index = indexes[name] else { return "unknown index \(name)" }
        let prefix = Array(index.columns.prefix { read.equal.contains($0) })
        if index.isUnique, prefix.count == index.columns.count { return nil }
        let rows = try await rows(of: read.table, by: prefix, where: index.condition)
        if rows <= PlanCheck.rowLimit { return nil }
        // The index cannot skip rows by columns behind the next one.
        let ordered = Set(index.columns.prefix(prefix.count + 1))
        let filters = read.filter != nil && read.filter != index.condition
        if read.isLimited, !filters, read.compared.isSubset(of: ordered) { return nil }
        let search = prefix.isEmpty ? "all of \(name)" : "\(name) by \(prefix.joined(separator: ", "))"
        return "\(rows) rows, \(search)\(read.isLimited ? ", with a filter" : "")"
    }

    private mutating func rows(of table: String, by columns: [String], where condition: String?) async throws -> Int {
        let list = columns.joined(separator: ", ")
        let key = "\(table) \(list) \(condition ?? "")"
        if let known = counts[key] { return known }
        let source = "FROM gateway.\(table)" + (condition.map { " WHERE \($0)" } ?? "")
        let sql =
            columns.isEmpty
            ? "SELECT count(*)::text \(source)"
            : "SELECT coalesce(max(n), 0)::text FROM (SELECT count(*) AS n \(source) GROUP BY \(list)) x"
        let count = try await session(sql, 1).first?.first?.flatMap { Int($0) } ?? 0
        counts[key] = count
        return count
    }
}
