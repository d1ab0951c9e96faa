package import Model
package import PostgresClient
package import Store

/// Stores which master key seals and which keys the nodes have, and replaces sealed secrets.
package struct PostgresMasterKeyStore: Sendable {
    private let engine: PostgresPool

    /// - Parameter engine: the pool of `gateway_engine`.
    package init(engine: PostgresPool) { self.engine = engine }

    /// Reports the keys of a node, that of the sealing key first, and returns the row of the key that seals; nil before the first start.
    ///
    /// - Throws: `StoreError`.
    package func follow(_ node: NodeID, having ids: [String]) async throws(StoreError) -> MasterKeyCheck? {
        try await asStore { () throws(PostgresError) in
            let results = try await engine.run(
                [MasterKeySQL.report(.id(node), .strings(ids)), DirectorySQL.masterKey()],
                tenant: nil
            )
            return try results.result(1).rows(MasterKeyCheck.init).first
        }
    }

    /// Asks all nodes for the key that will seal next.
    ///
    /// - Throws: `StoreError`.
    package func want(_ key: String) async throws(StoreError) {
        _ = try await asStore { () throws(PostgresError) in
            try await engine.run(MasterKeySQL.want(.string(key)), tenant: nil)
        }
    }

    /// The keys of the nodes that were seen in the last minute.
    ///
    /// - Throws: `StoreError`.
    package func nodes() async throws(StoreError) -> [NodeKeys] {
        try await asStore { () throws(PostgresError) in
            try await engine.run(MasterKeySQL.nodes(), tenant: nil).rows { (row) throws(PostgresError) in
                NodeKeys(node: try row.id("node_id"), ids: try row.optionalTexts("master_keys"))
            }
        }
    }

    /// Makes another key seal, and writes this into the audit of every tenant. False if `old` does not seal.
    ///
    /// - Throws: `StoreError`.
    package func replace(
        _ old: String,
        by check: MasterKeyCheck,
        actor: AuditActor
    ) async throws(StoreError) -> Bool {
        let change = MasterKeySQL.replace(
            .string(old),
            .string(check.keyID),
            .bytes(check.checkValue),
            .bytes(check.root)
        )
        let record = AuditRecord(.rotate, "master key", data: ["from": .string(old), "to": .string(check.keyID)])
        let transaction = Transaction(tenant: nil, [change, MasterKeySQL.tenants()]) {
            (results) throws(PostgresError) in
            guard try results.result(0).first != nil else { return .commit }
            let tenants: [TenantID] = try results.result(1).rows { (row) throws(PostgresError) in
                try row.id("tenant_id")
            }
            return tenants.isEmpty ? .commit : Step(tenants.map { [record].written(by: actor, in: $0) })
        }
        return try await asStore { () throws(PostgresError) in
            try await engine.run(transaction).result(0).first != nil
        }
    }

    /// The rows of a table after `last`, or the first ones, in the order of their keys.
    ///
    /// - Throws: `StoreError`.
    package func page(
        of table: SealedTable,
        after last: SealedEntry?,
        limit: Int
    ) async throws(StoreError) -> [SealedEntry] {
        let start = (last?.parts ?? table.start).prefix(table.keyCount).map { PostgresValue.text($0) }
        let statement = table.page.with(start + [.int(limit)])
        return try await asStore { () throws(PostgresError) in
            try await engine.run(statement, tenant: nil).rows { (row) throws(PostgresError) in
                SealedEntry(
                    parts: try row.texts("parts"),
                    stored: table == .binding ? Array(try row.text("settings").utf8) : try row.bytes("sealed")
                )
            }
        }
    }

    /// Replaces what is stored in rows that are unchanged since they were read.
    ///
    /// - Throws: `StoreError`.
    package func replace(
        _ changes: [(entry: SealedEntry, stored: [UInt8])],
        in table: SealedTable
    ) async throws(StoreError) {
        // One transaction per row: several locks at once could meet those of an apply in another order.
        let pipeline = changes.map { Transaction(tenant: nil, [table.put($0.entry, $0.stored)]) }
        guard !pipeline.isEmpty else { return }
        try await asStore { () throws(PostgresError) in
            for outcome in try await engine.run(pipeline: pipeline) { _ = try outcome.get() }
        }
    }
}

extension MasterKeyCheck {
    init(_ row: Row) throws(PostgresError) {
        self.init(
            keyID: try row.text("key_id"),
            checkValue: try row.bytes("check_value"),
            root: try row.optionalBytes("root"),
            wanted: try row.optionalText("wanted")
        )
    }
}

extension SealedTable {
    fileprivate var page: StoreSQL {
        switch self {
        case .credential: MasterKeySQL.credentials
        case .binding: MasterKeySQL.bindings
        case .webhook: MasterKeySQL.webhooks
        case .formerWebhook: MasterKeySQL.formerWebhooks
        case .providerToken: MasterKeySQL.providerTokens
        }
    }

    /// A key before every other.
    fileprivate var start: [String] {
        switch self {
        case .credential: ["", ""]
        case .binding: ["", "", "", ""]
        case .webhook, .formerWebhook: ["", "00000000-0000-0000-0000-000000000000"]
        case .providerToken: ["", "", ""]
        }
    }

    fileprivate var keyCount: Int { start.count }

    fileprivate func put(_ entry: SealedEntry, _ stored: [UInt8]) -> Statement {
        let parts = entry.parts.map { PostgresValue.text($0) }
        let bytes: [PostgresValue] = [.bytes(entry.stored), .bytes(stored)]
        switch self {
        case .credential: return MasterKeySQL.putCredential.with(parts + bytes)
        case .webhook: return MasterKeySQL.putWebhook.with(parts + bytes)
        case .formerWebhook: return MasterKeySQL.putFormerWebhook.with(parts + bytes)
        case .providerToken: return MasterKeySQL.putProviderToken.with(parts + bytes)
        case .binding:
            let texts = [entry.stored, stored].map { PostgresValue.text(String(decoding: $0, as: UTF8.self)) }
            return MasterKeySQL.putBinding.with([parts[4]] + parts.prefix(4) + texts)
        }
    }
}
