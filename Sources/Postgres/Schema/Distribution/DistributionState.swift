import PostgresClient

/// The parts of the plan that a database has.
package struct DistributionState: Sendable, Hashable {
    package var distributed: Set<String> = []
    package var reference: Set<String> = []
    /// The signatures of the functions that workers have.
    package var functions: Set<String> = []
    /// The tables of which the coordinator still has its own copy with rows.
    package var leftovers: Set<String> = []
    /// Whether the owner of the tables may log in on the workers.
    package var ownerLogsIn = false
    /// Whether workers receive the tenant of a call.
    package var callsNameTheirTenant = false

    package init() {}

    /// - Parameter rows: the answer of `CatalogSQL.distribution`.
    /// - Throws: `PostgresError`.
    init(_ rows: ResultSet) throws(PostgresError) {
        for row in rows {
            let name = try row.text("name")
            switch try row.text("kind") {
            case "distributed": distributed.insert(name)
            case "reference": reference.insert(name)
            case "function": functions.insert(name)
            case "leftover": leftovers.insert(name)
            case "login" where name == "gateway_owner": ownerLogsIn = true
            case "setting" where name == "gateway_call citus.propagate_set_commands=local": callsNameTheirTenant = true
            default: break
            }
        }
    }
}
