import HummingbirdCore
import Logging
import Model
import NIOConcurrencyHelpers
package import NIOCore
import Observability

/// The clients of connections whose proxies speak the PROXY protocol (`proxy.protocol`).
///
/// A connection from a trusted proxy must begin with the header; a connection from elsewhere is a client's own, and a header in it is not HTTP.
package final class ProxiedClients: Sendable {
    /// 5 s for the header, which a proxy sends at once.
    package static let timeLimit = TimeAmount.seconds(5)

    private let proxies: TrustedProxies
    /// One entry per open connection of a proxy. The value is nil when the proxy did not name the client.
    private let clients = NIOLockedValueBox<[ObjectIdentifier: IPAddress?]>([:])

    package init(_ proxies: TrustedProxies) { self.proxies = proxies }

    /// The client of a connection.
    ///
    /// - Returns: the address that the proxy named, or the proxy's own, which proves nothing; nil when the connection does not come from a proxy.
    package func client(of channel: any Channel) -> ClientAddress? {
        guard let named = clients.withLockedValue({ $0[ObjectIdentifier(channel)] }) else { return nil }
        guard let named else { return ClientAddress(text: channel.remoteAddress?.ipAddress, isKnown: false) }
        return ClientAddress(text: named.description, isKnown: true)
    }

    /// Whether a connection must begin with the header.
    func expectsHeader(_ channel: any Channel) -> Bool { proxies.isTrusted(peer: channel.remoteAddress?.ipAddress) }

    /// Keeps the client of a connection until it closes.
    func opened(_ channel: any Channel, _ client: IPAddress?) {
        let id = ObjectIdentifier(channel)
        clients.withLockedValue { $0[id] = .some(client) }
        channel.closeFuture.whenComplete { [clients] _ in _ = clients.withLockedValue { $0.removeValue(forKey: id) } }
    }

    /// How many connections have an entry.
    package var count: Int { clients.withLockedValue { $0.count } }
}

/// Counts a connection of a client until it closes. False: the client has too many, and the connection is not counted.
typealias Admission = @Sendable (_ client: IPAddress, _ channel: any Channel) -> Bool

/// Reads the header of the PROXY protocol before anything else of a connection, also before TLS.
struct ProxiedChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    let clients: ProxiedClients
    /// Whether the named client may have one more connection.
    let admits: Admission

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        guard clients.expectsHeader(channel) else { return base.setup(channel: channel, logger: logger) }
        return channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(ProxyHeaderHandler(clients, admits, logger))
        }.flatMap { base.setup(channel: channel, logger: logger) }
    }

    func handle(value: Base.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}

/// Removes the header from the bytes of a connection and keeps the client that it names. A connection without a header, or with a late one, is closed, and so is
/// one whose client has too many.
final class ProxyHeaderHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let clients: ProxiedClients
    private let admits: Admission
    private let logger: Logger
    private var received: [UInt8] = []
    private var isOver = false
    private var timer: Scheduled<Void>?

    init(_ clients: ProxiedClients, _ admits: @escaping Admission, _ logger: Logger) {
        self.clients = clients
        self.admits = admits
        self.logger = logger
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        timer = context.eventLoop.scheduleTask(in: ProxiedClients.timeLimit) { channel.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return context.fireChannelRead(data) }
        received += unwrapInboundIn(data).readableBytesView
        switch ProxyHeader.read(received) {
        case .incomplete: break
        case .malformed:
            end()
            logger.warning(
                "connection of a proxy closed: it does not begin with a header of PROXY protocol version 2",
                metadata: [LogKey.peer: "\(context.channel.remoteAddress?.ipAddress ?? "?")"]
            )
            context.close(promise: nil)
        case .complete(let header):
            let rest = received.dropFirst(header.count)
            end()
            guard header.client.map({ admits($0, context.channel) }) ?? true else {
                return context.close(promise: nil)
            }
            clients.opened(context.channel, header.client)
            if !rest.isEmpty { context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: rest))) }
        }
    }

    private func end() {
        isOver = true
        received = []
        timer?.cancel()
        timer = nil
    }
}
