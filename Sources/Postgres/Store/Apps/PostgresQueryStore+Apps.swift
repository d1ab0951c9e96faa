import DeliveryEngine
package import Model
import PostgresClient

/// An app, as the provisioning file or the API defines it.
package struct ListedApp: Sendable, Hashable {
    package struct Route: Sendable, Hashable {
        package var platform: Platform
        package var topic: String
        /// The environments with a credential.
        package var environments: [PushEnvironment]
    }

    package var app: AppID
    package var platforms: [Route]
    /// Nil: UTC.
    package var timeZone: TimeZoneName?
    package var createdAt: Timestamp
    /// Nil while the app is in use: the provisioning file lists it, or it was not deleted through the API.
    package var retiredAt: Timestamp?
    package var origin: ObjectOrigin
}

extension PostgresQueryStore {
    /// Returns the apps of a tenant.
    ///
    /// - Throws: `StoreError`.
    package func apps(
        in tenant: TenantID,
        after: AppID?,
        limit: Int
    ) async throws(StoreError) -> [ListedApp] {
        let statement = AppSQL.list(.id(tenant), .string(after?.rawValue ?? ""), .int(max(0, limit)))
        return try await page(statement, in: tenant, Self.listedApp)
    }

    /// Returns an app of a tenant; nil when it does not exist.
    ///
    /// - Throws: `StoreError`.
    package func app(_ app: AppID, in tenant: TenantID) async throws(StoreError) -> ListedApp? {
        try await page(AppSQL.one(.id(tenant), .id(app)), in: tenant, Self.listedApp).first
    }

    private static func listedApp(_ row: Row) throws(PostgresError) -> ListedApp {
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
            timeZone: try row.optionalText("time_zone").map { TimeZoneName(stored: $0) },
            createdAt: try row.time("created_at"),
            retiredAt: try row.optionalTime("retired_at"),
            origin: try row.word("origin")
        )
    }
}
