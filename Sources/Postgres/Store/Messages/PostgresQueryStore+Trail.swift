package import DeliveryEngine
package import Model
import PostgresClient

/// All stored facts about one delivery: its events, its place in the queue, and the addressee that it would reach now.
package struct DeliveryTrail: Sendable, Hashable {
    package var delivery: DeliveryFacts
    /// Nil once the delivery has left the queue, and while its place is unknown: a message to groups or users has no order in which to search.
    package var queue: QueueFacts?
    /// The current state of the target. Nil when no identity belongs to it, or the identity was erased.
    package var target: TargetFacts?
    /// The active identities of the target's device, the one that was seen last first; at most 16.
    package var sightings: [Sighting]
    /// The push service's reason why the token may not be used.
    package var tokenReason: String?
    /// The current topics and credentials of the app.
    package var routes: [Platform: PlatformRoute]
    /// The current hours of the app.
    package var timing: AppTiming
}

/// When an identity of a device was last seen: by registration, token or receipt.
package struct Sighting: Sendable, Hashable {
    package var identity: IdentityID
    package var dialect: Vendor
    package var key: VendorDeviceKey
    package var lastSeen: Timestamp
}

/// The queue state of a target.
package struct QueueFacts: Sendable, Hashable {
    package var slice: Int
    /// `ready` or `leased`.
    package var state: String
    /// When the slice is due, or its lease ends.
    package var nextAt: Timestamp
    /// How often it was put back.
    package var attempts: Int
    /// The credential that it waits for.
    package var heldBy: CredentialID?
    package var isLanePaused: Bool
    /// Why its slice was given up.
    package var deadReason: String?
    /// When this was read, by the database's clock.
    package var seenAt: Timestamp
}

extension PostgresQueryStore {
    /// Returns all facts about one delivery, also while it is queued. Nil when the message has no such target.
    ///
    /// - Throws: `StoreError`.
    package func trail(
        of message: MessageFacts,
        target: TargetID,
        in tenant: TenantID
    ) async throws(StoreError) -> DeliveryTrail? {
        try await asStore { () throws(PostgresError) in
            let key: [PostgresValue] = [.id(tenant), .id(message.id), .id(target)]
            let first = try await call.run(
                [MessageSQL.delivery.with(key), MessageSQL.queued.with(key)],
                tenant: tenant.rawValue
            )
            let (settled, queued) = (try first.result(0), try first.result(1))
            guard let row = settled.first ?? queued.first else { return nil }
            let delivery = try Self.delivery(row)
            let identity = delivery.snapshot.identity ?? IdentityID(rawValue: target.rawValue)
            let second = try await call.run(
                [
                    MessageSQL.addressee(.id(tenant), .id(identity)),
                    MessageSQL.sightings(.id(tenant), .id(identity)),
                    AppSQL.platforms(.id(tenant), .id(message.scope.app)),
                ],
                tenant: tenant.rawValue
            )
            let addressee = try second.result(0).first
            let app = try second.result(2).first
            return DeliveryTrail(
                delivery: delivery,
                queue: settled.isEmpty ? try Self.queue(row) : nil,
                target: try addressee.map(TargetRow.read),
                sightings: try second.result(1).rows(Self.sighting),
                tokenReason: try addressee?.optionalText("token_reason"),
                routes: PlatformRouteCoding.decode(try app?.object("platforms") ?? JSONObject()),
                timing: TimingCoding.read(try app?.object("defaults") ?? JSONObject())
            )
        }
    }

    private static func sighting(_ row: Row) throws(PostgresError) -> Sighting {
        Sighting(
            identity: try row.id("identity_id"),
            dialect: try row.id("vendor"),
            key: try row.id("key"),
            lastSeen: try row.time("last_seen")
        )
    }

    static func queue(_ row: Row) throws(PostgresError) -> QueueFacts? {
        guard try !row.isNull("no") else { return nil }
        return QueueFacts(
            slice: try row.int("no"),
            state: try row.text("slice_state"),
            nextAt: try row.time("next_at"),
            attempts: try row.int("attempts"),
            heldBy: try row.optionalID("held_by"),
            isLanePaused: try row.bool("is_paused"),
            deadReason: try row.optionalText("dead_reason"),
            seenAt: try row.time("seen_at")
        )
    }

    /// Returns the targets of a message on one device, given by its id or by the key of a vendor's SDK. At most 20.
    ///
    /// - Throws: `StoreError`.
    package func targets(
        of message: MessageFacts,
        device: String,
        in tenant: TenantID
    ) async throws(StoreError) -> [TargetID] {
        let statement = MessageSQL.targetsOfDevice(
            .id(tenant),
            .id(message.id),
            .id(DeviceID(text: device)),
            .string(device),
            .id(message.scope.app),
            .int32(message.dueDay)
        )
        return try await asStore { () throws(PostgresError) in
            try await call.run(statement, tenant: tenant.rawValue).rows { (row) throws(PostgresError) in
                try row.id("target_id")
            }
        }
    }
}
