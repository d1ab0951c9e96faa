import Model
import NIOConcurrencyHelpers

/// Every push of a soak by number: when it was offered, and how often it completed.
final class SoakLedger: Sendable {
    /// The results of one part of a soak.
    struct Counts: Sendable {
        var offered = 0
        var accepted = 0
        var rejected = 0
        var deferred = 0
        var unsent = 0
        var unknown = 0
        /// The causes of missing answers, as named by the HTTP/2 layer.
        var causes: [String: Int] = [:]
        /// The longest time beyond a deadline.
        var latest = Duration.zero
    }

    private struct State {
        var offeredAt: [ContinuousClock.Instant] = []
        var ends: [UInt8] = []
        var accepted: [Bool] = []
        var counts = Counts()
        var total = Counts()
    }

    private let deadline: Duration
    private let state = NIOLockedValueBox(State())

    /// Creates a ledger in which every push has this deadline.
    init(deadline: Duration) { self.deadline = deadline }

    /// Assigns numbers to `count` pushes.
    func offer(_ count: Int) -> Range<Int> {
        let now = ContinuousClock.now
        return state.withLockedValue { state in
            let first = state.ends.count
            state.offeredAt += Array(repeating: now, count: count)
            state.ends += Array(repeating: 0, count: count)
            state.accepted += Array(repeating: false, count: count)
            state.counts.offered += count
            return first..<first + count
        }
    }

    /// Records the completions of pushes, whose slots are their numbers.
    func end(_ completions: [PushCompletion]) {
        let now = ContinuousClock.now
        state.withLockedValue { state in
            for completion in completions {
                state.ends[completion.slot] &+= 1
                let late = state.offeredAt[completion.slot].duration(to: now) - deadline
                state.counts.latest = max(state.counts.latest, late)
                switch completion.outcome {
                case .accepted:
                    state.counts.accepted += 1
                    state.accepted[completion.slot] = true
                case .rejected: state.counts.rejected += 1
                case .deferred: state.counts.deferred += 1
                case .unsent(let error):
                    state.counts.unsent += 1
                    state.counts.causes[error.description, default: 0] += 1
                case .indeterminate(let error):
                    state.counts.unknown += 1
                    state.counts.causes[error.description, default: 0] += 1
                }
            }
        }
    }

    /// The counts since the last call.
    func part() -> Counts {
        state.withLockedValue { state in
            defer { state.counts = Counts() }
            state.total.offered += state.counts.offered
            state.total.accepted += state.counts.accepted
            state.total.latest = max(state.total.latest, state.counts.latest)
            return state.counts
        }
    }

    var total: Counts { state.withLockedValue(\.total) }
    /// Pushes that never completed.
    var lost: [Int] { state.withLockedValue { state in state.ends.indices.filter { state.ends[$0] == 0 } } }
    /// Pushes that completed more than once.
    var doubled: [Int] { state.withLockedValue { state in state.ends.indices.filter { state.ends[$0] > 1 } } }
}
