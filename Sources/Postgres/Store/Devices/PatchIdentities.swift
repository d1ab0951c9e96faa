package import Model
package import PostgresClient

/// Changes user, name, phone and preference of all active identities of a device, for the tenant's back end: a user that it names is vouched. Answers with the
/// number of identities.
///
/// The tags and the clock of the patch have operations of their own (`TagDevice`, `SetDeviceClock`).
package struct PatchIdentities: StoreWrite {
    let device: DeviceID
    let change: DevicePatch

    package init(of device: DeviceID, _ change: DevicePatch) {
        self.device = device
        self.change = change
    }

    private static let sql = StoreSQL.function("patch_identities", 7, columns: "patch_identities AS count")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(
            .id(call.tenant),
            .id(device),
            .bool(change.acceptsPush),
            .id(change.user),
            .string(change.name),
            .string(change.phone),
            .int16(Assurance.vouched.rank)
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { try result.count() }
}
