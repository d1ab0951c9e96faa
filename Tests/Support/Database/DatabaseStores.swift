import DatabaseSchema
import DeliveryEngine
package import EngineStore
package import Model
package import PostgresClient
package import Store
import Synchronization

/// A database with its two pools, and every store on them.
///
/// A test normally uses `shared`: it has its own tenants, and shares the database and its sessions with all tests of its target. Results that cover
/// all tenants (due work, gauges, clean-up) and changes for all of them (time, schema, settings) are then shared too; a test of those needs `copy`.
package struct DatabaseStores: Sendable {
    package let database: TestDatabase
    package let call: PostgresPool
    package let engine: PostgresPool
    /// The node of this test.
    package let node: NodeID
    /// The ending of the names of this test's tenants; empty in a database of its own.
    private let suffix: String

    package var commands: OperationStore { OperationStore(call: call, node: node) }
    package var delivery: PostgresDeliveryStore { PostgresDeliveryStore(engine: engine, inboxVendors: [.ipns]) }
    package var webhooks: PostgresWebhookStore { PostgresWebhookStore(engine: engine) }
    package var provisioning: PostgresProvisioningStore { PostgresProvisioningStore(engine: engine) }
    package var directory: PostgresDirectory { PostgresDirectory(call: call, engine: engine) }
    package var queries: PostgresQueryStore { PostgresQueryStore(call: call) }
    package var devices: PostgresDeviceStore { PostgresDeviceStore(call: call) }
    package var status: PostgresStatusStore { PostgresStatusStore(engine: engine) }
    package var audit: PostgresAuditStore { PostgresAuditStore(call: call) }

    private struct SharedDatabase: Sendable {
        let database: TestDatabase
        let call: PostgresPool
        let engine: PostgresPool
    }

    /// One database per test target: the targets run in one process, and some tests read all tenants.
    private static let shared = Mutex<[String: Task<SharedDatabase, any Error>]>([:])
    private static let counter = Atomic<Int>(0)

    /// The database that all tests of the caller's target share, with names for this test alone.
    ///
    /// - Parameter file: identifies the target.
    /// - Returns: the same database and sessions at each call, and a new node and new names of tenants.
    /// - Throws: when the cluster or the database cannot be created.
    package static func shared(file: String = #fileID) async throws -> DatabaseStores {
        let target = String(file.prefix { $0 != "/" })
        let task = shared.withLock { databases in
            if let running = databases[target] { return running }
            let task = Task {
                let database = try await TestCluster.database()
                return SharedDatabase(
                    database: database,
                    call: database.pool(.call, limits: .patient(maximumConnections: 16)),
                    engine: database.pool(.engine, limits: .patient(maximumConnections: 16))
                )
            }
            databases[target] = task
            return task
        }
        let found = try await task.value
        let number = counter.add(1, ordering: .relaxed).newValue
        return DatabaseStores(
            database: found.database,
            call: found.call,
            engine: found.engine,
            node: NodeID("node-\(number)"),
            suffix: "-\(number)"
        )
    }

    /// A separate database for the caller, copied from the template: for tests that change the time or the schema, or
    /// read all tenants.
    package static func copy() async throws -> DatabaseStores {
        let database = try await TestCluster.database()
        return DatabaseStores(
            database: database,
            call: database.pool(.call),
            engine: database.pool(.engine),
            node: "node-1",
            suffix: ""
        )
    }

    /// The id of this test's tenant of that name. It equals `name` only in a separate database.
    package func tenantID(_ name: String) -> TenantID { TenantID(name + suffix) }

    /// Provisions one tenant per name as `ProvisionedTenant.sample` describes it, and returns their ids in that order.
    @discardableResult
    package func provision(_ names: String..., change: (inout ProvisionedTenant) -> Void = { _ in }) async throws
        -> [TenantID]
    {
        let tenants = names.map { name in
            var tenant = ProvisionedTenant.sample(tenantID(name))
            change(&tenant)
            return tenant
        }
        _ = try await provisioning.apply(tenants)
        return tenants.map(\.id)
    }

    /// The database's clock.
    package func now() async throws -> Timestamp { try await delivery.heartbeat(node) }
}

extension ProvisionedTenant {
    /// A tenant with the app `shop` (iOS, topic `com.example.shop`, credential `apple` for both environments), an API key `backend`, and a binding of
    /// RationalOwl. Key and binding are named after the tenant, because they must differ between tenants.
    package static func sample(_ id: TenantID) -> ProvisionedTenant {
        let key = BindingKey(vendor: .rationalOwl, kind: "account", value: "account-of-\(id)")
        return ProvisionedTenant(
            id: id,
            apiKeys: [ProvisionedKey(name: "backend", hash: Array("hash-\(id)".utf8), scopes: ["send", "read"])],
            credentials: [.sample("apple")],
            apps: [
                ProvisionedApp(
                    id: "shop",
                    platforms: [
                        .ios: PlatformRoute(
                            topic: "com.example.shop",
                            credentials: [.production: "apple", .sandbox: "apple"]
                        )
                    ],
                    bindings: [ProvisionedBinding(key: key, settings: JSONObject([("compat", "legacy")]))]
                )
            ]
        )
    }
}

extension ProvisionedCredential {
    /// An APNs signing key. Its sealed bytes are random, like those of every sealing; `secret` distinguishes keys.
    package static func sample(_ id: CredentialID, secret: UInt8 = 1) -> ProvisionedCredential {
        ProvisionedCredential(
            id: id,
            kind: "apns-token",
            teamID: "ABCDE12345",
            keyID: "KEY1234567",
            sealed: (0..<12).map { _ in UInt8.random(in: 0...255) },
            fingerprint: [secret]
        )
    }
}
