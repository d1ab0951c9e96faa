import NIOCore

/// The last stop before TLS: joins the frames of one turn into one write, and states the stream limit we want to be believed.
///
/// swift-nio-http2 counts streams against the SETTINGS it sent and answers a violation in its own words. So it is told a limit that
/// it will never enforce (`enforcedStreams`), the SETTINGS frame is given the advertised number here, and `PushConnection` answers
/// violations as Apple does.
final class WireHandler: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = ByteBuffer

    /// What swift-nio-http2 is told; also the hard bound on streams of one connection, above any limit that can be advertised.
    static let enforcedStreams = 8192

    /// What the peer is told from the next SETTINGS frame on.
    var advertisedStreams: Int

    /// Whether a GOAWAY frame went out, ours or swift-nio-http2's own.
    private(set) var hasSentGoAway = false

    private var pending: ByteBuffer?
    private var promises: [EventLoopPromise<Void>] = []

    private static let headerBytes = 9
    private static let settingsType: UInt8 = 4
    private static let goAwayType: UInt8 = 7
    private static let ackFlag: UInt8 = 1
    private static let maxConcurrentStreams: UInt16 = 3

    init(advertisedStreams: Int) {
        self.advertisedStreams = advertisedStreams
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .byteBuffer(var bytes) = unwrapOutboundIn(data) else {
            promise?.fail(ChannelError.operationUnsupported)
            return
        }
        // swift-nio-http2 writes one frame at a time; only DATA comes in two pieces, and our bodies have a letter at this place.
        switch bytes.getInteger(at: bytes.readerIndex + 3, as: UInt8.self) {
        case Self.settingsType: advertise(in: &bytes)
        case Self.goAwayType: hasSentGoAway = true
        default: break
        }
        if pending == nil {
            pending = context.channel.allocator.buffer(capacity: 16_384)
        }
        pending?.writeBuffer(&bytes)
        if let promise { promises.append(promise) }
    }

    func flush(context: ChannelHandlerContext) {
        send(pending, context: context)
        pending = nil
        context.flush()
    }

    /// Sends the first half of what is pending and drops the rest: the peer sees a frame that ends in the middle.
    func flushHalf(context: ChannelHandlerContext) {
        guard let bytes = pending else { return }
        send(bytes.getSlice(at: bytes.readerIndex, length: bytes.readableBytes / 2), context: context)
        pending = nil
        context.flush()
    }

    private func send(_ bytes: ByteBuffer?, context: ChannelHandlerContext) {
        guard let bytes, bytes.readableBytes > 0 else { return }
        let waiting = promises
        promises = []
        guard !waiting.isEmpty else {
            context.write(wrapOutboundOut(bytes), promise: nil)
            return
        }
        let written = context.eventLoop.makePromise(of: Void.self)
        for promise in waiting { written.futureResult.cascade(to: promise) }
        context.write(wrapOutboundOut(bytes), promise: written)
    }

    /// Puts the advertised limit into a SETTINGS frame.
    private func advertise(in bytes: inout ByteBuffer) {
        let start = bytes.readerIndex
        guard let flags = bytes.getInteger(at: start + 4, as: UInt8.self), flags & Self.ackFlag == 0 else { return }
        var index = start + Self.headerBytes
        while let parameter = bytes.getInteger(at: index, as: UInt16.self) {
            if parameter == Self.maxConcurrentStreams {
                bytes.setInteger(UInt32(clamping: advertisedStreams), at: index + 2)
            }
            index += 6
        }
    }
}
