import DatabaseSchema
package import PostgresClient
import Synchronization
import Testing

/// Checks every statement of the stores against the rules of `StatementRules` when a test first uses it. A violation is an issue of that
/// test.
///
/// No list of statements is needed: a new statement is checked by the test that uses it.
package final class StatementInspector: Sendable {
    private let rules: StatementRules
    /// The parameter names of the schema's functions, in order.
    private let parameters: [String: [String]]
    private let seen = Mutex<Set<String>>([])

    /// - Parameter admin: a session with a migrated database.
    /// - Throws: `PostgresError`.
    package init(_ admin: PostgresConnection) async throws {
        let catalog = try await SchemaCatalog(admin)
        rules = StatementRules(
            distributed: Set(catalog.names(.distributed)),
            reference: Set(catalog.names(.reference))
        )
        let functions = try await admin.query(
            """
            SELECT proname::text AS name, coalesce(proargnames[1:pronargs], '{}') AS names FROM pg_proc
            WHERE pronamespace = 'gateway'::regnamespace
            """
        )
        var parameters: [String: [String]] = [:]
        for function in functions { parameters[try function.text("name")] = try function.texts("names") }
        self.parameters = parameters
    }

    /// Checks a statement of a store when it is first used. A statement of a test declares no reach and is not
    /// checked.
    func inspect(_ statement: Statement) {
        guard let reach = statement.reach, seen.withLock({ $0.insert(statement.sql).inserted }) else { return }
        for breach in breaches(in: statement.sql, reach) { Issue.record("\(breach): \(statement.sql)") }
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
