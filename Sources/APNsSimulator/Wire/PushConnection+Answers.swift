import NIOCore
import NIOHTTP2

/// Sends answers, at once or after a delay.
extension PushConnection {
    /// Answers after a latency, plus a scripted one.
    func answer(_ answer: Answer, after latency: Latency, extra: Latency? = nil) {
        if let constant = latency.constant, extra == nil || extra == .zero {
            guard constant > .zero else {
                ready.append(answer)
                return
            }
            // The delay is the same for all, so one queue keeps the order and one timer serves its first element.
            if delayed.last.map({ $0.length == constant }) ?? true {
                delayed.append((.now() + TimeAmount(constant), constant, answer))
                setTimer()
                return
            }
        }
        let length = latency.draw(using: &random) + (extra?.draw(using: &random) ?? .zero)
        guard length > .zero, let context else {
            ready.append(answer)
            return
        }
        context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(length)) { [self] in
            ready.append(answer)
            send()
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

    /// Writes, counts, then flushes. Nothing is sent before the flush, so a client that has an answer finds it in the ledger.
    ///
    /// A push counts as accepted when its answer is sent, and also if the client reset its stream or the connection was lost in the meantime, because it was
    /// processed. It does not count if REFUSED_STREAM or GOAWAY has reported to the client that it was not processed.
    func send() {
        for answer in ready {
            if streams[answer.streamID] != nil, context != nil {
                write(answer)
            } else if disclaimed.remove(answer.streamID) != nil {
                continue
            }
            if let delivery = answer.delivery { batch.deliveries.append(delivery) }
        }
        ready.removeAll(keepingCapacity: true)
        commit()
        guard let context else { return }
        context.flush()
        wire.flushPending()
        closeIfDrained()
    }

    /// Counts the answers that were not sent when the connection was lost.
    func countLost() {
        ready += delayed.map(\.answer)
        delayed.removeAll()
        send()
    }

    func write(_ answer: Answer) {
        guard let context else { return }
        for frame in answer.frames(allocator: context.channel.allocator) { write(frame) }
    }

    func write(_ frame: HTTP2Frame) {
        context?.write(wrapOutboundOut(frame), promise: nil)
    }
}
