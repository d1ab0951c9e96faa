import NIOConcurrencyHelpers
import NIOPosix

/// Limits the memory of large bodies on this node: how many bytes of them are held at once, and that they are parsed one after the other, on a thread of
/// their own, so that they do not delay small calls.
package final class LargeBodies: Sendable {
    /// 64 KiB: smaller bodies need no room, which is nearly every call.
    package static let smallBytes = 64 << 10

    private struct State {
        var queue: BodyQueue
        var waiters: [BodyQueue.Ticket: CheckedContinuation<Bool, Never>] = [:]
    }

    private let limiter: CallLimiter
    private let state: NIOLockedValueBox<State>

    /// - Parameter limiter: has the limits, the metric and the log.
    package init(limiter: CallLimiter) {
        self.limiter = limiter
        state = NIOLockedValueBox(State(queue: BodyQueue(capacityBytes: limiter.settings.bodyBytes)))
    }

    /// Waits for room for a large body.
    ///
    /// - Throws: `LimitExcess` when there is none in time.
    package func room(bytes: Int, address: String?) async throws(LimitExcess) -> HeldPermit {
        // Without a limit there is always room.
        guard limiter.settings.bodyBytes > 0 else { return HeldPermit {} }
        let name = LimitedName.network(address)
        let (answer, other) = state.withLockedValue {
            state -> (BodyQueue.Answer, CheckedContinuation<Bool, Never>?) in
            let answer = state.queue.ask(bytes: bytes, address: name)
            guard case .waits(_, let other?) = answer else { return (answer, nil) }
            return (answer, state.waiters.removeValue(forKey: other))
        }
        other?.resume(returning: false)
        switch answer {
        case .admitted(let ticket): return room(ticket)
        case .waits(let ticket, _): if await isAdmitted(ticket) { return room(ticket) }
        case .refused: break
        }
        throw LimitExcess(.bodies, wait: Double(limiter.settings.bodyWaitSeconds))
    }

    /// Whether a body waits for room that others hold.
    package var isRoomWanted: Bool { state.withLockedValue { $0.queue.isRoomWanted } }

    private func room(_ ticket: BodyQueue.Ticket) -> HeldPermit { HeldPermit { [self] in end(ticket) } }

    private func end(_ ticket: BodyQueue.Ticket) {
        let started = state.withLockedValue { state -> [CheckedContinuation<Bool, Never>] in
            state.queue.end(ticket).compactMap { state.waiters.removeValue(forKey: $0) }
        }
        for waiter in started { waiter.resume(returning: true) }
    }

    /// Waits until the body is admitted. False when the time is over, the call was canceled, or another address got the place; the body waits no longer then.
    private func isAdmitted(_ ticket: BodyQueue.Ticket) async -> Bool {
        let timer = Task { [self, wait = limiter.settings.bodyWaitSeconds] in
            try? await Task.sleep(for: .seconds(wait))
            giveUp(ticket)
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isAdmitted = state.withLockedValue { state -> Bool? in
                    // Admitted, or given up, before this wait began.
                    if state.queue.isAdmitted(ticket) { return true }
                    guard state.queue.isWaiting(ticket) else { return false }
                    state.waiters[ticket] = continuation
                    return nil
                }
                if let isAdmitted { continuation.resume(returning: isAdmitted) }
            }
        } onCancel: {
            giveUp(ticket)
        }
    }

    private func giveUp(_ ticket: BodyQueue.Ticket) {
        let waiters = state.withLockedValue {
            state -> (CheckedContinuation<Bool, Never>?, [CheckedContinuation<Bool, Never>]) in
            guard state.queue.isWaiting(ticket) else { return (nil, []) }
            let own = state.waiters.removeValue(forKey: ticket)
            return (own, state.queue.end(ticket).compactMap { state.waiters.removeValue(forKey: $0) })
        }
        waiters.0?.resume(returning: false)
        for waiter in waiters.1 { waiter.resume(returning: true) }
    }

    // MARK: Parsing

    /// One thread: large bodies are parsed one after the other.
    private static let parser: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: 1)
        pool.start()
        return pool
    }()

    /// Runs `body` on the thread for large bodies.
    package static func parse<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result = try? await parser.runIfActive { Result(catching: body) }
        // The thread never ends, so that there is a result.
        return try (result ?? Result(catching: body)).get()
    }
}
