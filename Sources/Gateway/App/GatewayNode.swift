import APNs
import AppleCalls
import ApplePayload
import AsyncHTTPClient
import CallAudit
import Commands
import DeliveryEngine
import EngineStore
import Explain
import Foundation
import GatewayHTTP
import Hummingbird
import Imports
import Logging
import Model
import NIOSSL
import NativeHTTP
import Observability
import Outgoing
import PostgresClient
import Provisioning
import Secrets
import ServiceLifecycle
import Store
import Traces
import Webhooks

/// The parts of one node, built in the order of their dependencies, and the services and responders made of them.
struct GatewayNode {
    /// The parts that all other parts share.
    struct Base {
        let configuration: GatewayConfiguration
        let vendors: VendorCatalog
        let database: Database
        let logger: Logger
        let node: NodeID
        let identifiers: any IdentifierSource
        let keyRing: KeyRing
        let auditSigner: AuditSigner
        let directory: PostgresDirectory
        let clock: DatabaseClock
    }

    /// The parts that send pushes.
    struct Delivery {
        let transport: APNsTransport
        let engine: DeliveryEngine
    }

    /// The parts that follow changes of provisioning, and the parts that these changes affect.
    struct Provisioning {
        let cache: CachedDirectory
        let expiries: CredentialExpiries
        let captures: PostgresCaptureStore
        let recorder: CaptureRecorder
        let upstreams: OpenUpstreams
        let service: ProvisioningService
    }

    let base: Base
    let delivery: Delivery
    let provisioning: Provisioning
    let handler: CommandHandler
    let proxy: UpstreamProxy
    let figures: FigureCounts
    let observer: CallObserver
    let webhooks: WebhookRegistry
    let secrets: WebhookSecrets
    let proxies: TrustedProxies
    /// Nil: proxies name their clients in headers of calls only.
    let proxied: ProxiedClients?
    let limiter: CallLimiter
    let bodies: LargeBodies
    let proofs = RefusedProofs()
    let gate: AuditGate
    /// Nil: the collector's certificate is verified with the system's authorities.
    let collectorTLS: NIOSSLContext?
    let sampler: DatabaseSampler
    /// Nil: nothing is traced.
    let tracing: NodeTracing?
    let shutdown = ShutdownProgress()

    /// Builds the parts and opens the provisioned credentials.
    ///
    /// - Throws: the error that prevents the node from starting.
    static func make(
        _ configuration: GatewayConfiguration,
        _ vendors: VendorCatalog,
        _ database: Database,
        _ logger: Logger
    ) async throws -> GatewayNode {
        let base = try await base(configuration, vendors, database, logger)
        let tracing = try tracing(base)
        let upstreams = OpenUpstreams(keyRing: base.keyRing)
        let proxy = try proxy(base, upstreams)
        let delivery = try await delivery(base, tracing, sender(base, proxy, upstreams))
        let provisioning = provisioning(base, delivery, upstreams)
        await provisioning.service.follow()
        let limiter = CallLimiter(configuration.limits, logger: logger)
        let secrets = WebhookSecrets(keyRing: base.keyRing, identifiers: base.identifiers)
        let proxies = TrustedProxies(try SettingReader.networks(configuration.trustedProxies, "trusted-proxies"))
        let handler = commandHandler(base, delivery.engine)
        let figures = figures(base)
        return GatewayNode(
            base: base,
            delivery: delivery,
            provisioning: provisioning,
            handler: handler,
            proxy: proxy,
            figures: figures,
            observer: observer(base, provisioning.cache, handler, figures),
            webhooks: WebhookRegistry(
                secrets: secrets,
                addresses: AddressGuard(
                    allowing: try SettingReader.networks(configuration.webhookAllowedNetworks, "webhook-allow")
                )
            ),
            secrets: secrets,
            proxies: proxies,
            proxied: configuration.proxyProtocol ? ProxiedClients(proxies) : nil,
            limiter: limiter,
            bodies: LargeBodies(limiter: limiter),
            gate: AuditGate(limitSeconds: configuration.auditLagSeconds),
            collectorTLS: try configuration.auditCAFile.map(collectorTLS),
            sampler: DatabaseSampler(store: PostgresStatusStore(engine: database.engine), logger: logger),
            tracing: tracing
        )
    }

    /// - Throws: `ConfigurationProblem` when the file with the collector's authorities cannot be read.
    private static func tracing(_ base: Base) throws -> NodeTracing? {
        guard let settings = base.configuration.tracing else { return nil }
        var tls: TLSConfiguration?
        if let file = settings.authoritiesFile {
            guard (try? NIOSSLCertificate.fromPEMFile(file))?.isEmpty == false else {
                let problem = "\(file) has no certificate that can be read"
                throw ConfigurationProblem(setting: "tracing-ca", problem: problem)
            }
            tls = clientTLS(file)
        }
        // Without a node: it reads only.
        let store = OperationStore(call: base.database.call, node: base.node)
        let handler = CommandHandler(store: store, clock: base.clock, identifiers: base.identifiers, node: nil)
        return NodeTracing(settings, tls: tls, node: base.node, handler: handler, logger: base.logger)
    }

    private static func base(
        _ configuration: GatewayConfiguration,
        _ vendors: VendorCatalog,
        _ database: Database,
        _ logger: Logger
    ) async throws -> Base {
        let identifiers = SystemIdentifiers()
        let directory = PostgresDirectory(call: database.call, engine: database.engine)
        let keyRing = try await database.keyRing(configuration)
        return Base(
            configuration: configuration,
            vendors: vendors,
            database: database,
            logger: logger,
            node: NodeID("node-\(identifiers.randomHex(byteCount: 8))"),
            identifiers: identifiers,
            keyRing: keyRing,
            auditSigner: try AuditSigner(keyRing),
            directory: directory,
            clock: DatabaseClock()
        )
    }

    private static func delivery(
        _ base: Base,
        _ tracing: NodeTracing?,
        _ upstreams: any UpstreamTransport
    ) async throws -> Delivery {
        let tokens = SealedProviderTokenStore(directory: base.directory, keyRing: base.keyRing)
        let transport = try APNsTransport(tokens: SharedTokens(store: tokens, clock: base.clock))
        var policy = EnginePolicy()
        policy.retryScale = base.configuration.retryScale
        policy.lease = .seconds(base.configuration.leaseSeconds)
        policy.drainDeadline = .seconds(base.configuration.drainSeconds)
        let engine = DeliveryEngine(
            store: PostgresDeliveryStore(engine: base.database.engine, inboxVendors: base.vendors.inboxes),
            transports: [.ios: transport],
            upstreams: upstreams,
            payloads: PayloadWriter(adapters: base.vendors.byVendor) {
                (adapter, notification, target, settings) throws(AdapterError) in
                try adapter.applePayload(for: notification, to: target, settings: settings)
            },
            identifiers: base.identifiers,
            policy: policy,
            node: base.node,
            clock: base.clock,
            tracer: tracing?.tracer,
            logger: base.logger
        )
        try await startClock(engine, base)
        return Delivery(transport: transport, engine: engine)
    }

    /// The database's clock must be known before the first id is made.
    private static func startClock(_ engine: DeliveryEngine, _ base: Base) async throws {
        let asked = engine.clock.uptime
        let now = try await PostgresDeliveryStore(engine: base.database.engine).heartbeat(base.node)
        engine.clock.adjust(databaseTime: now, asked: asked)
    }

    private static func provisioning(
        _ base: Base,
        _ delivery: Delivery,
        _ upstreams: OpenUpstreams
    ) -> Provisioning {
        let cache = CachedDirectory(
            store: base.directory,
            clock: base.clock,
            keyRing: base.keyRing,
            keyAge: base.configuration.keyAgeDays.map { .seconds(Int64($0) * 86_400) },
            logger: base.logger
        )
        let expiries = CredentialExpiries()
        let captures = PostgresCaptureStore(call: base.database.call, engine: base.database.engine)
        let recorder = CaptureRecorder(sink: captures, logger: base.logger)
        let service = ProvisioningService(
            directory: base.directory,
            cache: cache,
            recorder: recorder,
            transport: delivery.transport,
            engine: delivery.engine,
            keyRing: base.keyRing,
            expiries: expiries,
            upstreams: upstreams,
            listener: base.configuration.databaseNotify
                ? PostgresListener(
                    base.database.engineConfiguration,
                    channels: [PostgresChannel.provisioning],
                    logger: base.logger
                ) : nil,
            logger: base.logger
        )
        return Provisioning(
            cache: cache,
            expiries: expiries,
            captures: captures,
            recorder: recorder,
            upstreams: upstreams,
            service: service
        )
    }

    private static func commandHandler(_ base: Base, _ engine: DeliveryEngine) -> CommandHandler {
        let texts = MessageTexts(adapters: base.vendors.byVendor)
        return CommandHandler(
            store: OperationStore(call: base.database.call, node: base.node),
            clock: base.clock,
            identifiers: base.identifiers,
            policy: CommandPolicy(
                lease: .seconds(base.configuration.leaseSeconds),
                handsOver: { !engine.isDraining },
                inboxVendors: base.vendors.inboxes,
                fingerprint: { texts.fingerprint(of: $0, from: $1) }
            ),
            node: base.node
        )
    }
}

// MARK: Responders

extension GatewayNode {
    /// Passes slices that were leased to this node on acceptance to its delivery engine.
    private var handOver: @Sendable ([SliceLease]) -> Void {
        { [engine = delivery.engine] in engine.offer($0) }
    }

    /// The responder for calls of vendors and of the native API.
    func responder() -> IdentifiedResponder<GatewayResponder> {
        let directory = base.directory
        return identified(
            GatewayResponder(
                mounts: VendorMounts(base.vendors.adapters),
                pages: PageEndpoint(find: { (id) async throws(StoreError) in try await directory.page(id) }),
                reports: ReportEndpoint(
                    upstreams: provisioning.upstreams,
                    adapters: base.vendors.byVendor,
                    handler: handler,
                    limiter: limiter,
                    logger: base.logger
                ),
                vendors: VendorEndpoint(
                    directory: provisioning.cache,
                    upstreams: UpstreamSide(proxy: proxy, observer: observer, forwardsAs: proxy.name),
                    handler: handler,
                    handOver: handOver,
                    limiter: limiter,
                    bodies: bodies,
                    identifiers: base.identifiers,
                    logger: base.logger,
                    recorder: provisioning.recorder,
                    proofs: CallerProofs(
                        certificates: base.configuration.tlsClientCAFile.map { _ in PeerCertificateReader() },
                        refused: proofs
                    ),
                    multiStep: base.vendors.multiStep,
                    receipts: tracing?.receipts
                ),
                native: nativeAPI(),
                proxies: proxies,
                proxied: proxied,
                logger: base.logger
            ),
            tracing?.tracer
        )
    }

    func identified<Base: HTTPResponder>(
        _ responder: Base,
        _ tracer: GatewayTracer? = nil
    ) -> IdentifiedResponder<Base> where Base.Context == CallContext {
        IdentifiedResponder(
            responder,
            identifiers: base.identifiers,
            clock: base.clock,
            logger: base.logger,
            tracer: tracer
        )
    }

    func nativeAPI() -> NativeAPI {
        let call = base.database.call
        let queries = PostgresQueryStore(call: call)
        var api = NativeAPI(
            callers: NativeCallers(
                directory: provisioning.cache,
                limiter: limiter,
                bodies: bodies,
                proofs: proofs,
                gate: gate
            ),
            handler: handler,
            handOver: handOver,
            stores: nativeStores(queries),
            identifiers: base.identifiers,
            previews: PayloadPreview(
                directory: base.directory,
                vendors: base.vendors,
                clock: base.clock,
                identifiers: base.identifiers
            ),
            apple: AppleCalls(channels: channels, possession: possession),
            explainer: DeliveryExplainer(
                queries: queries,
                directory: base.directory,
                adapters: base.vendors.byVendor,
                identifiers: base.identifiers
            ),
            imports: DeviceImports(
                handler: handler,
                maintenance: PostgresMaintenance(engine: base.database.engine, node: base.node),
                identifiers: base.identifiers,
                clock: base.clock
            ),
            webhooks: webhooks,
            clock: base.clock,
            logger: base.logger
        )
        if let receipts = tracing?.receipts { api.receipts = { receipts.note($0, $1, in: $2) } }
        return api
    }

    /// The responder for `/healthz`, `/readyz` and `/metrics`.
    func adminResponder(_ registry: PrometheusRegistry, isLocal: Bool) -> IdentifiedResponder<AdminResponder> {
        let diagnosis = Diagnosis(database: base.database, keyRing: base.keyRing)
        let metrics = GatewayMetrics(
            engine: delivery.engine,
            transport: delivery.transport,
            call: base.database.call,
            enginePool: base.database.engine,
            expiries: provisioning.expiries,
            sampler: sampler
        )
        let responder = AdminResponder(
            readiness: { [shutdown] in
                var readiness = await diagnosis.readiness()
                if shutdown.stage > .running {
                    readiness.checks.append(
                        .init(name: "serving", isFine: false, isVital: true, detail: "the node is stopping")
                    )
                }
                return readiness
            },
            registry: registry,
            refresh: { metrics.refresh() },
            logger: base.logger,
            isLocal: isLocal
        )
        return identified(responder)
    }
}

// MARK: Services

extension GatewayNode {
    /// The services that run next to the listeners, in the order of their dependencies: the group stops the last service first.
    func services() -> [any Service] {
        let engine = base.database.engine
        return traceServices + [
            ClusterService(database: base.database, logger: base.logger),
            TransportService(
                transport: delivery.transport,
                drain: .seconds(base.configuration.drainSeconds),
                shutdown: shutdown
            ),
            delivery.engine,
            webhookDispatcher(),
            forwarder(),
            MaintenanceService(
                maintenance: PostgresMaintenance(engine: engine, node: base.node),
                counts: PostgresCountKeeper(engine: engine, node: base.node),
                recount: PostgresNightlyRecount(engine: engine, node: base.node),
                clock: base.clock,
                logger: base.logger
            ),
            EventReaderService(reader: PostgresEventReader(engine: engine, node: base.node), logger: base.logger),
            AuditCheckpointService(
                keeper: PostgresAuditKeeper(engine: engine, node: base.node),
                store: PostgresAuditStore(call: base.database.call),
                signer: base.auditSigner,
                logger: base.logger
            ),
            MasterKeyService(
                store: PostgresMasterKeyStore(engine: engine),
                source: base.configuration.masterKeySource,
                ring: base.keyRing,
                node: base.node,
                logger: base.logger
            ),
            RefusedProofService(proofs: proofs, handler: handler, logger: base.logger),
            migrationService(),
            figures,
            observer,
            sampler,
            provisioning.recorder,
            provisioning.service,
        ] + auditCopies
    }

    /// First, so that they stop after everything that makes spans.
    private var traceServices: [any Service] { tracing.map { [$0.exporter, $0.receipts] } ?? [] }

    private var auditCopies: [any Service] {
        let keeper = PostgresAuditKeeper(engine: base.database.engine, node: base.node)
        let store = PostgresAuditStore(call: base.database.call)
        var services: [any Service] = []
        if let path = base.configuration.auditFile {
            services.append(AuditFileService(path: path, keeper: keeper, store: store, logger: base.logger))
        }
        if let address = base.configuration.auditSyslog {
            services.append(
                AuditSyslogService(
                    address: address,
                    tls: collectorTLS,
                    messages: SyslogMessage(
                        host: ProcessInfo.processInfo.hostName,
                        process: ProcessInfo.processInfo.processIdentifier
                    ),
                    keeper: keeper,
                    store: store,
                    logger: base.logger
                )
            )
        }
        if !services.isEmpty {
            services.append(
                AuditLagService(
                    copies: base.configuration.auditCopies,
                    keeper: keeper,
                    gate: gate,
                    logger: base.logger
                )
            )
        }
        return services
    }
}
