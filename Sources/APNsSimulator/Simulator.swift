import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL

/// A validating APNs server: TLS and HTTP/2 on one port, a control port in clear on another.
///
/// Started once, stopped once. It imports nothing of the gateway's, so that it can disagree with it.
package final class Simulator: Sendable {
    /// Where a running simulator listens.
    package struct Addresses: Sendable, Equatable {
        /// Address that the APNs listener is bound to; the control listener's is 127.0.0.1.
        package var host: String

        /// Port of the APNs listener.
        package var apnsPort: Int

        /// Port of the control listener.
        package var controlPort: Int

        /// `host:port` of the APNs listener.
        package var apns: String { Self.join(host, apnsPort) }

        /// `host:port` of the control listener.
        package var control: String { Self.join("127.0.0.1", controlPort) }

        private static func join(_ host: String, _ port: Int) -> String {
            host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }

    /// The open channels, to be told when the simulator stops.
    private struct Channels: Sendable {
        var listeners: [any Channel] = []
        var connections: [ObjectIdentifier: any Channel] = [:]
        var isStopping = false
    }

    /// 4,096 connections: Apple allows thousands; above it a leaking client would take our descriptors.
    private static let connectionLimit = 4096

    /// How long connections may drain after GOAWAY.
    private static let drainDeadline = TimeAmount.milliseconds(500)

    /// The CA's certificate in PEM: what a client has to trust.
    package let caPEM: String

    private let configuration: SimulatorConfiguration
    private let state: SimulatorState
    private let authority: CertificateAuthority
    private let group: MultiThreadedEventLoopGroup
    private let channels = NIOLockedValueBox(Channels())

    /// A simulator that does not listen yet.
    ///
    /// - Throws: `SimulatorError` when its CA cannot be made.
    package init(configuration: SimulatorConfiguration = SimulatorConfiguration()) throws(SimulatorError) {
        self.configuration = configuration
        if let kept = configuration.authority {
            authority = kept
        } else {
            authority = try CertificateAuthority()
        }
        caPEM = authority.certificatePEM
        state = SimulatorState(configuration)
        group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, configuration.threads))
    }

    /// Binds both listeners and says where.
    ///
    /// - Throws: `SimulatorError` when an address is taken or the server's certificate cannot be made.
    package func start() async throws(SimulatorError) -> Addresses {
        let context = try makeTLSContext()
        do {
            let apns = try await bindAPNs(context)
            let control = try await bindControl()
            channels.withLockedValue { $0.listeners = [apns, control] }
            return Addresses(
                host: configuration.host,
                apnsPort: apns.localAddress?.port ?? configuration.port,
                controlPort: control.localAddress?.port ?? configuration.controlPort
            )
        } catch {
            try? await group.shutdownGracefully()
            throw SimulatorError(.listen, "Cannot listen: \(error)")
        }
    }

    /// Says GOAWAY on every connection, gives them half a second, and ends everything. A second call does nothing.
    package func stop() async {
        let open: Channels? = channels.withLockedValue { channels in
            guard !channels.isStopping else { return nil }
            channels.isStopping = true
            return channels
        }
        guard let open else { return }
        for listener in open.listeners { try? await listener.close() }
        for connection in open.connections.values {
            connection.pipeline.fireUserInboundEventTriggered(PushConnection.ShutDown())
        }
        await drain(Array(open.connections.values))
        try? await group.shutdownGracefully()
    }

    /// What was counted so far.
    package var stats: SimulatorStats { state.withLedger(\.stats) }

    /// What is known of repeated deliveries.
    package var duplicates: DuplicateReport { state.withLedger(\.duplicates) }

    /// The newest requests, oldest first; of one device token if it is given. Nothing in mode `accept`.
    package func requests(token: String? = nil, limit: Int = 100) -> [RecordedRequest] {
        state.withLedger { $0.requests(token: token, limit: limit) }
    }

    /// Adds scripted answers.
    ///
    /// - Throws: `SimulatorError` when the mode does not play them or there are too many.
    package func script(_ answers: [ScriptedAnswer]) throws(SimulatorError) {
        try state.addScript(answers)
    }

    /// Forgets the script, the counts and the requests. Connections stay.
    package func reset() { state.reset() }

    // MARK: Listeners

    private func makeTLSContext() throws(SimulatorError) -> NIOSSLContext {
        do {
            let identity = try authority.makeServerIdentity(extraHost: configuration.host)
            var tls = TLSConfiguration.makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(identity.certificatePEM.utf8))
                    .map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(identity.keyPEM.utf8), format: .pem))
            )
            // Row 1: TLS 1.2 at least; ALPN h2, or none, which Pushy sends (Apple documents neither).
            tls.minimumTLSVersion = .tlsv12
            tls.applicationProtocols = ["h2"]
            return try NIOSSLContext(configuration: tls)
        } catch {
            throw SimulatorError(.certificateAuthority, "Cannot make the server's certificate: \(error)")
        }
    }

    private func bindAPNs(_ context: NIOSSLContext) async throws -> any Channel {
        try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture { try addPushHandlers(to: channel, context) }
            }
            .bind(host: configuration.host, port: configuration.port)
            .get()
    }

    private func addPushHandlers(to channel: any Channel, _ context: NIOSSLContext) throws {
        guard remember(channel) else { throw ChannelError.operationUnsupported }
        let isOpenAtOnce = configuration.mode == .accept
        let wire = WireHandler(advertisedStreams: isOpenAtOnce ? configuration.maxStreams : 1)
        try channel.pipeline.syncOperations.addHandlers([
            NIOSSLServerHandler(context: context),
            wire,
            Self.makeHTTP2Handler(),
            PushConnection(state: state, wire: wire),
        ])
    }

    /// Row 3: the SETTINGS of the real service (APNs notes §2, observed). The stream limit is put in by `WireHandler`.
    private static func makeHTTP2Handler() -> NIOHTTP2Handler {
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        connection.initialSettings = [
            .init(parameter: .headerTableSize, value: 4096),
            .init(parameter: .maxConcurrentStreams, value: WireHandler.enforcedStreams),
            .init(parameter: .initialWindowSize, value: 65_535),
            .init(parameter: .maxFrameSize, value: 16_384),
            .init(parameter: .maxHeaderListSize, value: 8000),
        ]
        var streams = NIOHTTP2Handler.StreamConfiguration()
        // A gateway that gives up on slow answers resets many streams at once; the real service's bound is unknown.
        streams.streamResetFrameRateLimit.maximumCount = 5000
        return NIOHTTP2Handler(mode: .server, connectionConfiguration: connection, streamConfiguration: streams)
    }

    private func bindControl() async throws -> any Channel {
        try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { [state, caPEM] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: true)
                    try channel.pipeline.syncOperations.addHandler(
                        ControlHandler(routes: ControlRoutes(state: state, caPEM: caPEM))
                    )
                }
            }
            .bind(host: "127.0.0.1", port: configuration.controlPort)
            .get()
    }

    // MARK: Connections

    private func remember(_ channel: any Channel) -> Bool {
        let id = ObjectIdentifier(channel)
        let isWelcome = channels.withLockedValue { channels in
            guard !channels.isStopping, channels.connections.count < Self.connectionLimit else { return false }
            channels.connections[id] = channel
            return true
        }
        if isWelcome {
            channel.closeFuture.whenComplete { [channels] _ in
                _ = channels.withLockedValue { $0.connections.removeValue(forKey: id) }
            }
        }
        return isWelcome
    }

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
