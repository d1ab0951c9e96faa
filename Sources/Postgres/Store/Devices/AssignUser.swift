package import Model
package import PostgresClient

/// Changes the user of a device. Nil: no such active identity exists.
package struct AssignUser: StoreWrite {
    let scope: AppScope
    let key: VendorDeviceKey
    let change: UserChange

    package init(_ scope: AppScope, key: VendorDeviceKey, _ change: UserChange) {
        self.scope = scope
        self.key = key
        self.change = change
    }

    package var sharesCommit: Bool { true }

    private static let one = StoreSQL.function("assign_user", 9)
    private static let set = StoreSQL.function("assign_users", 8)

    private var isExclusive: Bool {
        if case .set(_, _, _, let isExclusive) = change { isExclusive } else { false }
    }

    /// The key, the kind of change, and the fields of the user.
    private var own: [PostgresValue] {
        switch change {
        case .keep: [.id(key), .text("keep"), .string(nil), .string(nil), .string(nil)]
        case .clear: [.id(key), .text("clear"), .string(nil), .string(nil), .string(nil)]
        case .set(let user, let name, let phone, _):
            [.id(key), .text("set"), .id(user), .string(name), .string(phone)]
        }
    }

    package func statement(_ call: StoreCall) -> Statement {
        Self.one.with(call.owner(scope) + own + [.bool(isExclusive)])
    }

    /// A change that removes the user from other devices runs alone.
    package func batch(_ call: StoreCall) -> StatementBatch? {
        if isExclusive { return nil }
        return StatementBatch(
            sql: Self.set,
            shared: call.owner(scope),
            row: own,
            subject: key.rawValue,
            limit: RegisterDevice.setLimit
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> AssignedUser? {
        guard let row = result.first else { return nil }
        return AssignedUser(user: try row.optionalID("user_id"), hasMoved: try row.bool("has_moved"))
    }
}
