package import Model
import PostgresClient
import Store

/// A slice's row.
package struct StoredSlice: Sendable {
    package var key: SliceKey
    package var isDone: Bool
    /// The node that has leased it.
    package var owner: NodeID?
    package var epoch: Int64
}

/// A delivery's row.
package struct StoredDelivery: Sendable {
    package var target: TargetID
    package var state: DeliveryState
    /// False: the push may have arrived, but its outcome is unknown.
    package var isCertain: Bool
}

// Rows that tests inspect and that no store returns.
extension DatabaseStores {
    /// The slices of a message, by number.
    package func slices(of message: MessageID, in tenant: TenantID) async throws -> [StoredSlice] {
        try await slices(in: tenant, where: "message_id = $2", [.uuid(message.rawValue)])
    }

    /// The slices that a node has leased.
    package func leasedSlices(in tenant: TenantID) async throws -> [StoredSlice] {
        try await slices(in: tenant, where: "owner IS NOT NULL AND state <> 'done'", [])
    }

    private func slices(in tenant: TenantID, where condition: String, _ parameters: [PostgresValue]) async throws
        -> [StoredSlice]
    {
        let statement = Statement(
            "SELECT message_id, no, state = 'done' AS is_done, owner, epoch FROM gateway.slice WHERE tenant_id = $1 AND \(condition) ORDER BY no",
            [.text(tenant.rawValue)] + parameters
        )
        return try await call.run(statement, tenant: tenant.rawValue).map { row throws(PostgresError) in
            StoredSlice(
                key: SliceKey(
                    tenant: tenant,
                    message: MessageID(rawValue: try row.uuid("message_id")),
                    number: Int32(clamping: try row.int("no"))
                ),
                isDone: try row.bool("is_done"),
                owner: try row.optionalText("owner").map { NodeID($0) },
                epoch: try row.int64("epoch")
            )
        }
    }

    /// The settled deliveries of a message.
    package func deliveries(of message: MessageID, in tenant: TenantID) async throws -> [StoredDelivery] {
        try await queries.deliveries(of: message, in: tenant, limit: 100_000).map {
            StoredDelivery(target: $0.snapshot.target, state: $0.snapshot.state, isCertain: $0.isCertain)
        }
    }

    /// The counts of a message.
    package func funnel(of message: MessageID, in tenant: TenantID) async throws -> Funnel? {
        try await queries.message(message.description, in: tenant)?.funnel
    }

    /// The reason of the push service for refusing a credential; nil while the credential works.
    package func refusal(of credential: CredentialKey) async throws -> String? {
        let statement = Statement(
            "SELECT refusal FROM gateway.credential WHERE tenant_id = $1 AND credential_id = $2",
            [.text(credential.tenant.rawValue), .text(credential.credential.rawValue)]
        )
        return try await engine.run(statement, tenant: nil).only().optionalText("refusal")
    }

    /// Whether a node is registered as running. An orderly shutdown deletes its row.
    package func isListed(_ node: NodeID) async throws -> Bool {
        let statement = Statement("SELECT 1 FROM gateway.node WHERE node_id = $1", [.text(node.rawValue)])
        return try await !engine.run(statement, tenant: nil).isEmpty
    }

    /// The number of devices of these identities that have a token in that state.
    package func count(_ identities: [IdentityID], withToken state: TokenState, in tenant: TenantID) async throws -> Int
    {
        let statement = Statement(
            """
            SELECT count(*) AS n FROM gateway.identity i JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
            WHERE i.tenant_id = $1 AND i.identity_id = ANY($2::uuid[]) AND d.token_state = $3
            """,
            [.text(tenant.rawValue), .uuids(identities.map { Optional($0.rawValue) }), .text(state.rawValue)]
        )
        return try await call.run(statement, tenant: tenant.rawValue).only().int("n")
    }
}
