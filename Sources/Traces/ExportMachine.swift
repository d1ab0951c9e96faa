/// Decides which spans are sent when: a bounded queue, batches, one batch in flight, one retry.
///
/// Pure: times are durations from any fixed moment, and a span is any value. `SpanExporter` performs what it decides.
package struct ExportMachine<Span: Sendable>: Sendable {
    /// 2,048 spans, about 2 MB, as in OpenTelemetry's own libraries. Above it new spans are dropped: a slow collector must not use the node's memory.
    package static var queueLimit: Int { 2048 }
    /// 512 spans: some hundred kilobytes per call.
    package static var batchLimit: Int { 512 }
    /// One second: a trace is visible soon after it ends, and an idle node makes no calls.
    package static var interval: Duration { .seconds(1) }
    /// Five seconds before the only retry: most interruptions of a collector are restarts.
    package static var backoff: Duration { .seconds(5) }
    /// 30 seconds: the longest wait that a collector may ask for (`Retry-After`).
    package static var backoffLimit: Duration { .seconds(30) }

    package enum Action: Sendable {
        /// Send these spans, and report `answered`.
        case send([Span])
        /// Look again later.
        case wait
        /// Nothing is left to send, and no span follows.
        case finish
    }

    /// How a collector answered one call.
    package enum Answer: Sendable, Equatable {
        /// It has the spans except this number, which it will never take.
        case accepted(rejected: Int)
        /// It cannot take them now, or it was not reached. The wait is the one that it asks for; nil: none.
        case deferred(after: Duration?)
        /// It will never take them.
        case refused
    }

    /// The spans of a call by their end.
    package struct Result: Sendable, Equatable {
        package var exported = 0
        package var rejected = 0
        package var failed = 0
    }

    private var queue: [Span] = []
    /// When the oldest span of the queue arrived.
    private var since = Duration.zero
    private var flight: [Span] = []
    private var isInFlight = false
    private var isRetry = false
    private var retryAt: Duration?
    private var isStopping = false

    package init() {}

    /// The result of `ended`.
    package enum Arrival: Sendable, Equatable {
        case queued
        /// Queued, and the batch is full: look now.
        case full
        case dropped
    }

    /// A span has ended.
    package mutating func ended(_ span: Span, at now: Duration) -> Arrival {
        guard queue.count < Self.queueLimit, !isStopping else { return .dropped }
        if queue.isEmpty { since = now }
        queue.append(span)
        return queue.count == Self.batchLimit ? .full : .queued
    }

    /// Returns the next action.
    package mutating func next(at now: Duration) -> Action {
        if isInFlight { return .wait }
        if let retryAt {
            guard now >= retryAt || isStopping else { return .wait }
            self.retryAt = nil
            isInFlight = true
            return .send(flight)
        }
        guard !queue.isEmpty else { return isStopping ? .finish : .wait }
        guard queue.count >= Self.batchLimit || isStopping || now >= since + Self.interval else {
            return .wait
        }
        flight = Array(queue.prefix(Self.batchLimit))
        queue.removeFirst(flight.count)
        // The rest has waited for less than the interval, or for this call.
        since = now
        isInFlight = true
        return .send(flight)
    }

    /// The collector has answered the last `send`.
    package mutating func answered(_ answer: Answer, at now: Duration) -> Result {
        isInFlight = false
        var result = Result()
        switch answer {
        case .accepted(let rejected):
            result.rejected = min(rejected, flight.count)
            result.exported = flight.count - result.rejected
        case .deferred(let wish):
            if !isRetry, !isStopping {
                isRetry = true
                retryAt = now + min(max(wish ?? Self.backoff, .zero), Self.backoffLimit)
                return result
            }
            result.failed = flight.count
        case .refused: result.rejected = flight.count
        }
        isRetry = false
        flight = []
        return result
    }

    /// No span follows: what waits is sent at once, without further retries.
    package mutating func stop() { isStopping = true }
}
