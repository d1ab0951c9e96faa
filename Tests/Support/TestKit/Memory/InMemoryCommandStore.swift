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
        let answers = try database.transaction { tables, now -> Result<[StoreAnswer], StoreError> in
            if statements.contains(where: { tables.isOutdated($0, in: tenant) }) {
                return .failure(StoreError(.outdated, "changed"))
            }
            if statements.contains(where: { tables.isOvertaken($0, in: tenant) }) {
                return .failure(StoreError(.conflict, "changed"))
            }
            return .success(statements.map { tables.run($0, in: tenant, now: now) })
        }
        return try answers.get()
    }

    package func run(
        _ statements: [StoreStatement],
        in tenant: TenantID,
        keeping keep: Keep<[StoreAnswer]>
    ) async throws(StoreError) -> Kept<[StoreAnswer]> {
        try database.transaction { tables, now -> Kept<[StoreAnswer]> in
            let index = Scoped(tenant, keep.key.key)
            if let known = tables.answers[index] {
                return known.bodyHash == keep.key.bodyHash ? .repeated(known.answer) : .mismatch
            }
            let before = tables
            let answers = statements.map { tables.run($0, in: tenant, now: now) }
            guard let answer = keep.answer(answers) else { return .done(answers) }
            guard answer.body.count <= KeptAnswer.limitBytes else {
                tables = before
                return .tooLarge
            }
            tables.answers[index] = MemoryTables.Answer(bodyHash: keep.key.bodyHash, answer: answer)
            return .done(answers)
        }
    }
}
