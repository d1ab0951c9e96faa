package import Model
package import PostgresClient

/// Changes the user of a device. Nil: no such active identity exists.
package struct AssignUser: StoreWrite {
    let scope: AppScope
    let key: VendorDeviceKey
    let change: UserChange
    /// The level that the caller proves for the user.
    let assurance: Assurance
    let moves: UserMoves
    /// Nil: the time of the transaction.
    let at: Timestamp?

    package init(
        _ scope: AppScope,
        key: VendorDeviceKey,
        _ change: UserChange,
        assurance: Assurance = .claimed,
        moves: UserMoves = .notify,
        at: Timestamp? = nil
    ) {
        self.scope = scope
        self.key = key
        self.change = change
        self.assurance = assurance
        self.moves = moves
        self.at = at
    }

    package var sharesCommit: Bool { true }

    private static let one = Routine<StoreCall, Self>("assign_user") { p in
        p.own { $0.scope }
        p["p_key"] = { .id($1.key) }
        p["p_change"] = { .text($1.kind) }
        p["p_user"] = { .id($1.person.user) }
        p["p_name"] = { .string($1.person.name) }
        p["p_phone"] = { .string($1.person.phone) }
        p["p_exclusive"] = { .bool($1.isExclusive) }
        p["p_assurance"] = { .int16($1.assurance.rank) }
        p["p_moves"] = { .text($1.moves.rawValue) }
        p["p_at"] = { .time($1.at) }
    }

    private static let set = Routine<StoreCall, Self>("assign_users") { p in
        p.own { $0.scope }
        p["p_assurance"] = { .int16($1.assurance.rank) }
        p["p_moves"] = { .text($1.moves.rawValue) }
        p.beginRow()
        p["p_keys"] = { .id($1.key) }
        p["p_changes"] = { .text($1.kind) }
        p["p_users"] = { .id($1.person.user) }
        p["p_names"] = { .string($1.person.name) }
        p["p_phones"] = { .string($1.person.phone) }
        p["p_at"] = { .time($1.at) }
    }

    private var isExclusive: Bool {
        if case .set(_, _, _, let isExclusive) = change { isExclusive } else { false }
    }

    private var kind: String {
        switch change {
        case .keep: "keep"
        case .clear: "clear"
        case .set: "set"
        }
    }

    private var person: (user: UserID?, name: String?, phone: String?) {
        guard case .set(let user, let name, let phone, _) = change else { return (nil, nil, nil) }
        return (user, name, phone)
    }

    package func statement(_ call: StoreCall) -> Statement { Self.one(call, self) }

    /// A change that removes the user from other devices, or may not take effect at once, runs alone.
    package func batch(_ call: StoreCall) -> StatementBatch? {
        if isExclusive || moves == .vouch { return nil }
        return Self.set.row(call, self, subject: key.rawValue, limit: RegisterDevice.setLimit)
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> AssignedUser? {
        guard let row = result.first else { return nil }
        return AssignedUser(user: try row.optionalID("user_id"), hasMoved: try row.bool("has_moved"))
    }
}
