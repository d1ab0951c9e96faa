import NIOCore

/// The last stop before TLS: joins the frames of one turn into one write, states the limits we want to be believed, and takes in raw bytes.
///
/// swift-nio-http2 counts streams against the SETTINGS it sent and answers a violation in its own words. So it is told a limit that
/// it will never enforce (`enforcedStreams`), the SETTINGS frame is given the advertised numbers here, and `PushConnection` answers
/// violations as Apple does. For the same reason faults go out here as bytes, and that handler never learns of them.
final class WireHandler: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = ByteBuffer

    /// What swift-nio-http2 is told; also the hard bound on streams of one connection, above any limit that can be advertised.
    static let enforcedStreams = 8192

    /// What the peer is told from the next SETTINGS frame on.
    var advertisedStreams: Int

    /// The initial window that the peer is told from the next SETTINGS frame on; swift-nio-http2 believes in 65,535 throughout.
    var advertisedWindow = 65_535

    /// Whether swift-nio-http2 sent a GOAWAY frame of its own: it gave the connection up.
    private(set) var hasGivenUp = false

    /// Nothing leaves any more.
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

    /// Puts bytes behind what is pending; they leave with the next flush.
    func inject(_ bytes: ByteBuffer) {
        guard !isCut, let context else { return }
        var bytes = bytes
        append(&bytes, context: context)
    }

    /// Sends what is pending: swift-nio-http2 passes a flush on only when it has written something itself.
    func flushPending() {
        if let context, pending != nil { flush(context: context) }
    }

    /// The next RST_STREAM of swift-nio-http2 for this stream stays here: the peer had its own already.
    func swallowReset(of stream: Int) {
        // As many as streams can be: one for each of them at most.
        if swallowedResets.count < Self.enforcedStreams { swallowedResets.insert(stream) }
    }

    /// Sends the first half of what is pending and nothing more: the peer sees a frame that ends in the middle.
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

    /// Looks at a frame's header; a DATA frame comes in two pieces, the second of which has none.
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

    /// Puts the advertised numbers into a SETTINGS frame.
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
