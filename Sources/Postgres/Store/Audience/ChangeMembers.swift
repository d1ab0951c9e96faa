package import Model
package import PostgresClient

/// Removes users from a group, then adds others, and updates the count of the group. Nil: the group does not exist.
package struct ChangeMembers: StoreWrite {
    let scope: AppScope
    let name: GroupName
    let change: GroupChange

    package init(_ scope: AppScope, _ name: GroupName, _ change: GroupChange) {
        self.scope = scope
        self.name = name
        self.change = change
    }

    private static let sql = StoreSQL.function("change_members", 6)

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(
            .id(call.tenant),
            .id(scope.app),
            .id(scope.vendor),
            .id(name),
            .strings(change.add.map(\.rawValue)),
            .strings(change.remove.map(\.rawValue))
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> MemberCounts? {
        guard let row = result.first else { return nil }
        return MemberCounts(added: try row.int("added"), removed: try row.int("removed"))
    }
}

/// How many users a change added to a group and removed from it.
package struct MemberCounts: Sendable, Hashable {
    package var added: Int
    package var removed: Int

    package init(added: Int, removed: Int) {
        self.added = added
        self.removed = removed
    }
}
