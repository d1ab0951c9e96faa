import NIOConcurrencyHelpers
import TestKit
import Webhooks

/// A caller without a network: outcomes by URL, recorded calls, and calls of a URL that can be held.
final class ScriptedCaller: WebhookCaller {
    private struct State {
        var calls: [WebhookCall] = []
        var outcomes: [String: [CallOutcome]] = [:]
        var held: Set<String> = []
        var answer: @Sendable (WebhookCall) -> CallOutcome? = { _ in nil }
    }

    private let state = NIOLockedValueBox(State())
    private let asked = Tally()
    private let releases = Tally()

    var calls: [WebhookCall] { state.withLockedValue { $0.calls } }

    /// The outcomes of the next calls to `url`; afterwards they are accepted.
    func script(_ url: String, _ outcomes: CallOutcome...) { state.withLockedValue { $0.outcomes[url] = outcomes } }

    /// Answers every call with the outcome of `answer`, unless that is nil.
    func answer(_ answer: @escaping @Sendable (WebhookCall) -> CallOutcome?) {
        state.withLockedValue { $0.answer = answer }
    }

    /// Calls to `url` wait for `release`.
    func hold(_ url: String) { state.withLockedValue { _ = $0.held.insert(url) } }

    /// Releases all held calls, permanently.
    func release() { releases.add(1) }

    func calls(atLeast count: Int) async { await asked.reaches(count) }

    func post(_ call: WebhookCall) async -> CallOutcome {
        let (outcome, isHeld) = state.withLockedValue { state in
            state.calls.append(call)
            let outcome = state.outcomes[call.url]?.isEmpty == false ? state.outcomes[call.url]?.removeFirst() : nil
            return (outcome ?? state.answer(call) ?? .accepted, state.held.contains(call.url))
        }
        asked.add(1)
        if isHeld { await releases.reaches(1) }
        return outcome
    }
}
