import NIOCore

/// The last handler before TLS: it joins the frames of one turn into one write, advertises the simulated limits, and accepts raw bytes.
///
/// swift-nio-http2 counts streams against the SETTINGS that it sent and answers violations in its own way. It is therefore configured with a limit that it will
/// never enforce (`enforcedStreams`); this handler writes the advertised numbers into the SETTINGS frame, and `PushConnection` answers violations as Apple
/// does. For the same reason this handler sends faults as bytes, without the knowledge of swift-nio-http2.
final class WireHandler: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = ByteBuffer

    /// The limit that swift-nio-http2 enforces. It is also the hard limit for streams of one connection, above any limit that can be advertised.
    static let enforcedStreams = 8192

    /// The stream limit that the peer gets with the next SETTINGS frame.
    var advertisedStreams: Int

    /// The initial window that the peer gets with the next SETTINGS frame; swift-nio-http2 always assumes 65,535.
    var advertisedWindow = 65_535

    /// Whether swift-nio-http2 sent a GOAWAY frame itself, because it has given the connection up.
    private(set) var hasGivenUp = false

    /// Whether no further bytes are sent.
    private(set) var isCut = false

    private var context: ChannelHandlerContext?
    private var pending: ByteBuffer?
    private var promises: [EventLoopPromise<Void>] = []
    private var isPayloadNext = false
    private var swallowedResets: Set<Int> = []

    private static let ackFlag: UInt8 = 1

    init(advertisedStreams: Int) {
        self.advertisedStreams = advertisedStreams
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        for promise in promises { promise.fail(ChannelError.ioOnClosedChannel) }
        promises = []
        self.context = nil
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .byteBuffer(var bytes) = unwrapOutboundIn(data) else {
            promise?.fail(ChannelError.operationUnsupported)
            return
        }
        if isCut || isSwallowed(&bytes) {
            promise?.succeed()
            return
        }
        append(&bytes, context: context)
        if let promise { promises.append(promise) }
    }

    func flush(context: ChannelHandlerContext) {
        send(pending, context: context)
        pending = nil
        context.flush()
    }

    // MARK: Faults

    /// Appends bytes to the pending ones; the next flush sends them.
    func inject(_ bytes: ByteBuffer) {
        guard !isCut, let context else { return }
        var bytes = bytes
        append(&bytes, context: context)
    }

    /// Sends the pending bytes: swift-nio-http2 passes a flush on only when it has written something itself.
    func flushPending() {
        if let context, pending != nil { flush(context: context) }
    }

    /// Suppresses the next RST_STREAM of swift-nio-http2 for this stream, because the peer has already got one.
    func swallowReset(of stream: Int) {
        // Limited to the possible number of streams: each has at most one.
        if swallowedResets.count < Self.enforcedStreams { swallowedResets.insert(stream) }
    }

    /// Sends only the first half of the pending bytes: the peer sees a frame that ends in the middle.
    func flushHalf() {
        guard let context else { return }
        if let bytes = pending {
            send(bytes.getSlice(at: bytes.readerIndex, length: bytes.readableBytes / 2), context: context)
        }
        pending = nil
        isCut = true
        context.flush()
    }

    // MARK: Frames of swift-nio-http2

    private func append(_ bytes: inout ByteBuffer, context: ChannelHandlerContext) {
        if pending == nil { pending = context.channel.allocator.buffer(capacity: 16_384) }
        pending?.writeBuffer(&bytes)
    }

    /// Checks a frame's header. A DATA frame comes in two pieces, and the second has no header.
    private func isSwallowed(_ bytes: inout ByteBuffer) -> Bool {
        guard !isPayloadNext else {
            isPayloadNext = false
            return false
        }
        let start = bytes.readerIndex
        switch bytes.getInteger(at: start + 3, as: UInt8.self) {
        case RawFrame.dataType:
            isPayloadNext = bytes.readableBytes == RawFrame.headerBytes && !isEmptyFrame(bytes)
        case RawFrame.settingsType: advertise(in: &bytes)
        case RawFrame.goAwayType: hasGivenUp = true
        case RawFrame.resetType:
            guard !swallowedResets.isEmpty, let stream = bytes.getInteger(at: start + 5, as: UInt32.self) else { break }
            return swallowedResets.remove(Int(stream)) != nil
        default: break
        }
        return false
    }

    private func isEmptyFrame(_ bytes: ByteBuffer) -> Bool {
        let start = bytes.readerIndex
        return bytes.getInteger(at: start, as: UInt16.self) == 0 && bytes.getInteger(at: start + 2, as: UInt8.self) == 0
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

    /// Writes the advertised numbers into a SETTINGS frame.
    private func advertise(in bytes: inout ByteBuffer) {
        let start = bytes.readerIndex
        guard let flags = bytes.getInteger(at: start + 4, as: UInt8.self), flags & Self.ackFlag == 0 else { return }
        var index = start + RawFrame.headerBytes
        while let parameter = bytes.getInteger(at: index, as: UInt16.self) {
            switch parameter {
            case RawFrame.maxConcurrentStreams:
                bytes.setInteger(UInt32(clamping: advertisedStreams), at: index + 2)
            case RawFrame.initialWindowSize:
                bytes.setInteger(UInt32(clamping: advertisedWindow), at: index + 2)
            default: break
            }
            index += 6
        }
    }
}
