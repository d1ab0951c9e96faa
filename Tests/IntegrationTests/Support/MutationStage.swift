import Commands
import DatabaseSupport
import DeliveryEngine
import EngineStore
import Foundation
import HTTPTypes
import Logging
import Model
import NIOConcurrencyHelpers
import PostgresClient
import RationalOwl
import Store
import TestKit
import Testing

@testable import Gateway
@testable import GatewayHTTP

/// Two tenants on a database of the test cluster, without processes. The vendor endpoint is called directly.
struct MutationStage: Sendable {
    static let own = TenantID("own")
    static let other = TenantID("other")

    let database: Database
    /// The pool that executes the commands.
    let pool: PostgresPool
    let endpoint: VendorEndpoint
    let adapter = RationalOwlAdapter()
    let requests: RationalOwlRequests
    let known: [String]

    static func open() async throws -> MutationStage {
        let identifiers = SystemIdentifiers()
        let reader = try await GatewayConfiguration.load(
            flags: [
                "database.url": try await TestCluster.database().adminConnectionString, "database.connections": "8",
            ],
            configFile: nil
        )
        let logger = Logger(label: "mutation") { _ in SwiftLogNoOpLogHandler() }
        let database = try await Database.open(reader, logger: logger) { _ in }
        let clock = DatabaseClock()
        let node = NodeID("mutation")
        // The commands have their own pool, so its requests show which commands reached the store.
        var configuration = database.call.configuration
        configuration.inspect = { _ in Reached.flag?.withLockedValue { $0 = true } }
        let pool = PostgresPool(configuration, logger: logger)
        let handler = CommandHandler(
            store: OperationStore(call: pool, node: node),
            clock: clock,
            identifiers: identifiers,
            policy: CommandPolicy(handsOver: { false }),
            node: node
        )
        let store = PostgresDirectory(call: database.call, engine: database.engine)
        let endpoint = VendorEndpoint(
            directory: CachedDirectory(store: store, clock: clock),
            handler: handler,
            handOver: { _ in },
            limiter: CallLimiter(.off, logger: logger),
            bodies: LargeBodies(limiter: CallLimiter(.off, logger: logger)),
            identifiers: identifiers,
            logger: logger,
            multiStep: [:]
        )
        try await provision(database)
        let ownRequests = try await populate(
            endpoint,
            "a1b2c3d4-1111-4222-8333-444455556666",
            "0123456789abcdef0123456789abcdef"
        )
        let otherRequests = try await populate(
            endpoint,
            "b1b2c3d4-1111-4222-8333-444455556666",
            "b123456789abcdef0123456789abcdef"
        )
        let known = [
            otherRequests.device, otherRequests.sender, otherRequests.message, otherRequests.image, ownRequests.device,
            ownRequests.message, ownRequests.sender,
        ]
        return MutationStage(
            database: database,
            pool: pool,
            endpoint: endpoint,
            requests: ownRequests,
            known: known
        )
    }

    private static func provision(_ database: Database) async throws {
        let route = PlatformRoute(topic: "com.example.shop", credentials: [.production: "apple", .sandbox: "apple"])
        func tenant(_ id: TenantID, _ account: String, _ service: String) -> ProvisionedTenant {
            ProvisionedTenant(
                id: id,
                apiKeys: [],
                credentials: [
                    ProvisionedCredential(
                        id: "apple",
                        kind: "apns-token",
                        teamID: "TEAM000001",
                        keyID: "KEY0000001",
                        endpoint: nil,
                        trustRoots: nil,
                        sealed: [1],
                        fingerprint: [1]
                    )
                ],
                apps: [
                    ProvisionedApp(
                        id: "shop",
                        platforms: [.ios: route],
                        defaultTimeToLive: nil,
                        bindings: [("account", account), ("service", service)].map {
                            ProvisionedBinding(
                                key: BindingKey(vendor: .rationalOwl, kind: $0.0, value: $0.1),
                                settings: ["senderNetworks": ["127.0.0.1"]]
                            )
                        }
                    )
                ]
            )
        }
        _ = try await PostgresProvisioningStore(engine: database.engine).apply([
            tenant(own, "a1b2c3d4-1111-4222-8333-444455556666", "0123456789abcdef0123456789abcdef"),
            tenant(other, "b1b2c3d4-1111-4222-8333-444455556666", "b123456789abcdef0123456789abcdef"),
        ])
    }

    /// A device, a sender and a reserved message with an image in one tenant, by the vendor's own calls.
    private static func populate(_ endpoint: VendorEndpoint, _ account: String, _ service: String) async throws
        -> RationalOwlRequests
    {
        func call(_ path: String, _ route: String, _ body: JSON) async throws -> JSON {
            let request = VendorRequest(
                route: route,
                path: path,
                body: JSONWriter.bytes(body),
                remoteAddress: "127.0.0.1"
            )
            let response = await endpoint.carryOut(request, RationalOwlAdapter())
            return try JSONParser.parse(response.body)
        }
        let routes = Dictionary(
            RationalOwlAdapter().routes.compactMap { route -> (String, String)? in
                guard case .exact(let path) = route.path else { return nil }
                return (path, route.name)
            },
            uniquingKeysWith: { first, _ in first }
        )
        let prefix = account.prefix(1)
        let device = String(repeating: "\(prefix)1", count: 16)
        var requests = RationalOwlRequests(
            account: account,
            service: service,
            device: device,
            sender: "",
            message: "",
            image: String(repeating: "0", count: 32)
        )
        _ = try await call(
            "/pushApp/installApp",
            try #require(routes["/pushApp/installApp"]),
            [
                "cId": 303, "aId": .string(account), "dt": 2, "dRId": .string(device),
                "pn": .string(prefix == "a" ? "01022221111" : "01033334444"),
                "tk": .string(String(repeating: "\(prefix)b", count: 32)), "env": "prod",
            ]
        )
        let server = try await call(
            "/server/register",
            routes["/server/register"] ?? "server/register",
            [
                "serviceId": .string(service), "registerName": "shop backend 1", "privateNetwork": 1,
            ]
        )
        requests.sender = try #require(server["serverRegId"]?.string)
        _ = try await call(
            "/msgClient/register",
            try #require(routes["/msgClient/register"]),
            [
                "cId": 1, "r": 1, "t": 12, "sId": .string(service), "rId": .string(requests.sender),
                "aId": .string(account), "ip": "203.0.113.10", "mcn": "x",
            ]
        )
        let sent = try await call(
            "/msgClient/msgClientSendMsgByDeviceId",
            try #require(routes["/msgClient/msgClientSendMsgByDeviceId"]),
            [
                "rId": .string(requests.sender), "aId": .string(account), "ip": "203.0.113.10",
                "msg": ["title": "t", "body": "b"],
                "dest": ["t": 2, "tg": [["dId": .string(device)]]],
            ]
        )
        requests.message = try #require(sent["mId"]?.string, "\(JSONWriter.text(sent))")
        return requests
    }

    /// Mutates one documented request and checks every answer.
    func mutate(_ request: (path: String, route: String, body: JSON), count: Int, seed: UInt64, counts: Counts)
        async throws
    {
        var mutator = Mutator(seed: seed, known: known)
        let route = adapter.routes.first {
            if case .exact(let path) = $0.path { path == request.path || path + "/" == request.path } else { false }
        }
        let name = try #require(route?.name, "no route for \(request.path)")
        for index in 0..<count {
            let body = mutator.body(index, from: request.body)
            let flag = NIOLockedValueBox(false)
            let response = await Reached.$flag.withValue(flag) {
                await endpoint.carryOut(
                    VendorRequest(route: name, path: request.path, body: body, remoteAddress: "127.0.0.1"),
                    adapter
                )
            }
            let fault = RationalOwlRequests.fault(response.status, response.body, to: request.path, body)
            counts.note(reached: flag.withLockedValue { $0 }, wrong: fault)
        }
    }

    /// One checksum over every row of a tenant.
    func checksum(of tenant: TenantID) async throws -> String {
        let tables = ["device", "identity", "message", "slice", "delivery", "event", "app", "sender"]
        var out = ""
        for table in tables {
            let result = try await database.engine.run(
                Statement(
                    "SELECT coalesce(md5(string_agg(t::text, '|' ORDER BY t::text)), '') AS sum FROM gateway.\(table) t WHERE tenant_id = $1",
                    [.text(tenant.rawValue)]
                ),
                tenant: nil
            )
            out += try result.only().text("sum")
        }
        return out
    }

    func close() async {
        await pool.close()
        await database.close()
    }
}

/// Records in the calling task whether Commands used the store.
enum Reached {
    /// The flag of one call; set by the caller.
    @TaskLocal static var flag: NIOLockedValueBox<Bool>?
}

extension VendorEndpoint {
    /// Processes a call whose body is complete.
    fileprivate func carryOut(_ call: VendorRequest, _ adapter: any VendorAdapter) async -> VendorResponse {
        var record = CallRecord()
        var hold = CallHold()
        return await carryOut(call, adapter, &record, &hold)
    }
}
