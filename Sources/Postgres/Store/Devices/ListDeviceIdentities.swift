package import Model
package import PostgresClient

/// Lists the identities of a device, whatever their state.
package struct ListDeviceIdentities: StoreRead {
    let device: DeviceID

    package init(of device: DeviceID) { self.device = device }

    package func statement(_ call: StoreCall) -> Statement { DeviceSQL.identities(.id(call.tenant), .ids([device])) }

    package func read(_ result: ResultSet) throws(PostgresError) -> [IdentityEntry] {
        try result.rows(DeviceRow.identity)
    }
}
