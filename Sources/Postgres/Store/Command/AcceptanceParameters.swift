import Commands
import Model

/// A new message as the parameters of `gateway.accept_message`.
enum AcceptanceParameters {
    /// In the function's order.
    static func of(_ message: NewMessage, tenant: TenantID, node: NodeID) -> [PostgresValue] {
        row(of: message, tenant: tenant) + slices(of: message)
            + [.id(message.claim?.node), .interval(message.claim?.lease), .id(node)] + suppressed(of: message)
            + [
                .document(message.audience.flatMap(AudienceCoding.encode)), .int64(message.localDue?.seconds),
                .times(message.slices.map(\.dueAt)),
            ]
    }

    private static func row(of message: NewMessage, tenant: TenantID) -> [PostgresValue] {
        let media = message.content.media
        return [
            .id(tenant), .id(message.scope.app), .id(message.scope.vendor), .id(message.id), .id(message.sender),
            .document(ContentCoding.encode(message.content)), .string(message.collapseID),
            .int16(message.lane.rawValue), .time(message.acceptedAt), .time(message.dueAt),
            .int32(message.dueAt.day), .time(message.expiresAt), .document(message.fallback), .int(message.recipients),
            .string(media?.id), .string(media?.hash),
            .string(message.idempotency?.key), .string(message.idempotency?.bodyHash),
        ]
    }

    /// Flattened: PostgreSQL's arrays of arrays must be rectangular.
    private static func slices(of message: NewMessage) -> [PostgresValue] {
        let hasAddresses = message.slices.contains { !$0.addresses.isEmpty }
        var ends: [Int32] = []
        var targets: [TargetID] = []
        var addresses: [String] = []
        for slice in message.slices {
            targets += slice.targets
            ends.append(Int32(clamping: targets.count))
            guard hasAddresses else { continue }
            addresses += slice.targets.indices.map { index in
                index < slice.addresses.count ? slice.addresses[index]?.canonical ?? "" : ""
            }
        }
        return [
            .int32s(message.slices.map(\.number)), .texts(message.slices.map { SliceRow.kind(of: $0.work) }),
            .int32s(ends), .ids(targets), .strings(addresses),
        ]
    }

    private static func suppressed(of message: NewMessage) -> [PostgresValue] {
        let targets = message.suppressed
        return [
            .ids(targets.map(\.target)), .ids(targets.map(\.identity)), .ids(targets.map(\.device)),
            .strings(targets.map { $0.address?.canonical }), .texts(targets.map(\.reason.rawValue)),
        ]
    }
}
