import Logging
import NIOCore
import NIOHPACK
import NIOHTTP2

/// One client connection above HTTP/2: it assembles frames into requests, has them judged and answers them.
///
/// This handler serves all streams without a channel per stream, which would cost ten times as much. The answers of one turn are written together after they
/// were recorded in the ledger, so that a client that has an answer finds it counted.
final class PushConnection: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    /// Sent through the pipeline when the simulator stops: GOAWAY, drain, close (row 34).
    struct ShutDown: Sendable {}

    /// Sent through the pipeline by the control port: injects a fault into the connection at once.
    struct Play: Sendable {
        var fault: Fault
    }

    /// A request that is arriving, or whose answer was not sent yet.
    final class Stream {
        let headers: HPACKHeaders
        /// Its number among the connection's requests, from 1.
        let ordinal: Int
        var body: [UInt8] = []
        var bodyBytes = 0
        var isComplete = false

        init(headers: HPACKHeaders, ordinal: Int) {
            self.headers = headers
            self.ordinal = ordinal
        }
    }

    /// The body size at which an oversized request is refused without waiting for its end. It is half a stream window, so that a client that respects flow
    /// control never stalls, and no client makes us hold more.
    private static let longestWaitBytes = 32_768

    /// HTTP/2's error code REFUSED_STREAM.
    static let refusedStream = 7

    /// The connection window is returned in these steps, as by the real service (pushy#356, observed).
    static let windowStepBytes = 32_768

    let state: SimulatorState
    let socket: SocketHandler
    let wire: WireHandler
    let mode: SimulatorMode
    let number: Int

    var context: ChannelHandlerContext?
    var streams: [HTTP2StreamID: Stream] = [:]
    var connection: ConnectionState
    var batch = Ledger.Batch()
    var ready: [Answer] = []
    var delayed = CircularBuffer<(due: NIODeadline, length: Duration, answer: Answer)>()
    var isTimerSet = false
    var random: SplitMix64

    /// The number of requests so far.
    var requestCount = 0

    /// The stream limit of the last SETTINGS that the client acknowledged; nil before the first.
    private var acknowledgedStreams: Int?
    /// The stream limits of SETTINGS that were sent and not acknowledged yet.
    var pendingStreamLimits: [Int]

    var windowDebt = 0
    var isStarving = false
    var lastStreamID = HTTP2StreamID.rootStream
    private var committedStreams = 0

    /// The last stream id of the GOAWAY that was sent; nil before it.
    var goneAfter: Int?
    /// Whether the connection closes when all requests are answered.
    var closesWhenDrained = false
    /// Whether every new push gets 503 `Shutdown` (row 34).
    var isShuttingDown = false
    /// Whether no further request is answered.
    var isMute = false
    /// Streams that were reset below swift-nio-http2, which still holds them open.
    var ghosts: Set<HTTP2StreamID> = []
    /// Streams that were judged, and were then reported to the client as not processed.
    var disclaimed: Set<HTTP2StreamID> = []
    var badTokenTimes: [Int] = []
    private var lastFrameAt = NIODeadline.now()

    init(
        state: SimulatorState,
        socket: SocketHandler,
        wire: WireHandler,
        number: Int,
        connection: ConnectionState
    ) {
        self.state = state
        self.socket = socket
        self.wire = wire
        self.number = number
        self.connection = connection
        mode = state.configuration.mode
        random = SplitMix64(seed: state.configuration.seed &+ UInt64(truncatingIfNeeded: number))
        pendingStreamLimits = [wire.advertisedStreams]
    }

    // MARK: Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        streams = [:]
        self.context = nil
        countLost()
    }

    /// TLS is established and our SETTINGS are written.
    func opened() {
        note()
        watchForIdleness()
        if connection.certificate.map({ !$0.fits(state.configuration.environment) }) ?? false {
            // Row 2: TLS succeeds, then this GOAWAY follows (observed: aapns, pushy#312).
            let text = GoAwayFault.json(Reason.badCertificateEnvironment.rawValue)
            goAway(GoAwayFault(debugText: text, lastStream: .zero), nil)
            return
        }
        guard mode == .script,
            let entry = state.takeScripted(ScriptOccasion(connection: number, moment: .open)), let fault = entry.fault
        else { return }
        after(entry.latency.draw(using: &random)) { $0.playOnConnection(fault) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.payload {
        case .headers(let headers): headersReceived(headers, on: frame.streamID)
        case .data(let data): dataReceived(data, on: frame.streamID)
        case .settings(.ack):
            if !pendingStreamLimits.isEmpty { acknowledgedStreams = pendingStreamLimits.removeFirst() }
        case .settings(.settings), .rstStream, .goAway, .ping, .priority, .pushPromise, .windowUpdate,
            .alternativeService, .origin:
            break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        lastFrameAt = .now()
        send()
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let closed as StreamClosedEvent:
            streams[closed.streamID] = nil
            ghosts.remove(closed.streamID)
            closeIfDrained()
        case is ShutDown: goAway(GoAwayFault(lastStream: .this), nil)
        case let order as Play: playOnConnection(order.fault)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    /// swift-nio-http2 has already answered: with RST_STREAM for a fault of one stream, with GOAWAY for one of the connection.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        state.configuration.logger.debug("A connection or stream failed", metadata: ["error": "\(error)"])
        if !(error is any NIOHTTP2Error) {
            context.close(promise: nil)
        } else if wire.hasGivenUp, goneAfter == nil {
            goneAfter = RawFrame.largestStreamID
            isMute = true
            closeSoon()
        }
    }

    // MARK: Frames

    private func headersReceived(_ headers: HTTP2Frame.FramePayload.Headers, on streamID: HTTP2StreamID) {
        if ghosts.contains(streamID) {
            if headers.endStream { bury(streamID) }
            return
        }
        if streams[streamID] == nil {
            // The request was sent before the client read the GOAWAY. It gets no answer, because the GOAWAY excludes it.
            guard goneAfter.map({ Int(streamID) <= $0 }) ?? true else { return }
            guard !isMute else {
                batch.unanswered += 1
                return
            }
            guard streams.count < wire.advertisedStreams else { return refuse(streamID) }
            lastStreamID = streamID
            requestCount += 1
            let stream = Stream(headers: headers.headers, ordinal: requestCount)
            streams[streamID] = stream
            batch.streamsMax = max(batch.streamsMax, streams.count)
            if mode == .script, isStruck(stream, streamID) { return }
        }
        if headers.endStream { complete(streamID) }
    }

    private func dataReceived(_ data: HTTP2Frame.FramePayload.Data, on streamID: HTTP2StreamID) {
        let bytes = data.data.readableBytes
        giveWindowBack(bytes + (data.paddingBytes.map { $0 + 1 } ?? 0))
        guard let stream = streams[streamID], !stream.isComplete else {
            if data.endStream, ghosts.contains(streamID) { bury(streamID) }
            return
        }
        if mode != .accept, case .byteBuffer(let buffer) = data.data {
            let room = RuleBook.longestPayloadBytes - stream.body.count
            stream.body += buffer.readableBytesView.prefix(room)
        }
        stream.bodyBytes += bytes
        if data.endStream || stream.bodyBytes > Self.longestWaitBytes { complete(streamID) }
    }

    private func giveWindowBack(_ bytes: Int) {
        windowDebt += bytes
        guard windowDebt >= Self.windowStepBytes, !isStarving else { return }
        payWindowDebt()
    }

    func payWindowDebt() {
        guard windowDebt > 0 else { return }
        write(.init(streamID: .rootStream, payload: .windowUpdate(windowSizeIncrement: windowDebt)))
        windowDebt = 0
    }

    /// Row 4. A client that has not acknowledged the limit may not have read it; RFC 9113 §5.1.2 requires REFUSED_STREAM in that case.
    private func refuse(_ streamID: HTTP2StreamID) {
        if acknowledgedStreams == wire.advertisedStreams, pendingStreamLimits.isEmpty {
            // Source of the code and the text: pushy#356, golang/go#17265 (observed).
            let text = "Maximum active streams violated for this endpoint."
            goAway(GoAwayFault(code: 7, debugText: text, lastStream: .this), nil)
        } else {
            giveUp(streamID, code: Self.refusedStream, isComplete: false)
        }
    }

    // MARK: Counting

    func commit() {
        batch.streamsDelta = streams.count - committedStreams
        guard !batch.isEmpty else { return }
        committedStreams = streams.count
        let finished = batch
        batch = Ledger.Batch()
        state.withLedger { $0.commit(finished) }
        note()
    }

    /// Updates the control port's list of connections.
    private func note() {
        let (open, requests, advertised) = (streams.count, requestCount, wire.advertisedStreams)
        let (team, certificate) = (connection.teamID, connection.certificate?.uid)
        state.connections.update(number) { entry in
            entry.openStreams = open
            entry.requests = requests
            entry.advertisedStreams = advertised
            entry.team = team
            entry.certificate = certificate
        }
    }

    /// Row 33: closes an idle connection.
    private func watchForIdleness() {
        guard let timeout = state.configuration.idleTimeout, let context else { return }
        let due = lastFrameAt + TimeAmount(timeout)
        context.eventLoop.assumeIsolated().scheduleTask(deadline: due) { [self] in
            guard self.context != nil, goneAfter == nil else { return }
            guard lastFrameAt + TimeAmount(timeout) <= .now() else { return watchForIdleness() }
            goAway(GoAwayFault(debugText: GoAwayFault.json(Reason.idleTimeout.rawValue), lastStream: .this), nil)
        }
    }

    /// Runs the body on the event loop after this time if the connection still exists then; at once for zero.
    func after(_ length: Duration, _ body: @escaping (PushConnection) -> Void) {
        guard let context else { return }
        guard length > .zero else { return body(self) }
        context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(length)) { [self] in
            if self.context != nil { body(self) }
        }
    }
}
