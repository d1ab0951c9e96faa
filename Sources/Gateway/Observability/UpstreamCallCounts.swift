import Metrics
package import Model
import NIOConcurrencyHelpers

/// Counts calls to upstreams by credential, kind and outcome. The handles are kept, as in `VendorCallCounts`; the provisioned credentials bound their number, because those of a removed one are dropped.
package final class UpstreamCallCounts: Sendable {
    package enum Outcome: Sendable, Hashable {
        /// The whole answer has arrived. Statuses are counted by their first digit: the upstream chooses them.
        case answered(status: Int)
        /// The answer ended early.
        case broken
        /// The caller left before the end of the answer.
        case abandoned
        /// No answer, and the upstream may have received the call.
        case unanswered
        /// The upstream has not received the call.
        case unsent
        /// As many calls as permitted are in flight.
        case busy
        case loop

        /// The same for all statuses with one first digit.
        var counted: Outcome {
            if case .answered(let status) = self { .answered(status: status / 100 * 100) } else { self }
        }

        var label: String {
            switch self {
            case .answered(let status): "\(status / 100)xx"
            case .broken: "broken"
            case .abandoned: "abandoned"
            case .unanswered: "unanswered"
            case .unsent: "unsent"
            case .busy: "busy"
            case .loop: "loop"
            }
        }
    }

    private struct Key: Hashable {
        var credential: CredentialKey
        var kind: CallKind
        var outcome: Outcome
    }

    private struct State {
        var counters: [Key: Counter] = [:]
        var timers: [CredentialKey: Timer] = [:]
        var remembered: [CredentialKey: Counter] = [:]
    }

    private let state = NIOLockedValueBox(State())

    package init() {}

    package func count(_ credential: CredentialKey, _ kind: CallKind, _ outcome: Outcome) {
        let key = Key(credential: credential, kind: kind, outcome: outcome.counted)
        let counter = state.withLockedValue { state in
            if let known = state.counters[key] { return known }
            let labels = [Self.label(credential), ("kind", kind.rawValue), ("outcome", outcome.label)]
            let made = MetricName.upstreamCalls.counter(labels)
            state.counters[key] = made
            return made
        }
        counter.increment()
    }

    /// Records the time from the beginning of a call to the head of its answer.
    package func record(_ time: Duration, of credential: CredentialKey) {
        let timer = state.withLockedValue { state in
            if let known = state.timers[credential] { return known }
            let made = MetricName.upstreamSeconds.timer([Self.label(credential)])
            state.timers[credential] = made
            return made
        }
        let (seconds, attoseconds) = time.components
        timer.recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }

    /// Counts a call by rules that the node remembers, because the database does not answer.
    package func countRemembered(_ credential: CredentialKey) {
        let counter = state.withLockedValue { state in
            if let known = state.remembered[credential] { return known }
            let made = MetricName.upstreamRemembered.counter([Self.label(credential)])
            state.remembered[credential] = made
            return made
        }
        counter.increment()
    }

    /// Drops the handles of a credential that was removed.
    package func forget(_ credential: CredentialKey) {
        state.withLockedValue { state in
            state.counters = state.counters.filter { $0.key.credential != credential }
            state.timers[credential] = nil
            state.remembered[credential] = nil
        }
    }

    /// The number of handles.
    var handleCount: Int {
        state.withLockedValue { $0.counters.count + $0.timers.count + $0.remembered.count }
    }

    private static func label(_ credential: CredentialKey) -> (String, String) {
        ("upstream", "\(credential.tenant)/\(credential.credential)")
    }
}
