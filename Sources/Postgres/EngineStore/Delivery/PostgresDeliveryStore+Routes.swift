package import DeliveryEngine
package import Model
import PostgresClient
import Routing
import Store

/// The rules of slices, and the records of calls to upstreams.
extension PostgresDeliveryStore {
    package func routing(of lease: SliceLease, by node: NodeID) async throws(StoreError) -> StoredRouting {
        let (tenant, message) = (PostgresValue.id(lease.key.tenant), PostgresValue.id(lease.key.message))
        let number = PostgresValue.int32(lease.key.number)
        let rules =
            omitted.contains(.versionsOfSlices)
            ? DeliverySQL.currentRoute(tenant, message)
            : DeliverySQL.route(tenant, message, number, .int64(lease.epoch), .id(node))
        return try await asStore { () throws(PostgresError) in
            let statements = [
                rules, DeliverySQL.interrupted(tenant, message, number), DeliverySQL.callers(tenant, message),
            ]
            let results = try await engine.run(statements, tenant: nil)
            guard let row = try results.result(0).first else { return .none }
            let callers = try results.result(2).rows { (row) throws(PostgresError) -> CredentialID in
                try row.id("upstream")
            }
            switch try row.text("outcome") {
            case "rules":
                let calls = try results.result(1).rows { (row) throws(PostgresError) in try Self.interrupted(row) }
                return .rules(try Self.rules(row), interrupted: calls, callers: callers)
            case "fenced": return .fenced
            default: return callers.isEmpty ? .none : .unruled(callers: callers)
            }
        }
    }

    private static func rules(_ row: Row) throws(PostgresError) -> StoredRules {
        StoredRules(
            version: try row.int("version"),
            format: try row.int("format"),
            base: try row.object("base_rules"),
            overlay: try row.object("overlay_rules"),
            upstreams: try row.object("upstreams")
        )
    }

    private static func interrupted(_ row: Row) throws(PostgresError) -> InterruptedCall {
        InterruptedCall(
            id: UpstreamCallID(epoch: try row.int64("epoch"), number: Int32(clamping: try row.int("no"))),
            upstream: try row.id("upstream"),
            targets: Set(try row.uuids("targets").map { TargetID($0) })
        )
    }

    package func tags(
        _ names: Set<String>,
        of identities: [Int: IdentityID],
        tenant: TenantID
    ) async throws(StoreError) -> [Int: Set<String>] {
        let places = identities.keys.sorted()
        let found: [IdentityID] = places.compactMap { identities[$0] }
        let statement = DeliverySQL.tags(
            .id(tenant),
            .ints(places),
            .ids(found),
            .strings(names.sorted())
        )
        return try await asStore { () throws(PostgresError) in
            var tags: [Int: Set<String>] = [:]
            for row in try await engine.run(statement, tenant: nil) {
                tags[try row.int("place"), default: []].insert(try row.text("tag"))
            }
            return tags
        }
    }

    package func called(
        _ users: [CalledUser],
        by message: MessageID,
        tenant: TenantID
    ) async throws(StoreError) -> [Int: Bool] {
        if users.isEmpty { return [:] }
        let statement = DeliverySQL.called(
            .id(tenant),
            .id(message),
            .ints(users.map(\.place)),
            .strings(users.map(\.upstream.rawValue)),
            .strings(users.map(\.unit.user.rawValue)),
            .strings(users.map { $0.unit.platform?.rawValue ?? "" })
        )
        return try await asStore { () throws(PostgresError) in
            var called: [Int: Bool] = [:]
            for row in try await engine.run(statement, tenant: nil) {
                called[try row.int("place")] = try row.bool("is_answered")
            }
            return called
        }
    }

    package func image(_ media: MediaReference, tenant: TenantID) async throws(StoreError) -> InlineImage? {
        try await asStore { () throws(PostgresError) in
            let result = try await engine.run(DeliverySQL.image(.id(tenant), .string(media.hash)), tenant: nil)
            guard let row = result.first else { return nil }
            return InlineImage(name: nil, bytes: try row.bytes("bytes"))
        }
    }

    package func begin(
        _ order: UpstreamOrder,
        of lease: SliceLease,
        by node: NodeID
    ) async throws(StoreError) -> UpstreamStart {
        if omitted.contains(.recordsOfCalls) { return .begun }
        let key = lease.key
        let replaced = order.replaced.map { UpstreamCallEnd(id: $0, isVoid: true) }
        let statement = DeliverySQL.beginCall(
            .id(key.tenant),
            .id(key.message),
            .int32(key.number),
            .int64(order.id.epoch),
            .id(node),
            .int32(order.id.number),
            .id(order.upstream),
            .ids(order.targets),
            .strings(order.units.map(\.user.rawValue)),
            .strings(order.units.map { $0.platform?.rawValue ?? "" }),
            .ids(Array(order.exclusive)),
            .document(Self.ends(replaced, of: key))
        )
        return try await asStore { () throws(PostgresError) in
            // It must be on the disk before the first byte leaves. Calls of many slices share the flush.
            let results = try await engine.run(gathered: Transaction(tenant: nil, [statement]))
            var same: Set<TargetID> = []
            var withheld: Set<TargetID> = []
            var busy: Set<TargetID> = []
            for row in try results.result(0) {
                let target: TargetID? = try row.optionalID("target")
                let outcome = try row.text("outcome")
                switch (outcome, target) {
                case ("begun", _): return .begun
                case ("fenced", _): return .fenced
                case ("taken", let target?): same.insert(target)
                case ("withheld", let target?): withheld.insert(target)
                case ("busy", let target?): busy.insert(target)
                default: break  // no other answer
                }
            }
            return .taken(same, withheld: withheld, busy: busy)
        }
    }

    /// The ends of calls as `end_upstream_calls` reads them. Nil: there are none.
    static func ends(_ calls: [UpstreamCallEnd], of key: SliceKey) -> JSON? {
        if calls.isEmpty { return nil }
        return .array(
            calls.map { call in
                [
                    "slice": .int(Int64(key.number)), "epoch": .int(call.id.epoch), "no": .int(Int64(call.id.number)),
                    "reference": call.reference.map { .string(MessageReference.stored($0)) } ?? .null,
                    "void": .bool(call.isVoid),
                ]
            }
        )
    }
}
