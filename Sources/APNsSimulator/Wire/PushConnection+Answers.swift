import NIOCore
import NIOHTTP2

/// From a decision to bytes, now or later.
extension PushConnection {
    /// Answers after a latency, and after a scripted one on top of it.
    func answer(_ answer: Answer, after latency: Latency, extra: Latency? = nil) {
        if let constant = latency.constant, extra == nil || extra == .zero {
            guard constant > .zero else {
                ready.append(answer)
                return
            }
            // Same delay for all of them: one queue in order, one timer at its head.
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

    /// Writes, counts, then flushes: nothing leaves before the flush, so who has an answer finds it in the ledger.
    ///
    /// A push counts as accepted when its answer leaves, also when the client gave its stream up or the connection was lost meanwhile: it was
    /// processed. It does not when we have told the client that it was not, by REFUSED_STREAM or GOAWAY.
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

    /// Counts what was still to be answered when the connection was lost.
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
