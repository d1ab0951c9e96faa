import Adapters
import Foundation
import GatewayHTTP
import HTTP2
import Logging
package import Model
package import Observability
import ServiceLifecycle
import UnixSignals

/// Opens the database, builds the parts of one node (`GatewayNode`) and runs them until the process receives a signal to stop.
package struct GatewayRuntime {
    private let configuration: GatewayConfiguration
    private let registry: PrometheusRegistry
    private let vendors: VendorCatalog

    /// - Parameters:
    ///   - configuration: the settings of this node.
    ///   - registry: the metrics that `/metrics` shows.
    ///   - vendors: the vendors that this node serves. Tests add their own vendors.
    package init(
        configuration: GatewayConfiguration,
        registry: PrometheusRegistry,
        vendors: VendorCatalog = .product
    ) {
        self.configuration = configuration
        self.registry = registry
        self.vendors = vendors
    }

    /// Returns after an orderly shutdown.
    ///
    /// - Throws: the error that prevents the gateway from starting.
    package func run() async throws {
        ReleasedMemory.limit()
        let logger = Logger(label: "push-gateway")
        if configuration.hasFormerLimit {
            logger.warning("calls.per.second has no effect: remove it, and see limits.… (docs/security.md#limits)")
        }
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

    /// Creates the data directory, or closes an existing one to other users.
    private func prepareDataDirectory() throws {
        try Self.prepare(
            configuration.dataDirectory,
            passesOthers: getuid() == 0 && configuration.databaseURL == nil
        )
    }

    /// - Parameters:
    ///   - directory: the path of the data directory.
    ///   - passesOthers: whether other users may enter subdirectories: the account of the embedded PostgreSQL, which is not root.
    /// - Throws: when the directory cannot be created.
    static func prepare(_ directory: String, passesOthers: Bool) throws {
        let files = FileManager.default
        let mode = passesOthers ? 0o711 : 0o700
        guard let old = try? files.attributesOfItem(atPath: directory)[.posixPermissions] as? Int else {
            try files.createDirectory(
                atPath: directory,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: mode]
            )
            // The attributes are subject to the umask.
            try files.setAttributes([.posixPermissions: mode], ofItemAtPath: directory)
            return
        }
        // It holds the master key and the database. A directory of another user, such as a mount, keeps its mode.
        if old & 0o777 & ~mode != 0 {
            try? files.setAttributes([.posixPermissions: old & mode], ofItemAtPath: directory)
        }
    }

    private func serve(_ database: Database, _ logger: Logger) async throws {
        let hangups = await UnixSignalsSequence(trapping: .sighup)
        let node = try await GatewayNode.make(configuration, vendors, database, logger)
        let addresses = BoundAddresses(
            expected: configuration.listen.count + configuration.tlsListen.count + configuration.adminListen.count
                + configuration.console.listen.count
        )
        // The group stops the last service first: `/readyz` and `/metrics` answer until everything else has ended.
        var services = adminListeners(node, addresses, logger)
        services += node.services()
        let manager = ServiceManager(logger: logger)
        let console = try ConsoleListeners(node)
        services += console.services(node, addresses, logger)
        services += try listeners(node, addresses, hangups, manager, console.identity, logger)
        services.append(
            AddressFileService(
                addresses: addresses,
                path: configuration.addressFile,
                manager: manager,
                logger: logger
            )
        )
        try await runGroup(services, node, logger)
    }

    private func adminListeners(
        _ node: GatewayNode,
        _ addresses: BoundAddresses,
        _ logger: Logger
    ) -> [any Service] {
        configuration.adminListen.map { address in
            Listener.service(
                .admin,
                on: address,
                responder: node.adminResponder(registry, isLocal: address.isLoopback),
                tls: nil,
                addresses: addresses,
                logger: logger
            )
        }
    }

    private func listeners(
        _ node: GatewayNode,
        _ addresses: BoundAddresses,
        _ hangups: UnixSignalsSequence,
        _ manager: ServiceManager,
        _ console: ListenerCertificate?,
        _ logger: Logger
    ) throws -> [any Service] {
        let responder = node.responder()
        let connections = ConnectionLimit(limiter: node.limiter, proxies: node.proxies)
        let maximum = try connectionsPerListener(logger)
        func service(_ kind: Listener.Kind, _ address: ListenAddress, _ tls: ListenerCertificate?) -> any Service {
            Listener.service(
                kind,
                on: address,
                responder: responder,
                tls: tls,
                addresses: addresses,
                connections: connections,
                proxied: node.proxied,
                maximum: maximum,
                logger: logger
            )
        }
        let identity = try identity()
        var services = configuration.listen.map { service(.http, $0, nil) }
        if let identity { services += configuration.tlsListen.map { service(.https, $0, identity) } }
        services.append(
            ReloadService(
                identities: [identity, console].compactMap(\.self),
                provisioning: node.provisioning.service,
                hangups: hangups,
                manager: manager,
                logger: logger
            )
        )
        return services
    }

    /// The certificate of the HTTPS listeners; nil without them.
    private func identity() throws -> ListenerCertificate? {
        guard let certificate = configuration.tlsCertificateFile, let key = configuration.tlsKeyFile else { return nil }
        return try ListenerCertificate(
            certificateFile: certificate,
            keyFile: key,
            clientCAFile: configuration.tlsClientCAFile,
            mustClientsShowOne: configuration.mustClientsShowCertificate
        )
    }

    /// Raises the limit of open files, and divides it among the listeners.
    ///
    /// - Throws: `ConfigurationProblem` when it is too low to serve.
    private func connectionsPerListener(_ logger: Logger) throws(ConfigurationProblem) -> Int {
        let files = OpenFiles(
            limit: FileLimit.raise(),
            listeners: configuration.listen.count + configuration.tlsListen.count
        )
        if let problem = files.problem { throw ConfigurationProblem(setting: "listen", problem: problem) }
        if let warning = files.warning { logger.warning("\(warning)") }
        return files.connectionsPerListener
    }

    private func runGroup(_ services: [any Service], _ node: GatewayNode, _ logger: Logger) async throws {
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
        // Outside the group: it must receive further signals while the group drains.
        let signals = StopSignalService(shutdown: node.shutdown, engine: node.delivery.engine, logger: logger)
        let following = Task { try await signals.run() }
        defer { following.cancel() }
        try await ServiceGroup(configuration: group).run()
    }
}
