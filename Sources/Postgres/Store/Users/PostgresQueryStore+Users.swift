import DeliveryEngine
package import Model

/// A user in a list.
package struct ListedUser: Sendable, Hashable {
    package var user: UserID
    /// Active identities with a device.
    package var devices: Int
}

/// An app as it is provisioned.
package struct ListedApp: Sendable, Hashable {
    package struct Route: Sendable, Hashable {
        package var platform: Platform
        package var topic: String
        /// Those with a credential.
        package var environments: [PushEnvironment]
    }

    package var app: AppID
    package var platforms: [Route]
    package var createdAt: Timestamp
    /// Nil while the provisioning file lists it.
    package var retiredAt: Timestamp?
}

/// Pages of what a tenant has.
extension PostgresQueryStore {
    /// Messages, the latest due first. Their funnels and failed parts are not counted.
    ///
    /// - Throws: `StoreError`.
    package func messages(
        in tenant: TenantID,
        app: AppID?,
        state: MessageState?,
        after: MessageID?,
        limit: Int
    ) async throws(StoreError) -> [MessageFacts] {
        let statement = ListSQL.messages(
            .id(tenant),
            .id(app),
            .text(state?.rawValue),
            .id(after),
            .int(max(0, limit))
        )
        return try await page(statement, in: tenant, Self.message)
    }

    /// - Throws: `StoreError`.
    package func apps(
        in tenant: TenantID,
        after: AppID?,
        limit: Int
    ) async throws(StoreError) -> [ListedApp] {
        try await page(ListSQL.apps(.id(tenant), .string(after?.rawValue ?? ""), .int(max(0, limit))), in: tenant) {
            (row) throws(PostgresError) in
            let routes = PlatformRouteCoding.decode(try row.object("platforms"))
            return ListedApp(
                app: try row.id("app_id"),
                platforms: Platform.allCases.compactMap { platform in
                    routes[platform].map { route in
                        .init(
                            platform: platform,
                            topic: route.topic,
                            environments: PushEnvironment.allCases.filter { route.credentials[$0] != nil }
                        )
                    }
                },
                createdAt: try row.time("created_at"),
                retiredAt: try row.optionalTime("retired_at")
            )
        }
    }

    /// - Throws: `StoreError`.
    package func users(
        of scope: AppScope,
        in tenant: TenantID,
        after: UserID?,
        limit: Int
    ) async throws(StoreError) -> [ListedUser] {
        let statement = ListSQL.users.with(Self.key(tenant, scope, after?.rawValue, limit))
        return try await page(statement, in: tenant) { (row) throws(PostgresError) in
            ListedUser(user: try row.id("user_id"), devices: try row.int("devices"))
        }
    }

    /// - Throws: `StoreError`.
    package func groups(
        of scope: AppScope,
        in tenant: TenantID,
        after: GroupName?,
        limit: Int
    ) async throws(StoreError) -> [GroupFacts] {
        let statement = ListSQL.groups.with(Self.key(tenant, scope, after?.rawValue, limit))
        return try await page(statement, in: tenant) { (row) throws(PostgresError) in
            GroupFacts(
                name: try row.id("group_name"),
                memberCount: try row.optionalInt("members") ?? 0,
                createdAt: try row.time("created_at")
            )
        }
    }

    /// - Throws: `StoreError`.
    package func members(
        of group: GroupName,
        _ scope: AppScope,
        in tenant: TenantID,
        after: UserID?,
        limit: Int
    ) async throws(StoreError) -> [UserID] {
        let statement = ListSQL.members(
            .id(tenant),
            .id(scope.app),
            .id(scope.vendor),
            .id(group),
            .string(after?.rawValue ?? ""),
            .int(max(0, limit))
        )
        return try await page(statement, in: tenant) { (row) throws(PostgresError) in try row.id("user_id") }
    }

    private static func key(_ tenant: TenantID, _ scope: AppScope, _ after: String?, _ limit: Int) -> [PostgresValue] {
        [.id(tenant), .id(scope.app), .id(scope.vendor), .string(after ?? ""), .int(max(0, limit))]
    }

    private func page<Item>(
        _ statement: Statement,
        in tenant: TenantID,
        _ read: (Row) throws(PostgresError) -> Item
    ) async throws(StoreError) -> [Item] {
        try await asStore { () throws(PostgresError) in
            try await call.run(statement, tenant: tenant.rawValue).rows(read)
        }
    }
}

/// Which devices of a tenant are listed; nil: any.
package struct DeviceFilter: Sendable, Hashable {
    package var app: AppID?
    package var vendor: Vendor?
    package var user: UserID?
    package var key: VendorDeviceKey?
    /// Digits.
    package var phone: String?
    package var token: String?

    package init(
        app: AppID? = nil,
        vendor: Vendor? = nil,
        user: UserID? = nil,
        key: VendorDeviceKey? = nil,
        phone: String? = nil,
        token: String? = nil
    ) {
        self.app = app
        self.vendor = vendor
        self.user = user
        self.key = key
        self.phone = phone
        self.token = token
    }
}
