package import Model
import PostgresClient

extension PostgresDeviceStore {
    /// Erases every device and identity of a user. Returns the number of erased identities.
    ///
    /// - Throws: `StoreError`.
    package func eraseUser(
        _ id: UserID,
        in tenant: TenantID,
        by actor: AuditActor,
        keeping keep: Keep<Int>? = nil
    ) async throws(StoreError) -> Kept<Int> {
        let statement = UserListSQL.erase(.id(tenant), .id(id), .string(actor.description))
        return try await act([statement], in: tenant, keep) { (results) throws(PostgresError) in
            try results.result(0).only().int("count")
        }
    }
}
