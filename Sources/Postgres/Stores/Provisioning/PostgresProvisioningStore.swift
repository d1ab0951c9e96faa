import Model

/// Channels of LISTEN/NOTIFY. A hint only: whoever listens reads the tables also after a reconnection.
package enum PostgresChannel {
    /// Tenants, credentials, bindings or API keys changed.
    package static let provisioning = "gateway_provisioning"
}

/// Applies provisioning files: idempotent, all or nothing.
package struct PostgresProvisioningStore: Sendable {
    private let engine: PostgresPool

    /// - Parameter engine: the pool of `gateway_engine`.
    package init(engine: PostgresPool) { self.engine = engine }

    /// Makes the listed tenants as they are listed. What they have beyond it goes away (an app only retires: its history stays);
    /// tenants that are not listed are not touched, nor are API keys that were created by hand.
    ///
    /// - Throws: `ProvisioningError`.
    package func apply(_ tenants: [ProvisionedTenant]) async throws(ProvisioningError) -> ProvisioningSummary {
        let parts = tenants.map(ProvisioningStatements.init)
        if let twice = ProvisioningStatements.duplicate(tenants.map { "tenant \($0.id)" })
            ?? parts.compactMap(\.duplicate).first
        {
            throw .duplicate(twice)
        }
        do throws(PostgresError) {
            return try ProvisioningPlan(parts).summary(of: try await engine.run(ProvisioningPlan(parts).transaction))
        } catch {
            throw ProvisioningPlan(parts).refusal(for: error)
        }
    }
}

/// The transaction of one apply: make room, look whether anything is somebody else's, write, tell.
private struct ProvisioningPlan: Sendable {
    let parts: [ProvisioningStatements]

    init(_ parts: [ProvisioningStatements]) { self.parts = parts }

    var transaction: Transaction {
        let ids = PostgresValue.strings(parts.map(\.tenant.id.rawValue))
        return Transaction(
            tenant: nil,
            [ProvisioningSQL.lock(), ProvisioningSQL.tenants(ids)] + parts.flatMap(\.removals)
                + parts.flatMap(\.checks)
        ) { (results) throws(PostgresError) in
            try refuseTaken(results)
            return Step(parts.flatMap(\.references) + parts.flatMap(\.rows)) { (written) throws(PostgresError) in
                let isChanged = (results + written).contains {
                    $0.affectedRows > 0 && !$0.commandTag.hasPrefix("SELECT")
                }
                return isChanged ? Step([ProvisioningSQL.notify()]) : .commit
            }
        }
    }

    /// The results of the checks follow the lock, the tenants and the removals.
    private func refuseTaken(_ results: [ResultSet]) throws(PostgresError) {
        let first = 2 + 2 * parts.count
        for index in parts.indices {
            if let row = try results.result(first + 2 * index).first {
                throw .abandoned("binding \(index) \(try row.int("place") - 1)")
            }
            if let row = try results.result(first + 2 * index + 1).first {
                throw .abandoned("key \(index) \(try row.int("place") - 1)")
            }
        }
    }

    /// What an abandoned transaction meant.
    func refusal(for error: PostgresError) -> ProvisioningError {
        let words = (error.reason ?? "").split(separator: " ")
        guard error.code == .abandoned, words.count == 3, let index = Int(words[1]), let place = Int(words[2]),
            parts.indices.contains(index)
        else { return .store(StoreError(error)) }
        let part = parts[index]
        if words[0] == "binding", part.bindings.indices.contains(place) {
            return .bindingTaken(part.bindings[place].key)
        }
        if words[0] == "key", part.tenant.apiKeys.indices.contains(place) {
            return .keyTaken(part.tenant.apiKeys[place].name)
        }
        return .store(StoreError(error))
    }

    func summary(of results: [ResultSet]) throws(PostgresError) -> ProvisioningSummary {
        var summary = ProvisioningSummary()
        summary.tenants = try results.result(1).affectedRows
        for index in 0..<2 * parts.count { summary.removed += try results.result(2 + index).affectedRows }
        let references = 2 + 4 * parts.count
        let rows = references + 2 * parts.count
        for index in parts.indices {
            summary.bindings += try results.result(references + 2 * index).affectedRows
            summary.apiKeys += try results.result(references + 2 * index + 1).affectedRows
            summary.apps += try results.result(rows + 4 * index).affectedRows
            summary.credentials += try results.result(rows + 4 * index + 1).affectedRows
            summary.removed += try results.result(rows + 4 * index + 2).affectedRows
            summary.removed += try results.result(rows + 4 * index + 3).affectedRows
        }
        return summary
    }
}
