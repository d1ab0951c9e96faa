package import DeliveryEngine
package import Model
import PostgresClient
import Store

/// Messages whose text came before through another entry point.
extension PostgresDeliveryStore {
    package func earlier(
        than lease: SliceLease,
        for targets: [Int: TargetFacts],
        by node: NodeID
    ) async throws(StoreError) -> EarlierFinding {
        if omitted.contains(.duplicates) { return .found(EarlierMessages()) }
        let places = targets.keys.sorted()
        let devices: [DeviceID?] = places.map { targets[$0]?.device }
        let identities: [IdentityID?] = places.map { targets[$0]?.identity }
        let statement = DeliverySQL.guardSlice(
            .id(lease.key.tenant),
            .id(lease.key.message),
            .int32(lease.key.number),
            .int64(lease.epoch),
            .id(node),
            .ints(places),
            .ids(devices),
            .ids(identities)
        )
        return try await asStore { () throws(PostgresError) in
            var earlier = EarlierMessages()
            for row in try await engine.run(statement, tenant: nil) {
                switch try row.text("outcome") {
                case "fenced": return .fenced
                case "found": earlier.waited = .milliseconds(try row.int64("waited"))
                case "sent": earlier.sent.insert(try row.int("place"))
                case "open": earlier.open.insert(try row.int("place"))
                case "unknown": earlier.hasUnknown = true
                default: break  // no other answer
                }
            }
            return .found(earlier)
        }
    }
}
