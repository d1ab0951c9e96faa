import FoundationEssentials
package import Model
package import PostgresClient

/// Inserts or updates an identity and its device.
///
/// The newest registration owns its token within app, dialect, platform and environment: an older identity with that token becomes `replaced`, unless one
/// of the two shares its device. An older identity of the same phone also becomes `replaced` if the registration requests it.
/// A registration with `keepsOwner` fails with `StoreError.taken` if the key belongs to another caller.
package struct RegisterDevice: StoreWrite {
    /// 64 registrations in one statement: each locks its key and its token, so that the two sets that a node writes at once take 256 locks. The lock table of a
    /// server has room for 6,400 by default (`max_locks_per_transaction` × `max_connections`).
    static var setLimit: Int { 64 }

    let scope: AppScope
    let key: VendorDeviceKey
    let registration: DeviceRegistration
    /// The id of a new identity.
    let identity: IdentityID
    let device: DeviceID
    let at: Timestamp
    let moves: UserMoves

    package init(
        _ scope: AppScope,
        key: VendorDeviceKey,
        _ registration: DeviceRegistration,
        identity: IdentityID,
        device: DeviceID,
        at: Timestamp,
        moves: UserMoves = .notify
    ) {
        self.scope = scope
        self.key = key
        self.registration = registration
        self.identity = identity
        self.device = device
        self.at = at
        self.moves = moves
    }

    package var sharesCommit: Bool { true }

    private static let plain = Routine<StoreCall, Self>("register_noted", declare)

    private static let tagged = Routine<StoreCall, Self>("register_tagged") { p in
        declare(&p)
        p["p_tags"] = { $1.tags }
    }

    private static let timed = Routine<StoreCall, Self>("register_timed") { p in
        declare(&p)
        p["p_tags"] = { $1.tags }
        p["p_zone"] = { .string($1.registration.clock.timeZone?.text) }
        p["p_from"] = { .int32($1.registration.clock.window.map { Int32(clamping: $0.from) }) }
        p["p_to"] = { .int32($1.registration.clock.window.map { Int32(clamping: $0.to) }) }
    }

    private static func declare(_ p: inout RoutineParameters<StoreCall, Self>) {
        p.own { $0.scope }
        p["p_key"] = { .id($1.key) }
        p["p_identity"] = { .id($1.identity) }
        p["p_device"] = { .id($1.device) }
        p["p_platform"] = { .text($1.registration.platform.rawValue) }
        p["p_environment"] = { .text($1.registration.environment?.rawValue) }
        p["p_token"] = { .string($1.registration.token?.text) }
        p["p_user"] = { .id($1.registration.user) }
        p["p_name"] = { .string($1.registration.name) }
        p["p_phone"] = { .string($1.registration.phone) }
        p["p_raw_phone"] = { .string($1.registration.rawPhone) }
        p["p_replaces_phone"] = { .bool($1.registration.replacesSamePhone) }
        p["p_attributes"] = { .document($1.attributes) }
        p["p_at"] = { .time($1.at) }
        p["p_assurance"] = { .int16($1.registration.assurance.rank) }
        p["p_moves"] = { .text($1.moves.rawValue) }
        p["p_client"] = { .document($1.client) }
        p["p_keeps_owner"] = { .bool($1.registration.keepsOwner) }
    }

    private static let set = Routine<StoreCall, Self>("register_many") { p in
        p.own { $0.scope }
        p["p_assurance"] = { .int16($1.registration.assurance.rank) }
        p["p_moves"] = { .text($1.moves.rawValue) }
        p["p_keeps_owner"] = { .bool($1.registration.keepsOwner) }
        p.beginRow()
        p["p_keys"] = { .id($1.key) }
        p["p_identities"] = { .id($1.identity) }
        p["p_devices"] = { .id($1.device) }
        p["p_platforms"] = { .text($1.registration.platform.rawValue) }
        p["p_environments"] = { .text($1.registration.environment?.rawValue) }
        p["p_tokens"] = { .string($1.registration.token?.text) }
        p["p_users"] = { .id($1.registration.user) }
        p["p_names"] = { .string($1.registration.name) }
        p["p_phones"] = { .string($1.registration.phone) }
        p["p_raw_phones"] = { .string($1.registration.rawPhone) }
        p["p_attributes"] = { .string($1.attributes.map { DocumentText.of($0) }) }
        p["p_at"] = { .time($1.at) }
        p["p_clients"] = { .string($1.client.map { DocumentText.of($0) }) }
    }

    private var client: JSON? { registration.client.report.map { .object($0) } }
    private var attributes: JSON? { registration.attributes.isEmpty ? nil : .object(registration.attributes) }
    private var tags: PostgresValue { registration.tags.map { .tags($0) } ?? .untyped(nil) }

    package func statement(_ call: StoreCall) -> Statement {
        if registration.clock != .unset { return Self.timed(call, self) }
        return registration.tags == nil ? Self.plain(call, self) : Self.tagged(call, self)
    }

    /// A registration that also searches for other identities than those of its device runs alone.
    package func batch(_ call: StoreCall) -> StatementBatch? {
        guard registration.clock == .unset, registration.tags == nil, !registration.replacesSamePhone, moves != .vouch
        else {
            return nil
        }
        return Self.set.row(call, self, subject: key.rawValue, limit: Self.setLimit)
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Registered {
        let row = try result.only()
        return Registered(
            identity: try row.id("identity_id"),
            device: try row.id("device_id"),
            key: key,
            platform: try row.word("platform"),
            wasActive: try row.bool("was_active"),
            replaced: try row.uuids("replaced").map { IdentityID($0) }
        )
    }
}
