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

    /// The table that the others are colocated with, as in `gateway.colocate`.
    package static let anchor = "app"

    /// Parents before children, otherwise in the order of their creation. `anchor` is the first of its kind.
    package let tables: [Table]
    package let breaches: [Breach]

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
