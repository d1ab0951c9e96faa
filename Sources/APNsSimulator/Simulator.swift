import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// A validating APNs server: TLS and HTTP/2 on two ports, and a control port with plain HTTP.
///
/// It is started and stopped once. It imports no code of the gateway, so that it does not repeat the gateway's errors.
package final class Simulator: Sendable {
    /// The addresses on which a running simulator listens.
    package struct Addresses: Sendable, Equatable {
        /// The address of the APNs listener; the control listener is on 127.0.0.1.
        package var host: String

        /// Port of the APNs listener.
        package var apnsPort: Int

        /// Port of the channel management listener.
        package var managePort: Int

        /// Port of the control listener.
        package var controlPort: Int

        /// `host:port` of the APNs listener.
        package var apns: String { Self.join(host, apnsPort) }

        /// `host:port` of the channel management listener.
        package var manage: String { Self.join(host, managePort) }

        /// `host:port` of the control listener.
        package var control: String { Self.join("127.0.0.1", controlPort) }

        private static func join(_ host: String, _ port: Int) -> String {
            host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }

    /// The limit for connections to drain after GOAWAY.
    private static let drainDeadline = TimeAmount.milliseconds(500)

    /// The CA's certificate in PEM, which clients must trust.
    package let caPEM: String

    private let configuration: SimulatorConfiguration
    /// The operations that a test calls in the process; the control port offers the same.
    package let control: SimulatorControl

    private var state: SimulatorState { control.state }
    private var authority: CertificateAuthority { control.authority }
    private let group: MultiThreadedEventLoopGroup
    private let listeners = NIOLockedValueBox<[any Channel]>([])

    /// Creates a simulator that does not listen yet.
    ///
    /// - Throws: `SimulatorError` if its CA cannot be created.
    package init(configuration: SimulatorConfiguration = SimulatorConfiguration()) throws(SimulatorError) {
        self.configuration = configuration
        let authority = if let kept = configuration.authority { kept } else { try CertificateAuthority() }
        caPEM = authority.certificatePEM
        control = SimulatorControl(state: SimulatorState(configuration), authority: authority)
        group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, configuration.threads))
    }

    /// Binds the listeners and returns their addresses.
    ///
    /// - Throws: `SimulatorError` if an address is in use or the server's certificate cannot be created.
    package func start() async throws(SimulatorError) -> Addresses {
        let context = try makeTLSContext()
        do {
            let issuers = try clientAuthorities()
            let apns = try await bind(.send, configuration.port, context, issuers)
            let manage = try await bind(.manage, configuration.managePort, context, issuers)
            let control = try await bindControl()
            listeners.withLockedValue { $0 = [apns, manage, control] }
            return Addresses(
                host: configuration.host,
                apnsPort: apns.localAddress?.port ?? configuration.port,
                managePort: manage.localAddress?.port ?? configuration.managePort,
                controlPort: control.localAddress?.port ?? configuration.controlPort
            )
        } catch {
            try? await group.shutdownGracefully()
            throw SimulatorError(.listen, "Cannot listen: \(error)")
        }
    }

    /// Sends GOAWAY on every connection, lets them drain for half a second, and stops. A second call does nothing.
    package func stop() async {
        guard state.connections.close() else { return }
        for listener in listeners.withLockedValue({ $0 }) { try? await listener.close() }
        let open = state.connections.channels(nil)
        for connection in open { connection.pipeline.fireUserInboundEventTriggered(PushConnection.ShutDown()) }
        await drain(open)
        try? await group.shutdownGracefully()
    }

    // MARK: Listeners

    private func makeTLSContext() throws(SimulatorError) -> NIOSSLContext {
        do {
            let identity = try authority.makeServerIdentity(
                extraHost: configuration.host,
                days: configuration.serverCertificateDays
            )
            var tls = TLSConfiguration.makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(identity.certificatePEM.utf8))
                    .map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(identity.keyPEM.utf8), format: .pem))
            )
            // Row 1: TLS 1.2 or later; ALPN h2, or none, which Pushy sends (Apple documents neither).
            tls.minimumTLSVersion = .tlsv12
            if configuration.offersALPN { tls.applicationProtocols = ["h2"] }
            // A client certificate is optional; the rules above TLS decide whether it is valid (row 2).
            tls.certificateVerification = .optionalVerification
            tls.trustRoots = .certificates([])
            return try NIOSSLContext(configuration: tls)
        } catch {
            throw SimulatorError(.certificateAuthority, "Cannot make the server's certificate: \(error)")
        }
    }

    /// Nil trusts every certificate.
    private func clientAuthorities() throws -> ClientAuthorities? {
        guard let given = configuration.clientAuthorities else { return nil }
        return try given.adding(ClientAuthorities(pem: caPEM))
    }

    private func bind(
        _ listener: ListenerKind,
        _ port: Int,
        _ context: NIOSSLContext,
        _ issuers: ClientAuthorities?
    ) async throws -> any Channel {
        try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { [state] channel in
                channel.eventLoop.makeCompletedFuture {
                    try ConnectionOpening(state: state, context: context, issuers: issuers)
                        .open(channel, listener: listener)
                }
            }
            .bind(host: configuration.host, port: port)
            .get()
    }

    private func bindControl() async throws -> any Channel {
        try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { [control] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: true)
                    try channel.pipeline.syncOperations.addHandler(
                        ControlHandler(routes: ControlRoutes(control: control))
                    )
                }
            }
            .bind(host: "127.0.0.1", port: configuration.controlPort)
            .get()
    }

    // MARK: Connections

    private func drain(_ connections: [any Channel]) async {
        await withDiscardingTaskGroup { tasks in
            for connection in connections {
                tasks.addTask {
                    let deadline = connection.eventLoop.scheduleTask(in: Self.drainDeadline) {
                        connection.close(promise: nil)
                    }
                    try? await connection.closeFuture.get()
                    deadline.cancel()
                }
            }
        }
    }
}
