/// The limits and waits for forwarded calls.
package struct ForwardPolicy: Sendable {
    /// 250 ms between looks for upstreams with due queues: as long as a caller may notice that a vendor lags.
    package var interval = Duration.milliseconds(250)
    /// 64 queues of one upstream in progress, a quarter of the calls that may be in flight to it (`OutgoingLimits.inFlight`): callers of proxied calls wait,
    /// and nobody waits for queues.
    package var queuesPerUpstream = 64
    /// 16 queues of an upstream: when so many of its places are free and further queues are due, they are claimed at once, in one statement.
    package var queuesPerClaim = 16
    /// 256 queues of all upstreams in progress: each holds one call with its body.
    package var queues = 256
    /// 100 calls of a queue before it is given back, so that a long queue leaves its place to others.
    package var callsPerTurn = 100
    /// 60 s. Longer than three calls (`OutgoingLimits.call`) with their bookkeeping, as many as one takes that needs a key of the upstream: otherwise two nodes
    /// would make it.
    package var lease = Duration.seconds(60)
    /// 1 s after the first failure of a call, doubled with each further one up to 5 min.
    package var firstRetry = Duration.seconds(1)
    package var lastRetry = Duration.seconds(300)
    /// 3 failures in a row, of any queues: then no calls are made to the upstream except one after each wait.
    package var failuresToOpen = 3
    /// 1 s until the first of these calls, doubled up to 30 s: an upstream that returns is found within that time.
    package var firstProbe = Duration.seconds(1)
    package var lastProbe = Duration.seconds(30)
    /// 60 s between calls with a credential that the upstream refuses.
    package var credentialWait = Duration.seconds(60)
    /// 1 s until a call is tried again for which this node had no room.
    package var busyWait = Duration.seconds(1)
    /// 1,000,000 waiting calls of one upstream: above this number no further ones are forwarded.
    package var waitingLimit = 1_000_000
    /// 15 s between counts of the waiting calls.
    package var surveyPeriod = Duration.seconds(15)

    package init() {}

    /// The same policy with all waits for upstreams multiplied, for tests of whole processes.
    package func scaled(by factor: Double) -> ForwardPolicy {
        var policy = self
        policy.firstRetry = firstRetry * factor
        policy.lastRetry = lastRetry * factor
        policy.firstProbe = firstProbe * factor
        policy.lastProbe = lastProbe * factor
        policy.credentialWait = credentialWait * factor
        return policy
    }

    /// The wait after a number of consecutive failures of a call, at least 1.
    func retry(after failures: Int) -> Duration {
        // 2^10 times the first wait exceeds the last one; a higher power could overflow.
        min(firstRetry * (1 << min(max(failures, 1) - 1, 10)), lastRetry)
    }
}
