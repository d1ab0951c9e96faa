package import Model
package import PostgresClient

/// Finds a device; its identities are not read (`ListDeviceIdentities`).
package struct FindDevice: StoreRead {
    let device: DeviceID

    package init(_ device: DeviceID) { self.device = device }

    package func statement(_ call: StoreCall) -> Statement { DeviceSQL.one(.id(call.tenant), .id(device)) }

    package func read(_ result: ResultSet) throws(PostgresError) -> DeviceFacts? {
        try result.rows(DeviceRow.device).first
    }
}
