import NIOConcurrencyHelpers
import Webhooks

/// A caller without a network: outcomes by URL, calls recorded, one URL's calls held back on demand.
final class ScriptedCaller: WebhookCaller {
    private struct State {
        var calls: [WebhookCall] = []
        var outcomes: [String: [CallOutcome]] = [:]
        var held: Set<String> = []
        var waiting: [CheckedContinuation<Void, Never>] = []
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = NIOLockedValueBox(State())

    var calls: [WebhookCall] { state.withLockedValue { $0.calls } }

    /// The outcomes of the next calls to `url`; afterwards they are accepted.
    func script(_ url: String, _ outcomes: CallOutcome...) { state.withLockedValue { $0.outcomes[url] = outcomes } }

    func hold(_ url: String) { state.withLockedValue { _ = $0.held.insert(url) } }

    func release() {
        let waiting = state.withLockedValue { state in
            state.held = []
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in waiting { one.resume() }
    }

    func calls(atLeast count: Int) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLockedValue { state in
                if state.calls.count >= count { return true }
                state.waiters.append((count, continuation))
                return false
            }
            if isReached { continuation.resume() }
        }
    }

    func post(_ call: WebhookCall) async -> CallOutcome {
        let (outcome, isHeld, reached) = state.withLockedValue { state in
            state.calls.append(call)
            let outcome = state.outcomes[call.url]?.isEmpty == false ? state.outcomes[call.url]?.removeFirst() : nil
            let reached = state.waiters.filter { $0.count <= state.calls.count }.map(\.continuation)
            state.waiters.removeAll { $0.count <= state.calls.count }
            return (outcome ?? .accepted, state.held.contains(call.url), reached)
        }
        for waiter in reached { waiter.resume() }
        if isHeld { await hold() }
        return outcome
    }

    private func hold() async {
        await withCheckedContinuation { continuation in
            state.withLockedValue { $0.waiting.append(continuation) }
        }
    }
}
