import Commands
import Model

// Groups of users.
extension PostgresCommandStore {
    func putGroup(_ tenant: TenantID, _ scope: AppScope, _ name: GroupName) -> StoreQuestion {
        StoreQuestion(
            PreferenceSQL.putGroup(.id(tenant), .id(scope.app), .id(scope.vendor), .id(name))
        ) { (result) throws(PostgresError) in
            let row = try result.only()
            return .groupPut(isNew: try row.isNull("is_new") ? nil : try row.bool("is_new"))
        }
    }

    func deleteGroup(_ tenant: TenantID, _ scope: AppScope, _ name: GroupName) -> StoreQuestion {
        .changing(PreferenceSQL.deleteGroup(.id(tenant), .id(scope.app), .id(scope.vendor), .id(name)))
    }

    func groups(_ tenant: TenantID, _ scope: AppScope, _ names: [GroupName]) -> StoreQuestion {
        StoreQuestion(
            PreferenceSQL.groups(.id(tenant), .id(scope.app), .id(scope.vendor), .strings(names.map(\.rawValue)))
        ) { (result) throws(PostgresError) in
            .groups(
                try result.rows { (row) throws(PostgresError) in
                    GroupFacts(
                        name: try row.id("group_name"),
                        memberCount: try row.int("members"),
                        createdAt: try row.time("created_at")
                    )
                }
            )
        }
    }

    func changeMembers(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ name: GroupName,
        _ change: GroupChange
    ) -> StoreQuestion {
        let statement = PreferenceSQL.changeMembers(
            .id(tenant),
            .id(scope.app),
            .id(scope.vendor),
            .id(name),
            .strings(change.add.map(\.rawValue)),
            .strings(change.remove.map(\.rawValue))
        )
        return StoreQuestion(statement) { (result) throws(PostgresError) in
            guard let row = result.first else { return .membersChanged(nil) }
            return .membersChanged(MemberCounts(added: try row.int("added"), removed: try row.int("removed")))
        }
    }
}
