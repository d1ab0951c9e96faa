import NIOConcurrencyHelpers

/// Room that the bodies of a node share, in bytes or in values. `BodyQueue` has the rules; this type adds the lock and the waits.
final class BodyRoom: Sendable {
    private struct State {
        var queue: BodyQueue
        var waiters: [BodyQueue.Ticket: CheckedContinuation<Bool, Never>] = [:]
    }

    private let waitSeconds: Int
    private let state: NIOLockedValueBox<State>

    init(capacity: Int, waitSeconds: Int) {
        self.waitSeconds = waitSeconds
        state = NIOLockedValueBox(State(queue: BodyQueue(capacityBytes: capacity)))
    }

    /// Waits for room for that many bytes or values. Nil: there is none in time.
    func permit(_ count: Int, address: String?) async -> HeldPermit? {
        let name = LimitedName.network(address)
        let (answer, other) = state.withLockedValue {
            state -> (BodyQueue.Answer, CheckedContinuation<Bool, Never>?) in
            let answer = state.queue.ask(bytes: count, address: name)
            guard case .waits(_, let other?) = answer else { return (answer, nil) }
            return (answer, state.waiters.removeValue(forKey: other))
        }
        other?.resume(returning: false)
        switch answer {
        case .admitted(let ticket): return permit(ticket)
        case .waits(let ticket, _): return await isAdmitted(ticket) ? permit(ticket) : nil
        case .refused: return nil
        }
    }

    /// Whether a body waits for room that others hold.
    var isWanted: Bool { state.withLockedValue { $0.queue.isRoomWanted } }

    private func permit(_ ticket: BodyQueue.Ticket) -> HeldPermit { HeldPermit { [self] in end(ticket) } }

    private func end(_ ticket: BodyQueue.Ticket) {
        let started = state.withLockedValue { state -> [CheckedContinuation<Bool, Never>] in
            state.queue.end(ticket).compactMap { state.waiters.removeValue(forKey: $0) }
        }
        for waiter in started { waiter.resume(returning: true) }
    }

    /// Waits until the body is admitted. False when the time is over, the call was canceled, or another address got the place; the body waits no longer then.
    private func isAdmitted(_ ticket: BodyQueue.Ticket) async -> Bool {
        let timer = Task { [self] in
            try? await Task.sleep(for: .seconds(waitSeconds))
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
}
