package import Model
import PostgresClient

/// The identity that belongs to an address.
package struct ResolvedTarget: Sendable, Hashable {
    package var identity: IdentityID
    package var device: DeviceID?
    /// Whether the device has a usable token.
    package var isReachable: Bool
    package var clock: DeviceClock

    package init(identity: IdentityID, device: DeviceID?, isReachable: Bool, clock: DeviceClock = .unset) {
        self.identity = identity
        self.device = device
        self.isReachable = isReachable
        self.clock = clock
    }
}

extension ResolvedTarget {
    /// The columns that `read` needs, of `identity i` and `device d`.
    static let columns = """
        i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, \(StoreSQL.clockColumns)
        """

    static func read(_ row: Row) throws(PostgresError) -> ResolvedTarget {
        ResolvedTarget(
            identity: try row.id("identity_id"),
            device: try row.optionalID("device_id"),
            isReachable: try row.bool("is_reachable"),
            clock: try ClockRow.read(row)
        )
    }
}
