import APNsSimulator
import NIOCore
import NIOHPACK
import NIOPosix
import NIOSSL

/// One HTTP/2 frame as bytes.
struct RawFrame: Sendable {
    enum Kind: UInt8, Sendable { case data, headers, priority, reset, settings, push, ping, goAway, windowUpdate }

    var kind: Kind
    var flags: UInt8 = 0
    var streamID: Int = 0
    var payload: [UInt8] = []

    /// A big-endian number of four bytes in the payload.
    func number(at index: Int) -> Int {
        payload[index..<index + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    /// The value of a setting, if this frame sets it.
    func setting(_ parameter: UInt8) -> Int? {
        stride(from: 0, to: payload.count, by: 6).first { payload[$0 + 1] == parameter }.map { number(at: $0 + 2) }
    }
}

/// A client for TLS and frames exactly as the test needs them, so that it can break every rule.
final class RawClient {
    /// The connection ended, or the peer sent no frame for ten seconds.
    enum Silence: Error { case closed, timedOut }

    /// Sent through the pipeline when the time for a frame is over.
    fileprivate struct WaitEnded: Sendable {
        /// The number of frames that the test had read when it began to wait.
        var readCount: Int
    }

    private let channel: any Channel
    private var frames: AsyncThrowingStream<RawFrame, any Error>.Iterator
    private var readCount = 0
    private let leftovers: NIOLoopBoundBox<Int>
    private var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
    private var decoder = HPACKDecoder(allocator: ByteBufferAllocator())

    static let ack: UInt8 = 1
    static let endStream: UInt8 = 1
    static let endHeaders: UInt8 = 4
    static let maxConcurrentStreams: UInt8 = 3

    /// Connects and sends the preface.
    ///
    /// - Parameters:
    ///   - running: the simulator to connect to.
    ///   - port: nil for the push port.
    ///   - identity: a client certificate and its key, PEM.
    ///   - alpn: the protocols that the client offers.
    ///   - preface: the first bytes inside TLS.
    /// - Throws: the error of the connection.
    init(
        _ running: RunningSimulator,
        port: Int? = nil,
        identity: (certificatePEM: String, keyPEM: String)? = nil,
        alpn: [String] = ["h2"],
        preface: String = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    ) async throws {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(running.simulator.caPEM.utf8)))
        tls.applicationProtocols = alpn
        if let identity {
            tls.certificateChain = try NIOSSLCertificate.fromPEMBytes(Array(identity.certificatePEM.utf8))
                .map { .certificate($0) }
            tls.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: Array(identity.keyPEM.utf8), format: .pem))
        }
        let context = try NIOSSLContext(configuration: tls)
        let (stream, source) = AsyncThrowingStream<RawFrame, any Error>.makeStream()
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let leftovers = NIOLoopBoundBox.makeBoxSendingValue(0, eventLoop: loop)
        channel = try await ClientBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        try NIOSSLClientHandler(context: context, serverHostname: "localhost"),
                        FrameReader(source, leftovers),
                    ])
                }
            }
            .connect(host: "127.0.0.1", port: port ?? running.addresses.apnsPort)
            .get()
        frames = stream.makeAsyncIterator()
        self.leftovers = leftovers
        // If the server has already closed the connection, the next read of a frame reports it.
        try? await send(Array(preface.utf8))
    }

    deinit { channel.close(promise: nil) }

    /// Bytes of an incomplete frame. Read after the connection ended.
    var bytesLeftOver: Int {
        get async throws { try await channel.eventLoop.submit { [leftovers] in leftovers.value }.get() }
    }

    func send(_ bytes: [UInt8]) async throws {
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes))
    }

    func send(_ frames: [RawFrame]) async throws {
        try await send(frames.flatMap(Self.bytes))
    }

    func settings() async throws {
        try await send([RawFrame(kind: .settings)])
    }

    func acknowledgeSettings() async throws {
        try await send([RawFrame(kind: .settings, flags: Self.ack)])
    }

    /// Sends HEADERS, and DATA if there is a body.
    func request(_ headers: [(String, String)], body: String? = #"{"aps":{"alert":"hi"}}"#, on streamID: Int) throws
        -> [RawFrame]
    {
        var block = ByteBuffer()
        try encoder.encode(headers: HPACKHeaders(headers), to: &block)
        let flags = Self.endHeaders | (body == nil ? Self.endStream : 0)
        let head = RawFrame(kind: .headers, flags: flags, streamID: streamID, payload: Array(block.readableBytesView))
        guard let body else { return [head] }
        return [head, RawFrame(kind: .data, flags: Self.endStream, streamID: streamID, payload: Array(body.utf8))]
    }

    /// The next frame.
    ///
    /// The limit concerns the peer. A frame that arrived within it is not late, however late the test's task reads it on a busy machine.
    func next() async throws -> RawFrame {
        let end = WaitEnded(readCount: readCount)
        let timer = channel.eventLoop.scheduleTask(in: .seconds(10)) { [channel] in
            channel.pipeline.fireUserInboundEventTriggered(end)
        }
        defer { timer.cancel() }
        guard let frame = try await frames.next() else { throw Silence.closed }
        readCount += 1
        return frame
    }

    /// Skips frames until one of this kind arrives.
    func next(_ kind: RawFrame.Kind, flags: UInt8? = nil) async throws -> RawFrame {
        while true {
            let frame = try await next()
            // Every header block must pass through the decoder, also those that are skipped.
            if frame.kind == .headers { lastHeaders = try decode(frame) }
            if frame.kind == kind, flags.map({ frame.flags == $0 }) ?? true { return frame }
        }
    }

    /// The last header block that was read.
    private(set) var lastHeaders: [String: String] = [:]

    /// Status, headers and body of the next answer.
    func answer() async throws -> (streamID: Int, headers: [String: String], body: String) {
        let head = try await next(.headers)
        let headers = lastHeaders
        guard head.flags & Self.endStream == 0 else { return (head.streamID, headers, "") }
        var body: [UInt8] = []
        while true {
            let data = try await next(.data)
            body += data.payload
            if data.flags & Self.endStream != 0 { break }
        }
        return (head.streamID, headers, String(decoding: body, as: UTF8.self))
    }

    /// Waits until the peer ends the connection.
    func end() async throws {
        while true {
            do {
                _ = try await next()
            } catch Silence.closed {
                return
            }
        }
    }

    private func decode(_ frame: RawFrame) throws -> [String: String] {
        var block = ByteBuffer(bytes: frame.payload)
        let headers = try decoder.decodeHeaders(from: &block)
        return Dictionary(headers.map { ($0.name, $0.value) }) { first, _ in first }
    }

    static func bytes(of frame: RawFrame) -> [UInt8] {
        let length = frame.payload.count
        return [UInt8(length >> 16), UInt8(length >> 8 & 255), UInt8(length & 255), frame.kind.rawValue, frame.flags]
            + [24, 16, 8, 0].map { UInt8(frame.streamID >> $0 & 255) } + frame.payload
    }
}

/// Splits incoming bytes into frames until the connection ends.
private final class FrameReader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let source: AsyncThrowingStream<RawFrame, any Error>.Continuation
    private let leftovers: NIOLoopBoundBox<Int>
    private var pending = ByteBuffer()
    private var frameCount = 0

    init(_ source: AsyncThrowingStream<RawFrame, any Error>.Continuation, _ leftovers: NIOLoopBoundBox<Int>) {
        self.source = source
        self.leftovers = leftovers
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        pending.writeBuffer(&bytes)
        while let frame = nextFrame() {
            frameCount += 1
            source.yield(frame)
        }
        leftovers.value = pending.readableBytes
    }

    func channelInactive(context: ChannelHandlerContext) {
        source.finish()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        source.finish()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let end = event as? RawClient.WaitEnded, end.readCount == frameCount {
            source.finish(throwing: RawClient.Silence.timedOut)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func nextFrame() -> RawFrame? {
        let start = pending.readerIndex
        guard let head = pending.getBytes(at: start, length: 9) else { return nil }
        let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
        guard let payload = pending.getBytes(at: start + 9, length: length), let kind = RawFrame.Kind(rawValue: head[3])
        else { return nil }
        pending.moveReaderIndex(forwardBy: 9 + length)
        let streamID = head[5...8].reduce(0) { $0 << 8 | Int($1) }
        return RawFrame(kind: kind, flags: head[4], streamID: streamID, payload: payload)
    }
}
