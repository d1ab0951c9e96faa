import Foundation
import NIOCore

/// The first handler of a connection, below TLS. It injects the faults of TCP and TLS.
final class SocketHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// 4 MiB may wait while a connection is frozen; a connection with more is closed.
    private static let longestFrozenBytes = 4_194_304

    private var isFrozen = false
    private var wantsRead = false
    private var wantsFlush = false
    private var frozenBytes = 0
    private var frozenReads: [ByteBuffer] = []
    private var frozenWrites: [(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)] = []
    private var context: ChannelHandlerContext?
    private let uponActive: ((SocketHandler) -> Void)?

    /// - Parameter uponActive: injects a fault before the first byte of TLS.
    init(uponActive: ((SocketHandler) -> Void)? = nil) {
        self.uponActive = uponActive
    }

    func channelActive(context: ChannelHandlerContext) {
        uponActive?(self)
        context.fireChannelActive()
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        for (_, promise) in frozenWrites { promise?.fail(ChannelError.ioOnClosedChannel) }
        frozenWrites = []
        self.context = nil
    }

    // MARK: Bytes

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard isFrozen else { return context.fireChannelRead(data) }
        let bytes = unwrapInboundIn(data)
        keep(bytes.readableBytes, context)
        frozenReads.append(bytes)
    }

    func read(context: ChannelHandlerContext) {
        if isFrozen { wantsRead = true } else { context.read() }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard isFrozen else { return context.write(data, promise: promise) }
        let bytes = unwrapOutboundIn(data)
        keep(bytes.readableBytes, context)
        frozenWrites.append((bytes, promise))
    }

    func flush(context: ChannelHandlerContext) {
        if isFrozen { wantsFlush = true } else { context.flush() }
    }

    private func keep(_ count: Int, _ context: ChannelHandlerContext) {
        frozenBytes += count
        if frozenBytes > Self.longestFrozenBytes { context.close(promise: nil) }
    }

    // MARK: Faults

    /// Reads and writes nothing until this time has passed; nil freezes the connection permanently.
    func freeze(until end: Duration?) {
        guard let context else { return }
        isFrozen = true
        guard let end else { return }
        context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(end)) { [self] in thaw() }
    }

    private func thaw() {
        guard isFrozen, let context else { return }
        isFrozen = false
        let reads = frozenReads
        let writes = frozenWrites
        (frozenReads, frozenWrites, frozenBytes) = ([], [], 0)
        for (bytes, promise) in writes { context.write(wrapOutboundOut(bytes), promise: promise) }
        if wantsFlush { context.flush() }
        for bytes in reads { context.fireChannelRead(wrapInboundOut(bytes)) }
        if !reads.isEmpty { context.fireChannelReadComplete() }
        if wantsRead { context.read() }
        (wantsRead, wantsFlush) = (false, false)
    }

    /// Ends the connection with a TCP RST, by SO_LINGER with zero time.
    func reset() {
        guard let context else { return }
        if let socket = context.channel as? any SocketOptionProvider {
            _ = socket.setSoLinger(linger(l_onoff: 1, l_linger: 0))
        }
        context.close(promise: nil)
    }

    /// Sends a fatal alert as its own record (RFC 8446 §5.1 and §6), unencrypted whatever TLS has negotiated, and ends the connection.
    func sendAlert(_ code: UInt8) {
        guard let context else { return }
        let record: [UInt8] = [21, 3, 3, 0, 2, 2, code]
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenComplete { [self] _ in self.context?.close(promise: nil) }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: record)), promise: sent)
    }

    /// Ends the connection below TLS: FIN without close_notify.
    func end() { context?.close(promise: nil) }
}
