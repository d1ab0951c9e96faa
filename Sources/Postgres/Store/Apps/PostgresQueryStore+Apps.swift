import DeliveryEngine
package import Model
import PostgresClient

/// An app, as the provisioning file defines it.
package struct ListedApp: Sendable, Hashable {
    package struct Route: Sendable, Hashable {
        package var platform: Platform
        package var topic: String
        /// The environments with a credential.
        package var environments: [PushEnvironment]
    }

    package var app: AppID
    package var platforms: [Route]
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
        try await page(AppSQL.list(.id(tenant), .string(after?.rawValue ?? ""), .int(max(0, limit))), in: tenant) {
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
                retiredAt: try row.optionalTime("retired_at"),
                origin: try row.word("origin")
            )
        }
    }
}
