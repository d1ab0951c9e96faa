package import PostgresClient

/// The tables of a schema, and the place of each when the schema is distributed over Citus by `tenant_id`.
///
/// The places are derived from the keys: a table whose key contains the tenant is distributed, a table that is read before the tenant is known is a
/// reference table, and a table without a tenant stays on the coordinator.
package struct SchemaCatalog: Sendable {
    /// The place of a table's rows.
    package enum Place: Sendable, Hashable {
        /// Distributed by `tenant_id`. All such tables are colocated.
        case distributed
        /// Copied to every server: small, rarely written.
        case reference
        /// Only on the coordinator: the bookkeeping of the cluster.
        case local
    }

    package struct Table: Sendable, Hashable {
        package var name: String
        package var place: Place
        /// The names of the tables that its foreign keys reference.
        package var parents: Set<String>
        package var partitions: Int
    }

    /// A property of the catalog that prevents the distribution of the schema.
    package struct Breach: Sendable, Hashable {
        package var rule: String
        package var subject: String
    }

    /// A function that reads and writes no table and takes no lock. A statement on the tables of a tenant may call it: on Citus, each worker has it.
    package struct Function: Sendable, Hashable {
        package var name: String
        /// As in `gateway.stage_of(text, text, boolean)`.
        package var signature: String
        /// Whether an UPDATE may call it with columns.
        package var isImmutable: Bool
    }

    /// The table that the others are colocated with, as in `gateway.colocate`.
    package static let anchor = "app"

    /// Parents before children, otherwise in the order of their creation. `anchor` is the first of its kind.
    package let tables: [Table]
    package let breaches: [Breach]
    /// The functions that workers need, in the order of their signatures.
    package let functions: [Function]
    /// The parts of the plan that the database has; nil unless its tables are distributed.
    package let distribution: DistributionState?

    /// Reads the catalog.
    ///
    /// - Parameters:
    ///   - schema: the name of the schema.
    ///   - admin: a session that may read it.
    /// - Throws: `PostgresError`.
    package init(of schema: String = "gateway", _ admin: PostgresConnection) async throws(PostgresError) {
        func ask(_ statement: Statement) async throws(PostgresError) -> ResultSet {
            try await admin.run(Transaction(tenant: nil, [statement])).first ?? .empty
        }
        var found: [Table] = []
        var keys: [String: [String]] = [:]
        for row in try await ask(CatalogSQL.tables(of: schema)) {
            let name = try row.text("name")
            keys[name] = try row.texts("key")
            found.append(
                Table(
                    name: name,
                    place: try row.bool("has_tenant") ? .distributed : .local,
                    parents: Set(try row.texts("parents")),
                    partitions: try row.int("partitions")
                )
            )
        }
        tables = Self.ordered(Self.placed(found, keys))
        var breaches: [Breach] = []
        let names = { (place: Place) in
            Self.placed(found, keys).filter { $0.place == place }.map(\.name)
        }
        let statement = CatalogSQL.breaches(
            of: schema,
            distributed: names(.distributed),
            reference: names(.reference)
        )
        for row in try await ask(statement) {
            breaches.append(Breach(rule: try row.text("rule"), subject: try row.text("subject")))
        }
        self.breaches = breaches
        var candidates: [(function: Function, body: String)] = []
        for row in try await ask(CatalogSQL.functions(of: schema)) {
            let function = Function(
                name: try row.text("name"),
                signature: try row.text("signature"),
                isImmutable: try row.bool("is_immutable")
            )
            candidates.append((function, try row.text("body")))
        }
        functions = Self.pure(candidates, in: schema)
        // The catalog of Citus exists only with its extension.
        if try await ask(CatalogSQL.citus()).only().int("count") > 0 {
            let state = try DistributionState(try await ask(CatalogSQL.distribution(of: schema)))
            distribution = state.distributed.contains(Self.anchor) ? state : nil
        } else {
            distribution = nil
        }
    }

    /// Those that name nothing of the schema except each other. A function that locks a name is volatile, and not among them.
    static func pure(_ candidates: [(function: Function, body: String)], in schema: String) -> [Function] {
        var pure = candidates
        while true {
            let names = Set(pure.map(\.function.name))
            let kept = pure.filter { candidate in
                candidate.body.matches(of: /\b([a-z_]+)\.([a-z_]+)/)
                    .allSatisfy { $0.1 != schema || names.contains(String($0.2)) }
            }
            if kept.count == pure.count { return kept.map(\.function) }
            pure = kept
        }
    }

    /// The tables of one kind, in order.
    package func names(_ place: Place) -> [String] { tables.filter { $0.place == place }.map(\.name) }

    /// A table whose key does not begin with the tenant is looked up without a tenant: it must be on every server, and so must the tables that it
    /// references, if one of them is the list of tenants itself.
    static func placed(_ tables: [Table], _ keys: [String: [String]]) -> [Table] {
        var tables = tables
        for index in tables.indices where tables[index].place == .distributed {
            if keys[tables[index].name]?.first != "tenant_id" { tables[index].place = .reference }
        }
        let reached = Set(tables.filter { $0.place == .reference }.flatMap(\.parents))
        for index in tables.indices where reached.contains(tables[index].name) {
            if keys[tables[index].name] == ["tenant_id"] { tables[index].place = .reference }
        }
        return tables
    }

    /// Orders parents before children. A cycle of foreign keys, which the gateway's schema does not contain, keeps its order.
    static func ordered(_ tables: [Table]) -> [Table] {
        var waiting = tables.filter { $0.name == anchor } + tables.filter { $0.name != anchor }
        var done: [Table] = []
        while !waiting.isEmpty {
            let names = Set(waiting.map(\.name))
            let index = waiting.firstIndex { $0.parents.isDisjoint(with: names.subtracting([$0.name])) } ?? 0
            done.append(waiting.remove(at: index))
        }
        return done
    }
}
