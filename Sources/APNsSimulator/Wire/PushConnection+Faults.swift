import NIOCore
import NIOHPACK
import NIOHTTP2

/// Injects faults as raw bytes below swift-nio-http2, which would prevent them.
extension PushConnection {
    /// How long a connection stays open after a GOAWAY, so that the client can read it.
    private static let lingering = Duration.milliseconds(250)

    /// How long swift-nio-http2 keeps a stream that we have reset and the client did not end, because frames may still arrive.
    private static let ghostLifetime = Duration.seconds(5)

    /// A draining connection is closed after this time; a stream that is never answered would keep it open indefinitely.
    private static let longestDrain = Duration.seconds(30)

    /// How long new pushes get 503 before the GOAWAY of a shutdown (row 34).
    private static let shutDownNotice = Duration.milliseconds(100)

    /// Whether a script entry applies to the request at its headers and replaces its answer. The request's body is then read and discarded.
    func isStruck(_ stream: Stream, _ streamID: HTTP2StreamID) -> Bool {
        guard !isMute else { return false }
        let path = stream.headers.first(name: ":path") ?? ""
        let token = path.split(separator: "/").last.map(String.init) ?? ""
        let occasion = ScriptOccasion(token: token, connection: number, stream: stream.ordinal, moment: .headers)
        guard let entry = state.takeScripted(occasion), let fault = entry.fault else { return false }
        batch.faults.append(fault.name)
        let takesIt = fault.replacesAnswer
        batch.unanswered += takesIt ? 1 : 0
        if takesIt, entry.isDelivered {
            batch.deliveries.append(.init(token: token, apnsID: stream.headers.first(name: "apns-id")))
        }
        let answer = Answer(streamID: streamID, apnsID: "")
        after(entry.latency.draw(using: &random)) { $0.play(fault, takesIt ? answer : nil, isMidStream: true) }
        return takesIt
    }

    /// Injects a fault at once, without a request.
    func playOnConnection(_ fault: Fault) {
        guard fault.fitsConnection else { return }
        batch.faults.append(fault.name)
        if fault == .silence {
            isMute = true
        } else {
            play(fault, nil)
        }
        send()
    }

    /// Injects a fault.
    ///
    /// - Parameters:
    ///   - fault: The fault.
    ///   - answer: The answer that the request would get; nil if there is none, or if it is sent separately.
    ///   - isMidStream: Whether the request's body is incomplete, so that it cannot be answered.
    func play(_ fault: Fault, _ answer: Answer?, isMidStream: Bool = false) {
        if let answer, !fault.replacesAnswer, !isMidStream {
            self.answer(answer, after: state.latency)
        }
        switch fault {
        case .silence, .slowHandshake: break
        case .reset(let code):
            if let answer { giveUp(answer.streamID, code: code, isComplete: !isMidStream) }
        case .goingAway(let order): goAway(order, answer?.streamID)
        case .close:
            send()
            context?.close(promise: nil)
        case .tcpReset:
            commit()
            socket.reset()
        case .half(let ending):
            send()
            sendHalf(isMidStream ? nil : answer)
            finish(ending)
        case .tlsAlert(let code):
            commit()
            // 80: internal_error (RFC 8446 §6).
            socket.sendAlert(code ?? 80)
        case .freeze(let end):
            commit()
            socket.freeze(until: end)
        case .settings(let order): change(order, except: answer?.streamID)
        case .starve(let window, let end): starve(window, until: end)
        case .raw(let bytes): wire.inject(ByteBuffer(bytes: bytes))
        case .shutDown: shutDown()
        }
        send()
    }

    // MARK: Streams

    /// Resets a stream. swift-nio-http2 is informed when the end of the request has arrived; nothing more is sent to the client.
    func giveUp(_ streamID: HTTP2StreamID, code: Int, isComplete: Bool) {
        streams[streamID] = nil
        if code == Self.refusedStream, isComplete { disclaimed.insert(streamID) }
        wire.inject(RawFrame.reset(stream: Int(streamID), code: code))
        guard !isComplete else { return bury(streamID) }
        ghosts.insert(streamID)
        after(Self.ghostLifetime) { if $0.ghosts.contains(streamID) { $0.bury(streamID) } }
    }

    /// Lets swift-nio-http2 discard a stream whose end the client has already received.
    func bury(_ streamID: HTTP2StreamID) {
        ghosts.remove(streamID)
        wire.swallowReset(of: Int(streamID))
        write(.init(streamID: streamID, payload: .rstStream(.noError)))
    }

    // MARK: Connections

    /// Sends GOAWAY and performs its ending.
    func goAway(_ order: GoAwayFault, _ streamID: HTTP2StreamID?) {
        guard context != nil else { return }
        let here = Int(streamID ?? lastStreamID)
        let last =
            switch order.lastStream {
            case .before: streamID == nil ? here : max(0, here - 2)
            case .this: here
            case .max: RawFrame.largestStreamID
            case .zero: 0
            }
        goneAfter = min(goneAfter ?? last, last)
        for (lost, stream) in streams where Int(lost) > last {
            if stream.isComplete { disclaimed.insert(lost) }
            streams[lost] = nil
        }
        // Send the finished answers first; answers of streams that the frame excludes are not sent.
        send()
        let frame = RawFrame.goAway(lastStream: last, code: order.code, debugText: order.debugText)
        switch order.repetition {
        case .graceful:
            let first = RawFrame.largestStreamID
            wire.inject(RawFrame.goAway(lastStream: first, code: order.code, debugText: order.debugText))
        case .same: wire.inject(frame)
        case nil: break
        }
        wire.inject(frame)
        wire.flushPending()
        finish(order.ending)
    }

    private func finish(_ ending: Fault.Ending) {
        switch ending {
        case .stay: break
        case .tcpReset: socket.reset()
        case .close: closeSoon()
        case .drain:
            closesWhenDrained = true
            closeIfDrained()
            after(Self.longestDrain) { $0.closeSoon() }
        }
    }

    /// Closes after a delay. If it closed right after GOAWAY, unread bytes of the peer would make TCP reset the connection, and the frame could be lost.
    func closeSoon() {
        after(Self.lingering + (state.latency.constant ?? .zero)) { $0.context?.close(promise: nil) }
    }

    func closeIfDrained() {
        guard closesWhenDrained, streams.isEmpty, ready.isEmpty else { return }
        closesWhenDrained = false
        closeSoon()
    }

    private func sendHalf(_ answer: Answer?) {
        // The bytes wait in the wire handler until a flush; only half of them are flushed.
        if let answer { write(answer) } else { wire.inject(RawFrame.ping) }
        wire.flushHalf()
        isMute = true
    }

    private func shutDown() {
        isShuttingDown = true
        after(Self.shutDownNotice) { $0.goAway(GoAwayFault(lastStream: .this, ending: .drain), nil) }
    }

    // MARK: Limits

    func change(_ order: StreamLimitChange, except kept: HTTP2StreamID?) {
        setStreamLimit(order.streams)
        if order.refusesStreamsAbove {
            for lost in streams.keys.filter({ $0 != kept }).sorted().dropFirst(order.streams) {
                giveUp(lost, code: Self.refusedStream, isComplete: streams[lost]?.isComplete ?? false)
                batch.unanswered += 1
            }
        }
        guard let length = order.restoredAfter else { return }
        after(length) { connection in
            let isOpen = connection.connection.hasShownValidToken || connection.connection.certificate != nil
            connection.setStreamLimit(isOpen ? connection.state.configuration.maxStreams : 1)
            connection.send()
        }
    }

    private func starve(_ window: Int, until end: Duration?) {
        isStarving = true
        wire.advertisedWindow = window
        sendSettings()
        guard let end else { return }
        after(end) { connection in
            connection.isStarving = false
            connection.wire.advertisedWindow = 65_535
            connection.sendSettings()
            connection.payWindowDebt()
            connection.send()
        }
    }
}
