import Logging
import NIOCore
import NIOHTTP2
import NIOSSL
import NIOTLS

/// Waits until TLS is established, then adds HTTP/2. Only then is it known whether the client has a certificate, which decides the first SETTINGS.
final class HandshakeHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// A client that does not finish the handshake in this time is disconnected, because it would hold a descriptor.
    static let deadline = TimeAmount.seconds(30)

    private let state: SimulatorState
    private let socket: SocketHandler
    private let number: Int
    private let listener: ListenerKind
    private let issuers: ClientAuthorities?
    private var timer: Scheduled<Void>?

    init(
        state: SimulatorState,
        socket: SocketHandler,
        number: Int,
        listener: ListenerKind,
        issuers: ClientAuthorities?
    ) {
        self.state = state
        self.socket = socket
        self.number = number
        self.listener = listener
        self.issuers = issuers
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let isolated = context.eventLoop.assumeIsolated()
        timer = isolated.scheduleTask(in: Self.deadline) { [weak socket] in socket?.end() }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .handshakeCompleted = event as? TLSUserEvent else {
            return context.fireUserInboundEventTriggered(event)
        }
        timer?.cancel()
        do {
            try open(context)
        } catch {
            state.configuration.logger.debug("A connection could not be opened", metadata: ["error": "\(error)"])
            context.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        state.configuration.logger.debug("TLS failed", metadata: ["error": "\(error)"])
        context.close(promise: nil)
    }

    private func open(_ context: ChannelHandlerContext) throws {
        let pipeline = context.pipeline.syncOperations
        let shown = try pipeline.nioSSL_peerCertificate()
        let certificate = try shown.flatMap {
            ClientCertificate(der: try $0.toDERBytes(), issuers: issuers?.certificates)
        }
        let limit = state.configuration.maxStreams
        // Row 3: in token mode, one stream is allowed until a valid token was seen.
        let isOpenAtOnce = state.configuration.mode == .accept || certificate != nil || listener == .manage
        let wire = WireHandler(advertisedStreams: isOpenAtOnce ? limit : 1)
        let connection = PushConnection(
            state: state,
            socket: socket,
            wire: wire,
            number: number,
            connection: ConnectionState(listener: listener, certificate: certificate)
        )
        try pipeline.addHandlers([wire, Self.makeHTTP2Handler(), connection])
        connection.opened()
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }

    /// Row 3: the SETTINGS of the real service (docs/contracts/apns.md#2, observed). `WireHandler` writes the stream limit.
    private static func makeHTTP2Handler() -> NIOHTTP2Handler {
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        connection.initialSettings = [
            .init(parameter: .headerTableSize, value: 4096),
            .init(parameter: .maxConcurrentStreams, value: WireHandler.enforcedStreams),
            .init(parameter: .initialWindowSize, value: 65_535),
            .init(parameter: .maxFrameSize, value: 16_384),
            .init(parameter: .maxHeaderListSize, value: 8000),
        ]
        // Late frames of streams that were ended by a fault are not a violation.
        connection.maximumRecentlyResetStreams = WireHandler.enforcedStreams
        // Ten times the default limits of swift-nio-http2: a gateway that cancels slow requests, or sends many PINGs, is not an attacker.
        connection.controlFrameRateLimit.maximumCount = 2000
        connection.maximumConnectionGlitches = 2000
        var streams = NIOHTTP2Handler.StreamConfiguration()
        streams.streamResetFrameRateLimit.maximumCount = 5000
        streams.streamErrorRateLimit.maximumCount = 2000
        return NIOHTTP2Handler(mode: .server, connectionConfiguration: connection, streamConfiguration: streams)
    }
}

extension HandshakeHandler: RemovableChannelHandler {}
