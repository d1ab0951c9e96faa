import Foundation
import Logging
import NIOCore
import NIOHPACK
import NIOHTTP2

/// One client connection above HTTP/2: collects frames into requests, has them judged and answers them.
///
/// All streams live in this one handler, without a channel each: a channel per stream costs ten times as much. Answers of one turn
/// are written together after the ledger knows them, so that whoever has an answer finds it counted.
final class PushConnection: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    /// Sent through the pipeline when the simulator stops: GOAWAY, drain, close (row 34).
    struct ShutDown: Sendable {}

    /// A request that is coming in, or that waits for its answer to be sent.
    private final class Stream {
        let headers: HPACKHeaders
        var body: [UInt8] = []
        var bodyBytes = 0
        var isComplete = false

        init(headers: HPACKHeaders) { self.headers = headers }
    }

    /// Body bytes at which an oversized request is refused without waiting for its end: half a stream window, so that a client that
    /// obeys flow control never stalls, and nobody makes us hold more than that.
    private static let longestWaitBytes = 32_768

    /// Connection window is given back in these steps, as the real service does (pushy#356, observed).
    private static let windowStepBytes = 32_768

    /// How long a connection that was told to go away may take to read that before it is closed.
    private static let lingering = TimeAmount.milliseconds(250)

    private let state: SimulatorState
    private let wire: WireHandler
    private let mode: SimulatorMode
    private let latency: TimeAmount
    private let devices: DeviceFacts

    private var context: ChannelHandlerContext?
    private var streams: [HTTP2StreamID: Stream] = [:]
    private var connection = ConnectionState()
    private var batch = Ledger.Batch()
    private var ready: [Answer] = []
    private var delayed = CircularBuffer<(due: NIODeadline, answer: Answer)>()
    private var isTimerSet = false
    private var isSettingsAcknowledged = false
    private var windowDebt = 0
    private var lastStreamID = HTTP2StreamID.rootStream
    private var committedStreams = 0
    private var isGoingAway = false

    init(state: SimulatorState, wire: WireHandler) {
        self.state = state
        self.wire = wire
        mode = state.configuration.mode
        latency = TimeAmount(state.configuration.latency)
        devices = state.deviceFacts
    }

    // MARK: Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        state.withLedger { $0.connectionOpened() }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        commit()
        let open = committedStreams
        state.withLedger { $0.connectionClosed(openStreams: open) }
        streams = [:]
        ready = []
        delayed = []
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.payload {
        case .headers(let headers): headersReceived(headers, on: frame.streamID)
        case .data(let data): dataReceived(data, on: frame.streamID)
        case .settings(.ack): isSettingsAcknowledged = true
        case .settings, .rstStream, .goAway, .ping, .priority, .pushPromise, .windowUpdate, .alternativeService,
            .origin:
            break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        send()
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let closed as StreamClosedEvent: streams[closed.streamID] = nil
        case is ShutDown: goAway(.noError, text: #"{"reason":"Shutdown"}"#, last: lastStreamID)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    /// swift-nio-http2 has already answered: RST_STREAM for a fault of one stream, GOAWAY for one of the connection.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        state.configuration.logger.debug("A connection or stream failed", metadata: ["error": "\(error)"])
        if !(error is any NIOHTTP2Error) {
            context.close(promise: nil)
        } else if wire.hasSentGoAway, !isGoingAway {
            isGoingAway = true
            closeSoon(context)
        }
    }

    // MARK: Frames

    private func headersReceived(_ headers: HTTP2Frame.FramePayload.Headers, on streamID: HTTP2StreamID) {
        guard !isGoingAway else { return }
        if streams[streamID] == nil {
            guard streams.count < wire.advertisedStreams else { return refuse(streamID) }
            lastStreamID = streamID
            streams[streamID] = Stream(headers: headers.headers)
            batch.streamsMax = max(batch.streamsMax, streams.count)
        }
        if headers.endStream { complete(streamID) }
    }

    private func dataReceived(_ data: HTTP2Frame.FramePayload.Data, on streamID: HTTP2StreamID) {
        let bytes = data.data.readableBytes
        giveWindowBack(bytes + (data.paddingBytes.map { $0 + 1 } ?? 0))
        guard let stream = streams[streamID], !stream.isComplete else { return }
        if mode != .accept, case .byteBuffer(let buffer) = data.data {
            let room = RuleBook.longestPayloadBytes - stream.body.count
            stream.body += buffer.readableBytesView.prefix(room)
        }
        stream.bodyBytes += bytes
        if data.endStream || stream.bodyBytes > Self.longestWaitBytes { complete(streamID) }
    }

    private func giveWindowBack(_ bytes: Int) {
        windowDebt += bytes
        guard windowDebt >= Self.windowStepBytes else { return }
        write(.init(streamID: .rootStream, payload: .windowUpdate(windowSizeIncrement: windowDebt)))
        windowDebt = 0
    }

    /// Row 4. Before the client acknowledged our SETTINGS it could not know the limit: RFC 9113 §5.1.2 wants REFUSED_STREAM then.
    private func refuse(_ streamID: HTTP2StreamID) {
        if isSettingsAcknowledged {
            // Source of code and text: pushy#356, golang/go#17265 (observed).
            goAway(.refusedStream, text: "Maximum active streams violated for this endpoint.", last: lastStreamID)
        } else {
            write(.init(streamID: streamID, payload: .rstStream(.refusedStream)))
        }
    }

    // MARK: Judging

    private func complete(_ streamID: HTTP2StreamID) {
        guard let stream = streams[streamID], !stream.isComplete else { return }
        stream.isComplete = true
        if mode == .accept {
            accept(stream, on: streamID)
        } else {
            judge(stream, on: streamID)
        }
    }

    private func accept(_ stream: Stream, on streamID: HTTP2StreamID) {
        var token = ""
        var apnsID: String?
        for (name, value, _) in stream.headers {
            if name == ":path" { token = String(value.dropFirst("/3/device/".count)) }
            if name == "apns-id" { apnsID = value }
        }
        batch.deliveries.append(.init(token: token, apnsID: apnsID))
        answerLater(Answer(streamID: streamID, apnsID: apnsID ?? UUID().uuidString), after: latency)
    }

    private func judge(_ stream: Stream, on streamID: HTTP2StreamID) {
        let hadShownToken = connection.hasShownValidToken
        let now = state.configuration.now()
        var request = PushRequest(body: stream.body, bodyBytes: stream.bodyBytes)
        for (name, value, _) in stream.headers { request.receive(name: name, value: value) }
        let verdict = state.ruleBook.judge(request, on: &connection, devices: devices, now: now)
        if !hadShownToken, connection.hasShownValidToken { raiseStreamLimit() }

        let fault = verdict.refusal == nil ? verdict.scripted?.fault : nil
        record(stream, verdict, fault: fault, now: now)
        var answer = Answer(streamID: streamID, apnsID: verdict.apnsID ?? UUID().uuidString, refusal: verdict.refusal)
        if verdict.refusal == nil, state.configuration.environment == .sandbox { answer.uniqueID = UUID().uuidString }
        if let fault {
            play(fault, answer)
        } else {
            answerLater(answer, after: latency + TimeAmount(verdict.scripted?.latency ?? .zero))
        }
    }

    private func record(_ stream: Stream, _ verdict: RuleBook.Verdict, fault: Fault?, now: Int) {
        if let refusal = verdict.refusal {
            batch.refusals.append(refusal.reason)
            state.configuration.logger.debug(
                "Refused a push",
                metadata: [
                    "reason": "\(refusal.reason)", "row": "\(verdict.row)", "evidence": "\(verdict.evidence.rawValue)",
                ]
            )
        } else if fault == nil || verdict.scripted?.isDelivered == true {
            batch.deliveries.append(.init(token: verdict.deviceToken, apnsID: verdict.apnsID))
        }
        batch.unanswered += fault == nil ? 0 : 1
        batch.findings += verdict.findings.isEmpty ? 0 : 1
        batch.records.append(
            RecordedRequest(
                token: verdict.deviceToken,
                status: fault == nil ? verdict.refusal?.status ?? 200 : 0,
                reason: fault.map { "\($0)" } ?? verdict.refusal?.reason,
                headers: stream.headers.map { name, value, _ in
                    // A provider token is a secret for an hour; nothing that reads this needs it.
                    (name, name == "authorization" ? "bearer (not kept)" : value)
                },
                payload: stream.body,
                row: verdict.row,
                evidence: verdict.evidence,
                findings: verdict.findings,
                receivedAt: now
            )
        )
    }

    /// Row 30: the first valid provider token of the connection opens it.
    private func raiseStreamLimit() {
        let limit = state.configuration.maxStreams
        guard wire.advertisedStreams != limit else { return }
        wire.advertisedStreams = limit
        write(
            .init(
                streamID: .rootStream,
                payload: .settings(
                    .settings([.init(parameter: .maxConcurrentStreams, value: WireHandler.enforcedStreams)])
                )
            )
        )
    }

    // MARK: Faults

    private func play(_ fault: Fault, _ answer: Answer) {
        switch fault {
        case .silence: break
        case .reset(let code):
            commit()
            write(.init(streamID: answer.streamID, payload: .rstStream(.init(networkCode: code))))
        case .goAway(let code, let reason, let isProcessed):
            let id = isProcessed ? answer.streamID : HTTP2StreamID(max(0, Int(answer.streamID) - 2))
            if isProcessed { ready.append(answer) }
            goAway(.init(networkCode: code), text: "{\"reason\":\"\(reason)\"}", last: id)
        case .close:
            send()
            context?.close(promise: nil)
        case .halfFrame:
            send()
            sendHalf(answer)
        }
    }

    private func sendHalf(_ answer: Answer) {
        guard let context else { return }
        write(answer)
        // The bytes wait in the wire handler until a flush; half of them get one.
        if let wireContext = try? context.pipeline.syncOperations.context(handler: wire) {
            wire.flushHalf(context: wireContext)
        }
        context.close(promise: nil)
    }

    private func goAway(_ code: HTTP2ErrorCode, text: String, last: HTTP2StreamID) {
        guard let context, !isGoingAway else { return }
        isGoingAway = true
        let payload = HTTP2Frame.FramePayload.goAway(
            lastStreamID: last,
            errorCode: code,
            opaqueData: context.channel.allocator.buffer(string: text)
        )
        send()
        write(.init(streamID: .rootStream, payload: payload))
        context.flush()
        closeSoon(context)
    }

    /// A close right after GOAWAY could take the frame with it: the peer's unread bytes make TCP reset the connection.
    private func closeSoon(_ context: ChannelHandlerContext) {
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.lingering + latency) { [self] in
            self.context?.close(promise: nil)
        }
    }

    // MARK: Answers

    private func answerLater(_ answer: Answer, after delay: TimeAmount) {
        guard delay > .zero, let context else {
            ready.append(answer)
            return
        }
        let due = NIODeadline.now() + delay
        if delay == latency {
            // Same delay for all of them: one queue in order, one timer at its head.
            delayed.append((due, answer))
            setTimer()
        } else {
            context.eventLoop.assumeIsolated().scheduleTask(deadline: due) { [self] in
                ready.append(answer)
                send()
            }
        }
    }

    private func setTimer() {
        guard !isTimerSet, let context, let first = delayed.first else { return }
        isTimerSet = true
        context.eventLoop.assumeIsolated().scheduleTask(deadline: first.due) { [self] in
            isTimerSet = false
            let now = NIODeadline.now()
            while let head = delayed.first, head.due <= now {
                ready.append(head.answer)
                delayed.removeFirst()
            }
            send()
            setTimer()
        }
    }

    /// Writes, counts, then flushes: nothing leaves before the flush, so who has an answer finds it in the ledger.
    private func send() {
        let answers = ready
        ready = []
        for answer in answers where streams[answer.streamID] != nil { write(answer) }
        commit()
        context?.flush()
    }

    private func commit() {
        batch.streamsDelta = streams.count - committedStreams
        guard !batch.isEmpty else { return }
        committedStreams = streams.count
        let finished = batch
        batch = Ledger.Batch()
        state.withLedger { $0.commit(finished) }
    }

    private func write(_ answer: Answer) {
        guard let context else { return }
        let (headers, body) = answer.frames(allocator: context.channel.allocator)
        write(headers)
        if let body { write(body) }
    }

    private func write(_ frame: HTTP2Frame) {
        context?.write(wrapOutboundOut(frame), promise: nil)
    }
}
