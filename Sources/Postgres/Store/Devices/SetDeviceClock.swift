package import Model
package import PostgresClient

/// Sets the time zone and the receiving window of a device; null parts stay.
package struct SetDeviceClock: StoreWrite {
    let device: DeviceID
    let clock: DeviceClock

    package init(_ device: DeviceID, _ clock: DeviceClock) {
        self.device = device
        self.clock = clock
    }

    private static let sql = StoreSQL.function("set_clock", 5)

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with([.id(call.tenant), .id(device)] + ClockRow.parameters(clock))
    }

    package func read(_ result: ResultSet) throws(PostgresError) {}
}
