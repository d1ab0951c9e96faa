import DatabaseSupport
import Model

@testable import PostgresClient
@testable import Store

/// A message as its acceptance stored it.
struct StoredMessage: Sendable {
    var id: MessageID
    var content: Content
    var fallback: JSON?
    var recipients: Int?
    /// In the store's encoding; nil: everyone, or all targets are in the slices.
    var audience: JSON?
    var dueAt: Timestamp
    var localDue: LocalTime?
    var expiresAt: Timestamp
    var slices: [NewSlice]
    /// True if a node has leased one of the slices.
    var isClaimed: Bool
    /// In the order in which they were stored.
    var suppressed: [SuppressedTarget]
}

extension DatabaseStores {
    func message(_ id: MessageID, in tenant: TenantID) async throws -> StoredMessage? {
        let parameters: [PostgresValue] = [.id(tenant), .id(id)]
        let results = try await call.run(
            [
                Statement(
                    """
                    SELECT content, fallback, recipients, audience, due_at, due_local, expires_at FROM gateway.message
                    WHERE tenant_id = $1 AND message_id = $2
                    """,
                    parameters
                ),
                Statement(
                    """
                    SELECT s.no, s.kind, s.after, s.targets, s.addresses, s.owner,
                        CASE WHEN s.owner IS NULL AND s.next_at > m.due_at THEN s.next_at END AS due_at
                    FROM gateway.slice s JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = s.message_id
                    WHERE s.tenant_id = $1 AND s.message_id = $2 ORDER BY s.no
                    """,
                    parameters
                ),
                Statement(
                    """
                    SELECT target_id, identity_id, device_id, address, reason FROM gateway.delivery
                    WHERE tenant_id = $1 AND message_id = $2 AND state = 'suppressed' ORDER BY ctid
                    """,
                    parameters
                ),
            ],
            tenant: tenant.rawValue
        )
        guard let row = results[0].first else { return nil }
        return StoredMessage(
            id: id,
            content: ContentCoding.decode(try row.object("content")),
            fallback: try row.optionalDocument("fallback"),
            recipients: try row.optionalInt("recipients"),
            audience: try row.optionalDocument("audience"),
            dueAt: try row.time("due_at"),
            localDue: try row.optionalInt("due_local").map { LocalTime(seconds: Int64($0)) },
            expiresAt: try row.time("expires_at"),
            slices: try results[1].rows(slice),
            isClaimed: try results[1].contains { try !$0.isNull("owner") },
            suppressed: try results[2].rows(suppressed)
        )
    }

    private func slice(_ row: Row) throws(PostgresError) -> NewSlice {
        NewSlice(
            number: Int32(clamping: try row.int("no")),
            work: try row.text("kind") == "expand" ? .expand(after: try row.optionalID("after")) : .deliver,
            targets: try row.uuids("targets").map { TargetID(rawValue: $0) },
            addresses: try row.texts("addresses").map { Address(canonical: $0) },
            dueAt: try row.optionalTime("due_at")
        )
    }

    private func suppressed(_ row: Row) throws(PostgresError) -> SuppressedTarget {
        SuppressedTarget(
            target: try row.id("target_id"),
            identity: try row.optionalID("identity_id"),
            device: try row.optionalID("device_id"),
            address: try row.address("address"),
            reason: try row.word("reason")
        )
    }
}
