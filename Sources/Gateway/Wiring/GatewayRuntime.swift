import APNs
import Adapters
import ApplePayload
import AsyncHTTPClient
import Commands
import DeliveryEngine
import Foundation
import Logging
import Model
import Postgres
import ServiceLifecycle
import UnixSignals
import Webhooks

/// Puts the parts of one node together and runs them until it is told to stop.
struct GatewayRuntime {
    let configuration: GatewayConfiguration
    let registry: PrometheusRegistry

    /// What this node serves. Tests add vendors of their own.
    var vendors = Self.vendors

    /// The vendors of the product, and the native API's own format of payloads.
    static let vendors = VendorCatalog(Vendors.all + [NativeAdapter()])

    /// - Throws: what stops it from starting; returns after an orderly end.
    func run() async throws {
        let logger = Logger(label: "push-gateway")
        try prepareDataDirectory()
        let database = try await Database.open(configuration, mayAttach: false, logger: logger) {
            logger.notice("\($0)")
        }
        do {
            try await serve(database, logger)
        } catch {
            await database.close()
            throw error
        }
        await database.close()
        logger.notice("stopped")
    }

    private func prepareDataDirectory() throws {
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o755]
        try FileManager.default.createDirectory(
            atPath: configuration.dataDirectory,
            withIntermediateDirectories: true,
            attributes: attributes
        )
    }

    private func serve(_ database: Database, _ logger: Logger) async throws {
        let identifiers = SystemIdentifiers()
        let node = NodeID("node-\(identifiers.randomHex(byteCount: 8))")
        let masterKey = try MasterKey.load(path: configuration.masterKeyFile, createIfMissing: database.isEmbedded)
        let directory = PostgresDirectory(call: database.call, engine: database.engine)
        try await Provisioner(
            store: PostgresProvisioningStore(engine: database.engine),
            directory: directory,
            masterKey: masterKey
        ).checkMasterKey()

        let clock = DatabaseClock()
        let shelf = ProviderTokenShelf(directory: directory, masterKey: masterKey)
        let transport = try APNsTransport(tokens: SharedTokens(store: shelf, clock: clock))
        var policy = EnginePolicy()
        policy.retryScale = configuration.retryScale
        policy.lease = .seconds(configuration.leaseSeconds)
        policy.drainDeadline = .seconds(configuration.drainSeconds)
        let engine = DeliveryEngine(
            store: PostgresDeliveryStore(engine: database.engine, inboxVendors: vendors.inboxes),
            transports: [.ios: transport],
            payloads: PayloadWriter(adapters: vendors.byVendor) {
                (adapter, notification, target, settings) throws(AdapterError) in
                try adapter.applePayload(for: notification, to: target, settings: settings)
            },
            identifiers: identifiers,
            policy: policy,
            node: node,
            clock: clock,
            logger: logger
        )
        try await startClock(engine, database, node)

        let cache = CachedDirectory(store: directory, clock: clock, masterKey: masterKey)
        let expiries = CredentialExpiries()
        let captureStore = PostgresCaptureStore(call: database.call, engine: database.engine)
        let recorder = CaptureRecorder(sink: captureStore, logger: logger)
        let follower = ProvisioningService(
            directory: directory,
            cache: cache,
            recorder: recorder,
            transport: transport,
            engine: engine,
            masterKey: masterKey,
            expiries: expiries,
            listener: configuration.databaseNotify
                ? PostgresListener(
                    database.engineConfiguration,
                    channels: [PostgresChannel.provisioning],
                    logger: logger
                ) : nil,
            logger: logger
        )
        await follower.follow()

        let handler = CommandHandler(
            store: OperationStore(call: database.call, node: node),
            clock: clock,
            identifiers: identifiers,
            policy: CommandPolicy(
                lease: .seconds(configuration.leaseSeconds),
                handsOver: { !engine.isDraining },
                inboxVendors: vendors.inboxes
            ),
            node: node
        )
        let desk = WebhookDesk(
            store: PostgresSubscriptionStore(call: database.call),
            masterKey: masterKey,
            identifiers: identifiers,
            addresses: AddressGuard(allowing: try webhookNetworks())
        )
        let handOver: @Sendable ([SliceLease]) -> Void = { engine.offer($0) }
        let queries = PostgresQueryStore(call: database.call)
        let devices = PostgresDeviceStore(call: database.call)
        let responder = GatewayResponder(
            mounts: VendorMounts(vendors.adapters),
            pages: PageEndpoint(find: { (id) async throws(StoreError) in try await directory.page(id) }),
            vendors: VendorEndpoint(
                directory: cache,
                handler: handler,
                handOver: handOver,
                limiter: RateLimiter(perSecond: configuration.callsPerSecond),
                identifiers: identifiers,
                logger: logger,
                recorder: recorder,
                multiStep: vendors.multiStep
            ),
            native: NativeAPI(
                directory: cache,
                handler: handler,
                handOver: handOver,
                queries: queries,
                devices: devices,
                identifiers: identifiers,
                previews: PayloadPreview(
                    directory: directory,
                    vendors: vendors,
                    clock: clock,
                    identifiers: identifiers
                ),
                channels: AppleChannels(directory: directory) { (key, environment) throws(APNsError) in
                    try transport.channels(of: key, in: environment)
                },
                audit: PostgresAuditStore(call: database.call),
                captureStore: captureStore,
                explainer: DeliveryExplainer(
                    queries: queries,
                    directory: directory,
                    adapters: vendors.byVendor,
                    identifiers: identifiers
                ),
                imports: DeviceImports(
                    devices: devices,
                    commands: OperationStore(call: database.call, node: node),
                    maintenance: PostgresMaintenance(engine: database.engine, node: node),
                    identifiers: identifiers,
                    clock: clock
                ),
                desk: desk,
                followers: EventSeats(),
                clock: clock,
                logger: logger
            )
        )
        let diagnosis = Diagnosis(database: database, masterKey: masterKey)
        let sampler = DatabaseSampler(store: PostgresStatusStore(engine: database.engine), logger: logger)
        let metrics = GatewayMetrics(
            engine: engine,
            transport: transport,
            call: database.call,
            enginePool: database.engine,
            expiries: expiries,
            sampler: sampler
        )
        let admin = AdminResponder(
            readiness: { await diagnosis.readiness() },
            registry: registry,
            refresh: { metrics.refresh() }
        )
        let addresses = BoundAddresses(
            expected: configuration.listen.count + configuration.tlsListen.count + configuration.adminListen.count
        )

        var services: [any Service] = [
            ClusterService(database: database, logger: logger),
            TransportService(transport: transport, drain: .seconds(configuration.drainSeconds)),
            engine,
            webhooks(database, node, desk, masterKey, logger),
            MaintenanceService(maintenance: PostgresMaintenance(engine: database.engine, node: node), logger: logger),
            sampler,
            recorder,
            follower,
        ]
        services += try listeners(responder, admin, addresses, logger)
        services.append(AddressFileService(addresses: addresses, path: configuration.addressFile, logger: logger))
        try await runGroup(services, logger)
    }

    /// The database's clock must be known before the first id is made.
    private func startClock(_ engine: DeliveryEngine, _ database: Database, _ node: NodeID) async throws {
        let asked = ContinuousClock.now
        let now = try await PostgresDeliveryStore(engine: database.engine).heartbeat(node)
        engine.clock.adjust(databaseTime: now, askedFor: ContinuousClock.now - asked)
    }

    private func webhooks(
        _ database: Database,
        _ node: NodeID,
        _ desk: WebhookDesk,
        _ masterKey: MasterKey,
        _ logger: Logger
    ) -> any Service {
        WebhookDispatcher(
            store: PostgresWebhookStore(engine: database.engine),
            caller: HTTPWebhookCaller(addressGuard: desk.addresses),
            node: node,
            clock: ContinuousClock(),
            encode: { [callbacks = vendors.callbacks] vendor, deliveries, settings in
                callbacks[vendor]?.trackingCallback(for: deliveries, settings: settings)
            },
            open: { tenant, id, secret in desk.open(secret, of: id, in: tenant) },
            derive: { masterKey.senderSecret($0, $1, $2, $3) },
            observe: { WebhookLog(logger: logger).note($0) }
        )
    }

    /// - Throws: `ConfigurationProblem`.
    private func webhookNetworks() throws(ConfigurationProblem) -> [AddressRange] {
        var allowed: [AddressRange] = []
        for text in configuration.webhookAllowedNetworks {
            guard let range = AddressRange(text) else {
                throw ConfigurationProblem(setting: "webhook-allow", problem: "'\(text)' is no CIDR range")
            }
            allowed.append(range)
        }
        return allowed
    }

    private func listeners(
        _ responder: GatewayResponder,
        _ admin: AdminResponder,
        _ addresses: BoundAddresses,
        _ logger: Logger
    ) throws -> [any Service] {
        var services = try configuration.adminListen.map {
            try Listener.service(.admin, on: $0, responder: admin, tls: nil, addresses: addresses, logger: logger)
        }
        services += try configuration.listen.map {
            try Listener.service(.http, on: $0, responder: responder, tls: nil, addresses: addresses, logger: logger)
        }
        guard let certificate = configuration.tlsCertificateFile, let key = configuration.tlsKeyFile else {
            return services
        }
        let tls = try Listener.tlsConfiguration(certificateFile: certificate, keyFile: key)
        services += try configuration.tlsListen.map {
            try Listener.service(.https, on: $0, responder: responder, tls: tls, addresses: addresses, logger: logger)
        }
        return services
    }

    private func runGroup(_ services: [any Service], _ logger: Logger) async throws {
        var group = ServiceGroupConfiguration(
            services: services.map {
                .init(
                    service: $0,
                    successTerminationBehavior: .ignore,
                    failureTerminationBehavior: .gracefullyShutdownGroup
                )
            },
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        group.maximumGracefulShutdownDuration = .seconds(configuration.drainSeconds + 5)
        // Outside the group: it must hear the second signal while the group drains.
        let impatience = Task { try await SecondSignalService(logger: logger).run() }
        defer { impatience.cancel() }
        try await ServiceGroup(configuration: group).run()
    }
}
