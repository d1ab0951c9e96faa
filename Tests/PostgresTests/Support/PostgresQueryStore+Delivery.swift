import Model
import PostgresClient

@testable import Store

extension PostgresQueryStore {
    /// Returns one delivery, also while it is queued.
    ///
    /// - Throws: `StoreError`.
    func delivery(
        of message: MessageID,
        target: TargetID,
        in tenant: TenantID
    ) async throws(StoreError) -> DeliveryFacts? {
        try await asStore { () throws(PostgresError) in
            let key: [PostgresValue] = [.id(tenant), .id(message), .id(target)]
            let results = try await call.run(
                [MessageSQL.delivery.with(key), MessageSQL.queued.with(key)],
                tenant: tenant.rawValue
            )
            for result in results {
                if let row = result.first { return try Self.delivery(row) }
            }
            return nil
        }
    }
}
