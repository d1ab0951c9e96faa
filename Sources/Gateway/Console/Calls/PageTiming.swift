import NIOConcurrencyHelpers

/// The time that the answer to one request takes, and the part of it that the API calls behind the page take.
///
/// Made with the request. Safe to call from any task: a page makes several calls at a time.
final class PageTiming: Sendable {
    private struct State {
        /// The pattern of the page that a signed-in person opens.
        var page: String?
        var calls = 0
        var running = 0
        /// When the first of the running calls began.
        var since: ContinuousClock.Instant
        /// Of the calls that have ended. Calls at the same time count once.
        var spent = Duration.zero
    }

    private let began: ContinuousClock.Instant
    private let state: NIOLockedValueBox<State>

    init(began: ContinuousClock.Instant = .now) {
        self.began = began
        state = NIOLockedValueBox(State(since: began))
    }

    /// Notes which page a signed-in person opens, by its pattern.
    func opens(_ pattern: String) { state.withLockedValue { $0.page = pattern } }

    /// The pattern of the page; nil: the request is not for a page of a tenant, or nobody is signed in.
    var page: String? { state.withLockedValue { $0.page } }

    /// The time since the request began.
    func elapsed(at now: ContinuousClock.Instant = .now) -> Duration { now - began }

    // MARK: Calls

    /// Performs one API call and measures it.
    func call<Value: Sendable>(_ body: () async -> Value) async -> Value {
        callBegan()
        let value = await body()
        callEnded()
        return value
    }

    func callBegan(at now: ContinuousClock.Instant = .now) {
        state.withLockedValue { state in
            if state.running == 0 { state.since = now }
            state.running += 1
            state.calls += 1
        }
    }

    func callEnded(at now: ContinuousClock.Instant = .now) {
        state.withLockedValue { state in
            state.running -= 1
            if state.running == 0 { state.spent += now - state.since }
        }
    }

    // MARK: Header

    /// The value of `Server-Timing` (W3C, "Server Timing", §2): `calls;dur=12.3;desc="4", page;dur=15.0`, in milliseconds. `desc` is the number of calls.
    func header(at now: ContinuousClock.Instant = .now) -> String {
        let (calls, spent) = state.withLockedValue { ($0.calls, $0.spent) }
        let page = Self.milliseconds(elapsed(at: now))
        return "calls;dur=\(Self.milliseconds(spent));desc=\"\(calls)\", page;dur=\(page)"
    }

    /// With one decimal.
    private static func milliseconds(_ time: Duration) -> String {
        let tenths = max(0, Int((time / .microseconds(100)).rounded()))
        return "\(tenths / 10).\(tenths % 10)"
    }
}
