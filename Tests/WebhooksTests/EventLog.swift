import NIOConcurrencyHelpers
import Webhooks

/// What a dispatcher reported, and a way to wait for it.
final class EventLog: Sendable {
    enum Kind: Sendable { case accepted, postponed, dropped, leaseLost, storeFailed }

    private struct Waiter {
        var kind: Kind
        var count: Int
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var kinds: [Kind] = []
        var waiters: [Waiter] = []

        func count(_ kind: Kind) -> Int { kinds.filter { $0 == kind }.count }
    }

    private let state = NIOLockedValueBox(State())

    func count(_ kind: Kind) -> Int { state.withLockedValue { $0.count(kind) } }

    func record(_ event: WebhookEvent) {
        let kind: Kind =
            switch event {
            case .accepted: .accepted
            case .postponed: .postponed
            case .dropped: .dropped
            case .leaseLost: .leaseLost
            case .storeFailed: .storeFailed
            }
        let reached = state.withLockedValue { state in
            state.kinds.append(kind)
            let (waiters, current) = (state.waiters, state)
            state.waiters = waiters.filter { current.count($0.kind) < $0.count }
            return waiters.filter { current.count($0.kind) >= $0.count }
        }
        for waiter in reached { waiter.continuation.resume() }
    }

    /// Returns once `kind` was reported `count` times.
    func wait(for kind: Kind, _ count: Int) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLockedValue { state in
                if state.count(kind) >= count { return true }
                state.waiters.append(Waiter(kind: kind, count: count, continuation: continuation))
                return false
            }
            if isReached { continuation.resume() }
        }
    }
}
