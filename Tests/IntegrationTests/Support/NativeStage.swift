import APNs
import Adapters
import AppleCalls
import AsyncHTTPClient
import Commands
import DatabaseSupport
import DeliveryEngine
import EngineStore
import Explain
import Foundation
import Logging
import MigrationStore
import Migrations
import Model
import NIOCore
import NIOHTTP1
import Outgoing
import PostgresClient
import Provisioning
import ServiceLifecycle
import Store
import Testing

@testable import CommandSupport
@testable import Gateway
@testable import GatewayHTTP
@testable import Imports
@testable import NativeHTTP
@testable import Secrets

/// Two nodes of the native API behind real HTTP, each with its own pools, on one database of the test cluster.
/// Nothing is sent, because no engine runs.
struct NativeStage: Sendable {
    static let tenant = TenantID("own")

    let database: Database
    /// The base URL of each node.
    let bases: [String]
    /// A key with every scope.
    let key: String
    /// A key with the scope `read` only.
    let readKey: String
    /// A key of the other tenant with every scope.
    let otherKey: String

    /// Opens a stage, runs `body` on it and closes it.
    static func on(_ body: @escaping @Sendable (NativeStage) async throws -> Void) async throws {
        let identifiers = SystemIdentifiers()
        let logger = Logger(label: "native") { _ in SwiftLogNoOpLogHandler() }
        let configuration = try await GatewayConfiguration.load(
            flags: [
                "database.url": try await TestCluster.database().adminConnectionString, "database.connections": "6",
            ],
            configFile: nil
        )
        let first = try await Database.open(configuration, logger: logger) { _ in }
        let second = try await Database.open(configuration, logger: logger) { _ in }
        let keys = (0..<3).map { _ in APIKeys.make(identifiers) }
        try await closing {
            await second.close()
            await first.close()
        } after: {
            try await provision(first, keys)
            try await serve([first, second], logger) { bases in
                let stage = NativeStage(
                    database: first,
                    bases: bases,
                    key: keys[0],
                    readKey: keys[1],
                    otherKey: keys[2]
                )
                try await body(stage)
            }
        }
    }

    private static func provision(_ database: Database, _ keys: [String]) async throws {
        let credential = ProvisionedCredential(
            id: "apple",
            kind: "apns-token",
            teamID: "TEAM000001",
            keyID: "KEY0000001",
            sealed: [1],
            fingerprint: [1]
        )
        let route = PlatformRoute(topic: "com.example.shop", credentials: [.production: "apple", .sandbox: "apple"])
        func key(_ name: String, _ secret: String, _ scopes: [String]) -> ProvisionedKey {
            ProvisionedKey(name: name, hash: APIKeys.hash(secret), scopes: scopes)
        }
        func provisioned(_ id: TenantID, _ keys: [ProvisionedKey], _ bindings: [ProvisionedBinding] = [])
            -> ProvisionedTenant
        {
            ProvisionedTenant(
                id: id,
                apiKeys: keys,
                credentials: [credential],
                apps: [ProvisionedApp(id: "shop", platforms: [.ios: route], bindings: bindings)]
            )
        }
        let all = ["send", "devices", "read", "admin"]
        _ = try await PostgresProvisioningStore(engine: database.engine).apply([
            provisioned(
                Self.tenant,
                [key("backend", keys[0], all), key("reader", keys[1], ["read"])],
                [try hub()]
            ),
            provisioned("other", [key("backend", keys[2], all)]),
        ])
    }

    private static let masterKeyBytes = [UInt8](repeating: 7, count: 32)

    /// A binding whose devices act with tokens of a back end.
    private static func hub() throws -> ProvisionedBinding {
        let secrets = BindingSecrets(try KeyRing([MasterKey(bytes: masterKeyBytes)]))
        var settings: JSONObject = ["hub": "native-hub", "rules": ["Full": ["manage"]]]
        settings[BindingSecrets.key] = try secrets.sealed(
            ["primary/Full": "a key of the native hub"],
            of: "shop",
            in: tenant,
            vendor: .notificationHubs
        )
        let key = BindingKey(vendor: .notificationHubs, kind: "hub", value: "native-hub")
        return ProvisionedBinding(key: key, settings: settings)
    }

    private static func serve(
        _ databases: [Database],
        _ logger: Logger,
        _ body: @escaping @Sendable ([String]) async throws -> Void
    ) async throws {
        let addresses = databases.map { _ in BoundAddresses(expected: 1) }
        let services = try zip(databases, addresses).enumerated().map { index, pair in
            Listener.service(
                .http,
                on: ListenAddress(host: "127.0.0.1", port: 0),
                responder: try responder(pair.0, NodeID("native-\(index)"), logger),
                tls: nil,
                addresses: pair.1,
                logger: logger
            )
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for service in services { group.addTask { try await service.run() } }
            for bound in addresses { await bound.allOpen() }
            try await body(addresses.map { "http://127.0.0.1:\($0.first(.http)?.port ?? 0)" })
            group.cancelAll()
        }
    }

    private static func responder(_ database: Database, _ node: NodeID, _ logger: Logger) throws -> GatewayResponder {
        let identifiers = SystemIdentifiers()
        let clock = DatabaseClock()
        let commands = OperationStore(call: database.call, node: node)
        let handler = CommandHandler(
            store: commands,
            clock: clock,
            identifiers: identifiers,
            policy: CommandPolicy(handsOver: { false }),
            node: node
        )
        let directory = PostgresDirectory(call: database.call, engine: database.engine)
        let cache = CachedDirectory(store: directory, clock: clock)
        let limiter = CallLimiter(.off, logger: logger)
        let bodies = LargeBodies(limiter: limiter)
        let adapters = VendorCatalog.product.byVendor
        let queries = PostgresQueryStore(call: database.call)
        let devices = PostgresDeviceStore(call: database.call)
        let routes = RouteProvisioner(
            store: PostgresRouteStore(engine: database.engine),
            directory: directory,
            keyRing: try KeyRing([MasterKey(bytes: masterKeyBytes)])
        )
        let migrations = PostgresMigrationStore(engine: database.engine)
        return GatewayResponder(
            mounts: VendorMounts(VendorCatalog.product.adapters),
            vendors: VendorEndpoint(
                directory: cache,
                handler: handler,
                handOver: { _ in },
                limiter: limiter,
                bodies: bodies,
                identifiers: identifiers,
                logger: logger,
                multiStep: VendorCatalog.product.multiStep
            ),
            native: NativeAPI(
                callers: NativeCallers(directory: cache, limiter: limiter, bodies: bodies),
                handler: handler,
                handOver: { _ in },
                stores: NativeStores(
                    queries: queries,
                    devices: devices,
                    audit: PostgresAuditStore(call: database.call),
                    captures: PostgresCaptureStore(call: database.call, engine: database.engine),
                    bindingSecrets: BindingSecrets(try KeyRing([MasterKey(bytes: masterKeyBytes)])),
                    webhookSecrets: PostgresWebhookSecretStore(engine: database.engine),
                    keys: PostgresKeyStore(engine: database.engine),
                    operators: PostgresOperatorStore(engine: database.engine),
                    audiences: PostgresAudienceCounter(engine: database.engine),
                    objects: ObjectProvisioner(
                        store: PostgresObjectStore(engine: database.engine),
                        directory: directory,
                        keyRing: try KeyRing([MasterKey(bytes: masterKeyBytes)])
                    ),
                    migrations: MigrationProvisioner(
                        store: migrations,
                        routes: routes,
                        meter: MigrationMeter(
                            store: migrations,
                            queries: queries,
                            audit: PostgresAuditStore(call: database.call)
                        ),
                        clock: clock
                    ),
                    keyRing: try KeyRing([MasterKey(bytes: masterKeyBytes)])
                ),
                identifiers: identifiers,
                previews: PayloadPreview(
                    directory: directory,
                    vendors: VendorCatalog.product,
                    clock: clock,
                    identifiers: identifiers
                ),
                apple: AppleCalls(
                    channels: AppleChannels(directory: directory) { (_, _) throws(APNsError) in
                        throw APNsError(.noCredential)
                    },
                    possession: PossessionPushes(
                        directory: directory,
                        vendors: VendorCatalog.product,
                        identifiers: identifiers
                    ) { (_, _) in .unsent(TransportError(.noConnection)) }
                ),
                explainer: DeliveryExplainer(
                    queries: queries,
                    directory: directory,
                    adapters: adapters,
                    identifiers: identifiers
                ),
                imports: DeviceImports(
                    handler: handler,
                    maintenance: PostgresMaintenance(engine: database.engine, node: node),
                    identifiers: identifiers,
                    clock: clock
                ),
                webhooks: WebhookRegistry(
                    secrets: WebhookSecrets(
                        keyRing: try KeyRing([MasterKey(bytes: [UInt8](repeating: 7, count: 32))]),
                        identifiers: identifiers
                    ),
                    addresses: AddressGuard()
                ),
                clock: clock,
                logger: logger
            ),
            logger: logger
        )
    }

    // MARK: Calls

    struct Call: Sendable {
        var method: HTTPMethod
        var path: String
        var body: [UInt8] = []
        var type = "application/json"
        var repeatKey: String?
        var bearer: String?
        /// Without the header `Authorization`, whatever `bearer` is.
        var isAnonymous = false
        var ifMatch: String?
        var node = 0
    }

    func call(_ call: Call) async throws -> HTTPCaller.Answer {
        var request = HTTPClientRequest(url: bases[call.node] + call.path)
        request.method = call.method
        if !call.isAnonymous { request.headers.add(name: "authorization", value: "Bearer \(call.bearer ?? key)") }
        // The shared client would ask for compressed answers, and refuse those that became very short.
        request.headers.add(name: "accept-encoding", value: "identity")
        if let repeatKey = call.repeatKey { request.headers.add(name: "idempotency-key", value: repeatKey) }
        if let tag = call.ifMatch { request.headers.add(name: "if-match", value: tag) }
        if !call.body.isEmpty {
            request.headers.add(name: "content-type", value: call.type)
            request.body = .bytes(ByteBuffer(bytes: call.body))
        }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let buffer = try await response.body.collect(upTo: 4 << 20)
        let answer = HTTPCaller.Answer(response, Array(buffer.readableBytesView))
        DeclaredAnswers.check(call.method.rawValue, call.path, answer)
        return answer
    }

    /// A JSON call.
    func native(
        _ method: HTTPMethod,
        _ path: String,
        _ body: JSON? = nil,
        once repeatKey: String? = nil,
        as bearer: String? = nil,
        ifMatch: String? = nil,
        node: Int = 0
    ) async throws -> HTTPCaller.Answer {
        var call = Call(method: method, path: path, body: body.map(JSONWriter.bytes) ?? [])
        call.repeatKey = repeatKey
        call.bearer = bearer
        call.ifMatch = ifMatch
        call.node = node
        return try await self.call(call)
    }

    /// Registers a device and returns its id.
    @discardableResult
    func register(
        _ name: String,
        token: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        var body = JSONObject([
            ("app", "shop"), ("platform", "ios"), ("key", .string(name)), ("user", .string("u-\(name)")),
        ])
        body["token"] = token.map { .string($0) }
        let answer = try await native(.POST, "/v1/devices", .object(body))
        try #require(answer.status == 201, "\(answer.text)", sourceLocation: sourceLocation)
        return try #require(answer.json?["id"]?.string, sourceLocation: sourceLocation)
    }

    /// Sends to a device key and returns the message's id.
    func send(
        to key: String,
        body: String = "hello",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let answer = try await native(
            .POST,
            "/v1/messages",
            ["app": "shop", "to": ["keys": [.string(key)]], "body": .string(body)]
        )
        try #require(answer.status == 202, "\(answer.text)", sourceLocation: sourceLocation)
        return try #require(answer.json?["id"]?.string, sourceLocation: sourceLocation)
    }

    /// The subjects and actions in the audit, oldest first.
    func audit(after position: Int64 = 0) async throws -> [String] {
        let answer = try await native(.GET, "/v1/audit?limit=1000&after=\(position)")
        return (answer.json?["entries"]?.array ?? []).map {
            "\($0["actor"]?.string ?? "") \($0["action"]?.string ?? "") \($0["subject"]?.string ?? "")"
        }
    }

    /// A count with the engine's role, over all tenants.
    func count(_ sql: String) async throws -> Int {
        try await database.engine.run(Statement("SELECT count(*) AS n FROM \(sql)"), tenant: nil).only().int("n")
    }
}
