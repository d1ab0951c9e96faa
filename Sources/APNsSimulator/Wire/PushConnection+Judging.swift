import Foundation
import Logging
import NIOCore
import NIOHPACK
import NIOHTTP2

/// Judges complete requests.
extension PushConnection {
    /// The period in which `BadDeviceToken` answers are counted (row 32). Unit: seconds.
    private static let badTokenSeconds = 60

    /// Called when the request is complete, or is refused without waiting for its end.
    func complete(_ streamID: HTTP2StreamID) {
        guard let stream = streams[streamID], !stream.isComplete else { return }
        stream.isComplete = true
        if isMute {
            batch.unanswered += 1
        } else if mode == .accept, connection.listener == .send {
            accept(stream, on: streamID)
        } else {
            judge(stream, on: streamID)
        }
    }

    private func accept(_ stream: Stream, on streamID: HTTP2StreamID) {
        var token = ""
        var apnsID: String?
        for (name, value, _) in stream.headers {
            switch name {
            case ":path": token = String(value.dropFirst("/3/device/".utf8.count))
            case "apns-id": apnsID = value
            default: break
            }
        }
        var answer = Answer(streamID: streamID, apnsID: apnsID ?? UUID().uuidString)
        answer.delivery = Ledger.Delivery(token: token, apnsID: apnsID)
        self.answer(answer, after: state.latency)
    }

    private func judge(_ stream: Stream, on streamID: HTTP2StreamID) {
        let hadShownToken = connection.hasShownValidToken
        let now = state.configuration.now()
        var request = PushRequest(body: stream.body, bodyBytes: stream.bodyBytes)
        for (name, value, _) in stream.headers { request.receive(name: name, value: value) }
        let facts = state.facts(connection: number, stream: stream.ordinal)
        var verdict = state.ruleBook.judge(request, on: &connection, facts: facts, now: now)
        if isShuttingDown {
            (verdict.refusal, verdict.row, verdict.evidence) = (RuleRefusal(.shutdown), 34, .documented)
        }
        if !hadShownToken, connection.hasShownValidToken { setStreamLimit(state.configuration.maxStreams) }

        let fault = verdict.refusal == nil ? verdict.scripted?.fault : nil
        let isAnswered = fault.map { !$0.replacesAnswer } ?? true
        record(stream, streamID, verdict, fault: fault, isAnswered: isAnswered, now: now)
        let answer = answer(to: verdict, on: streamID)
        if let fault {
            // A fault may be delayed; the answer that accompanies it is sent together with it.
            let length = verdict.scripted?.latency.draw(using: &random) ?? .zero
            after(length) { $0.play(fault, answer) }
        } else {
            self.answer(answer, after: state.latency, extra: verdict.scripted?.latency)
        }
        react(to: verdict, on: streamID, now: now)
    }

    private func answer(to verdict: RuleBook.Verdict, on streamID: HTTP2StreamID) -> Answer {
        var answer = Answer(streamID: streamID, apnsID: verdict.apnsID ?? UUID().uuidString, refusal: verdict.refusal)
        answer.isRequestID = verdict.isRequestID
        answer.reply = verdict.reply
        answer.shape = verdict.scripted?.shape
        if verdict.refusal == nil, verdict.isPush {
            answer.delivery = Ledger.Delivery(token: verdict.deviceToken, apnsID: verdict.apnsID)
        }
        if verdict.refusal == nil, verdict.isPush, state.configuration.environment == .sandbox {
            answer.uniqueID = UUID().uuidString
        }
        return answer
    }

    private func record(
        _ stream: Stream,
        _ streamID: HTTP2StreamID,
        _ verdict: RuleBook.Verdict,
        fault: Fault?,
        isAnswered: Bool,
        now: Int
    ) {
        if let refusal = verdict.refusal {
            batch.refusals.append(refusal.reason)
            state.configuration.logger.debug(
                "Refused a push",
                metadata: [
                    "reason": "\(refusal.reason)", "row": "\(verdict.row)", "evidence": "\(verdict.evidence.rawValue)",
                ]
            )
        } else if verdict.isPush, !isAnswered, verdict.scripted?.isDelivered == true {
            batch.deliveries.append(.init(token: verdict.deviceToken, apnsID: verdict.apnsID))
        }
        batch.unanswered += isAnswered ? 0 : 1
        if let fault { batch.faults.append(fault.name) }
        batch.findings += verdict.findings.isEmpty ? 0 : 1
        batch.records.append(
            RecordedRequest(
                token: verdict.deviceToken,
                status: isAnswered ? verdict.refusal?.status ?? verdict.reply.status : 0,
                reason: fault?.name ?? verdict.refusal?.reason,
                headers: stream.headers.map { name, value, _ in
                    // A provider token is a secret for an hour, and no reader of the records needs it.
                    (name, name == "authorization" ? "bearer (not kept)" : value)
                },
                payload: stream.body,
                row: verdict.row,
                evidence: verdict.evidence,
                findings: verdict.findings,
                receivedAt: now,
                connection: number,
                stream: Int(streamID)
            )
        )
    }

    /// Changes the state of the connection after an answer: rows 14, 31 and 32.
    private func react(to verdict: RuleBook.Verdict, on streamID: HTTP2StreamID, now: Int) {
        if connection.isSilenced { isMute = true }
        if state.configuration.dropsLimitOnReject, connection.hasShownValidToken {
            if verdict.refusal == nil {
                setStreamLimit(state.configuration.maxStreams)
            } else if wire.advertisedStreams != 1 {
                change(StreamLimitChange(streams: 1, refusesStreamsAbove: true), except: streamID)
            }
        }
        guard let limit = state.configuration.badTokenLimit, verdict.refusal?.reason == Reason.badDeviceToken.rawValue
        else { return }
        badTokenTimes.append(now)
        badTokenTimes.removeAll { now - $0 >= Self.badTokenSeconds }
        if badTokenTimes.count >= limit {
            goAway(GoAwayFault(debugText: GoAwayFault.json(Reason.badDeviceToken.rawValue), lastStream: .this), nil)
        }
    }

    /// Rows 30 and 31, and scripts: sends the client another stream limit.
    func setStreamLimit(_ limit: Int) {
        guard wire.advertisedStreams != limit else { return }
        wire.advertisedStreams = limit
        sendSettings()
    }

    /// Sends SETTINGS; the wire handler writes the advertised numbers into the frame.
    func sendSettings() {
        pendingStreamLimits.append(wire.advertisedStreams)
        let settings: HTTP2Settings = [
            .init(parameter: .maxConcurrentStreams, value: WireHandler.enforcedStreams),
            .init(parameter: .initialWindowSize, value: 65_535),
        ]
        write(.init(streamID: .rootStream, payload: .settings(.settings(settings))))
    }
}
