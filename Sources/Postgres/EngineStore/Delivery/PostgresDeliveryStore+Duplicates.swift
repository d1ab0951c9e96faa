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
        if omitted.contains(.duplicates) { return .none }
        let key = lease.key
        let guarding = DeliverySQL.guardSlice(
            .id(key.tenant),
            .id(key.message),
            .int32(key.number),
            .int64(lease.epoch),
            .id(node)
        )
        return try await asStore { () throws(PostgresError) in
            let row = try await engine.run(guarding, tenant: nil).only()
            switch try row.text("outcome") {
            case "fenced": return .fenced
            case "none": return .none
            default: break
            }
            var found = EarlierMessage(
                message: try row.id("earlier"),
                standing: try row.word("outcome"),
                waited: .milliseconds(try row.int64("waited"))
            )
            let places = targets.keys.sorted()
            let deliveries = DeliverySQL.earlier(
                .id(key.tenant),
                .ints(places),
                .ids(places.map { targets[$0]?.device }),
                .ids(places.map { targets[$0]?.identity }),
                .id(found.message),
                .int32(Int32(clamping: try row.int("due_day")))
            )
            for row in try await engine.run(deliveries, tenant: nil) {
                let place = try row.int("place")
                if try row.bool("was_sent") { found.sent.insert(place) } else { found.unsent.insert(place) }
            }
            return .found(found)
        }
    }
}
