import CommandSupport
import Commands
import DatabaseSupport
import DeliveryEngine
import EngineStore
import Forwarding
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Model
import NIOConcurrencyHelpers
import NIOCore
import Observability
import Outgoing
import PostgresClient
import Provisioning
import Routing
import ServiceLifecycle
import Store
import Testing
import UpstreamSupport

@testable import Gateway
@testable import GatewayHTTP
@testable import Secrets

/// One gateway behind real HTTP that serves the dialect of `RelayAdapter` on a database of the test cluster. A directory in front of the stored one gives its app
/// rules, and fails on command.
struct ProxyStage: Sendable {
    /// A directory whose bindings have rules, and are never remembered, as if each call came after a second.
    final class Directory: CallDirectory {
        private struct State {
            var rules: RouteRules?
            var isDown = false
            var keysAreDown = false
            var isUnreadable = false
            var known: [BindingKey: BoundCall] = [:]
            var lookUps = 0
            var keyLookUps = 0
            var host: BindingKey?
        }

        private let base: any CallDirectory
        private let state = NIOLockedValueBox(State())

        init(_ base: any CallDirectory) { self.base = base }

        func set(_ rules: [CallRule]?) {
            state.withLockedValue { $0.rules = rules.map { RouteRules(calls: $0) } }
        }

        /// Whether the store does not answer.
        func set(isDown: Bool) { state.withLockedValue { $0.isDown = isDown } }

        /// Whether the store does not answer questions for API keys.
        func set(keysAreDown: Bool) { state.withLockedValue { $0.keysAreDown = keysAreDown } }

        /// Whether the program cannot read the rules.
        func set(isUnreadable: Bool) { state.withLockedValue { $0.isUnreadable = isUnreadable } }

        /// The binding to which the host of all calls belongs.
        func set(host: BindingKey?) { state.withLockedValue { $0.host = host } }

        func hosts() async throws(StoreError) -> [String: BindingKey] {
            guard let host = state.withLockedValue({ $0.host }) else { return [:] }
            return ["push.example.com": host]
        }

        /// The look-ups so far.
        var lookUps: Int { state.withLockedValue { $0.lookUps } }

        func remembered(_ key: BindingKey) -> BoundCall?? { nil }

        func lastKnown(_ key: BindingKey) -> BoundCall? { state.withLockedValue { $0.known[key] } }

        func binding(_ key: BindingKey) async throws(StoreError) -> BoundCall? {
            let (isDown, isUnreadable, rules) = state.withLockedValue { state in
                state.lookUps += 1
                return (state.isDown, state.isUnreadable, state.rules)
            }
            guard !isDown else { throw StoreError(.unavailable, "the test has stopped it") }
            guard let found = try await base.binding(key) else { return nil }
            guard let rules else { return found }
            let table = RouteTable(rules, upstreams: ["old": UpstreamFacts(vendor: RelayAdapter.vendor)])
            let bound = BoundCall(
                tenant: found.tenant,
                app: found.app,
                settings: found.settings,
                routes: BoundRoutes(version: 1, table: isUnreadable ? nil : table),
                hasFirstKeys: found.hasFirstKeys
            )
            state.withLockedValue { $0.known[key] = bound }
            return bound
        }

        func firstKeys(
            of devices: [String],
            _ vendor: Vendor,
            in binding: BoundCall
        ) async throws(StoreError) -> [String: String] {
            state.withLockedValue { $0.keyLookUps += 1 }
            return try await base.firstKeys(of: devices, vendor, in: binding)
        }

        /// The look-ups of first keys so far.
        var keyLookUps: Int { state.withLockedValue { $0.keyLookUps } }

        func apiKey(_ secret: String) async throws(StoreError) -> APIKeyGrant? {
            guard !state.withLockedValue({ $0.keysAreDown }) else {
                throw StoreError(.unavailable, "the test has stopped it")
            }
            return try await base.apiKey(secret)
        }
    }

    /// Keeps the captured calls of the stage's app.
    final class Captures: CaptureSink {
        private let capture: RunningCapture
        private let taken = NIOLockedValueBox<[CapturedExchange]>([])

        init(_ tenant: TenantID) {
            capture = RunningCapture(
                tenant: tenant,
                id: UUID(),
                app: "shop",
                vendor: RelayAdapter.vendor,
                keepsTexts: true,
                endsAt: Timestamp(seconds: 1),
                keys: [],
                isSole: false
            )
        }

        var exchanges: [CapturedExchange] { taken.withLockedValue { $0 } }

        func running() async throws(StoreError) -> [RunningCapture] { [capture] }

        func record(_ exchange: CapturedExchange, in id: UUID, of tenant: TenantID) async throws(StoreError) -> Int {
            taken.withLockedValue { taken in
                taken.append(exchange)
                return taken.count
            }
        }
    }

    /// Answers the calls of the dialect, with the identifier of the call as every listener writes it.
    private struct Responder: HTTPResponder {
        let mounts: VendorMounts
        let vendors: VendorEndpoint

        func respond(to request: Request, context: CallContext) async throws -> Response {
            guard let match = mounts.match(path: request.uri.path, method: request.method) else {
                return Response(status: .notFound)
            }
            let answer = await vendors.respond(
                to: request,
                match: match,
                client: context.client,
                channel: context.channel
            )
            return Response(answer, to: context.channel)
        }
    }

    /// The key of back ends that send.
    static let sendKey = "the-key-of-the-back-end"
    /// The gateway's name in `Via`.
    static let name = "push-gateway-0123456789abcdef"
    private static let masterKeyBytes = [UInt8](repeating: 9, count: 32)

    let port: Int
    /// The app in the header `X-Relay-App`.
    let app: String
    let tenant: TenantID
    let directory: Directory
    let client: OutgoingClient
    let captures: Captures
    let handler: CommandHandler
    let database: TestDatabase

    /// The app's upstream.
    var upstream: CredentialKey { CredentialKey(tenant: tenant, credential: "old") }

    /// Opens a stage with an upstream on `upstreamPort`, runs `body` on it and closes it.
    static func on(
        _ upstreamPort: Int,
        host: String = "127.0.0.1",
        limits: OutgoingLimits = ProxyStage.patient,
        forwarding policy: ForwardPolicy? = nil,
        observes: Bool = false,
        _ body: @escaping @Sendable (ProxyStage) async throws -> Void
    ) async throws {
        let logger = Logger(label: "proxy") { _ in SwiftLogNoOpLogHandler() }
        let identifiers = SystemIdentifiers()
        let created = try await TestCluster.database()
        let configuration = try await GatewayConfiguration.load(
            flags: ["database.url": created.adminConnectionString, "database.connections": "4"],
            configFile: nil
        )
        let database = try await Database.open(configuration, logger: logger) { _ in }
        let tenant = TenantID("proxied-\(identifiers.randomHex(byteCount: 6))")
        try await closing {
            await database.close()
        } after: {
            try await provision(database, tenant)
            let client = OutgoingClient(
                addressGuard: AddressGuard(allowing: [try #require(AddressRange("127.0.0.0/8"))]),
                resolver: SystemResolver(threadCount: 1),
                limits: limits
            )
            let upstreams = OpenUpstreams()
            let server = OutgoingServer(
                credential: CredentialKey(tenant: tenant, credential: "old"),
                url: try #require(OutgoingURL("http://\(host):\(upstreamPort)"))
            )
            let settings = UpstreamSettings(vendor: RelayAdapter.vendor)
            upstreams.open(OpenUpstreams.Upstream(server: server, settings: settings))
            let clock = DatabaseClock()
            let store = PostgresDirectory(call: database.call, engine: database.engine)
            let keyRing = try KeyRing([MasterKey(bytes: masterKeyBytes)])
            let directory = Directory(CachedDirectory(store: store, clock: clock, keyRing: keyRing))
            let proxy = UpstreamProxy(upstreams: upstreams, client: client, name: name)
            let captures = Captures(tenant)
            let recorder = CaptureRecorder(sink: captures, logger: logger)
            await recorder.refresh()
            let handler = CommandHandler(
                store: OperationStore(call: database.call, node: "proxy"),
                clock: clock,
                identifiers: identifiers,
                policy: CommandPolicy(handsOver: { false }),
                node: "proxy"
            )
            let observer =
                observes ? CallObserver(handler: handler, directory: directory, multiStep: [:], logger: logger) : nil
            let side = UpstreamSide(proxy: proxy, observer: observer, forwardsAs: policy == nil ? nil : name)
            let responder = IdentifiedResponder(
                responder(directory, handler, side, recorder, logger),
                identifiers: identifiers,
                clock: clock,
                logger: logger
            )
            let forwarder = Forwarder(
                store: PostgresForwardStore(engine: database.engine),
                caller: UpstreamForwardCaller(
                    client: client,
                    adapters: [RelayAdapter.vendor: RelayAdapter()],
                    name: name,
                    clock: clock
                ) { key in
                    upstreams.upstream(key).map { found in
                        UpstreamForwardCaller.Target(server: found.server, settings: found.settings)
                    }
                },
                node: "proxy",
                policy: policy ?? ForwardPolicy(),
                clock: ContinuousClock()
            )
            try await serve(responder, recorder, logger, observer, policy == nil ? nil : forwarder) { port in
                try await body(
                    ProxyStage(
                        port: port,
                        app: tenant.rawValue,
                        tenant: tenant,
                        directory: directory,
                        client: client,
                        captures: captures,
                        handler: handler,
                        database: created
                    )
                )
            }
        }
    }

    /// The product's limits, except for times: the peers share their process with all other tests.
    static var patient: OutgoingLimits {
        var limits = OutgoingLimits()
        limits.connect = .seconds(60)
        limits.call = .seconds(120)
        return limits
    }

    private static func provision(_ database: Database, _ tenant: TenantID) async throws {
        let secrets = BindingSecrets(try KeyRing([MasterKey(bytes: masterKeyBytes)]))
        var settings: JSONObject = [:]
        settings[BindingSecrets.key] = try secrets.sealed(
            ["sendKey": sendKey],
            of: "shop",
            in: tenant,
            vendor: RelayAdapter.vendor
        )
        let key = BindingKey(vendor: RelayAdapter.vendor, kind: "app", value: tenant.rawValue)
        _ = try await PostgresProvisioningStore(engine: database.engine).apply([
            ProvisionedTenant(
                id: tenant,
                apiKeys: [],
                credentials: [],
                apps: [ProvisionedApp(id: "shop", platforms: [:], bindings: [.init(key: key, settings: settings)])]
            )
        ])
    }

    private static func responder(
        _ directory: Directory,
        _ handler: CommandHandler,
        _ side: UpstreamSide,
        _ recorder: CaptureRecorder,
        _ logger: Logger
    ) -> Responder {
        let limiter = CallLimiter(.off, logger: logger)
        return Responder(
            mounts: VendorMounts([RelayAdapter()]),
            vendors: VendorEndpoint(
                directory: directory,
                upstreams: side,
                handler: handler,
                handOver: { _ in },
                limiter: limiter,
                bodies: LargeBodies(limiter: limiter),
                identifiers: SystemIdentifiers(),
                logger: logger,
                recorder: recorder,
                multiStep: [:]
            )
        )
    }

    private static func serve(
        _ responder: IdentifiedResponder<Responder>,
        _ recorder: CaptureRecorder,
        _ logger: Logger,
        _ observer: CallObserver?,
        _ forwarder: (any Service)?,
        _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        let addresses = BoundAddresses(expected: 1)
        let service = Listener.service(
            .http,
            on: ListenAddress(host: "127.0.0.1", port: 0),
            responder: responder,
            tls: nil,
            addresses: addresses,
            logger: logger
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await service.run() }
            group.addTask { await recorder.drain() }
            if let observer { group.addTask { await observer.work() } }
            if let forwarder { group.addTask { try await forwarder.run() } }
            await addresses.allOpen()
            try await body(addresses.first(.http)?.port ?? 0)
            group.cancelAll()
        }
    }

    /// Whether the gateway knows which side has sent a message.
    func knows(_ message: String) async throws -> Bool {
        let scope = AppScope(app: "shop", vendor: RelayAdapter.vendor)
        return try await handler.owner(of: message, in: scope, of: tenant) != .unknown
    }

    /// Calls the gateway.
    func call(
        _ name: String,
        _ fields: [String] = [],
        _ body: [UInt8] = Array("{}".utf8),
        method: String = "POST"
    ) async throws -> RawCaller.Answer {
        try await RawCaller.call(port, request(name, fields, body, method: method))
    }

    /// The bytes of a call.
    func request(
        _ name: String,
        _ fields: [String] = [],
        _ body: [UInt8] = Array("{}".utf8),
        method: String = "POST"
    ) -> [UInt8] {
        let own = ["X-Relay-App: \(app)", "Content-Type: application/json"]
        return RawCaller.request(method, "/relay/\(name)", own + fields, body)
    }
}
