package import Commands
package import Model

/// The command store over a `MemoryDatabase`.
package struct InMemoryCommandStore: CommandStore {
    package let database: MemoryDatabase

    package init(_ database: MemoryDatabase) { self.database = database }

    package func run(
        _ statements: [StoreStatement],
        in tenant: TenantID
    ) async throws(StoreError) -> [StoreAnswer] {
        try database.transaction { tables, now in statements.map { tables.run($0, in: tenant, now: now) } }
    }
}
