import Metrics
import NIOConcurrencyHelpers

/// Counts the pages and the sign-ins of the web console. The handles are kept, as in `VendorCallCounts`.
///
/// The number of handles is bounded: the code has a list of the pages, and the other labels have few values.
package final class ConsoleCounts: Sendable {
    /// The proof that a sign-in asks for.
    package enum Proof: String, Sendable { case password, code }

    package enum SignIn: String, Sendable { case right, wrong, blocked, busy }

    private struct Key: Hashable {
        var page: String
        var status: String
    }

    private struct State {
        var counters: [Key: Counter] = [:]
        var timers: [String: Timer] = [:]
    }

    private let state = NIOLockedValueBox(State())
    private let open = MetricName.consoleLivePages.meter()

    package init() {}

    /// Counts an answer of a page.
    ///
    /// - Parameters:
    ///   - page: the pattern of its path, `messages/{message}`; that of the overview is empty.
    ///   - status: the status of the answer, of which the first digit is kept.
    ///   - time: the time of the server.
    package func answered(_ page: String, status: Int, in time: Duration) {
        let page = page.isEmpty ? "overview" : page
        let key = Key(page: page, status: "\(status / 100)xx")
        let (counter, timer) = state.withLockedValue { state in
            let counter =
                state.counters[key]
                ?? MetricName.consolePages.counter([("page", page), ("status", key.status)])
            let timer = state.timers[page] ?? MetricName.consolePageSeconds.timer([("page", page)])
            state.counters[key] = counter
            state.timers[page] = timer
            return (counter, timer)
        }
        counter.increment()
        let (seconds, attoseconds) = time.components
        timer.recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }

    /// Counts an attempt to sign in. It is too rare to keep the counter.
    package func attempted(_ proof: Proof, _ outcome: SignIn) {
        MetricName.consoleSignIns.count([("proof", proof.rawValue), ("outcome", outcome.rawValue)])
    }

    package func livePageOpened() { open.increment() }
    package func livePageClosed() { open.decrement() }

    /// The number of handles of pages.
    package var handleCount: Int { state.withLockedValue { $0.counters.count + $0.timers.count } }
}
