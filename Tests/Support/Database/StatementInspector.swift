package import DatabaseSchema
package import PostgresClient
import Synchronization
import Testing

/// Checks every statement of the stores against the rules of `StatementRules`, and every transaction against the order of locks, when a test first
/// uses it. A violation is an issue of that test.
///
/// No list of statements is needed: a new statement is checked by the test that uses it.
package final class StatementInspector: Sendable {
    private let rules: StatementRules
    /// The parameter names of the schema's functions, in order.
    private let parameters: [String: [String]]
    /// The transactions that were checked.
    private let seen = Mutex<Set<String>>([])
    /// The statements that were checked, and whether each keeps the rules: a check takes longer than most statements.
    private let judged = Mutex<[String: Bool]>([:])
    private let locks: LockWalk

    /// - Parameter admin: a session with a migrated database.
    /// - Throws: `PostgresError`.
    package init(_ admin: PostgresConnection) async throws {
        let catalog = try await SchemaCatalog(admin)
        rules = StatementRules(catalog)
        let functions = try await admin.query(
            """
            SELECT proname::text AS name, coalesce(proargnames[1:pronargs], '{}') AS names FROM pg_proc
            WHERE pronamespace = 'gateway'::regnamespace
            """
        )
        var parameters: [String: [String]] = [:]
        for function in functions { parameters[try function.text("name")] = try function.texts("names") }
        self.parameters = parameters
        locks = LockWalk(functions: try SchemaFiles.bundled().functions)
    }

    /// Checks the statements of a transaction, and the order of its locks, when they are first used. A statement of a test declares no reach and is
    /// not checked.
    func inspect(_ statements: [Statement], as role: GatewayRole) {
        for statement in statements where statement.reach != nil {
            // Only statements of the schema's tables and functions have plans worth checking; one that breaks a rule is a test's own.
            if keepsTheRules(statement), statement.sql.contains("gateway.") {
                StatementRecord.shared.note(statement, role: role.rawValue)
            }
        }
        let stored = statements.filter { $0.reach != nil }.map(\.sql)
        let key = stored.joined(separator: ";")
        guard !stored.isEmpty, seen.withLock({ $0.insert(key).inserted }) else { return }
        for breach in lockBreaches(in: stored) { Issue.record("out of the order of locks: \(breach) in \(key)") }
    }

    /// The functions of the delivery path, whose transactions keep the order as a whole.
    private static let deliveryPath = [
        "record_outcomes(", "split_slice(", "move_due(", "return_route(", "poll_inbox(", "history_page(",
        "report_number(", "report_numbers(", "acknowledge(",
    ]

    /// The locks that a transaction of the delivery path takes out of order, other than those inside of a function.
    ///
    /// Other calls may consist of several operations, such as two registrations, each of which ends with the lock of the event log. If two such calls
    /// deadlock, the pool repeats the one that loses.
    package func lockBreaches(in statements: [String]) -> [PlacedPair] {
        guard statements.contains(where: { text in Self.deliveryPath.contains { text.contains($0) } }) else {
            return []
        }
        let known = LockOrder.exceptions + LockOrder.registrationFaults
        return LockOrder.deviations(in: locks.pairs(transaction: statements).subtracting(locks.pairs), except: known)
    }

    /// Whether a statement keeps the rules. Those that it breaks are issues of the test that uses it first.
    private func keepsTheRules(_ statement: Statement) -> Bool {
        guard let reach = statement.reach else { return true }
        if let known = judged.withLock({ $0[statement.sql] }) { return known }
        let breaches = breaches(in: statement.sql, reach)
        let isFirst = judged.withLock { $0.updateValue(breaches.isEmpty, forKey: statement.sql) == nil }
        if isFirst { for breach in breaches { Issue.record("\(breach): \(statement.sql)") } }
        return breaches.isEmpty
    }

    /// The violations of a statement.
    package func breaches(in sql: String, _ reach: Statement.Reach) -> [String] {
        var found = rules.breaches(in: sql, isGlobal: reach == .global)
        if reach == .tenant, !sql.contains("$1") { found.append("no parameter for the tenant") }
        for call in sql.matches(of: /gateway\.([a-z_]+)\((p_[a-z_]+ => [^()]*)\)/) {
            let name = String(call.1)
            let named = call.2.split(separator: ", ").compactMap { $0.split(separator: " ").first.map(String.init) }
            let wanted = parameters[name] ?? []
            if Set(named) != Set(wanted) || named.count != wanted.count {
                let difference = Set(named).symmetricDifference(wanted).sorted().joined(separator: ", ")
                found.append("\(name) has other parameters (\(difference))")
            }
        }
        return found
    }
}

extension StatementRules {
    /// The rules for a schema.
    package init(_ catalog: SchemaCatalog) {
        self.init(
            distributed: Set(catalog.names(.distributed)),
            reference: Set(catalog.names(.reference)),
            functions: Set(catalog.functions.map(\.name)),
            immutable: Set(catalog.functions.filter(\.isImmutable).map(\.name))
        )
    }
}

extension SchemaFiles {
    /// The text of each function by its name.
    package var functions: [String: String] {
        Dictionary(uniqueKeysWithValues: routines.map { ($0.name, $0.sql) })
    }
}
