package import Hummingbird
import HummingbirdCore
package import Logging
import LoopTasks
package import NIOCore
import Observability
package import ServiceLifecycle

/// Creates listeners and reports their bound addresses.
package enum Listener {
    /// The purpose of a listener.
    package enum Kind: String, Sendable { case http, https, admin, console }

    /// 60 s without a byte close a connection, so that half-open connections do not accumulate.
    package static let idleTimeout = TimeAmount.seconds(60)
    /// 16,384 connections per listener, if the process may open as many files.
    package static let connectionLimit = 16_384

    /// Creates a service that serves `responder` on `address` and reports the bound address. Above `maximum` connections, new ones wait in the kernel's backlog;
    /// connections of an address above its limit (`connections`) are closed. `proxied` reads the clients of proxies' connections; nil: proxies name their clients
    /// in headers of calls only.
    package static func service<Responder: HTTPResponder>(
        _ kind: Kind,
        on address: ListenAddress,
        responder: Responder,
        tls: ListenerCertificate?,
        addresses: BoundAddresses,
        connections: ConnectionLimit? = nil,
        proxied: ProxiedClients? = nil,
        maximum: Int = connectionLimit,
        logger: Logger
    ) -> any Service where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
        let configuration = HTTP1Channel.Configuration(
            additionalChannelHandlers: handlers(connections),
            idleTimeout: idleTimeout
        )
        let server = HTTPServerBuilder { respond in
            let calls = CallChannel(base: HTTP1Channel(responder: respond, configuration: configuration))
            guard let tls else { return through(proxied, connections, calls, of: kind) }
            return through(proxied, connections, CertificateChannel(base: calls, certificate: tls), of: kind)
        }
        return Application(
            responder: responder,
            server: server,
            configuration: ApplicationConfiguration(
                address: .hostname(address.host, port: address.port),
                serverName: "push-gateway",
                availableConnectionsDelegate: CountedConnections(kind, on: address, maximum: maximum)
            ),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? address.port
                let bound = ListenAddress(host: address.host, port: port)
                logger.notice("listening", metadata: [LogKey.address: "\(kind.rawValue) \(bound)"])
                addresses.opened(kind, bound)
            },
            logger: logger
        )
    }

    private static func handlers(_ connections: ConnectionLimit?) -> [any RemovableChannelHandler] {
        let limits: [any RemovableChannelHandler] = connections.map { [ConnectionLimitHandler($0)] } ?? []
        return limits + [ForeignHeadHandler()]
    }

    private static func through(
        _ proxied: ProxiedClients?,
        _ connections: ConnectionLimit?,
        _ channel: some ServerChildChannel,
        of kind: Kind
    ) -> any ServerChildChannel {
        guard let proxied else { return placed(channel, of: kind) }
        return placed(ProxiedChannel(base: channel, clients: proxied) { connections?.admits($0, $1) ?? true }, of: kind)
    }

    /// Calls of devices and back ends are short, and run where their bytes arrive. Pages and metrics take longer to write.
    private static func placed(_ channel: some ServerChildChannel, of kind: Kind) -> any ServerChildChannel {
        switch kind {
        case .http, .https: return LoopChannel(base: channel)
        case .admin, .console: return channel
        }
    }
}

/// Runs the calls of a connection on its event loop.
struct LoopChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        base.setup(channel: channel, logger: logger)
    }

    func handle(value: Base.Value, logger: Logger) async {
        await withTaskExecutorPreference(LoopExecutor(value.channel.eventLoop)) {
            await base.handle(value: value, logger: logger)
        }
    }
}
