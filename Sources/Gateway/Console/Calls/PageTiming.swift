import NIOConcurrencyHelpers

/// The time that the answer to one request takes, that of its parts, and the time that the API calls behind the page take.
///
/// Made with the request. Safe to call from any task: a page makes several calls at a time.
final class PageTiming: Sendable {
    /// A part of the answer to a person who opens a page. The rest of the time belongs to none of them.
    enum Part: String, CaseIterable {
        /// Until it is known who the person is, and which page is opened.
        case session
        /// The calls, with what happens before and after each of them: the choice of the next ones, the reading of answers, the masking.
        case read
        /// The values of the page, made of the answers.
        case content
        /// The document, made of the values.
        case write
        /// The compression of the document.
        case gzip
    }

    private struct State {
        /// The pattern of the page that a signed-in person opens.
        var page: String?
        var calls = 0
        var running = 0
        /// When the first of the running calls began.
        var since: ContinuousClock.Instant
        /// Of the calls that have ended. Calls at the same time count once.
        var spent = Duration.zero
        var parts: [Part: Duration] = [:]
    }

    private let began: ContinuousClock.Instant
    private let state: NIOLockedValueBox<State>

    init(began: ContinuousClock.Instant = .now) {
        self.began = began
        state = NIOLockedValueBox(State(since: began))
    }

    /// Notes which page a signed-in person opens, by its pattern. The part `session` ends.
    func opens(_ pattern: String, at now: ContinuousClock.Instant = .now) {
        state.withLockedValue { state in
            state.page = pattern
            state.parts[.session] = now - began
        }
    }

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

    // MARK: Parts

    /// Notes that a part took the time since `start`. The times of a part that occurs again are added.
    func took(_ part: Part, since start: ContinuousClock.Instant, at now: ContinuousClock.Instant = .now) {
        state.withLockedValue { $0.parts[part, default: .zero] += now - start }
    }

    // MARK: Header

    /// The value of `Server-Timing` (W3C, "Server Timing", §2): `calls;dur=12.3;desc="4", session;dur=0.9, page;dur=15.0`, in milliseconds. `desc` is the number
    /// of calls. Between `calls` and `page` are the parts that the answer has.
    func header(at now: ContinuousClock.Instant = .now) -> String {
        let (calls, spent, parts) = state.withLockedValue { ($0.calls, $0.spent, $0.parts) }
        var metrics = ["calls;dur=\(Self.milliseconds(spent));desc=\"\(calls)\""]
        for part in Part.allCases {
            if let time = parts[part] { metrics.append("\(part.rawValue);dur=\(Self.milliseconds(time))") }
        }
        metrics.append("page;dur=\(Self.milliseconds(elapsed(at: now)))")
        return metrics.joined(separator: ", ")
    }

    /// With one decimal.
    private static func milliseconds(_ time: Duration) -> String {
        let tenths = max(0, Int((time / .microseconds(100)).rounded()))
        return "\(tenths / 10).\(tenths % 10)"
    }
}
